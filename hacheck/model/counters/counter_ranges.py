"""The ranges of counters within a system: found in types, and replaced wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from hacheck.model.ir import System
from hacheck.model.types import Bag, Map, Option, Range, Record, Sequence, Set, Type, Value


def with_highs(system: System, highs: Mapping[str, int]) -> System:
    """The system with other greatest values of some counters. Cost: the system's size."""
    made: System = _Replaced(highs).of(system)
    return made


class _Replaced:
    """Everything made of types with the ranges of some counters replaced. What holds none stays the same object."""

    def __init__(self, highs: Mapping[str, int]) -> None:
        self.highs = highs
        self.done: dict[int, tuple[Any, Any]] = {}  # the old item is kept, so that its identity stays its own

    def of(self, item: Any) -> Any:
        if item is None or isinstance(item, str | int | frozenset):
            return item
        found = self.done.get(id(item))
        if found is None:
            found = self.done[id(item)] = item, self.made(item)
        return found[1]

    def made(self, item: Any) -> Any:
        if isinstance(item, Range):
            high = self.highs.get(item.counter or "")
            return item if high is None else Range(item.low, high, item.counter)
        if isinstance(item, tuple):
            parts = tuple([self.of(part) for part in item])
            return item if all(new is old for new, old in zip(parts, item, strict=True)) else parts
        assert isinstance(item, Struct), f"{item!r} is no part of a system"
        names = item.__struct_fields__
        before = [getattr(item, name) for name in names]
        after = [self.of(part) for part in before]
        if all(new is old for new, old in zip(after, before, strict=True)):
            return item
        form: Any = type(item)
        return form(**dict(zip(names, after, strict=True)))


def holds_counter(kind: Type, counter: str) -> bool:
    """Whether values of the type can hold values of the counter."""
    match kind:
        case Range(counter=name):
            return name == counter
        case Option(element) | Set(element) | Sequence(element, _) | Bag(element, _):
            return holds_counter(element, counter)
        case Map(key, element):
            return holds_counter(key, counter) or holds_counter(element, counter)
        case Record(_, parts):
            return any(holds_counter(part, counter) for _, part in parts)
        case _:
            return False


def held(kind: Type, value: Value, counter: str) -> Iterator[int]:
    """The values of a counter that a value holds, given its type, in which sets and keys of maps hold none."""
    match kind:
        case Range(counter=name):
            if name == counter:
                yield value
        case Option(element):
            if value is not None:
                yield from held(element, value, counter)
        case Map(_, element) | Sequence(element, _) | Bag(element, _):
            if holds_counter(element, counter):
                for item in value:
                    yield from held(element, item, counter)
        case Record(_, parts):
            for (_, part), item in zip(parts, value, strict=True):
                yield from held(part, item, counter)
        case _:
            return


def renumbered(kind: Type, value: Value, counter: str, new: Mapping[int, int]) -> Value:
    """A value with the values of a counter that it holds replaced by new ones, which keep their order."""
    match kind:
        case Range(counter=name):
            return new[value] if name == counter else value
        case Option(element):
            return None if value is None else renumbered(element, value, counter, new)
        case Map(_, element) | Sequence(element, _) | Bag(element, _) if holds_counter(element, counter):
            return tuple(renumbered(element, item, counter, new) for item in value)
        case Record(_, parts):
            return tuple(renumbered(part, item, counter, new) for (_, part), item in zip(parts, value, strict=True))
        case _:
            return value
