"""What a lasso has to be, said by the interpreter alone: of a run whether it is one, of a system how long the shortest
is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hacheck.model.interpreter import Interpreter, StoppedAtBound, Taken, instances, replay
from hacheck.model.ir import Property, System
from hacheck.model.runs import Run, State

Constraint = tuple[str, object]
"""A handler and its actor."""

Seen = tuple[State, bool, frozenset[Constraint], frozenset[Constraint], frozenset[Constraint]]
"""Of a run that has entered its loop: where it is, whether it waits for the goal, and which constraints it has taken,
found disabled and found enabled since."""


def constraint_of(system: System, action: int, arguments: tuple[object, ...]) -> Constraint:
    """Which constraint an instance takes."""
    taken = system.actions[action]
    names = [name for name, _ in taken.parameters]
    return taken.handler, arguments[names.index(taken.actor)] if taken.actor else None


class Steps:
    """What can happen in each state, looked up once."""

    def __init__(self, system: System) -> None:
        self.system, self.interpreter = system, Interpreter(system)
        self._steps: dict[State, list[tuple[Constraint, State]]] = {}
        self._enabled: dict[State, frozenset[Constraint]] = {}

    def _look(self, state: State) -> None:
        steps, enabled = [], set()
        for outcome in self.interpreter.outcomes(state):
            found = outcome.step if isinstance(outcome, Taken) else outcome
            found = found if isinstance(found, StoppedAtBound) or isinstance(outcome, Taken) else outcome.error  # type: ignore[union-attr]
            constraint = constraint_of(self.system, found.action, found.arguments)  # type: ignore[union-attr]
            enabled.add(constraint)
            if isinstance(outcome, Taken):
                steps.append((constraint, outcome.step.state))
        self._steps[state], self._enabled[state] = steps, frozenset(enabled)

    def steps(self, state: State) -> list[tuple[Constraint, State]]:
        """The steps from a state, with the constraint that each takes."""
        if state not in self._steps:
            self._look(state)
        return self._steps[state]

    def enabled(self, state: State) -> frozenset[Constraint]:
        """The constraints enabled in a state, also by what ends in no step."""
        if state not in self._enabled:
            self._look(state)
        return self._enabled[state]

    def constraints(self, asked: Property) -> frozenset[Constraint]:
        """Those to which runs are to be fair."""
        names = {item.handler for item in asked.fairness}
        return frozenset(
            constraint_of(self.system, number, arguments)
            for number, action in enumerate(self.system.actions)
            if action.handler in names
            for arguments in instances(action)
        )

    def waits(self, asked: Property, state: State, before: bool | None) -> bool:
        """Whether a run waits for the goal in a state, where it did so `before` (at the start `None`)."""
        if self.interpreter.value(asked.goal, state):
            return False
        if asked.kind == "eventually":
            return before is None or before
        return bool(before) or self.interpreter.premise_holds(asked, state)


def is_fair(
    asked: Property, taken: frozenset[Constraint], disabled: frozenset[Constraint], enabled: frozenset[Constraint]
) -> bool:
    """Whether a loop treats everything fairly that it has found enabled."""
    strong = {item.handler for item in asked.fairness if item.strong}
    fair = {item.handler for item in asked.fairness}
    owed = {one for one in enabled - taken if one[0] in fair}
    return not any(one[0] in strong or one not in disabled for one in owed)


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
    taken = frozenset(constraint_of(system, step.action, step.arguments) for step in run.steps[run.loop :])
    enabled = frozenset(one for state in loop for one in known.enabled(state))
    disabled = frozenset(one for one in enabled if any(one not in known.enabled(state) for state in loop))
    assert is_fair(asked, taken, disabled, enabled)


def shortest_lasso(known: Steps, asked: Property, depth: int) -> int | None:
    """The steps of a shortest fair lasso that violates the property, if one has no more than so many. Cost: every run,
    up to what tells runs apart."""
    starts: set[tuple[State, bool]] = {
        (state, known.waits(asked, state, None)) for state in known.interpreter.initial_states()
    }
    loops: dict[State, set[Seen]] = {}
    for length in range(depth + 1):
        for state, waits in starts:
            if waits and is_fair(asked, frozenset(), frozenset(), known.enabled(state)):
                return length
        for head, inside in loops.items():
            for state, waits, taken, disabled, enabled in inside:
                if state == head and waits and is_fair(asked, taken, disabled, enabled):
                    return length
        for state, waits in starts:
            if not known.interpreter.value(asked.goal, state):
                loops.setdefault(state, set()).add((state, waits, frozenset(), frozenset(), frozenset()))
        loops = {head: set(_further(known, asked, inside)) for head, inside in loops.items()}
        taken = ((after, waits) for state, waits in starts for _, after in known.steps(state))
        starts = {(after, known.waits(asked, after, waits)) for after, waits in taken}
    return None


def _further(known: Steps, asked: Property, inside: Iterable[Seen]) -> Iterator[Seen]:
    """One step further inside loops. (What is enabled at the end is what is at the beginning.)"""
    fair = known.constraints(asked)
    for state, waits, taken, disabled, enabled in inside:
        on = known.enabled(state) & fair
        for constraint, after in known.steps(state):
            if not known.interpreter.value(asked.goal, after):
                now = taken | ({constraint} & fair)
                yield after, known.waits(asked, after, waits), now, disabled | fair - on, enabled | on
