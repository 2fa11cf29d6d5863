"""The theory of a model allows every step that the interpreter takes, and says of each state what it says.

Random systems, each with a few steps from each of a few states. A theory that allows less than the model would prove
what is wrong.
"""

from __future__ import annotations

import itertools

import pytest

from hacheck.checker.parametric.encoding_context import Unsupported
from hacheck.checker.parametric.finite_structures import compiled, structure
from hacheck.checker.parametric.mypyvy_export import text as as_mypyvy
from hacheck.model.evaluation import EvaluationError
from hacheck.model.interpreter import Interpreter, Taken
from hacheck.model.ir import System
from hacheck.model.runs import State
from tests.nightly import first_of
from tests.parametric.pyv import Program
from tests.parametric.stepping import allows, begins, grounded, theory_at
from tests.strategies.symmetric import symmetric_system

SEEDS = range(400)
STATES, STEPS = 4, 6
AT_ONCE = 20


def states(interpreter: Interpreter) -> list[State]:
    """A few states, from the start on."""
    found = dict.fromkeys(interpreter.initial_states()[:2])
    for state in list(found):
        for one in itertools.islice(_taken(interpreter, state), STATES):
            found[one.step.state] = None
    return list(found)[:STATES]


def _taken(interpreter: Interpreter, state: State) -> list[Taken]:
    return [one for one in interpreter.outcomes(state) if isinstance(one, Taken)]


def in_fragment(seed: int) -> System | None:
    """The random system of a seed, where it can be told in logic."""
    system = symmetric_system(seed)
    try:
        theory_at(system)
    except Unsupported:
        return None
    return system


def check(seed: int) -> tuple[int, int]:
    """Compares theory and interpreter; how many steps were compared, and how many values of properties."""
    system = in_fragment(seed)
    if system is None:
        return 0, 0
    theory = theory_at(system)
    interpreter = Interpreter(system)
    try:
        reached = states(interpreter)
    except EvaluationError:
        return 0, 0
    compared = told = 0
    for state in interpreter.initial_states()[:2]:
        assert begins(theory, system, state), f"seed {seed}: {state} is no start of the theory"
    for state in reached:
        for one in _taken(interpreter, state)[:STEPS]:
            compared += 1
            name = system.actions[one.step.action].name
            assert allows(theory, system, state, one.step), f"seed {seed}: no {name}{one.step.arguments} from {state}"
    base = grounded(theory, system)
    for claim in theory.claims:
        if claim.symbols or claim.of_steps or claim.prop is None:
            continue
        holds = compiled(claim.formula, base)
        for state in reached:
            try:
                expected = interpreter.value(claim.prop.goal, state)
                found = holds(structure(system, state))
            except (EvaluationError, TypeError):
                continue  # it has no value here
            told += 1
            assert found == expected, f"seed {seed}: {claim.name} is {expected} in {state}"
    return compared, told


@pytest.mark.parametrize("first", first_of(range(0, len(SEEDS), AT_ONCE)))
def test_the_theory_of_a_random_system_is_told_in_the_language_of_mypyvy(first: int) -> None:
    for seed in SEEDS[first : first + AT_ONCE]:
        system = in_fragment(seed)
        if system is not None:
            theory = theory_at(system)
            program = Program(as_mypyvy(theory, theory.claims))
            assert len(program.transitions) == len(theory.transitions), f"seed {seed}"


@pytest.mark.parametrize("first", first_of(range(0, len(SEEDS), AT_ONCE)))
def test_every_step_of_a_random_system_is_one_of_its_theory(first: int) -> None:
    pairs = [check(seed) for seed in SEEDS[first : first + AT_ONCE]]
    steps, values = (sum(column) for column in zip(*pairs, strict=True))
    assert steps > 10, "too few systems are in the fragment to say anything"
    assert values > 3
