"""A broker's own disk: its id, and, where it keeps durable messages, these with their queues and exchanges.

Replication ids are not kept: a broker that recovers its messages gives them new ones.
**Source:** survey of broker failover protocols, sections 1.5 and 1.8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from msgspec import Struct, structs

from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.protocols.qpid.objects import Arguments, BindingObject, Content
from hacheck.impl.protocols.qpid.process import Process
from hacheck.impl.protocols.qpid.queues import Exchange, Queue, Stored, Wiring

VERSION = 1
BROKER = "broker"


class StoredBroker(Struct, frozen=True):
    """The broker's id, which outlives its restarts."""

    system: str
    version: int = VERSION


class StoredQueue(Struct, frozen=True):
    """A durable queue."""

    name: str
    arguments: Arguments
    version: int = VERSION


class StoredExchange(Struct, frozen=True):
    """A durable exchange with its bindings."""

    name: str
    kind: str
    arguments: Arguments
    bindings: tuple[BindingObject, ...]
    version: int = VERSION


class StoredMessage(Struct, frozen=True):
    """A durable message and its place on its queue."""

    queue: str
    position: int
    content: Content
    version: int = VERSION


Kept: TypeAlias = StoredBroker | StoredQueue | StoredExchange | StoredMessage


def recover(durable: Mapping[str, bytes], wiring: Wiring, fresh: Callable[[], str]) -> None:
    """Fill an empty wiring with what a disk has. Errors: `Refused`, for what cannot be read.

    Since messages get new replication ids, a recovered queue is another one to the one that has a replica of it, and
    gets a new id (`fresh`), too: under the old one, ids of different messages would be taken for the same."""
    messages = []
    exchanges = []
    for key, raw in sorted(durable.items()):
        if key.startswith("queue/"):
            queue = decode(raw, StoredQueue, key)
            wiring.queues[queue.name] = Queue(queue.name, structs.replace(queue.arguments, uuid=fresh()))
        elif key.startswith("exchange/"):
            exchanges.append(decode(raw, StoredExchange, key))
        elif key.startswith("message/"):
            messages.append(decode(raw, StoredMessage, key))
    for exchange in exchanges:
        wiring.exchanges[exchange.name] = Exchange(exchange.name, exchange.kind, exchange.arguments)
        for binding in exchange.bindings:
            wiring.bind(binding)
    for message in sorted(messages, key=lambda one: (one.queue, one.position)):
        if message.queue in wiring.queues:
            queue_of = wiring.queues[message.queue]
            queue_of.back = message.position - 1
            queue_of.append(message.content, queue_of.last_id + 1)


def system_of(durable: Mapping[str, bytes]) -> str | None:
    """The broker's id, if the disk has one. Errors: `Refused`, for what cannot be read."""
    raw = durable.get(BROKER)
    return None if raw is None else decode(raw, StoredBroker, BROKER).system


class Store:
    """What is to be written in the input at hand, and what waits for writes under way.

    `settled`, `arrived`: per token, the messages (with their queues) that publishers wait for, and the
    (subscription, id) that a primary waits for.
    """

    __slots__ = ("_changes", "_process", "arrived", "enabled", "keys", "settled")

    def __init__(self, process: Process, enabled: bool, durable: Mapping[str, bytes]) -> None:
        self._process = process
        self.enabled = enabled
        self.keys: dict[str, None] = dict.fromkeys(sorted(durable))
        self._changes: dict[str, bytes | None] = {}
        self.settled: dict[int, list[tuple[Queue, Stored]]] = {}
        self.arrived: dict[int, list[tuple[int, int]]] = {}

    def _put(self, key: str, value: Kept | None) -> None:
        if value is None:
            if key in self.keys:
                del self.keys[key]
                self._changes[key] = None
            return
        self.keys[key] = None
        self._changes[key] = encode(value)

    def keep_broker(self, system: str) -> None:
        """Keep the broker's id."""
        self._put(BROKER, StoredBroker(system))

    def keep_queue(self, queue: Queue) -> None:
        """Keep a durable queue."""
        if self.enabled and queue.arguments.durable:
            self._put(f"queue/{queue.name}", StoredQueue(queue.name, queue.arguments))

    def keep_exchange(self, exchange: Exchange) -> None:
        """Keep a durable exchange as it is now."""
        if self.enabled and exchange.arguments.durable:
            kept = StoredExchange(exchange.name, exchange.kind, exchange.arguments, exchange.bound())
            self._put(f"exchange/{exchange.name}", kept)

    def drop_queue(self, queue: Queue) -> None:
        """A queue is gone, with its messages."""
        if self.enabled:
            for position in queue.messages:
                self._put(f"message/{queue.name}/{position}", None)
            self._put(f"queue/{queue.name}", None)

    def drop_exchange(self, name: str) -> None:
        """An exchange is gone."""
        self._put(f"exchange/{name}", None)

    def keeps(self, queue: Queue, message: Stored) -> bool:
        """Whether a message belongs on the disk."""
        return self.enabled and message.content.durable and queue.arguments.durable

    def settle(self, queue: Queue, message: Stored) -> None:
        """Keep a message that a publisher waits for."""
        self._keep_message(queue, message)
        self.settled.setdefault(self._next_token, []).append((queue, message))

    def arrive(self, queue: Queue, message: Stored, subscription: int) -> None:
        """Keep a message that the primary waits for."""
        self._keep_message(queue, message)
        self.arrived.setdefault(self._next_token, []).append((subscription, message.id))

    def _keep_message(self, queue: Queue, message: Stored) -> None:
        kept = StoredMessage(queue.name, message.position, message.content)
        self._put(f"message/{queue.name}/{message.position}", kept)

    def drop_message(self, queue: Queue, position: int) -> None:
        """A message is gone."""
        if self.enabled:
            self._put(f"message/{queue.name}/{position}", None)

    def erase(self) -> None:
        """Forget everything but the broker's id: a primary has been found, and what it has counts."""
        for key in tuple(self.keys):
            if key != BROKER:
                self._put(key, None)

    @property
    def _next_token(self) -> int:
        """The token that the next write will have."""
        return self._process.last_token + 1

    @property
    def is_dirty(self) -> bool:
        """Whether there is anything to write."""
        return bool(self._changes)

    def flush(self) -> None:
        """Ask for everything that is to be written, as one write."""
        self._process.write(tuple(self._changes.items()))
        self._changes = {}
