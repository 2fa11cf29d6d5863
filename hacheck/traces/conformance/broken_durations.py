"""How long a property was broken, by the clocks of a log, whatever the hidden steps were.

A run that explains a log is at some cut at each moment: it has taken every record of before and none of after, but for
those within the skew. So a property is surely broken at a moment when every state that explains the log breaks it, at
every cut at which a run may be then; and that for as long as every moment of a stretch of time is one of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from hacheck.model.data import dataclass, field
from hacheck.traces.conformance.interleavings import Cut, SearchResult
from hacheck.traces.conformance.kernels import control as k

Record: TypeAlias = tuple[int, int]
"""A record: its stream, and its place there."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A property that no log shows broken for longer than `nanoseconds`."""

    name: str
    nanoseconds: int


@dataclass(frozen=True, slots=True)
class Breach:
    """For how long a rule's property was broken: from one record to another, which are `nanoseconds` apart. `sure`: by
    every explanation of the log; else at every moment by some."""

    rule: Rule
    sure: bool
    start: Record
    end: Record
    nanoseconds: int


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Moments at which a run may be at a cut, or at one of several: from `low` to `high`, both with the skew. `taken`
    and `next`: the records that these are about, the last one before and the first one after."""

    low: int
    high: int
    taken: Record
    next: Record


@dataclass(slots=True)
class Breaches:
    """What is seen of a trace at its cuts. `rules`: by number of a property; `times`: by stream those of its records,
    in nanoseconds, which do not fall; `skew_ns`: how far clocks, and the lines of one step, may lie apart."""

    rules: dict[int, Rule]
    times: Sequence[Any]
    skew_ns: int
    kept: dict[int, list[_Stretch]] = field(default_factory=dict)
    broken: dict[int, list[_Stretch]] = field(default_factory=dict)

    def __call__(self, cut: Cut, number: int, some: bool, every: bool) -> None:
        """Takes note of a cut: whether some, and whether all of its states break a property."""
        if number not in self.rules:
            return
        stretch = self._stretch(cut)
        if not every:
            self.kept.setdefault(number, []).append(stretch)
        if some:
            self.broken.setdefault(number, []).append(stretch)

    def found(self, result: SearchResult, certain: bool) -> tuple[Breach, ...]:
        """What lasted too long in a trace of which this became. `certain`: no explanation was left out."""
        if not any(len(times) for times in self.times):
            return ()
        last = self._seen_to(result)
        found: list[Breach] = []
        for number, rule in self.rules.items():
            gaps = self._gaps(_joined(self.kept.get(number, [])), last)
            sure = [one for one in gaps if self._apart(one) - 2 * self.skew_ns > rule.nanoseconds]
            if sure:
                found.extend(Breach(rule, certain, *one, self._apart(one)) for one in sure)
                continue
            maybe = ((one.taken, min(one.next, last, key=self._time)) for one in _joined(self.broken.get(number, [])))
            found.extend(
                Breach(rule, False, *one, self._apart(one)) for one in maybe if self._apart(one) > rule.nanoseconds
            )
        return tuple(found)

    def _time(self, record: Record) -> int:
        stream, at = record
        return int(self.times[stream][at])

    def _apart(self, ends: tuple[Record, Record]) -> int:
        return self._time(ends[1]) - self._time(ends[0])

    def _stretch(self, cut: Cut) -> _Stretch:
        """The moments at which a run may be at a cut; the first and the last record stand for what is beyond them."""
        there = [(stream, len(times)) for stream, times in enumerate(self.times) if len(times)]
        taken = [(stream, cut[stream] - 1) for stream, _ in there if cut[stream]]
        left = [(stream, cut[stream]) for stream, length in there if cut[stream] < length]
        before = max(taken, key=self._time) if taken else min(((stream, 0) for stream, _ in there), key=self._time)
        after = min(left, key=self._time) if left else max(((one, length - 1) for one, length in there), key=self._time)
        return _Stretch(self._time(before) - self.skew_ns, self._time(after) + self.skew_ns, before, after)

    def _seen_to(self, result: SearchResult) -> Record:
        """The record up to which all explanations were followed."""
        cuts = (result.cut, *result.others) if result.status == k.DEAD else (result.cut, *result.waiting)
        return min((self._stretch(cut).taken for cut in cuts), key=self._time)

    def _gaps(self, kept: list[_Stretch], last: Record) -> list[tuple[Record, Record]]:
        """Between which records no explanation keeps the property, up to the last one that was seen."""
        first = min(((stream, 0) for stream, times in enumerate(self.times) if len(times)), key=self._time)
        starts = [first if not kept or kept[0].low > self._time(first) - self.skew_ns else None]
        starts += [one.next for one in kept]
        ends = [*(one.taken for one in kept), last]
        pairs = zip(starts, ends, strict=True)
        return [(start, min(end, last, key=self._time)) for start, end in pairs if start is not None]


def _joined(stretches: list[_Stretch]) -> list[_Stretch]:
    """Stretches that overlap as one, in their order."""
    found: list[_Stretch] = []
    for one in sorted(stretches, key=lambda stretch: (stretch.low, stretch.high)):
        if not found or one.low > found[-1].high:
            found.append(one)
        elif one.high > found[-1].high:
            found[-1] = _Stretch(found[-1].low, one.high, found[-1].taken, one.next)
    return found
