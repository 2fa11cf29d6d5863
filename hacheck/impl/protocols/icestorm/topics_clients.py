"""Publishers and subscribers of one service: what an application does that uses topics.

Topics are made as they are needed: the one that needs one makes it, or finds that somebody else has. A subscriber that
is removed is not informed; what helps is to subscribe again from time to time, and to find that one is subscribed.

**Source**: IceStorm Concepts, "IceStorm Topics", "Unidirectional Messages", "Subscriber Errors".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from msgspec import Struct

from hacheck.impl.kit.process import Process, ProcessNode
from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import Fired, Input, Name, Received, Setup, Started, Unreachable, WriteFailed, Written
from hacheck.impl.protocols.icestorm.messages import Deliver, Delivered, Reply, Request
from hacheck.impl.protocols.icestorm.records import (
    ALREADY_SUBSCRIBED,
    FAILED,
    NO_SUCH_TOPIC,
    NOT_SUBSCRIBED,
    OK,
    ClientOperation,
    Create,
    Link,
    Publish,
    Subscribe,
    Subscriber,
    Unsubscribe,
)
from hacheck.impl.protocols.icestorm.topics_options import FIRST, GRAPHS, SECOND, THIRD, TOPICS, TopicsOptions

NEXT, ATTEMPT = "next", "attempt"
KEY = "subscriber"
VERSION = 1


class StoredSubscriber(Struct, frozen=True):
    """The subscriptions that a subscriber has ended: it wants them no more."""

    ended: tuple[str, ...]
    version: int = VERSION


class Application(ProcessNode[Process[None]]):
    """One process that asks the service, one request at a time. `todo`: what comes before its own work; `pending`: the
    request that is not answered; `number`: counts its requests."""

    def __init__(self, setup: Setup, service: Name) -> None:
        self.options: TopicsOptions = setup.options
        self.member = setup.member
        self.service = service
        self.process: Process[None] = Process(setup)
        self.prefix = f"{setup.member}/{setup.incarnation}"
        self.todo: deque[ClientOperation] = deque()
        self.pending: Request | None = None
        self.number = 0

    def _started(self, given: Started) -> None:
        self.process.record("client_started")
        self.process.set_timer(NEXT, self.options.client_period_us)

    def _received(self, given: Received) -> None:
        if isinstance(given.message, Reply):
            self._answered(given.message)
        elif isinstance(given.message, Deliver):
            self._delivered(given.sender, given.message)

    def _fired(self, given: Fired) -> None:
        if given.timer == NEXT:
            self._next()
        else:
            self._silent()

    def _unreachable(self, given: Unreachable) -> None:
        if given.peer == self.service:
            self._silent()

    def _next(self) -> None:
        self.process.set_timer(NEXT, self.options.client_period_us)
        if self.pending is None:
            operation = self.todo.popleft() if self.todo else self._work()
            if operation is not None:
                self._ask(operation)

    def _ask(self, operation: ClientOperation) -> None:
        self.number += 1
        self.pending = Request(f"{self.prefix}/{self.number}", 1, operation)
        fields = {"request": self.pending.request, "operation": type(operation).__name__, "topic": operation.topic}  # type: ignore[union-attr]
        if isinstance(operation, Publish):
            fields |= {"publisher": operation.publisher, "number": operation.number, "cost": operation.cost}
        elif isinstance(operation, Link):
            fields |= {"to": operation.to}
        self.process.record("asked", **fields)
        self.process.send(self.service, self.pending)
        self.process.set_timer(ATTEMPT, self.options.client_timeout_us)

    def _answered(self, reply: Reply) -> None:
        pending = self.pending
        if pending is None or pending.request != reply.request:
            return
        self.pending = None
        self.process.cancel_timer(ATTEMPT)
        self._heard(pending.operation, reply.outcome)
        self.process.record("told", request=pending.request, outcome=reply.outcome)

    def _silent(self) -> None:
        """No answer: nobody knows what came of it."""
        pending, self.pending = self.pending, None
        if pending is not None:
            self.process.cancel_timer(ATTEMPT)
            self._unheard(pending.operation)
            self.process.record("told", request=pending.request, outcome="unknown")

    def _work(self) -> ClientOperation | None:
        raise NotImplementedError

    def _heard(self, operation: ClientOperation, outcome: str) -> None:
        raise NotImplementedError

    def _unheard(self, operation: ClientOperation) -> None:
        raise NotImplementedError

    def _delivered(self, sender: Name, message: Deliver) -> None:
        """Nothing, for who subscribes to nothing."""

    inputs: ClassVar[Mapping[type[Input], Callable[[Any, Any], None]]] = {
        Started: _started,
        Received: _received,
        Fired: _fired,
        Unreachable: _unreachable,
    }


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

    def _work(self) -> ClientOperation | None:
        options = self.options
        if self.links and self.number % 2 == 0:
            return self.links.popleft()  # in turn with messages
        if options.messages_max and self.sent >= options.messages_max:
            return None
        topic = TOPICS[self.sent % options.published_on]
        cost = self.sent // options.published_on % (options.message_cost + 1)
        self.sent += 1
        return Publish(topic, self.prefix, self.sent, "event", cost)

    def _heard(self, operation: ClientOperation, outcome: str) -> None:
        if isinstance(operation, Publish):
            if outcome == NO_SUCH_TOPIC:
                self.todo.append(Create(operation.topic))
        elif isinstance(operation, Link):
            if outcome in (NO_SUCH_TOPIC, FAILED):
                self.links.append(operation)
        elif outcome == FAILED:
            self.todo.append(operation)

    def _unheard(self, operation: ClientOperation) -> None:
        if isinstance(operation, Link):
            self.links.append(operation)
        elif not isinstance(operation, Publish) or self.options.publisher_repeats:
            self.todo.appendleft(operation)


class SubscriberProcess(Application):
    """A subscriber. `wanted`: topics; `subscribed`: those that it takes itself to be subscribed to; `ended`: those that
    it wants no more. `subscribed_us`: when it subscribed last, by topic. `deliveries`: how many came."""

    def __init__(self, setup: Setup, service: Name, index: int) -> None:
        super().__init__(setup, service)
        options = self.options
        self.wanted = wanted(options.interests, index)
        self.subscribed: dict[str, None] = {}
        self.ended: dict[str, None] = dict.fromkeys(_ended(setup))
        self.ending: deque[str] = deque(self.ended)
        self.subscribed_us: dict[str, int] = {}
        self.leaves_us = options.leave_after_us if index % 2 == 0 else 0
        self.deliveries = 0
        lenient = index == 0 or not options.first_alone
        delivery, retries = (options.delivery, options.retry_count) if lenient else ("ordered", 0)
        self.subscriber = Subscriber(setup.member, setup.member, {"reliability": delivery, "retryCount": str(retries)})

    def _work(self) -> ClientOperation | None:
        now_us = self.process.now_us
        if self.leaves_us and now_us >= self.leaves_us and any(one not in self.ended for one in self.wanted):
            self.leaves_us = 0
            self.ended = dict.fromkeys(self.wanted)
            self.subscribed = {}
            self.process.write(((KEY, encode(StoredSubscriber(tuple(self.ended)))),))
            return None
        if self.ending:
            return Unsubscribe(self.ending[0], (self.member,))
        for topic in self.wanted:
            if topic not in self.ended and self._is_due(topic):
                self.subscribed_us[topic] = now_us
                return Subscribe(topic, self.subscriber)
        return None

    def _is_due(self, topic: str) -> bool:
        if topic not in self.subscribed:
            return True
        period_us = self.options.ask_period_us
        return bool(period_us) and self.process.now_us - self.subscribed_us.get(topic, 0) >= period_us

    def _heard(self, operation: ClientOperation, outcome: str) -> None:
        if isinstance(operation, Subscribe):
            if outcome in (OK, ALREADY_SUBSCRIBED):
                if operation.topic not in self.ended:
                    self.subscribed[operation.topic] = None
            elif outcome == NO_SUCH_TOPIC:
                self.subscribed.pop(operation.topic, None)
                if self.options.topics_missing:
                    self.todo.append(Create(operation.topic))
        elif isinstance(operation, Unsubscribe) and outcome in (OK, NOT_SUBSCRIBED, NO_SUCH_TOPIC) and self.ending:
            self.ending.popleft()

    def _unheard(self, operation: ClientOperation) -> None:
        if isinstance(operation, Subscribe):
            self.subscribed.pop(operation.topic, None)
        elif isinstance(operation, Create):
            self.todo.append(operation)

    def _written(self, given: Written) -> None:
        """That it wants them no more is on its disk: now it ends the subscriptions."""
        self.process.record("leaves", topics=list(self.ended))
        self.ending = deque(self.ended)

    def _write_failed(self, given: WriteFailed) -> None:
        self.ended = {}
        self.leaves_us = self.process.now_us + self.options.client_period_us

    def _delivered(self, sender: Name, message: Deliver) -> None:
        """A message has come. A subscriber that fails may have done its work before."""
        self.deliveries += 1
        every = self.options.exceptions_every
        fails = bool(every) and message.call != 0 and self.deliveries % every == 0
        if not fails or self.deliveries // every % 2:
            self.process.record(
                "delivered",
                topic=message.topic,
                origin=message.origin,
                publisher=message.publisher,
                number=message.number,
                message=f"{message.publisher}/{message.number}",
            )
        if fails:
            self.process.record("subscriber_raises", topic=message.topic)
        if message.call:
            self.process.send(sender, Delivered(message.call, not fails))

    inputs: ClassVar[Mapping[type[Input], Callable[[Any, Any], None]]] = {
        **Application.inputs,
        Written: _written,
        WriteFailed: _write_failed,
    }


def wanted(interests: str, index: int) -> tuple[str, ...]:
    """The topics that the so many-th subscriber wants, from 0."""
    if interests == "first":
        return (FIRST,)
    if interests == "both":
        return (SECOND, THIRD)
    return ((SECOND,), (FIRST,))[index] if index < 2 else (THIRD,)


def _ended(setup: Setup) -> tuple[str, ...]:
    """The subscriptions that a subscriber has ended, by its disk."""
    raw = setup.durable.get(KEY)
    return () if raw is None else decode(raw, StoredSubscriber, f"`{KEY}` on the disk of {setup.member}").ended
