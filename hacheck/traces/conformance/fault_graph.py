"""How far a system is from breaking a property: the states that it can reach from those that explain a log.

Lines count for nothing here: what may come next is open. A fault costs one, every other step nothing; the distance of a
state is the cost of the cheapest path to one that breaks the property. The graph is kept and grows where states are
met that it does not have; once it has everything that can be reached, a distance is looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from hacheck.compile import pack
from hacheck.model.ir import System
from hacheck.model.observing.line_writers import lines_of, without_lines
from hacheck.model.observing.record_conditions import observed
from hacheck.model.runs import State
from hacheck.traces.conformance.follower import CAPACITY, Memory, words_of
from hacheck.traces.conformance.interleavings import row_keys
from hacheck.traces.conformance.trace_compiler import compiled

STATES_MAX = 200_000
"""So many states are kept at most."""

PORTION = 4_096
"""So many states are expanded between two calls of `report`."""

PLAIN, FAULT, REPAIR = 0, 1, 2
"""What a step is: `FAULT` costs one, `REPAIR` mends one."""

FAR = 1 << 30
"""The distance of a state from which nothing known breaks the property."""


class Distance(Struct, frozen=True):
    """How far the states that explain a log are from breaking a property.

    - `fewest`: faults from the nearest of them, 0 if one can break it, or breaks it, without any; `None`: no number of
      faults breaks it, as far as `exact` says; `most`: from the farthest;
    - `faults`: those on a cheapest path from the farthest of them that has one, as pairs of an action's number and its
      arguments; `broken`: one of the states breaks the property already;
    - `exact`: every state that could make it less was looked at. Otherwise `fewest` is an upper bound; where it is
      `None`, nothing was found among `STATES_MAX` states.
    """

    fewest: int | None
    most: int | None
    faults: tuple[tuple[int, tuple[Any, ...]], ...]
    broken: bool
    exact: bool


class FaultGraph:
    """The states that can be reached, and the steps between them, for some properties of a system. `states`: how many
    are kept; `open`: how many of them were not expanded yet."""

    def __init__(self, system: System, checked: Sequence[str], states_max: int = STATES_MAX) -> None:
        """Errors: `TracesError`, `CompilerError`. Cost: that of compiling the system."""
        bare = without_lines(system, {line.event for action in system.actions for line in lines_of(action)})
        shape = observed(bare)
        self._system, self.checked, self._states_max = system, tuple(checked), states_max
        self._compiled = compiled(shape, checked=[one for one in bare.properties if one.name in checked])
        order = self._compiled.checked
        self._numbers = {name: order.index(name) for name in checked}
        self._rest = tuple(one.initial for one in shape.system.variables[len(bare.variables) :])
        self._memory = Memory(self._compiled)
        self._window = np.zeros((shape.streams, shape.places, self._compiled.record.words), np.uint64)
        instances = self._compiled.program.instances
        kinds = {"fault": FAULT, "repair": REPAIR}
        self._kinds = np.array([kinds.get(system.actions[action].kind, PLAIN) for action, _ in instances], np.int8)
        self._rows = np.zeros((PORTION, self._compiled.base), np.uint64)
        self._known: dict[bytes, int] = {}
        self._marks = np.zeros((len(self._numbers), PORTION), bool)
        self._expanded = np.zeros(PORTION, bool)
        self._limited = False
        self._edges: list[tuple[Any, Any, Any]] = []
        self._joined: tuple[Any, Any, Any] | None = None
        self._distances: dict[int, Any] = {}

    @property
    def states(self) -> int:
        """How many states are kept."""
        return len(self._known)

    @property
    def open(self) -> int:
        """How many of them were not expanded."""
        return self.states - int(np.count_nonzero(self._expanded[: self.states]))

    @property
    def is_limited(self) -> bool:
        """Whether there is no room for what else can be reached."""
        return self._limited

    def places(self, states: Iterable[State]) -> Any:
        """The places of states of the system, which are added where they are new; `None` where there is no room."""
        base = self._compiled.base
        packed = {pack(self._compiled.program.layout, (*state, *self._rest)) for state in states}
        rows = np.array([words_of(one, base) for one in sorted(packed)], np.uint64).reshape(-1, base)
        found = self._put(rows & ~self._memory.masks)
        self._limited = self._limited or found is None
        return None if found is None else np.unique(found)

    def explore(self, starts: Any, report: Callable[[], bool] = lambda: True) -> int:
        """Expands what can be reached from some places, those first that cost fewer faults, until everything is
        expanded, a violation of each property is found, or there is no room. Returns the least cost of what may not be
        expanded: `FAR` where everything is."""
        before = np.zeros(self._states_max, bool)
        level, cost = np.unique(starts), 0
        while len(level):
            reached, closed = self._closed(level, report)
            if not closed:
                return cost
            before[reached] = True
            if self._marks[:, before[: self._marks.shape[1]].nonzero()[0]].any(axis=1).all():
                return cost + 1
            sources, targets, kinds = self._all_edges()
            within = np.zeros(self.states, bool)
            within[reached] = True
            level = np.unique(targets[(kinds == FAULT) & within[sources]])
            level, cost = level[~before[level]], cost + 1
        return FAR

    def distance(self, name: str, starts: Any, report: Callable[[], bool] = lambda: True) -> Distance:
        """How far some places are from breaking a property. Cost: that of a look-up where everything that they lead to
        is expanded."""
        number = self._numbers[name]
        open_cost = self.explore(starts, report)
        costs = self._costs(number)[starts]
        fewest, most = int(costs.min()), int(costs.max())
        broken = bool(self._marks[number, starts].any())
        near = np.where(costs < FAR, costs, -1)
        faults = self._faults(number, int(starts[int(near.argmax())])) if fewest < FAR else ()
        return Distance(_found(fewest), _found(most), faults, broken, fewest <= open_cost)

    def is_inevitable(self, name: str, starts: Any, report: Callable[[], bool] = lambda: True) -> bool | None:
        """Whether each run from each of some places breaks the property that has no further fault or repair, and in
        which no step that is possible again and again is postponed for ever. `None` if not all could be looked at."""
        number = self._numbers[name]
        violating = self._marks[number]
        reached, closed = self._closed(np.unique(starts), report, stop_at=number)
        if not closed or self._limited:
            return None
        count = self.states
        sources, targets, kinds = self._all_edges()
        plain = (kinds == PLAIN) & ~violating[sources]
        sources, targets = sources[plain], targets[plain]
        can_break = _before(sources, targets, violating[:count].copy())
        spared = np.zeros(count, bool)
        spared[reached] = True
        escapes = _before(sources, targets, spared & ~can_break)
        return not bool(escapes[starts].any())

    def action_of(self, fault: tuple[int, tuple[Any, ...]]) -> str:
        """The name of a fault's action."""
        return self._system.actions[fault[0]].name

    # ---- the graph ----

    def _closed(self, level: Any, report: Callable[[], bool], stop_at: int | None = None) -> tuple[Any, bool]:
        """What some places lead to without a fault, themselves included, all of it expanded; and whether it could be.
        `stop_at`: not beyond what breaks this property, and without repairs."""
        within = np.zeros(self._states_max, bool)
        within[level] = True
        front = np.unique(level)
        while len(front):
            if stop_at is not None:
                front = front[~self._marks[stop_at, front]]
            if not self._expand(front[~self._expanded[front]], report):
                return np.flatnonzero(within), False
            after = self._successors(front, repairs=stop_at is None)
            front = after[~within[after]]
            within[front] = True
        return np.flatnonzero(within), True

    def _successors(self, front: Any, *, repairs: bool) -> Any:
        sources, targets, kinds = self._all_edges()
        mine = np.zeros(self.states, bool)
        mine[front] = True
        free = kinds != FAULT if repairs else kinds == PLAIN
        return np.unique(targets[mine[sources] & free])

    def _expand(self, front: Any, report: Callable[[], bool]) -> bool:
        """Expands places. False if there is no room, or it is to stop."""
        if self._limited and len(front):
            return False
        for start in range(0, len(front), PORTION):
            some = front[start : start + PORTION]
            for sources, instances, after in self._memory.steps(self._rows[some], self._window):
                if not len(sources):
                    continue
                targets = self._put(after & ~self._memory.masks)
                if targets is None:
                    self._limited = True
                    return False
                self._edges.append((some[sources.astype(np.int64)], targets, instances.astype(np.int64)))
            self._expanded[some] = True
            self._joined, self._distances = None, {}
            if not report():
                return False
        return True

    def _put(self, rows: Any) -> Any:
        """The places of rows; `None` where there is no room for a new one."""
        keys = row_keys(rows)
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        if not (rows == rows[first[inverse]]).all():  # two rows of one number: hardly ever
            rows_seen, inverse = np.unique(rows, axis=0, return_inverse=True)
        else:
            rows_seen = rows[first]
        places = np.zeros(len(rows_seen), np.int64)
        fresh: list[int] = []
        for number, row in enumerate(rows_seen):
            key = row.tobytes()
            at = self._known.get(key)
            if at is None:
                if self.states >= self._states_max:
                    return None
                at = self._known[key] = self.states
                fresh.append(number)
            places[number] = at
        if fresh:
            self._keep(rows_seen[fresh], places[fresh])
        return places[inverse.reshape(-1)]

    def _keep(self, rows: Any, places: Any) -> None:
        while len(self._rows) < self.states:
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            self._marks = np.concatenate([self._marks, np.zeros_like(self._marks)], axis=1)
            self._expanded = np.concatenate([self._expanded, np.zeros_like(self._expanded)])
        self._rows[places] = rows
        for start in range(0, len(rows), CAPACITY):
            self._memory.hold(rows[start : start + CAPACITY])
            for number in range(len(self._marks)):
                self._marks[number, places[start : start + CAPACITY]] = self._memory.violating(number)

    def _all_edges(self) -> tuple[Any, Any, Any]:
        """Sources, targets, and the kind of each step."""
        if self._joined is None:
            if len(self._edges) > 1:
                parts = zip(*self._edges, strict=True)
                self._edges = [tuple(np.concatenate(part) for part in parts)]  # type: ignore[list-item]
            empty = np.zeros(0, np.int64)
            sources, targets, instances = self._edges[0] if self._edges else (empty, empty, empty)
            self._joined = sources, targets, self._kinds[instances]
        return self._joined

    # ---- paths ----

    def _costs(self, number: int) -> Any:
        """By place, the faults to the nearest violation that is known."""
        if number not in self._distances:
            sources, targets, kinds = self._all_edges()
            count = self.states
            costs = np.full(count, FAR, np.int64)
            reached = self._marks[number, :count].copy()
            faults = kinds == FAULT
            level = 0
            while True:
                closed = _before(sources[~faults], targets[~faults], reached)
                costs[closed & (costs == FAR)] = level
                more = np.zeros(count, bool)
                more[sources[faults & closed[targets]]] = True
                if not (more & ~closed).any():
                    break
                reached, level = closed | more, level + 1
            self._distances[number] = costs
        return self._distances[number]

    def _faults(self, number: int, place: int) -> tuple[tuple[int, tuple[Any, ...]], ...]:
        """The faults on a cheapest path from a place: breadth first within each cost."""
        self._all_edges()
        costs = self._costs(number)
        sources, targets, instances = self._edges[0] if self._edges else (np.zeros(0, np.int64),) * 3
        order = np.argsort(sources, kind="stable")
        sources, targets, instances = sources[order], targets[order], instances[order]
        found: list[tuple[int, tuple[Any, ...]]] = []
        before: dict[int, int] = {place: -1}
        waiting = [place]
        for at in waiting:
            if costs[at] == 0:
                break
            start, end = np.searchsorted(sources, [at, at + 1])
            for edge in range(int(start), int(end)):
                target, is_fault = int(targets[edge]), self._kinds[instances[edge]] == FAULT
                if is_fault and costs[target] == costs[at] - 1:
                    found.append(self._compiled.program.instances[int(instances[edge])])
                    before, waiting[:] = {target: edge}, [at, target]
                    break
                if not is_fault and costs[target] == costs[at] and target not in before:
                    before[target] = edge
                    waiting.append(target)
        return tuple(found)


def _before(sources: Any, targets: Any, good: Any) -> Any:
    """The places from which a good one is reached by steps."""
    good = good.copy()
    while True:
        more = sources[good[targets] & ~good[sources]]
        if not len(more):
            return good
        good[more] = True


def _found(cost: int) -> int | None:
    return None if cost >= FAR else cost
