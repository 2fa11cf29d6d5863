"""Whether a system could have written a log, found by trying: what compiled conformance checking is tested against.

A log is a stream of records for each node. The question is whether some run of the system writes all of them, each
node's in their order, and no line more; steps that write nothing may happen in between. The search keeps, beside the
state of the system, how many records of each stream are written, and which names of the log belong to which identities.
It knows nothing of `hacheck.model.observing`, only what the interpreter says of steps and their lines.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from hacheck.model import ir
from hacheck.model.execution import Line
from hacheck.model.interpreter import Interpreter
from hacheck.model.rewrite import walk
from hacheck.model.runs import State, Step
from hacheck.model.types import Bag, Enum, Identity, Map, Node, Option, Set, Type, Value, values
from hacheck.model.types import Record as RecordType
from hacheck.model.types import Sequence as Queue

Writer: TypeAlias = tuple[str, int] | None
"""Who writes a line: the kind and the id of a node; `None`: nobody."""

Cut: TypeAlias = tuple[int, ...]
"""How many records of each stream are written."""

Names: TypeAlias = frozenset[tuple[Type, Value, object]]
"""Which value of which type has which name in the log."""


class Entry(Struct, frozen=True):
    """A record of a log: its event, what it shows (fields that it does not show are left out), and its time in
    nanoseconds. Ids of nodes are numbers, sets are sets, words and names are strings."""

    event: str
    fields: Mapping[str, object]
    time: int | None = None


class Found(Struct, frozen=True):
    """What came of the search. `explained`: a run was found that writes everything; `None`: too many states were
    looked at. `furthest`: how many records of each stream the best run wrote; `run`: its steps; `states`: how many
    states were looked at."""

    explained: bool | None
    furthest: Mapping[Writer, int]
    run: tuple[Step, ...]
    states: int


class Candidate(Struct, frozen=True):
    """A state that explains what is written so far. `hidden`: how many steps without a line came last."""

    state: State
    cut: Cut
    names: Names
    hidden: int = 0

    @property
    def key(self) -> tuple[State, Cut, Names]:
        """What makes two candidates the same."""
        return self.state, self.cut, self.names


def explains(
    system: ir.System,
    streams: Mapping[Writer, Sequence[Entry]],
    *,
    skew_ns: int | None = None,
    hidden_max: int = 20,
    states_max: int = 100_000,
) -> Found:
    """Whether a run of a system with lines writes exactly these streams.

    `skew_ns`: records whose times are further apart are written in the order of their times; `None`: times say
    nothing. `hidden_max`: how many steps without a line may follow one another. Cost: every state that explains a
    part of the log is expanded by the interpreter, the furthest ones first, until `states_max` are.
    """
    return _Search(system, streams, skew_ns, hidden_max).found(states_max)


class _Search:
    def __init__(
        self, system: ir.System, streams: Mapping[Writer, Sequence[Entry]], skew_ns: int | None, hidden_max: int
    ) -> None:
        self.system, self.interpreter = system, Interpreter(system)
        self.writers, self.streams = tuple(streams), tuple(streams.values())
        self.places = {writer: place for place, writer in enumerate(self.writers)}
        self.skew_ns, self.hidden_max = skew_ns, hidden_max
        self.named = named_fields(system)
        self.ways: dict[tuple[State, Cut, Names], tuple[Candidate, Step] | None] = {}

    def found(self, states_max: int) -> Found:
        """The search, from the initial states."""
        starts = [
            Candidate(state, (0,) * len(self.streams), frozenset()) for state in self.interpreter.initial_states()
        ]
        self.ways = {start.key: None for start in starts}
        heap = [(0, 0, number, start) for number, start in enumerate(starts)]
        made, looked_at, best = len(heap), 0, starts[0]
        end = tuple(len(stream) for stream in self.streams)
        while heap:
            *_, candidate = heapq.heappop(heap)
            best = max(best, candidate, key=lambda one: sum(one.cut))
            if candidate.cut == end:
                return self._result(True, candidate, looked_at)
            if looked_at == states_max:
                return self._result(None, best, looked_at)
            looked_at += 1
            for step, after in self.steps(candidate):
                if after.key not in self.ways:
                    self.ways[after.key] = (candidate, step)
                    made += 1
                    heapq.heappush(heap, (-sum(after.cut), after.hidden, made, after))
        return self._result(False, best, looked_at)

    def _result(self, explained: bool | None, candidate: Candidate, states: int) -> Found:
        steps: list[Step] = []
        at = candidate
        while (way := self.ways[at.key]) is not None:
            at, step = way
            steps.append(step)
        return Found(explained, dict(zip(self.writers, candidate.cut, strict=True)), tuple(reversed(steps)), states)

    def steps(self, candidate: Candidate) -> Iterator[tuple[Step, Candidate]]:
        """The steps that write what the log says next, or nothing."""
        for step, lines in self.interpreter.steps_with_lines(candidate.state):
            hidden = 0 if lines else candidate.hidden + 1
            if hidden > self.hidden_max:
                continue
            written = self.written(candidate, lines)
            if written is None:
                continue
            cut, names = written
            live = _identities(self.system, step.state)
            kept = frozenset(one for one in names if (one[0], one[1]) in live)
            yield step, Candidate(step.state, cut, kept, hidden)

    def written(self, candidate: Candidate, lines: Sequence[Line]) -> tuple[Cut, Names] | None:
        """How far the log is written after these lines; `None` where it says something else."""
        cut, names = list(candidate.cut), candidate.names
        for line in lines:
            place = self.places.get(line.node)
            if place is None or cut[place] == len(self.streams[place]):
                return None
            known = self.agreed(line, self.streams[place][cut[place]], names)
            if known is None:
                return None
            names = known
            cut[place] += 1
        return (tuple(cut), names) if self.in_time(cut) else None

    def agreed(self, line: Line, entry: Entry, names: Names) -> Names | None:
        """The names known after a line that is this record; `None` if it is not."""
        if line.event != entry.event:
            return None
        for field, kind, value in line.fields:
            if field not in entry.fields:
                continue
            said = entry.fields[field]
            if (line.event, field) not in self.named:
                if said != value:
                    return None
                continue
            if value is None or said is None:
                if value is not said:
                    return None
                continue
            own = kind.element if isinstance(kind, Option) else kind
            called = {name for of, one, name in names if of == own and one == value}
            others = {one for of, one, name in names if of == own and name == said}
            if called - {said} or others - {value}:
                return None
            names |= {(own, value, said)}
        return names

    def in_time(self, cut: Sequence[int]) -> bool:
        """Whether nothing is written long before something that is still to come."""
        if self.skew_ns is None:
            return True
        pairs = [(stream, at) for stream, at in zip(self.streams, cut, strict=True)]
        taken = [entry.time for stream, at in pairs for entry in stream[:at] if entry.time is not None]
        left = [entry.time for stream, at in pairs for entry in stream[at:] if entry.time is not None]
        return not taken or not left or max(taken) - self.skew_ns <= min(left)


def named_fields(system: ir.System) -> frozenset[tuple[str, str]]:
    """The fields, each with its event, that show names."""
    return frozenset(
        (part.event, shown.name)
        for action in system.actions
        for statement in action.body
        for part in walk(statement)
        if isinstance(part, ir.Log)
        for shown in part.fields
        if shown.by_name
    )


def _identities(system: ir.System, state: State) -> set[tuple[Type, Value]]:
    """The values that something in a state holds: identities, and whatever else may have a name."""
    found: set[tuple[Type, Value]] = set()
    for variable, value in zip(system.variables, state, strict=True):
        found.update(_held(variable.type, value))
    return found


def _held(kind: Type, value: Value) -> Iterator[tuple[Type, Value]]:
    match kind:
        case Identity() | Node() | Enum():
            yield kind, value
        case Option(element):
            if value is not None:
                yield from _held(element, value)
        case Set(element) | Bag(element) | Queue(element):
            for one in value:
                yield from _held(element, one)
        case Map(key, element):
            for one, held in zip(values(key), value, strict=True):
                yield from _held(key, one)
                yield from _held(element, held)
        case RecordType(_, fields):
            for (_, inner), held in zip(fields, value, strict=True):
                yield from _held(inner, held)
        case _:
            return
