"""What a broker does for its clients: declare, publish, deliver, accept.

A published message is `Completed` when nobody delays it any more, or when it has been consumed. Accepting is not
delayed, and so is a change of the configuration: backups hear of both later (Q-G1, near misses of the survey).

**Source:** overview of the HA module, "At-least-once and delayed completion"; survey of broker failover protocols,
sections 1.5 and 1.9.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

from hacheck.impl.protocols.qpid.messages import (
    Accept,
    Completed,
    Consume,
    Delivery,
    Done,
    Failed,
    Publish,
    Release,
)
from hacheck.impl.protocols.qpid.objects import Content
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.process import Channel, Process
from hacheck.impl.protocols.qpid.queues import Publication, Queue, Stored, Wiring
from hacheck.impl.protocols.qpid.source import Source
from hacheck.impl.protocols.qpid.store import Store
from hacheck.impl.protocols.qpid.transactions import Transactions

TERM_BITS = 32
"""A replication id is the term of the primary that gave it and, in so many bits below it, a count."""


class Consumer:
    """A client that consumes a queue. `held`: what it was sent and has not accepted, by position."""

    __slots__ = ("channel", "credit", "held", "queue")

    def __init__(self, channel: Channel, queue: Queue, credit: int) -> None:
        self.channel = channel
        self.queue = queue
        self.credit = credit
        self.held: dict[int, Stored] = {}


class ClientService:
    """The messages and consumers of a broker that clients use. `available`: positions that may be delivered, a heap for
    each queue that is consumed. `may_complete`: publishers may be informed."""

    __slots__ = (
        "_options",
        "_process",
        "_store",
        "_wiring",
        "available",
        "completed",
        "consumers",
        "delete_queue",
        "first_id",
        "may_complete",
        "replicated",
        "source",
        "transactions",
        "unserved",
    )  # fmt: skip

    def __init__(
        self,
        process: Process,
        options: Options,
        wiring: Wiring,
        store: Store,
        on_ready: Callable[[Channel, Queue], None],
        delete_queue: Callable[[Queue], None],
    ) -> None:
        self._process = process
        self._options = options
        self._wiring = wiring
        self._store = store
        self.delete_queue = delete_queue
        self.source = Source(process, options, self.settle, on_ready)
        self.transactions = Transactions(process, options, wiring, self)
        self.available: dict[str, list[int]] = {}
        self.consumers: dict[str, list[Consumer]] = {}
        self.unserved: dict[str, None] = {}
        self.completed: list[Publication] = []
        self.may_complete = True
        self.first_id = 0

    # ---- messages come ----------------------------------------------------------------------------------------------

    def publish(self, channel: Channel, body: Publish) -> None:
        """A client sends a message."""
        if body.transaction:
            self.transactions.publish(channel, body)
            return
        publication = Publication(channel, body.content.message)
        if not body.exchange and body.key not in self._wiring.queues:
            self._process.say(channel, Failed(body.content.message, f"no queue `{body.key}`"))
            return
        publication.pending = 1  # for this call: until it has been to all queues, it is not complete
        self._route(publication, body)
        self.less(publication)

    def _route(self, publication: Publication, body: Publish) -> None:
        for queue in self._wiring.route(body.exchange, body.key):
            self.enqueue(queue, body.content, publication)

    def give_id(self, queue: Queue) -> int:
        """The replication id of the next message for a queue, which is no other's from now on."""
        if self._options.bug_zero_ids and not self.source.subscriptions.get(queue.name):
            return 0
        queue.last_id = max(queue.last_id + 1, self.first_id)
        return queue.last_id

    def enqueue(
        self, queue: Queue, content: Content, publication: Publication | None, number: int | None = None
    ) -> None:
        """Put a message on a queue: set its id, unless it has one; have it guarded, stored, replicated, delivered."""
        if number is None:
            number = self.give_id(queue)
        message = queue.append(content, number, publication)
        if publication is not None:
            publication.pending += 1
        message.outstanding = 1  # for this call
        if self._options.trace_messages:
            self._process.record("recorded", queue=queue.name, id=number, message=content.message)
        self.source.enqueued(queue, message)
        if self._store.keeps(queue, message):
            message.outstanding += 1
            self._store.settle(queue, message)
        self.offer(queue, message)
        self.settle(queue, message)
        ring_max = queue.arguments.ring_max
        if ring_max and len(queue.messages) > ring_max:
            self.dequeue(queue, queue.front)

    def offer(self, queue: Queue, message: Stored) -> None:
        """A message has come to a queue otherwise: the one that consumes there may have it."""
        if queue.name in self.available:
            heapq.heappush(self.available[queue.name], message.position)
            self.unserved[queue.name] = None

    def settle(self, queue: Queue, message: Stored) -> None:
        """One of those who delay a message does so no longer."""
        message.outstanding -= 1
        if message.outstanding == 0 and message.publication is not None:
            publication, message.publication = message.publication, None
            if self._options.trace_messages:
                self._process.record("settled", queue=queue.name, id=message.id, message=message.content.message)
            self.less(publication)

    def less(self, publication: Publication) -> None:
        """One thing less for a client to wait for."""
        publication.pending -= 1
        if publication.pending == 0:
            self.completed.append(publication)

    # ---- messages go ------------------------------------------------------------------------------------------------

    def dequeue(self, queue: Queue, position: int) -> None:
        """A message leaves a queue for good."""
        message = queue.remove(position)
        if message is None:
            return
        if self._options.trace_messages:
            self._process.record("dequeued", queue=queue.name, id=message.id, message=message.content.message)
        self._store.drop_message(queue, position)
        self.source.dequeued(queue, message)

    def purge(self, queue: Queue) -> None:
        """Drop what nobody holds."""
        for position in [message.position for message in queue.messages.values() if not message.taken]:
            self.dequeue(queue, position)

    def deleted(self, queue: Queue) -> None:
        """A queue is gone: so are its messages, and nobody waits for them to be anywhere."""
        without = self._options.bug_delete_without_dequeue
        for message in queue.messages.values():
            if not (without and message.taken):
                self.source.dequeued(queue, message)
        self.source.deleted(queue, without)
        self.available.pop(queue.name, None)
        self.unserved.pop(queue.name, None)
        self.consumers.pop(queue.name, None)

    def forgotten(self, queue: Queue) -> None:
        """A queue that was a copy is here no more: who consumes it has to connect again."""
        consumers = self.consumers.get(queue.name, [])
        self.deleted(queue)
        for consumer in consumers:
            self._process.close(consumer.channel, f"the queue `{queue.name}` is gone")
            self.disconnected(consumer.channel)

    # ---- consumers --------------------------------------------------------------------------------------------------

    def consume(self, channel: Channel, body: Consume) -> None:
        """A client wants the messages of a queue."""
        queue = self._wiring.queues.get(body.queue)
        if queue is None:
            self._process.say(channel, Failed(body.request, f"no queue `{body.queue}`"))
            return
        if self._consumer(channel, body.queue) is None:
            self.consumers.setdefault(body.queue, []).append(Consumer(channel, queue, body.credit))
        if body.queue not in self.available:
            self.available[body.queue] = [
                message.position for message in queue.messages.values() if not message.taken
            ]  # ascending, so a heap
        self.unserved[body.queue] = None
        self._process.say(channel, Done(body.request))

    def _consumer(self, channel: Channel, queue: str) -> Consumer | None:
        for consumer in self.consumers.get(queue, ()):
            if consumer.channel is channel:
                return consumer
        return None

    def accept(self, channel: Channel, body: Accept) -> None:
        """A client is done with deliveries. Backups hear of it later."""
        if body.transaction:
            self.transactions.accept(channel, body)
            return
        for tag in body.tags:
            self.accept_one(channel, body.queue, tag)
        self._process.say(channel, Done(body.request))

    def held(self, channel: Channel, queue: str, tag: int) -> Stored | None:
        """What a client was sent and has neither accepted nor given back."""
        consumer = self._consumer(channel, queue)
        return consumer.held.get(tag) if consumer is not None else None

    def accept_one(self, channel: Channel, queue: str, tag: int) -> None:
        """A client is done with a delivery."""
        consumer = self._consumer(channel, queue)
        if consumer is not None and consumer.held.pop(tag, None) is not None:
            self.dequeue(consumer.queue, tag)
            self.unserved[queue] = None

    def release(self, channel: Channel, body: Release) -> None:
        """A client gives deliveries back."""
        consumer = self._consumer(channel, body.queue)
        if consumer is not None:
            for tag in body.tags:
                message = consumer.held.pop(tag, None)
                if message is not None:
                    self._give_back(consumer.queue, message)

    def _give_back(self, queue: Queue, message: Stored) -> None:
        message.taken = False
        message.redelivered = True
        if message.position in queue.messages:
            heapq.heappush(self.available[queue.name], message.position)
            self.unserved[queue.name] = None

    def disconnected(self, channel: Channel) -> None:
        """A client is gone: what it held is for others, and an auto-delete queue that it was the last to use ends."""
        self.transactions.disconnected(channel)
        for name, consumers in tuple(self.consumers.items()):
            for consumer in tuple(consumers):
                if consumer.channel is channel:
                    consumers.remove(consumer)
                    for message in consumer.held.values():
                        self._give_back(consumer.queue, message)
            if not consumers:
                del self.consumers[name]
                self.available.pop(name, None)
                self.unserved.pop(name, None)
                self.auto_delete(self._wiring.queues[name])

    def auto_delete(self, queue: Queue) -> None:
        """If the queue is one that ends with its last consumer, and has none: its messages go to its alternate exchange
        and it ends."""
        if queue.arguments.auto_delete and queue.name not in self.consumers:
            if queue.arguments.alternate:
                for message in queue.messages.values():
                    for other in self._wiring.route(queue.arguments.alternate, queue.name):
                        if other is not queue:
                            self.enqueue(other, message.content, message.publication)
            self.delete_queue(queue)

    # ---- at the end of each input -----------------------------------------------------------------------------------

    def flush(self) -> None:
        """Deliver what can be delivered, send backups what they lack, report to publishers what is complete."""
        while self.unserved:
            name = next(iter(self.unserved))
            del self.unserved[name]
            self._serve(name)
        self.source.flush()
        if self.completed and self.may_complete:
            self._send_completed()

    def _serve(self, name: str) -> None:
        consumers = self.consumers.get(name)
        if not consumers:
            return
        available = self.available[name]
        queue = consumers[0].queue
        while available:
            consumer = min(consumers, key=_held)
            if len(consumer.held) >= consumer.credit:
                return
            message = queue.messages.get(heapq.heappop(available))
            if message is not None and not message.taken:
                message.taken = True
                position = message.position
                consumer.held[position] = message
                self._process.say(consumer.channel, Delivery(name, position, message.content, message.redelivered))

    def _send_completed(self) -> None:
        complete: dict[Channel, list[str]] = {}
        completed, self.completed = self.completed, []
        self._process.record("completed", messages=[publication.name for publication in completed])
        for publication in completed:
            if publication.transaction:
                self._process.say(publication.channel, Done(publication.name))
                self.transactions.committed(publication.transaction)
            else:
                complete.setdefault(publication.channel, []).append(publication.name)
        for channel, names in complete.items():
            self._process.say(channel, Completed(tuple(names)))


def _held(consumer: Consumer) -> Any:
    return len(consumer.held)
