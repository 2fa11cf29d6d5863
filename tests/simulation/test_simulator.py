"""One seed is one run; what the faults do is what they say; what a protocol breaks is found."""

from __future__ import annotations

import pytest

from hacheck.impl.simulator.running import Plan, run
from tests.simulation.toys import COUNTERS


def test_run_without_faults_keeps_every_promise() -> None:
    outcome = run(COUNTERS, Plan(seed=1, fault_us=5_000_000))
    assert outcome.kept
    assert outcome.faults == ()
    assert outcome.delivered > 1000


@pytest.mark.parametrize("profile", ["crashes", "chaos", "everything"])
def test_run_and_its_faults_spelled_out_are_the_same_run(profile: str) -> None:
    for seed in range(5):
        outcome = run(COUNTERS, Plan(seed=seed, faults=profile))
        again = run(COUNTERS, outcome.again())
        assert again.faults == outcome.faults
        assert (again.broken, again.hits, again.delivered, again.lost, again.events) == (
            outcome.broken,
            outcome.hits,
            outcome.delivered,
            outcome.lost,
            outcome.events,
        )


def test_acknowledgement_before_the_write_is_safe_is_found_out() -> None:
    broken = [run(COUNTERS, Plan(seed=seed, faults="chaos", settings={"eager": "yes"})).broken for seed in range(10)]
    assert any(one.promise == "nothing is lost" for found in broken for one in found)
