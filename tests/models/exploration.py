"""Plain breadth-first search with the reference interpreter: the oracle that engines are compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from hacheck.model.interpreter import EvaluationError, Failed, Interpreter, StoppedAtBound, Taken
from hacheck.model.ir import System
from hacheck.model.runs import State


@dataclass(frozen=True)
class Explored:
    """What an exploration found.

    `depth`: steps to the farthest state. `terminal`: states without a successor. `cuts`: cut steps by bound.
    `action_counts`: steps taken by action. `fault_depth`: steps before the first step, initial state or
    property that is an error of the spec; exploration goes on past it. `decided`: by property name the depth
    at which it is first violated (invariants, deadlocks: of the state; step invariants: of the state the step
    leads to) or, for `reachable`, first reached; properties of infinite runs are not decided here.
    `complete`: whether `states_max` was not met.
    """

    states: int
    transitions: int
    depth: int
    terminal: int
    cuts: dict[str, int]
    action_counts: tuple[int, ...]
    fault_depth: int | None
    decided: dict[str, int]
    complete: bool
    reached: tuple[State, ...]


def explore(system: System, states_max: int = 5_000) -> Explored:
    """Every state reachable, level by level, up to `states_max` states. Cost: slow, some thousand steps a
    second.
    """
    return _Search(system, states_max).run()


class _Search:
    def __init__(self, system: System, states_max: int) -> None:
        self.system = system
        self.interpreter = Interpreter(system)
        self.states_max = states_max
        self.reached: dict[State, int] = {}
        self.cuts: Counter[str] = Counter()
        self.counts = [0] * len(system.actions)
        self.decided: dict[str, int] = {}
        self.fault_depth: int | None = None
        self.terminal = 0
        self.complete = True

    def run(self) -> Explored:
        try:
            level = list(self.interpreter.initial_states())
        except EvaluationError:
            level = []
            self.fault_depth = 0
        depth = 0
        for state in level:
            self.found(state, 0)
        while level:
            following: list[State] = []
            for state in level:
                self.expand(state, depth, following)
            depth += bool(following)
            level = following
        return Explored(
            len(self.reached),
            sum(self.counts),
            depth,
            self.terminal,
            dict(self.cuts),
            tuple(self.counts),
            self.fault_depth,
            self.decided,
            self.complete,
            tuple(self.reached),
        )

    def found(self, state: State, depth: int) -> None:
        self.reached[state] = depth
        for asked in self.system.properties:
            if asked.kind in ("invariant", "lemma", "reachable", "deadlock"):
                sought = asked.kind == "reachable"
                self.ask(asked.name, depth, partial(self.interpreter.holds, asked, state), sought)

    def ask(self, name: str, depth: int, holds: Callable[[], bool], sought: bool) -> None:
        try:
            if holds() == sought:
                self.decided.setdefault(name, depth)
        except EvaluationError:
            self.fault(depth)

    def fault(self, depth: int) -> None:
        # An error in a step's property is as late as the step's end, one in a step as early as its beginning.
        self.fault_depth = depth if self.fault_depth is None else min(self.fault_depth, depth)

    def expand(self, state: State, depth: int, following: list[State]) -> None:
        successors = 0
        for outcome in self.interpreter.outcomes(state):
            match outcome:
                case Taken(step):
                    successors += 1
                    self.counts[step.action] += 1
                    self.stepped(state, step.state, depth + 1)
                    if step.state not in self.reached:
                        if len(self.reached) >= self.states_max:
                            self.complete = False
                            continue
                        self.found(step.state, depth + 1)
                        following.append(step.state)
                case StoppedAtBound():
                    self.cuts[outcome.bound] += 1
                case Failed():
                    self.fault(depth)
        self.terminal += successors == 0

    def stepped(self, before: State, after: State, depth: int) -> None:
        for asked in self.system.properties:
            if asked.kind == "step":
                holds = partial(self.interpreter.holds_step, asked, before, after)
                self.ask(asked.name, depth, holds, False)
