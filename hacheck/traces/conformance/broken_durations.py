"""How long a property was broken, by the clocks of a log, whatever the hidden steps were.

A run that explains a log is at some cut at each moment: it has taken every record of before and none of after, but for
those within the skew. So a property is surely broken at a moment when every state that explains the log breaks it, at
every cut at which a run may be then; and that for as long as every moment of a stretch of time is one of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.traces.conformance.interleavings import Cut, SearchResult
from hacheck.traces.conformance.kernels import control as k

Record: TypeAlias = tuple[int, int]
"""A record: its stream, and its place there."""


class Rule(Struct, frozen=True):
    """A property that no log shows broken for longer than `nanoseconds`."""

    name: str
    nanoseconds: int


class Breach(Struct, frozen=True):
    """A stretch of the log in which a property, by its number, was broken: from one record to another.

    - `sure`: by every explanation of the log; else at every moment by some.
    - `is_open`: it was still broken when the log ended; `end` is then the last record.
    - `nanoseconds`: how long, by the clocks of the log: at least that long where it is open; `None` without times.
    - `state`: one that breaks the property at its beginning, in words.
    """

    number: int
    sure: bool
    start: Record
    end: Record
    is_open: bool
    nanoseconds: int | None
    state: Any = None


class _Stretch(Struct, frozen=True):
    """Moments at which a run may be at a cut, or at one of several: from `low` to `high`, both with the skew.

    - `taken` and `next`: the records that these are about, the last one before and the first one after;
    - `ends_log`: one of the cuts is behind the last record; `state`: one that breaks the property there.
    """

    low: int
    high: int
    taken: Record
    next: Record
    ends_log: bool = False
    state: Any = None


class Breaches(Struct):
    """The stretches of a trace in which properties were broken, from what is seen of them at its cuts.

    - `numbers`: the properties; `times`: by stream those of its records, in nanoseconds, which do not fall; `skew_ns`:
      how far clocks, and the lines of one step, may lie apart;
    - `end_ns`: the time of the last line of any kind; `None` where records have no times, and `times` are their places.
    """

    numbers: Sequence[int]
    times: Sequence[Any]
    skew_ns: int
    end_ns: int | None = None
    kept: dict[int, list[_Stretch]] = field(default_factory=dict)
    broken: dict[int, list[_Stretch]] = field(default_factory=dict)

    def see(self, cut: Cut, number: int, some: bool, every: bool, state: Any = None) -> None:
        """Takes note of a cut: whether some, and whether all of its states break a property; `state`: one that does."""
        stretch = replace(self._stretch(cut), state=state)
        if not every:
            self.kept.setdefault(number, []).append(stretch)
        if some:
            self.broken.setdefault(number, []).append(stretch)

    def found(self, result: SearchResult, certain: bool) -> tuple[Breach, ...]:
        """All stretches in a trace of which this became, in the order of time. `certain`: no explanation was left
        out."""
        if not any(len(times) for times in self.times):
            return ()
        last, ended = self._seen_to(result), result.status == k.FOLLOWED
        found: list[Breach] = []
        for number in self.numbers:
            broken = _joined(self.broken.get(number, []))
            sure = self._surely(number, last, ended) if certain and broken else []
            found += [replace(one, state=_state_at(broken, self._time(one.start))) for one in sure]
            for one in broken:
                if not any(self._time(gap.start) <= one.high and one.low <= self._time(gap.end) for gap in sure):
                    end = min(one.next, last, key=self._time)
                    found.append(self._breach(number, False, one.taken, end, ended and one.ends_log, one.state))
        return tuple(sorted(found, key=lambda one: (self._time(one.start), one.number)))

    def _surely(self, number: int, last: Record, ended: bool) -> list[Breach]:
        """The stretches at whose every moment no explanation keeps the property."""
        kept = _joined(self.kept.get(number, []))
        gaps = self._gaps(kept, last)
        is_open = ended and not any(one.ends_log for one in kept)
        found = [
            self._breach(number, True, start, end, False)
            for start, end in (gaps[:-1] if is_open else gaps)
            if self._apart((start, end)) > 2 * self.skew_ns
        ]
        return [*found, self._breach(number, True, *gaps[-1], True)] if is_open else found

    def _breach(self, number: int, sure: bool, start: Record, end: Record, is_open: bool, state: Any = None) -> Breach:
        nanoseconds = None
        if self.end_ns is not None:
            until = max(self.end_ns, self._time(end)) if is_open else self._time(end)
            nanoseconds = until - self._time(start)
        return Breach(number, sure, start, end, is_open, nanoseconds, state)

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
        low, high = self._time(before) - self.skew_ns, self._time(after) + self.skew_ns
        return _Stretch(low, high, before, after, ends_log=not left)

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
            found[-1] = replace(found[-1], high=one.high, next=one.next, ends_log=found[-1].ends_log or one.ends_log)
        elif one.ends_log:
            found[-1] = replace(found[-1], ends_log=True)
    return found


def _state_at(broken: list[_Stretch], time: int) -> Any:
    """A state that breaks the property at the beginning of a stretch."""
    return next((one.state for one in broken if one.high >= time), None)
