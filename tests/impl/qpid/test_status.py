"""Promotion and status, one rule of the sources in each test."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid import orders
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.status import STATUS
from tests.impl.qpid.stage import MANAGER, Stage, cluster


def test_first_broker_promoted_is_active_at_once_and_others_become_ready() -> None:
    """Survey 1.2: joining, catchup, ready; joining, recovering, active. With no queues, too (QP-4)."""
    stage = cluster()
    steps = [(event["old"], event["new"]) for event in stage.fields("status_change", "broker-2")]
    assert steps == [("standalone", "joining"), ("joining", "catchup"), ("catchup", "ready")]
    steps = [(event["old"], event["new"]) for event in stage.fields("status_change", "broker-1")]
    assert steps == [("standalone", "joining"), ("joining", "recovering"), ("recovering", "active")]


def test_nothing_leaves_active() -> None:
    """Survey 1.2: there is no demotion."""
    assert STATUS.final == ("active",)
    assert not STATUS.leads("catchup", "recovering")


def test_broker_that_is_catching_up_refuses_promotion() -> None:
    """Survey 1.3."""
    stage = cluster(2)
    stage.nodes["broker-2"].status = "catchup"
    answer = stage.promote("broker-2")
    assert not answer.ok
    assert "catching up" in answer.reason
    assert stage.status("broker-2") == "catchup"


def test_joining_broker_refuses_promotion_while_a_ready_one_answers() -> None:
    """Survey 1.3, Q-G4; the restart of a primary that crashed (QP-2)."""
    stage = cluster()
    stage.crash("broker-1").start("broker-1")
    answer = stage.promote("broker-1")
    assert not answer.ok
    assert stage.promote("broker-2").ok


def test_joining_broker_is_promoted_over_ready_ones_with_the_bug() -> None:
    """QP-2: what the ready backups have is replaced by nothing."""
    stage = cluster(bug_promote_joining=True)
    hand = stage.hand().connect("broker-1").declare("q").publish("q", "a")
    assert hand.completed == ["a"]
    stage.crash("broker-1").start("broker-1")
    assert stage.promote("broker-1").ok
    stage.pass_time(6 * stage.options.link_maintenance_us)
    assert all("q" not in stage.nodes[name].wiring.queues for name in stage.names)


def test_promotion_of_a_joining_broker_waits_for_the_status_check() -> None:
    """Survey 1.3: all checks end first, and who is silent for a heartbeat has no objection (Q-W6)."""
    stage = Stage(2, fencing="none")
    stage.hold("broker-1", "broker-2")
    stage.start()
    assert stage.promote("broker-1").reason == "no answer yet"
    stage.pass_time(stage.options.heartbeat_us)
    assert stage.status("broker-1") == "active"


def test_better_broker_is_overlooked_only_if_old_answers_count() -> None:
    """Survey 1.3: the check is made at the start; its answers may be old when a promotion comes."""
    for bug, promoted in ((True, True), (False, False)):
        stage = Stage(3, fencing="none", bug_old_answers=bug).start()
        stage.pass_time(stage.options.heartbeat_us)
        stage.hold("broker-3", "broker-1")
        stage.promote("broker-1")
        stage.pass_time(6 * stage.options.link_maintenance_us)
        assert stage.status("broker-2") == "ready"
        assert stage.status("broker-3") == "joining"
        stage.crash("broker-1")
        stage.promote("broker-3")
        stage.pass_time(1)
        assert (stage.status("broker-3") == "active") == promoted


def test_promotion_of_a_primary_is_no_error() -> None:
    """Survey 1.3."""
    stage = cluster(2)
    assert stage.promote("broker-1").ok
    assert stage.status("broker-1") == "active"


def test_backup_turns_clients_away() -> None:
    """Overview, "Locating the Primary": backups abort connections of clients, so that these try again (Q-G5)."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-2")
    assert isinstance(hand.heard[-1], wire.Closed)


def test_backup_that_connects_to_a_backup_stays_joining() -> None:
    """QP-10: catching up begins with the first message from a primary, not with a connection."""
    stage = Stage(2, fencing="none").start()
    stage.pass_time(5 * stage.options.link_maintenance_us)
    assert [stage.status(name) for name in stage.names] == ["joining", "joining"]
    wrong = Stage(2, fencing="none", bug_catchup_on_connect=True).start()
    wrong.pass_time(5 * wrong.options.link_maintenance_us)
    assert [wrong.status(name) for name in wrong.names] == ["catchup", "catchup"]
    assert not wrong.promote("broker-1").ok


def test_losing_the_link_leaves_the_status_alone() -> None:
    """Survey 1.7; the root of Q-W1."""
    stage = cluster()
    stage.crash("broker-1")
    assert [stage.status(name) for name in stage.names[1:]] == ["ready", "ready"]


def test_backup_with_another_default_level_ends() -> None:
    """Survey 1.7: a mismatch of `replicate` is an error of the configuration."""
    stage = cluster(2)
    stage.crash("broker-2")
    stage.options = Options(replicate="none")
    stage.start("broker-2").pass_time(2 * stage.options.link_maintenance_us)
    assert "`replicate` is none here" in stage.halted["broker-2"]


def test_broker_with_the_id_of_another_is_turned_away_for_good() -> None:
    """Two brokers started from one disk: the primary closes the connection on purpose, which ends the second."""
    stage = cluster(3)
    stage.crash("broker-3")
    stage.disks["broker-3"].update(stage.disks["broker-2"])
    stage.start("broker-3").pass_time(4 * stage.options.link_maintenance_us)
    assert "misconfigured" in stage.halted["broker-3"]
    assert stage.status("broker-2") == "ready"


def test_primary_without_answers_from_the_manager_halts_in_time() -> None:
    """Survey 1.11, fencing: the watchdog runs from when the broker asked, however late the answer comes."""
    stage = Stage(1, fencing="watchdog", watchdog_us=3_000_000).start()
    stage.pass_time(stage.options.heartbeat_us)
    assert stage.promote("broker-1").ok
    stage.pass_time(2_000_000)
    stage.order("broker-1", orders.StatusQuery(1, 0, 1_500_000))
    stage.pass_time(1_400_000)
    assert stage.status("broker-1") == "active"
    stage.pass_time(200_000)
    assert stage.halted["broker-1"] == "the watchdog was not fed"


def test_primary_that_slept_past_its_watchdog_does_nothing_more() -> None:
    """A process that was paused finds the messages of clients before its timer: it must not answer them."""
    stage = Stage(1, fencing="watchdog", watchdog_us=3_000_000).start()
    stage.pass_time(stage.options.heartbeat_us)
    stage.promote("broker-1")
    hand = stage.hand().connect("broker-1").declare("q")
    for process in stage.processes.values():
        process.timers.clear()
    stage.now += 10_000_000
    hand.publish("q", "late")
    assert hand.completed == []
    assert "broker-1" in stage.halted


@pytest.mark.parametrize("term", [1, 2])
def test_stopped_broker_obeys_no_order_of_that_term(term: int) -> None:
    """An order that arrives after the manager has given it up is void."""
    stage = Stage(1, fencing="none").start()
    stage.pass_time(stage.options.heartbeat_us)
    stage.order("broker-1", orders.Stop(1))
    stage.order("broker-1", orders.Promote(term, 0, stage.now))
    assert (stage.status("broker-1") == "active") == (term == 2)


def test_order_for_an_earlier_incarnation_is_refused() -> None:
    """A broker that was restarted since has nothing any more."""
    stage = Stage(1, fencing="none").start()
    stage.crash("broker-1").start("broker-1").pass_time(stage.options.heartbeat_us)
    stage.order("broker-1", orders.Promote(1, 0, stage.now))
    assert stage.to_manager[-1] == orders.PromoteAnswer(1, False, "restarted since")
    assert MANAGER not in stage.nodes
