"""Induction shows only what holds, says what stands in the way of the rest, and uses lemmas."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.checker.engine import Answer, Limits, PropertyAnswer
from hacheck.checker.symbolic.k_induction import InductionEngine
from hacheck.model.interpreter import EvaluationError, Interpreter, Taken, replay
from hacheck.model.ir import System
from hacheck.model.language import load
from tests.models.exploration import explore
from tests.nightly import first_of
from tests.strategies import seeded_system

ROOT = Path(__file__).parents[2]
LEMMAS = ROOT / "bench" / "quorum_election_lemmas.ha"
STATES_MAX = 400
TOGETHER = 20

COUNTER = """system Counter "Steps of two from nought never meet an odd number."
node Server[2] symmetric { n: 0..6 = 0  parity: bool = false }
action up(s: Server) when s.n < 5 do s.n := s.n + 2
invariant even: every s: Server satisfies s.n != 3
step_invariant grows: every s: Server satisfies s.n >= old(s.n)
reachable four: some s: Server where s.n == 4
check default expect all hold
"""


def system_of(text: str, **settings: str) -> System:
    """The system that a text means."""
    specification = load(text, "text.ha", lambda _: None).specification
    assert specification is not None
    made = specification.instantiate(settings).system
    assert made is not None
    return made


def check(system: System, depth: int = 1, *names: str, reachability: bool = False) -> Answer:
    """What induction says up to this k."""
    return InductionEngine(depth, reachability).check(system, names, Limits(), lambda _: True)


def told(answer: Answer) -> dict[str, str]:
    """The verdicts by name."""
    return {found.name: found.verdict for found in answer.properties}


@pytest.mark.parametrize("first", first_of(range(0, 1_000, TOGETHER), 3))
def test_what_is_shown_holds_in_every_reachable_state_of_random_systems(first: int) -> None:
    shown = gaps = 0
    for seed in range(first, first + TOGETHER):
        system = seeded_system(seed)
        expected = explore(system, STATES_MAX)
        if not expected.complete or (expected.fault_depth == 0 and not expected.states):
            continue
        answer = check(system, 2)
        for asked, given in zip(system.properties, answer.properties, strict=True):
            if given.verdict == "holds" and asked.kind != "reachable":
                assert asked.name not in expected.decided, f"seed {seed}, {asked.name}: {given.scope}"
                shown += 1
            if given.run is not None:
                assert replay(system, given.run) is None, f"seed {seed}, {asked.name}"
            if given.cti is not None:
                assert_is_a_gap(system, given, f"seed {seed}, {asked.name}")
                gaps += 1
    assert shown, "something is shown"
    assert gaps, "something stands in the way"


def assert_is_a_gap(system: System, given: PropertyAnswer, where: str) -> None:
    """Its steps are the interpreter's, and the last one breaks the property, or leads to where it has no value."""
    interpreter, gap = Interpreter(system), given.cti
    assert gap is not None
    states = gap.states
    for before, step in zip(states, gap.steps, strict=False):
        assert Taken(step) in list(interpreter.outcomes_with(step.action, step.arguments, before)), where
    asked = next(item for item in system.properties if item.name == given.name)
    try:
        on_step = asked.kind == "step"
        holds = interpreter.holds_step(asked, *states[-2:]) if on_step else interpreter.holds(asked, states[-1])
    except EvaluationError:
        return
    assert not holds, where


def test_the_election_is_shown_with_its_lemmas_and_not_without() -> None:
    text = LEMMAS.read_text(encoding="utf-8")
    small = {"replicas": "3", "terms": "2", "crashes": "1"}
    assert told(check(system_of(text, **small), 1, "one_leader_per_term")) == {"one_leader_per_term": "holds"}
    without = text[: text.index("lemma led_by")] + text[text.index("check default") :]
    answer = check(system_of(without, **small), 1, "one_leader_per_term", reachability=True)
    (found,) = answer.properties
    assert (found.verdict, found.run) == ("not-inductive", None)
    assert "the state before is not reachable" in found.scope


def test_a_lemma_that_does_not_hold_is_told_and_not_used() -> None:
    lemma = "lemma none_ends: every s: Server satisfies s.n < 4\n"
    text = COUNTER.replace("step_invariant grows", f"{lemma}step_invariant grows")
    found = {answer.name: answer for answer in check(system_of(text), 4).properties}
    assert found["none_ends"].verdict == "violated"
    assert found["none_ends"].run is not None
    assert len(found["none_ends"].run.steps) == 2
    assert found["grows"].verdict == "holds"


def test_more_steps_show_more() -> None:
    """From 1 a step of two meets 3; but to 1 no step leads."""
    alone = system_of(COUNTER.replace("Server[2] symmetric", "Server"))
    first, second = check(alone, 1), check(alone, 2)
    assert told(first)["even"] == "not-inductive"
    assert told(second)["even"] == "holds"
    assert "2-inductive" in next(found.scope for found in second.properties if found.name == "even")


def test_a_state_that_speaks_against_a_proof_is_said_to_be_reachable_where_it_is() -> None:
    text = COUNTER.replace("s.n != 3", "s.n != 4").replace("Server[2] symmetric", "Server")
    (found,) = check(system_of(text), 1, "even", reachability=True).properties
    assert found.verdict == "not-inductive"
    assert found.run is None
    assert "the state before is reachable" in found.scope


def test_an_interruption_is_obeyed_and_told() -> None:
    system = system_of(LEMMAS.read_text(encoding="utf-8"), replicas="5", terms="7", crashes="3")
    calls = 0

    def report(_: object) -> bool:
        nonlocal calls
        calls += 1
        return calls < 30

    answer = InductionEngine(1).check(system, (), Limits(), report)
    assert answer.coverage.stopped == "interrupted"
    assert all(found.verdict == "unknown" for found in answer.properties)


def test_the_limit_of_time_is_obeyed_and_told() -> None:
    system = system_of(LEMMAS.read_text(encoding="utf-8"), replicas="5", terms="7", crashes="3")
    answer = InductionEngine(1).check(system, (), Limits(wall_seconds_max=0.5), lambda _: True)
    assert answer.coverage.stopped == "0.5 seconds passed"
    assert all(found.verdict == "unknown" for found in answer.properties)


def test_beside_an_error_of_the_spec_nothing_is_said_to_hold() -> None:
    text = """system Counter "It counts beyond its end."
node Server { n: 0..1 = 0 }
action up(s: Server) do s.n := s.n + 1
invariant small: Server.n <= 1
"""
    answer = check(system_of(text), 3)
    assert answer.error is not None
    assert told(answer) == {"small": "unknown"}
    assert told(check(system_of(text.replace("up(s: Server)", "up(s: Server) when s.n < 1")), 3)) == {"small": "holds"}


def test_lemmas_are_looked_for_where_there_is_nothing_to_make_them_of() -> None:
    text = """system Counter "One number, which runs past its end."
shared n: 0..9 = 0
environment action up() do n := n + 1
invariant small: n <= 9
"""
    answer = InductionEngine(1, reachability=False, finding=True).check(system_of(text), (), Limits(), lambda _: True)
    assert told(answer) == {"small": "holds"}
