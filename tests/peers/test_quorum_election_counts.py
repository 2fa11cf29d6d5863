"""QuorumElection has the numbers of states, transitions and levels that Spin, TLC and others report."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.checker.engine import Answer, Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.model.ir import System
from hacheck.model.language import load
from tests.models.engines import EVERY, ExplicitEngine
from tests.models.quorum_election import REFERENCE, REFERENCE_BROKEN, quorum_election

SPEC = Path(__file__).resolve().parents[2] / "bench" / "quorum_election.ha"

NATIVE, NATIVE_ON_TWO = NativeEngine(reductions=False), NativeEngine(threads=2, reductions=False)

Size = tuple[int, int, int]


def told(size: Size, broken: bool = False) -> System:
    """The system that the shipped benchmark tells, for N, T and K."""
    loaded = load(SPEC.read_text(encoding="utf-8"), str(SPEC))
    assert loaded.specification is not None, loaded.diagnostics
    settings = dict(zip(("replicas", "terms", "crashes"), map(str, size), strict=True))
    instance = loaded.specification.instantiate({**settings, "votes_lost": "on" if broken else "off"})
    assert instance.system is not None, instance.diagnostics
    return instance.system


def explored(engine: ExplicitEngine, system: System) -> Answer:
    """What an engine finds, without limits."""
    return engine.check(system, (), Limits(), lambda _: True)


def counts(answer: Answer) -> Size:
    """States, transitions and depth."""
    return answer.coverage.states, answer.coverage.transitions, answer.coverage.depth


@pytest.mark.parametrize("engine", [NATIVE, NATIVE_ON_TWO], ids=["1 thread", "2 threads"])
@pytest.mark.parametrize("size", REFERENCE, ids=str)
def test_counts_are_the_reference_counts(size: Size, engine: ExplicitEngine) -> None:
    assert_reference(engine, size)


@pytest.mark.parametrize("size", [size for size, row in REFERENCE.items() if row[0] < 400_000], ids=str)
def test_counts_of_the_portable_engine_are_the_reference_counts(size: Size) -> None:
    assert_reference(PortableEngine(), size)


def assert_reference(engine: ExplicitEngine, size: Size) -> None:
    """The counts and verdicts that others report."""
    answer = explored(engine, told(size))
    assert counts(answer) == REFERENCE[size][:3]
    assert [(item.name, item.verdict) for item in answer.properties] == [
        ("one_leader_per_term", "holds"),
        ("elected", "holds"),
    ]
    assert answer.properties[0].scope == "every reachable state"


@pytest.mark.parametrize("size", REFERENCE, ids=str)
def test_symmetric_states_stand_for_the_reference_count(size: Size) -> None:
    answer = explored(NativeEngine(), told(size))
    (words,) = answer.reductions
    assert words.endswith(f"{answer.coverage.states:,} states stand for {REFERENCE[size][0]:,}")
    assert answer.coverage.depth == REFERENCE[size][2]


@pytest.mark.parametrize("engine", EVERY)
@pytest.mark.parametrize("size", REFERENCE_BROKEN, ids=str)
def test_broken_variant_is_found_at_its_shortest_length(size: Size, engine: ExplicitEngine) -> None:
    answer = explored(engine, told(size, broken=True))
    *expected, shortest = REFERENCE_BROKEN[size]
    if not answer.reductions:
        assert list(counts(answer)) == expected
    violated = answer.properties[0]
    assert violated.verdict == "violated"
    assert violated.run is not None
    assert len(violated.run.steps) == shortest


@pytest.mark.parametrize("size", [size for size, row in REFERENCE.items() if row[0] < 100_000], ids=str)
def test_model_told_in_python_has_the_same_counts(size: Size) -> None:
    assert counts(explored(PortableEngine(), quorum_election(*size))) == REFERENCE[size][:3]


@pytest.mark.parametrize(
    "engine",
    [PortableEngine(stop_early=True), NativeEngine(stop_early=True, reductions=False)],
    ids=["portable", "native"],
)
def test_early_stop_finds_the_same_run_in_fewer_states(engine: ExplicitEngine) -> None:
    answer = explored(engine, quorum_election(3, 2, 1, broken=True))
    assert answer.coverage.states < REFERENCE_BROKEN[3, 2, 1][0]
    assert not answer.coverage.complete
    assert answer.properties[0].run is not None
    assert len(answer.properties[0].run.steps) == 8
