"""Whole clusters of Qpid brokers under faults: what is promised is kept, and known misbehaviour is found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hacheck.impl.protocols.qpid.system import STANDALONE, SYSTEM
from hacheck.impl.simulator.faults import Fault, between
from hacheck.impl.simulator.running import Outcome, Plan, run
from hacheck.impl.system import System
from tests.nightly import first_of

US = 1_000_000
ROOT = Path(__file__).parents[2]
SLOWLY = {"send_interval_us": "250000"}


def outcomes(faults: str, seeds: range, system: System = SYSTEM, **settings: str) -> list[Outcome]:
    plans = [
        Plan(seed=seed, faults=faults, replicas=3, clients=2, settings=SLOWLY | settings, fault_us=25 * US)
        for seed in seeds
    ]
    return [run(system, plan) for plan in plans]


def broken(found: list[Outcome]) -> set[str]:
    """The promises that some run broke. No run raises or goes on for ever."""
    assert all(outcome.defect is None and not outcome.exhausted for outcome in found), found
    return {one.promise for outcome in found for one in outcome.broken}


def test_cluster_without_faults_keeps_every_promise() -> None:
    (outcome,) = outcomes("none", range(1))
    assert outcome.kept
    assert outcome.delivered > 1000


def test_promised_faults_lose_nothing() -> None:
    """Q-G1, Q-G3."""
    assert broken(outcomes("promised", range(8))) == set()


@pytest.mark.parametrize("faults", ["power", "pauses", "partitions", "network", "datagrams", "disk", "chaos"])
def test_registered_backups_lose_nothing_whatever_happens(faults: str) -> None:
    """Except in total failures, which the oracle knows: nobody is left who had everything."""
    assert broken(outcomes(faults, range(4), registered_backups="yes")) == set()


def test_registered_backups_with_stores_transactions_and_queues_made_again_lose_nothing() -> None:
    settings = {"store": "yes", "transaction_every": "5", "churn_us": "1000000", "page_objects": "1"}
    assert broken(outcomes("chaos", range(4), registered_backups="yes", **settings)) == set()


IN_TRANSACTIONS = {"send_interval_us": "100000", "transaction_every": "3", "roll_back_every": "4"}


@pytest.mark.parametrize("faults", first_of(["chaos", "crashes", "network", "datagrams", "disk", "pauses", "power"]))
def test_replicated_transactions_are_whole_whatever_happens(faults: str) -> None:
    """Survey 1.9: all or nothing; with a manager that promotes those only that are in step."""
    settings = IN_TRANSACTIONS | {"transactions": "replicated", "transaction_takes": "yes", "registered_backups": "yes"}
    assert broken(outcomes(faults, range(4), **settings)) == set()


@pytest.mark.parametrize(("who", "promises"), [("local", {"whole"}), ("replicated", set())])
def test_local_transactions_are_not_whole_where_a_client_relies_on_that(who: str, promises: set[str]) -> None:
    """Survey 1.9: the primary fails between the commit and its confirmation."""
    settings = {
        "transactions": who,
        "relies_on_whole_transactions": "yes",
        "registered_backups": "yes",
        "transaction_every": "1",
        "transaction_size": "8",
        "flow_messages": "1",
        "send_interval_us": "20000",
    }
    assert broken(outcomes("crash/coordinator", range(17, 18), **settings)) == promises


def crash(member: str, at_s: float, for_s: float) -> Fault:
    return Fault("crash", int(at_s * US), int(for_s * US), members=(member,))


def cut(links: tuple[tuple[str, str], ...], at_s: float, for_s: float) -> Fault:
    return Fault("cut", int(at_s * US), int(for_s * US), links=links)


STALE_READY = (cut(between(("broker-1",), ("broker-2",)), 10, 14), crash("broker-1", 16, 8))
"""Broker 2 misses what is completed without it, and is the next in turn (Q-W1, QP-13)."""

RESTARTED = (
    cut(between(("broker-1",), ("broker-2",)), 11, 13),
    crash("broker-2", 12, 0.5),
    crash("broker-1", 15, 8),
)
"""Broker 2 has nothing, is the next in turn, and broker 3 is ready (QP-2)."""

NEVER_CONNECTED = (
    cut(between(("broker-1", "broker-3"), ("broker-2",)), 0.1, 14.9),
    crash("broker-1", 15, 9),
)
"""Broker 2 asked the others when it started, and everybody was joining then; broker 3 is ready now."""

IN_DOUBT = (
    cut((("broker-1", "broker-2"),), 12, 12),
    crash("client-1", 12.4, 11),
    crash("broker-1", 12.5, 11),
)
"""Broker 3 has messages of client 1 that broker 2, the next primary, never sees, and that nobody sends again."""

MANAGER_CUT_OFF = (cut(between(("manager",), ("broker-1",)), 8, 12),)
"""The primary and its clients are well; the resource manager cannot know."""

LATE_MANAGER = (crash("manager", 0.1, 8),)
"""The brokers meet each other before there is a primary (QP-10)."""


@pytest.mark.parametrize(
    ("faults", "kept_with", "broken_with", "promises"),
    [
        (STALE_READY, {"registered_backups": "yes"}, {}, {"kept"}),
        (RESTARTED, {}, {"bug_promote_joining": "yes"}, {"kept"}),
        (NEVER_CONNECTED, {}, {"bug_old_answers": "yes"}, {"kept"}),
        (IN_DOUBT, {}, {"bug_ids_given_again": "yes"}, {"replicated"}),
        (MANAGER_CUT_OFF, {}, {"fencing": "none"}, {"one-primary", "kept"}),
        (LATE_MANAGER, {}, {"bug_catchup_on_connect": "yes"}, {"serves-again"}),
    ],
    ids=["stale-ready", "restarted", "never-connected", "in-doubt", "manager-cut-off", "late-manager"],
)
def test_misbehaviour_is_found_and_its_cure_keeps_the_promise(
    faults: tuple[Fault, ...], kept_with: dict[str, str], broken_with: dict[str, str], promises: set[str]
) -> None:
    """One schedule, two settings."""
    for settings, found in ((kept_with, set()), (broken_with, promises)):
        plan = Plan(seed=1, faults=faults, clients=3, settings=SLOWLY | settings, fault_us=25 * US)
        outcome = run(SYSTEM, plan)
        assert {one.promise for one in outcome.broken} == found, outcome.broken
        assert outcome.defect is None


@pytest.mark.parametrize(("faults", "store"), first_of([("crashes", "yes"), ("network", "no"), ("chaos", "yes")], 2))
def test_standalone_replicas_are_like_their_queues_again(faults: str, store: str) -> None:
    """Survey 1.10."""
    assert broken(outcomes(faults, range(4), STANDALONE, store=store)) == set()


SOURCE_ENDS = (crash("broker-1", 10, 12),)
"""The operator lets applications go over to broker 2, and broker 1 comes back later."""
SOURCE_COMES_BACK = (crash("broker-1", 10, 1),)
"""Broker 1 is there again before anybody finds out, with nothing on its queues."""


@pytest.mark.parametrize(
    ("faults", "kept_with", "broken_with"),
    [
        (SOURCE_ENDS, {}, {"ends_replication": "no"}),
        (SOURCE_COMES_BACK, {"stays_apart": "yes"}, {}),
    ],
    ids=["ends", "comes-back"],
)
def test_copy_has_what_was_completed_unless_it_follows_a_broker_that_lost_it(
    faults: tuple[Fault, ...], kept_with: dict[str, str], broken_with: dict[str, str]
) -> None:
    """Survey 1.10; one schedule, two settings."""
    for settings, found in ((kept_with, set()), (broken_with, {"kept"})):
        chosen = SLOWLY | {"go_over_after_us": "4000000"} | settings
        plan = Plan(seed=1, faults=faults, replicas=2, clients=3, settings=chosen, fault_us=25 * US)
        outcome = run(STANDALONE, plan)
        assert {one.promise for one in outcome.broken} == found, outcome.broken
        assert outcome.defect is None


@pytest.mark.parametrize("faults", first_of(["chaos", "crashes", "network", "datagrams", "disk", "clocks"]))
def test_copies_that_stay_apart_lose_nothing_whatever_happens(faults: str) -> None:
    settings = {"go_over_after_us": "3000000", "stays_apart": "yes"}
    assert broken(outcomes(faults, range(4), STANDALONE, **settings)) == set()


def test_run_does_not_depend_on_the_order_of_sets() -> None:
    """One seed, one run, whatever Python does with hashes."""
    code = (
        "import hashlib\n"
        "from hacheck.impl.protocols.qpid import oracle\n"
        "from hacheck.impl.protocols.qpid.system import SYSTEM\n"
        "from hacheck.impl.simulator.running import Plan, run\n"
        "digest = hashlib.sha256()\n"
        "def saw(self, at_us, member, record):\n"
        "    digest.update(repr((at_us, member, record)).encode())\n"
        "oracle.ClusterOracle.saw = saw\n"
        "run(SYSTEM, Plan(seed=3, faults='chaos', clients=2, settings={'churn_us': '1000000'}, fault_us=20_000_000))\n"
        "print(digest.hexdigest())\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
