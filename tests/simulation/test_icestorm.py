"""IceStorm under faults: what it promises it keeps, and what released versions did wrong is found."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hacheck.impl.node import Name
from hacheck.impl.protocols.icestorm.oracle import IceStormOracle
from hacheck.impl.protocols.icestorm.system import SYSTEM, IceStorm
from hacheck.impl.simulator.faults import Fault, between
from hacheck.impl.simulator.running import Outcome, Plan, run
from hacheck.impl.system import Member, Oracle

SECOND = 1_000_000
MILLISECOND = 1_000

QUICK = {
    "master_timeout": "1s",
    "election_timeout": "1s",
    "response_timeout": "500ms",
    "start_delay": "200ms",
    "invocation_timeout": "300ms",
    "client_timeout": "1s",
    "client_period": "100ms",
    "retry_interval": "2s",
}
"""Time-outs with which half a minute has many elections."""


class Overheard(IceStorm):
    """IceStorm whose oracle can be asked afterwards."""

    def oracle(self, members: tuple[Member, ...], options: object) -> Oracle:
        self.heard = super().oracle(members, options)
        return self.heard


def ran(seed: int, faults: str, replicas: int = 3, system: IceStorm = SYSTEM, **settings: str) -> Outcome:
    plan = Plan(seed=seed, faults=faults, replicas=replicas, settings=QUICK | settings, fault_us=30 * SECOND)
    return run(system, plan)


def promises(outcome: Outcome) -> set[str]:
    assert outcome.defect is None, outcome.defect
    assert not outcome.exhausted
    return {broken.promise for broken in outcome.broken}


@pytest.mark.parametrize(
    "faults", ["none", "crashes", "power", "pauses", "partitions", "network", "disk", "clocks", "chaos", "datagrams"]
)
def test_no_acknowledged_update_is_lost(faults: str) -> None:
    for seed in range(6):
        outcome = ran(seed, faults)
        assert promises(outcome) <= ({"at most once"} if faults == "datagrams" else set()), (seed, outcome.broken)
        assert bool(outcome.happened) is (faults != "none")


@pytest.mark.parametrize("hardened", ["promise_generations=true", "count_empty_disks=false", "probe_slaves=true"])
def test_hardening_breaks_nothing(hardened: str) -> None:
    name, _, value = hardened.partition("=")
    for seed in range(3):
        for faults in ("crashes", "chaos"):
            outcome = ran(seed, faults, **{name: value})
            assert outcome.kept, (seed, faults, outcome.broken, outcome.defect)


def test_five_replicas_keep_what_three_keep() -> None:
    for seed in range(3):
        outcome = ran(seed, "chaos", replicas=5)
        assert outcome.kept, (seed, outcome.broken, outcome.defect)


def test_runs_show_enough_to_be_checked() -> None:
    """Many groups come about, many updates are acknowledged, and for a good part of them it is beyond doubt what must
    be there."""
    system = Overheard()
    ran(3, "partitions", system=system)
    oracle = system.heard
    assert isinstance(oracle, IceStormOracle)
    sure = [item for item in oracle.topics.items.values() if item.sure()]
    assert len(oracle.generations) >= 4
    assert sum(request.through for request in oracle.requests.values()) > 100
    assert len(sure) > 0.5 * len(oracle.topics.items)


@pytest.mark.parametrize(
    ("bugs", "faults", "broken"),
    [
        (("bug_stamp_reset_at_start",), "crashes", "one group in each generation"),
        (("bug_stamp_reset_at_start",), "crashes", "acknowledged updates stay"),
        (("bug_generation_from_slaves",), "partitions", "one group in each generation"),
        (("bug_majority_by_ping", "bug_rejection_acknowledged"), "partitions", "acknowledged updates stay"),
        (("bug_sync_by_name",), "partitions", "replicas agree"),
        (("bug_slave_is_patient",), "crashes", "service comes back"),
    ],
    ids=str,
)
def test_misbehaviour_is_found(bugs: tuple[str, ...], faults: str, broken: str) -> None:
    found = (seed for seed in range(40) if broken in promises(ran(seed, faults, **dict.fromkeys(bugs, "true"))))
    assert next(found, None) is not None


# ---- where the protocol does not keep its promise ------------------------------------------------------------------

ONE, TWO, THREE, CLIENT = "replica-1", "replica-2", "replica-3", "client-1"


def cut(from_ms: int, to_ms: int, left: Name, *right: Name) -> Fault:
    return Fault("cut", from_ms * MILLISECOND, (to_ms - from_ms) * MILLISECOND, links=between([left], right))


@pytest.mark.parametrize("promise", ["false", "true"])
def test_partitions_lose_an_acknowledged_update_unless_generations_are_promised(promise: str) -> None:
    """Replica 2 is alone. Replica 3 invites replica 1, is cut off from it, and does so again: its stamp is then of the
    third generation, though no group came about. Replica 3 is alone: 1 and 2 serve, in the second generation. When all
    are together again, replica 3 has the highest stamp, and everybody takes its old database."""
    faults = (
        cut(2000, 8000, TWO, ONE, THREE, CLIENT),
        Fault("disk-slow", 2 * SECOND, 6 * SECOND, members=(THREE,), amount=100),
        cut(2000, 3900, THREE, ONE),
        cut(2000, 14_000, THREE, CLIENT),
        cut(4350, 5200, THREE, ONE),
        cut(6350, 14_350, THREE, ONE, TWO),
    )
    settings = QUICK | {"promise_generations": promise}
    outcomes = [
        run(SYSTEM, Plan(seed=seed, faults=faults, clients=1, settings=settings, fault_us=16 * SECOND))
        for seed in range(4)
    ]
    lost = any("acknowledged updates stay" in promises(outcome) for outcome in outcomes)
    assert lost is (promise == "false")


# ---- one seed, one run ---------------------------------------------------------------------------------------------

STORY = """
import hashlib
from hacheck.impl.protocols.icestorm.system import SYSTEM
from hacheck.impl.simulator.running import Plan, run

class Told(type(SYSTEM)):
    def oracle(self, members, options):
        oracle = super().oracle(members, options)
        saw = oracle.saw
        def noted(at_us, member, record):
            digest.update(f"{at_us} {member} {record.event} {sorted(record.fields.items())}".encode())
            saw(at_us, member, record)
        oracle.saw = noted
        return oracle

digest = hashlib.sha256()
run(Told(), Plan(seed=5, faults="chaos", fault_us=20_000_000))
print(digest.hexdigest())
"""


def test_one_seed_is_one_run_whatever_the_order_of_sets() -> None:
    def digest(hash_seed: str) -> str:
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        return subprocess.run(
            [sys.executable, "-c", STORY], env=environment, capture_output=True, text=True, check=True, timeout=120
        ).stdout

    first = digest("1")
    assert len(first.strip()) == 64
    assert digest("2") == first
