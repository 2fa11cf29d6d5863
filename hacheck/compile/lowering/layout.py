"""Where each part of the state lives: composite types taken apart into slots, slots into bit ranges of one number.

A slot holds a whole number from 0: of a scalar its ordinal (an option adds one and keeps 0 for nothing), of a set its
bit mask. An option of a composite is a flag and the composite's slots; a sequence or bag is its length and the slots
of `capacity` elements. Slots that hold nothing (behind the length, under a flag that is off) are 0, and bags are
sorted, so that equal states are equal numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as Listed
from functools import cache
from typing import TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model.ir import System
from hacheck.model.runs import State
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
    cardinality,
    is_scalar,
    ordinal,
    values,
)


class Slot(Struct, frozen=True):
    """A bit range of the packed state: `width` bits from bit `offset`, holding 0 to `high`.

    `fixed`: what it holds in every reachable state, where that is known; it then takes no bits.
    """

    name: str
    offset: int
    width: int
    high: int
    fixed: int | None = None


class Cell(Struct, frozen=True):
    """A scalar, an option of a scalar, or a set: one slot; `slot` is `None` for a type of one value."""

    type: Type
    slot: int | None


class Flagged(Struct, frozen=True):
    """An option of a composite."""

    type: Option
    flag: int
    inner: Place


class Group(Struct, frozen=True):
    """A map's values or a record's fields."""

    type: Map | Record
    items: tuple[Place, ...]


class Series(Struct, frozen=True):
    """A sequence or bag."""

    type: Sequence | Bag
    length: int | None
    items: tuple[Place, ...]


Place: TypeAlias = Cell | Flagged | Group | Series


class Layout(Struct, frozen=True):
    """The slots of a state, and for each variable (in the system's order) its place."""

    slots: tuple[Slot, ...]
    places: tuple[Place, ...]

    @property
    def width(self) -> int:
        """Bits of a packed state."""
        return sum(slot.width for slot in self.slots)


def lay_out(system: System) -> Layout:
    """Slots in the order of the variables, without gaps."""
    slots: list[Slot] = []
    places = tuple(_place(variable.type, variable.name, slots) for variable in system.variables)
    return arranged(Layout(tuple(slots), places), range(len(slots)))


def arranged(layout: Layout, order: Iterable[int]) -> Layout:
    """The same slots, with bit ranges given out in another order."""
    slots, offset = list(layout.slots), 0
    for index in order:
        slots[index] = replace(slots[index], offset=offset)
        offset += slots[index].width
    return Layout(tuple(slots), layout.places)


def _slot(name: str, high: int, slots: list[Slot]) -> int | None:
    if high == 0:
        return None
    slots.append(Slot(name, 0, high.bit_length(), high))
    return len(slots) - 1


def _place(kind: Type, name: str, slots: list[Slot]) -> Place:
    match kind:
        case Option(element) if not is_scalar(element):
            flag = _slot(f"{name}?", 1, slots)
            assert flag is not None, "a flag has two values"
            return Flagged(kind, flag, _place(element, name, slots))
        case Bool() | Range() | Enum() | Node() | Identity() | Option() | Set():
            return Cell(kind, _slot(name, cardinality(kind) - 1, slots))
        case Map(key, value):
            return Group(kind, tuple(_place(value, f"{name}[{_label(item)}]", slots) for item in values(key)))
        case Record(_, fields):
            return Group(kind, tuple(_place(field, f"{name}.{label}", slots) for label, field in fields))
        case Sequence(element, capacity) | Bag(element, capacity):
            length = _slot(f"{name}.length", capacity, slots)
            items = tuple(_place(element, f"{name}[{index + 1}]", slots) for index in range(capacity))
            return Series(kind, length, items)
        case _:
            assert_never(kind)


def _label(value: Value) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def encode(place: Place, value: Value) -> Iterator[tuple[int, int]]:
    """The slots of a place that are not 0 when it holds a value of its type, with what they hold."""
    match place:
        case Cell(kind, slot):
            if slot is not None:
                yield slot, ordinal(kind, value)
        case Flagged(_, flag, inner):
            if value is not None:
                yield flag, 1
                yield from encode(inner, value)
        case Group(_, items):
            for item, part in zip(items, value, strict=True):
                yield from encode(item, part)
        case Series(_, length, items):
            if length is not None:
                yield length, len(value)
            for item, part in zip(items, value, strict=False):
                yield from encode(item, part)
        case _:
            assert_never(place)


def pack(layout: Layout, state: State) -> int:
    """A state as one number."""
    packed = 0
    for place, value in zip(layout.places, state, strict=True):
        for slot, number in encode(place, value):
            if layout.slots[slot].fixed is None:
                packed |= number << layout.slots[slot].offset
    return packed


def contents(layout: Layout, state: State) -> list[int]:
    """What each slot holds in a state."""
    raw = [0] * len(layout.slots)
    for place, value in zip(layout.places, state, strict=True):
        for slot, number in encode(place, value):
            raw[slot] = number
    return raw


def pack_all(layout: Layout, states: Iterable[State]) -> list[int]:
    """Many states, each as one number: what a scalar adds to the number is looked up where it was met before."""
    packers = [_packer(layout, place) for place in layout.places]
    return [sum(packer(value) for packer, value in zip(packers, state, strict=True)) for state in states]


def _packer(layout: Layout, place: Place) -> Callable[[Value], int]:
    if isinstance(place, Group):
        packers = [_packer(layout, item) for item in place.items]
        return lambda value: sum(packer(part) for packer, part in zip(packers, value, strict=True))

    @cache
    def packed(value: Value) -> int:
        found = 0
        for slot, number in encode(place, value):
            if layout.slots[slot].fixed is None:
                found |= number << layout.slots[slot].offset
        return found

    return packed


def held(layout: Layout, states: Listed[State]) -> list[set[int]]:
    """What each slot holds in some of the states, of which there is one at least."""
    found: list[set[int]] = [set() for _ in layout.slots]
    for place, values_of in zip(layout.places, zip(*states, strict=True), strict=True):
        _hold(place, set(values_of), found)
    return found


def _hold(place: Place, values_of: set[Value], found: list[set[int]]) -> None:
    if isinstance(place, Group):
        for item, parts in zip(place.items, zip(*values_of, strict=True), strict=True):
            _hold(item, set(parts), found)
        return
    mine = tuple(slots_of(place))
    for value in values_of:
        encoded = dict(encode(place, value))
        for slot in mine:
            found[slot].add(encoded.get(slot, 0))


def unpack(layout: Layout, packed: int) -> State:
    """The state that `pack` made the number from."""
    raw = tuple(
        packed >> slot.offset & (1 << slot.width) - 1 if slot.fixed is None else slot.fixed for slot in layout.slots
    )
    return tuple(_decode(place, raw) for place in layout.places)


def scalar(kind: Type, number: int) -> Value:
    """The value of a scalar or set type with an ordinal."""
    match kind:
        case Bool():
            return bool(number)
        case Range(low, _):
            return low + number
        case Enum(_, members):
            return members[number]
        case Node() | Identity():
            return number + 1
        case Option(element):
            return None if number == 0 else scalar(element, number - 1)
        case Set(element):
            return frozenset(scalar(element, bit) for bit in range(number.bit_length()) if number >> bit & 1)
        case Map() | Record() | Sequence() | Bag():
            raise AssertionError(f"{kind} is no scalar")
        case _:
            assert_never(kind)


def _decode(place: Place, raw: tuple[int, ...]) -> Value:
    match place:
        case Cell(kind, slot):
            return scalar(kind, 0 if slot is None else raw[slot])
        case Flagged(_, flag, inner):
            return _decode(inner, raw) if raw[flag] else None
        case Group(_, items):
            return tuple(_decode(item, raw) for item in items)
        case Series(_, length, items):
            return tuple(_decode(item, raw) for item in items[: 0 if length is None else raw[length]])
        case _:
            assert_never(place)


def slots_of(place: Place) -> Iterator[int]:
    """All slots of a place."""
    match place:
        case Cell(_, slot):
            if slot is not None:
                yield slot
        case Flagged(_, flag, inner):
            yield flag
            yield from slots_of(inner)
        case Group(_, items):
            for item in items:
                yield from slots_of(item)
        case Series(_, length, items):
            if length is not None:
                yield length
            for item in items:
                yield from slots_of(item)
        case _:
            assert_never(place)
