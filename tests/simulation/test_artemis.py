"""Artemis brokers in simulated runs: what they promise is kept, and what they do not promise can be seen to break."""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random

import pytest

from hacheck.impl.node import Input, Message, Record
from hacheck.impl.protocols.artemis.system import REPLICATION, SHARED_STORE
from hacheck.impl.simulator.faults import Fault
from hacheck.impl.simulator.running import Outcome, Plan, run

SECOND = 1_000_000
QUIET = {"pause_us": "500000"}
HARD = {**QUIET, "last_server_starts": "true", "replica_ack": "written", "vote_retries": "2"}


def told(outcome: Outcome) -> str:
    """What went wrong, for a failing test."""
    return f"seed {outcome.plan.seed}: {outcome.defect or outcome.broken[:2]}"


@pytest.mark.parametrize("seed", range(5))
def test_shared_store_keeps_what_it_promises(seed: int) -> None:
    outcome = run(SHARED_STORE, Plan(seed=seed, faults="promised", settings=QUIET, fault_us=40 * SECOND))
    assert outcome.kept, told(outcome)
    assert outcome.happened


@pytest.mark.parametrize("seed", range(5))
def test_shared_store_that_verifies_loses_nothing_in_chaos(seed: int) -> None:
    """A lock that is lost unnoticed lets two serve until the monitor looks again; what they answer is kept."""
    settings = {**QUIET, "verify_before_answer": "true"}
    outcome = run(SHARED_STORE, Plan(seed=seed, faults="chaos", settings=settings, fault_us=40 * SECOND))
    assert outcome.defect is None
    assert {broken.promise for broken in outcome.broken} <= {"one-active"}, told(outcome)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("replicas", [2, 6])
def test_replication_keeps_what_it_promises(seed: int, replicas: int) -> None:
    plan = Plan(seed=seed, faults="promised", replicas=replicas, settings=QUIET, fault_us=20 * SECOND)
    outcome = run(REPLICATION, plan)
    assert outcome.kept, told(outcome)


@pytest.mark.parametrize("seed", range(10))
def test_replicated_pair_survives_the_end_of_one(seed: int) -> None:
    """HornetQ manual, "Data Replication": the primary or the backup ends, anywhere between two of its effects."""
    random = Random(seed)
    who = ("primary-1", "backup-1")[seed % 2]
    down_us = random.choice((1_000, 2 * SECOND, 20 * SECOND))
    amount = random.randrange(1, 6)
    fault = Fault("crash", 2 * SECOND + random.randrange(2 * SECOND), down_us, (who,), amount=amount)
    settings = {"vote_retries": "1", "stop_called_wait_us": "5000000", "pause_us": "100000"}
    plan = Plan(seed=seed, faults=(fault,), replicas=2, settings=settings, fault_us=25 * SECOND)
    outcome = run(REPLICATION, plan)
    assert outcome.kept, told(outcome)
    assert outcome.hits == (1,)


@pytest.mark.parametrize("seed", range(5))
def test_hardened_pair_survives_whatever_ends_and_restarts(seed: int) -> None:
    """AR-8, AR-15: all may lose power at once, again and again."""
    plan = Plan(seed=seed, faults="power", replicas=2, settings=HARD, fault_us=40 * SECOND)
    outcome = run(REPLICATION, plan)
    assert outcome.kept, told(outcome)
    assert outcome.happened


@pytest.mark.parametrize("hardened", [False, True])
def test_documented_pair_loses_what_the_stale_one_lacks(hardened: bool) -> None:
    """AR-8: the primary ends, the backup serves alone and ends, the primary starts first."""
    faults = (
        Fault("crash", 5 * SECOND, 11 * SECOND, ("primary-1",)),
        Fault("crash", 15 * SECOND, 20 * SECOND, ("backup-1",)),
    )
    settings = HARD if hardened else {**QUIET, "vote_retries": "2"}
    outcome = run(REPLICATION, Plan(faults=faults, replicas=2, settings=settings, fault_us=40 * SECOND))
    assert ("acknowledged-kept" in {broken.promise for broken in outcome.broken}) is not hardened
    assert outcome.kept is hardened, told(outcome)


def test_documented_pair_splits_when_its_link_is_cut() -> None:
    """AR-1: both serve, and both answer; a quorum of pairs helps."""
    links = (("primary-1", "backup-1"), ("backup-1", "primary-1"))
    cut = Fault("cut", 5 * SECOND, 10 * SECOND, links=links)
    plan = Plan(faults=(cut,), replicas=2, settings=QUIET, fault_us=20 * SECOND)
    assert "one-active" in {broken.promise for broken in run(REPLICATION, plan).broken}
    three = Plan(faults=(cut,), replicas=6, settings={**QUIET, "vote_retries": "1"}, fault_us=20 * SECOND)
    outcome = run(REPLICATION, three)
    assert outcome.kept, told(outcome)


class Everything:
    """A watcher that writes everything down."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def sent(self, at_us: int, sender: str, to: str, message: Message) -> None:
        self.lines.append(f"{at_us} {sender} {to} {message}")

    def given(self, at_us: int, member: str, what: Input) -> None:
        self.lines.append(f"{at_us} {member} {what}")

    def recorded(self, at_us: int, local_us: int, member: str, record: Record) -> None:
        self.lines.append(f"{at_us} {local_us} {member} {record}")

    def unlocked(self, at_us: int, member: str, lock: str) -> None:
        self.lines.append(f"{at_us} {member} {lock}")

    def started(self, at_us: int, member: str, incarnation: int) -> None:
        self.lines.append(f"{at_us} {member} {incarnation}")

    def ended(self, at_us: int, member: str, why: str) -> None:
        self.lines.append(f"{at_us} {member} {why}")

    def fault(self, at_us: int, fault: Fault, begins: bool) -> None:
        self.lines.append(f"{at_us} {fault} {begins}")


SCRIPT = """
from hashlib import sha256
from hacheck.impl.protocols.artemis.system import REPLICATION, SHARED_STORE
from hacheck.impl.simulator.running import Plan, run
from tests.simulation.test_artemis import Everything
for system in (REPLICATION, SHARED_STORE):
    seen = Everything()
    run(system, Plan(seed=5, faults="chaos", replicas=4, settings={"pause_us": "500000"}, fault_us=10_000_000), seen)
    print(len(seen.lines), sha256("\\n".join(seen.lines).encode()).hexdigest())
"""


def test_one_seed_is_one_run_whatever_the_hashes_are() -> None:
    runs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert all(int(line.split()[0]) > 1_000 for line in runs[0].splitlines())
