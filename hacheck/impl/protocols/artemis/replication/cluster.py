"""What brokers send each other all the time: who serves which node, who lives, and who asks.

Source: broker facts 2.4, 2.6, 2.10, AR-17; log codes 222294 and 222295.
"""

from __future__ import annotations

from hacheck.impl.node import Name
from hacheck.impl.protocols.artemis.messages import (
    ChannelClosed,
    ChannelPing,
    CopyGivenUp,
    FindServer,
    NodeDown,
    NodeUp,
    ServerFound,
    StopServer,
)
from hacheck.impl.protocols.artemis.replication.active import lose_replica
from hacheck.impl.protocols.artemis.replication.backup import REPLICA, channel_closed, lose_primary, node_down
from hacheck.impl.protocols.artemis.replication.backup import locate as locate_now
from hacheck.impl.protocols.artemis.replication.broker import IN_SYNC, Broker
from hacheck.impl.protocols.artemis.replication.start import found
from hacheck.impl.protocols.artemis.replication.states import Cause, State
from hacheck.impl.protocols.artemis.replication.votes import voter_gone


def tick(broker: Broker) -> None:
    """Signs of life, and who gives none."""
    process, options = broker.process, broker.options
    process.set_timer("tick", options.check_period_us)
    broker.ticks += 1
    oldest = broker.ticks - -(-options.connection_ttl_us // options.check_period_us)
    broker.topology.expire(oldest, process.member)
    if broker.serves:
        broker.announce()
        assert broker.server is not None
        broker.server.check_sessions()
    if broker.left_open is not None:
        replica, channel = broker.left_open
        process.send(replica, ChannelPing(channel))
    link = broker.replica
    if link is not None:
        process.send(link.replica, ChannelPing(link.name))
        if link.heard < oldest:
            lose_replica(broker, 222092)
        elif (
            broker.state is not State.SYNCING  # which has a time limit of its own
            and link.unacknowledged
            and link.unacknowledged[0][2] < broker.ticks - options.replica_slow_us // options.check_period_us
        ):
            lose_replica(broker, 222207)
    primary = broker.primary
    if primary is not None and broker.state in REPLICA:
        process.send(primary.primary, ChannelPing(primary.name))
        if primary.heard < oldest:
            lose_primary(broker)


def node_up(broker: Broker, sender: Name, message: NodeUp) -> None:
    """Somebody serves a node."""
    if broker.topology.contradicts(message.node_id, sender):
        note_conflict(broker, sender, message.node_id)
        return
    news = broker.topology.up(message.node_id, sender, message.backup, message.group, broker.ticks)
    if broker.state in (State.CHECKING, State.UNDECIDED) and message.node_id == broker.node_id:
        found(broker)
    elif news and broker.state is State.LOCATING:
        broker.tried.pop(sender, None)
        locate_now(broker)


def note_conflict(broker: Broker, sender: Name, node_id: str) -> None:
    """Two serve one node. A line in the log, once for each, is all that is done about it."""
    if (node_id, sender) not in broker.conflicts:
        broker.conflicts[node_id, sender] = None
        own = broker.serves and node_id == broker.node_id
        broker.process.line(222295 if own else 222294, of=node_id, connector=sender)


def node_left(broker: Broker, sender: Name, message: NodeDown) -> None:
    """Somebody stops in an orderly way."""
    broker.topology.down(message.node_id, sender)
    node_down(broker, sender, message.node_id)


def find_server(broker: Broker, sender: Name, message: FindServer) -> None:
    """A starting primary asks."""
    if broker.serves and message.node_id == broker.node_id:
        broker.process.send(sender, ServerFound(message.node_id, broker.process.member))
        return
    topology = broker.topology
    known = topology.last if broker.options.bug_topology_unprobed else None
    active = topology.connector(message.node_id) or (known.get(message.node_id, "") if known else "")
    if active and active != sender:
        broker.process.send(sender, ServerFound(message.node_id, active))
    elif message.node_id in broker.identity.given_up:
        broker.process.send(sender, CopyGivenUp(message.node_id))
    elif broker.state is State.UNDECIDED and broker.identity.history == IN_SYNC and sender == broker.identity.replica:
        found(broker)  # both have everything; the one that served goes first


def pinged(broker: Broker, sender: Name, message: ChannelPing) -> None:
    """The other end of the replication channel lives; a channel that is not there is closed."""
    replica, primary = broker.replica, broker.primary
    if replica is not None and replica.name == message.channel:
        replica.heard = broker.ticks
    elif primary is not None and primary.name == message.channel and broker.state in REPLICA:
        primary.heard = broker.ticks
    elif broker.left_open is None or broker.left_open[1] != message.channel:
        broker.process.send(sender, ChannelClosed(message.channel, False))


def closed(broker: Broker, sender: Name, message: ChannelClosed) -> None:
    """The other end of the replication channel is closed."""
    link = broker.replica
    if link is not None and link.name == message.channel:
        lose_replica(broker, 222091)
    else:
        channel_closed(broker, message)


def unreachable(broker: Broker, peer: Name) -> None:
    """A connection is broken."""
    broker.topology.gone(peer)
    if broker.server is not None:
        broker.server.forget(peer)
    voter_gone(broker, peer)
    if broker.left_open is not None and broker.left_open[0] == peer:
        broker.left_open = None
    if broker.replica is not None and broker.replica.replica == peer:
        lose_replica(broker, 222092)
    if broker.primary is not None and broker.primary.primary == peer and broker.state in REPLICA:
        lose_primary(broker)
    if broker.state is State.REGISTERING and broker.candidate == peer:
        broker.tried[peer] = None
        broker.go(Cause.NOT_TAKEN)


def stop_server(broker: Broker, sender: Name, message: StopServer) -> None:
    """An operator stops this broker: no broker is to take over, the replica just sees it go."""
    broker.go(Cause.STOP)


def stop(broker: Broker) -> None:
    """Ends the process."""
    process = broker.process
    if broker.server is not None:
        broker.server.disconnect()
        broker.server = None
        broker.broadcast(NodeDown(broker.node_id))
    if broker.replica is not None:
        process.send(broker.replica.replica, ChannelClosed(broker.replica.name, False))
    if broker.failure:
        process.critical(broker.failure)
    else:
        process.halt(broker.reason)


def isolate(broker: Broker) -> None:
    """Serves no more until the network is back."""
    if broker.server is not None:
        broker.server.disconnect()
        broker.server = None
    broker.broadcast(NodeDown(broker.node_id))
    broker.topology.down(broker.node_id, broker.process.member)
    if broker.replica is not None:
        broker.process.send(broker.replica.replica, ChannelClosed(broker.replica.name, False))
        broker.replica = None
    broker.process.line(221002, reason="isolated")
