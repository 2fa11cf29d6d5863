"""The interpreter against the benchmark's counts, and against its own laws on random systems."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from hacheck.model.interpreter import EvaluationError, Failed, Interpreter, Taken, replay
from hacheck.model.ir import (
    ActionKind,
    BinaryOperator,
    Expression,
    PropertyKind,
    Statement,
    System,
    UnaryOperator,
)
from hacheck.model.itf import run_to_itf
from hacheck.model.render import changes
from hacheck.model.run_json import run_from_json, run_to_json
from hacheck.model.runs import Run, Step
from hacheck.model.types import Type
from hacheck.model.value_storage import type_violation
from tests.models.exploration import explore
from tests.models.quorum_election import REFERENCE, REFERENCE_BROKEN, quorum_election
from tests.nightly import by_night, first_of, nightly
from tests.properties.itf_reader import itf_to_states
from tests.strategies import seeded_system, systems

SMALL = [size for size, counts in REFERENCE.items() if counts[0] < 10_000]


@pytest.mark.parametrize("size", by_night(((size,) for size in SMALL), lambda case: REFERENCE[case[0]][0] < 2_000))
def test_quorum_election_has_the_reference_counts(size: tuple[int, int, int]) -> None:
    found = explore(quorum_election(*size), states_max=20_000)
    assert (found.states, found.transitions, found.depth, found.terminal) == REFERENCE[size]
    assert (found.decided, found.cuts, found.fault_depth) == ({}, {}, None)


@nightly
def test_broken_quorum_election_is_violated_after_eight_steps() -> None:
    found = explore(quorum_election(3, 1, 1, broken=True))
    *counts, shortest = REFERENCE_BROKEN[3, 1, 1]
    assert [found.states, found.transitions, found.depth] == counts
    assert found.decided == {"OneLeaderPerTerm": shortest}


def walk(system: System, choose: Iterator[int], length: int) -> Run | None:
    """A run of up to so many steps, or nothing where the system has no initial state."""
    interpreter = Interpreter(system)
    try:
        initial = interpreter.initial_states()
    except EvaluationError:
        return None
    if not initial:
        return None
    run = Run(initial[next(choose) % len(initial)], ())
    for _ in range(length):
        outcomes = list(interpreter.outcomes(run.states[-1]))
        taken = [outcome.step for outcome in outcomes if isinstance(outcome, Taken)]
        if not taken:
            break
        run = replace(run, steps=(*run.steps, taken[next(choose) % len(taken)]))
    failed = [outcome for outcome in interpreter.outcomes(run.states[-1]) if isinstance(outcome, Failed)]
    return replace(run, error=failed[0].error) if failed else run


def numbers(seed: int) -> Iterator[int]:
    """An endless stream of numbers that depends on a seed."""
    while True:
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        yield seed >> 33


@settings(max_examples=60)
@given(systems(), st.integers(0, 1000))
def test_every_run_is_replayed_and_survives_json_and_itf(system: System, seed: int) -> None:
    run = walk(system, numbers(seed), 6)
    if run is None:
        return
    assert replay(system, run) is None
    assert run_from_json(system, json.loads(json.dumps(run_to_json(system, run)))) == run
    assert itf_to_states(system, json.loads(json.dumps(run_to_itf(system, run)))) == run.states


@pytest.mark.parametrize("seed", first_of(range(40), 8))
def test_states_belong_to_their_types_and_outcomes_are_repeatable(seed: int) -> None:
    system = seeded_system(seed)
    interpreter = Interpreter(system)
    for state in explore(system, states_max=60).reached:
        for variable, value in zip(system.variables, state, strict=True):
            assert type_violation(variable.type, value) is None
        assert list(interpreter.outcomes(state)) == list(interpreter.outcomes(state))


@pytest.mark.parametrize("seed", first_of(range(40), 8))
def test_changes_are_none_exactly_where_states_are_equal(seed: int) -> None:
    system = seeded_system(seed)
    reached = explore(system, states_max=30).reached
    for before in reached:
        for after in reached:
            assert bool(changes(system, before, after)) == (before != after)


@pytest.mark.parametrize("seed", first_of(range(60), 12))
def test_models_that_are_not_risky_contain_no_errors(seed: int) -> None:
    assert explore(seeded_system(seed, risky=False), states_max=100).fault_depth is None


@nightly
def test_random_models_are_worth_exploring() -> None:
    found = [explore(seeded_system(seed), states_max=150) for seed in range(120)]
    shares = {
        "more than 20 states": sum(each.states > 20 for each in found),
        "several live actions": sum(sum(count > 0 for count in each.action_counts) > 1 for each in found),
        "dead actions": sum(0 in each.action_counts for each in found),
        "cuts": sum(bool(each.cuts) for each in found),
        "faults": sum(each.fault_depth is not None for each in found),
        "properties decided late": sum(any(depth > 0 for depth in each.decided.values()) for each in found),
    }
    least = {"more than 20 states": 36, "several live actions": 84, "dead actions": 24}
    least |= {"cuts": 36, "faults": 5, "properties decided late": 24}
    assert {name: share for name, share in shares.items() if share < least[name]} == {}


def used(term: object, found: set[str]) -> None:
    """Adds the names of the classes and operators that a term is made of."""
    if isinstance(term, tuple | frozenset):
        for item in term:
            used(item, found)
    elif isinstance(term, Struct):
        found.add(type(term).__name__)
        for name in term.__struct_fields__:
            value = getattr(term, name)
            if name in ("operator", "kind") and isinstance(value, str):
                found.add(f"{type(term).__name__} {value}")
            used(value, found)


def test_random_models_use_everything_there_is() -> None:
    found: set[str] = set()
    for seed in range(400):
        used(seeded_system(seed), found)
    classes = (*get_args(Expression), *get_args(Statement), *get_args(Type))
    expected = {kind.__name__ for kind in classes} | {"Fairness", "Observation"}
    expected -= {"Log"}  # only systems that are compared with logs have lines: `tests/traces/conformance` draws them
    expected |= {f"Unary {operator}" for operator in get_args(UnaryOperator)}
    expected |= {f"Binary {operator}" for operator in get_args(BinaryOperator)}
    expected |= {f"Property {kind}" for kind in get_args(PropertyKind)}
    expected |= {f"Action {kind}" for kind in get_args(ActionKind)}
    expected |= {f"Quantified {kind}" for kind in ("some", "every", "none", "majority", "count")}
    expected |= {"Quantified at_most_one", "Quantified exactly_one", "Extreme max", "Extreme min"}
    assert expected - found == set()


# ---- replay says no ----


@pytest.fixture(scope="module")
def told() -> tuple[System, Run]:
    system = quorum_election(3, 2, 1)
    run = walk(system, numbers(7), 8)
    assert run is not None
    return system, run


def test_run_from_another_start_is_refused(told: tuple[System, Run]) -> None:
    system, run = told
    problem = replay(system, replace(run, initial=run.states[3], steps=()))
    assert problem == "The run does not start in an initial state."


def test_step_that_cannot_be_taken_is_refused(told: tuple[System, Run]) -> None:
    system, run = told
    restart = next(index for index, action in enumerate(system.actions) if action.name == "Restart")
    steps = (Step(restart, (1,), (), run.initial),)
    assert replay(system, replace(run, steps=steps)) == "Step 1, Restart(i: Replica 1), is not possible there."


def test_step_to_another_state_is_refused(told: tuple[System, Run]) -> None:
    system, run = told
    steps = (replace(run.steps[0], state=run.initial),)
    problem = replay(system, replace(run, steps=steps))
    assert problem is not None
    assert problem.startswith("Step 1, ")
    assert problem.endswith("leads to another state.")


@pytest.mark.parametrize("action", [-1, 99])
def test_step_of_no_action_is_refused(told: tuple[System, Run], action: int) -> None:
    system, run = told
    steps = (replace(run.steps[0], action=action),)
    assert replay(system, replace(run, steps=steps)) == "Step 1, is not an instance of an action of this system."


def test_open_loop_is_refused_and_a_closed_one_is_not(told: tuple[System, Run]) -> None:
    system, run = told
    assert replay(system, replace(run, loop=len(run.steps))) is None
    problem = replay(system, replace(run, loop=0))
    assert problem == "The loop does not close: the last state is not the one after step 0."
    assert replay(system, replace(run, loop=50)) is not None
