"""Artemis servers that scale down, and that back each other up, in simulated runs: promises are kept, losses found."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.artemis.colocated.system import COLOCATED_BACKUPS
from hacheck.impl.protocols.artemis.scale_down.system import SCALE_DOWN
from hacheck.impl.simulator.faults import Fault
from hacheck.impl.simulator.running import Outcome, Plan, run
from tests.nightly import nightly

SECOND = 1_000_000
QUIET = {"pause_us": "500000"}
BY_FAULTS = ("crashes", "power", "pauses", "partitions", "network", "disk", "clocks", "locks", "chaos")


def told(outcome: Outcome) -> str:
    """What went wrong, for a failing test."""
    return f"seed {outcome.plan.seed}: {outcome.defect or outcome.broken[:2]}"


@pytest.mark.parametrize(
    "settings",
    [
        {"commit_interval": "-1"},
        {"backups": "true", "groups": "2"},
        {"backups": "true", "found_by": "in_process", "reconnect_attempts": "2"},
    ],
)
def test_scaling_down_keeps_what_it_promises(settings: dict[str, str]) -> None:
    """HornetQ manual, "Scaling Down": nothing is lost, nothing is there twice unless a move was interrupted."""
    for seed in range(2):
        plan = Plan(seed=seed, faults="promised", replicas=3, settings={**QUIET, **settings}, fault_us=25 * SECOND)
        outcome = run(SCALE_DOWN, plan)
        assert outcome.kept, told(outcome)
        assert outcome.happened


@nightly
@pytest.mark.parametrize("faults", BY_FAULTS)
def test_scaling_down_loses_nothing_whatever_goes_wrong(faults: str) -> None:
    """Without backups each store has one server, and a lock that is lost costs nothing."""
    for seed in range(60):
        plan = Plan(seed=seed, faults=faults, replicas=3, settings=QUIET, fault_us=40 * SECOND)
        outcome = run(SCALE_DOWN, plan)
        assert outcome.kept, told(outcome)


@nightly
@pytest.mark.parametrize("faults", BY_FAULTS[:7])
def test_scaling_down_with_backups_loses_nothing_but_with_lost_locks(faults: str) -> None:
    for seed in range(40):
        settings = {**QUIET, "backups": "true"}
        outcome = run(SCALE_DOWN, Plan(seed=seed, faults=faults, replicas=3, settings=settings, fault_us=40 * SECOND))
        assert outcome.kept, told(outcome)


@pytest.mark.parametrize("way", ["replication", "shared_store"])
def test_colocated_backups_keep_what_they_promise(way: str) -> None:
    settings = {"pause_us": "1000000", "way": way, "max_backups": "2"}
    plan = Plan(seed=1, faults="promised", replicas=3, settings=settings, fault_us=20 * SECOND)
    outcome = run(COLOCATED_BACKUPS, plan)
    assert outcome.kept, told(outcome)


@pytest.mark.parametrize("seed", range(3))
def test_colocated_backups_survive_the_end_of_one_process(seed: int) -> None:
    """HornetQ manual, "Colocated Backup Servers": its servers' backups are elsewhere."""
    fault = Fault("crash", (9 + seed) * SECOND, 3 * SECOND * (1 + 3 * seed), (f"server-{1 + seed % 2}",), amount=seed)
    settings = {"pause_us": "300000", "vote_retries": "1"}
    plan = Plan(seed=seed, faults=(fault,), replicas=2, settings=settings, fault_us=25 * SECOND)
    outcome = run(COLOCATED_BACKUPS, plan)
    assert outcome.kept, told(outcome)


@nightly
@pytest.mark.parametrize("faults", ["crashes", "power", "pauses", "partitions", "network", "disk", "clocks"])
def test_colocated_backups_over_shared_stores_lose_nothing(faults: str) -> None:
    settings = {"pause_us": "500000", "way": "shared_store", "max_backups": "2"}
    for seed in range(30):
        plan = Plan(seed=seed, faults=faults, replicas=3, settings=settings, fault_us=40 * SECOND)
        outcome = run(COLOCATED_BACKUPS, plan)
        promises = {broken.promise for broken in outcome.broken}
        assert outcome.defect is None, told(outcome)
        assert not promises & {"own-process", "room-kept", "names-differ", "ports-differ"}, told(outcome)
        if faults not in ("partitions", "network"):  # in which a lock may be lost unnoticed
            assert outcome.kept, told(outcome)
