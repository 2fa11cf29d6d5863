"""The nearest good run: the run most like a counterexample in which its property holds.

It shares as many first steps as can be, then differs in as few as can be, and ends comparably: where a state or a step
violates the property, with the same last step, after which no step that is possible (faults aside) violates it at once;
where an infinite run does, in a state in which the goal holds that never came true.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator
from itertools import count
from typing import Literal, TypeAlias

from msgspec import Struct

from hacheck.checker.described_run import call_of, node_of
from hacheck.checker.engine import Progress, Report
from hacheck.model.counters.value_distances import unbounded
from hacheck.model.evaluation import EvaluationError
from hacheck.model.interpreter import Interpreter, Taken
from hacheck.model.ir import Property, System
from hacheck.model.runs import Run, State, Step
from hacheck.supervise.resources import process_bytes

Mark: TypeAlias = Literal["same", "added", "left out"]

DIFFERENCES_MAX = 4
"""A good run differs in at most so many steps, those left out and those added."""

EXPANDED_MAX = 3_000
"""The steps of at most so many states are computed, and `_EACH_MAX` for each length of the shared part."""

_EACH_MAX = 150

SECONDS_MAX = 10.0
"""So long a good run is looked for."""


class Difference(Struct, frozen=True):
    """A step of the good run, or one that it leaves out. `number`: in the counterexample, if it is there; `place`: in
    the good run, if it is there; `words`: what happens."""

    mark: Mark
    number: int | None
    place: int | None
    words: str


class GoodRun(Struct, frozen=True):
    """A run in which the property holds. `shared`: so many first steps are those of the counterexample; `differences`:
    the steps after them, those of the counterexample that are left out among them."""

    run: Run
    shared: int
    differences: tuple[Difference, ...]


def nearest_good_run(system: System, run: Run, prop: Property, report: Report) -> GoodRun | None:
    """The nearest good run; `None` where none is found with few differences. Cost: the outcomes of up to
    `EXPANDED_MAX` states by the interpreter."""
    search = _Search(unbounded(system), run, prop, report)
    return search.to_goal() if run.loop is not None else search.to_same_end()


class _Node(Struct, frozen=True):
    """A run under way. `position`: how many steps of the counterexample are done with; `marks`: what became of each."""

    state: State
    position: int
    steps: tuple[Step, ...]
    marks: tuple[tuple[Mark, int | None], ...]


class _Search:
    def __init__(self, system: System, run: Run, prop: Property, report: Report) -> None:
        self.system, self.run, self.prop, self.report = system, run, prop, report
        self.interpreter = Interpreter(system)
        self.started = time.perf_counter()
        self.expanded = 0
        self._outcomes: dict[State, list[Step]] = {}

    # ---- violations of a state or a step ----

    def to_same_end(self) -> GoodRun | None:
        """A run that ends with the same step as the counterexample, and does not violate the property."""
        for shared in range(len(self.run.steps) - 1, -1, -1):
            found = self.differing_after(shared)
            if found is not None:
                return self.good_run(shared, found)
            if self.is_over():
                return None
        return None

    def differing_after(self, shared: int) -> _Node | None:
        """The good run with the fewest differences that leaves the counterexample after so many steps."""
        order = count()
        start = _Node(self.run.states[shared], shared, (), ())
        heap: list[tuple[int, int, int, _Node]] = [(0, 0, next(order), start)]
        seen: set[tuple[State, int]] = set()
        until = self.expanded + _EACH_MAX
        while heap and not self.is_over():
            cost, _, _, node = heapq.heappop(heap)
            if node.steps[:1] != self.run.steps[shared : shared + 1] and self.is_good_end(node):
                return node
            if (node.state, node.position) in seen or node.position == len(self.run.steps):
                continue
            seen.add((node.state, node.position))
            for more, after in self.moves(node, cost < DIFFERENCES_MAX and self.expanded < until):
                if cost + more <= DIFFERENCES_MAX and (node.marks or more):
                    heapq.heappush(heap, (cost + more, len(after.marks), next(order), after))
        return None

    def moves(self, node: _Node, differs: bool) -> Iterator[tuple[int, _Node]]:
        """What may come next, with what it costs: the next step of the counterexample, that step left out, or a step
        that is added."""
        wanted = self.run.steps[node.position]
        number = node.position + 1
        for outcome in self.interpreter.outcomes_with(wanted.action, wanted.arguments, node.state):
            if isinstance(outcome, Taken) and self.is_good(node.state, outcome.step.state):
                same = outcome.step.choices == wanted.choices
                mark: Mark = "same" if same else "added"
                marks = (*node.marks, (mark, number))
                yield int(not same), _Node(outcome.step.state, number, (*node.steps, outcome.step), marks)
        if not differs:
            return
        if number < len(self.run.steps):
            yield 1, _Node(node.state, number, node.steps, (*node.marks, ("left out", number)))
        for step in self.steps_from(node.state):
            if step.action == wanted.action and step.arguments == wanted.arguments:
                continue
            if self.is_good(node.state, step.state):
                yield 1, _Node(step.state, node.position, (*node.steps, step), (*node.marks, ("added", None)))

    def is_good_end(self, node: _Node) -> bool:
        """Whether a run ends as the counterexample does, and nothing that is possible there breaks the property."""
        if node.position < len(self.run.steps):
            return False
        return all(self.is_good(node.state, step.state) for step in self.steps_from(node.state))

    def is_good(self, before: State, after: State) -> bool:
        """Whether the property holds of a step, or in the state after it."""
        try:
            if self.prop.kind == "step":
                return self.interpreter.holds_step(self.prop, before, after)
            return self.interpreter.holds(self.prop, after)
        except EvaluationError:
            return False

    # ---- infinite runs ----

    def to_goal(self) -> GoodRun | None:
        """A run to where the goal holds: from as late a state as can be, by as few steps as can be."""
        first = self.waiting_since()
        for shared in range(len(self.run.steps), first - 1, -1):
            found = self.shortest_to_goal(shared)
            if found is not None:
                return self.good_run(shared, found)
            if self.is_over():
                return None
        return None

    def waiting_since(self) -> int:
        """The number of the state since which the goal is waited for."""
        if self.prop.kind != "leads_to":
            return 0
        first: int | None = None
        for number, state in enumerate(self.run.states):
            try:
                if self.interpreter.holds(self.prop, state):
                    first = None
                elif first is None and self.interpreter.premise_holds(self.prop, state):
                    first = number
            except EvaluationError:
                return 0
        return first or 0

    def shortest_to_goal(self, shared: int) -> _Node | None:
        """The fewest steps from a state of the counterexample to one in which the goal holds."""
        level = [_Node(self.run.states[shared], shared, (), ())]
        seen = {level[0].state}
        until = self.expanded + _EACH_MAX
        while level and self.expanded < until and not self.is_over():
            following: list[_Node] = []
            for node in level:
                for step in self.steps_from(node.state):
                    if step.state in seen:
                        continue
                    seen.add(step.state)
                    after = _Node(step.state, shared, (*node.steps, step), (*node.marks, ("added", None)))
                    if self.is_good(node.state, step.state):
                        return after
                    following.append(after)
            level = following
        return None

    # ---- what both need ----

    def steps_from(self, state: State) -> list[Step]:
        """The steps from a state that are no faults and change something; none where an error of the spec is one."""
        found = self._outcomes.get(state)
        if found is None:
            self.expanded += 1
            outcomes = self.interpreter.outcomes(state)
            steps = (one.step for one in outcomes if isinstance(one, Taken))
            actions = self.system.actions
            found = [step for step in steps if actions[step.action].kind != "fault" and step.state != state]
            self._outcomes[state] = found
        return found

    def is_over(self) -> bool:
        """Whether a limit is reached, or the report says to stop."""
        seconds = time.perf_counter() - self.started
        seen = Progress(self.expanded, 0, 0, 0, seconds, process_bytes(), "looking for a good run")
        return self.expanded >= EXPANDED_MAX or seconds > SECONDS_MAX or not self.report(seen)

    def good_run(self, shared: int, node: _Node) -> GoodRun:
        """The run with its differences in words."""
        steps = (*self.run.steps[:shared], *node.steps)
        states = self.run.states
        listed: list[Difference] = []
        place, before = shared, states[shared]
        for mark, number in node.marks:
            if mark == "left out":
                assert number is not None, "what is left out is a step of the counterexample"
                step = self.run.steps[number - 1]
                listed.append(Difference(mark, number, None, self.words(states[number - 1], step)))
                continue
            step = steps[place]
            place += 1
            listed.append(Difference(mark, number, place, self.words(before, step)))
            before = step.state
        return GoodRun(Run(self.run.initial, steps), shared, tuple(listed))

    def words(self, before: State, step: Step) -> str:
        """A step: `update.replicate at Replica 3`."""
        node = node_of(self.system.actions[step.action], step.arguments)
        return call_of(self.system, before, step) + (f" at {node}" if node else "")
