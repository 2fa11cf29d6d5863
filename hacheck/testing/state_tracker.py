"""Which states of the model explain what a system under test has shown so far: worked out after each line.

A line is followed at once, though a step of the model may write several: a run that still owes lines is kept beside
those that owe none. What is known of a set of states is remembered, so going back to it costs a look-up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.compile import from_words
from hacheck.model.ir import System
from hacheck.model.observing.record_conditions import observed
from hacheck.model.runs import State
from hacheck.testing.driven_system import DONE
from hacheck.testing.line_encoding import Event, Lines
from hacheck.traces.conformance.diagnosis import Diagnoser, Diagnosis
from hacheck.traces.conformance.follower import CAPACITY, Memory
from hacheck.traces.conformance.interleavings import InterleavingSearch, Streams, taken_by
from hacheck.traces.conformance.state_differences import too_many
from hacheck.traces.conformance.trace_compiler import compiled

_EMPTY = 0  # the number of the set without states
_KINDS: Mapping[str, Literal["deviates", "bound", "unmatchable"]] = {
    "value": "deviates",
    "bound": "bound",
    "node": "unmatchable",
}


class Track(Struct, frozen=True):
    """How far a log has been followed.

    - `names`: those that its lines have shown, in the order of their first appearance;
    - `last`: the words of its last lines, as many as a step may write less one;
    - `sets`: numbers of the sets of states before each of these lines, and behind the last: those that owe no line;
    - `owing`: whether there are further runs, whose last step has lines to come;
    - `limited`: whether a bound of the model was met on the way, so that a larger one might have further runs.

    Equal tracks have the same future.
    """

    names: tuple[str, ...]
    last: tuple[bytes, ...]
    sets: tuple[int, ...]
    owing: bool
    limited: bool = False

    @property
    def alive(self) -> bool:
        """Whether any run explains the log."""
        return self.owing or self.sets[-1] != _EMPTY


class Broken(Struct, frozen=True):
    """Why a log was not followed any further, at `event`: `deviates`, it leaves the model; `bound`, a larger model
    might go on; `full`, too many states of the model explain it; `unmatchable`, the model has no such node."""

    kind: Literal["deviates", "bound", "full", "unmatchable"]
    reason: str
    event: Event


class _After(Struct):
    """What comes of a set of states that see some lines: by how many lines a step took, the set after it; whether some
    took more than there are; whether a bound of the model was met; whether there were too many states."""

    sets: Mapping[int, int]
    owing: bool
    limited: bool
    full: bool


class _Sets(Struct):
    """Sets of states by number: each is its rows of words, sorted."""

    numbers: dict[bytes, int] = field(default_factory=dict)
    rows: list[Any] = field(default_factory=list)

    def number(self, rows: Any) -> int:
        """The number of a set. `rows`: its states, in words, in any order, perhaps more than once."""
        content, width = rows.tobytes(), rows.shape[1] * rows.itemsize
        key = b"".join(sorted({content[at : at + width] for at in range(0, len(content), width)}))
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = len(self.rows)
            self.rows.append(np.frombuffer(key, np.uint64).reshape(-1, rows.shape[1]).copy())
        return found

    def union(self, numbers: AbstractSet[int]) -> int:
        """The number of the set of all that are in any of these."""
        if len(numbers) > 1:
            return self.number(np.concatenate([self.rows[number] for number in sorted(numbers)]))
        return next(iter(numbers), _EMPTY)


class Tracker:
    """Follows logs of one system, line by line, in as many branches as wanted.

    - `invariants`, `conditions`: properties that can be looked up; `capacity`: the most states that may explain a log
      at once;
    - `called`: the model's name of a node, as `Server-1`, by what lines call it.
    """

    def __init__(
        self,
        system: System,
        invariants: Sequence[str] = (),
        called: Mapping[str, str] | None = None,
        capacity: int = CAPACITY,
        conditions: Sequence[str] = (),
    ) -> None:
        """Cost: compiles the system, or finds it compiled. Errors: `ObservingError`, `EvaluationError`,
        `CompilerError`."""
        self.system, self.invariants, self.conditions = system, tuple(invariants), tuple(conditions)
        properties = [one for one in system.properties if one.name in {*invariants, *conditions}]
        made = replace(compiled(observed(system), checked=properties), called=dict(called or {}))
        self.compiled = made
        self.memory = Memory(made, capacity)
        self.diagnoser = Diagnoser(
            system, InterleavingSearch(made, self.memory), hidden_prefix=DONE
        )  # what a test does is the test's
        self.lines = Lines(made)
        self._sets = _Sets()
        self._after: dict[tuple[int, bytes], _After] = {}
        self._closed: dict[int, Any] = {}
        self._states: dict[bytes, State] = {}
        self._violated: dict[int, tuple[str, ...]] = {}
        self._certain: dict[int, frozenset[str]] = {}
        width = self.memory.starts.shape[1]
        assert self._sets.number(np.zeros((0, width), np.uint64)) == _EMPTY
        self.start = Track((), (), (self._sets.number(self.memory.starts),), False)

    # ---- following ----

    def after(self, track: Track, event: Event) -> Track | Broken:
        """The log with one more line. One that the spec says nothing of changes nothing. Errors: `UnfitEvent`."""
        line = self.lines.line(event, track.names)
        if line is None:
            return track
        last = (*track.last, line.words)
        sets = track.sets
        arrived: set[int] = set()
        owing, limited = False, track.limited
        for place, start in enumerate(sets):
            if start == _EMPTY:
                continue
            seen = last[place:]
            outcome = self._outcome(start, seen)
            if outcome.full:
                return Broken("full", too_many(self.memory, "it"), event)
            limited = limited or outcome.limited
            owing = owing or outcome.owing
            if len(seen) in outcome.sets:
                arrived.add(outcome.sets[len(seen)])
        new = self._sets.union(arrived)
        kept = self.compiled.shape.places - 1
        found = Track(line.names, last[-kept:] if kept else (), (*sets, new)[-kept - 1 :], owing, limited)
        if found.alive:
            return found
        if line.unmatchable is not None:
            return Broken(_KINDS[line.unmatchable.why], line.unmatchable.text, event)
        if limited:
            reason = "the model's bounds were reached; with larger ones the model might accept the run"
            return Broken("bound", reason, event)
        return Broken("deviates", "no run of the model writes this line here", event)

    def bounds_met(self) -> tuple[str, ...]:
        """The bounds of the model that were reached by all that was ever followed, those met most often first."""
        return self.memory.met_since([0] * len(self.memory.met()))

    def _outcome(self, start: int, lines: Sequence[bytes]) -> _After:
        """What comes of a set whose states see these lines, which are the last ones."""
        key = (start, b"".join(lines))
        found = self._after.get(key)
        if found is None:
            found = self._after[key] = self._worked_out(self._sets.rows[start], lines)
        return found

    def _worked_out(self, rows: Any, lines: Sequence[bytes]) -> _After:
        before = self.memory.limited()
        by_taken: dict[int, list[Any]] = {}
        owing = False
        for emitted in self.memory.close(rows, self._window(lines)):
            if emitted is None:
                return _After({}, False, False, True)
            taken = taken_by(self.compiled, emitted)[:, 0]
            emitted &= ~self.memory.masks
            for count in np.unique(taken).tolist():
                if count > len(lines):
                    owing = True
                elif count:
                    by_taken.setdefault(count, []).append(emitted[taken == count])
        sets = {count: self._sets.number(np.concatenate(some)) for count, some in by_taken.items()}
        return _After(sets, owing, self.memory.limited() != before, False)

    def followed(self) -> Iterator[tuple[Any, Any, int]]:
        """All that was ever followed: sets of states, the lines that they saw next, and how many."""
        for start, lines in list(self._after):
            width = self.compiled.record.words * np.dtype(np.uint64).itemsize
            seen = [lines[at : at + width] for at in range(0, len(lines), width)]
            yield self._sets.rows[start], self._window(seen), len(seen)

    def _window(self, lines: Sequence[bytes]) -> Any:
        """The lines as states see them, and behind them what may be anything."""
        places, record = self.compiled.shape.places, self.compiled.record
        assert record.event is not None, "lines have events"
        window = np.zeros((1, places, record.words), np.uint64)
        for place, words in enumerate(lines):
            window[0, place] = np.frombuffer(words, np.uint64)
        window[0, max(len(lines), 1) :, record.event.word] = np.uint64(self.compiled.shape.end << record.event.shift)
        return window

    # ---- where the model may be ----

    def closed(self, track: Track) -> Any:
        """The states that the model may be in, in words: every step that writes no line may have happened, too. Of
        runs that owe lines there are none. Empty where there are too many."""
        return self.closure(track.sets[-1])

    def closure(self, number: int) -> Any:
        """The states of a set, by its number, and those behind them, as `closed`."""
        found = self._closed.get(number)
        if found is None:
            rows = self._sets.rows[number]
            if len(rows):
                for emitted in self.memory.close(rows, self._window(())):
                    if emitted is None:
                        rows = rows[:0]
                        break
                else:
                    rows = self.memory.closed()
            found = self._closed[number] = rows
        return found

    def violated(self, track: Track) -> tuple[str, ...]:
        """The invariants that are violated in every state that the model may be in. Of a set of states that was met
        before it costs a look-up."""
        if track.owing or not self.invariants:
            return ()
        found = self._violated.get(track.sets[-1])
        if found is None:
            rows, found = self.closed(track), ()
            if len(rows):
                self.memory.hold(rows)
                found = tuple(name for number, name in self._numbered(self.invariants) if self.memory.marked(number)[1])
            self._violated[track.sets[-1]] = found
        return found

    def certain(self, track: Track) -> frozenset[str]:
        """The conditions that hold in every state that the model may be in. Of a set of states that was met before it
        costs a look-up."""
        if track.owing or not self.conditions:
            return frozenset()
        found = self._certain.get(track.sets[-1])
        if found is None:
            rows, found = self.closed(track), frozenset()
            if len(rows):
                self.memory.hold(rows)
                numbered = self._numbered(self.conditions)
                found = frozenset(name for number, name in numbered if not self.memory.marked(number)[0])
            self._certain[track.sets[-1]] = found
        return found

    def _numbered(self, names: Sequence[str]) -> list[tuple[int, str]]:
        """Those of the checked properties that have one of these names, with their numbers."""
        return [(number, name) for number, name in enumerate(self.compiled.checked) if name in names]

    def state(self, row: Any) -> State:
        """A state, from its words."""
        key = row.tobytes()
        found = self._states.get(key)
        if found is None:
            found = self._states[key] = self.compiled.state(from_words(row.tolist()))
        return found

    def owes_nothing(self, track: Track) -> bool:
        """Whether some run explains the log and owes no line."""
        return track.sets[-1] != _EMPTY

    # ---- why not ----

    def explain(self, events: Sequence[Event]) -> Diagnosis | None:
        """Why no run explains a log: what the model would have written, and the cheapest change that mends it; `None`
        where that is open. Cost: as much as following it, and much more for the change."""
        streams = self._streams(events)
        return None if streams is None else self.diagnoser.diagnose(streams, at_start=True)

    def owed(self, events: Sequence[Event]) -> tuple[str, ...]:
        """The lines that may come next, in words, where every run that explains a log owes some; none where that is
        open. Cost: as much as following it."""
        begun = next((one for one in events if one.name.startswith(DONE)), None)
        if begun is None:
            return ()
        streams = self._streams((*events, begun))  # a step is done by the test before its lines, and never among them
        return () if streams is None else self.diagnoser.next_lines(streams)

    def _streams(self, events: Sequence[Event]) -> Streams | None:
        names: tuple[str, ...] = ()
        words = []
        for event in events:
            line = self.lines.line(event, names)
            if line is not None:
                names = line.names
                words.append(np.frombuffer(line.words, np.uint64))
        if not words:
            return None
        return Streams([np.array(words)], None, [{}], 0)
