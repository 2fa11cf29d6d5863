"""What a lasso has to be, said by the interpreter alone: of a run whether it is one, of a system how long the shortest
is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from hacheck.model.interpreter import Interpreter, StoppedAtBound, Taken, instances, replay
from hacheck.model.ir import Fairness, Property, System
from hacheck.model.runs import Run, State

Instance = tuple[int, tuple[object, ...]]
"""An action and its arguments."""

Constraint = tuple[Fairness, tuple[object, ...]]
"""What is fair, and to whom: the actor and the arguments that are distinguished."""

Seen = tuple[State, bool, frozenset[Constraint], frozenset[Constraint]]
"""Of a run that has entered its loop: where it is, whether it waits for the goal, which constraints it has been fair to
since (taken, or found disabled if weak), and which of the others it has found enabled."""


def constraints_of(system: System, asked: Property, found: Iterable[Instance]) -> frozenset[Constraint]:
    """The constraints of a property that some of the instances take."""
    constraints = set()
    for number, arguments in found:
        action = system.actions[number]
        given = dict(zip((name for name, _ in action.parameters), arguments, strict=True))
        for item in asked.fairness:
            if item.handler == action.handler:
                constraints.add((item, (given.get(action.actor or ""), *map(given.get, item.arguments))))
    return frozenset(constraints)


class Steps:
    """What can happen in each state, looked up once."""

    def __init__(self, system: System) -> None:
        self.system, self.interpreter = system, Interpreter(system)
        self._steps: dict[State, list[tuple[Instance, State]]] = {}
        self._enabled: dict[State, frozenset[Instance]] = {}

    def _look(self, state: State) -> None:
        steps, enabled = [], set()
        for outcome in self.interpreter.outcomes(state):
            found = outcome.step if isinstance(outcome, Taken) else outcome
            found = found if isinstance(found, StoppedAtBound) or isinstance(outcome, Taken) else outcome.error  # type: ignore[union-attr]
            instance = found.action, found.arguments  # type: ignore[union-attr]
            enabled.add(instance)
            if isinstance(outcome, Taken):
                steps.append((instance, outcome.step.state))
        self._steps[state], self._enabled[state] = steps, frozenset(enabled)

    def steps(self, state: State) -> list[tuple[Instance, State]]:
        """The steps from a state, with the instance that each takes."""
        if state not in self._steps:
            self._look(state)
        return self._steps[state]

    def enabled(self, state: State) -> frozenset[Instance]:
        """The instances enabled in a state, also those that end in no step."""
        if state not in self._enabled:
            self._look(state)
        return self._enabled[state]

    def constraints(self, asked: Property) -> frozenset[Constraint]:
        """Those to which runs are to be fair."""
        names = {item.handler for item in asked.fairness}
        every = (
            (number, arguments)
            for number, action in enumerate(self.system.actions)
            if action.handler in names
            for arguments in instances(action)
        )
        return constraints_of(self.system, asked, every)

    def waits(self, asked: Property, state: State, before: bool | None) -> bool:
        """Whether a run waits for the goal in a state, where it did so `before` (at the start `None`)."""
        if self.interpreter.value(asked.goal, state):
            return False
        if asked.kind == "eventually":
            return before is None or before
        return bool(before) or self.interpreter.premise_holds(asked, state)


def assert_violates(system: System, asked: Property, run: Run) -> None:
    """The run is a fair lasso on which the property is violated."""
    assert replay(system, run) is None
    assert run.loop is not None
    known, waits = Steps(system), None
    for state in run.states:
        waits = known.waits(asked, state, waits)
    assert waits, "it waits for the goal at its end"
    loop = run.states[run.loop :]
    assert not any(known.interpreter.value(asked.goal, state) for state in loop)
    taken = constraints_of(system, asked, ((step.action, step.arguments) for step in run.steps[run.loop :]))
    able = [constraints_of(system, asked, known.enabled(state)) for state in loop]
    for item, whose in frozenset[Constraint]().union(*able) - taken:
        assert not item.strong, (item, whose)
        assert not all((item, whose) in enabled for enabled in able), (item, whose)


def shortest_lasso(known: Steps, asked: Property, depth: int) -> int | None:
    """The steps of a shortest fair lasso that violates the property, if one has no more than so many. Cost: every run,
    up to what tells runs apart."""
    further = _Further(known, asked)
    starts: set[tuple[State, bool]] = {
        (state, known.waits(asked, state, None)) for state in known.interpreter.initial_states()
    }
    loops: dict[State, set[Seen]] = {}
    for length in range(depth + 1):
        if any(waits and not further.enabled(state) for state, waits in starts):
            return length
        for head, inside in loops.items():
            if any(state == head and waits and not owed for state, waits, _, owed in inside):
                return length
        for state, waits in starts:
            if not known.interpreter.value(asked.goal, state):
                loops.setdefault(state, set()).add((state, waits, frozenset(), frozenset()))
        loops = {head: set(further.of(inside, depth - length)) for head, inside in loops.items()}
        taken = ((after, waits) for state, waits in starts for _, after in known.steps(state))
        starts = {(after, known.waits(asked, after, waits)) for after, waits in taken}
    return None


class _Further:
    """One step further inside loops. (What is enabled at the end is what is at the beginning.)"""

    def __init__(self, known: Steps, asked: Property) -> None:
        self.known, self.asked = known, asked
        every = known.constraints(asked)
        self.weak = frozenset(one for one in every if not one[0].strong)
        self.enabled = cache(lambda state: constraints_of(known.system, asked, known.enabled(state)))
        self._taken = cache(lambda instance: constraints_of(known.system, asked, (instance,)))
        self._unmet = cache(lambda state: not known.interpreter.value(asked.goal, state))
        self._only_by_steps = every.difference(*(self.weak - self.enabled(state) for state in self._seen()))

    def _seen(self) -> set[State]:
        """The states that a loop can see."""
        reached = set(self.known.interpreter.initial_states())
        waiting = list(reached)
        while waiting:
            found = {after for _, after in self.known.steps(waiting.pop())} - reached
            reached |= found
            waiting += found
        return {state for state in reached if self._unmet(state)}

    def of(self, inside: Iterable[Seen], left: int) -> Iterator[Seen]:
        """`left`: the steps that there may be, this one among them."""
        known, asked = self.known, self.asked
        for state, waits, settled, owed in inside:
            on = self.enabled(state)
            for instance, after in known.steps(state):
                if self._unmet(after):
                    now = settled | self.weak - on | self._taken(instance)
                    still = (owed | on) - now
                    if len(still & self._only_by_steps) < left:  # a step takes one
                        yield after, known.waits(asked, after, waits), now, still
