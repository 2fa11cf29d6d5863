"""The values of the direct interpreter: each says by itself what it is, so that no types need to be inferred.

| of the language | value                                                            |
|-----------------|------------------------------------------------------------------|
| bool, number    | `bool`, `int`                                                    |
| word            | `str`                                                            |
| node            | `Node(kind, id)`                                                 |
| identity        | `Identity(pool, number)`                                         |
| option          | `None`, or the value                                             |
| set             | `frozenset`                                                      |
| map             | `Map`, pairs in the order of the keys                            |
| record          | `Record`, fields in the order declared                           |
| sequence        | `tuple`                                                          |
| bag             | `Bag`                                                            |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from hacheck.model import types

# A value is one of the classes of the table above; which one is known from the spec, not to Python.
Value: TypeAlias = Any


class Node(NamedTuple):
    """One node of a kind, by its id from 1."""

    kind: str
    id: int

    def __repr__(self) -> str:
        return f"{self.kind}({self.id})"


class Identity(NamedTuple):
    """A name from a pool, compared for equality only."""

    pool: str
    number: int

    def __repr__(self) -> str:
        return f"{self.pool}#{self.number}"


class Record(NamedTuple):
    """A record with its parts; `name` is that of its type, or of the message whose arguments these are."""

    name: str
    fields: tuple[str, ...]
    parts: tuple[Value, ...]
    ordered: bool = False

    def get(self, field: str) -> Value:
        """The part of this name."""
        return self.parts[self.fields.index(field)]

    def having(self, field: str, part: Value) -> Record:
        """The same record with another part."""
        at = self.fields.index(field)
        return Record(self.name, self.fields, (*self.parts[:at], part, *self.parts[at + 1 :]), self.ordered)


class Map(NamedTuple):
    """A total map: all its keys, in their order, and a value for each."""

    keys: tuple[Value, ...]
    parts: tuple[Value, ...]

    def get(self, key: Value) -> Value:
        """The value of a key."""
        return self.parts[self.keys.index(key)]

    def having(self, key: Value, part: Value) -> Map:
        """The same map with another value for a key."""
        at = self.keys.index(key)
        return Map(self.keys, (*self.parts[:at], part, *self.parts[at + 1 :]))


class Braces(frozenset[Any]):
    """What `{a, b}` is before it is known whether a set or a bag is meant: a set that remembers its elements."""

    items: tuple[Value, ...]

    @classmethod
    def of(cls, items: Iterable[Value]) -> Braces:
        """The elements as they were written."""
        listed = tuple(items)
        made = cls(listed)
        made.items = listed
        return made


class Bag:
    """A collection that counts; equal to one with the same elements equally often."""

    __slots__ = ("counts", "items")

    def __init__(self, items: Iterable[Value] = ()) -> None:
        self.items = tuple(items)
        self.counts = frozenset(Counter(self.items).items())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Braces):
            return self == Bag(other.items)
        return isinstance(other, Bag) and self.counts == other.counts

    def __hash__(self) -> int:
        return hash(self.counts)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Value]:
        return iter(self.items)

    def __contains__(self, item: Value) -> bool:
        return item in self.items

    def __repr__(self) -> str:
        return f"Bag({list(self.items)})"

    def adding(self, item: Value) -> Bag:
        """With one element more."""
        return Bag((*self.items, item))

    def removing(self, item: Value) -> Bag:
        """With one such element less; itself where there is none."""
        if item not in self.items:
            return self
        at = self.items.index(item)
        return Bag((*self.items[:at], *self.items[at + 1 :]))


def from_plain(kind: types.Type, value: Any) -> Value:
    """The value that plain data of a type stands for; `hacheck.model.types` says what plain data is."""
    match kind:
        case types.Node(name):
            return Node(name, value)
        case types.Identity(name):
            return Identity(name, value)
        case types.Option(element):
            return None if value is None else from_plain(element, value)
        case types.Set(element):
            return frozenset(from_plain(element, one) for one in value)
        case types.Sequence(element):
            return tuple(from_plain(element, one) for one in value)
        case types.Bag(element):
            return Bag(from_plain(element, one) for one in value)
        case types.Record(name, fields, ordered):
            parts = tuple(from_plain(of, one) for (_, of), one in zip(fields, value, strict=True))
            return Record(name, tuple(field for field, _ in fields), parts, ordered)
        case types.Map(key, item):
            keys = tuple(from_plain(key, one) for one in types.values(key))
            return Map(keys, tuple(from_plain(item, one) for one in value))
        case _:
            return value


def to_plain(value: Value) -> Any:
    """The value as plain data, which no longer says of what type it is; the elements of a bag are in no order."""
    match value:
        case Node(_, number) | Identity(_, number):
            return number
        case Record(_, _, parts) | Map(_, parts):
            return tuple(to_plain(part) for part in parts)
        case Bag():
            return tuple(to_plain(one) for one in value)
        case frozenset():
            return frozenset(to_plain(one) for one in value)
        case tuple():
            return tuple(to_plain(one) for one in value)
        case _:
            return value
