"""Stand-alone replication, one rule of the sources in each test."""

from __future__ import annotations

import pytest

from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid import objects
from hacheck.impl.protocols.qpid.broker import Place
from tests.impl.qpid.stage import Hand, Stage, cluster


def pair(names: tuple[str, ...] = ("q",), **options: bool) -> tuple[Stage, Hand]:
    """A broker with queues `q` and `other`, and one that keeps a replica of what it is told to."""
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
