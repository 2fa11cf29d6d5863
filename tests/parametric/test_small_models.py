"""Small models are proved for every size; of their mutants nothing is proved that a small size violates.

Choices in loops, at the start and in steps, are among them: what one turn chose is one value wherever it was written.
"""

from __future__ import annotations

import pytest

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.parametric.encoding_context import Unsupported
from hacheck.checker.parametric.proof import Proof, prepared
from hacheck.checker.parametric.size_independence import at_size
from hacheck.model.interpreter import Interpreter, Taken
from hacheck.model.language import load
from tests.nightly import by_night
from tests.parametric.proofs import proof_of, verdicts, wanted
from tests.parametric.small_models import MODELS, mutants
from tests.parametric.stepping import allows, begins, theory_at

SIZES = (2, 3)
MUTANTS = [(title, number) for title, text in MODELS.items() for number, _ in enumerate(mutants(text))]
STATES_MAX = 30
"""How many states of each model are compared with its theory, all of their steps."""


@pytest.mark.parametrize("title", MODELS)
def test_small_model_is_proved(title: str) -> None:
    found = proof_of(wanted(MODELS[title], None), seconds=20)
    assert set(verdicts(found).values()) == {"proved"}, verdicts(found)
    assert wrongly_proved(MODELS[title], found) == []


@pytest.mark.parametrize("title", ["chosen owner", "filtered start", "nested start"])
def test_theory_has_every_start_and_step_of_a_small_model(title: str) -> None:
    specification = load(MODELS[title], "small.ha").specification
    assert specification is not None
    system = specification.instantiate({}).system
    assert system is not None
    theory, interpreter = theory_at(system), Interpreter(system)
    starts = interpreter.initial_states()[:STATES_MAX]
    assert len(starts) > 1, "something is chosen at the start"
    for state in starts:
        assert begins(theory, system, state), f"{state} is no start of the theory"
    steps = [(state, one.step) for state in starts[:4] for one in interpreter.outcomes(state) if isinstance(one, Taken)]
    assert steps
    for state, step in steps:
        assert allows(theory, system, state, step), f"no {system.actions[step.action].name} from {state}"


@pytest.mark.parametrize(("title", "number"), by_night(MUTANTS, lambda one: MUTANTS.index(one) % 4 == 0))
def test_nothing_is_proved_of_a_mutant_that_a_small_size_violates(title: str, number: int) -> None:
    text = list(mutants(MODELS[title]))[number]
    if load(text, "mutant.ha").specification is None:
        return  # no text of the language
    try:
        found = proof_of(wanted(text, None), seconds=5)
    except Unsupported:
        return
    assert wrongly_proved(text, found) == [], text


def wrongly_proved(text: str, found: Proof) -> list[str]:
    """What was proved and is violated at hand or at a small size."""
    asked = wanted(text, None)
    made, _ = prepared(asked)
    proved = tuple(name for name, verdict in verdicts(found).items() if verdict == "proved")
    systems = [asked.specification.instantiate({}).system]
    systems += [at_size(asked.specification, {}, None, made, size, size) for size in SIZES]
    return [
        answer.name
        for system in systems
        if system is not None and proved
        for answer in NativeEngine().check(system, proved, Limits(), lambda _: True).properties
        if answer.verdict == "violated"
    ]
