"""What a broker does about each thing that is said on a connection: one table, by the type of what was said."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hacheck.impl.protocols.qpid import messages as wire
from hacheck.impl.protocols.qpid.process import Channel

if TYPE_CHECKING:
    from hacheck.impl.protocols.qpid.broker import Broker

Handler = Callable[[Channel, Any], None]


def body_table(broker: Broker) -> dict[type, Handler]:
    """All of it, for one broker."""
    serving, declaring = broker.serving, broker.declaring
    answering = _Answering(broker)
    following = _Following(broker)
    return {
        wire.Publish: serving.publish,
        wire.Accept: serving.accept,
        wire.Acknowledge: serving.source.acknowledged,
        wire.Copy: following.copy,
        wire.IdEvent: following.id_event,
        wire.DequeueEvent: following.dequeue_event,
        wire.Consume: serving.consume,
        wire.Release: serving.release,
        wire.Commit: serving.transactions.commit,
        wire.RollBack: serving.transactions.roll_back,
        wire.TxPrepared: serving.transactions.prepared,
        wire.TxStart: following.transaction("start"),
        wire.TxEnqueue: following.transaction("enqueue"),
        wire.TxDequeue: following.transaction("dequeue"),
        wire.TxPrepare: following.transaction("prepare"),
        wire.TxCommit: following.transaction("commit"),
        wire.TxRollBack: following.transaction("roll_back"),
        wire.DeclareQueue: declaring.declare_queue,
        wire.DeleteQueue: declaring.delete_queue,
        wire.PurgeQueue: declaring.purge_queue,
        wire.DeclareExchange: declaring.declare_exchange,
        wire.DeleteExchange: declaring.delete_exchange,
        wire.Bind: declaring.bind,
        wire.Unbind: declaring.unbind,
        wire.SubscribeConfiguration: answering.subscribe_configuration,
        wire.Query: answering.query,
        wire.NextPage: answering.next_page,
        wire.SubscribeQueue: answering.subscribe_queue,
        wire.SubscriptionRefused: following.refused,
        wire.BrokerState: following.broker_state,
        wire.Members: following.members,
        wire.QueuesPage: following.configuration("queues_page"),
        wire.ExchangesPage: following.configuration("exchanges_page"),
        wire.BindingsPage: following.configuration("bindings_page"),
        wire.QueueDeclared: following.configuration("queue_declared"),
        wire.QueueDeleted: following.configuration("queue_deleted"),
        wire.ExchangeDeclared: following.configuration("exchange_declared"),
        wire.ExchangeDeleted: following.configuration("exchange_deleted"),
        wire.Bound: following.configuration("bound"),
        wire.Unbound: following.configuration("unbound"),
    }


class _Answering:
    """What brokers that follow this one ask of it."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def subscribe_configuration(self, channel: Channel, _: wire.SubscribeConfiguration) -> None:
        self._broker.configuration.subscribed(channel)

    def query(self, channel: Channel, body: wire.Query) -> None:
        primary = self._broker.primary
        members = tuple(primary.members.values()) if primary is not None else ()
        self._broker.configuration.query(channel, body.kind, members)

    def next_page(self, channel: Channel, body: wire.NextPage) -> None:
        self._broker.configuration.next_page(channel, body.kind)

    def subscribe_queue(self, channel: Channel, body: wire.SubscribeQueue) -> None:
        broker = self._broker
        if broker.primary is not None and channel.purpose == "backup":
            broker.primary.subscribe(channel, body)
        else:
            broker.serving.source.subscribe(channel, body, broker.wiring.queues.get(body.queue), None)


class _Following:
    """What the broker that this one follows sends: this one is a backup, or a stand-alone replica."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def copy(self, _: Channel, body: wire.Copy) -> None:
        following = self._broker.backup or self._broker.replica
        if following is not None:
            following.replicas.copy(body)

    def id_event(self, _: Channel, body: wire.IdEvent) -> None:
        following = self._broker.backup or self._broker.replica
        if following is not None:
            following.replicas.id_event(body)

    def dequeue_event(self, _: Channel, body: wire.DequeueEvent) -> None:
        following = self._broker.backup or self._broker.replica
        if following is not None:
            following.replicas.dequeue(body)

    def refused(self, _: Channel, body: wire.SubscriptionRefused) -> None:
        following = self._broker.backup or self._broker.replica
        if following is not None:
            following.replicas.refused(body)

    def broker_state(self, channel: Channel, body: wire.BrokerState) -> None:
        backup = self._broker.backup
        if backup is not None:
            backup.said_something(channel)
            backup.broker_state(body)

    def members(self, channel: Channel, body: wire.Members) -> None:
        backup = self._broker.backup
        if backup is not None:
            backup.said_something(channel)
            backup.adopt(body.members)

    def transaction(self, method: str) -> Handler:
        """Something about a transaction that the primary has."""

        def handler(channel: Channel, body: Any) -> None:
            backup = self._broker.backup
            if backup is not None and backup.link.channel is channel:
                getattr(backup.transactions, method)(channel, body)

        return handler

    def configuration(self, method: str) -> Handler:
        """Something about the configuration, which is for the one that follows it on this connection."""

        def handler(channel: Channel, body: Any) -> None:
            following = self._broker.backup or self._broker.replica
            if following is None or following.configuration is None or following.link.channel is not channel:
                return
            following.said_something(channel)
            getattr(following.configuration, method)(body)

        return handler
