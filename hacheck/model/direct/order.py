"""How values compare, and in which order collections are gone through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hacheck.model.direct.values import Bag, Braces, Identity, Map, Node, Record, Value

Place = Callable[[str], int]
"""The place of a word in its type."""


def equal(left: Value, right: Value) -> bool:
    """Whether two values are the same."""
    if isinstance(left, Braces) and isinstance(right, Bag):
        return Bag(left.items) == right
    return bool(left == right)


def rank(value: Value, place: Place | None = None) -> tuple[Any, ...]:
    """Something that compares as the value does: a node by its id, a record by its parts, `none` before all else."""
    match value:
        case None:
            return ()
        case Node(_, number) | Identity(_, number):
            return (number,)
        case Record(_, _, parts) | Map(_, parts):
            return (tuple(rank(part, place) for part in parts),)
        case str():
            return (value if place is None else place(value),)
        case tuple():
            return (tuple(rank(part, place) for part in value),)
        case _:
            return (value,)


def elements(collection: Value, place: Place) -> Sequence[Value]:
    """The elements of a collection: of a sequence in its order, of any other in that of their type."""
    if isinstance(collection, Bag | frozenset):
        return sorted(collection, key=lambda one: rank(one, place))
    return tuple(collection)


class Order:
    """The order of values in loops. `ranked`: whether the ids of a kind of nodes mean something."""

    def __init__(self, place: Place, ranked: Callable[[str], bool]) -> None:
        self.place = place
        self.ranked = ranked

    def elements(self, collection: Value) -> Sequence[Value]:
        """The elements of a collection, see `elements`."""
        return elements(collection, self.place)

    def means_something(self, value: Value) -> bool:
        """Whether the order of such values does."""
        match value:
            case Node(kind, _):
                return self.ranked(kind)
            case Identity():
                return False
            case Record(_, _, parts):
                return all(self.means_something(part) for part in parts)
            case _:
                return True
