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

from msgspec import Struct

from hacheck.checker.diagram_conditions import conditions_of, required_first
from hacheck.checker.diagram_edges import DOWN, possible_edges, shown_guard
from hacheck.checker.diagram_exploration import Followed, taken_edges
from hacheck.checker.engine import Limits, Progress
from hacheck.checker.explicit.portable.python_program import Wanted, generate, successors
from hacheck.compile.lowering.layout import Layout, pack, slots_of, unpack
from hacheck.compile.lowering.system import lower
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import ActionKind, StateVariable, System
from hacheck.model.runs import State
from hacheck.model.types import Enum, Map
from hacheck.supervise.resources import memory_default

Edge = tuple[str, str, int]
"""From which mode to which, by which action (its index)."""


WalkReport = Callable[[int, int, int, float], bool]
"""Called with the states found, the steps taken, the states waiting and the seconds since the start; returns whether
to go on."""


class ModeField(Struct, frozen=True):
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


class Transition(Struct, frozen=True):
    """An edge of a diagram. `seen`: whether the walk took it; `None` when there was no walk. `condition`: what a later
    step of a handler asks, and what is so on this edge and not on others of the action."""

    source: str
    target: str
    action: str
    kind: ActionKind
    guard: str
    seen: bool | None
    condition: str = ""


class Walk(Struct, frozen=True):
    """What was explored for a diagram. `complete`: every reachable state."""

    states: int
    complete: bool


class Diagram(Struct, frozen=True):
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


class Sightings(Struct, frozen=True):
    """What a walk has seen of each mode field: edges, modes, and those of the initial states."""

    edges: tuple[frozenset[Edge], ...]
    modes: tuple[frozenset[str], ...]
    initial: tuple[tuple[str, ...], ...]
    walk: Walk


class _Walker:
    """Walks over packed states and notes each change of the bits that hold modes, with one pair of states for it."""

    def __init__(self, system: System, fields: tuple[ModeField, ...], starts: tuple[State, ...]) -> None:
        self.lowered = lower(system, starts)
        self.code = generate(self.lowered, Wanted())
        places = {place for field in fields for place in (field.place, field.up_place) if place is not None}
        self.mask = sum(_bits(self.lowered.layout, place) for place in places)
        self.starts = [pack(self.lowered.layout, state) for state in starts]
        self.seen = set(self.starts)
        self.steps = 0
        self.waiting = 0
        self.changes: dict[tuple[int, int, int], tuple[int, int]] = {}
        self.begin = time.monotonic()

    def onward(self, state: int) -> list[int]:
        """The states after a state, what changed noted."""
        found = successors(self.code, state)
        before = state & self.mask
        for after, instance in found:
            if after & self.mask != before:
                key = (before, after & self.mask, self.lowered.instances[instance].action)
                self.changes.setdefault(key, (state, after))
        self.steps += len(found)
        return [after for after, _ in found]

    def report_progress(self, report: WalkReport) -> bool:
        """Reports; returns whether to go on."""
        return report(len(self.seen), self.steps, self.waiting, time.monotonic() - self.begin)

    def breadth_first(self, states_max: int, seconds_max: float, report: WalkReport) -> tuple[bool, bool]:
        """Level by level; returns whether it saw every state, and whether to go on."""
        waiting = deque(self.starts)
        going, turn = True, 0
        while waiting and going and len(self.seen) < states_max:
            for after in self.onward(waiting.popleft()):
                if after not in self.seen:
                    self.seen.add(after)
                    waiting.append(after)
            turn += 1
            if turn % 256 == 0:
                self.waiting = len(waiting)
                going = self.report_progress(report) and time.monotonic() - self.begin < seconds_max
        return not waiting, not waiting or self.report_progress(report)

    def at_random(self, seconds_max: float, report: WalkReport) -> None:
        """Random runs of 200 steps from the initial states, until the time is used up."""
        source = random.Random(0)
        while time.monotonic() - self.begin < seconds_max and self.report_progress(report):
            state = source.choice(self.starts)
            for _ in range(200):
                after = self.onward(state)
                if not after:
                    break
                state = source.choice(after)
                self.seen.add(state)

    def sightings(self, fields: tuple[ModeField, ...], starts: tuple[State, ...], walk: Walk) -> Sightings:
        """What was seen, in words."""
        edges: list[set[Edge]] = [set() for _ in fields]
        modes: list[set[str]] = [{mode for state in starts for mode in field.modes(state)} for field in fields]
        initial = tuple(
            tuple(mode for mode in field.members if mode in met) for field, met in zip(fields, modes, strict=True)
        )
        for (_, _, action), pair in self.changes.items():
            before, after = (unpack(self.lowered.layout, state) for state in pair)
            for field, found, met in zip(fields, edges, modes, strict=True):
                for was, now in zip(field.modes(before), field.modes(after), strict=True):
                    met.add(now)
                    if was != now:
                        found.add((was, now, action))
        return Sightings(tuple(map(frozenset, edges)), tuple(map(frozenset, modes)), initial, walk)


def _bits(layout: Layout, place: int) -> int:
    """The bits of a packed state that hold one variable."""
    return sum(
        ((1 << slot.width) - 1) << slot.offset
        for slot in (layout.slots[number] for number in slots_of(layout.places[place]))
    )


def walk(
    system: System, fields: tuple[ModeField, ...], states_max: int, seconds_max: float, report: WalkReport
) -> Sightings:
    """Explores the model breadth-first up to a number of states; if that is not all of them, then by random runs.

    Half of the time is left for the random runs, which reach what lies deep.
    """
    starts = Interpreter(system).initial_states()
    walker = _Walker(system, fields, starts)
    complete, going = walker.breadth_first(states_max, seconds_max / 2, report)
    if not complete and going:
        walker.at_random(seconds_max, report)
    return walker.sightings(fields, starts, Walk(len(walker.seen), complete))


def explore(
    system: System,
    fields: tuple[ModeField, ...],
    states_max: int,
    seconds_max: float,
    report: WalkReport,
    threads: int,
    *,
    at_random: bool = True,
) -> Sightings:
    """Explores the model with the native engine, up to a number of states; if that is not all of them, then also by
    random runs, which reach what lies deep: a third of the time is left for them. `at_random`: without, it ends there.
    """
    followed = [
        Followed(field.variable.name, field.variable.type, up_of(field), field.members, tuple(sorted(edges)))
        for field in fields
        if isinstance(field.variable.type, Map)
        for edges in (possible_edges(system, field.variable, up_of(field)),)
    ]
    limits = Limits(states_max=states_max, wall_seconds_max=seconds_max * 2 / 3, memory_bytes_max=memory_default())
    going = True

    def noted(progress: Progress) -> bool:
        nonlocal going
        going = report(progress.states, progress.transitions, progress.frontier, progress.wall_seconds)
        return going

    starts = Interpreter(system).initial_states()
    edges, coverage = taken_edges(system, followed, limits, noted, threads)
    walk = Walk(coverage.states, coverage.complete)
    if not coverage.complete and going and at_random:
        walker = _Walker(system, fields, starts)
        walker.at_random(seconds_max / 3, report)
        more = walker.sightings(fields, starts, walk)
        edges = [one | other for one, other in zip(edges, more.edges, strict=True)]
    initial = [{mode for state in starts for mode in field.modes(state)} for field in fields]
    modes = [met | {target for _, target, _ in found} for met, found in zip(initial, edges, strict=True)]
    ordered = tuple(
        tuple(mode for mode in field.members if mode in met) for field, met in zip(fields, initial, strict=True)
    )
    return Sightings(tuple(edges), tuple(map(frozenset, modes)), ordered, walk)


def up_of(field: ModeField) -> str | None:
    """The variable that says whether a node is up, if it can crash."""
    return f"{field.owner}.up" if field.up_place is not None else None


def diagrams(system: System, fields: tuple[ModeField, ...], sightings: Sightings | None) -> tuple[Diagram, ...]:
    """The diagrams of some mode fields: every edge the model allows, marked with what a walk saw of it."""
    return tuple(_diagram(system, field, index, sightings) for index, field in enumerate(fields))


def _diagram(system: System, field: ModeField, index: int, sightings: Sightings | None) -> Diagram:
    up = up_of(field)
    possible = possible_edges(system, field.variable, up)
    seen = sightings.edges[index] if sightings is not None else frozenset()
    if sightings is not None:
        possible = _informative(field, possible, seen)
    transitions: dict[tuple[str, str, str], Transition] = {}
    conditions: dict[int, dict[tuple[str, str], str]] = {}
    for source, target, number in sorted(possible | seen, key=lambda edge: _order(field, edge)):
        action = system.actions[number]
        was_seen = None if sightings is None else (source, target, number) in seen
        key = (source, target, action.name)
        if key in transitions and not was_seen:
            continue
        guard = shown_guard(system, action, field.variable.name, up)
        if number not in conditions:
            conditions[number] = conditions_of(system, field.variable, up, action)
        required = required_first(system, field.variable.name, up, action)
        differs = conditions[number].get((source, target), "")
        condition = " and ".join(part for part in (required, differs) if part)
        transitions[key] = Transition(source, target, action.name, action.kind, guard, was_seen, condition)
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


def _informative(field: ModeField, possible: frozenset[Edge], seen: frozenset[Edge]) -> frozenset[Edge]:
    """The edges worth showing though the walk took none of them.

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
