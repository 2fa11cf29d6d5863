"""Comparing symbolic values, fitting them to types, and what collections can do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, assert_never

from msgspec import Struct

from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.symbolic_values import (
    Items,
    Mask,
    Maybe,
    Parts,
    Perhaps,
    Scalar,
    Sym,
    blank,
    choose,
    element_type,
    lowest,
    padded,
    part_types,
    rebase_mask,
    rebase_maybe,
)
from hacheck.model.types import Bag, Bool, Enum, Identity, Map, Option, Range, Record, Sequence, Set, Type
from hacheck.model.types import Node as NodeType


class Check(Struct, frozen=True):
    """Something that ends the step where `condition` holds: the bound `text` is reached, or an error of the spec."""

    condition: Node
    kind: Literal["bound", "error"]
    text: str


def equal(graph: Graph, left: Sym, right: Sym) -> Node:
    """Whether two values are equal."""
    match left, right:
        case Scalar(a), Scalar(b):
            return graph.eq(a, b)
        case Maybe(), Maybe():
            base = min(left.base, right.base)
            return graph.eq(rebase_maybe(graph, left, base).node, rebase_maybe(graph, right, base).node)
        case Mask(), Mask():
            base = min(left.base, right.base)
            return graph.eq(rebase_mask(graph, left, base).node, rebase_mask(graph, right, base).node)
        case Perhaps(flag, inner), Perhaps(other_flag, other_inner):
            # Both flags before the values: what tests an option for one value then has a guard, the flags, in common.
            both = graph.and_(flag, other_flag)
            return graph.and_(graph.eq(flag, other_flag), graph.implies(both, equal(graph, inner, other_inner)))
        case Parts(items), Parts(others):
            return graph.all_of(equal(graph, a, b) for a, b in zip(items, others, strict=True))
        case Items(length, items), Items(other_length, others):
            same = [graph.eq(length, other_length)]
            for index, (item, other) in enumerate(zip(items, others, strict=False)):
                same.append(graph.implies(reaches(graph, index, length), equal(graph, item, other)))
            return graph.all_of(same)
        case _:
            raise AssertionError(f"{left} compared with {right}")


def reaches(graph: Graph, index: int, length: Node) -> Node:
    """Whether a series of that length has an item at an index from 0."""
    return graph.lt(graph.const(index), length)


def less(graph: Graph, left: Sym, right: Sym) -> Node:
    """Whether the left value comes first in the order of the type."""
    match left, right:
        case Scalar(a), Scalar(b):
            return graph.lt(a, b)
        case Maybe(), Maybe():
            base = min(left.base, right.base)
            return graph.lt(rebase_maybe(graph, left, base).node, rebase_maybe(graph, right, base).node)
        case Mask(), Mask():
            base = min(left.base, right.base)
            return graph.lt(rebase_mask(graph, left, base).node, rebase_mask(graph, right, base).node)
        case Perhaps(flag, inner), Perhaps(other_flag, other_inner):
            both = graph.and_(flag, other_flag, less(graph, inner, other_inner))
            return graph.or_(graph.and_(graph.not_(flag), other_flag), both)
        case Parts(items), Parts(others):
            return _lexicographic(graph, items, others)
        case Items(length, items), Items(other_length, others):
            shared = min(len(items), len(others))
            first = graph.zero
            for index in range(shared - 1, -1, -1):
                item, other = items[index], others[index]
                rest = graph.or_(less(graph, item, other), graph.and_(equal(graph, item, other), first))
                first = graph.and_(reaches(graph, index, length), rest)
            same_length = graph.and_(graph.eq(length, other_length), first)
            return graph.or_(graph.lt(length, other_length), same_length)
        case _:
            raise AssertionError(f"{left} compared with {right}")


def _lexicographic(graph: Graph, items: tuple[Sym, ...], others: tuple[Sym, ...]) -> Node:
    result = graph.zero
    for a, b in zip(reversed(items), reversed(others), strict=True):
        result = graph.or_(less(graph, a, b), graph.and_(equal(graph, a, b), result))
    return result


# ---- fitting to a type ----


def type_violations(graph: Graph, kind: Type, value: Sym, present: Node, name: str) -> Iterator[Check]:
    """What keeps a value from being stored as a type, in the order in which it is looked for. `present`: whether the
    value is there at all; `name`: of the variable or local it goes into."""
    if isinstance(kind, (Bool, Enum, NodeType, Identity)):  # a tuple: it is called often
        return  # these have no numbers that are none of their values
    match kind, value:
        case Range(), Scalar(node):
            yield from _range_violations(graph, kind, node, present, name)
        case Option(Range() as inner), Maybe(node, base):
            given = graph.and_(present, graph.ne(node, graph.zero))
            yield from _range_violations(graph, inner, graph.plus(node, base - 1), given, name)
        case Set(element), Mask():
            yield from _mask_violations(graph, element, value, present, name)
        case Option(element), Perhaps(flag, inner_value):
            yield from type_violations(graph, element, inner_value, graph.and_(present, flag), name)
        case ((Map() | Record()), Parts(items)):
            for part, item in zip(part_types(kind), items, strict=True):
                yield from type_violations(graph, part, item, present, name)
        case ((Sequence(element, capacity) | Bag(element, capacity)), Items(length, items)):
            full = graph.lt(graph.const(capacity), length)
            yield Check(graph.and_(present, full), "bound", f"capacity of {name}")
            for index, item in enumerate(items[:capacity]):
                there = graph.and_(present, reaches(graph, index, length))
                yield from type_violations(graph, element, item, there, name)
        case _, (Scalar() | Maybe()):
            return
        case _:
            raise AssertionError(f"{value} stored as {kind}")


def _range_violations(graph: Graph, kind: Range, node: Node, present: Node, name: str) -> Iterator[Check]:
    if kind.low <= node.low and node.high <= kind.high:
        return
    below = graph.lt(node, graph.const(kind.low))
    yield Check(graph.and_(present, below), "error", f"{name} below {kind.low}")
    yield _above(graph, kind, graph.and_(present, graph.lt(graph.const(kind.high), node)), name)


def _above(graph: Graph, kind: Range, condition: Node, name: str) -> Check:
    if kind.counter is not None:
        return Check(condition, "bound", kind.counter)
    return Check(condition, "error", f"{name} above {kind.high}")


def _mask_violations(graph: Graph, element: Type, value: Mask, present: Node, name: str) -> Iterator[Check]:
    inner = element.element if isinstance(element, Option) else element
    if not isinstance(inner, Range):
        return
    members = graph.shr(value.node, graph.one) if value.optional else value.node
    if value.base < inner.low:
        low_bits = graph.const((1 << inner.low - value.base) - 1)
        below = graph.ne(graph.bitand(members, low_bits), graph.zero)
        yield Check(graph.and_(present, below), "error", f"{name} below {inner.low}")
    places = inner.high - value.base + 1
    if members.high.bit_length() <= places:
        return
    rest = members if places <= 0 else graph.shr(members, graph.const(places))
    yield _above(graph, inner, graph.and_(present, graph.ne(rest, graph.zero)), name)


def retyped(graph: Graph, source: Type, kind: Type, value: Sym) -> Sym:
    """A value that fits a type, with that type's blanks in the places that hold nothing."""
    if source == kind:
        return value
    match value:
        case Scalar() | Maybe() | Mask():
            return value
        case Perhaps(flag, inner):
            assert isinstance(source, Option), f"an option of type {source}"
            assert isinstance(kind, Option), f"an option as {kind}"
            fitted = retyped(graph, source.element, kind.element, inner)
            return Perhaps(flag, choose(graph, kind.element, flag, fitted, blank(graph, kind.element)))
        case Parts(items):
            pairs = zip(part_types(source), part_types(kind), items, strict=True)
            return Parts(tuple(retyped(graph, a, b, item) for a, b, item in pairs))
        case Items(length, items):
            old, new = element_type(source), element_type(kind)
            nothing = blank(graph, new)
            return Items(
                length,
                tuple(
                    choose(graph, new, reaches(graph, index, length), retyped(graph, old, new, item), nothing)
                    for index, item in enumerate(items)
                ),
            )
        case _:
            assert_never(value)


# ---- collections ----


def element_bit(graph: Graph, element: Type, item: Sym) -> tuple[Node, int]:
    """The bit of a scalar in a mask, with the mask's base."""
    if isinstance(item, Maybe):
        return item.node, item.base
    assert isinstance(item, Scalar), f"{item} in a set of {element}"
    base = min(lowest(element), item.node.low)
    return graph.plus(item.node, -base), base


def contains(graph: Graph, container: Sym, item: Sym) -> Node:
    """Whether a set, sequence or bag has an element."""
    if isinstance(container, Items):
        found = (
            graph.and_(reaches(graph, index, container.length), equal(graph, held, item))
            for index, held in enumerate(container.items)
        )
        return graph.any_of(found)
    assert isinstance(container, Mask), f"element of {container}"
    if isinstance(item, Maybe):
        base = min(item.base, container.base)
        return graph.bit(rebase_mask(graph, container, base).node, rebase_maybe(graph, item, base).node)
    assert isinstance(item, Scalar), f"{item} in a set"
    return graph.bit(container.node, graph.plus(item.node, -container.base))


def single(graph: Graph, element: Type, item: Sym, present: Node) -> Mask:
    """The set of one element, or of none."""
    bit, base = element_bit(graph, element, item)
    mask = graph.const(1 << bit.number) if bit.is_const else graph.shl(graph.one, bit)
    return Mask(graph.select(present, mask, graph.zero), base, isinstance(item, Maybe))


def combine(graph: Graph, operator: Literal["union", "intersect", "minus"], left: Mask, right: Mask) -> Mask:
    """A set operation."""
    base = min(left.base, right.base)
    a, b = rebase_mask(graph, left, base).node, rebase_mask(graph, right, base).node
    match operator:
        case "union":
            return Mask(graph.bitor(a, b), base, left.optional)
        case "intersect":
            return Mask(graph.bitand(a, b), base, left.optional)
        case "minus":
            return Mask(graph.bitminus(a, b), base, left.optional)
        case _:
            assert_never(operator)


def append(graph: Graph, element: Type, series: Items, item: Sym) -> Items:
    """A sequence with one more element at its end."""
    size = series.length.high + 1
    items = padded(graph, element, series.items, size)[:size]
    placed = tuple(
        choose(graph, element, graph.eq(series.length, graph.const(index)), item, held)
        for index, held in enumerate(items)
    )
    return Items(graph.plus(series.length, 1), placed)


def insert(graph: Graph, element: Type, bag: Items, item: Sym) -> Items:
    """A bag with one more element, behind those that are equal."""
    size = bag.length.high + 1
    items = padded(graph, element, bag.items, size)[:size]
    stays = [  # whether the element at an index stays where it is
        graph.and_(reaches(graph, index, bag.length), graph.not_(less(graph, item, held)))
        for index, held in enumerate(items)
    ]
    placed: list[Sym] = []
    for index, held in enumerate(items):
        moved = item if index == 0 else choose(graph, element, stays[index - 1], item, items[index - 1])
        there = graph.lt(bag.length, graph.const(index))  # past the new end: stays blank
        placed.append(choose(graph, element, graph.or_(stays[index], there), held, moved))
    return Items(graph.plus(bag.length, 1), tuple(placed))


def remove_at(graph: Graph, element: Type, series: Items, gone_before: list[Node], found: Node) -> Items:
    """A series without one element; `gone_before[i]`: whether that element is at index i or before it."""
    following = (*series.items[1:], blank(graph, element)) if series.items else ()
    kept = tuple(
        choose(graph, element, gone, later, held)
        for gone, later, held in zip(gone_before, following, series.items, strict=True)
    )
    return Items(graph.sub(series.length, found), kept)


def without(graph: Graph, element: Type, series: Items, item: Sym) -> Items:
    """A sequence or bag without the first occurrence of an element."""
    gone: list[Node] = []
    found = graph.zero
    for index, held in enumerate(series.items):
        here = graph.and_(reaches(graph, index, series.length), equal(graph, held, item))
        found = graph.or_(found, here)
        gone.append(found)
    return remove_at(graph, element, series, gone, found)


def size_of(graph: Graph, value: Sym) -> Node:
    """The number of elements of a set, sequence or bag."""
    if isinstance(value, Items):
        return value.length
    assert isinstance(value, Mask), f"size of {value}"
    return graph.popcount(value.node)
