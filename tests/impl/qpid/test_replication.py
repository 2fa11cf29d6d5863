"""Queue replication, one rule of the sources in each test."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid import objects
from tests.impl.qpid.stage import Stage, cluster


def test_message_is_completed_when_every_backup_has_it() -> None:
    """Overview, "At-least-once and delayed completion"."""
    stage = cluster()
    hand = stage.hand().connect("broker-1").declare("q")
    stage.hold("broker-3", "broker-1")
    hand.publish("q", "a")
    assert stage.on_queue("broker-2") == ["a"]
    assert hand.completed == []
    stage.release(("broker-3", "broker-1"))
    assert hand.completed == ["a"]
    assert stage.on_queue("broker-3") == ["a"]


def test_message_is_completed_when_it_has_been_consumed() -> None:
    """Overview, "Queue Replication", dequeue: nobody need have what is gone."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1").declare("q")
    stage.hold("broker-2", "broker-1")
    hand.publish("q", "a").consume("q")
    assert hand.completed == []
    hand.accept("q", hand.last(wire.Delivery).tag)
    assert hand.completed == ["a"]


def test_accept_is_not_delayed_and_reaches_backups() -> None:
    """Survey 1.5: an accept is confirmed before the dequeue reaches the backups."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1").declare("q").publish("q", "a", "b").consume("q")
    stage.hold("broker-1", "broker-2")
    hand.accept("q", 1)
    assert isinstance(hand.last(wire.Done), wire.Done)
    assert stage.on_queue("broker-2") == ["a", "b"]
    stage.release(("broker-1", "broker-2"))
    assert stage.on_queue("broker-2") == ["b"]


def test_backup_that_disconnects_holds_up_nothing() -> None:
    """Survey 1.4: its guards complete everything, and the cluster is one smaller."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1").declare("q")
    stage.hold("broker-2", "broker-1")
    hand.publish("q", "a")
    stage.crash("broker-2")
    assert hand.completed == ["a"]


def test_stalled_backup_holds_up_senders_for_two_heartbeats() -> None:
    """Survey 1.4, Q-G6."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1").declare("q")
    stage.hold("broker-2", "broker-1")
    hand.publish("q", "a")
    stage.pass_time(stage.options.heartbeat_us)
    assert hand.completed == []
    stage.pass_time(3 * stage.options.heartbeat_us)
    assert hand.completed == ["a"]


def test_completed_messages_are_at_the_backup_that_is_promoted() -> None:
    """Q-G1."""
    stage = cluster()
    hand = stage.hand().connect("broker-1").declare("q").publish("q", "a", "b", "c")
    assert hand.completed == ["a", "b", "c"]
    stage.crash("broker-1")
    assert stage.promote("broker-2").ok
    assert stage.on_queue("broker-2") == ["a", "b", "c"]


def test_recovering_primary_completes_nothing_until_expected_backups_are_ready() -> None:
    """Survey 1.3, 1.4: guards are there before clients are; consuming works meanwhile."""
    stage = cluster()
    stage.hand().connect("broker-1").declare("q").publish("q", "a")
    stage.crash("broker-1")
    stage.promote("broker-2")
    assert stage.status("broker-2") == "recovering"
    hand = stage.hand("client-2").connect("broker-2").publish("q", "b").consume("q")
    assert hand.completed == []
    assert hand.delivered == ["a", "b"]
    stage.pass_time(3 * stage.options.link_maintenance_us)
    assert stage.status("broker-2") == "active"
    assert hand.completed == ["b"]


def test_expected_backup_that_does_not_connect_is_given_up() -> None:
    """Survey 1.4: `ha-backup-timeout`; it is listed as catching up, and has to when it comes."""
    stage = cluster()
    stage.hand().connect("broker-1").declare("q")
    stage.crash("broker-1")
    stage.hold("broker-3", "broker-2")
    stage.promote("broker-2")
    hand = stage.hand("client-2").connect("broker-2").publish("q", "b")
    stage.pass_time(stage.options.backup_timeout_us - 1)
    assert (stage.status("broker-2"), hand.completed) == ("recovering", [])
    stage.pass_time(1)
    assert (stage.status("broker-2"), hand.completed) == ("active", ["b"])
    assert [info.status for info in stage.nodes["broker-2"].primary.members.values()] == ["active", "catchup"]


def test_backup_is_sent_what_it_lacks_and_drops_what_is_gone() -> None:
    """Overview, "Queue Failover": both sides' snapshots decide what is kept, dropped and sent."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1").declare("q").publish("q", "a", "b", "c").consume("q", 1)
    stage.hold("broker-1", "broker-2")
    for channel in stage.nodes["broker-1"].process.with_peer("broker-2"):
        stage.nodes["broker-1"].process.forget(channel)
        stage.nodes["broker-1"].primary.closed(channel)
    hand.accept("q", 1).publish("q", "d")
    stage.release(lost=True)
    stage.pass_time(6 * stage.options.link_maintenance_us)
    handshake = stage.fields("subscribed", "broker-1")[-1]
    assert (handshake["keep"], handshake["drop"]) == (2, 1)
    assert stage.on_queue("broker-2") == stage.on_queue("broker-1")


def test_messages_before_the_guard_must_arrive_before_a_backup_is_ready() -> None:
    """Overview, "Queue and Backup ready": they may be acknowledged already, so they cannot be delayed."""
    stage = Stage(2, fencing="none", flow_messages=2).start("broker-1")
    stage.pass_time(stage.options.heartbeat_us)
    stage.promote("broker-1")
    hand = stage.hand().connect("broker-1").declare("q").publish("q", "a", "b", "c", "d", "e")
    assert len(hand.completed) == 5
    stage.hold_from("broker-2", "broker-1", wire.Acknowledge)
    stage.start("broker-2")
    assert stage.on_queue("broker-2") == ["a", "b"]
    assert stage.status("broker-2") == "catchup"
    stage.release(("broker-2", "broker-1"))
    assert stage.on_queue("broker-2") == ["a", "b", "c", "d", "e"]
    assert stage.status("broker-2") == "ready"


@pytest.mark.parametrize(("bug", "status"), [(False, "ready"), (True, "catchup")])
def test_gap_before_the_guard_does_not_keep_a_backup_from_ready(bug: bool, status: str) -> None:
    """QP-3: the last messages are gone, so the cursor never reaches the guarded position."""
    stage = Stage(2, fencing="none", flow_messages=1, bug_never_stopped=bug).start("broker-1")
    stage.pass_time(stage.options.heartbeat_us)
    stage.promote("broker-1")
    hand = stage.hand().connect("broker-1").declare("q").publish("q", "a", "b", "c").consume("q")
    stage.hold_from("broker-2", "broker-1", wire.Acknowledge)
    stage.start("broker-2")
    hand.accept("q", 3)
    stage.release(("broker-2", "broker-1"))
    assert stage.on_queue("broker-2") == ["a", "b"]
    stage.pass_time(6 * stage.options.link_maintenance_us)
    assert stage.status("broker-2") == status


def test_backup_is_ready_without_any_queue() -> None:
    """QP-4: readiness is asked when a backup connects, not only when a queue becomes ready."""
    assert cluster(2).status("broker-2") == "ready"
    stage = Stage(2, fencing="none", bug_no_recheck=True).start()
    stage.pass_time(stage.options.heartbeat_us)
    stage.promote("broker-1")
    stage.pass_time(10 * stage.options.link_maintenance_us)
    assert stage.status("broker-2") == "catchup"


def test_queue_made_while_a_backup_is_connected_is_guarded_at_once() -> None:
    """Survey 1.4: it enters no catch-up set, and nothing on it is completed before the backup has it."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1")
    stage.hold("broker-1", "broker-2")
    hand.declare("q").publish("q", "a")
    assert hand.completed == []
    stage.release(("broker-1", "broker-2"))
    assert hand.completed == ["a"]


@pytest.mark.parametrize(("bug", "completed"), [(False, ["a"]), (True, [])])
def test_deleting_a_queue_releases_what_is_held_up_on_it(bug: bool, completed: list[str]) -> None:
    """QP-11: also for messages that a consumer holds."""
    stage = cluster(2, bug_delete_without_dequeue=bug)
    hand = stage.hand().connect("broker-1").declare("q")
    stage.hold("broker-2", "broker-1")
    hand.publish("q", "a").consume("q")
    hand.say(wire.DeleteQueue("delete", "q"))
    assert hand.completed == completed


def test_connection_with_a_gap_is_closed() -> None:
    """A stream has no gaps: what was lost on the way ends the connection, and the backup synchronises anew."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1").declare("q")
    stage.hold("broker-1", "broker-2")
    hand.publish("q", "a")
    stage.release(lost=True)
    hand.publish("q", "b")
    assert stage.on_queue("broker-2") == []
    stage.pass_time(10 * stage.options.heartbeat_us)
    assert stage.on_queue("broker-2") == ["a", "b"]
    assert hand.completed == ["a", "b"]


def test_frame_that_comes_twice_counts_once() -> None:
    """A stream delivers once."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1").declare("q")
    assert hand.channel is not None
    frame = wire.Frame(hand.channel.connection, 2, wire.Publish(objects.Content("a", "", False), "", "q"))
    hand.process.begin(0)
    hand.channel.sent += 1
    for _ in range(2):
        stage.put_under_way("client-1", "broker-1", frame)
    stage.settle()
    assert stage.on_queue("broker-1") == ["a"]


def test_ring_queue_drops_its_oldest_everywhere() -> None:
    """Survey 1.5: overwriting is a dequeue."""
    stage = cluster(2)
    stage.hand().connect("broker-1").declare("q", ring_max=2).publish("q", "a", "b", "c")
    assert stage.on_queue("broker-1") == stage.on_queue("broker-2") == ["b", "c"]


def test_promoted_backup_gives_no_id_again_except_with_the_bug() -> None:
    """Survey 1.3: it counts on from the highest id that it has seen. Another backup may have seen a higher one."""
    for of_terms in (False, True):
        stage = cluster(3, bug_ids_given_again=not of_terms)
        hand = stage.hand().connect("broker-1").declare("q").publish("q", "a")
        stage.hold("broker-1", "broker-2")
        hand.publish("q", "in doubt")
        stage.release(lost=True)
        stage.crash("broker-1")
        stage.promote("broker-2")
        other = stage.hand("client-2").connect("broker-2").publish("q", "other")
        stage.pass_time(4 * stage.options.link_maintenance_us)
        assert other.completed == ["other"]
        assert stage.on_queue("broker-2") == ["a", "other"]
        assert stage.on_queue("broker-3") == (["a", "other"] if of_terms else ["a", "in doubt"])


def test_backup_that_lost_its_link_can_be_promoted_with_a_gap() -> None:
    """Q-W1, QP-13: it still calls itself ready; what was completed without it is not there."""
    stage = cluster(3)
    hand = stage.hand().connect("broker-1").declare("q").publish("q", "a")
    for pair in (("broker-1", "broker-3"), ("broker-3", "broker-1")):
        stage.hold(*pair)
    stage.pass_time(4 * stage.options.heartbeat_us)
    hand.publish("q", "b")
    assert hand.completed == ["a", "b"]
    stage.crash("broker-1")
    assert stage.promote("broker-3").ok
    assert stage.on_queue("broker-3") == ["a"]


def test_transaction_is_confirmed_when_all_of_it_is_replicated() -> None:
    """Survey 1.9: a commit that was confirmed before any failure is safe."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1").declare("q")
    stage.hold("broker-2", "broker-1")
    hand.publish("q", "a", "b", transaction="t").commit("t")
    assert wire.Done("commit/t") not in hand.heard
    stage.release(("broker-2", "broker-1"))
    assert wire.Done("commit/t") in hand.heard


def test_transaction_with_a_queue_that_is_not_there_leaves_no_trace() -> None:
    """Survey 1.9: rollback is safe."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1").declare("q")
    hand.publish("q", "a", transaction="t").publish("none", "b", transaction="t").commit("t")
    assert isinstance(hand.heard[-1], wire.Failed)
    assert stage.on_queue("broker-1") == []
