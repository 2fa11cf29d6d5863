"""The reference interpreter: what a system does, written to be obviously right, not fast.

Everything else that runs a system is an optimisation of this and is tested against it.

Expressions are defined in `evaluation.py`, statements in `execution.py`, what may be stored in `storing.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from hacheck.model.counters.value_distances import unbounded
from hacheck.model.evaluation import BoundReached, EvaluationError, Scope, StartError, evaluate
from hacheck.model.execution import Continuation, Going, Line, execute
from hacheck.model.ir import TRUE, Action, Expression, Property, Require, System
from hacheck.model.render import show
from hacheck.model.runs import Run, State, Step, StepError
from hacheck.model.types import Type, Value, values
from hacheck.model.value_storage import refuse, type_violation

__all__ = [
    "BoundReached",
    "EvaluationError",
    "Failed",
    "Interpreter",
    "Outcome",
    "StoppedAtBound",
    "Taken",
    "call",
    "instances",
    "replay",
]


class Taken(Struct, frozen=True):
    """A step that is possible, and the state it leads to."""

    step: Step


class StoppedAtBound(Struct, frozen=True):
    """A step not taken because it would pass the bound of the exploration called `bound`.

    `choices`: those made before the bound was met.
    """

    action: int
    arguments: tuple[Value, ...]
    choices: tuple[Value, ...]
    bound: str


class Failed(Struct, frozen=True):
    """A step that is an error of the spec."""

    error: StepError


Outcome: TypeAlias = Taken | StoppedAtBound | Failed


class Interpreter:
    """Runs one system. It keeps no state of its own: every method is a function of its arguments."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.variables: Mapping[str, tuple[int, Type]] = {
            variable.name: (place, variable.type) for place, variable in enumerate(system.variables)
        }

    # ---- expressions and properties ----

    def value(
        self,
        expression: Expression,
        state: State,
        before: State | None = None,
        locals: Mapping[str, Value] | None = None,
    ) -> Value:
        """The value of an expression without `Fresh`.

        Errors: `EvaluationError` where it has none.
        """
        return evaluate(expression, Scope(self.variables, state, before, locals or {}))

    def holds(self, prop: Property, state: State) -> bool:
        """Whether the property's goal holds in a state; of a deadlock property, whether the state is no bad
        end.

        For `step` properties use `holds_step`. Errors: `EvaluationError`.
        """
        assert prop.kind != "step", f"{prop.name} is about steps"
        if prop.kind == "deadlock" and not self.deadlocked(state):
            return True
        return bool(self.value(prop.goal, state))

    def holds_step(self, prop: Property, before: State, after: State) -> bool:
        """Whether a step invariant holds of the step between two states. Errors: `EvaluationError`."""
        return bool(self.value(prop.goal, after, before))

    def premise_holds(self, prop: Property, state: State) -> bool:
        """Whether the premise of a `leads_to` property holds in a state. Errors: `EvaluationError`."""
        return bool(self.value(prop.premise if prop.premise is not None else TRUE, state))

    def deadlocked(self, state: State) -> bool:
        """Whether nothing but faults can change anything here. A step that meets a bound, or an error of the spec,
        is something that happens: the system itself would go on. A step that changes nothing (a lock tried in vain)
        is nothing."""
        return not any(
            action.kind != "fault" and any(_changes(outcome, state) for outcome in self.outcomes_of(index, state))
            for index, action in enumerate(self.system.actions)
        )

    # ---- states and steps ----

    def initial_states(self) -> tuple[State, ...]:
        """The distinct initial states, in the order of the choices that lead to them.

        What meets a bound in `System.initial` is no initial state. Errors: `StartError` when an initial
        value or statement is an error of the spec.
        """
        start = tuple(variable.initial for variable in self.system.variables)
        for variable in self.system.variables:
            found = type_violation(variable.type, variable.initial)
            if found is not None:
                raise StartError(f"at the start: {refuse(variable.name, variable.type, (), found)}")
        distinct: dict[State, None] = {}
        for end in execute(self.system.initial, Going(Scope(self.variables, start, start), ())):
            if isinstance(end, Going):
                distinct[end.scope.state] = None
            elif end.bound is None:
                raise StartError(f"at the start: {end.message}")
        return tuple(distinct)

    def why_no_start(self) -> str:
        """Where there is no initial state: what becomes of every way through `System.initial`."""
        start = tuple(variable.initial for variable in self.system.variables)
        ends = execute(self.system.initial, Going(Scope(self.variables, start, start), ()))
        bounds = sorted({end.bound for end in ends if not isinstance(end, Going) and end.bound is not None})
        what = f"goes beyond a bound ({', '.join(bounds)})" if bounds else "has nothing to choose from"
        return f"there is no initial state: `initially` {what}"

    def outcomes(self, state: State) -> Iterator[Outcome]:
        """Everything that can happen in a state: by action, then arguments, then choices, each in order.

        An instance whose guard or `Require` does not hold, or with nothing to choose from, has no outcome.
        Steps that lead to the same state are separate outcomes.
        """
        for index in range(len(self.system.actions)):
            yield from self.outcomes_of(index, state)

    def outcomes_of(self, action: int, state: State) -> Iterator[Outcome]:
        """The outcomes of one action."""
        for arguments in instances(self.system.actions[action]):
            yield from self.outcomes_with(action, arguments, state)

    def outcomes_with(self, action: int, arguments: tuple[Value, ...], state: State) -> Iterator[Outcome]:
        """The outcomes of one action with given arguments."""
        for end in self._ends(action, arguments, state):
            if isinstance(end, Going):
                yield Taken(Step(action, arguments, end.choices, end.scope.state))
            elif end.bound is not None:
                yield StoppedAtBound(action, arguments, end.choices, end.bound)
            else:
                yield Failed(StepError(action, arguments, end.choices, end.message))

    def steps_with_lines(self, state: State) -> Iterator[tuple[Step, tuple[Line, ...]]]:
        """Every step that is possible in a state, with the lines that it writes."""
        for index, action in enumerate(self.system.actions):
            for arguments in instances(action):
                yield from self.steps_of(index, arguments, state)

    def steps_of(
        self, action: int, arguments: tuple[Value, ...], state: State
    ) -> Iterator[tuple[Step, tuple[Line, ...]]]:
        """The same of one action with given arguments."""
        for end in self._ends(action, arguments, state):
            if isinstance(end, Going):
                yield Step(action, arguments, end.choices, end.scope.state), end.lines

    def _ends(self, action: int, arguments: tuple[Value, ...], state: State) -> list[Continuation]:
        taken = self.system.actions[action]
        scope = Scope(self.variables, state, state)
        for (name, kind), argument in zip(taken.parameters, arguments, strict=True):
            scope = scope.bind(name, kind, argument)
        return execute((Require(taken.guard), *taken.body), Going(scope, ()))


def _changes(outcome: Outcome, state: State) -> bool:
    return not isinstance(outcome, Taken) or outcome.step.state != state


def instances(action: Action) -> Iterator[tuple[Value, ...]]:
    """The arguments an action can have, each combination of values of its parameters' types, in order."""
    return itertools.product(*(tuple(values(kind)) for _, kind in action.parameters))


# ---- replaying ----


def replay(system: System, run: Run) -> str | None:
    """`None` if the interpreter can do the whole run, else a sentence that says where it cannot.

    It must start in an initial state; each step must be an outcome in its state, with the same arguments,
    choices and next state; a loop must close; the step of a fault must be an error there (its message is not
    compared). A loop of no steps is a run that stays in its last state for ever. Counters without an end pass their
    bound in it. Cost: the initial states and the outcomes of one action instance for each step.
    """
    return replayed_by(Interpreter(unbounded(system)), run)


def replayed_by(interpreter: Interpreter, run: Run) -> str | None:
    """The same, where there are several runs to replay: by an interpreter of the unbounded system."""
    if run.initial not in interpreter.initial_states():
        return "The run does not start in an initial state."
    state = run.initial
    for number, step in enumerate(run.steps, start=1):
        problem = _mismatch(interpreter, state, step)
        if problem is not None:
            return f"Step {number}, {problem}"
        state = step.state
    if run.loop is not None:
        if not 0 <= run.loop <= len(run.steps):
            return f"The loop starts after step {run.loop}, but the run has {len(run.steps)} steps."
        if run.states[run.loop] != state:
            return f"The loop does not close: the last state is not the one after step {run.loop}."
    return None if run.error is None else _unconfirmed(interpreter, state, run.error)


def _mismatch(interpreter: Interpreter, state: State, step: Step) -> str | None:
    if not _exists(interpreter.system, step.action, step.arguments):
        return "is not an instance of an action of this system."
    outcomes = list(interpreter.outcomes_with(step.action, step.arguments, state))
    if Taken(step) in outcomes:
        return None
    name = call(interpreter.system, step.action, step.arguments)
    choices = f" with choices {step.choices}" if step.choices else ""
    if any(isinstance(outcome, Taken) and outcome.step.choices == step.choices for outcome in outcomes):
        return f"{name}{choices}, leads to another state."
    return f"{name}{choices}, is not possible there."


def _unconfirmed(interpreter: Interpreter, state: State, error: StepError) -> str | None:
    if not _exists(interpreter.system, error.action, error.arguments):
        return "The step with the error is not an instance of an action of this system."
    for outcome in interpreter.outcomes_with(error.action, error.arguments, state):
        if isinstance(outcome, Failed) and outcome.error.choices == error.choices:
            return None
    name = call(interpreter.system, error.action, error.arguments)
    return f"{name} is not an error of the spec in the last state."


def _exists(system: System, action: int, arguments: tuple[Value, ...]) -> bool:
    return 0 <= action < len(system.actions) and arguments in instances(system.actions[action])


def call(system: System, action: int, arguments: tuple[Value, ...]) -> str:
    """An action with its arguments, in words: `vote(n: Replica 1, asks: Replica 2)`."""
    taken = system.actions[action]
    pairs = zip(taken.parameters, arguments, strict=True)
    inside = ", ".join(f"{name}: {show(kind, value)}" for (name, kind), value in pairs)
    return f"{taken.name}({inside})"
