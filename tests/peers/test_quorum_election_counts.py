"""QuorumElection has the numbers of states, transitions and levels that Spin, TLC and others report."""

from __future__ import annotations

import pytest

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.engine import PortableEngine
from tests.models.quorum_election import REFERENCE, REFERENCE_BROKEN, quorum_election


@pytest.mark.parametrize("size", REFERENCE, ids=str)
def test_counts_are_the_reference_counts(size: tuple[int, int, int]) -> None:
    answer = PortableEngine().check(quorum_election(*size), (), Limits(), lambda _: True)
    states, transitions, depth, _ = REFERENCE[size]
    coverage = answer.coverage
    assert (coverage.states, coverage.transitions, coverage.depth) == (states, transitions, depth)
    assert answer.properties[0].verdict == "holds"
    assert answer.properties[0].scope == "every reachable state"


@pytest.mark.parametrize("size", REFERENCE_BROKEN, ids=str)
def test_broken_variant_is_found_at_its_shortest_length(size: tuple[int, int, int]) -> None:
    answer = PortableEngine().check(quorum_election(*size, broken=True), (), Limits(), lambda _: True)
    states, transitions, depth, shortest = REFERENCE_BROKEN[size]
    coverage = answer.coverage
    assert (coverage.states, coverage.transitions, coverage.depth) == (states, transitions, depth)
    violated = answer.properties[0]
    assert violated.verdict == "violated"
    assert violated.run is not None
    assert len(violated.run.steps) == shortest


def test_early_stop_finds_the_same_run_in_fewer_states() -> None:
    system = quorum_election(3, 2, 1, broken=True)
    answer = PortableEngine(stop_early=True).check(system, (), Limits(), lambda _: True)
    assert answer.coverage.states < REFERENCE_BROKEN[3, 2, 1][0]
    assert not answer.coverage.complete
    assert answer.properties[0].run is not None
    assert len(answer.properties[0].run.steps) == 8
