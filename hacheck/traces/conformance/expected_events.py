"""Which lines the model would have written where a trace leaves it: at the first record that no run explains.

A step may write several lines. Where the first of them are there and the next one is not, the trace leaves the model in
the middle of the step, and what would have been possible there is how the step goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import Struct

from hacheck.compile import from_words
from hacheck.model.execution import Line
from hacheck.model.interpreter import Interpreter
from hacheck.model.runs import State
from hacheck.traces.conformance.interleavings import Cut, InterleavingSearch, Streams, taken_by
from hacheck.traces.conformance.shortest_run import ShortestRuns
from hacheck.traces.conformance.trace_program import Compiled

STATES_EXPANDED = 40
"""Of so many states that explain a log up to a place it is computed what they could have written next."""


class Departure(Struct, frozen=True):
    """Where a trace leaves the model: steps that begin at `cut` explain so many more records of each stream (`begun`),
    and none explains the next one as well."""

    cut: Cut
    begun: Cut

    @property
    def reached(self) -> Cut:
        """How many records of each stream are explained, those of a step that was begun among them."""
        return tuple(at + more for at, more in zip(self.cut, self.begun, strict=True))


class ExpectedEvents(Struct, frozen=True):
    """What the states that the search for the shortest run kept for a trace could have written."""

    shortest_runs: ShortestRuns

    @property
    def search(self) -> InterleavingSearch:
        """What followed the trace."""
        return self.shortest_runs.search

    @property
    def streams(self) -> Streams:
        """The trace."""
        return self.shortest_runs.streams

    @property
    def compiled(self) -> Compiled:
        """What follows logs of the system."""
        return self.search.compiled

    def left(self, furthest: Cut) -> tuple[Departure, ...]:
        """Where the trace leaves the model, the latest cut first. `furthest`: the last cut with states. Where records
        are in one order, a step of several lines that began before it may have come further."""
        cuts = [furthest]
        if self.compiled.shape.merged:
            before = range(furthest[0] - 1, furthest[0] - self.compiled.shape.places, -1)
            cuts += [(at,) for at in before if (at,) in self.search.kept]
        found = [Departure(cut, self.begun(cut)) for cut in cuts]
        most = max(sum(one.reached) for one in found)
        return tuple(one for one in found if sum(one.reached) == most)

    def begun(self, cut: Cut) -> Cut:
        """How many of the next records some step explains that writes more than these: taken in the order of their
        times, as long as there is such a step."""
        begun = (0,) * len(cut)
        while True:
            at = tuple(a + b for a, b in zip(cut, begun, strict=True))
            stream = first_left(self.streams, at)
            if stream is None or begun[stream] + 1 >= self.compiled.shape.places:
                return begun
            more = tuple(count + (place == stream) for place, count in enumerate(begun))
            if next(self._steps(cut, more), None) is None:
                return begun
            begun = more

    def lines(self, left: Departure) -> Iterator[Line]:
        """The next line in each log of every step that explains what was begun, from some of the states there."""
        interpreter = Interpreter(self.shortest_runs.system)
        if not any(left.begun):
            for row in self.search.kept[left.cut][:STATES_EXPANDED].tolist():
                for _, lines in interpreter.steps_with_lines(self.compiled.state(from_words(row))):
                    yield from self._next(lines, left.begun)
            return
        states: dict[bytes, State] = {}
        known: set[tuple[bytes, int, int]] = set()
        for row, instance, after in self._steps(left.cut, left.begun):
            key, packed = row.tobytes(), self.shortest_runs.own(from_words(after.tolist()))
            if key not in states:
                if len(states) == STATES_EXPANDED:
                    return
                states[key] = self.compiled.state(from_words(row.tolist()))
            if (key, instance, packed) in known:
                continue
            known.add((key, instance, packed))
            action, arguments = self.compiled.program.instances[instance]
            for step, lines in interpreter.steps_of(action, arguments, states[key]):
                if self.shortest_runs.packed(step.state) == packed:
                    yield from self._next(lines, left.begun)

    def _next(self, lines: tuple[Line, ...], begun: Cut) -> Iterator[Line]:
        for stream, count in enumerate(begun):
            mine = [line for line in lines if self.compiled.shape.merged or self._stream(line) == stream]
            yield from mine[count : count + 1]

    def _stream(self, line: Line) -> int:
        return self.compiled.shape.writers.index(line.node)

    def _steps(self, cut: Cut, begun: Cut) -> Iterator[tuple[Any, int, Any]]:
        """Every step from the states at a cut that writes these records of each stream, at least one, and more: the
        state, the instance, the state after it."""
        memory, event = self.search.memory, self.compiled.record.event
        assert event is not None, "records have events"
        states = self.search.kept[cut]
        window = np.zeros((len(cut), self.compiled.shape.places, self.compiled.record.words), np.uint64)
        for stream, (at, count) in enumerate(zip(cut, begun, strict=True)):
            window[stream, :count] = self.streams.words[stream][at : at + count]
            window[stream, count:, event.word] = np.uint64(self.compiled.shape.end << event.shift)
        for sources, instances, after in memory.steps(states, window):
            taken = taken_by(self.compiled, after)
            more = (taken >= np.array(begun)).all(axis=1) & (taken.sum(axis=1) > sum(begun))
            after &= ~memory.masks
            for number in np.flatnonzero(more).tolist():
                yield states[int(sources[number])], int(instances[number]), after[number]


def first_left(streams: Streams, cut: Cut) -> int | None:
    """The stream whose next record is the earliest."""
    left = [(stream, at) for stream, (at, length) in enumerate(zip(cut, streams.lengths, strict=True)) if at < length]
    if not left:
        return None
    if streams.times is None:
        return left[0][0]
    times = streams.times
    return min(left, key=lambda one: times[one[0]][one[1]])[0]
