"""What Z3 is told of a system is what the interpreter does, both ways: on random models, step by step."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.stopwatch import Stopwatch
from hacheck.checker.symbolic.prepared_encoding import Prepared, prepare
from hacheck.checker.symbolic.system_encoding import DOMAIN, ERROR, INIT
from hacheck.model.interpreter import EvaluationError, Failed, Interpreter, Taken
from hacheck.model.ir import System
from tests.nightly import first_of
from tests.strategies import seeded_system

STATES_MAX = 40
DEPTH_MAX = 3
TOGETHER = 15


@pytest.mark.parametrize("first", first_of(range(0, 900, TOGETHER), 4))
def test_states_after_each_number_of_steps_are_the_interpreters(first: int) -> None:
    for seed in range(first, first + TOGETHER):
        system = seeded_system(seed)
        prepared = prepared_for(system)
        if prepared is not None:
            for depth, expected in enumerate(levels(system)):
                assert_same_states(prepared, depth, expected, seed)


@pytest.mark.parametrize("first", first_of(range(5_000, 5_900, TOGETHER), 2))
def test_errors_of_the_spec_are_met_where_the_interpreter_meets_them(first: int) -> None:
    for seed in range(first, first + TOGETHER):
        system = seeded_system(seed, risky=True)
        prepared = prepared_for(system)
        if prepared is None:
            continue
        interpreter, unrolling = Interpreter(system), prepared.unrolling
        for depth, states in enumerate(levels(system)):
            faulty = {
                prepared.subject.reduce(state)
                for state in states
                if any(isinstance(outcome, Failed) for outcome in interpreter.outcomes(state))
            }
            solver = run_of(prepared, depth)
            solver.add(unrolling.at(ERROR, depth))
            assert states_of(prepared, solver, depth) == faulty, f"seed {seed}, depth {depth}"


def prepared_for(system: System) -> Prepared | None:
    """The system asked everything, or nothing where it cannot begin."""
    limits = Limits()
    try:
        return prepare(system, (), limits, lambda _: True, Stopwatch(limits, lambda _: True))
    except EvaluationError:
        return None


def levels(system: System) -> Iterator[set[tuple[object, ...]]]:
    """The states after exactly so many steps, as long as they are few."""
    interpreter = Interpreter(system)
    level = set(interpreter.initial_states())
    for _ in range(DEPTH_MAX + 1):
        if len(level) > STATES_MAX:
            return
        yield level
        outcomes = (outcome for state in level for outcome in interpreter.outcomes(state))
        level = {outcome.step.state for outcome in outcomes if isinstance(outcome, Taken)}


def assert_same_states(prepared: Prepared, depth: int, expected: set[tuple[object, ...]], seed: int) -> None:
    """Exactly these states end runs of this length; each is one by the conditions of well-formed states."""
    found = states_of(prepared, run_of(prepared, depth), depth)
    assert found == {prepared.subject.reduce(state) for state in expected}, f"seed {seed}, depth {depth}"
    solver = run_of(prepared, depth)
    solver.add(prepared.library.negation(prepared.unrolling.at(DOMAIN, depth)))
    assert solver.model() is None, f"seed {seed}: a state at depth {depth} is said to be none"


def run_of(prepared: Prepared, depth: int):  # type: ignore[no-untyped-def]
    """A solver that holds the runs of a length."""
    solver = prepared.library.solver()
    solver.add(prepared.unrolling.at(INIT, 0))
    for place in range(depth):
        solver.add(*prepared.unrolling.step(place))
    return solver


def states_of(prepared: Prepared, solver, depth: int) -> set[int]:  # type: ignore[no-untyped-def]
    """The packed states at a depth in all models."""
    found: set[int] = set()
    constants = prepared.unrolling.state(depth)
    while (model := solver.model()) is not None:
        state = prepared.unrolling.packed(model, depth)
        assert state not in found, "a state is found once"
        found.add(state)
        here = [prepared.library.same(constant, model) for constant in constants.values()]
        solver.add(prepared.library.negation(prepared.library.all_of(here)))
    return found
