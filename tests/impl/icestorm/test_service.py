"""The topic service: topics, links, quality of service, publishing, transient mode."""

from __future__ import annotations

import pytest

from hacheck.impl.node import Unreachable
from hacheck.impl.protocols.icestorm.messages import Deliver, Delivered, Forward, Nodes, QueryNodes, Reply
from hacheck.impl.protocols.icestorm.records import (
    ALREADY_SUBSCRIBED,
    BAD_QOS,
    LINK_EXISTS,
    NO_SUCH_LINK,
    NO_SUCH_TOPIC,
    NOT_SUBSCRIBED,
    OK,
    TOPIC_EXISTS,
    Create,
    Destroy,
    Edge,
    GetPublisher,
    Link,
    Operation,
    Publish,
    Retrieve,
    RetrieveAll,
    Subscribe,
    Subscriber,
    Unlink,
    Unsubscribe,
)
from tests.impl.icestorm.rooms import Room, formed


def outcome(room: Room, operation: Operation, ident: int = 1) -> str:
    reply = room.ask(ident, operation)  # type: ignore[arg-type]
    assert reply is not None
    return reply.outcome


def delivered(room: Room, who: str) -> list[Deliver]:
    return [message for message in room.inbox.get(who, []) if isinstance(message, Deliver)]


def federation(**options: int | bool) -> Room:
    """T1 is linked to T2 and T3, each with a subscriber of its own: S1 to T1, S2 to T2, S3 to T3."""
    room = formed(**options)
    for number in (1, 2, 3):
        outcome(room, Create(f"T{number}"))
        outcome(room, Subscribe(f"T{number}", Subscriber(f"S{number}", f"s{number}")))
    outcome(room, Link("T1", "T2", 5))
    outcome(room, Link("T1", "T3", 1))
    return room


# ---- topics --------------------------------------------------------------------------------------------------------


def test_each_wrong_update_has_its_own_answer() -> None:
    room = formed()
    steps = [
        (Create("A"), OK),
        (Create("A"), TOPIC_EXISTS),
        (Destroy("B"), NO_SUCH_TOPIC),
        (Subscribe("B", Subscriber("s", "s")), NO_SUCH_TOPIC),
        (Subscribe("A", Subscriber("s", "s", {"retries": "1"})), BAD_QOS),
        (Subscribe("A", Subscriber("s", "s", {"retryCount": "many"})), BAD_QOS),
        (Subscribe("A", Subscriber("s", "s", {"retryCount": "-1", "reliability": "ordered"})), OK),
        (Subscribe("A", Subscriber("s", "s")), ALREADY_SUBSCRIBED),
        (Unsubscribe("A", ("t",)), NOT_SUBSCRIBED),
        (Unsubscribe("A", ("s",)), OK),
        (Link("A", "B"), NO_SUCH_TOPIC),
        (Create("B"), OK),
        (Link("A", "B"), OK),
        (Link("A", "B"), LINK_EXISTS),
        (Unlink("A", "C"), NO_SUCH_LINK),
        (Unlink("A", "B"), OK),
        (Destroy("A"), OK),
        (Retrieve("A"), NO_SUCH_TOPIC),
        (GetPublisher("A"), NO_SUCH_TOPIC),
        (Publish("A", "p", 1), NO_SUCH_TOPIC),
    ]
    assert [outcome(room, operation) for operation, _ in steps] == [expected for _, expected in steps]


def test_links_to_a_destroyed_topic_end_with_it() -> None:
    room = federation()
    outcome(room, Destroy("T2"))
    outcome(room, Create("T2"))
    assert room.replica(2).store.topics["T1"].links == (Edge("T3", 1),)
    room.crash(2)
    room.start(2)
    assert room.replica(2).store.topics["T1"].links == (Edge("T3", 1),)


def test_publisher_proxy_has_all_replicas_or_one() -> None:
    """Highly Available IceStorm, Publisher Considerations: the proxy of getNonReplicatedPublisher points directly at
    the current replica."""
    room = formed()
    outcome(room, Create("A"))
    everywhere, here = room.ask(2, GetPublisher("A")), room.ask(2, GetPublisher("A", replicated=False))
    assert isinstance(everywhere, Reply)
    assert isinstance(here, Reply)
    assert everywhere.names == ("replica-1", "replica-2", "replica-3")
    assert here.names == ("replica-2",)


def test_administrators_are_told_who_the_replicas_are() -> None:
    room = formed()
    room.write("admin", 2, QueryNodes(4))
    assert room.inbox["admin"] == [Nodes(4, ((1, "replica-1"), (2, "replica-2"), (3, "replica-3")))]


# ---- federation ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("replica", [1, 2, 3])
@pytest.mark.parametrize(("cost", "reached"), [(0, "123"), (1, "123"), (2, "12"), (5, "12"), (6, "1")])
def test_message_goes_over_links_that_it_does_not_cost_too_much(cost: int, reached: str, replica: int) -> None:
    """IceStorm Concepts, Federation: published on all of the topic's links for which the message cost does not exceed
    the link cost. Subscribers can receive events from any replica."""
    room = federation()
    assert outcome(room, Publish("T1", "p", 1, "hello", cost), replica) == OK
    assert "".join(who for who in "123" if delivered(room, f"s{who}")) == reached


def test_message_goes_one_hop_and_no_further() -> None:
    """IceStorm Concepts, Federation: IceStorm messages propagate at most one hop from the originating topic."""
    room = federation()
    outcome(room, Create("T0"))
    outcome(room, Link("T0", "T1", 9))
    outcome(room, Publish("T0", "p", 1))
    assert [who for who in ("s1", "s2", "s3") if delivered(room, who)] == ["s1"]


def test_subscriber_of_two_linked_topics_gets_a_message_twice() -> None:
    """IceStorm Concepts, Federation: subscribed to both T2 and T3, it would receive two requests for each message
    published on T1."""
    room = federation()
    outcome(room, Subscribe("T3", Subscriber("S2", "s2")))
    outcome(room, Publish("T1", "p", 1))
    assert [(message.topic, message.origin) for message in delivered(room, "s2")] == [("T2", "T1"), ("T3", "T1")]


# ---- delivery ------------------------------------------------------------------------------------------------------


def subscribed(retries: str | None = None, reliability: str = "twoway", **options: int | bool) -> Room:
    room = formed(**options)
    outcome(room, Create("A"))
    qos = {"reliability": reliability} | ({} if retries is None else {"retryCount": retries})
    outcome(room, Subscribe("A", Subscriber("s", "s", qos)))
    return room


def publish(room: Room, number: int, fails: bool = True, ident: int = 1) -> bool:
    """Publish a message; the subscriber answers it. Whether it was delivered."""
    before = len(delivered(room, "s"))
    outcome(room, Publish("A", "p", number), ident)
    new = delivered(room, "s")[before:]
    for message in new:
        room.write("s", ident, Delivered(message.call, not fails))
    return bool(new)


def test_subscriber_that_fails_is_removed_everywhere() -> None:
    """IceStorm Concepts, Subscriber Errors: IceStorm automatically removes a subscription from a topic if a subscriber
    failure occurs while attempting to deliver a message."""
    room = subscribed()
    publish(room, 1)
    assert [room.replica(ident).store.topics["A"].subscribers for ident in (1, 2, 3)] == [(), (), ()]
    assert not publish(room, 2)


def test_failing_subscriber_is_tried_again_as_often_as_it_asked_for() -> None:
    """Highly Available IceStorm, Subscriber Considerations: a quality of service parameter causes IceStorm to make
    additional delivery attempts. Concepts: IceStorm does not queue messages for that subscriber."""
    room = subscribed("2")
    assert publish(room, 1)
    assert not publish(room, 2), "nothing is delivered for a while, and nothing is kept"
    room.run(61)
    assert publish(room, 3)
    room.run(61)
    assert room.replica(3).store.topics["A"].subscribers
    assert publish(room, 4)
    assert room.replica(3).store.topics["A"].subscribers == ()


def test_success_forgives_earlier_failures() -> None:
    room = subscribed("1", retry_interval_us=1_000_000)
    for number in range(5):
        assert publish(room, 2 * number, fails=True)
        room.run(2)
        assert publish(room, 2 * number + 1, fails=False)
    assert room.replica(3).store.topics["A"].subscribers


def test_subscriber_with_retries_without_end_stays() -> None:
    room = subscribed("-1", retry_interval_us=1_000_000)
    for number in range(20):
        publish(room, number)
        room.run(2)
    assert room.replica(3).store.topics["A"].subscribers


def test_silent_subscriber_fails_after_the_time_out() -> None:
    room = subscribed()
    outcome(room, Publish("A", "p", 1))
    room.run(1)
    assert room.replica(3).store.topics["A"].subscribers
    room.run(2)
    assert room.replica(3).store.topics["A"].subscribers == ()


def test_oneway_subscriber_is_removed_when_its_process_is_gone() -> None:
    """IceStorm Concepts, Subscriber Errors: IceStorm may be unable to establish a connection to the subscriber."""
    room = subscribed(reliability="oneway")
    outcome(room, Publish("A", "p", 1))
    room.inform("replica-1", Unreachable("s"))
    room.settle()
    assert room.replica(3).store.topics["A"].subscribers == ()


def test_ordered_subscriber_gets_one_message_at_a_time() -> None:
    room = subscribed(reliability="ordered")
    for number in (1, 2, 3):
        outcome(room, Publish("A", "p", number))
    seen = []
    while len(seen) < 3:
        *_, latest = delivered(room, "s")
        assert len(delivered(room, "s")) == len(seen) + 1
        seen.append(latest.number)
        room.write("s", 1, Delivered(latest.call, True))
    assert seen == [1, 2, 3]


def test_failed_subscriber_is_removed_as_soon_as_there_is_a_coordinator() -> None:
    room = subscribed()
    room.crash(3)
    publish(room, 1)
    room.run(60)
    assert room.coordinator() == 2
    assert room.replica(1).store.topics["A"].subscribers == ()


def test_nothing_that_waits_is_delivered_when_the_subscription_has_ended() -> None:
    """Highly Available IceStorm, Subscriber Considerations: it will stop receiving events."""
    room = subscribed(reliability="ordered")
    for number in (1, 2):
        outcome(room, Publish("A", "p", number))
    (first,) = delivered(room, "s")
    assert outcome(room, Unsubscribe("A", ("s",))) == OK
    room.write("s", 1, Delivered(first.call, True))
    assert delivered(room, "s") == [first]


def test_failure_of_a_subscription_that_has_ended_does_not_end_the_next_one() -> None:
    """Each subscription has failures of its own."""
    room = subscribed()
    outcome(room, Publish("A", "p", 1))
    (first,) = delivered(room, "s")
    outcome(room, Unsubscribe("A", ("s",)))
    outcome(room, Subscribe("A", Subscriber("s", "s", {"reliability": "twoway"})))
    room.write("s", 1, Delivered(first.call, False))
    assert room.replica(3).store.topics["A"].subscribers


def test_what_failed_is_sent_again_where_that_is_how_it_is_tried() -> None:
    """Highly Available IceStorm, Subscriber Considerations: additional delivery attempts; the other reading of it."""
    room = subscribed("1", reliability="ordered", retry_interval_us=1_000_000, attempts="same")
    assert publish(room, 1)
    assert not publish(room, 2), "it waits behind the one that failed"
    room.run(2)
    assert [message.number for message in delivered(room, "s")] == [1, 1]
    room.write("s", 1, Delivered(delivered(room, "s")[-1].call, True))
    assert [message.number for message in delivered(room, "s")] == [1, 1, 2]


def test_nothing_is_delivered_to_a_subscriber_that_is_being_removed() -> None:
    """IceStorm Concepts, Subscriber Errors: the subscription is canceled when the failure occurs."""
    room = subscribed()
    room.hold(1, 3)
    publish(room, 1)
    assert room.replica(1).store.topics["A"].subscribers
    assert not publish(room, 2)


def test_subscriber_by_datagrams_never_fails() -> None:
    """IceStorm Concepts, Unidirectional Messages: any transport, UDP too, which has no connection that could break."""
    room = subscribed(reliability="datagram")
    assert publish(room, 1)
    room.inform("replica-1", Unreachable("s"))
    room.settle()
    assert room.replica(3).store.topics["A"].subscribers
    assert publish(room, 2)


# ---- transient mode ------------------------------------------------------------------------------------------------


def test_transient_server_needs_no_group_and_writes_nothing() -> None:
    """IceStorm Concepts, Transient Mode: no database is required."""
    room = Room(1, transient=True)
    room.start()
    room.settle()
    assert outcome(room, Create("A")) == OK
    assert outcome(room, Subscribe("A", Subscriber("s", "s"))) == OK
    assert outcome(room, Publish("A", "p", 1)) == OK
    assert [message.number for message in delivered(room, "s")] == [1]
    assert room.disks == {"replica-1": {}}
    room.crash(1)
    room.start(1)
    reply = room.ask(1, RetrieveAll())
    assert reply is not None
    assert reply.names == ()


# ---- what a message is ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["", "rate(eur, 1.07)", "no interface of anybody's \x00\u2603"])
def test_subscriber_gets_what_was_published_and_nobody_looks_at_it(event: str) -> None:
    """IceStorm Concepts, Message, Topics: an invocation, received as an upcall; interfaces are not verified."""
    room = subscribed()
    assert outcome(room, Publish("A", "p", 7, event)) == OK
    (message,) = delivered(room, "s")
    assert (message.topic, message.publisher, message.number, message.event) == ("A", "p", 7, event)
    assert message.call, "it is called, and answers"


@pytest.mark.parametrize("answer", [True, False, None])
def test_publisher_hears_nothing_of_what_subscribers_answer(answer: bool | None) -> None:
    """IceStorm Concepts, Unidirectional Messages: no result, no exceptions, no replies."""
    room = subscribed()
    before = len(room.inbox.get("somebody", []))
    assert outcome(room, Publish("A", "p", 1)) == OK
    (message,) = delivered(room, "s")
    if answer is not None:
        room.write("s", 1, Delivered(message.call, answer))
    room.run(10)
    (reply,) = room.inbox["somebody"][before:]
    assert isinstance(reply, Reply)
    assert (reply.outcome, reply.names, reply.topic, reply.detail) == (OK, (), None, "")


@pytest.mark.parametrize(("second", "order"), [(1, [1, 2]), (2, [2, 1])])
def test_order_is_lost_where_a_publisher_goes_to_another_replica(second: int, order: list[int]) -> None:
    """Highly Available IceStorm, Publisher Considerations: guaranteed with ordered delivery while it stays."""
    room = subscribed(reliability="ordered")
    room.hold(1, "s")
    outcome(room, Publish("A", "p", 1), 1)
    outcome(room, Publish("A", "p", 2), second)
    room.release()
    for message in delivered(room, "s"):
        room.write("s", 1, Delivered(message.call, True))
    assert [message.number for message in delivered(room, "s")] == order


def test_subscriber_that_has_subscribed_again_elsewhere_is_delivered_to_after_a_state_transfer() -> None:
    """A replica that is cut off gives a subscriber up; the others remove it, and it subscribes again. The database that
    the replica gets then has an equal subscription, which is another one."""
    room = formed()
    subscriber = Subscriber("s", "sub", {"reliability": "twoway"})
    room.ask(3, Create("A"))
    room.ask(3, Subscribe("A", subscriber))
    room.isolate(1)
    room.ask(1, Publish("A", "p", 1))
    room.run(20)
    room.ask(3, Unsubscribe("A", ("s",)))
    room.run(3)
    room.ask(3, Subscribe("A", subscriber))
    room.run(3)
    room.loses = lambda message: isinstance(message, Forward)  # its own removal is through already
    room.replica(1).service.gate.clear()
    room.replica(1).service.removing.clear()
    room.release()
    room.loses = lambda _: False
    room.run(60)
    assert room.states() == {1: "normal", 2: "normal", 3: "normal"}
    before = len(room.inbox.get("sub", []))
    room.ask(1, Publish("A", "p", 2))
    room.run(1)
    assert [m.number for m in room.inbox.get("sub", [])[before:] if isinstance(m, Deliver)] == [2]
