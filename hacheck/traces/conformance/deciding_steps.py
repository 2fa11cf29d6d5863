"""On which step it depends whether a property was broken: the two nearest runs that explain a whole log, of which one
breaks it and the other does not.

They are the same up to a state from which both are possible. From there one takes a step after which every explanation
breaks the property, the other one goes on without. Mostly one of the two differs by a step that writes no line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct

from hacheck.model.types import Node
from hacheck.traces.conformance.hindsight import Hindsight
from hacheck.traces.conformance.interleavings import Cut

STATES_MAX = 200_000
"""After so many states that were looked at, it is given up."""

At: TypeAlias = tuple[Cut, int]
"""A state that explains the log up to a cut, by its number there."""


class StepTaken(Struct, frozen=True):
    """A step of a run: the instance of an action, and from which cut to which; of one that writes no line, both are
    the same."""

    instance: int
    before: Cut
    after: Cut

    @property
    def is_hidden(self) -> bool:
        """Whether no line shows it."""
        return self.before == self.after


class Deciding(Struct, frozen=True):
    """What the two runs do after the last state that they share, up to the next record that they take. `cut`: how far
    the log is explained there."""

    cut: Cut
    breaking: tuple[StepTaken, ...]
    sparing: tuple[StepTaken, ...]

    @property
    def hidden(self) -> tuple[StepTaken, bool] | None:
        """The step without a line that decides, and whether the run that breaks the property takes it."""
        first = next((one for one in self.breaking if one.is_hidden), None)
        if first is not None:
            return first, True
        second = next((one for one in self.sparing if one.is_hidden), None)
        return None if second is None else (second, False)


class _Edge(Struct, frozen=True):
    source: At
    target: At
    instance: int

    @property
    def step(self) -> StepTaken:
        return StepTaken(self.instance, self.source[0], self.target[0])


class DecidingSteps:
    """Looks for them among the states that `found` has looked back on. `spared`: from which states of a cut the log is
    explained without the property being broken."""

    def __init__(self, found: Hindsight, number: int) -> None:
        self.found, self.spared = found, found.spared[number]
        self.looked_at = 0

    def first(self) -> Deciding | None:
        """The first place at which the runs part; `None` where it was not found among so many states."""
        found = self.found
        start, first = found.start()
        reached: dict[Cut, set[int]] = {start: {int(one) for one in first if self.spared[start][one]}}
        for cut in sorted(found.search.kept, key=lambda one: (sum(one), one)):
            mine = reached.pop(cut, set())
            if not mine:
                continue
            edges = self._closed(cut, mine)
            if edges is None:
                return None
            parting = [edge for edge in edges if not self._is_spared(edge.target)]
            if parting:
                return self._nearest(parting, edges)
            for edge in edges:
                reached.setdefault(edge.target[0], set()).add(edge.target[1])
        return None

    def _is_spared(self, at: At) -> bool:
        return bool(self.spared[at[0]][at[1]])

    def _closed(self, cut: Cut, states: set[int]) -> list[_Edge] | None:
        """The steps from some states of a cut and from those to which hidden steps lead that spare the property; `None`
        where these are too many."""
        edges: list[_Edge] = []
        waiting = np.array(sorted(states))
        while len(waiting):
            self.looked_at += len(waiting)
            if self.looked_at > STATES_MAX:
                return None
            more: set[int] = set()
            for edge in self._edges(cut, waiting):
                edges.append(edge)
                if edge.target[0] == cut and self._is_spared(edge.target) and edge.target[1] not in states:
                    states.add(edge.target[1])
                    more.add(edge.target[1])
            waiting = np.array(sorted(more))
        return edges

    def _edges(self, cut: Cut, states: Any) -> Iterator[_Edge]:
        """The steps from some states to those that lead to the end of the log."""
        if cut == self.found.streams.lengths:
            return
        for sources, instances, to, targets in self.found.steps_from(cut, states):
            alive = self.found.alive[to][targets]
            for source, instance, target in zip(
                states[sources[alive]].tolist(), instances[alive].tolist(), targets[alive].tolist(), strict=True
            ):
                yield _Edge((cut, source), (to, target), instance)

    def _nearest(self, parting: list[_Edge], edges: list[_Edge]) -> Deciding | None:
        """Of all places where runs part at a cut the one that is left by the fewest steps to the same record."""
        sparing: dict[At, list[_Edge]] = {}
        for edge in edges:
            if self._is_spared(edge.target):
                sparing.setdefault(edge.source, []).append(edge)
        best: Deciding | None = None
        for edge in parting:
            path = self._path(edge, sparing)
            if path is not None and (best is None or len(path) < len(best.sparing)):
                best = Deciding(edge.source[0], (edge.step,), tuple(one.step for one in path))
        return best

    def _path(self, parting: _Edge, sparing: dict[At, list[_Edge]]) -> list[_Edge] | None:
        """The fewest steps that spare the property from where runs part, up to a record: the one that the step takes
        after which it is broken, where it takes one."""
        cut = parting.source[0]
        known, paths = {parting.source}, [list[_Edge]()]
        other: list[_Edge] | None = None
        while paths:
            longer = []
            for path in paths:
                for edge in sparing.get(path[-1].target if path else parting.source, ()):
                    if edge.target[0] == cut and edge.target not in known:
                        known.add(edge.target)
                        longer.append([*path, edge])
                    elif edge.target[0] == parting.target[0]:
                        return [*path, edge]
                    elif edge.target[0] != cut and other is None:
                        other = [*path, edge]
            paths = longer
        return other


def step_words(found: Hindsight, step: StepTaken) -> str:
    """A step by its action and the node that takes it: `crash LB 1`, `take at LB 2`."""
    compiled = found.search.compiled
    index, arguments = compiled.program.instances[step.instance]
    action = compiled.shape.system.actions[index]
    given = zip(action.parameters, arguments, strict=True)
    nodes = [(kind.name, value) for (_, kind), value in given if isinstance(kind, Node)]
    if not nodes:
        return action.name
    kind, number = nodes[0]
    if action.name.endswith(f" {kind}"):
        return f"{action.name} {number}"
    return f"{action.name} at {kind} {number}"
