"""How a backup keeps its queues, exchanges and bindings like those of the primary.

On every connection it first subscribes to changes, then asks what there is. Both come on one connection, and an answer
shows what there was when the question came: an event for a name makes later answers about that name stale. When all
answers of a kind are in, whatever they did not name, and no event did, is deleted.

**Source:** survey of broker failover protocols, section 1.7; QP-5, QP-6.
"""

from __future__ import annotations

from collections.abc import Callable

from hacheck.impl.protocols.qpid.messages import (
    BindingsPage,
    Bound,
    ExchangeDeclared,
    ExchangeDeleted,
    ExchangesPage,
    NextPage,
    Query,
    QueueDeclared,
    QueueDeleted,
    QueuesPage,
    SubscribeConfiguration,
    Unbound,
)
from hacheck.impl.protocols.qpid.objects import Arguments, BindingObject, ExchangeObject, QueueObject
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.process import Channel, Process
from hacheck.impl.protocols.qpid.queues import Exchange, Queue, Wiring
from hacheck.impl.protocols.qpid.replica import Replicas
from hacheck.impl.protocols.qpid.store import Store


class ConfigurationReplicator:
    """The configuration of a primary, followed on one connection.

    `only`: for stand-alone replication, the names that are followed; otherwise all are, at their level. `lost_queue`:
    is informed of a queue that is here no more, where it may have consumers.
    `leftover_…`: what was here before and no answer has named yet. `overtaken_…`: names about which an event has come.
    `remade`: names of queues and exchanges that were made or deleted since it requested bindings, `None` before that.
    Another object of a name has none of the bindings of the one before, and events bring all of its own.
    """

    __slots__ = (
        "_lost_queue",
        "_options",
        "_process",
        "_replicas",
        "_store",
        "_wiring",
        "channel",
        "leftover_bindings",
        "leftover_exchanges",
        "leftover_queues",
        "only",
        "overtaken_bindings",
        "overtaken_exchanges",
        "overtaken_queues",
        "remade",
    )  # fmt: skip

    def __init__(
        self,
        process: Process,
        options: Options,
        wiring: Wiring,
        store: Store,
        replicas: Replicas,
        channel: Channel,
        only: frozenset[str] | None = None,
        lost_queue: Callable[[Queue], None] | None = None,
    ) -> None:
        self._process = process
        self._options = options
        self._wiring = wiring
        self._store = store
        self._replicas = replicas
        self.channel = channel
        self.only = only
        self._lost_queue = lost_queue
        self.leftover_queues = {
            name: None for name, queue in wiring.queues.items() if self._level(name, queue.arguments) != "none"
        }
        self.leftover_exchanges = {
            name: None for name, exchange in wiring.exchanges.items() if self._level(name, exchange.arguments) != "none"
        }
        self.leftover_bindings = {
            binding: None for name in self.leftover_exchanges for binding in wiring.exchanges[name].bound()
        }
        self.overtaken_queues: dict[str, None] = {}
        self.overtaken_exchanges: dict[str, None] = {}
        self.overtaken_bindings: dict[BindingObject, None] = {}
        self.remade: dict[str, None] | None = None
        process.say(channel, SubscribeConfiguration())
        process.say(channel, Query("broker"))
        process.say(channel, Query("queues"))

    # ---- answers ----------------------------------------------------------------------------------------------------

    def queues_page(self, page: QueuesPage) -> None:
        """Some of the queues that there were."""
        for described in page.queues:
            self.leftover_queues.pop(described.name, None)
            if described.name not in self.overtaken_queues or self._options.bug_stale_responses:
                self._have_queue(described)
        if page.last:
            for name in self.leftover_queues:
                self._lose_queue(name)
            self.leftover_queues = {}
            self._process.say(self.channel, Query("exchanges"))
        else:
            self._process.say(self.channel, NextPage("queues"))

    def exchanges_page(self, page: ExchangesPage) -> None:
        """Some of the exchanges that there were."""
        for described in page.exchanges:
            self.leftover_exchanges.pop(described.name, None)
            if described.name not in self.overtaken_exchanges or self._options.bug_stale_responses:
                self._have_exchange(described)
        if page.last:
            for name in self.leftover_exchanges:
                self._lose_exchange(name)
            self.leftover_exchanges = {}
            self.remade = {}
            self._process.say(self.channel, Query("bindings"))
        else:
            self._process.say(self.channel, NextPage("exchanges"))

    def bindings_page(self, page: BindingsPage) -> None:
        """Some of the bindings that there were."""
        for binding in page.bindings:
            self.leftover_bindings.pop(binding, None)
            if not self._overtaken(binding) or self._options.bug_stale_responses:
                self._have_binding(binding)
        if page.last:
            for binding in self.leftover_bindings:
                self._lose_binding(binding)
            self.leftover_bindings = {}
        else:
            self._process.say(self.channel, NextPage("bindings"))

    # ---- events -----------------------------------------------------------------------------------------------------

    def queue_declared(self, event: QueueDeclared) -> None:
        """A queue has been made. One of that name that is here is another one, and makes way."""
        described = event.queue
        self._overtake_queue(described.name)
        present = self._wiring.queues.get(described.name)
        if present is not None and present.arguments.uuid != described.arguments.uuid:
            self._lose_queue(described.name)
        self._have_queue(described)

    def queue_deleted(self, event: QueueDeleted) -> None:
        """A queue has been deleted."""
        self._overtake_queue(event.name)
        self._lose_queue(event.name)

    def exchange_declared(self, event: ExchangeDeclared) -> None:
        """An exchange has been made."""
        self._overtake_exchange(event.exchange.name)
        self._have_exchange(event.exchange)

    def exchange_deleted(self, event: ExchangeDeleted) -> None:
        """An exchange has been deleted."""
        self._overtake_exchange(event.name)
        self._lose_exchange(event.name)

    def bound(self, event: Bound) -> None:
        """A binding has been made. If its queue or exchange is not here yet, the answer about bindings will name it."""
        if self._have_binding(event.binding):
            self.overtaken_bindings[event.binding] = None
            self.leftover_bindings.pop(event.binding, None)

    def unbound(self, event: Unbound) -> None:
        """A binding has been taken away."""
        self.overtaken_bindings[event.binding] = None
        self.leftover_bindings.pop(event.binding, None)
        self._lose_binding(event.binding)

    def _overtake_queue(self, name: str) -> None:
        self.overtaken_queues[name] = None
        self.leftover_queues.pop(name, None)
        self._remake(name)

    def _overtake_exchange(self, name: str) -> None:
        self.overtaken_exchanges[name] = None
        self.leftover_exchanges.pop(name, None)
        self._remake(name)

    def _remake(self, name: str) -> None:
        if self.remade is not None:
            self.remade[name] = None

    def _overtaken(self, binding: BindingObject) -> bool:
        """Whether an event has said something newer than an answer about a binding, or about what it binds."""
        remade = self.remade or {}
        return binding in self.overtaken_bindings or binding.exchange in remade or binding.queue in remade

    def _level(self, name: str, arguments: Arguments) -> str:
        """What of a queue or exchange is kept here."""
        if self.only is None:
            return arguments.replicate
        return "all" if name in self.only else "none"

    # ---- what is here -----------------------------------------------------------------------------------------------

    def _have_queue(self, described: QueueObject) -> None:
        """See to it that the queue is here and, at level `all`, replicated. It is the same one only by its uuid."""
        name, arguments = described.name, described.arguments
        queue = self._wiring.queues.get(name)
        if queue is not None and not self._same(name, queue.arguments, arguments):
            self._process.record("replaced", queue=name)
            self._lose_queue(name)
            queue = None
        level = self._level(name, arguments)
        if level == "none":
            return
        if queue is None:
            queue = self._wiring.queues[name] = Queue(name, arguments)
            self._store.keep_queue(queue)
        if level == "all" and name not in self._replicas.by_queue:
            self._replicas.subscribe(queue, self.channel)

    def _lose_queue(self, name: str) -> None:
        self._replicas.drop(name)
        queue = self._wiring.drop_queue(name)
        if queue is not None:
            self._store.drop_queue(queue)
            if self._lost_queue is not None:
                self._process.record("copy_dropped", queue=name)
                self._lost_queue(queue)

    def _same(self, name: str, here: Arguments, there: Arguments) -> bool:
        """Whether what is here is what the primary speaks of, or none of its business: its own, never replicated."""
        if here.uuid == there.uuid or self._options.bug_same_name:
            return True
        return self._level(name, here) == self._level(name, there) == "none"

    def _have_exchange(self, described: ExchangeObject) -> None:
        name, arguments = described.name, described.arguments
        exchange = self._wiring.exchanges.get(name)
        if exchange is not None and not self._same(name, exchange.arguments, arguments):
            self._lose_exchange(name)
            exchange = None
        if exchange is None and self._level(name, arguments) != "none":
            exchange = self._wiring.exchanges[name] = Exchange(name, described.kind, arguments)
            self._store.keep_exchange(exchange)

    def _lose_exchange(self, name: str) -> None:
        if self._wiring.exchanges.pop(name, None) is not None:
            self._store.drop_exchange(name)

    def _have_binding(self, binding: BindingObject) -> bool:
        if not self._wiring.bind(binding):
            return False
        self._store.keep_exchange(self._wiring.exchanges[binding.exchange])
        return True

    def _lose_binding(self, binding: BindingObject) -> None:
        self._wiring.unbind(binding)
        if binding.exchange in self._wiring.exchanges:
            self._store.keep_exchange(self._wiring.exchanges[binding.exchange])
