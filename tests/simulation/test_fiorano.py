"""Fiorano's pairs in simulated runs: what they promise is kept, and what they do not promise can be seen to break."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.fiorano.system import REPLICATED, SHARED
from hacheck.impl.simulator.faults import Fault, between
from hacheck.impl.simulator.running import Outcome, Plan, run
from hacheck.impl.system import System

SECOND = 1_000_000
QUIET = {"pause_us": "200000", "detect_duplicates": "true"}
HARD = {**QUIET, "epochs_in_lock_file": "true"}
CHANNEL = between(("primary",), ("backup",))
BACKUP_RESTARTS = Fault("crash", 2 * SECOND, SECOND, ("backup",))
"""After this the primary is the active one, with the backup in step."""


def told(outcome: Outcome) -> str:
    """What went wrong, for a failing test."""
    return f"seed {outcome.plan.seed}: {outcome.defect or outcome.broken[:2]}"


def promises(outcome: Outcome) -> set[str]:
    """Those that were broken."""
    return {broken.promise for broken in outcome.broken}


def plan(faults: str | tuple[Fault, ...], seed: int = 0, **settings: str) -> Plan:
    """A run of half a minute."""
    return Plan(seed=seed, faults=faults, replicas=2, settings=QUIET | settings, fault_us=30 * SECOND)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("system", [REPLICATED, SHARED], ids=lambda system: system.name)
def test_pair_keeps_what_it_promises(system: System, seed: int) -> None:
    outcome = run(system, plan("promised", seed))
    assert outcome.kept, told(outcome)
    assert outcome.happened


@pytest.mark.parametrize("seed", range(12))
def test_pair_with_epochs_in_the_lock_file_loses_nothing_in_chaos(seed: int) -> None:
    """A lock that is lost unnoticed lets two serve for a moment (F-W5); what they answer is kept."""
    outcome = run(REPLICATED, plan("chaos", seed, **HARD))
    assert outcome.defect is None
    assert not outcome.exhausted
    assert promises(outcome) <= {"one-active"}, told(outcome)


@pytest.mark.parametrize("seed", range(8))
def test_shared_pair_that_verifies_loses_nothing_in_chaos(seed: int) -> None:
    outcome = run(SHARED, plan("chaos", seed, verify_before_answer="true"))
    assert outcome.defect is None
    assert not outcome.exhausted
    assert promises(outcome) <= {"one-active"}, told(outcome)


@pytest.mark.parametrize("hardened", ["false", "true"])
@pytest.mark.parametrize("seed", range(3))
def test_documented_pair_loses_what_a_stale_copy_lacks(seed: int, hardened: str) -> None:
    """FI-2, F-W3: one serves alone while the channel is cut, and ends; the other gets the lock."""
    cut = Fault("cut", 5 * SECOND, 15 * SECOND, links=CHANNEL)
    end = Fault("crash", 12 * SECOND, 6 * SECOND, ("primary",))
    outcome = run(REPLICATED, plan((BACKUP_RESTARTS, cut, end), seed, epochs_in_lock_file=hardened))
    assert outcome.kept is (hardened == "true"), told(outcome)
    if hardened == "false":
        assert "acknowledged-kept" in promises(outcome)


@pytest.mark.parametrize("lock_file", ["true", "false"])
@pytest.mark.parametrize("system", [REPLICATED, SHARED], ids=lambda system: system.name)
def test_only_the_lock_file_keeps_a_cut_pair_from_splitting(system: System, lock_file: str) -> None:
    """FI-1."""
    cut = Fault("cut", 5 * SECOND, 10 * SECOND, links=CHANNEL)
    outcome = run(system, plan((cut,), lock_file=lock_file))
    assert ("one-active" in promises(outcome)) is (lock_file == "false"), told(outcome)
    assert outcome.kept is (lock_file == "true"), told(outcome)


@pytest.mark.parametrize("answer_after", ["both", "own"])
def test_answer_before_the_passive_one_has_it_can_be_lost(answer_after: str) -> None:
    """F-W6: the channel is cut, and the active one ends before it finds that out."""
    faults = (
        BACKUP_RESTARTS,
        Fault("cut", 9 * SECOND, 15 * SECOND, links=CHANNEL),
        Fault("crash", 10 * SECOND, 15 * SECOND, ("primary",)),
    )
    outcome = run(REPLICATED, plan(faults, answer_after=answer_after))
    assert ("acknowledged-kept" in promises(outcome)) is (answer_after == "own"), told(outcome)
    assert outcome.kept is (answer_after == "both"), told(outcome)


@pytest.mark.parametrize("promoted", ["false", "true"])
def test_no_incomplete_copy_ever_serves(promoted: str) -> None:
    """FI-5, F-R7."""
    found: set[str] = set()
    for seed in (7, 11):
        outcome = run(REPLICATED, plan("crash,reset", seed, bug_promote_passive_sync=promoted, sync_batch="1"))
        found |= promises(outcome)
    assert ("complete-copy" in found) is (promoted == "true")
