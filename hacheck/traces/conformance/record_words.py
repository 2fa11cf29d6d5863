"""Where records lie among the words that the code that follows logs sees, and how they are written there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hacheck.compile import Cell, Flagged, Layout, slots_of
from hacheck.model.observing.record_layout import Observed
from hacheck.model.runs import State
from hacheck.model.types import Option, Range, Set, Value, values
from hacheck.traces.conformance.trace_program import WORD_BITS, Bits, RecordShape


def unlike(shape: Observed, state: State) -> State:
    """A state in which every record says something else, so that none is taken for a constant."""
    names = {
        name
        for stream in range(shape.streams)
        for place in range(shape.places)
        for name in shape.record_variables(stream, place)
    }
    pairs = zip(shape.system.variables, state, strict=True)
    return tuple(_last(variable.type) if variable.name in names else value for variable, value in pairs)


def _last(kind: Any) -> Value:
    if isinstance(kind, Option):
        return _last(kind.element)
    if isinstance(kind, Range):
        return kind.high
    if isinstance(kind, Set):
        return frozenset(values(kind.element))
    *_, last = values(kind)
    return last


def _places(shape: Observed, layout: Layout) -> dict[str, Any]:
    return {variable.name: place for variable, place in zip(shape.system.variables, layout.places, strict=True)}


def record_slots(shape: Observed, layout: Layout) -> list[list[int]]:
    """The slots of each record, those of one stream one after another."""
    places = _places(shape, layout)
    return [
        [slot for name in shape.record_variables(stream, place) for slot in slots_of(places[name])]
        for stream in range(shape.streams)
        for place in range(shape.places)
    ]


def taken_slots(shape: Observed, layout: Layout) -> Iterator[int]:
    """By stream, the slot that counts the records of it that the last step took."""
    places = _places(shape, layout)
    for stream in range(shape.streams):
        yield from slots_of(places[shape.taken_variable(stream)])


def bits_of(layout: Layout, slot: int) -> Bits:
    """Where a slot is in the words of a state; of one that is always the same there are no bits."""
    if not layout.slots[slot].width:  # it is always the same
        return Bits(0, 0, 0)
    word, shift = divmod(layout.slots[slot].offset, WORD_BITS)
    return Bits(word, shift, layout.slots[slot].width)


def record_shape(shape: Observed, layout: Layout) -> tuple[RecordShape, int]:
    """How a record is written, and where the first one is in a candidate."""
    shown = [[slot for slot in group if layout.slots[slot].width] for group in record_slots(shape, layout)]
    first = min(layout.slots[slot].offset for group in shown for slot in group) // WORD_BITS
    end = max(layout.slots[slot].offset + layout.slots[slot].width for group in shown for slot in group)
    words = (-(-end // WORD_BITS) - first) // len(shown)
    places = _places(shape, layout)
    event, writer, *columns = shape.record_variables(0, 0)

    def place(slot: int | None) -> Bits | None:
        if slot is None or not layout.slots[slot].width:
            return None
        bits = bits_of(layout, slot)
        return Bits(bits.word - first, bits.shift, bits.width)

    def only(name: str) -> Bits | None:
        found = places[name]
        assert isinstance(found, Cell), f"{name} is one number"
        return place(found.slot)

    given: list[Bits | None] = []
    content: list[Bits | None] = []
    for name in columns:
        found = places[name]
        if isinstance(found, Flagged):
            assert isinstance(found.inner, Cell), f"{name} is a set"
            given.append(place(found.flag))
            content.append(place(found.inner.slot))
        else:
            given.append(None)
            content.append(only(name))
    return RecordShape(words, only(event), only(writer), tuple(given), tuple(content)), first
