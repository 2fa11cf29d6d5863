"""Changes of a broker's queues, exchanges and bindings, as clients ask for them.

The broker that serves decides the replication level and writes it into the arguments, with an id of its own for each
queue and exchange, so that one made again under the same name is not taken for the old one.

**Source:** survey of broker failover protocols, sections 1.1 and 1.5; QP-5.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from hacheck.impl.protocols.qpid.client_service import ClientService
from hacheck.impl.protocols.qpid.messages import (
    Bind,
    Body,
    Bound,
    DeclareExchange,
    DeclareQueue,
    DeleteExchange,
    DeleteQueue,
    Done,
    ExchangeDeclared,
    ExchangeDeleted,
    Failed,
    PurgeQueue,
    QueueDeclared,
    QueueDeleted,
    Unbind,
    Unbound,
)
from hacheck.impl.protocols.qpid.objects import Arguments
from hacheck.impl.protocols.qpid.options import Options
from hacheck.impl.protocols.qpid.process import Channel, Process
from hacheck.impl.protocols.qpid.queues import Exchange, Queue, Wiring
from hacheck.impl.protocols.qpid.store import Store

LEVELS = ("none", "configuration", "all")
EXCHANGE_KINDS = ("direct", "fanout")


class QueueChanges:
    """`created`, `destroyed`: what a primary has to do about a queue; `announce`: an event for those who follow."""

    __slots__ = ("_announce", "_created", "_destroyed", "_options", "_process", "_serving", "_store", "_wiring")

    def __init__(
        self,
        process: Process,
        options: Options,
        wiring: Wiring,
        store: Store,
        created: Callable[[Queue], None],
        destroyed: Callable[[Queue], None],
        announce: Callable[[Body], None],
    ) -> None:
        self._process = process
        self._options = options
        self._wiring = wiring
        self._store = store
        self._created = created
        self._destroyed = destroyed
        self._announce = announce
        self._serving: ClientService | None = None

    def use(self, serving: ClientService) -> None:
        """Where the messages of these queues are."""
        self._serving = serving

    def _decided(self, arguments: Arguments) -> Arguments | None:
        level = arguments.replicate or self._options.replicate
        if level not in LEVELS:
            return None
        return structs.replace(arguments, replicate=level, uuid=self._process.fresh())

    def declare_queue(self, channel: Channel, body: DeclareQueue) -> None:
        """Make a queue, unless it is there."""
        if body.name in self._wiring.queues:
            answer: Body = Failed(body.request, f"queue `{body.name}` is there") if body.fresh else Done(body.request)
            self._process.say(channel, answer)
            return
        arguments = self._decided(body.arguments)
        if arguments is None or not body.name:
            self._process.say(channel, Failed(body.request, f"level `{body.arguments.replicate}`, name `{body.name}`"))
            return
        queue = self._wiring.queues[body.name] = Queue(body.name, arguments)
        self._store.keep_queue(queue)
        self._created(queue)
        self._process.record("queue-created", queue=queue.name, uuid=arguments.uuid, replicate=arguments.replicate)
        self._announce(QueueDeclared(queue.described()))
        self._process.say(channel, Done(body.request))

    def delete_queue(self, channel: Channel, body: DeleteQueue) -> None:
        """Delete a queue with its messages."""
        queue = self._wiring.queues.get(body.name)
        if queue is None:
            self._process.say(channel, Failed(body.request, f"no queue `{body.name}`"))
            return
        self.remove_queue(queue)
        self._process.say(channel, Done(body.request))

    def remove_queue(self, queue: Queue) -> None:
        """A queue ends: what it held up is released, backups are informed."""
        assert self._serving is not None
        bound = [exchange for exchange in self._wiring.exchanges.values() if _binds(exchange, queue.name)]
        self._wiring.drop_queue(queue.name)
        self._serving.deleted(queue)
        self._store.drop_queue(queue)
        for exchange in bound:
            self._store.keep_exchange(exchange)
        self._destroyed(queue)
        self._process.record("queue-deleted", queue=queue.name, uuid=queue.arguments.uuid)
        self._announce(QueueDeleted(queue.name, queue.arguments.uuid))

    def purge_queue(self, channel: Channel, body: PurgeQueue) -> None:
        """Drop the messages of a queue that nobody holds."""
        assert self._serving is not None
        queue = self._wiring.queues.get(body.name)
        if queue is None:
            self._process.say(channel, Failed(body.request, f"no queue `{body.name}`"))
            return
        self._serving.purge(queue)
        self._process.say(channel, Done(body.request))

    def declare_exchange(self, channel: Channel, body: DeclareExchange) -> None:
        """Make an exchange, unless it is there."""
        if body.name in self._wiring.exchanges:
            self._process.say(channel, Done(body.request))
            return
        arguments = self._decided(body.arguments)
        if arguments is None or not body.name or body.kind not in EXCHANGE_KINDS:
            self._process.say(channel, Failed(body.request, f"exchange `{body.name}` of kind `{body.kind}`"))
            return
        exchange = self._wiring.exchanges[body.name] = Exchange(body.name, body.kind, arguments)
        self._store.keep_exchange(exchange)
        self._announce(ExchangeDeclared(exchange.described()))
        self._process.say(channel, Done(body.request))

    def delete_exchange(self, channel: Channel, body: DeleteExchange) -> None:
        """Delete an exchange with its bindings."""
        exchange = self._wiring.exchanges.pop(body.name, None)
        if exchange is None:
            self._process.say(channel, Failed(body.request, f"no exchange `{body.name}`"))
            return
        self._store.drop_exchange(body.name)
        self._announce(ExchangeDeleted(body.name))
        self._process.say(channel, Done(body.request))

    def bind(self, channel: Channel, body: Bind) -> None:
        """Bind a queue to an exchange."""
        binding = body.binding
        if not self._wiring.bind(binding):
            self._process.say(channel, Failed(body.request, f"no `{binding.exchange}` or no `{binding.queue}`"))
            return
        self._store.keep_exchange(self._wiring.exchanges[binding.exchange])
        self._announce(Bound(binding))
        self._process.say(channel, Done(body.request))

    def unbind(self, channel: Channel, body: Unbind) -> None:
        """Take a binding away."""
        self._wiring.unbind(body.binding)
        if body.binding.exchange in self._wiring.exchanges:
            self._store.keep_exchange(self._wiring.exchanges[body.binding.exchange])
        self._announce(Unbound(body.binding))
        self._process.say(channel, Done(body.request))


def _binds(exchange: Exchange, queue: str) -> bool:
    return any(queue in queues for queues in exchange.bindings.values())
