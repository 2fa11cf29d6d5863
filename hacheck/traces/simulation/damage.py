"""Traces made wrong on purpose: lines lost, one wrong value, two lines swapped, …; and what was done, as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from hacheck.compile import scalar
from hacheck.model.types import Range, Set, cardinality
from hacheck.traces.simulation import random_numbers
from hacheck.traces.simulation.line_variables import Column, Field, Point
from hacheck.traces.simulation.record_values import rendered, word
from hacheck.traces.simulation.walk_lines import Lines

KINDS = ("value", "node", "swap", "lost", "duplicate")
"""What can be done to a trace: one field shows another value; another node has written a line; two neighbouring lines
change places; a line is missing; a line is there twice."""

_STRANGE = 1 << 32  # numbers of names from here on belong to nobody


class Done(Struct, frozen=True):
    """What was done to a trace, the number of which is `trace` among those taken together.

    - `kind`: of `KINDS`, or `dropped` for a line that `--drop-lines` took;
    - `place`: of the line among all that were there before, `other`: of the second line of two that were swapped;
    - `field`, `before`, `after`: what was shown, and is now.
    """

    trace: int
    kind: str
    place: int
    other: int | None = None
    field: str | None = None
    before: str | None = None
    after: str | None = None


class Damaged(Struct, frozen=True):
    """Lines with damage. `lines`, `times`: as they are written; `places`: of each the place that it had before."""

    lines: Lines
    times: Any
    places: Any
    done: tuple[Done, ...]


class Damage(Struct, frozen=True):
    """What is to be done. `drop`: the share of lines that are lost; `mutate`: the share of traces that one of `kinds`
    is done to; `by_node`: neighbours are lines of one node."""

    seed: int
    drop: float = 0.0
    mutate: float = 0.0
    kinds: tuple[str, ...] = KINDS
    by_node: bool = False


def damaged(
    lines: Lines, times: Any, first: int, count: int, points: Sequence[Point], columns: Sequence[Column], damage: Damage
) -> Damaged:
    """Does the damage to lines of `count` traces, the first of which has the number `first`."""
    if not damage.drop and not damage.mutate:
        return Damaged(lines, times, np.arange(len(lines.trace)), ())
    work = _Work(lines, times, points, columns, damage)
    if damage.drop > 0:
        work.drop(first, count)
    if damage.mutate > 0:
        start = random_numbers.key(damage.seed, random_numbers.DAMAGE)
        ends = np.searchsorted(lines.trace, np.arange(count + 1))
        for trace in range(count):
            dice = random_numbers.Dice(start, first + trace)
            if dice.share() < damage.mutate:
                work.mutate(trace, int(ends[trace]), int(ends[trace + 1]), dice)
    return work.result()


class _Work:
    """Damage under way. `source`: of each place the line that stands there; `copies`: how often it is written."""

    def __init__(
        self, lines: Lines, times: Any, points: Sequence[Point], columns: Sequence[Column], damage: Damage
    ) -> None:
        shown = tuple(column.copy() for column in lines.shown)
        self.lines = Lines(lines.trace, lines.step, lines.number, lines.point, lines.writer.copy(), shown)
        self.times, self.points, self.columns, self.damage = times, points, columns, damage
        self.done: list[Done] = []
        self.source = np.arange(len(lines.trace))
        self.copies = np.ones(len(lines.trace), np.int64)

    def drop(self, first: int, count: int) -> None:
        """Loses lines, each with the same chance."""
        start = np.uint64(random_numbers.key(self.damage.seed, random_numbers.LOST))
        traces = random_numbers.numbers(start, np.arange(first, first + count))
        found = random_numbers.numbers(traces[self.lines.trace], self.lines.number) >> np.uint64(11)
        lost = np.flatnonzero(found < np.uint64(int(self.damage.drop * (1 << 53))))
        self.copies[lost] = 0
        for place, trace in zip(lost.tolist(), self.lines.trace[lost].tolist(), strict=True):
            self.done.append(Done(trace, "dropped", place))

    def mutate(self, trace: int, begin: int, end: int, dice: random_numbers.Dice) -> None:
        """Does one thing to a trace, of the kinds that can be done to it."""
        left = list(self.damage.kinds)
        places = [place for place in range(begin, end) if self.copies[place]]
        doing: dict[str, Callable[[int, list[int], random_numbers.Dice], bool]] = {
            "value": self.value,
            "node": self.node,
            "swap": self.swap,
            "lost": self.lost,
            "duplicate": self.duplicate,
        }
        while left and places:
            kind = left.pop(dice.below(len(left)))
            if doing[kind](trace, places, dice):
                return

    def value(self, trace: int, places: list[int], dice: random_numbers.Dice) -> bool:
        """One field shows another value."""
        shown = [
            (place, field)
            for place in places
            for field in self.points[self.lines.point[place]].fields
            if field.named or cardinality(field.type) > 1
        ]
        if not shown:
            return False
        place, chosen = shown[dice.below(len(shown))]
        column = self.lines.shown[chosen.column]
        before = int(column[place])
        if chosen.named:
            after = _STRANGE + dice.below(_STRANGE)
        else:
            low = self._lowest(chosen)
            others = cardinality(chosen.type) - 1
            after = low + dice.below(others)
            after += after >= before
        column[place] = after
        texts = (None, None) if chosen.named else (self._word(chosen, before), self._word(chosen, after))
        self.done.append(Done(trace, "value", place, None, chosen.name, *texts))
        return True

    def _lowest(self, field: Field) -> int:
        """The ordinal, in its column, of the first value of a field's type."""
        kind = self.columns[field.column].type
        both_numbers = isinstance(kind, Range) and isinstance(field.type, Range)
        return field.type.low - kind.low if both_numbers else 0  # type: ignore[union-attr]  # `both_numbers` says so

    def _word(self, field: Field, number: int) -> str:
        value = scalar(self.columns[field.column].type, number)
        if isinstance(field.type, Set):
            from hacheck.traces.records import FieldType

            return ", ".join(rendered(field.type, value, FieldType.STRINGS))
        return word(field.type, value)

    def node(self, trace: int, places: list[int], dice: random_numbers.Dice) -> bool:
        """Another node of the same kind has written a line."""
        able = [
            place
            for place in places
            if (writer := self.points[self.lines.point[place]].writer) is not None and writer.size > 1
        ]
        if not able:
            return False
        place = able[dice.below(len(able))]
        kind = self.points[self.lines.point[place]].writer
        assert kind is not None, "somebody writes it"
        before = int(self.lines.writer[place])
        after = 1 + dice.below(kind.size - 1)
        after += after >= before
        self.lines.writer[place] = after
        self.done.append(Done(trace, "node", place, None, None, word(kind, before), word(kind, after)))
        return True

    def swap(self, trace: int, places: list[int], dice: random_numbers.Dice) -> bool:
        """Two neighbouring lines that differ change places; the times stay where they are."""
        last: dict[object, int] = {}
        pairs = []
        for place in places:
            key = self._writer(place) if self.damage.by_node else None
            if key in last and self._said(last[key]) != self._said(place):
                pairs.append((last[key], place))
            last[key] = place
        if not pairs:
            return False
        left, right = pairs[dice.below(len(pairs))]
        self.source[left], self.source[right] = right, left
        self.done.append(Done(trace, "swap", left, right))
        return True

    def _writer(self, place: int) -> object:
        number = int(self.lines.writer[place])
        return (self.points[self.lines.point[place]].writer, number) if number else None

    def _said(self, place: int) -> tuple[object, ...]:
        point = self.points[self.lines.point[place]]
        fields = tuple((one.name, one.type, int(self.lines.shown[one.column][place])) for one in point.fields)
        return (point.event, self._writer(place), fields)

    def lost(self, trace: int, places: list[int], dice: random_numbers.Dice) -> bool:
        """A line is missing."""
        place = places[dice.below(len(places))]
        self.copies[place] = 0
        self.done.append(Done(trace, "lost", place))
        return True

    def duplicate(self, trace: int, places: list[int], dice: random_numbers.Dice) -> bool:
        """A line is there twice."""
        place = places[dice.below(len(places))]
        self.copies[place] = 2
        self.done.append(Done(trace, "duplicate", place))
        return True

    def result(self) -> Damaged:
        """The lines as they are now."""
        places = np.repeat(np.arange(len(self.copies)), self.copies)
        done = tuple(sorted(self.done, key=lambda one: (one.trace, one.place, one.kind)))
        return Damaged(self.lines.taken(self.source[places]), self.times[places], places, done)


__all__ = ["KINDS", "Damage", "Damaged", "Done", "damaged"]
