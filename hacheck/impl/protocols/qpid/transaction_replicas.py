"""Transactions at a backup, with `transactions=replicated`: it has each of them itself, and commits it by itself.

What is not committed is on no queue, and is dropped when the connection is gone: a primary that comes back, or another
one, knows nothing of it. So a broker that is promoted has all of a transaction, or nothing.

**Source:** survey of broker failover protocols, section 1.9; overview of the HA module, "Message Identifiers": brokers
commit independently of each other, and have no order in common.
"""

from __future__ import annotations

from hacheck.impl.protocols.qpid.messages import (
    TxCommit,
    TxDequeue,
    TxEnqueue,
    TxPrepare,
    TxPrepared,
    TxRollBack,
    TxStart,
)
from hacheck.impl.protocols.qpid.process import Channel, Process
from hacheck.impl.protocols.qpid.queues import Wiring
from hacheck.impl.protocols.qpid.replica import Replicas


class Part:
    """What a backup has of a transaction. `is_prepared`: it has said that it can commit it."""

    __slots__ = ("channel", "dequeues", "enqueues", "is_prepared")

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.enqueues: list[TxEnqueue] = []
        self.dequeues: list[TxDequeue] = []
        self.is_prepared = False


class TransactionReplicas:
    """All transactions that a backup has, by their names."""

    __slots__ = ("_process", "_replicas", "_wiring", "parts")

    def __init__(self, process: Process, wiring: Wiring, replicas: Replicas) -> None:
        self._process = process
        self._wiring = wiring
        self._replicas = replicas
        self.parts: dict[str, Part] = {}

    def start(self, channel: Channel, body: TxStart) -> None:
        """The primary has a transaction."""
        self.parts[body.transaction] = Part(channel)

    def enqueue(self, channel: Channel, body: TxEnqueue) -> None:
        """A message of it. Its id is taken, whatever becomes of it."""
        part = self._of(channel, body.transaction)
        if part is not None:
            part.enqueues.append(body)
            queue = self._wiring.queues.get(body.queue)
            if queue is not None:
                queue.last_id = max(queue.last_id, body.id)
            self._process.record("tx_enqueue", transaction=body.transaction, message=body.content.message, id=body.id)

    def dequeue(self, channel: Channel, body: TxDequeue) -> None:
        """A message that it takes off a queue."""
        part = self._of(channel, body.transaction)
        if part is not None:
            part.dequeues.append(body)

    def _of(self, channel: Channel, name: str) -> Part | None:
        part = self.parts.get(name)
        return part if part is not None and part.channel is channel else None

    def prepare(self, channel: Channel, body: TxPrepare) -> None:
        """Can it be committed here? Not, if the beginning of it is not here."""
        part = self._of(channel, body.transaction)
        if part is not None:
            part.is_prepared = True
        self._process.record("tx_prepared", transaction=body.transaction, ok=part is not None)
        self._process.say(channel, TxPrepared(body.transaction, part is not None))

    def commit(self, channel: Channel, body: TxCommit) -> None:
        """All of it, wherever the queues end here."""
        part = self._of(channel, body.transaction)
        if part is None or not part.is_prepared:
            return
        del self.parts[body.transaction]
        messages = [one.content.message for one in part.enqueues]
        self._process.record("tx_committed", transaction=body.transaction, messages=messages)
        for put in part.enqueues:
            self._replicas.take(put.queue, put.uuid, put.id, put.content)
        for gone in part.dequeues:
            self._replicas.lose(gone.queue, gone.uuid, gone.id)

    def roll_back(self, channel: Channel, body: TxRollBack) -> None:
        """Nothing of it."""
        if self._of(channel, body.transaction) is not None:
            self._drop(body.transaction)

    def disconnected(self, channel: Channel) -> None:
        """The primary is gone, or has given this backup up."""
        for name, part in tuple(self.parts.items()):
            if part.channel is channel:
                self._drop(name)

    def drop_all(self) -> None:
        """This broker is promoted: what is not committed was never requested, or no client was informed that it is
        done."""
        for name in tuple(self.parts):
            self._drop(name)

    def _drop(self, name: str) -> None:
        del self.parts[name]
        self._process.record("tx_dropped", transaction=name)
