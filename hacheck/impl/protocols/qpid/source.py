"""The side of a queue's replication that has the messages: guards that delay completion, subscriptions that send.

The life of a message here: an id is set (*record*); each guard delays its completion (*enqueue*); each subscription
sends it (*deliver*); the backup says that it has it (*acknowledge*); it leaves the queue, and backups are informed the
id (*dequeue*). Its publisher hears `Completed` when nobody delays it any more.

**Source:** overview of the HA module, "Queue Replication", "Queue Failover", "Queue and Backup ready"; survey of broker
failover protocols, sections 1.5 and 1.6.
"""

from __future__ import annotations

from collections.abc import Callable

from hacheck.impl.protocols.qpid.messages import (
    Acknowledge,
    Copy,
    DequeueEvent,
    IdEvent,
    SubscribeQueue,
    SubscriptionRefused,
)
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.process import Channel, Process
from hacheck.impl.protocols.qpid.queues import Queue, Stored, members_of, ranges


class QueueGuard:
    """Delays the completion of what comes to a queue until one backup has it. `first`: the first position it guards:
    messages before it may be acknowledged already. `delayed`: what the backup has yet to acknowledge, by id."""

    __slots__ = ("delayed", "first", "is_cancelled", "queue", "system")

    def __init__(self, queue: Queue, system: str) -> None:
        self.queue = queue
        self.system = system
        self.first = queue.back + 1
        self.delayed: dict[int, Stored] = {}
        self.is_cancelled = False


class ReplicatingSubscription:
    """What one backup is sent of one queue. `position`: the last message that it was sent or has. `skip`: ids that it
    has already. `committed`: ids that it has by a transaction, and will acknowledge. `unready`: ids before the guard
    that it was sent and has not acknowledged. `dequeues`: ids to report to it as gone. `was_stopped`: once there was
    nothing more to send. `next_id`: the id that it takes the next copy to have."""

    __slots__ = (
        "channel", "committed", "dequeues", "guard", "is_ready", "next_id", "number", "on_the_way", "position", "queue",
        "scanned", "skip", "unready", "was_stopped",
    )  # fmt: skip

    def __init__(self, channel: Channel, number: int, queue: Queue, guard: QueueGuard, held: set[int]) -> None:
        self.channel = channel
        self.number = number
        self.queue = queue
        self.guard = guard
        self.skip = held & queue.positions.keys()
        self.committed: set[int] = set()
        self.dequeues = sorted(held - queue.positions.keys())
        self.position = queue.front - 1
        self.scanned = self.position
        self.unready: set[int] = set()
        self.on_the_way = 0
        self.was_stopped = False
        self.is_ready = False
        self.next_id = -1


class Source:
    """All guards and subscriptions of a broker. `settle` is called once for each delay of a message that ends,
    `on_ready` when a backup has what it needs of a queue."""

    __slots__ = (
        "_never_stopped",
        "_on_ready",
        "_process",
        "_same_name",
        "_settle",
        "_trace",
        "_window",
        "_zero_ids",
        "guards",
        "numbered",
        "subscriptions",
        "waiting",
    )  # fmt: skip

    def __init__(
        self,
        process: Process,
        options: Options,
        settle: Callable[[Queue, Stored], None],
        on_ready: Callable[[Channel, Queue], None],
    ) -> None:
        self._process = process
        self._window = options.flow_messages
        self._never_stopped = options.bug_never_stopped
        self._same_name = options.bug_same_name
        self._zero_ids = options.bug_zero_ids
        self._trace = options.trace_messages
        self._settle = settle
        self._on_ready = on_ready
        self.guards: dict[str, list[QueueGuard]] = {}
        self.subscriptions: dict[str, list[ReplicatingSubscription]] = {}
        self.numbered: dict[tuple[str, int], ReplicatingSubscription] = {}
        self.waiting: dict[ReplicatingSubscription, None] = {}
        """Subscriptions that have something to do before the input at hand is dealt with."""

    # ---- guards -----------------------------------------------------------------------------------------------------

    def guard(self, queue: Queue, system: str) -> QueueGuard:
        """From now on, what comes to the queue waits for this backup."""
        guard = QueueGuard(queue, system)
        self.guards.setdefault(queue.name, []).append(guard)
        return guard

    def cancel_guard(self, guard: QueueGuard) -> None:
        """Nothing on this queue waits for this backup any more."""
        if guard.is_cancelled:
            return
        guard.is_cancelled = True
        self.guards[guard.queue.name].remove(guard)
        delayed, guard.delayed = guard.delayed, {}
        for message in delayed.values():
            self._settle(guard.queue, message)

    def complete(self, guard: QueueGuard, replication_id: int) -> None:
        """The backup has this message, or nobody needs it any more."""
        message = guard.delayed.pop(replication_id, None)
        if message is not None:
            self._settle(guard.queue, message)

    # ---- what happens to the queue ----------------------------------------------------------------------------------

    def enqueued(self, queue: Queue, message: Stored) -> None:
        """A message has come to the queue."""
        for guard in self.guards.get(queue.name, ()):
            guard.delayed[message.id] = message
            message.outstanding += 1
            if self._trace:
                self._process.record("delayed", queue=queue.name, id=message.id, backup=guard.system)
        for subscription in self.subscriptions.get(queue.name, ()):
            self.waiting[subscription] = None

    def dequeued(self, queue: Queue, message: Stored) -> None:
        """A message has left the queue: nobody need wait for copies of it, and backups are to drop theirs."""
        for guard in tuple(self.guards.get(queue.name, ())):
            self.complete(guard, message.id)
        for subscription in self.subscriptions.get(queue.name, ()):
            subscription.dequeues.append(message.id)
            self.waiting[subscription] = None

    def deleted(self, queue: Queue, without_dequeue: bool) -> None:
        """A queue is gone."""
        for subscription in self.subscriptions.pop(queue.name, []):
            self.numbered.pop((subscription.channel.connection, subscription.number), None)
            self.waiting.pop(subscription, None)
        for guard in tuple(self.guards.get(queue.name, ())):
            if without_dequeue:
                guard.is_cancelled = True
            else:
                self.cancel_guard(guard)
        self.guards.pop(queue.name, None)

    # ---- subscriptions ----------------------------------------------------------------------------------------------

    def subscribe(
        self, channel: Channel, request: SubscribeQueue, queue: Queue | None, guard: QueueGuard | None
    ) -> None:
        """A backup wants a queue. It says what it has; what is not there any more it is ordered to drop, and what it
        has it is not sent again. `guard`: the one that was made for it before it came, or a new one is made now."""
        known = queue is not None and (self._same_name or not request.uuid or request.uuid == queue.arguments.uuid)
        if queue is None or not known:
            self._process.say(channel, SubscriptionRefused(request.subscription, "no such queue"))
            return
        if self._zero_ids and not self.subscriptions.get(queue.name):
            queue.last_id = max(queue.last_id, queue.back)
        system = channel.about.system if channel.about is not None else channel.connection
        for old in tuple(self.subscriptions.get(queue.name, ())):
            if old.channel is channel:
                self.cancel(old)
        guard = guard if guard is not None and not guard.is_cancelled else self.guard(queue, system)
        held = members_of(request.held)
        subscription = ReplicatingSubscription(channel, request.subscription, queue, guard, held)
        self.subscriptions.setdefault(queue.name, []).append(subscription)
        self.numbered[(channel.connection, request.subscription)] = subscription
        self.waiting[subscription] = None
        self._process.record(
            "subscribed", queue=queue.name, backup=system, front=queue.front, back=queue.back, guarded=guard.first,
            keep=len(subscription.skip), drop=len(subscription.dequeues), by=channel.peer,
        )  # fmt: skip

    def cancel(self, subscription: ReplicatingSubscription) -> None:
        """A backup wants no more of a queue, or has gone: its guard holds up nothing any more."""
        self._drop(subscription)
        self.cancel_guard(subscription.guard)

    def _drop(self, subscription: ReplicatingSubscription) -> None:
        of_queue = self.subscriptions.get(subscription.queue.name, [])
        if subscription in of_queue:
            of_queue.remove(subscription)
        self.numbered.pop((subscription.channel.connection, subscription.number), None)
        self.waiting.pop(subscription, None)

    def disconnected(self, channel: Channel) -> list[QueueGuard]:
        """A backup's connection is gone. Its guards, which are to be cancelled now or later."""
        mine = [one for one in self.numbered.values() if one.channel is channel]
        for subscription in mine:
            self._drop(subscription)
        return [subscription.guard for subscription in mine]

    def acknowledged(self, channel: Channel, given: Acknowledge) -> None:
        """A backup has these messages."""
        subscription = self.numbered.get((channel.connection, given.subscription))
        if subscription is None:
            return
        guard = subscription.guard
        for number in given.ids:
            if number in subscription.committed:  # acknowledged before its turn: the window was full
                subscription.committed.discard(number)
            elif subscription.on_the_way:  # by a transaction and as a copy it is acknowledged twice
                subscription.on_the_way -= 1
            self.complete(guard, number)
            subscription.unready.discard(number)
            if self._trace:
                self._process.record("acknowledged", queue=guard.queue.name, id=number, backup=guard.system)
        self.waiting[subscription] = None

    def has_already(self, channel: Channel, queue: Queue, number: int) -> None:
        """A backup commits this message by itself: it need not be sent, and will be acknowledged."""
        for subscription in self.subscriptions.get(queue.name, ()):
            if subscription.channel is channel:
                subscription.committed.add(number)

    def flush(self) -> None:
        """Send what there is to send, to whom it concerns."""
        while self.waiting:
            subscription = next(iter(self.waiting))
            del self.waiting[subscription]
            self._dispatch(subscription)

    def _dispatch(self, subscription: ReplicatingSubscription) -> None:
        """Report to a backup which messages are gone, then send those that it does not have, as far as it takes
        them."""
        process = self._process
        channel = subscription.channel
        if subscription.dequeues:
            process.say(channel, DequeueEvent(subscription.number, ranges(subscription.dequeues)))
            subscription.dequeues = []
        queue = subscription.queue
        messages = queue.messages
        while subscription.on_the_way < self._window:
            position = subscription.scanned + 1
            if position > queue.back:
                subscription.was_stopped = True
                break
            subscription.scanned = position
            message = messages.get(position)
            if message is not None:
                subscription.position = position
                self._deliver(subscription, message)
        if not subscription.is_ready and self._is_ready(subscription):
            subscription.is_ready = True
            process.record("caught-up", queue=queue.name, position=subscription.position, by=channel.peer)
            self._on_ready(channel, queue)

    def _deliver(self, subscription: ReplicatingSubscription, message: Stored) -> None:
        number = message.id
        if number in subscription.skip:
            subscription.skip.discard(number)
            self.complete(subscription.guard, number)  # it will never be acknowledged
            return
        if number in subscription.committed:
            subscription.committed.discard(number)
            subscription.on_the_way += 1
            return
        if not subscription.is_ready and message.position < subscription.guard.first:
            subscription.unready.add(number)
        if subscription.next_id != number:
            self._process.say(subscription.channel, IdEvent(subscription.number, number))
        subscription.next_id = number + 1
        subscription.on_the_way += 1
        self._process.say(subscription.channel, Copy(subscription.number, message.content))
        if self._trace:
            self._process.record(
                "replicated", queue=subscription.queue.name, id=number, backup=subscription.guard.system
            )

    def _is_ready(self, subscription: ReplicatingSubscription) -> bool:
        """Every message is safe or delayed: the cursor has reached the guard, or there was nothing more to send, which
        also holds where the messages before the guard are gone; and what was sent before the guard has arrived."""
        reached = subscription.position + 1 >= subscription.guard.first
        stopped = subscription.was_stopped and not self._never_stopped
        return (reached or stopped) and not subscription.unready
