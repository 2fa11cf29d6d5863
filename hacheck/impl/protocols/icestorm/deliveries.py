"""Delivery: a replica sends a published message straight to the subscribers that it knows of.

Messages are not stored. While a delivery fails, nothing is kept for the subscriber; one that fails more often than its
`retryCount` allows is removed from the topic, on all replicas.

**Source**: IceStorm Concepts, "Federation", "Quality of Service", "Persistent Mode", "Subscriber Errors"; Highly
Available IceStorm, "Subscriber Considerations for IceStorm Replication".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from hacheck.impl.kit.rpc import Round
from hacheck.impl.node import Name
from hacheck.impl.protocols.icestorm.core import Core
from hacheck.impl.protocols.icestorm.messages import Deliver, Delivered
from hacheck.impl.protocols.icestorm.records import NO_SUCH_TOPIC, OK, Publish, Subscriber

AGAIN = "again"

NEVER_US = 1 << 62
"""A time that does not come."""


class Outlet:
    """One subscription, as this replica delivers to it. `queue`: what waits for the message before, with `ordered`.
    `failures` in a row; after one nothing is delivered until `closed_until_us`, unless what failed is sent again.
    `sent`: something was, without an answer being due."""

    __slots__ = ("busy", "closed_until_us", "failures", "queue", "sent", "subscriber", "topic")

    def __init__(self, topic: str, subscriber: Subscriber) -> None:
        self.topic = topic
        self.subscriber = subscriber
        self.queue: deque[Publish] = deque()
        self.busy = False
        self.sent = False
        self.failures = 0
        self.closed_until_us = 0


class Deliveries:
    """`outlets`: by topic, then by identity of the subscriber, those that something was delivered to. `again`: what has
    failed and is to be sent once more, with the time for it."""

    __slots__ = ("again", "core", "options", "outlets", "process", "store")

    def __init__(self, core: Core) -> None:
        self.core = core
        self.process = core.process
        self.store = core.store
        self.options = core.options
        self.outlets: dict[str, dict[str, Outlet]] = {}
        self.again: deque[tuple[int, Outlet, Publish]] = deque()
        self.process.finished["deliver"] = self._delivered

    def publish(self, message: Publish) -> str:
        """Deliver to the topic's subscribers, and over its links to those of other topics, one hop and no further."""
        topic = self.store.topics.get(message.topic)
        if topic is None:
            return NO_SUCH_TOPIC
        if self.options.trace_messages:
            name = f"{message.publisher}/{message.number}"
            self.process.record("published", topic=topic.name, message=name, cost=message.cost)
        for subscriber in topic.subscribers:
            self._offer(topic.name, subscriber, message)
        for link in topic.links:
            if message.cost > link.cost:
                continue
            target = self.store.topics.get(link.to)
            if target is not None:
                for subscriber in target.subscribers:
                    self._offer(target.name, subscriber, message)
        return OK

    def _offer(self, topic: str, subscriber: Subscriber, message: Publish) -> None:
        of_topic = self.outlets.setdefault(topic, {})
        outlet = of_topic.get(subscriber.identity)
        if outlet is None or outlet.subscriber != subscriber:
            outlet = of_topic[subscriber.identity] = Outlet(topic, subscriber)
        if self.process.now_us < outlet.closed_until_us:
            return
        if outlet.busy and subscriber.reliability() == "ordered":
            outlet.queue.append(message)
        else:
            self._deliver(outlet, message)

    def _deliver(self, outlet: Outlet, message: Publish) -> None:
        subscriber = outlet.subscriber
        if subscriber.reliability() in ("oneway", "datagram"):
            outlet.sent = subscriber.reliability() == "oneway"  # by UDP nobody hears of an error
            self.process.send(subscriber.endpoint, _delivery(0, outlet, message))
            return
        outlet.busy = True
        self.process.ask(
            "deliver", [(0, subscriber.endpoint)], lambda call: _delivery(call, outlet, message), (outlet, message)
        )

    def _delivered(self, round_: Round) -> None:
        outlet, message = round_.data
        answer = round_.answers[0]
        outlet.busy = False
        if not self._stands(outlet):  # the subscription has ended meanwhile
            return
        if isinstance(answer, Delivered) and answer.yes:
            outlet.failures = 0
            if outlet.queue:
                self._deliver(outlet, outlet.queue.popleft())
            return
        self._failed(outlet, message)

    def unreachable(self, peer: Name) -> None:
        """A process does not answer: what was sent to it without an answer being due may be lost."""
        for outlet in [outlet for of_topic in self.outlets.values() for outlet in of_topic.values()]:
            if outlet.sent and outlet.subscriber.endpoint == peer:
                outlet.sent = False
                self._failed(outlet)

    def _failed(self, outlet: Outlet, message: Publish | None = None) -> None:
        subscriber = outlet.subscriber
        now_us = self.process.now_us
        same = self.options.attempts == "same" and message is not None
        if not same:
            outlet.queue.clear()
            if now_us < outlet.closed_until_us:  # of several messages on their way; the first one has counted
                return
        outlet.failures += 1
        self.process.record(
            "delivery_failed", topic=outlet.topic, subscriber=subscriber.identity, failures=outlet.failures
        )
        if 0 <= subscriber.retries() < outlet.failures:
            outlet.queue.clear()
            outlet.closed_until_us = NEVER_US
            self.core.service.remove(outlet.topic, subscriber.identity)
        elif message is not None and same:
            outlet.busy = True
            self.again.append((now_us + self.options.retry_interval_us, outlet, message))
            if len(self.again) == 1:
                self.process.set_timer(AGAIN, self.options.retry_interval_us)
        else:
            outlet.closed_until_us = now_us + self.options.retry_interval_us

    def again_due(self) -> None:
        """Time to send once more what has failed, to those who are still subscribed as they were."""
        while self.again:
            due_us, outlet, message = self.again[0]
            if due_us > self.process.now_us:
                self.process.set_timer(AGAIN, due_us - self.process.now_us)
                return
            self.again.popleft()
            if self._stands(outlet):
                self._deliver(outlet, message)

    def _stands(self, outlet: Outlet) -> bool:
        return self.outlets.get(outlet.topic, {}).get(outlet.subscriber.identity) is outlet

    def still_there(self, topic: str, identity: str) -> None:
        """A subscriber that failed could not be taken off the topic: it is tried again, later."""
        outlet = self.outlets.get(topic, {}).get(identity)
        if outlet is not None:
            outlet.closed_until_us = self.process.now_us + self.options.retry_interval_us

    def changed(self, names: Iterable[str]) -> None:
        """Topics have changed: outlets of subscriptions that are no more are forgotten."""
        for name in names:
            of_topic = self.outlets.get(name)
            if of_topic is None:
                continue
            topic = self.store.topics.get(name)
            known = {subscriber.identity for subscriber in topic.subscribers} if topic is not None else set()
            for identity in [identity for identity in of_topic if identity not in known]:
                del of_topic[identity]
            if not of_topic:
                del self.outlets[name]

    def replaced(self) -> None:
        """The database is another replica's: a subscriber that was given up, and is subscribed there, may have been
        removed and have subscribed again meanwhile. It is delivered to again, and its failures count anew."""
        self.changed(list(self.outlets))
        for of_topic in self.outlets.values():
            for identity in [identity for identity, one in of_topic.items() if one.closed_until_us == NEVER_US]:
                del of_topic[identity]


def _delivery(call: int, outlet: Outlet, message: Publish) -> Deliver:
    return Deliver(
        call,
        outlet.topic,
        message.topic,
        outlet.subscriber.identity,
        message.publisher,
        message.number,
        message.event,
    )
