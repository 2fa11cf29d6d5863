"""Brokers over a shared store: who has the lock, what the state byte says."""

from __future__ import annotations

import pytest

from hacheck.impl.node import LockLost
from hacheck.impl.protocols.artemis.messages import CreateSession, Outgoing, Produce, StopServer
from hacheck.impl.protocols.artemis.scale_down.node import SCALING_TABLES
from hacheck.impl.protocols.artemis.shared_store.broker import PRIMARY_LOCK, STATE_KEY, STORE
from hacheck.impl.protocols.artemis.shared_store.server import TABLES
from hacheck.impl.protocols.artemis.shared_store.states import BROKER, State
from hacheck.impl.protocols.artemis.system import SHARED_STORE
from tests.impl.stage import SECOND, Stage


def group(replicas: int = 2, clients: int = 1, **settings: object) -> Stage:
    stage = Stage(SHARED_STORE, replicas, clients, pause_us=50_000, **settings)
    stage.start()
    stage.run(4.5)  # between two looks of the monitor
    assert stage.serving() == ("primary-1",)
    return stage


def byte(stage: Stage) -> bytes:
    return stage.shared[STORE][STATE_KEY]


def test_every_state_has_a_function_that_enters_it() -> None:
    assert set(BROKER.states) == set(State)
    assert set(TABLES.enter) == set(State) - {State.SCALING}
    assert set(SCALING_TABLES.enter) == set(State)


def test_primary_says_that_it_serves_after_it_has_the_lock() -> None:
    """Broker facts 2.2, primary: F, 221034, lock, 221035, L, 221007; 2.15: 221001 is no sign of that."""
    stage = group()
    assert stage.lines("primary-1") == [221006, 221034, 221035, 221007, 221001]
    assert byte(stage) == b"L"


def test_only_one_backup_is_passive_and_the_next_one_follows() -> None:
    """Broker facts 2.2: only one passive; others queue on the backup lock."""
    stage = group(replicas=3)
    assert (stage.state("backup-1"), stage.state("backup-2")) == ("passive", "waiting for backup lock")
    stage.crash("primary-1")
    stage.run(2)
    assert stage.serving() == ("backup-1",)
    assert stage.state("backup-2") == "passive"


def test_backup_takes_over_with_everything_that_was_acknowledged() -> None:
    """HornetQ manual, "Shared Store": it loads the store, and clients can connect."""
    stage = group()
    stage.run(2)
    stage.crash("primary-1")
    stage.run(8)
    assert stage.serving() == ("backup-1",)
    assert 221010 in stage.lines("backup-1")
    assert stage.fields("connected")[-1]["broker"] == "backup-1"
    assert stage.verdict() == []


def test_backup_does_not_take_over_before_anybody_has_served() -> None:
    """Broker facts 2.2, backup: byte 0 or N: sleep."""
    stage = Stage(SHARED_STORE)
    stage.start("backup-1")
    stage.run(30)
    assert stage.serving() == ()
    stage.start("primary-1")
    stage.run(3)
    assert stage.serving() == ("primary-1",)


def test_orderly_stop_leaves_the_backup_passive() -> None:
    """HornetQ manual, `failover-on-server-shutdown`: if false the backup stays passive."""
    stage = group()
    stage.tell("primary-1", StopServer(False))
    stage.run(20)
    assert byte(stage) == b"P"
    assert stage.serving() == ()
    stage.start("primary-1")
    stage.run(3)
    assert stage.serving() == ("primary-1",)


@pytest.mark.parametrize(("settings", "failover"), [({"failover_on_shutdown": True}, False), ({}, True)])
def test_orderly_stop_may_be_a_failover(settings: dict[str, bool], failover: bool) -> None:
    """HornetQ manual: by the setting, or by the management API."""
    stage = group(**settings)
    stage.tell("primary-1", StopServer(failover))
    stage.run(8)
    assert stage.serving() == ("backup-1",)
    assert stage.verdict() == []


def test_orderly_stop_answers_what_is_under_way() -> None:
    stage = group()
    stage.slow.add("primary-1")
    stage.run(1)
    stage.tell("primary-1", StopServer(False))
    assert stage.state("primary-1") == "stopping"
    stage.unslow("primary-1")
    stage.run(2)
    assert stage.halted["primary-1"] == "stopped by an operator"
    assert stage.verdict() == []


def test_returning_primary_gets_its_node_back() -> None:
    """HornetQ manual, "Failing Back to live Server"; 221008, then L, then the backup starts again."""
    stage = group()
    stage.crash("primary-1")
    stage.run(3)
    stage.start("primary-1")
    stage.run(8)
    assert stage.serving() == ("primary-1",)
    assert 221008 in stage.lines("backup-1")
    assert stage.state("backup-1") == "passive"
    stage.run(5)
    assert stage.verdict() == []


def test_backup_that_may_not_fail_back_goes_on() -> None:
    """HornetQ manual, `allow-failback`."""
    stage = group(allow_failback=False)
    stage.crash("primary-1")
    stage.run(3)
    stage.start("primary-1")
    stage.run(20)
    assert stage.serving() == ("backup-1",)
    stage.crash("backup-1")
    stage.run(2)
    assert stage.serving() == ("primary-1",), "it is next"


def test_backup_that_is_not_to_restart_stops_after_failback() -> None:
    """Broker facts 2.2: restart if restart-backup, else stay stopped."""
    stage = group(restart_backup=False)
    stage.crash("primary-1")
    stage.run(3)
    stage.start("primary-1")
    stage.run(8)
    assert stage.serving() == ("primary-1",)
    assert "backup-1" in stage.halted


def test_mark_of_a_primary_that_died_does_not_keep_the_backup_waiting() -> None:
    """AR-26, mended: the primary must show that it lives."""
    stage = group()
    stage.crash("primary-1")
    stage.run(3)
    stage.start("primary-1")
    stage.run(0.05)  # the mark is written
    assert byte(stage) == b"F"
    stage.crash("primary-1")
    stage.run(40)
    assert stage.serving() == ("backup-1",)


def test_primary_that_was_given_up_while_it_waited_marks_its_return_again() -> None:
    """A-S2: a backup took over meanwhile and its byte is `L`, so nobody would ever make way."""
    stage = group(failback_check_us=30 * SECOND)
    stage.crash("primary-1")
    stage.run(3)
    stage.start("primary-1")
    stage.run(5)
    assert (stage.state("primary-1"), byte(stage)) == ("waiting for primary lock", b"F")
    stage.part("primary-1", "backup-1", PRIMARY_LOCK, STORE)
    stage.crash("backup-1")
    stage.start("backup-1")
    stage.run(20)
    assert (stage.serving(), byte(stage)) == (("backup-1",), b"L")
    stage.heal()
    stage.run(5)
    assert (stage.serving(), byte(stage)) == (("backup-1",), b"F")
    stage.run(30)
    assert (stage.serving(), byte(stage)) == (("primary-1",), b"L")


def test_primary_that_lost_its_lock_before_it_served_is_announced_to_whoever_took_it() -> None:
    """A-S3: the one that serves makes way only for a primary that it has heard of."""
    stage = group()
    stage.crash("primary-1")
    stage.start("primary-1")
    stage.run(0.00025)  # it has the lock, and writes its mark
    assert stage.holders[PRIMARY_LOCK] == "primary-1"
    stage.holders[PRIMARY_LOCK] = "backup-1"
    stage.inform("primary-1", LockLost(PRIMARY_LOCK))
    assert stage.state("primary-1") == "waiting for primary lock"
    stage.run(0.01)
    assert stage.lines("primary-1")[-3:] == [221006, 221034, 221031]


@pytest.mark.parametrize("tell", [True, False])
def test_broker_that_lost_its_lock_ends(tell: bool) -> None:
    """AR-19: the monitor notices within its period; a host that shows is believed at once."""
    stage = group(poll_us=SECOND)
    stage.lose_lock(PRIMARY_LOCK, tell=tell)
    stage.run(4)
    assert 222010 in stage.lines("primary-1")
    assert "primary-1" in stage.halted
    assert stage.serving() == ("backup-1",)


def test_lock_that_nobody_took_meanwhile_is_taken_again() -> None:
    stage = group()
    stage.crash("backup-1")
    stage.lose_lock(PRIMARY_LOCK)
    stage.run(6)
    assert stage.serving() == ("primary-1",)
    assert stage.holders[PRIMARY_LOCK] == "primary-1"


def test_broker_that_cannot_reach_its_store_ends() -> None:
    """Broker facts 2.2, monitor: state unreadable."""
    stage = group()
    stage.part("primary-1", STORE)
    stage.run(4)
    assert "primary-1" in stage.halted
    assert stage.serving() == ("backup-1",)


def test_failed_write_ends_the_broker_and_what_came_after_it_is_not_answered() -> None:
    stage = group()
    stage.failing.add("primary-1")
    stage.run(1)
    assert "primary-1" in stage.halted
    stage.failing.clear()
    stage.run(5)
    assert stage.verdict() == []


def test_unnoticed_take_over_costs_answers_by_default_and_none_when_hardened() -> None:
    """A-W1, A-W4: until the monitor's next look two brokers write to one journal."""
    for hardened in (False, True):
        stage = group(clients=0, verify_before_answer=hardened, monitor_us=60 * SECOND)
        stage.lose_lock(PRIMARY_LOCK)
        stage.run(3)
        assert stage.serving() == ("primary-1", "backup-1")
        assert "one-active" in stage.promises_broken()
        before = len(stage.sent)
        talk(stage)
        answered = [m for _, to, m in stage.sent[before:] if to == "me" and type(m).__name__ == "Answered"]
        assert bool(answered) is not hardened
        assert ("primary-1" in stage.halted) is hardened


def talk(stage: Stage) -> None:
    """A client that still turns to the old one."""
    stage.tell("primary-1", CreateSession("me.1", ""), "me")
    stage.tell("primary-1", Produce("me.1", 1, Outgoing("q", "b", b"")), "me")
    stage.run(0.1)
