"""Stand-alone replication, one rule of the sources in each test."""

from __future__ import annotations

from typing import Any

import pytest

from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid import objects
from hacheck.impl.protocols.qpid.applications import Application
from hacheck.impl.protocols.qpid.broker import Place
from hacheck.impl.protocols.qpid.operator import GONE_OVER, Operator
from tests.impl.qpid.stage import Hand, Stage, cluster


def pair(names: tuple[str, ...] = ("q",), **options: bool) -> tuple[Stage, Hand]:
    """A broker with queues `q` and `other`, and one that keeps a replica of what it is ordered to."""
    stage = Stage(2, **options)
    stage.start_as("broker-1", Place())
    hand = stage.hand().connect("broker-1").declare("q", replicate="none").declare("other")
    stage.start_as("broker-2", Place(sources=("broker-1",), names=frozenset(names)))
    return stage, hand


def test_single_queue_is_replicated_whatever_its_level() -> None:
    """Survey 1.10: any queue, by the same subscription; the status stays `standalone`."""
    stage, hand = pair()
    hand.publish("q", "a").publish("other", "b")
    assert stage.on_queue("broker-2") == ["a"]
    assert "other" not in stage.nodes["broker-2"].wiring.queues
    assert stage.status("broker-2") == "standalone"


def test_completion_waits_for_a_connected_replica() -> None:
    """Survey 1.10: the subscription makes its own guard."""
    stage, hand = pair()
    stage.hold("broker-2", "broker-1")
    hand.publish("q", "a")
    assert hand.completed == []
    stage.crash("broker-2")
    assert hand.completed == ["a"]


def test_single_exchange_is_replicated_with_bindings_of_replicated_queues() -> None:
    """Single exchanges are followed by name, as queues are."""
    stage, hand = pair(("q", "x"))
    for name in ("x", "y"):
        hand.say(wire.DeclareExchange("e", name, "direct", objects.Arguments()))
    hand.say(wire.Bind("b", objects.BindingObject("x", "q", "k")))
    hand.say(wire.Bind("b", objects.BindingObject("x", "other", "k")))
    assert list(stage.nodes["broker-2"].wiring.exchanges) == ["x"]
    assert stage.nodes["broker-2"].wiring.exchanges["x"].bound() == (objects.BindingObject("x", "q", "k"),)


def test_replica_takes_clients() -> None:
    """Survey 1.10: no access control on the replica queue."""
    stage, hand = pair()
    hand.publish("q", "a")
    assert stage.hand("client-2").connect("broker-2").consume("q").delivered == ["a"]


@pytest.mark.parametrize(("bug", "left"), [(False, ["b"]), (True, [])])
def test_messages_from_before_the_replica_have_ids_of_their_own(bug: bool, left: list[str]) -> None:
    """QP-7: without ids from the start, one message is taken for another, and one dequeue takes both."""
    stage = Stage(2, bug_zero_ids=bug)
    stage.start_as("broker-1", Place())
    hand = stage.hand().connect("broker-1").declare("q").publish("q", "a", "b").consume("q")
    stage.start_as("broker-2", Place(sources=("broker-1",), names=frozenset(("q",))))
    hand.accept("q", 1)
    assert stage.on_queue("broker-1") == ["b"]
    assert stage.on_queue("broker-2") == left


def test_replica_of_a_cluster_follows_the_new_primary() -> None:
    """Survey 1.10: the link fails over by itself."""
    stage = cluster(2)
    hand = stage.hand().connect("broker-1").declare("q").publish("q", "a")
    stage.start_as("outside", Place(sources=("broker-1", "broker-2"), names=frozenset(("q",))))
    assert stage.on_queue("outside") == ["a"]
    stage.crash("broker-1")
    assert hand.completed == ["a"]
    stage.promote("broker-2")
    stage.hand("client-2").connect("broker-2").publish("q", "b")
    stage.pass_time(4 * stage.options.link_maintenance_us)
    assert stage.on_queue("outside") == ["a", "b"]


# ---- the operator ------------------------------------------------------------------------------------------------

BROKERS = ("broker-1", "broker-2")


def start_operator(stage: Stage) -> Operator:
    queues = frozenset(("q", "queue-1"))
    operator = stage.play("operator", lambda setup: Operator(setup, stage.options, BROKERS, queues, ("client-1",)))
    stage.settle()
    return operator


def operated(**options: Any) -> tuple[Stage, Operator]:
    """Two brokers, the second with copies as an operator has told it, and an application."""
    stage = Stage(2, **{"go_over_after_us": 3_000_000, **options})
    stage.start_as("broker-1", Place())
    stage.start_as("broker-2", Place(sources=("broker-1",), waits=True))
    operator = start_operator(stage)
    start_application(stage)
    stage.pass_time(stage.options.link_maintenance_us)
    return stage, operator


def start_application(stage: Stage) -> Application:
    client = stage.play("client-1", lambda setup: Application(setup, stage.options, "broker-1", 0))
    stage.settle()
    return client


def test_operator_has_copies_kept_again_by_a_broker_that_was_started_again() -> None:
    """Survey 1.10: the replication is set up; a broker without a store does not know of it any more."""
    stage, _ = operated()
    assert stage.on_queue("broker-2", "queue-1") == stage.on_queue("broker-1", "queue-1") != []
    stage.crash("broker-2")
    stage.start_as("broker-2", Place(sources=("broker-1",), waits=True))
    stage.pass_time(2 * stage.options.link_maintenance_us)
    assert stage.on_queue("broker-2", "queue-1") == stage.on_queue("broker-1", "queue-1")


def test_copies_begin_when_the_operator_says_so() -> None:
    """Survey 1.10: any queue, at any time; what is on it already is copied."""
    stage, _ = operated(set_up_after_us=10_000_000, go_over_after_us=0)
    assert stage.nodes["broker-2"].replica is None
    stage.pass_time(14_000_000)
    assert stage.on_queue("broker-2", "queue-1") == stage.on_queue("broker-1", "queue-1")


def test_applications_go_over_when_the_first_broker_is_gone_and_stay_there() -> None:
    """Survey 1.10: nobody promotes; who goes over does so for good, and the copy is one no more."""
    stage, operator = operated()
    before = stage.on_queue("broker-1", "queue-1")
    stage.crash("broker-1").pass_time(6_000_000)
    assert operator.state == GONE_OVER
    assert stage.nodes["broker-2"].replica is None
    assert stage.on_queue("broker-2", "queue-1")[: len(before)] == before
    stage.start_as("broker-1", Place())
    stage.crash("client-1")
    client = start_application(stage)
    stage.pass_time(3_000_000)
    assert client.channel is not None
    assert client.channel.peer == "broker-2"
    assert "queue-1" not in stage.nodes["broker-1"].wiring.queues


def test_operator_who_was_started_again_goes_on_where_he_was() -> None:
    """What he has decided is on his disk."""
    stage, operator = operated()
    stage.crash("broker-1")
    stage.hold("operator", "broker-2")
    stage.pass_time(6_000_000)
    assert operator.state != GONE_OVER
    stage.crash("operator")
    stage.release(lost=True)
    stage.start_as("broker-1", Place())
    assert start_operator(stage).state == GONE_OVER


def test_copy_of_a_broker_that_comes_back_empty_is_emptied() -> None:
    """Survey 1.10: the copy has no way to know; what had been completed is nowhere."""
    stage, _ = operated(go_over_after_us=0, messages_max=3)
    stage.pass_time(1_000_000)
    assert len(stage.on_queue("broker-2", "queue-1")) == 3
    stage.crash("broker-1")
    stage.start_as("broker-1", Place())
    stage.pass_time(8_000_000)
    assert stage.on_queue("broker-1", "queue-1") == stage.on_queue("broker-2", "queue-1") == []


def test_copy_that_stays_apart_keeps_what_it_has() -> None:
    """Beyond the documents."""
    stage, _ = operated(go_over_after_us=0, messages_max=3, stays_apart=True)
    stage.pass_time(1_000_000)
    stage.crash("broker-1")
    stage.start_as("broker-1", Place())
    stage.pass_time(8_000_000)
    assert len(stage.on_queue("broker-2", "queue-1")) == 3


def test_broker_that_keeps_clients_out_takes_them_when_it_is_a_copy_no_more() -> None:
    """Beyond the documents."""
    stage, _ = operated(keeps_clients_out=True)
    intruder = stage.hand("intruder").connect("broker-2")
    assert isinstance(intruder.heard[-1], wire.Closed)
    stage.crash("broker-1").pass_time(6_000_000)
    assert not isinstance(stage.hand("late").connect("broker-2").heard[-1], wire.Closed)


def test_consumer_of_a_copy_that_makes_way_is_disconnected() -> None:
    """The queue that it consumed is gone, and another one of that name has its messages."""
    stage, hand = pair()
    hand.publish("q", "a")
    reader = stage.hand("reader").connect("broker-2").consume("q")
    assert reader.delivered == ["a"]
    hand.publish("q", "b")
    assert reader.delivered == ["a", "b"]
    hand.say(wire.DeleteQueue("d", "q"))
    assert isinstance(reader.heard[-1], wire.Closed)
    stage.crash("reader")
