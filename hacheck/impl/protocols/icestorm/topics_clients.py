"""Publishers and subscribers of one service: what an application does that uses topics.

Topics are made as they are needed: whoever needs one makes it, or finds that somebody else has. A subscriber that is
removed is not told; what helps is to subscribe again from time to time, and to find that one is subscribed.

**Source**: IceStorm Concepts, "IceStorm Topics", "Unidirectional Messages", "Subscriber Errors".
"""

from __future__ import annotations

from collections import deque

import msgspec
from msgspec import Struct

from hacheck.impl.node import (
    Effect,
    Fired,
    Input,
    Name,
    Received,
    Setup,
    Started,
    Unreachable,
    Write,
    WriteFailed,
    Written,
)
from hacheck.impl.protocols.icestorm.messages import Deliver, Delivered, Reply, Request
from hacheck.impl.protocols.icestorm.records import (
    ALREADY_SUBSCRIBED,
    FAILED,
    NO_SUCH_TOPIC,
    NOT_SUBSCRIBED,
    OK,
    Asked,
    Create,
    Link,
    Publish,
    Subscribe,
    Subscriber,
    Unsubscribe,
)
from hacheck.impl.protocols.icestorm.topics_options import FIRST, GRAPHS, SECOND, THIRD, TOPICS, TopicsOptions
from hacheck.impl.protocols.icestorm.wire import Wire
from hacheck.impl.system import Refused

NEXT, ATTEMPT = "next", "attempt"
KEY = "subscriber"
VERSION = 1


class StoredSubscriber(Struct, frozen=True):
    """The subscriptions that a subscriber has ended: it wants them no more."""

    ended: tuple[str, ...]
    version: int = VERSION


class Application:
    """One process that asks the service, one request at a time. `todo`: what comes before its own work; `asking`: what
    was asked and is not answered; `number`: counts its requests."""

    def __init__(self, setup: Setup, service: Name) -> None:
        self.options: TopicsOptions = setup.options
        self.member = setup.member
        self.service = service
        self.wire = Wire(setup.incarnation, 0)
        self.prefix = f"{setup.member}/{setup.incarnation}"
        self.todo: deque[Asked] = deque()
        self.asking: Request | None = None
        self.number = 0

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done about an input."""
        self.wire.now_us = now_us
        self.wire.out = []
        if isinstance(given, Received):
            if isinstance(given.message, Reply):
                self._answered(given.message)
            elif isinstance(given.message, Deliver):
                self._delivered(given.sender, given.message)
        elif isinstance(given, Fired):
            if given.timer == NEXT:
                self._next()
            else:
                self._silent()
        elif isinstance(given, Unreachable):
            if given.peer == self.service:
                self._silent()
        elif isinstance(given, Written):
            self._written()
        elif isinstance(given, WriteFailed):
            self._write_failed()
        elif isinstance(given, Started):
            self.wire.record("client_started")
            self.wire.set_timer(NEXT, self.options.client_period_us)
        return self.wire.out

    def _next(self) -> None:
        self.wire.set_timer(NEXT, self.options.client_period_us)
        if self.asking is None:
            operation = self.todo.popleft() if self.todo else self._work()
            if operation is not None:
                self._ask(operation)

    def _ask(self, operation: Asked) -> None:
        self.number += 1
        self.asking = Request(f"{self.prefix}/{self.number}", 1, operation)
        fields = {"request": self.asking.request, "operation": type(operation).__name__, "topic": operation.topic}  # type: ignore[union-attr]
        if isinstance(operation, Publish):
            fields |= {"publisher": operation.publisher, "number": operation.number, "cost": operation.cost}
        elif isinstance(operation, Link):
            fields |= {"to": operation.to}
        self.wire.record("asked", **fields)
        self.wire.send(self.service, self.asking)
        self.wire.set_timer(ATTEMPT, self.options.client_timeout_us)

    def _answered(self, reply: Reply) -> None:
        asked = self.asking
        if asked is None or asked.request != reply.request:
            return
        self.asking = None
        self.wire.cancel_timer(ATTEMPT)
        self._heard(asked.operation, reply.outcome)
        self.wire.record("told", request=asked.request, outcome=reply.outcome)

    def _silent(self) -> None:
        """No answer: nobody knows what came of it."""
        asked, self.asking = self.asking, None
        if asked is not None:
            self.wire.cancel_timer(ATTEMPT)
            self._unheard(asked.operation)
            self.wire.record("told", request=asked.request, outcome="unknown")

    def _work(self) -> Asked | None:
        raise NotImplementedError

    def _heard(self, operation: Asked, outcome: str) -> None:
        raise NotImplementedError

    def _unheard(self, operation: Asked) -> None:
        raise NotImplementedError

    def _delivered(self, sender: Name, message: Deliver) -> None:
        """Nothing, for who subscribes to nothing."""

    def _written(self) -> None:
        """Nothing, for who has no disk."""

    def _write_failed(self) -> None:
        """Nothing, for who has no disk."""


class Publisher(Application):
    """A publisher. The first one makes the topics, unless others are to, and the links. `links`: those that have to
    wait until both of their topics are there. `sent`: its messages so far."""

    def __init__(self, setup: Setup, service: Name, index: int) -> None:
        super().__init__(setup, service)
        self.sent = 0
        self.links: deque[Link] = deque()
        options = self.options
        if index == 0:
            links = [Link(here, there, options.link_cost) for here, there in GRAPHS[options.graph]]
            if options.topics_missing:
                self.links.extend(links)
            else:
                self.todo.extend([*(Create(name) for name in TOPICS), *links])

    def _work(self) -> Asked | None:
        options = self.options
        if self.links and self.number % 2 == 0:
            return self.links.popleft()  # in turn with messages
        if options.messages_max and self.sent >= options.messages_max:
            return None
        topic = TOPICS[self.sent % options.published_on]
        cost = self.sent // options.published_on % (options.message_cost + 1)
        self.sent += 1
        return Publish(topic, self.prefix, self.sent, "event", cost)

    def _heard(self, operation: Asked, outcome: str) -> None:
        if isinstance(operation, Publish):
            if outcome == NO_SUCH_TOPIC:
                self.todo.append(Create(operation.topic))
        elif isinstance(operation, Link):
            if outcome in (NO_SUCH_TOPIC, FAILED):
                self.links.append(operation)
        elif outcome == FAILED:
            self.todo.append(operation)

    def _unheard(self, operation: Asked) -> None:
        if isinstance(operation, Link):
            self.links.append(operation)
        elif not isinstance(operation, Publish) or self.options.publisher_repeats:
            self.todo.appendleft(operation)


class SubscriberProcess(Application):
    """A subscriber. `wanted`: topics; `told`: those that it takes itself to be subscribed to; `ended`: those that it
    wants no more. `asked_us`: when it subscribed last, by topic. `deliveries`: how many came."""

    def __init__(self, setup: Setup, service: Name, index: int) -> None:
        super().__init__(setup, service)
        options = self.options
        self.wanted = wanted(options.interests, index)
        self.told: dict[str, None] = {}
        self.ended: dict[str, None] = dict.fromkeys(_read(setup))
        self.ending: deque[str] = deque(self.ended)
        self.asked_us: dict[str, int] = {}
        self.leaves_us = options.leave_after_us if index % 2 == 0 else 0
        self.deliveries = 0
        lenient = index == 0 or not options.first_alone
        delivery, retries = (options.delivery, options.retry_count) if lenient else ("ordered", 0)
        self.subscriber = Subscriber(setup.member, setup.member, {"reliability": delivery, "retryCount": str(retries)})

    def _work(self) -> Asked | None:
        now_us = self.wire.now_us
        if self.leaves_us and now_us >= self.leaves_us and any(one not in self.ended for one in self.wanted):
            self.leaves_us = 0
            self.ended = dict.fromkeys(self.wanted)
            self.told = {}
            kept = msgspec.msgpack.encode(StoredSubscriber(tuple(self.ended)))
            self.wire.out.append(Write(0, ((KEY, kept),)))
            return None
        if self.ending:
            return Unsubscribe(self.ending[0], (self.member,))
        for topic in self.wanted:
            if topic not in self.ended and self._is_due(topic):
                self.asked_us[topic] = now_us
                return Subscribe(topic, self.subscriber)
        return None

    def _is_due(self, topic: str) -> bool:
        if topic not in self.told:
            return True
        period_us = self.options.ask_period_us
        return bool(period_us) and self.wire.now_us - self.asked_us.get(topic, 0) >= period_us

    def _heard(self, operation: Asked, outcome: str) -> None:
        if isinstance(operation, Subscribe):
            if outcome in (OK, ALREADY_SUBSCRIBED):
                if operation.topic not in self.ended:
                    self.told[operation.topic] = None
            elif outcome == NO_SUCH_TOPIC:
                self.told.pop(operation.topic, None)
                if self.options.topics_missing:
                    self.todo.append(Create(operation.topic))
        elif isinstance(operation, Unsubscribe) and outcome in (OK, NOT_SUBSCRIBED, NO_SUCH_TOPIC) and self.ending:
            self.ending.popleft()

    def _unheard(self, operation: Asked) -> None:
        if isinstance(operation, Subscribe):
            self.told.pop(operation.topic, None)
        elif isinstance(operation, Create):
            self.todo.append(operation)

    def _written(self) -> None:
        """That it wants them no more is on its disk: now it ends the subscriptions."""
        self.wire.record("leaves", topics=list(self.ended))
        self.ending = deque(self.ended)

    def _write_failed(self) -> None:
        self.ended = {}
        self.leaves_us = self.wire.now_us + self.options.client_period_us

    def _delivered(self, sender: Name, message: Deliver) -> None:
        """A message has come. A subscriber that fails may have done its work before."""
        self.deliveries += 1
        every = self.options.exceptions_every
        fails = bool(every) and message.call != 0 and self.deliveries % every == 0
        if not fails or self.deliveries // every % 2:
            self.wire.record(
                "delivered",
                topic=message.topic,
                origin=message.origin,
                publisher=message.publisher,
                number=message.number,
                message=f"{message.publisher}/{message.number}",
            )
        if fails:
            self.wire.record("subscriber_raises", topic=message.topic)
        if message.call:
            self.wire.send(sender, Delivered(message.call, not fails))


def wanted(interests: str, index: int) -> tuple[str, ...]:
    """The topics that the so many-th subscriber wants, from 0."""
    if interests == "first":
        return (FIRST,)
    if interests == "both":
        return (SECOND, THIRD)
    return ((SECOND,), (FIRST,))[index] if index < 2 else (THIRD,)


def _read(setup: Setup) -> tuple[str, ...]:
    raw = setup.durable.get(KEY)
    if raw is None:
        return ()
    try:
        stored = msgspec.msgpack.decode(raw, type=StoredSubscriber)
    except msgspec.MsgspecError as error:
        raise Refused(f"the disk of {setup.member} cannot be read ({error}): erase it") from error
    if stored.version != VERSION:
        raise Refused(f"the disk of {setup.member} has format {stored.version}; this program reads {VERSION}")
    return stored.ended
