"""Applications that use the client library: producers and consumers.

Every message has a duplicate id, and what is done again is done with the same ids, the oldest messages first. A
consumer that keeps a record of what it has handled undoes nothing; another undoes what was, or may have been, rolled
back. Source: HornetQ manual, "Handling Failover With Transactions"; broker facts 2.13, 2.14.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hacheck.impl.node import Setup
from hacheck.impl.protocols.artemis.client_library.library import Call, Library
from hacheck.impl.protocols.artemis.client_library.worker import Item, Worker
from hacheck.impl.protocols.artemis.messages import Outgoing
from hacheck.impl.protocols.artemis.session_messages import Delivery

ORDERS = "orders"
HANDLED = "handled/"
IDLE_US = 1_000_000
"""A consumer that gets nothing for so long commits what it has."""


class Producer(Worker):
    """Sends messages, one after the other. `unsent`: those that it does not know to be stored, the oldest first."""

    def __init__(self, library: Library, setup: Setup) -> None:
        super().__init__(library, setup)
        self.unsent: list[Item] = []
        self.made = 0
        self.sending: Item | None = None

    def step(self) -> None:
        """The oldest message that is not in the transaction yet; or its end."""
        full = len(self.work) >= self.options.transaction_size
        item = None if self.transacted and full else self._next()
        if item is not None:
            self._send(item)
        elif self.work:
            self.commit()

    def _next(self) -> Item | None:
        waiting = [item for item in self.unsent if item not in self.work]
        if waiting:
            return waiting[0]
        if 0 < self.options.operations <= self.made:
            return None
        self.made += 1
        self.unsent.append(Item(self.made, self.process.fresh()))
        return self.unsent[-1]

    def _send(self, item: Item) -> None:
        options = self.options
        durable = item.number > options.volatile_messages
        body = f"{item.name} {item.number}".encode()
        outgoing = Outgoing(ORDERS, item.name if options.duplicate_detection else "", body, durable)
        self.sending = item
        if not self.transacted:
            self.work = [item]
            self.ask()
        self.library.do("send", outgoing=(outgoing,), message=item.number)
        if not self.transacted and not options.block_on_durable_send:
            self.report("ok")
            self.unsent.remove(item)

    def moved(self, call: Call, *, unknown: bool) -> None:
        """It is stored, or in the transaction; or it is sent again."""
        item, self.sending = self.sending, None
        assert item is not None
        if self.transacted:
            if not unknown:
                self.work.append(item)
        elif item in self.unsent:
            if not unknown or self.options.trusts_unknown:
                self.report("ok")
                self.unsent.remove(item)
            else:
                self.report("unknown")
            self.work.clear()
        else:
            self.work.clear()

    def forget(self) -> None:
        """They are stored."""
        self.unsent = [item for item in self.unsent if item not in self.work]

    def begin_again(self) -> None:
        """They are sent again."""
        self.work.clear()
        if self.options.regroups:
            self.unsent.append(self.unsent.pop(0))

    def elsewhere(self) -> None:
        """Another resource has what they are about."""
        self.process.record("elsewhere", {"messages": [item.name for item in self.work]})

    def request_fields(self, names: tuple[str, ...]) -> Mapping[str, Any]:
        """A transaction, or one message. What is not durable is promised to nobody."""
        kept = [item.name for item in self.work if item.number > self.options.volatile_messages]
        operation = "transaction" if self.transacted else "send"
        return {"operation": operation, "node_id": self.library.node_id, "sent": kept, "consumed": []}


class Consumer(Worker):
    """Handles messages, one at a time. `held`: the one that it works on, with the number of the delivery; `handled`:
    its work for that is done. `next`: the one that has come meanwhile. `known`: the names of those that it has a record
    of; `noting`: the one whose record is being written. `idle`: it has waited for more."""

    def __init__(self, library: Library, setup: Setup) -> None:
        super().__init__(library, setup)
        self.held: tuple[Item, int] | None = None
        self.handled = False
        self.next: Delivery | None = None
        self.known = {key[len(HANDLED) :] for key in setup.durable if key.startswith(HANDLED)}
        self.noting = ""
        self.idle = False

    def delivered(self, delivery: Delivery) -> None:
        """The next one."""
        self.next = delivery
        self.idle = False
        if self.library.call is None:
            self.ready()

    def session_lost(self) -> None:
        """It will be delivered again."""
        self.held = self.next = None
        self.handled = False

    def step(self) -> None:
        """Handles what it holds, acknowledges it, and commits when enough has come, or nothing more."""
        full = self.transacted and len(self.work) >= self.options.transaction_size
        if self.held is None and self.next is not None and not full:
            name, _, number = self.next.incoming.body.decode().partition(" ")
            self.held, self.next = (Item(int(number), name), self.next.number), None
        if self.held is not None:
            item, delivery = self.held
            if not self.handled:
                self._handle(item)
                return
            if not self.transacted:
                self.work = [item]
                self.ask()
            self.library.do("acknowledge", delivery=delivery, message=item.number)
        elif full or (self.work and self.idle):
            self.commit()
        elif self.work:
            self.idle = True
            self.process.set_timer("work", IDLE_US)

    def _handle(self, item: Item) -> None:
        if self.noting == item.name:
            return
        if self.options.remembers and item.name not in self.known:
            self.noting = item.name
            self.process.write(((HANDLED + item.name, b""),), f"handled:{item.name}")
            return
        if not self.transacted and not self.options.remembers:
            self._settle([item.name])
        self._handled(item)

    def _handled(self, item: Item) -> None:
        self.handled = True
        self.process.record("handled", {"message": item.number})
        if self.library.connected and self.library.call is None:
            self.ready()

    def _settle(self, names: list[str]) -> None:
        """What it has done for these stays done."""
        if names:
            self.process.record("settled", {"messages": names})

    def written(self, purpose: str) -> None:
        """A record is there, with what was done, in one transaction of its database; or a decision."""
        word, _, name = purpose.partition(":")
        if word != "handled":
            super().written(purpose)
            return
        self.noting = ""
        self.known.add(name)
        self._settle([name])
        if self.held is not None and self.held[0].name == name:
            self._handled(self.held[0])

    def moved(self, call: Call, *, unknown: bool) -> None:
        """It is gone, or in the transaction; or it comes again."""
        if not self.transacted:
            self.report("unknown" if unknown else "ok")
            self.work.clear()
        elif not unknown and self.held is not None:
            self.work.append(self.held[0])
        self.held = None
        self.handled = False

    def forget(self) -> None:
        """They are done."""
        if self.options.session == "local" and not self.options.remembers:
            self._settle([item.name for item in self.work])
        self.idle = False

    def begin_again(self) -> None:
        """They come again. What was done for them is undone, unless there is a record of it."""
        self.work.clear()
        self.session_lost()
        self.idle = False

    def elsewhere(self) -> None:
        """What it has done for them is a resource of the same transaction."""
        if not self.options.remembers:
            self._settle([item.name for item in self.work])

    def request_fields(self, names: tuple[str, ...]) -> Mapping[str, Any]:
        """What is acknowledged."""
        return {"operation": "consume", "node_id": self.library.node_id, "sent": [], "consumed": list(names)}
