"""State diagrams: between which modes a kind of node moves, by which actions, and whether exploration has
seen it.

The edges that the text of the model allows come from `diagram_edges`; walking the model then says which of
them are taken. A node that has crashed is in the state `DOWN`.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hacheck.checker.diagram_edges import DOWN, possible_edges, shown_guard
from hacheck.model.ir import ActionKind, StateVariable, System
from hacheck.model.runs import State
from hacheck.model.semantics import Interpreter, Taken
from hacheck.model.types import Enum, Map

Edge = tuple[str, str, int]
"""From which mode to which, by which action (its index)."""


WalkReport = Callable[[int, int, int, float], bool]
"""Told the states found, the steps taken, the states waiting and the seconds since the start; returns whether
to go on."""


@dataclass(frozen=True, slots=True)
class ModeField:
    """The mode of a kind of node: its variable and, if it can crash, the variable that says whether it is
    up."""

    owner: str
    variable: StateVariable
    members: tuple[str, ...]
    place: int
    up_place: int | None

    def modes(self, state: State) -> tuple[str, ...]:
        """The mode of each node of the kind in a state."""
        modes: tuple[str, ...] = state[self.place]
        if self.up_place is None:
            return modes
        return tuple(mode if up else DOWN for mode, up in zip(modes, state[self.up_place], strict=True))


@dataclass(frozen=True, slots=True)
class Transition:
    """An edge of a diagram. `seen`: whether the walk took it; `None` when there was no walk."""

    source: str
    target: str
    action: str
    kind: ActionKind
    guard: str
    seen: bool | None


@dataclass(frozen=True, slots=True)
class Walk:
    """What was explored for a diagram. `complete`: every reachable state."""

    states: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Diagram:
    """The state diagram of one kind of node. `unseen`: the modes the walk never met; empty without a walk."""

    owner: str
    field: str
    states: tuple[str, ...]
    initial: tuple[str, ...]
    transitions: tuple[Transition, ...]
    unseen: tuple[str, ...]
    walk: Walk | None


def mode_fields(system: System) -> tuple[ModeField, ...]:
    """The mode fields of a system, in its order."""
    places = {variable.name: place for place, variable in enumerate(system.variables)}
    found = []
    for variable in system.variables:
        kind = variable.type
        if not variable.mode or variable.owner is None or not isinstance(kind, Map):
            continue
        if isinstance(kind.value, Enum):
            up = f"{variable.owner}.up"
            has_up = up in places and system.variables[places[up]].role == "status"
            place, up_place = places[variable.name], places[up] if has_up else None
            found.append(ModeField(variable.owner, variable, kind.value.members, place, up_place))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Sightings:
    """What a walk has seen of each mode field: edges, modes, and those of the initial states."""

    edges: tuple[frozenset[Edge], ...]
    modes: tuple[frozenset[str], ...]
    initial: tuple[tuple[str, ...], ...]
    walk: Walk


class _Recorder:
    """Collects the edges and modes of all fields while states go by."""

    def __init__(self, fields: tuple[ModeField, ...]) -> None:
        self.fields = fields
        self.edges: list[set[Edge]] = [set() for _ in fields]
        self.modes: list[set[str]] = [set() for _ in fields]

    def state(self, state: State) -> None:
        for field, modes in zip(self.fields, self.modes, strict=True):
            modes.update(field.modes(state))

    def step(self, before: State, action: int, after: State) -> None:
        for field, edges in zip(self.fields, self.edges, strict=True):
            old, new = field.modes(before), field.modes(after)
            if old != new:
                edges.update((was, now, action) for was, now in zip(old, new, strict=True) if was != now)


def walk(
    system: System,
    fields: tuple[ModeField, ...],
    states_max: int,
    seconds_max: float,
    report: WalkReport,
) -> Sightings:
    """Explores the model breadth-first up to a number of states; if that is not all of them, then by random
    runs.

    `report` is told the number of distinct states now and then and returns whether to go on. Half of the time
    is left for the random runs, which reach what lies deep.
    """
    interpreter = Interpreter(system)
    recorder = _Recorder(fields)
    starts = interpreter.initial_states()
    begin = time.monotonic()
    seen = set(starts)
    for state in starts:
        recorder.state(state)
    initial = tuple(tuple(sorted({mode for state in starts for mode in field.modes(state)})) for field in fields)
    waiting = deque(starts)
    going, steps = True, 0
    while waiting and going and len(seen) < states_max and time.monotonic() - begin < seconds_max / 2:
        before = waiting.popleft()
        for outcome in interpreter.outcomes(before):
            if isinstance(outcome, Taken):
                after = outcome.step.state
                recorder.step(before, outcome.step.action, after)
                steps += 1
                if after not in seen:
                    seen.add(after)
                    recorder.state(after)
                    waiting.append(after)
        going = report(len(seen), steps, len(waiting), time.monotonic() - begin)
    complete = not waiting
    if not complete and going:

        def tell(found: int) -> bool:
            return report(found, steps, len(waiting), time.monotonic() - begin)

        _random_runs(interpreter, recorder, starts, seen, begin + seconds_max, states_max * 2, tell)
    return Sightings(
        tuple(frozenset(edges) for edges in recorder.edges),
        tuple(frozenset(modes) for modes in recorder.modes),
        initial,
        Walk(len(seen), complete),
    )


def _random_runs(
    interpreter: Interpreter,
    recorder: _Recorder,
    starts: tuple[State, ...],
    seen: set[State],
    deadline: float,
    states_max: int,
    report: Callable[[int], bool],
) -> None:
    """Random runs of 200 steps from the initial states, until the time or the number of states is used up."""
    source = random.Random(0)
    while len(seen) < states_max and time.monotonic() < deadline:
        state = source.choice(starts)
        for _ in range(200):
            steps = [outcome.step for outcome in interpreter.outcomes(state) if isinstance(outcome, Taken)]
            if not steps or time.monotonic() > deadline:
                break
            step = source.choice(steps)
            recorder.step(state, step.action, step.state)
            recorder.state(step.state)
            state = step.state
            seen.add(state)
        if not report(len(seen)):
            return


def diagrams(system: System, fields: tuple[ModeField, ...], sightings: Sightings | None) -> tuple[Diagram, ...]:
    """The diagrams of some mode fields: every edge the model allows, marked with what a walk saw of it."""
    return tuple(_diagram(system, field, index, sightings) for index, field in enumerate(fields))


def _diagram(system: System, field: ModeField, index: int, sightings: Sightings | None) -> Diagram:
    up = f"{field.owner}.up" if field.up_place is not None else None
    possible = possible_edges(system, field.variable, up)
    seen = sightings.edges[index] if sightings is not None else frozenset()
    if sightings is not None:
        possible = _told(field, possible, seen)
    transitions: dict[tuple[str, str, str], Transition] = {}
    for source, target, number in sorted(possible | seen, key=lambda edge: _order(field, edge)):
        action = system.actions[number]
        was_seen = None if sightings is None else (source, target, number) in seen
        key = (source, target, action.name)
        if key in transitions and not was_seen:
            continue
        guard = shown_guard(system, action, field.variable.name, up)
        transitions[key] = Transition(source, target, action.name, action.kind, guard, was_seen)
    down = (DOWN,) if field.up_place is not None else ()
    states = (*field.members, *down)
    return Diagram(
        field.owner,
        field.variable.name,
        states,
        sightings.initial[index] if sightings is not None else tuple(dict.fromkeys(field.variable.initial)),
        tuple(transitions.values()),
        () if sightings is None else tuple(_absent(states, sightings.modes[index])),
        None if sightings is None else sightings.walk,
    )


def _told(field: ModeField, possible: frozenset[Edge], seen: frozenset[Edge]) -> frozenset[Edge]:
    """The edges worth telling though nobody took them.

    An action that says nothing of the mode it starts from (a later step of a handler, say) could start from all:
    where it was seen at all, what was not seen of it is no news.
    """
    actions = {number for _, _, number in seen}
    sources: dict[int, set[str]] = {}
    for source, _, number in possible:
        sources.setdefault(number, set()).add(source)
    return frozenset(
        edge
        for edge in possible
        if edge in seen or edge[2] not in actions or len(sources[edge[2]]) < len(field.members) - 1
    )


def _order(field: ModeField, edge: Edge) -> tuple[int, int, int]:
    states = (*field.members, DOWN)
    return states.index(edge[0]), states.index(edge[1]), edge[2]


def _absent(states: Iterable[str], met: frozenset[str]) -> list[str]:
    return [state for state in states if state not in met]
