"""Artemis' client library, and its lock manager, in simulated runs: what they promise is kept, and what they do not
promise can be seen to break."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.artemis.client_library.system import CLIENT
from hacheck.impl.protocols.artemis.lock_manager.system import LOCK_MANAGED
from hacheck.impl.simulator.faults import Fault
from hacheck.impl.simulator.running import Plan, run
from tests.nightly import by_night, first_of, nightly
from tests.simulation.test_artemis import SECOND, told

QUIET = {"pause_us": "400000"}
BUSY = {"pause_us": "20000"}
"""For clients that are to be told nothing of what is stored: a server must end right then."""
WORKING = [(session, window) for session in ("local", "xa", "plain") for window in ("false", "true")]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("session", "window"), first_of(WORKING, 2))
def test_clients_keep_what_they_promise(seed: int, session: str, window: str) -> None:
    settings = {**QUIET, "session": session, "confirmation_window": window}
    outcome = run(CLIENT, Plan(seed=seed, faults="promised", replicas=2, settings=settings, fault_us=20 * SECOND))
    assert outcome.kept, told(outcome)


@nightly
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize(("session", "window"), WORKING)
def test_clients_keep_what_they_promise_all_night(seed: int, session: str, window: str) -> None:
    settings = {**QUIET, "session": session, "confirmation_window": window}
    plan = Plan(seed=seed, faults="promised", replicas=3, clients=4, settings=settings, fault_us=40 * SECOND)
    outcome = run(CLIENT, plan)
    assert outcome.kept, told(outcome)


@nightly
@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("attempts", ["0", "-1"])
@pytest.mark.parametrize(("session", "window"), WORKING)
def test_applications_that_fail_over_by_themselves_keep_what_is_promised(
    seed: int, attempts: str, session: str, window: str
) -> None:
    """HornetQ manual, "Application-Level Failover": a new connection, which is to be made where somebody serves."""
    by_hand = {"application_level": "true", "reconnect_attempts": "0", "initial_connect_attempts": attempts}
    settings = {**QUIET, **by_hand, "session": session, "confirmation_window": window}
    outcome = run(CLIENT, Plan(seed=seed, faults="promised", replicas=2, settings=settings, fault_us=20 * SECOND))
    assert outcome.kept, told(outcome)


@nightly
@pytest.mark.parametrize(
    ("settings", "promises"),
    [
        ({"duplicate_detection": "false", "session": "plain", **BUSY}, {"exactly-once"}),
        ({"trusts_unknown": "true"}, {"acknowledged-kept", "handled"}),
        ({"block_on_durable_send": "false", "session": "plain"}, {"acknowledged-kept"}),
        ({"remembers": "false"}, {"handled"}),
        ({"persist_id_cache": "false", **BUSY}, {"exactly-once"}),
    ],
)
def test_applications_that_depart_from_the_recipe_lose_something(settings: dict[str, str], promises: set[str]) -> None:
    """HornetQ manual, "Handling Failover With Transactions"; the last but one follows the recipe, which says nothing of
    those who receive."""
    broken: set[str] = set()
    for seed in range(150):
        clients = 6 if "pause_us" in settings else 2
        plan = Plan(seed, "crash/coordinator", replicas=2, clients=clients, settings={**QUIET, **settings})
        broken |= {one.promise for one in run(CLIENT, plan).broken}
        if broken & promises:
            return
    raise AssertionError(f"nothing of {promises} was broken, but {broken}")


@pytest.mark.parametrize("seed", range(5))
def test_brokers_with_a_lock_manager_keep_what_they_promise(seed: int) -> None:
    plan = Plan(seed=seed, faults="promised", replicas=2, settings=QUIET, fault_us=30 * SECOND)
    outcome = run(LOCK_MANAGED, plan)
    assert outcome.kept, told(outcome)
    assert outcome.happened


@nightly
@pytest.mark.parametrize("seed", range(100))
@pytest.mark.parametrize("given", [{}, {"coordination_id": "true"}, {"fenced": "true"}])
@pytest.mark.parametrize("replicas", [2, 3])
def test_brokers_with_a_lock_manager_keep_what_they_promise_all_night(
    seed: int, given: dict[str, str], replicas: int
) -> None:
    plan = Plan(seed=seed, faults="promised", replicas=replicas, settings={**QUIET, **given}, fault_us=40 * SECOND)
    outcome = run(LOCK_MANAGED, plan)
    assert outcome.kept, told(outcome)


ENDS = "crash,power,cut,reset,clock-jump,disk-full,disk-error,disk-slow"
"""Whatever ends brokers and the manager, all of them at once, too."""
WRITTEN = {**QUIET, "replica_ack": "written"}


@pytest.mark.parametrize("seed", range(2))
def test_replicas_that_write_before_they_answer_survive_the_end_of_all(seed: int) -> None:
    """AR-15: without it what was acknowledged may have been on one disk only."""
    outcome = run(LOCK_MANAGED, Plan(seed=seed, faults=ENDS, replicas=2, settings=WRITTEN, fault_us=40 * SECOND))
    assert outcome.kept, told(outcome)
    assert outcome.happened


@nightly
@pytest.mark.parametrize("seed", range(100))
@pytest.mark.parametrize("given", [{}, {"coordination_id": "true"}, {"fenced": "true"}])
@pytest.mark.parametrize("replicas", [2, 3])
def test_replicas_that_write_before_they_answer_survive_the_end_of_all_all_night(
    seed: int, given: dict[str, str], replicas: int
) -> None:
    plan = Plan(seed=seed, faults=ENDS, replicas=replicas, settings={**WRITTEN, **given}, fault_us=40 * SECOND)
    outcome = run(LOCK_MANAGED, plan)
    assert outcome.kept, told(outcome)


def test_end_of_a_replica_and_a_cut_cost_what_it_answered_and_never_wrote() -> None:
    """AR-15, a double failure: its number says that its data are the newest."""
    outcome = run(LOCK_MANAGED, Plan(18, "crash,cut", 2, settings=QUIET, fault_us=40 * SECOND))
    assert "acknowledged-kept" in {one.promise for one in outcome.broken}


def test_manager_whose_clock_jumps_takes_no_session_for_over() -> None:
    """It heard nobody in that time, since there was none; else two serve until one finds out that its lock is lost."""
    jumps = (
        Fault("clock-jump", 2_000_000, members=("manager-1",), target="one", amount=9_000_000),
        Fault("clock-jump", 2_100_000, members=("backup-1",), target="one", amount=6_000_000),
    )
    for seed in range(10):
        outcome = run(LOCK_MANAGED, Plan(seed, jumps, 2, settings=QUIET, fault_us=5 * SECOND))
        assert outcome.kept, told(outcome)
        assert sum(outcome.happened.values()) == 2


@pytest.mark.parametrize(
    ("bug", "promise", "seed"),
    by_night(
        [
            ("bug_lock_alone", "acknowledged-kept", 0),
            ("bug_claim_unrepaired", "serves-again", 2),
            ("bug_identity_forgotten", "one-active", 0),
            ("bug_listeners_silent", "one-active", 20),
        ],
        lambda case: case[0] == "bug_lock_alone",
    ),
)
def test_released_bugs_of_the_lock_manager_break_a_promise(bug: str, promise: str, seed: int) -> None:
    """AR-8, AR-10, AR-11, AR-28."""
    broken: set[str] = set()
    for number in range(seed, seed + 12):
        plan = Plan(seed=number, faults="crash,cut", replicas=2, settings={**QUIET, bug: "true"}, fault_us=30 * SECOND)
        broken |= {one.promise for one in run(LOCK_MANAGED, plan).broken}
        if promise in broken:
            return
    raise AssertionError(f"{promise} was kept; {broken}")


@nightly
def test_pause_that_outlasts_the_lock_lets_two_serve() -> None:
    """Broker facts 2.9, A-W7: who was paused stops when it finds out."""
    outcomes = [run(LOCK_MANAGED, Plan(seed=seed, faults="pauses", replicas=2, settings=QUIET)) for seed in range(12)]
    broken = {one.promise for outcome in outcomes for one in outcome.broken}
    assert broken == {"one-active"}
