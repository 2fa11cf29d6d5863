"""The finite types of the language, and the values that belong to them.

A value is plain, hashable Python data; its type says how to read it:

| type       | value                                                    |
|------------|----------------------------------------------------------|
| `Bool`     | `bool`                                                   |
| `Range`    | `int`, between `low` and `high` inclusive                |
| `Enum`     | `str`, one of `members`                                  |
| `Node`     | `int`, the node's id, 1 to `size`                        |
| `Identity` | `int`, 1 to `size`; compared for equality only           |
| `Option`   | `None`, or a value of `element`                          |
| `Set`      | `frozenset` of values of `element`                       |
| `Map`      | `tuple`, one value for each key in the key type's order  |
| `Record`   | `tuple`, one value for each field in declaration order   |
| `Sequence` | `tuple` of at most `capacity` values                     |
| `Bag`      | `tuple` of at most `capacity` values, sorted by ordinal  |
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import comb
from typing import Any, TypeAlias, assert_never

from msgspec import Struct

# A value's precise shape depends on its type (see the table above), which Python's type system cannot say.
Value: TypeAlias = Any


class Bool(Struct, frozen=True):
    """Yes or no."""


class Range(Struct, frozen=True):
    """The whole numbers from `low` to `high`.

    `counter` names a bound of the exploration: a step that would assign more than `high` is not taken, and
    counted under that name. Without it such a step is an error of the spec.
    """

    low: int
    high: int
    counter: str | None = None


class Enum(Struct, frozen=True):
    """A named list of alternatives."""

    name: str
    members: tuple[str, ...]


class Node(Struct, frozen=True):
    """The ids 1 to `size` of one kind of node; `ranked` nodes may be compared with `<`, symmetric ones may
    not.
    """

    name: str
    size: int
    ranked: bool


class Identity(Struct, frozen=True):
    """Names drawn fresh from a pool of `size`, compared for equality only, free again when nothing holds
    them.
    """

    name: str
    size: int


class Option(Struct, frozen=True):
    """Nothing, or a value of `element` (which is itself no option)."""

    element: Type


class Set(Struct, frozen=True):
    """A set of scalars."""

    element: Type


class Map(Struct, frozen=True):
    """A total map: one `value` for every scalar `key`."""

    key: Type
    value: Type


class Record(Struct, frozen=True):
    """Named fields; records of an `ordered` type compare field by field, the first field deciding first."""

    name: str
    fields: tuple[tuple[str, Type], ...]
    ordered: bool = False


class Sequence(Struct, frozen=True):
    """A list of at most `capacity` elements, in order."""

    element: Type
    capacity: int


class Bag(Struct, frozen=True):
    """At most `capacity` elements without order, each as often as it was put in."""

    element: Type
    capacity: int


Type: TypeAlias = Bool | Range | Enum | Node | Identity | Option | Set | Map | Record | Sequence | Bag


def is_scalar(kind: Type) -> bool:
    """Whether values of this type fit one small number: what sets may hold and maps may be keyed by."""
    match kind:
        case Bool() | Range() | Enum() | Node() | Identity():
            return True
        case Option(element):
            return is_scalar(element)
        case Set() | Map() | Record() | Sequence() | Bag():
            return False
        case _:
            assert_never(kind)


def holds_identities(kind: Type) -> bool:
    """Whether a value of the type can hold an identity; the keys of a map are not held."""
    match kind:
        case Identity():
            return True
        case Option(element) | Set(element) | Map(_, element) | Sequence(element, _) | Bag(element, _):
            return holds_identities(element)
        case Record(_, fields):
            return any(holds_identities(field) for _, field in fields)
        case _:
            return False


def cardinality(kind: Type) -> int:
    """How many values the type has. Cost: proportional to the size of the type's text, not of its values."""
    match kind:
        case Bool():
            return 2
        case Range(low, high):
            return high - low + 1
        case Enum(_, members):
            return len(members)
        case Node(_, size) | Identity(_, size):
            return size
        case Option(element):
            return 1 + cardinality(element)
        case Set(element):
            return 1 << cardinality(element)
        case Map(key, value):
            return int(cardinality(value) ** cardinality(key))
        case Record(_, fields):
            total = 1
            for _, field in fields:
                total *= cardinality(field)
            return total
        case Sequence(element, capacity):
            base = cardinality(element)
            return sum(int(base**length) for length in range(capacity + 1))
        case Bag(element, capacity):
            return comb(cardinality(element) + capacity, capacity)
        case _:
            assert_never(kind)


def values(kind: Type) -> Iterator[Value]:
    """Every value of the type, in the order of `ordinal`."""
    match kind:
        case Bool():
            yield from (False, True)
        case Range(low, high):
            yield from range(low, high + 1)
        case Enum(_, members):
            yield from members
        case Node(_, size) | Identity(_, size):
            yield from range(1, size + 1)
        case Option(element):
            yield None
            yield from values(element)
        case Set(element):
            elements = tuple(values(element))
            for mask in range(1 << len(elements)):
                yield frozenset(item for index, item in enumerate(elements) if mask >> index & 1)
        case Map(key, value):
            yield from itertools.product(tuple(values(value)), repeat=cardinality(key))
        case Record(_, fields):
            yield from itertools.product(*(tuple(values(field)) for _, field in fields))
        case Sequence(element, capacity):
            for length in range(capacity + 1):
                yield from itertools.product(tuple(values(element)), repeat=length)
        case Bag(element, capacity):
            for length in range(capacity + 1):
                yield from itertools.combinations_with_replacement(tuple(values(element)), length)
        case _:
            assert_never(kind)


def ordinal(kind: Type, value: Value) -> int:
    """The place of a value in the order of its type, from 0; for a set it is its bit mask.

    Errors: `ValueError` when the value does not belong to the type.
    """
    match kind:
        case Bool():
            return int(value)
        case Range(low, high):
            if not low <= value <= high:
                raise ValueError(f"{value} is not in {low}..{high}")
            return int(value) - low
        case Enum(_, members):
            return members.index(value)
        case Node(_, size) | Identity(_, size):
            if not 1 <= value <= size:
                raise ValueError(f"{value} is not in 1..{size}")
            return int(value) - 1
        case Option(element):
            return 0 if value is None else 1 + ordinal(element, value)
        case Set(element):
            return sum(1 << ordinal(element, item) for item in value)
        case Map(_, element):
            return _mixed([(element, item) for item in value])
        case Record(_, fields):
            return _mixed([(field, item) for (_, field), item in zip(fields, value, strict=True)])
        case Sequence(element, _):
            base = cardinality(element)
            return sum(int(base**length) for length in range(len(value))) + _mixed([(element, item) for item in value])
        case Bag():
            return sum(1 for _ in itertools.takewhile(lambda other: other != value, values(kind)))
        case _:
            assert_never(kind)


def _mixed(parts: list[tuple[Type, Value]]) -> int:
    """A number in mixed radix: the first part counts most."""
    total = 0
    for kind, value in parts:
        total = total * cardinality(kind) + ordinal(kind, value)
    return total


def member(kind: Type, value: Value) -> bool:
    """Whether the value belongs to the type."""
    match kind:
        case Bool():
            return isinstance(value, bool)
        case Range(low, high):
            return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        case Enum(_, members):
            return value in members
        case Node(_, size) | Identity(_, size):
            return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= size
        case Option(element):
            return value is None or member(element, value)
        case Set(element):
            return isinstance(value, frozenset) and all(member(element, item) for item in value)
        case Map(key, element):
            return len(value) == cardinality(key) and all(member(element, item) for item in value)
        case Record(_, fields):
            return len(value) == len(fields) and all(
                member(field, item) for (_, field), item in zip(fields, value, strict=True)
            )
        case Sequence(element, capacity):
            return len(value) <= capacity and all(member(element, item) for item in value)
        case Bag(element, capacity):
            return (
                len(value) <= capacity
                and all(member(element, item) for item in value)
                and value == sort_bag(element, value)
            )
        case _:
            assert_never(kind)


def sort_bag(element: Type, items: tuple[Value, ...]) -> tuple[Value, ...]:
    """The one order in which a bag's elements are written."""
    return tuple(sorted(items, key=lambda item: sort_key(element, item)))


def default(kind: Type) -> Value:
    """The type's first value: what an unused place holds, so that equal states look equal."""
    match kind:
        case Map(key, value):
            return (default(value),) * cardinality(key)
        case Record(_, fields):
            return tuple(default(field) for _, field in fields)
        case Sequence() | Bag():
            return ()
        case Set():
            return frozenset()
        case Bool() | Range() | Enum() | Node() | Identity() | Option():
            return next(values(kind))
        case _:
            assert_never(kind)


def sort_key(kind: Type, value: Value) -> Any:
    """A key that sorts values as `ordinal` does, also values outside their type, which have no ordinal.

    For types that differ in ranges and capacities only it gives the same order. Cost: the value's size.
    """
    match kind:
        case Bool() | Range() | Node() | Identity():
            return int(value)
        case Enum(_, members):
            return members.index(value)
        case Option(element):
            return () if value is None else (sort_key(element, value),)
        case Set(element):
            return tuple(sorted((sort_key(element, item) for item in value), reverse=True))
        case Map(_, element):
            return tuple(sort_key(element, item) for item in value)
        case Record(_, fields):
            return tuple(sort_key(field, item) for (_, field), item in zip(fields, value, strict=True))
        case Sequence(element, _) | Bag(element, _):
            return (len(value), *(sort_key(element, item) for item in value))
        case _:
            assert_never(kind)
