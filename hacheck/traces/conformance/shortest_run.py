"""A shortest run of the model that writes the records of a trace up to some place: found among the states that were
kept for it, and replayed by the interpreter."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct, field

from hacheck.compile import from_words, pack, slots_of
from hacheck.model.interpreter import Interpreter, Taken, replay
from hacheck.model.ir import System
from hacheck.model.observing.record_layout import PREFIX
from hacheck.model.runs import Run, State, Step
from hacheck.model.types import default
from hacheck.traces.conformance.interleavings import Cut, InterleavingSearch, Streams, taken_by
from hacheck.traces.conformance.trace_program import Compiled

STATES_MAX = 200_000
"""Among more states no run is looked for."""

Place: TypeAlias = tuple[Cut, bytes]
"""A state at a cut."""


class Reached(Struct, frozen=True):
    """How a state is reached soonest: in so many steps, from where, by which instance."""

    steps: int
    before: Place | None
    instance: int


class ShortestRuns(Struct):
    """Looks for a shortest run among the states that `search` kept. `system`: whose steps write lines."""

    system: System
    search: InterleavingSearch
    streams: Streams
    reached: dict[Place, Reached] = field(default_factory=dict)

    @property
    def compiled(self) -> Compiled:
        """What follows logs of it."""
        return self.search.compiled

    def run_to(self, cut: Cut) -> Run | None:
        """A shortest run that explains every record before a cut; `None` where there are too many states to look."""
        kept = self.search.kept
        if sum(len(states) for states in kept.values()) > STATES_MAX:
            return None
        for state in self.search.memory.starts:
            self.reached[(0,) * len(cut), state.tobytes()] = Reached(0, None, -1)
        for at in sorted(kept, key=sum):
            self._spread(at, kept[at])
        ends = [(cut, state.tobytes()) for state in kept[cut]]
        found = [(self.reached[end].steps, end) for end in ends if end in self.reached]
        return self._replayed(self._path(min(found)[1])) if found else None

    def _spread(self, cut: Cut, states: Any) -> None:
        """How soon the states at a cut are reached, and those to which their steps lead."""
        hidden: dict[bytes, list[tuple[int, bytes]]] = {}
        shown: list[tuple[bytes, int, Place]] = []
        rows = [state.tobytes() for state in states]
        window = self.search.window(self.streams, cut)
        for source, instance, after, real in self._steps(states, window, cut):
            if any(real):
                to = tuple(a + b for a, b in zip(cut, real, strict=True))
                shown.append((rows[source], instance, (to, after)))
            else:
                hidden.setdefault(rows[source], []).append((instance, after))
        heap = [(self.reached[cut, row].steps, row) for row in rows if (cut, row) in self.reached]
        heapq.heapify(heap)
        while heap:
            steps, row = heapq.heappop(heap)
            if steps > self.reached[cut, row].steps:
                continue
            for instance, after in hidden.get(row, ()):
                if self._sooner((cut, after), Reached(steps + 1, (cut, row), instance)):
                    heapq.heappush(heap, (steps + 1, after))
        for row, instance, place in shown:
            if place[0] in self.search.kept and (cut, row) in self.reached:
                self._sooner(place, Reached(self.reached[cut, row].steps + 1, (cut, row), instance))

    def _sooner(self, place: Place, found: Reached) -> bool:
        known = self.reached.get(place)
        if known is not None and known.steps <= found.steps:
            return False
        self.reached[place] = found
        return True

    def _steps(self, states: Any, window: Any, cut: Cut) -> Iterator[tuple[int, int, bytes, tuple[int, ...]]]:
        """Every step from some states: which state, the instance, the state after it, the records that it took."""
        left = np.array(self.streams.lengths) - np.array(cut)
        for sources, instances, after in self.search.memory.steps(states, window):
            taken = taken_by(self.compiled, after)
            real = np.minimum(taken, left)
            good = ((taken.sum(axis=1) == 0) | (real.sum(axis=1) > 0)) & self.streams.whole(cut, taken)
            after &= ~self.search.memory.masks
            rows = zip(sources.tolist(), instances.tolist(), after, real.tolist(), good.tolist(), strict=True)
            for source, instance, state, records, counts in rows:
                if counts:
                    yield source, instance, state.tobytes(), tuple(records)

    def _path(self, end: Place) -> list[tuple[int, int]]:
        """The steps to a place: the instance, and the state after it, packed; first the start."""
        path: list[tuple[int, int]] = []
        at: Place | None = end
        while at is not None:
            found = self.reached[at]
            path.append((found.instance, from_words(np.frombuffer(at[1], np.uint64).tolist())))
            at = found.before
        return path[::-1]

    # ---- replayed by the interpreter ----

    def _replayed(self, path: list[tuple[int, int]]) -> Run | None:
        """The run, with the values of what the code leaves out; each step is one of the interpreter's."""
        interpreter = Interpreter(self.system)
        start = next((one for one in interpreter.initial_states() if self.packed(one) == self.own(path[0][1])), None)
        if start is None:
            return None
        state, steps = start, []
        for instance, packed in path[1:]:
            action, arguments = self.compiled.program.instances[instance]
            step = self._step(interpreter, action, arguments, state, self.own(packed))
            if step is None:
                return None
            steps.append(step)
            state = step.state
        run = Run(start, tuple(steps))
        assert replay(self.system, run) is None, "a run that explains a log is one of the system"
        return run

    def _step(
        self, interpreter: Interpreter, action: int, arguments: tuple[Any, ...], state: State, packed: int
    ) -> Step | None:
        for outcome in interpreter.outcomes_with(action, arguments, state):
            if isinstance(outcome, Taken) and self.packed(outcome.step.state) == packed:
                return outcome.step
        return None

    def packed(self, state: State) -> int:
        """A state of the system itself as compiled code has it."""
        added = self.compiled.shape.system.variables[len(state) :]
        return pack(self.compiled.program.layout, (*state, *(default(variable.type) for variable in added)))

    def own(self, packed: int) -> int:
        """Of a candidate what is the system's own."""
        layout = self.compiled.program.layout
        mask = 0
        for variable, place in zip(self.compiled.shape.system.variables, layout.places, strict=True):
            if variable.name.startswith(PREFIX):
                for slot in slots_of(place):
                    if layout.slots[slot].fixed is None:
                        mask |= ((1 << layout.slots[slot].width) - 1) << layout.slots[slot].offset
        return packed & ~mask
