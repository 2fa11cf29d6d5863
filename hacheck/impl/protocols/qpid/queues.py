"""Queues, exchanges and bindings as a broker holds them, whatever its role."""

from __future__ import annotations

from collections.abc import Iterable

from hacheck.impl.protocols.qpid.objects import Arguments, BindingObject, Content, ExchangeObject, QueueObject, Ranges
from hacheck.impl.protocols.qpid.process import Channel


def ranges(ids: Iterable[int]) -> Ranges:
    """A set of ids as ranges."""
    found: list[tuple[int, int]] = []
    for number in sorted(ids):
        if found and number <= found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return tuple(found)


def members_of(given: Ranges) -> set[int]:
    """The set that ranges stand for."""
    return {number for first, last in given for number in range(first, last + 1)}


class Publication:
    """What a client waits for: a message, or the commit of a `transaction`, until none of its `pending` messages on
    queues waits for anybody."""

    __slots__ = ("channel", "name", "pending", "transaction")

    def __init__(self, channel: Channel, name: str, transaction: str = "") -> None:
        self.channel = channel
        self.name = name
        self.transaction = transaction
        self.pending = 0


class Stored:
    """A message on a queue of this broker. `id`: its replication id. `outstanding`: how many have yet to say that they
    have it: backups, and the own disk. `publication`: what waits for that. `taken`: a consumer holds it."""

    __slots__ = ("content", "id", "outstanding", "position", "publication", "redelivered", "taken")

    def __init__(self, content: Content, replication_id: int, position: int, publication: Publication | None) -> None:
        self.content = content
        self.id = replication_id
        self.position = position
        self.publication = publication
        self.outstanding = 0
        self.taken = False
        self.redelivered = False


class Queue:
    """A queue. `messages`: by position, ascending. `positions`: where each replication id is. `back`: the last position
    that was given. `last_id`: the highest replication id that was given or seen here."""

    __slots__ = ("arguments", "back", "last_id", "messages", "name", "positions")

    def __init__(self, name: str, arguments: Arguments) -> None:
        self.name = name
        self.arguments = arguments
        self.messages: dict[int, Stored] = {}
        self.positions: dict[int, int] = {}
        self.back = 0
        self.last_id = 0

    @property
    def front(self) -> int:
        """The first position with a message; one behind the last, if there is none."""
        return next(iter(self.messages), self.back + 1)

    def append(self, content: Content, replication_id: int, publication: Publication | None = None) -> Stored:
        """Put a message at the end."""
        self.back += 1
        message = Stored(content, replication_id, self.back, publication)
        self.messages[self.back] = message
        self.positions[replication_id] = self.back
        self.last_id = max(self.last_id, replication_id)
        return message

    def remove(self, position: int) -> Stored | None:
        """Take a message away, if it is there."""
        message = self.messages.pop(position, None)
        if message is not None and self.positions.get(message.id) == position:
            del self.positions[message.id]
        return message

    def described(self) -> QueueObject:
        """The queue as the configuration shows it."""
        return QueueObject(self.name, self.arguments)


class Exchange:
    """An exchange, and which queues get what: for each key the names of queues, in the order bound."""

    __slots__ = ("arguments", "bindings", "kind", "name")

    def __init__(self, name: str, kind: str, arguments: Arguments) -> None:
        self.name = name
        self.kind = kind
        self.arguments = arguments
        self.bindings: dict[str, dict[str, None]] = {}

    def described(self) -> ExchangeObject:
        """The exchange as the configuration shows it."""
        return ExchangeObject(self.name, self.kind, self.arguments)

    def bound(self) -> tuple[BindingObject, ...]:
        """Its bindings."""
        return tuple(BindingObject(self.name, queue, key) for key, queues in self.bindings.items() for queue in queues)


class Wiring:
    """All queues and exchanges of a broker, by name."""

    __slots__ = ("exchanges", "queues")

    def __init__(self) -> None:
        self.queues: dict[str, Queue] = {}
        self.exchanges: dict[str, Exchange] = {}

    def route(self, exchange: str, key: str) -> list[Queue]:
        """The queues that a message goes to. The exchange without a name knows every queue by its name."""
        if not exchange:
            queue = self.queues.get(key)
            return [queue] if queue is not None else []
        found = self.exchanges.get(exchange)
        if found is None:
            return []
        if found.kind == "fanout":
            names = {name: None for queues in found.bindings.values() for name in queues}
        else:
            names = found.bindings.get(key, {})
        return [self.queues[name] for name in names if name in self.queues]

    def bind(self, binding: BindingObject) -> bool:
        """Make a binding. False: there is no such exchange or queue."""
        exchange = self.exchanges.get(binding.exchange)
        if exchange is None or binding.queue not in self.queues:
            return False
        exchange.bindings.setdefault(binding.key, {})[binding.queue] = None
        return True

    def unbind(self, binding: BindingObject) -> None:
        """Take a binding away, if it is there."""
        exchange = self.exchanges.get(binding.exchange)
        if exchange is not None and binding.key in exchange.bindings:
            exchange.bindings[binding.key].pop(binding.queue, None)
            if not exchange.bindings[binding.key]:
                del exchange.bindings[binding.key]

    def drop_queue(self, name: str) -> Queue | None:
        """A queue is gone, with its bindings."""
        queue = self.queues.pop(name, None)
        for exchange in self.exchanges.values():
            for binding in exchange.bound():
                if binding.queue == name:
                    self.unbind(binding)
        return queue
