"""Following keys and field names into a value without building the parts that are not used."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.layout import Cell, Flagged, Group, Series
from hacheck.compile.lowering.operations import Check, reaches, type_violations
from hacheck.compile.lowering.scope import Scope
from hacheck.compile.lowering.symbolic_values import (
    Items,
    Mask,
    Maybe,
    Parts,
    Perhaps,
    Scalar,
    Sym,
    blank,
    content,
    element_type,
    lowest,
    padded,
    part_types,
    read,
    rebase_mask,
    rebase_maybe,
)
from hacheck.model.types import Map, Option, Record, Sequence, Type


class Picked(Struct, frozen=True):
    """One of several, by an index from 0."""

    index: Node
    options: tuple[Cursor, ...]


Cursor: TypeAlias = Cell | Flagged | Group | Series | Scalar | Maybe | Mask | Perhaps | Parts | Items | Picked


def finish(scope: Scope, kind: Type, cursor: Cursor) -> Sym:
    """The value a cursor stands at."""
    match cursor:
        case Cell() | Flagged() | Group() | Series():
            return read(scope.graph, cursor, scope.slot)
        case Picked(index, options):
            return pick(scope.graph, kind, index, tuple(finish(scope, kind, option) for option in options))
        case _:
            return cursor


def pick(graph: Graph, kind: Type, index: Node, options: tuple[Sym, ...]) -> Sym:
    """One of several values of a type, by an index from 0."""
    first = options[0]
    match first:
        case Scalar():
            return Scalar(graph.pick(index, tuple(_scalar(option).node for option in options)))
        case Maybe():
            some = [option for option in options if isinstance(option, Maybe)]
            base = min(option.base for option in some)
            return Maybe(graph.pick(index, tuple(rebase_maybe(graph, option, base).node for option in some)), base)
        case Mask():
            sets = [option for option in options if isinstance(option, Mask)]
            base = min(option.base for option in sets)
            nodes = tuple(rebase_mask(graph, option, base).node for option in sets)
            return Mask(graph.pick(index, nodes), base, first.optional)
        case Perhaps():
            assert isinstance(kind, Option), f"an option as {kind}"
            given = [option for option in options if isinstance(option, Perhaps)]
            flag = graph.pick(index, tuple(option.flag for option in given))
            return Perhaps(flag, pick(graph, kind.element, index, tuple(option.inner for option in given)))
        case Parts():
            rows = [option.items for option in options if isinstance(option, Parts)]
            columns = zip(part_types(kind), *rows, strict=True)
            return Parts(tuple(pick(graph, column[0], index, tuple(column[1:])) for column in columns))
        case Items():
            element = element_type(kind)
            series = [option for option in options if isinstance(option, Items)]
            size = max(len(option.items) for option in series)
            rows = [padded(graph, element, option.items, size) for option in series]
            items = tuple(pick(graph, element, index, column) for column in zip(*rows, strict=True))
            return Items(graph.pick(index, tuple(option.length for option in series)), items)


def _scalar(value: Sym) -> Scalar:
    assert isinstance(value, Scalar), f"{value} is no scalar"
    return value


def enter(cursor: Cursor, place: int) -> Cursor:
    """The part at a known place: of a map, record or series, from 0."""
    match cursor:
        case Group(_, items) | Series(_, _, items):
            return items[place]
        case Parts(parts) | Items(_, parts):
            return parts[place]
        case Picked(index, options):
            return Picked(index, tuple(enter(option, place) for option in options))
        case _:
            raise AssertionError(f"part {place} of {cursor}")


def width(cursor: Cursor) -> int:
    """How many parts there are to enter."""
    match cursor:
        case Group(_, items) | Series(_, _, items):
            return len(items)
        case Parts(parts) | Items(_, parts):
            return len(parts)
        case Picked(_, options):
            return min(width(option) for option in options)
        case _:
            raise AssertionError(f"parts of {cursor}")


def length(scope: Scope, cursor: Cursor) -> Node:
    """The length of the sequence a cursor stands at."""
    match cursor:
        case Series(_, slot, _):
            return scope.graph.zero if slot is None else scope.slot(slot)
        case Items(count, _):
            return count
        case Picked(index, options):
            return scope.graph.pick(index, tuple(length(scope, option) for option in options))
        case _:
            raise AssertionError(f"length of {cursor}")


def part(kind: Type, cursor: Cursor, key: Sym) -> tuple[Type, Cursor] | None:
    """What a known key of a map leads to, and its type, if there is such a part."""
    if not isinstance(kind, Map) or not isinstance(key, Scalar) or not key.node.is_const:
        return None
    index = key.node.number - lowest(kind.key)
    return (kind.value, enter(cursor, index)) if 0 <= index < width(cursor) else None


def position(scope: Scope, kind: Type, cursor: Cursor, key: Sym) -> Node:
    """Which part a key names, from 0; leaves a check where there is no such part."""
    graph = scope.graph
    if isinstance(kind, Map):
        for found in type_violations(graph, kind.key, key, graph.one, "a key"):
            scope.demand(Check(found.condition, "error", "there is no element for this key"))
        return scope.known(content(graph, kind.key, key))
    assert isinstance(kind, Sequence), f"index into {kind}"
    index = scope.known(graph.plus(_scalar(key).node, -1))
    there = graph.and_(graph.not_(graph.lt(index, graph.zero)), graph.lt(index, length(scope, cursor)))
    scope.demand(Check(graph.not_(there), "error", "there is no element at this position"))
    return index


def at(scope: Scope, kind: Type, cursor: Cursor, index: Node) -> Cursor:
    """The part at a place, known or not."""
    parts = width(cursor)
    if parts == 0:
        assert isinstance(kind, Sequence), f"empty {kind}"
        return blank(scope.graph, kind.element)
    if index.is_const:
        return enter(cursor, min(max(index.number, 0), parts - 1))
    return Picked(scope.graph.natural(index), tuple(enter(cursor, place) for place in range(parts)))


def field_of(kind: Type, name: str) -> tuple[int, Type]:
    """Which part of a record a field is, and its type."""
    assert isinstance(kind, Record), f"field {name} of {kind}"
    return next((place, field) for place, (label, field) in enumerate(kind.fields) if label == name)


__all__ = [
    "Cursor",
    "Picked",
    "at",
    "enter",
    "field_of",
    "finish",
    "length",
    "part",
    "pick",
    "position",
    "reaches",
    "width",
]
