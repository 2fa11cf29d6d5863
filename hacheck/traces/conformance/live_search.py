"""Follows a trace whose records are still coming, and has at any time the states that explain it so far.

What the watermark has passed is not followed again: once no older record can come, the states at the cuts behind a
number of records are kept, and everything before them is left behind. From there to the newest record the search runs
anew each time."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct

from hacheck.model.runs import State
from hacheck.traces.conformance.interleavings import Cut, CutSearch, InterleavingSearch, Streams, distinct
from hacheck.traces.conformance.record_encoding import Encoder
from hacheck.traces.conformance.trace_program import Compiled
from hacheck.traces.records import TIME

STATES_SHOWN = 2_000
"""So many of the states that explain a trace are handed on at most, evenly chosen."""


class Explanation(Struct, frozen=True):
    """What explains the records that are there.

    - `states`: after the last of them, of the system itself; empty where no run explains all of them. `every`: whether
      these are all such states;
    - `certain`: whether no record that is to come can change that no run explains them;
    - `full`: there were more states than there is room for;
    - `violated`: for each property whether some, and whether all explanations break it somewhere in what was followed.
    """

    states: tuple[State, ...]
    every: bool
    certain: bool
    full: bool
    violated: tuple[tuple[bool, bool], ...]


class LiveSearch:
    """A trace that grows. `records`: how many of it the model knows."""

    def __init__(self, search: InterleavingSearch, skew_ns: int) -> None:
        self._search, self._skew_ns = search, skew_ns
        self._compiled: Compiled = search.compiled
        self._encoder = Encoder(self._compiled)
        streams = self._compiled.shape.streams
        self._words = [np.zeros((0, self._compiled.record.words), np.uint64) for _ in range(streams)]
        self._times = [np.zeros(0, np.int64) for _ in range(streams)]
        self._watermark_ns: int | None = None
        self.strange: str = ""
        """A node that the model does not have, if a record names one."""
        self._start_again()

    @property
    def records(self) -> int:
        """How many records are followed."""
        return sum(len(words) for words in self._words)

    def _start_again(self) -> None:
        start = (0,) * len(self._words)
        starts = self._search.memory.starts if self._search.starts is None else self._search.starts
        self._frontier: dict[Cut, Any] = {start: starts}
        self._followed = 0
        self._full = False

    def add(self, batch: Any) -> None:
        """Takes records, those of each node in their order. One that is older than the watermark makes all records be
        followed again."""
        encoded = self._encoder.encode(batch)
        stray = next((one for one in encoded.unmatchables.values() if one.why == "node"), None)
        if stray is not None:
            self.strange = stray.text
            return
        if not len(encoded.rows):
            return
        times = batch.column(TIME).to_numpy(zero_copy_only=False)[encoded.rows].astype(np.int64)
        for stream in range(len(self._words)):
            mine = np.flatnonzero(encoded.writers == stream) if len(self._words) > 1 else np.arange(len(encoded.rows))
            if not len(mine):
                continue
            known = self._times[stream]
            least = int(known[-1]) if len(known) else int(times[mine[0]])
            self._words[stream] = np.concatenate([self._words[stream], encoded.words[mine]])
            self._times[stream] = np.concatenate([known, np.maximum(np.maximum.accumulate(times[mine]), least)])
        if self._watermark_ns is not None and int(times.min()) <= self._watermark_ns:
            self._watermark_ns = None
            self._start_again()

    def advance(self, before_ns: int, report: Callable[[], bool] = lambda: True) -> bool:
        """Says that every record up to a time has come, and leaves behind what that decides. Returns whether some run
        explains what is left behind."""
        if not self.records:
            return True
        self._watermark_ns = before_ns if self._watermark_ns is None else max(self._watermark_ns, before_ns)
        # A step that takes a record which is to come takes no record this old.
        early = sum(int(np.searchsorted(times, self._watermark_ns - self._skew_ns)) for times in self._times)
        until = early - self._compiled.shape.places * len(self._words)
        if until > self._followed and self._frontier:
            run = _Live(self._search, self._streams(), report)
            if run.follow(self._frontier, until):
                self._frontier = {cut: distinct(np.concatenate(found)) for cut, found in run.pending.items()}
                self._followed = until
            elif not run.interrupted:
                self._full = True
        return bool(self._frontier)

    def explained(self, report: Callable[[], bool] = lambda: True) -> Explanation | None:
        """What explains the records so far. `None` if `report` says not to go on."""
        streams = self._streams()
        run = _Live(self._search, streams, report)
        through = run.follow(self._frontier, sum(streams.lengths) + 1)
        if run.interrupted:
            return None
        last = max((int(times[-1]) for times in self._times if len(times)), default=0)
        quiet = self._watermark_ns is not None and self._watermark_ns > last + self._skew_ns
        marks = tuple((perhaps is not None, surely is not None) for surely, perhaps in run.violated)
        states = run.ends if through and run.ends is not None else np.zeros((0, self._compiled.base), np.uint64)
        chosen = np.linspace(0, max(len(states) - 1, 0), min(len(states), STATES_SHOWN)).astype(int)
        return Explanation(
            tuple(self._compiled.state(_number(row)) for row in states[chosen]),
            len(states) <= STATES_SHOWN,
            not len(states) and through and (quiet or not self._frontier),
            not through or self._full,
            marks,
        )

    def _streams(self) -> Streams:
        times = self._times if len(self._words) > 1 else None
        return Streams(self._words, times, [{} for _ in self._words], self._skew_ns)


class _Live(CutSearch):
    """A search that begins at some cuts, and stops in front of those of so many records."""

    ends: Any = None

    def follow(self, begun: dict[Cut, Any], until: int) -> bool:
        """Follows to the cuts of at least `until` records, whose states are then in `pending`. False if there were too
        many states, or it was to stop. `ends`: the states after all records."""
        for cut, states in begun.items():
            self.put(cut, states)
        while self.heap and self.heap[0][0] < until:
            _, cut = heapq.heappop(self.heap)
            states = distinct(np.concatenate(self.pending.pop(cut)))
            if cut == self.lengths:
                self.ends = states
                self.memory.hold(states[: self.memory.capacity])
                self.mark(cut)
                continue
            if not self.spread(cut, states):
                return False
        return True


def _number(row: Any) -> int:
    return int.from_bytes(row.tobytes(), "little")
