"""Values of counters drawn near each other, as text of the kernel language.

A state holds values of a counter in slots, and they are numbers up to `HIGH`, so those held are the bits of one word.
Between neighbours a distance that is exact or more becomes `exact + 1`; one that a step says is near becomes what is
less by one than exact (`hacheck.model.counters.value_distances`). First distances become less, then some become
greater by one: where there is no room for that, the counter's hidden variable says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from hacheck.checker.explicit.symmetry.slot_renaming import Lines, Words, indented
from hacheck.compile.lowering.layout import Cell, Flagged, Group, Place, Series, slots_of
from hacheck.model.counters.value_distances import FULL, HIGH, Distances
from hacheck.model.ir import System
from hacheck.model.types import Option, Range, Type

_FULL_WORD = (1 << 64) - 1


class _Holder(Struct, frozen=True):
    """A slot that holds a value of the counter; of an optional one it holds the value and one more, or 0."""

    slot: int
    extra: int


def closing_lines(system: System, words: Words, distances: Distances) -> Lines:
    """The lines that draw the values of one counter near each other."""
    layout = words.layout
    hidden = next(
        place for one, place in zip(system.variables, layout.places, strict=True) if one.name == distances.variable
    )
    (noted,) = slots_of(hidden)
    holders = [
        holder
        for place in layout.places
        for holder in _holders(place, distances.counter)
        if layout.slots[holder.slot].fixed is None
    ]
    if not holders:
        return []
    lines = [f"held = {(2 << distances.literal) - 1}"]
    lines += (f"held = held | 1 << {words.content(one.slot)} >> {one.extra}" for one in holders)
    known = layout.slots[noted].fixed is None
    lines += [f"near = {words.content(noted)}", "full = 0"]
    if known:
        lines.append(_put(words, noted, "0"))
    less = [f"if gap > {distances.exact + 1}:", f"    new = {distances.exact + 1}"]
    less += [f"if near and below == near and gap == {distances.exact}:", f"    new = {distances.exact - 1}"]
    lines += _through(words, holders, distances, less)
    room = [f"if held >> {HIGH} & 1:", "    full = 1", "else:", f"    new = {distances.exact + 1}"]
    lines += _through(words, holders, distances, [f"if gap == {distances.exact}:", *indented(room)])
    return [*lines, "if full:", *indented([_put(words, noted, str(FULL))])] if known else lines


def _through(words: Words, holders: list[_Holder], distances: Distances, choice: Lines) -> Lines:
    """The lines that go from one held value to the next, with `gap` between them, and make the gap `new`."""
    moved = ["under = held & (2 << below) - 1", "over = held ^ under"]
    moved += ["held = under | (over >> gap - new if new < gap else over << new - gap)"]
    moved += ["near = near + (near > below) * (new - gap)"]
    for one in holders:
        (part,) = words.bits(one.slot)
        content = words.content(one.slot)
        above = f"below + {one.extra}" if one.extra else "below"
        moved.append(f"s{part.word} = s{part.word} + (({content} > {above}) * (new - gap) << {part.shift})")
    inner = ["gap = trailing_zeros(above) + 1", "new = gap", *choice, "if new != gap:", *indented(moved)]
    inner += ["below = below + new", "above = held >> below >> 1"]
    return [f"below = {distances.literal}", "above = held >> below >> 1", "while above:", *indented(inner)]


def _put(words: Words, slot: int, value: str) -> str:
    (part,) = words.bits(slot)
    kept = _FULL_WORD & ~(((1 << part.width) - 1) << part.shift)
    return f"s{part.word} = s{part.word} & {kept} | {value} << {part.shift}"


def _holders(place: Place, counter: str) -> Iterator[_Holder]:
    """The slots of a place that hold values of a counter. What is not there is 0, as the least literal is."""
    match place:
        case Cell(kind, slot):
            if slot is not None and _is_counter(kind, counter):
                yield _Holder(slot, int(isinstance(kind, Option)))
        case Flagged(_, _, inner):
            yield from _holders(inner, counter)
        case Group(_, items) | Series(_, _, items):
            for item in items:
                yield from _holders(item, counter)
        case _:
            raise AssertionError(f"no such place: {place}")


def _is_counter(kind: Type, counter: str) -> bool:
    inner = kind.element if isinstance(kind, Option) else kind
    return isinstance(inner, Range) and inner.counter == counter
