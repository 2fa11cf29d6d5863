"""How a permutation of one kind's members acts on values, by their types."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, assert_never

from msgspec import Struct

from hacheck.model.types import (
    Bag,
    Bool,
    Enum,
    Identity,
    Map,
    Node,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    Value,
    sort_bag,
    values,
)

Kind: TypeAlias = Node | Identity


class SymmetryClass(Struct, frozen=True):
    """Symmetric members of a kind, in ascending order, two at least."""

    kind: Kind
    members: tuple[int, ...]


def parts_of(holder: Type) -> Iterator[Type]:
    """A type and all types that it is made of."""
    yield holder
    match holder:
        case Option(element) | Set(element) | Sequence(element, _) | Bag(element, _):
            yield from parts_of(element)
        case Map(key, value):
            yield from parts_of(key)
            yield from parts_of(value)
        case Record(_, fields):
            for _, field in fields:
                yield from parts_of(field)
        case Bool() | Range() | Enum() | Node() | Identity():
            pass
        case _:
            assert_never(holder)


def mentions(kind: Kind, holder: Type) -> bool:
    """Whether values of a type can hold members of the kind, or have a place for each."""
    return any(part == kind for part in parts_of(holder))


def has_places_for(kind: Kind, holder: Type) -> bool:
    """Whether a type has maps in it whose keys the kind has a part in."""
    return any(isinstance(part, Map) and mentions(kind, part.key) for part in parts_of(holder))


def renamed(kind: Kind, holder: Type, value: Value, new: Callable[[int], int]) -> Value:
    """A value of a type with every member of the kind replaced; `new` is a permutation of the members, and a map's
    entries move with their keys. Cost: the value's size, and that of the types of its maps' keys."""
    match holder:
        case Node() | Identity():
            return new(value) if holder == kind else value
        case Option(element):
            return None if value is None else renamed(kind, element, value, new)
        case Set(element):
            return frozenset(renamed(kind, element, item, new) for item in value)
        case Map(key, element):
            pairs = zip(values(key), value, strict=True)
            moved = {renamed(kind, key, name, new): renamed(kind, element, item, new) for name, item in pairs}
            return tuple(moved[name] for name in values(key))
        case Record(_, fields):
            return tuple(renamed(kind, part, item, new) for (_, part), item in zip(fields, value, strict=True))
        case Sequence(element, _):
            return tuple(renamed(kind, element, item, new) for item in value)
        case Bag(element, _):
            return sort_bag(element, tuple(renamed(kind, element, item, new) for item in value))
        case Bool() | Range() | Enum():
            return value
        case _:
            assert_never(holder)


def exchange(first: int, second: int) -> Callable[[int], int]:
    """The permutation that exchanges two members."""
    return lambda member: second if member == first else first if member == second else member
