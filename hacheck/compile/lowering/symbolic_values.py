"""Symbolic values: what an expression of any type is while an action is lowered.

A value keeps the shape of its type down to scalars, each a `Node`. Scalars are their natural numbers (a range's own
numbers, otherwise the ordinal), not yet relative to a type's least value, because arithmetic may leave the type.
Places of a series behind its length and of an option that is nothing hold the blank of the type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, assert_never

from msgspec import Struct

from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.layout import Cell, Flagged, Group, Place, Series
from hacheck.model.types import (
    Bag,
    Bool,
    Enum,
    Identity,
    Map,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    Value,
    cardinality,
    default,
    is_scalar,
    ordinal,
    sort_bag,
)
from hacheck.model.types import Node as NodeType


class Scalar(Struct, frozen=True, gc=False):
    """A truth value, a number, an alternative, a node or an identity."""

    node: Node


class Maybe(Struct, frozen=True, gc=False):
    """An option of a scalar: 0 for nothing, otherwise one more than the scalar less `base`."""

    node: Node
    base: int


class Mask(Struct, frozen=True, gc=False):
    """A set: bit i for the scalar `base` + i; of options, bit 0 for nothing and bit i + 1 for `base` + i."""

    node: Node
    base: int
    optional: bool = False


class Perhaps(Struct, frozen=True):
    """An option of a composite."""

    flag: Node
    inner: Sym


class Parts(Struct, frozen=True):
    """A map's values or a record's fields."""

    items: tuple[Sym, ...]


class Items(Struct, frozen=True):
    """A sequence or bag: the first `length` of the items."""

    length: Node
    items: tuple[Sym, ...]


Sym: TypeAlias = Scalar | Maybe | Mask | Perhaps | Parts | Items


def lowest(kind: Type) -> int:
    """The natural number of a scalar type's first value; of an option, of the first value that is something."""
    while isinstance(kind, Option):
        kind = kind.element
    return kind.low if isinstance(kind, Range) else 0


def natural(kind: Type, value: Value) -> int:
    """The natural number of a scalar value, which need not belong to the type if that is a range."""
    return int(value) if isinstance(kind, Range) else ordinal(kind, value)


def number_of(kind: Type, value: Value) -> int:
    """The ordinal of a scalar or option of a scalar; negative or too great if it is no member."""
    if isinstance(kind, Option):
        return 0 if value is None else 1 + number_of(kind.element, value)
    return natural(kind, value) - lowest(kind)


def constant(graph: Graph, kind: Type, value: Value) -> Sym:
    """A value that is known."""
    match kind:
        case Bool() | Range() | Enum() | NodeType() | Identity():
            return Scalar(graph.const(natural(kind, value)))
        case Option(element):
            if not is_scalar(element):
                inner = default(element) if value is None else value
                return Perhaps(graph.const(int(value is not None)), constant(graph, element, inner))
            return Maybe(graph.const(number_of(kind, value)), lowest(element))
        case Set(element):
            mask = sum(1 << number_of(element, item) for item in value)
            return Mask(graph.const(mask), lowest(element), isinstance(element, Option))
        case Map(_, element):
            return Parts(tuple(constant(graph, element, item) for item in value))
        case Record(_, fields):
            return Parts(tuple(constant(graph, field, item) for (_, field), item in zip(fields, value, strict=True)))
        case Sequence(element, _) | Bag(element, _):
            items = sort_bag(element, value) if isinstance(kind, Bag) else value
            return Items(graph.const(len(items)), tuple(constant(graph, element, item) for item in items))
        case _:
            assert_never(kind)


def blank(graph: Graph, kind: Type) -> Sym:
    """The type's first value, all of whose slots are 0."""
    return constant(graph, kind, default(kind))


def read(graph: Graph, place: Place, fetch: Callable[[int], Node]) -> Sym:
    """What a place holds; `fetch` gives a slot's content."""
    match place:
        case Cell(kind, slot):
            content = graph.zero if slot is None else fetch(slot)
            return content_to_sym(graph, kind, content)
        case Flagged(_, flag, inner):
            return Perhaps(fetch(flag), read(graph, inner, fetch))
        case Group(_, items):
            return Parts(tuple(read(graph, item, fetch) for item in items))
        case Series(_, length, items):
            count = graph.zero if length is None else fetch(length)
            return Items(count, tuple(read(graph, item, fetch) for item in items))
        case _:
            assert_never(place)


def content_to_sym(graph: Graph, kind: Type, content: Node) -> Sym:
    """The value of a scalar, option of a scalar or set from its ordinal."""
    if isinstance(kind, Option):
        return Maybe(content, lowest(kind))
    if isinstance(kind, Set):
        return Mask(content, lowest(kind.element), isinstance(kind.element, Option))
    return Scalar(graph.plus(content, lowest(kind)))


def content(graph: Graph, kind: Type, value: Sym) -> Node:
    """The ordinal in a type of a scalar, option of a scalar or set; negative or too great if it is no member."""
    match value:
        case Scalar(node):
            return graph.plus(node, -lowest(kind))
        case Maybe():
            assert isinstance(kind, Option), f"an option as {kind}"
            return rebase_maybe(graph, value, lowest(kind)).node
        case Mask():
            assert isinstance(kind, Set), f"a set as {kind}"
            return rebase_mask(graph, value, lowest(kind.element)).node
        case Perhaps() | Parts() | Items():
            raise AssertionError(f"a composite as {kind}")
        case _:
            assert_never(value)


def rebase_maybe(graph: Graph, value: Maybe, base: int) -> Maybe:
    """The same option, counted from another base."""
    if value.base == base:
        return value
    moved = graph.plus(value.node, value.base - base)
    return Maybe(graph.select(graph.eq(value.node, graph.zero), graph.zero, moved), base)


def rebase_mask(graph: Graph, value: Mask, base: int) -> Mask:
    """The same set, counted from another base; members below it are lost, which is checked before it is stored."""
    if value.base == base:
        return value
    members = graph.shr(value.node, graph.one) if value.optional else value.node
    if value.base > base:
        members = graph.shl(members, graph.const(value.base - base))
    else:
        members = graph.shr(members, graph.const(base - value.base))
    if value.optional:
        members = graph.bitor(graph.shl(members, graph.one), graph.bitand(value.node, graph.one))
    return Mask(members, base, value.optional)


def write(graph: Graph, place: Place, value: Sym) -> list[tuple[int, Node]]:
    """The content of each slot of a place that is to hold a value of its type."""
    match place, value:
        case Cell(kind, slot), Scalar() | Maybe() | Mask():
            return [] if slot is None else [(slot, content(graph, kind, value))]
        case Flagged(_, flag, inner), Perhaps(given, held):
            return [(flag, given), *write(graph, inner, held)]
        case Group(_, places), Parts(items):
            return [pair for spot, item in zip(places, items, strict=True) for pair in write(graph, spot, item)]
        case Series(kind, length, places), Items(count, items):
            written = [] if length is None else [(length, count)]
            for index, spot in enumerate(places):
                item = items[index] if index < len(items) else blank(graph, kind.element)
                written += write(graph, spot, item)
            return written
        case _:
            raise AssertionError(f"{value} written to {place}")


def choose(graph: Graph, kind: Type, condition: Node, then: Sym, otherwise: Sym) -> Sym:
    """One of two values of a type."""
    if condition.is_const:
        return then if condition.number else otherwise
    match then, otherwise:
        case Scalar(a), Scalar(b):
            return Scalar(graph.select(condition, a, b))
        case Maybe(), Maybe():
            base = min(then.base, otherwise.base)
            left, right = rebase_maybe(graph, then, base), rebase_maybe(graph, otherwise, base)
            return Maybe(graph.select(condition, left.node, right.node), base)
        case Mask(), Mask():
            base = min(then.base, otherwise.base)
            first, second = rebase_mask(graph, then, base), rebase_mask(graph, otherwise, base)
            return Mask(graph.select(condition, first.node, second.node), base, then.optional)
        case Perhaps(flag, inner), Perhaps(other_flag, other_inner):
            assert isinstance(kind, Option), f"an option as {kind}"
            return Perhaps(
                graph.select(condition, flag, other_flag),
                choose(graph, kind.element, condition, inner, other_inner),
            )
        case Parts(items), Parts(others):
            kinds = part_types(kind)
            pairs = zip(kinds, items, others, strict=True)
            return Parts(tuple(choose(graph, part, condition, a, b) for part, a, b in pairs))
        case Items(length, items), Items(other_length, others):
            element = element_type(kind)
            size = max(len(items), len(others))
            pairs = zip(
                [element] * size,
                padded(graph, element, items, size),
                padded(graph, element, others, size),
                strict=True,
            )
            chosen = tuple(choose(graph, part, condition, a, b) for part, a, b in pairs)
            return Items(graph.select(condition, length, other_length), chosen)
        case _:
            raise AssertionError(f"{then} or {otherwise} as {kind}")


def padded(graph: Graph, element: Type, items: tuple[Sym, ...], size: int) -> tuple[Sym, ...]:
    """At least `size` items, blanks at the end."""
    if len(items) >= size:
        return items
    return items + (blank(graph, element),) * (size - len(items))


def part_types(kind: Type) -> tuple[Type, ...]:
    """The types of a map's values or a record's fields, in order."""
    if isinstance(kind, Record):
        return tuple(field for _, field in kind.fields)
    assert isinstance(kind, Map), f"parts of {kind}"
    return (kind.value,) * cardinality(kind.key)


def element_type(kind: Type) -> Type:
    """The type of the elements of a set, sequence or bag."""
    assert isinstance(kind, Set | Sequence | Bag), f"elements of {kind}"
    return kind.element


def normal(graph: Graph, kind: Type, value: Sym) -> Sym:
    """A value that belongs to its type, in the one shape in which values of the type are stored."""
    match value:
        case Scalar():
            return value
        case Maybe():
            return rebase_maybe(graph, value, lowest(kind))
        case Mask():
            return rebase_mask(graph, value, lowest(element_type(kind)))
        case Perhaps(flag, inner):
            assert isinstance(kind, Option), f"an option as {kind}"
            return Perhaps(flag, normal(graph, kind.element, inner))
        case Parts(items):
            pairs = zip(part_types(kind), items, strict=True)
            return Parts(tuple(normal(graph, part, item) for part, item in pairs))
        case Items(length, items):
            assert isinstance(kind, Sequence | Bag), f"a series as {kind}"
            fitted = padded(graph, kind.element, items, kind.capacity)[: kind.capacity]
            return Items(length, tuple(normal(graph, kind.element, item) for item in fitted))
        case _:
            assert_never(value)


def leaves(value: Sym) -> list[Node]:
    """The nodes of a value, in an order that its shape fixes."""
    match value:
        case Scalar(node) | Maybe(node, _) | Mask(node, _, _):
            return [node]
        case Perhaps(flag, inner):
            return [flag, *leaves(inner)]
        case Parts(items):
            return [node for item in items for node in leaves(item)]
        case Items(length, items):
            return [length, *(node for item in items for node in leaves(item))]
        case _:
            assert_never(value)


def rebuilt(value: Sym, nodes: Iterator[Node]) -> Sym:
    """A value of the same shape with other nodes, in the order of `leaves`."""
    match value:
        case Scalar():
            return Scalar(next(nodes))
        case Maybe(_, base):
            return Maybe(next(nodes), base)
        case Mask(_, base, optional):
            return Mask(next(nodes), base, optional)
        case Perhaps(_, inner):
            return Perhaps(next(nodes), rebuilt(inner, nodes))
        case Parts(items):
            return Parts(tuple(rebuilt(item, nodes) for item in items))
        case Items(_, items):
            return Items(next(nodes), tuple(rebuilt(item, nodes) for item in items))
        case _:
            assert_never(value)
