"""The explicit engines at their edges: empty systems, limits, interruption, simulation."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from msgspec.structs import replace

from hacheck.checker.engine import Limits, Progress
from hacheck.checker.explicit.portable.breadth_first_search import search
from hacheck.checker.explicit.portable.python_program import Wanted, generate
from hacheck.checker.explicit.portable.random_walks import SimulationEngine, simulate
from hacheck.compile.lowering.layout import pack
from hacheck.compile.lowering.system import lower
from hacheck.model.interpreter import Interpreter, replay
from hacheck.model.ir import FALSE, TRUE, Choose, Domain, Property, System
from hacheck.model.language import load
from hacheck.model.types import Bool
from tests.models.engines import EVERY, EXACT, ExplicitEngine
from tests.models.quorum_election import quorum_election

ELECTION = quorum_election(3, 2, 1)


def property_of(kind: str, goal: object = TRUE, name: str = "asked") -> Property:
    return Property(name, kind, goal, None, (), "", "", 0)  # type: ignore[arg-type]


def bare(**changes: object) -> System:
    """QuorumElection without its properties, changed."""
    return replace(quorum_election(2, 1, 0), properties=(), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", EXACT)
def test_no_property_still_explores_everything(engine: ExplicitEngine) -> None:
    answer = engine.check(bare(), (), Limits(), lambda _: True)
    assert (answer.coverage.states, answer.coverage.transitions, answer.coverage.depth) == (15, 22, 4)
    assert answer.properties == ()


@pytest.mark.parametrize("engine", EXACT)
def test_no_action_leaves_the_initial_state(engine: ExplicitEngine) -> None:
    system = bare(actions=())
    answer = engine.check(system, (), Limits(), lambda _: True)
    assert (answer.coverage.states, answer.coverage.transitions, answer.coverage.depth) == (1, 0, 0)
    assert answer.coverage.complete


@pytest.mark.parametrize("engine", EXACT)
def test_error_of_the_spec_and_deadlock_after_it_are_both_found(engine: ExplicitEngine) -> None:
    text = """system Error
node S {
  left: 0..1 = 1
  durable kept: -1..2
}
action first(s: S, other: S) do s.left := 0
action second(s: S) when s.left == 1 do
  for x in {s} do {
    let v: 0..2 = s.kept
  }
deadlock_free never_stuck
"""
    specification = load(text, "error.ha").specification
    assert specification is not None
    answer = engine.check(specification.instantiate().system, (), Limits(), lambda _: True)
    assert answer.error is not None
    assert [(one.verdict, one.run and len(one.run.steps)) for one in answer.properties] == [("violated", 1)]


@pytest.mark.parametrize("engine", EXACT)
def test_no_variable_is_one_state(engine: ExplicitEngine) -> None:
    system = bare(variables=(), actions=(), nodes=())
    answer = engine.check(system, (), Limits(), lambda _: True)
    assert (answer.coverage.states, answer.coverage.transitions, answer.coverage.depth) == (1, 0, 0)


@pytest.mark.parametrize("engine", EXACT)
def test_without_an_initial_state_nothing_is_decided(engine: ExplicitEngine) -> None:
    nothing = Choose("x", Domain(Bool(), None, FALSE))
    asked = (property_of("invariant", FALSE), property_of("reachable", TRUE, "met"))
    system = replace(bare(initial=(nothing,)), properties=asked)
    answer = engine.check(system, (), Limits(), lambda _: True)
    assert (answer.coverage.states, answer.coverage.transitions, answer.coverage.depth) == (0, 0, 0)
    assert [item.verdict for item in answer.properties] == ["unknown", "unknown"]  # nothing was explored


@pytest.mark.parametrize("engine", EVERY)
@pytest.mark.parametrize("kind", ["invariant", "deadlock", "eventually", "leads_to"])
def test_initial_state_can_violate(kind: str, engine: ExplicitEngine) -> None:
    system = replace(bare(actions=()), properties=(property_of(kind, FALSE),))
    answer = engine.check(system, (), Limits(), lambda _: True)
    assert answer.properties[0].verdict == "violated"
    assert answer.properties[0].run is not None
    assert answer.properties[0].run.steps == ()


@pytest.mark.parametrize("engine", EXACT)
@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (Limits(states_max=500), "500 states reached"),
        (Limits(depth_max=3), "depth 3 reached"),
        (Limits(wall_seconds_max=0.0), "0 seconds passed"),
        (Limits(memory_bytes_max=1), "0 MiB of memory used"),
    ],
)
def test_limit_ends_in_unknown_and_says_what_was_covered(limits: Limits, why: str, engine: ExplicitEngine) -> None:
    answer = engine.check(ELECTION, (), limits, lambda _: True)
    given, coverage = answer.properties[0], answer.coverage
    assert given.verdict == "unknown"
    assert given.scope.endswith(f"to depth {coverage.depth} explored; stopped because {why}")
    assert given.scope.startswith(f"{coverage.states:,} state")
    assert coverage.stopped == why
    assert not coverage.complete
    assert limits.states_max is None or coverage.states <= limits.states_max


@pytest.mark.parametrize("engine", EXACT)
def test_limits_that_are_not_met_end_nothing(engine: ExplicitEngine) -> None:
    limits = Limits(states_max=1_000_000, wall_seconds_max=3_600.0, memory_bytes_max=1 << 50)
    answer = engine.check(quorum_election(2, 1, 0), (), limits, lambda _: True)
    assert answer.coverage.stopped is None
    assert {one.verdict for one in answer.properties} == {"holds"}


def test_time_that_passed_before_the_search_counts() -> None:
    small = quorum_election(2, 1, 0)
    initial = Interpreter(small).initial_states()
    code = generate(lower(small, initial), Wanted())
    packed = [pack(code.lowered.layout, state) for state in initial]
    begun = time.perf_counter() - 100
    log = search(code, packed, [], Limits(wall_seconds_max=50.0), lambda _: True, started=begun)
    assert log.stopped == "50 seconds passed"


@pytest.mark.parametrize("engine", EXACT)
def test_violation_found_before_a_limit_stands(engine: ExplicitEngine) -> None:
    system = quorum_election(3, 2, 1, broken=True)
    answer = engine.check(system, (), Limits(states_max=90_000), lambda _: True)
    assert not answer.coverage.complete
    assert answer.properties[0].verdict == "violated"
    assert answer.properties[0].run is not None
    assert len(answer.properties[0].run.steps) == 8


@pytest.mark.parametrize("engine", EVERY)
def test_report_is_called_in_time_and_obeyed(engine: ExplicitEngine) -> None:
    times: list[float] = []

    def stop_at_the_third(seen: Progress) -> bool:
        times.append(seen.wall_seconds)
        return len(times) < 3

    answer = engine.check(quorum_election(4, 2, 1), (), Limits(), stop_at_the_third)
    assert answer.coverage.stopped == "interrupted"
    assert answer.properties[0].verdict == "unknown"
    assert answer.coverage.states < 50_000_000


@pytest.mark.parametrize("engine", EXACT)
def test_unreached_mode_and_dead_action_are_told(engine: ExplicitEngine) -> None:
    system = ELECTION
    alone = replace(system, actions=tuple(action for action in system.actions if action.name != "Timeout"))
    coverage = engine.check(alone, (), Limits(), lambda _: True).coverage
    assert coverage.unreached == (("Replica.mode", ("candidate", "leader")),)
    assert coverage.action_counts[0] == 0  # RecvReq: nobody ever asks


def test_simulation_is_the_same_in_another_process() -> None:
    run = simulate(ELECTION, seed=7, steps=10)
    assert run is not None
    assert len(run.steps) == 10
    assert replay(ELECTION, run) is None
    code = (
        "from tests.models.quorum_election import quorum_election as q;"
        "from hacheck.checker.explicit.portable.random_walks import simulate as s;"
        "print(s(q(3, 2, 1), seed=7, steps=10).states[-1])"
    )
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == str(run.states[-1])


def test_simulation_finds_what_it_meets_and_never_says_holds() -> None:
    engine = SimulationEngine(walks=3_000, steps=40)
    broken = engine.check(quorum_election(3, 1, 1, broken=True), (), Limits(), lambda _: True)
    assert broken.properties[0].verdict == "violated"
    sound = SimulationEngine(walks=50, steps=40).check(ELECTION, (), Limits(), lambda _: True)
    assert sound.properties[0].verdict == "unknown"
    assert sound.properties[0].scope.startswith("50 samples of up to ")
    assert not sound.coverage.complete
