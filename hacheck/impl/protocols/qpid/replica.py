"""The side of a queue's replication that gets the messages: subscribe, take copies, say that they are there, drop.

**Source:** overview of the HA module, "Queue Replication", "Queue Failover"; survey of broker failover protocols,
section 1.7.
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
from hacheck.impl.protocols.qpid.objects import Content
from hacheck.impl.protocols.qpid.process import Channel, Process
from hacheck.impl.protocols.qpid.queues import Queue, Stored, members_of, ranges
from hacheck.impl.protocols.qpid.store import Store


class QueueReplicator:
    """Keeps one queue like the one it is a replica of. `next_id`: the id of the next copy. `arrived`: ids to be
    acknowledged with the input at hand."""

    __slots__ = ("arrived", "channel", "next_id", "number", "queue")

    def __init__(self, queue: Queue, channel: Channel, number: int) -> None:
        self.queue = queue
        self.channel = channel
        self.number = number
        self.next_id = queue.last_id + 1
        self.arrived: list[int] = []


class Replicas:
    """All queue replicators of a broker, by queue and by their number. `has_come`: is informed of what comes to a
    queue, where it may have consumers of its own."""

    __slots__ = ("_counter", "_has_come", "_process", "_store", "_trace", "by_number", "by_queue", "waiting")

    def __init__(
        self,
        process: Process,
        store: Store,
        trace_messages: bool,
        has_come: Callable[[Queue, Stored], None] | None = None,
    ) -> None:
        self._process = process
        self._has_come = has_come
        self._store = store
        self._trace = trace_messages
        self._counter = 0
        self.by_queue: dict[str, QueueReplicator] = {}
        self.by_number: dict[int, QueueReplicator] = {}
        self.waiting: dict[int, None] = {}

    def subscribe(self, queue: Queue, channel: Channel) -> None:
        """Ask for the messages of a queue: say which are here, so that they are not sent, or are to be dropped."""
        self.drop(queue.name)
        self._counter += 1
        replicator = QueueReplicator(queue, channel, self._counter)
        self.by_queue[queue.name] = replicator
        self.by_number[self._counter] = replicator
        held = ranges(queue.positions)
        self._process.say(channel, SubscribeQueue(self._counter, queue.name, queue.arguments.uuid, held))

    def drop(self, queue: str) -> None:
        """Replicate this queue no more."""
        replicator = self.by_queue.pop(queue, None)
        if replicator is not None:
            del self.by_number[replicator.number]
            self.waiting.pop(replicator.number, None)

    def refused(self, given: SubscriptionRefused) -> None:
        """The other broker has no such queue any more; that it was deleted will be heard, or was."""
        replicator = self.by_number.get(given.subscription)
        if replicator is not None:
            self._process.record("subscription-refused", queue=replicator.queue.name, reason=given.reason)
            self.drop(replicator.queue.name)

    def disconnected(self, channel: Channel) -> None:
        """What came by this connection comes no more. The queues stay as they are."""
        for replicator in tuple(self.by_queue.values()):
            if replicator.channel is channel:
                self.drop(replicator.queue.name)

    def id_event(self, given: IdEvent) -> None:
        """The id of the next copy."""
        replicator = self.by_number.get(given.subscription)
        if replicator is not None:
            replicator.next_id = given.id

    def copy(self, given: Copy) -> None:
        """A copy: put on the queue, unless it is there already. Durable ones are acknowledged when they are on disk."""
        replicator = self.by_number.get(given.subscription)
        if replicator is None:
            return
        number = replicator.next_id
        replicator.next_id = number + 1
        self._put(replicator, number, given.content)

    def take(self, name: str, uuid: str, number: int, content: Content) -> None:
        """A message of a transaction: put on the queue, and acknowledged as a copy is."""
        replicator = self.by_queue.get(name)
        if replicator is not None and replicator.queue.arguments.uuid == uuid:
            self._put(replicator, number, content)

    def lose(self, name: str, uuid: str, number: int) -> None:
        """A message that a transaction has taken off a queue."""
        replicator = self.by_queue.get(name)
        if replicator is not None and replicator.queue.arguments.uuid == uuid:
            self._remove(replicator.queue, number)

    def _put(self, replicator: QueueReplicator, number: int, content: Content) -> None:
        queue = replicator.queue
        if number in queue.positions:
            self._acknowledge(replicator, number)
            return
        message = queue.append(content, number)
        if self._has_come is not None:
            self._has_come(queue, message)
        if self._trace:
            self._process.record(
                "enqueued", queue=queue.name, id=number, position=message.position, message=content.message
            )
        if self._store.keeps(queue, message):
            self._store.arrive(queue, message, replicator.number)
        else:
            self._acknowledge(replicator, number)

    def written(self, arrived: list[tuple[int, int]]) -> None:
        """Copies are on the disk: (subscription, id)."""
        for number, replication_id in arrived:
            replicator = self.by_number.get(number)
            if replicator is not None:
                self._acknowledge(replicator, replication_id)

    def _acknowledge(self, replicator: QueueReplicator, replication_id: int) -> None:
        replicator.arrived.append(replication_id)
        self.waiting[replicator.number] = None

    def dequeue(self, given: DequeueEvent) -> None:
        """These messages are gone from the other queue. Ids that are not here are no mistake."""
        replicator = self.by_number.get(given.subscription)
        if replicator is None:
            return
        for replication_id in sorted(members_of(given.ids)):
            self._remove(replicator.queue, replication_id)

    def _remove(self, queue: Queue, replication_id: int) -> None:
        position = queue.positions.get(replication_id)
        if position is not None:
            message = queue.remove(position)
            self._store.drop_message(queue, position)
            if self._trace and message is not None:
                self._process.record("dropped", queue=queue.name, id=replication_id, message=message.content.message)

    def flush(self) -> None:
        """Acknowledge what has arrived."""
        for number in self.waiting:
            replicator = self.by_number[number]
            self._process.say(replicator.channel, Acknowledge(number, tuple(replicator.arrived)))
            replicator.arrived = []
        self.waiting.clear()
