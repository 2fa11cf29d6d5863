"""Follows a trace whose nodes logged apart: every order of their records that their clocks and messages leave open.

How far a run has come in each stream is its cut. From cut to cut, those with fewer records first, the states that
explain everything before it are kept; a step may take records of several streams at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
from msgspec import Struct, field

from hacheck.traces.conformance.cut_kernel import CutKernel, cut_kernel
from hacheck.traces.conformance.follower import Memory
from hacheck.traces.conformance.kernels import control as k
from hacheck.traces.conformance.trace_program import Compiled
from hacheck.traces.conformance.trace_progress import TraceProgress

KERNEL_AFTER = 1_000
"""So many records are searched before the search is compiled: that takes as long."""

_FEW = 256
"""So few rows are grouped one by one: numpy takes longer to begin."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)

Cut: TypeAlias = tuple[int, ...]
"""How many records of each stream are taken."""


class Streams(Struct, frozen=True):
    """A trace: for each stream its records in words, their times (nanoseconds; `None` where a record has none, and then
    of no stream), and by record what it comes after: pairs of a stream and how many of its records. `skew_ns`: how far
    the clocks of two nodes may differ."""

    words: Sequence[Any]
    times: Sequence[Any] | None
    after: Sequence[dict[int, tuple[tuple[int, int], ...]]]
    skew_ns: int

    @property
    def lengths(self) -> Cut:
        """How many records there are in each."""
        return tuple(len(words) for words in self.words)

    def allows(self, cut: Cut, before: Cut) -> bool:
        """Whether this may be how far a run has come, where `before` may."""
        if self.times is not None:
            taken = [times[at - 1] for times, at in zip(self.times, cut, strict=True) if at]
            left = [times[at] for times, at in zip(self.times, cut, strict=True) if at < len(times)]
            if taken and left and max(taken) - self.skew_ns > min(left):
                return False
        for after, start, end in zip(self.after, before, cut, strict=True):
            for record in range(start, end) if after else ():
                if any(cut[other] < least for other, least in after.get(record, ())):
                    return False
        return True

    def nears_its_end(self, cut: Cut) -> bool:
        """Whether what is written now may have been cut off with the end of the log."""
        if self.times is None:
            return all(length - at <= 1 for length, at in zip(self.lengths, cut, strict=True))
        last = max((times[-1] for times in self.times if len(times)), default=0)
        pairs = zip(self.times, cut, strict=True)
        return all(at == len(times) or times[at] >= last - self.skew_ns for times, at in pairs)

    def whole(self, cut: Cut, taken: Any) -> Any:
        """Which of some steps, by the lines that each writes in each stream, lack none that should be there: lines are
        cut off with the end of the log, or where a step takes all that is left."""
        if self.nears_its_end(cut):
            return np.ones(len(taken), bool)
        left = np.array(self.lengths) - np.array(cut)
        return (taken <= left).all(axis=1) | (taken >= left).all(axis=1)


class SearchResult(Struct, frozen=True):
    """What became of a trace.

    - `status`: of `kernels`; `cut`: how far the furthest runs came; `others`: further cuts of as many records;
    - `width`: the most states at a cut; `limited`: how many steps met a bound, and `bounds`: which
      ones, if the trace is not explained; `expanded`: states that were looked at;
    - `violated`: for each property the cuts at which it was violated, surely and perhaps (`None`: never).
    - `waiting`: where it was given up, cuts that were not looked at yet; `over_budget`: whether it was given up because
      it had looked at more than `InterleavingSearch.expanded_max` states.
    """

    status: int
    cut: Cut
    others: tuple[Cut, ...]
    width: int
    limited: int
    violated: tuple[tuple[Cut | None, Cut | None], ...]
    expanded: int
    waiting: tuple[Cut, ...] = ()
    bounds: tuple[str, ...] = ()
    over_budget: bool = False


class InterleavingSearch(Struct):
    """Follows one trace after another. `memory`: where; `expanded_max`: how many states it looks at for a trace;
    `starts`: in which states traces begin, in words, if not where the system does; `keeps`: whether it keeps the states
    of each cut, and `kept_max`: of how many it keeps none (`None`: no limit).

    `kernel`: what searches in machine code, once there is enough to do: `searched` counts the records so far. `False`:
    nothing does."""

    compiled: Compiled
    memory: Memory
    expanded_max: int = 50_000_000
    starts: Any = None
    kept: dict[Cut, Any] = field(default_factory=dict)
    keeps: bool = False
    kept_max: int | None = None
    kernel: CutKernel | Literal[False] | None = None
    searched: int = 0

    def run(self, streams: Streams, report: Callable[[], bool] = lambda: True) -> SearchResult | None:
        """Looks for a run that explains all records. `None` if `report` says not to go on. Where `keeps`, `kept` has
        the states of each cut afterwards, closed under hidden steps."""
        self.kept = {}
        if not self.keeps:
            found = self._by_kernel(streams, report)
            if found is None or found:
                return found
        return CutSearch(self, streams, report).result()

    def _by_kernel(self, streams: Streams, report: Callable[[], bool]) -> SearchResult | Literal[False] | None:
        """The same in machine code. False where there is none, or too much to remember, or where it is to be known
        which bounds were met."""
        if self.kernel is None:
            self.kernel = cut_kernel(self.compiled, self.memory, made=self.searched >= KERNEL_AFTER)
            if self.kernel is None and self.searched >= KERNEL_AFTER:
                self.kernel = False
            self.searched += sum(streams.lengths)
        if not self.kernel:
            return False
        starts = self.memory.starts if self.starts is None else self.starts
        found = self.kernel.search(streams, starts, self.expanded_max, report)
        if found is None or found is False:
            return found
        if found.explained:
            status, cuts = k.FOLLOWED, found.cuts
        elif found.limited:
            return False
        else:
            start = (0,) * len(streams.lengths)
            status, cuts = k.DEAD, found.cuts if found.cuts[0] != start else (start, start)
        others = tuple(dict.fromkeys(cuts[1:]))
        return SearchResult(
            status, cuts[0], others, found.width, found.limited, found.violated, found.expanded, bounds=()
        )

    def window(self, streams: Streams, cut: Cut) -> Any:
        """The next records of each stream, as candidates see them."""
        places, words = self.compiled.shape.places, self.compiled.record.words
        window = np.zeros((len(cut), places, words), np.uint64)
        # A step that takes all that is left may lack lines, too. Whether it takes that is seen when it is taken.
        left = max(length - at for length, at in zip(streams.lengths, cut, strict=True))
        ends = left <= places or streams.nears_its_end(cut)
        event = self.compiled.record.event
        assert event is not None, "records have events"
        for stream, at in enumerate(cut):
            there = streams.words[stream][at : at + places]
            window[stream, : len(there)] = there
            if ends:
                window[stream, len(there) :, event.word] = np.uint64(self.compiled.shape.end << event.shift)
        return window


class CutSearch:
    """One search. `pending`: by cut the states that are reached and not expanded; `violated`: as in the result."""

    def __init__(self, search: InterleavingSearch, streams: Streams, report: Callable[[], bool]) -> None:
        self.search, self.streams, self.report = search, streams, report
        self.progress = report if isinstance(report, TraceProgress) else None
        self.compiled, self.memory = search.compiled, search.memory
        self.lengths = streams.lengths
        self.all_records = np.array(self.lengths)
        self.pending: dict[Cut, list[Any]] = {}
        self.heap: list[tuple[int, Cut]] = []
        self.width = 0
        self.violated: list[tuple[Cut | None, Cut | None]] = [(None, None)] * len(self.compiled.checked)
        self.started = self.memory.expanded
        self.bounds, self.met = self.memory.limited(), self.memory.met()
        self.interrupted = self.over_budget = False
        self.kept = 0

    def result(self) -> SearchResult | None:
        start = (0,) * len(self.lengths)
        self.put(start, self.memory.starts if self.search.starts is None else self.search.starts)
        furthest: list[Cut] = [start]
        status = k.DEAD
        while self.heap:
            total, cut = heapq.heappop(self.heap)
            if total > sum(furthest[0]):
                furthest = []
            furthest.append(cut)
            if self.progress is not None:
                self.progress.at(total, int(self.all_records.sum()))
            states = distinct(np.concatenate(self.pending.pop(cut)))
            if cut == self.lengths:
                self.memory.hold(states[: self.memory.capacity])
                self.keep(cut)
                self.mark(cut)
                status = k.FOLLOWED
                break
            if not self.spread(cut, states):
                if self.interrupted:
                    return None
                status = k.FULL
                break
        limited = self.memory.limited() - self.bounds
        expanded = self.memory.expanded - self.started
        others = tuple(dict.fromkeys(furthest[1:]))
        waiting = tuple(self.pending) if status == k.FULL else ()
        violated, met = tuple(self.violated), self.memory.met_since(self.met)
        return SearchResult(
            status, furthest[0], others, self.width, limited, violated, expanded, waiting, met, self.over_budget
        )

    def put(self, cut: Cut, states: Any) -> None:
        if cut not in self.pending:
            self.pending[cut] = []
            heapq.heappush(self.heap, (sum(cut), cut))
        self.pending[cut].append(states)

    def spread(self, cut: Cut, states: Any) -> bool:
        """Takes every step from the states at a cut. False if there are too many, or it is to stop."""
        if len(states) > self.memory.capacity:
            return False
        window = self.search.window(self.streams, cut)
        for emitted in self.memory.close(states, window):
            if emitted is None:
                return False
            self.sort(cut, emitted)
            if not self.report():
                self.interrupted = True
                return False
            if self.memory.expanded - self.started > self.search.expanded_max:
                self.over_budget = True
                return False
        self.width = max(self.width, self.memory.count)
        self.keep(cut)
        self.mark(cut)
        return True

    def keep(self, cut: Cut) -> None:
        """Keeps the states of a cut, if that is wanted."""
        search = self.search
        if search.keeps and (search.kept_max is None or self.kept + self.memory.count <= search.kept_max):
            search.kept[cut] = self.memory.closed()
            self.kept += self.memory.count
        elif search.keeps:
            search.kept, search.keeps = {}, False

    def mark(self, cut: Cut) -> None:
        """Evaluates every checked property in the candidates at a cut."""
        for number, (surely, perhaps) in enumerate(self.violated):
            if surely is None:
                some, all_of_them = self.memory.marked(number)
                self.violated[number] = (cut if all_of_them else None, perhaps or (cut if some else None))

    def sort(self, cut: Cut, emitted: Any) -> None:
        """Puts states where they are, by the records that the last step took."""
        taken = taken_by(self.compiled, emitted)
        left = self.all_records - np.array(cut)
        real = np.minimum(taken, left)
        emitted &= ~self.memory.masks
        whole = self.streams.whole(cut, taken)
        if not whole.all():
            emitted, real = emitted[whole], real[whole]
        for step, mine in distinct_counts(real):
            after = tuple(a + b for a, b in zip(cut, step, strict=True))
            if any(step) and self.streams.allows(after, cut):
                self.put(after, emitted[mine])


def taken_by(compiled: Compiled, states: Any) -> Any:
    """How many records of each stream the steps to some states took."""
    taken = np.empty((len(states), len(compiled.taken)), np.int64)
    for stream, bits in enumerate(compiled.taken):
        taken[:, stream] = (states[:, bits.word] >> np.uint64(bits.shift)) & np.uint64((1 << bits.width) - 1)
    return taken


def distinct_counts(taken: Any) -> Iterator[tuple[list[int], Any]]:
    """The different rows of small numbers, in order, each with where it is."""
    if len(taken) <= _FEW:
        places: dict[tuple[int, ...], list[int]] = {}
        for place, row in enumerate(taken.tolist()):
            places.setdefault(tuple(row), []).append(place)
        yield from ((list(row), np.array(places[row])) for row in sorted(places))
        return
    rows = np.arange(len(taken))
    groups: list[tuple[list[int], Any]] = [([], rows)]
    for column in taken.T:  # sorting whole rows takes longer than all steps from them
        groups = [
            ([*step, number], mine[column[mine] == number])
            for step, mine in groups
            for number in np.flatnonzero(np.bincount(column[mine])).tolist()
        ]
    yield from groups


def distinct(states: Any) -> Any:
    """The different rows of words, in an order that depends on nothing else.

    They are sorted by a number made of each: to compare rows word by word takes many times as long.
    """
    if len(states) < 2:
        return states
    keys = row_keys(states)
    order = np.argsort(keys, kind="stable")
    keys, ordered = keys[order], states[order]
    same = keys[1:] == keys[:-1]
    if (ordered[1:][same] != ordered[:-1][same]).any():  # two rows of one number: hardly ever
        return np.unique(states, axis=0)
    return ordered[np.concatenate(([True], ~same))]


def row_keys(states: Any) -> Any:
    """A number made of each row of words: equal rows have equal numbers."""
    mixed = states ^ (states >> np.uint64(32))
    mixed *= _multipliers(states.shape[1], _MULTIPLIER)
    return mixed.sum(axis=1)


@cache
def _multipliers(words: int, first: Any) -> Any:
    """A number for each word of a row, odd ones of an odd first one."""
    return np.cumprod(np.full(words, first), dtype=np.uint64)
