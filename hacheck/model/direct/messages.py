"""Messages: what is put under way, and what may arrive."""

from __future__ import annotations

from collections.abc import Sequence

from hacheck.model.direct.domains import Domain, stored
from hacheck.model.direct.functions import connected
from hacheck.model.direct.interfaces import BoundFailure, UnsupportedError
from hacheck.model.direct.layout import Layout
from hacheck.model.direct.machine import Machine
from hacheck.model.direct.values import Bag, Node, Record, Value


class Messages:
    """The messages of a file."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        domains = layout.domains
        self._kinds = {
            name: tuple(domains.of(one.type) for one in message.parameters) for name, message in layout.messages.items()
        }

    def send(self, m: Machine, name: str, message: Record, targets: Sequence[Node]) -> None:
        """Puts a message under way to each of these; over a connection, only to those who are up and connected."""
        if m.node is None:
            raise UnsupportedError(f"`{name}` is sent by no node")
        message = checked(message, self._kinds[name])
        declared, index = self.layout.messages[name], self.layout.index
        for target in targets:
            there = m.memory[index["up", target]] and connected(self.layout, m, m.node, target)
            if declared.queued or there:
                slot = index["link", name, m.node, target]
                m.memory[slot] = self.added(name, m.memory[slot], message)

    def added(self, name: str, link: Value, message: Record) -> Value:
        """A link with one more message under way. Errors: `BoundFailure` if it is full."""
        order = self.layout.messages[name].order
        if order == "latest":
            return (message,)
        if len(link) >= self.layout.capacity[name]:
            raise BoundFailure(f"capacity of message.{name}")
        return link.adding(message) if isinstance(link, Bag) else (*link, message)

    def next(self, name: str, link: Value) -> list[Record]:
        """The messages of a link that may arrive next."""
        if self.layout.messages[name].order == "unordered":
            return list(dict.fromkeys(link))
        return list(link[:1])

    def without(self, link: Value, at: int) -> Value:
        """A link without the message at a place."""
        if isinstance(link, Bag):
            return link.removing(link.items[at])
        return (*link[:at], *link[at + 1 :])

    def places(self, link: Value) -> list[int]:
        """The places of what is under way, one for messages that nothing distinguishes."""
        items = list(link)
        if isinstance(link, Bag):
            return [at for at, one in enumerate(items) if items.index(one) == at]
        return list(range(len(items)))


def checked(arguments: Record, kinds: Sequence[Domain]) -> Record:
    """The arguments of a message or request, as they are stored."""
    parts = zip(kinds, arguments.fields, arguments.parts, strict=True)
    return arguments._replace(parts=tuple(stored(kind, part, f"{arguments.name}.{name}") for kind, name, part in parts))
