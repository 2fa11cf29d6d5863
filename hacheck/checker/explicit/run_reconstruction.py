"""Runs of a model from packed states: each step is one that the interpreter takes, from a state it began in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from hacheck import __version__
from hacheck.checker.explicit.search_result import Occurrence, StatePath, Subject, Unconfirmed
from hacheck.model.initial_states import initial_states
from hacheck.model.interpreter import Failed, Interpreter, Taken
from hacheck.model.runs import Run, State, Step

Leg: TypeAlias = tuple[int, int | None]
"""A packed state that a step leads to, and the step's instance, if that is known."""

_WIDTH = 16
"""How many states are kept at a time that one found state may stand for, where not each of them need do."""


def run_along(subject: Subject, path: StatePath, loop: int | None = None) -> Run:
    """The run along a way. `loop`: after how many steps the part begins that repeats for ever.

    Where states are reduced, the concrete run follows the reduced one; a loop is followed until a concrete state is
    seen again. Cost: the outcomes of one instance for each step whose instance is known (if it leads there), of all of
    them for the others. Errors: `Unconfirmed`, only where what was found need be no run.
    """
    interpreter = Interpreter(subject.system)
    initial = _start(subject, path.states[0])
    instances = (*(None for _ in range(len(path.states) - 1 - len(path.by))), *path.by)
    legs = list(zip(path.states[1:], instances, strict=True))
    before = legs if loop is None else legs[:loop]
    if not subject.exact:
        return _confirmed(subject, interpreter, initial, legs, loop)
    steps = list(_followed(subject, interpreter, initial, before))
    if loop is None:
        return Run(initial, tuple(steps))
    heads = {steps[-1].state if steps else initial: len(steps)}
    while True:
        head = steps[-1].state if steps else initial
        steps += _followed(subject, interpreter, head, legs[loop:])
        head = steps[-1].state if steps else initial
        if head in heads:
            return Run(initial, tuple(steps), heads[head])
        heads[head] = len(steps)


def _confirmed(
    subject: Subject, interpreter: Interpreter, initial: State, legs: Sequence[Leg], loop: int | None
) -> Run:
    """A run along a way that need be none. A found state stands for several: some of them are followed at a time. A
    loop has to close the first time, as values that grow in it grow for ever."""
    found: dict[State, tuple[Step, ...]] = {initial: ()}
    for target, instance in legs:
        following: dict[State, tuple[Step, ...]] = {}
        for state, steps in found.items():
            for step in _steps_to(subject, interpreter, state, target, instance):
                if len(following) < _WIDTH:
                    following.setdefault(step.state, (*steps, step))
        found = following
    for steps in found.values():
        run = Run(initial, steps, loop)
        if loop is None or run.states[loop] == run.states[-1]:
            return run
    raise Unconfirmed


def run_and_step(subject: Subject, path: StatePath, is_wanted: Callable[[State, State], bool]) -> Run:
    """The run along a way and one step more that is wanted, given the states before and after it."""
    run = run_along(subject, path)
    last, interpreter = run.states[-1], Interpreter(subject.system)
    for action, arguments in _likely_first(subject, None):
        for outcome in interpreter.outcomes_with(action, arguments, last):
            if isinstance(outcome, Taken) and is_wanted(last, outcome.step.state):
                return Run(run.initial, (*run.steps, outcome.step))
    raise _no_run(subject, f"no step of the interpreter from {last} is one that was met")


def run_into_error(subject: Subject, path: StatePath) -> Run:
    """The run along a way into a step that is an error of the spec."""
    run = run_along(subject, path)
    last, interpreter = run.states[-1], Interpreter(subject.system)
    for action, arguments in _likely_first(subject, None):
        for outcome in interpreter.outcomes_with(action, arguments, last):
            if isinstance(outcome, Failed):
                return Run(run.initial, run.steps, None, outcome.error)
    raise _no_run(subject, f"the interpreter knows no error of the spec in {last}")


def _start(subject: Subject, wanted: int) -> State:
    for state in initial_states(subject.system):
        if subject.reduce(state) == wanted:
            return state
    raise _no_run(subject, f"no initial state is packed as {wanted:#x}")


def _followed(subject: Subject, interpreter: Interpreter, state: State, legs: Iterable[Leg]) -> Iterator[Step]:
    """The steps from a state through packed ones, each given with its instance if that is known."""
    for target, instance in legs:
        step = _step_to(subject, interpreter, state, target, instance)
        yield step
        state = step.state


def _step_to(subject: Subject, interpreter: Interpreter, state: State, target: int, instance: int | None) -> Step:
    for step in _steps_to(subject, interpreter, state, target, instance):
        return step
    raise _no_run(subject, f"no step of the interpreter leads from {state} to {target:#x}")


def _steps_to(
    subject: Subject, interpreter: Interpreter, state: State, target: int, instance: int | None
) -> list[Step]:
    """The steps of one instance that lead to a packed state; none if no instance has any."""
    for action, arguments in _likely_first(subject, instance):
        outcomes = interpreter.outcomes_with(action, arguments, state)
        steps = [outcome.step for outcome in outcomes if isinstance(outcome, Taken)]
        found = [step for step in steps if subject.reduce(step.state) == target]
        if found:
            return found
    return []


def _likely_first(subject: Subject, instance: int | None) -> Iterator[Occurrence]:
    """The instances, this one first and others of its action next; then, as runs with the fewest faults are shown,
    those that are no fault."""
    actions, likely = subject.system.actions, None
    if instance is not None:
        yield subject.instances[instance]
        likely = subject.instances[instance][0]
        yield from (occurrence for occurrence in subject.instances if occurrence[0] == likely)
    for faults in (False, True):
        for occurrence in subject.instances:
            if occurrence[0] != likely and (actions[occurrence[0]].kind == "fault") == faults:
                yield occurrence


def _no_run(subject: Subject, problem: str) -> Exception:
    """What was found is no run: that may be, or it is a bug of ours."""
    if not subject.exact:
        return Unconfirmed()
    system = subject.system
    settings = " ".join(f"{name}={value}" for name, value in system.settings)
    return AssertionError(
        f"a run that the model does not have (hacheck {__version__}, {system.name} {settings}): {problem}"
    )
