"""What a broker with replication does while it is a replica, or wants to be one.

Source: broker facts 2.5, 2.8, 2.10, AR-15, AR-18; HornetQ manual, "Data Replication".
"""

from __future__ import annotations

from hacheck.impl.kit.storage import encode
from hacheck.impl.node import Name
from hacheck.impl.protocols.artemis.journal import VERSION, Changes
from hacheck.impl.protocols.artemis.messages import (
    AlreadyReplicating,
    BackupAnnounced,
    ChannelClosed,
    FailOver,
    FailOverTaken,
    RegisterBackup,
    Replicate,
    Replicated,
    StopCalled,
    SyncDone,
    SyncFiles,
    SyncFilesStored,
    SyncStarted,
    UpToDate,
)
from hacheck.impl.protocols.artemis.replication.broker import (
    COPYING,
    EMPTY,
    IDENTITY_KEY,
    IN_SYNC,
    REPLICATED,
    SAVED,
    Broker,
    Identity,
    PrimaryLink,
)
from hacheck.impl.protocols.artemis.replication.states import Cause, State

REPLICA = (State.COPYING, State.IN_SYNC)

# ---- finding somebody ----------------------------------------------------------------------------------------------


def save(broker: Broker) -> None:
    """Lays all own data aside, and the oldest of what was laid aside before away."""
    broker.server = None
    broker.starting = broker.up_to_date = False
    broker.replica = broker.primary = broker.ballot = None
    changes = lay_aside(broker)
    identity = broker.identity
    given_up = identity.given_up
    if identity.history in (COPYING, IN_SYNC, REPLICATED) and identity.node_id not in given_up:
        given_up = (*given_up, identity.node_id)
    node_id = identity.node_id if broker.failing_back else ""
    broker.identity = Identity(VERSION, node_id, COPYING if node_id else EMPTY, given_up=given_up)
    changes.append((IDENTITY_KEY, encode(broker.identity)))
    broker.process.write(tuple(changes), "saved")


def lay_aside(broker: Broker) -> list[tuple[str, bytes | None]]:
    """Its data become old data, as changes of its disk."""
    options, identity = broker.options, broker.identity
    changes: list[tuple[str, bytes | None]] = [(key, None) for key in broker.files]
    if broker.files and options.max_saved_replicated_journals_size:
        number = max(broker.saved, default=0) + 1
        kept = {f"{SAVED}{number}/{key}": value for key, value in broker.files.items()}
        kept[f"{SAVED}{number}/{IDENTITY_KEY}"] = encode(identity)
        broker.saved[number] = list(kept)
        changes.extend(kept.items())
    while len(broker.saved) > options.max_saved_replicated_journals_size:
        oldest = min(broker.saved)
        broker.process.line(221055, folder=f"{SAVED}{oldest}")
        changes.extend((key, None) for key in broker.saved.pop(oldest))
    broker.files = {}
    return changes


def saved(broker: Broker, token: int, _: str) -> None:
    """Next: somebody to copy."""
    if broker.state is State.SAVING:
        broker.process.line(221109, server=broker.node_id)
        broker.go(Cause.SAVED)


def locate(broker: Broker) -> None:
    """Looks for an active server that fits, and did not refuse in this round."""
    broker.primary = None
    for node_id, entry in broker.topology.entries.items():
        if (
            entry.active not in broker.tried
            and entry.group == broker.group
            and (not broker.failing_back or node_id == broker.node_id)
            and broker.pairs_with in ("", node_id)
        ):
            broker.candidate = entry.active
            broker.channel = broker.process.fresh()
            broker.wanted = node_id
            broker.go(Cause.FOUND)
            return
    broker.step_after(broker.options.retry_replication_wait_us)


def locate_again(broker: Broker) -> None:
    """A new round."""
    broker.tried.clear()
    locate(broker)


def register(broker: Broker) -> None:
    """Asks to be its replica."""
    nodes = broker.topology.largest
    request = RegisterBackup(broker.channel, broker.wanted, broker.group, broker.failing_back, nodes)
    broker.process.send(broker.candidate, request)
    broker.step_after(broker.options.connection_ttl_us)


def not_taken(broker: Broker) -> None:
    """The next one, please."""
    broker.tried[broker.candidate] = None
    broker.go(Cause.NOT_TAKEN)


def already_replicating(broker: Broker, sender: Name, message: AlreadyReplicating) -> None:
    """It has a replica, or is not meant for this one."""
    if broker.state is State.REGISTERING and message.channel == broker.channel:
        not_taken(broker)


# ---- the initial copy ----------------------------------------------------------------------------------------------


def sync_started(broker: Broker, sender: Name, message: SyncStarted) -> None:
    """Taken."""
    if broker.state is not State.REGISTERING or message.channel != broker.channel:
        broker.process.send(sender, ChannelClosed(message.channel, False))
        return
    broker.primary = PrimaryLink(message.channel, sender, message.node_id, broker.ticks)
    broker.tried.clear()
    broker.topology.heard_of(message.nodes)
    broker.identify(COPYING, node_id=message.node_id)
    broker.go(Cause.TAKEN)


def link_of(broker: Broker, sender: Name, channel: str) -> PrimaryLink | None:
    """The replication channel, if that is the one; a sender who believes in another one is informed."""
    link = broker.primary
    if link is None or link.name != channel or broker.state not in REPLICA:
        broker.process.send(sender, ChannelClosed(channel, False))
        return None
    link.heard = broker.ticks
    return link


def files_came(broker: Broker, sender: Name, message: SyncFiles) -> None:
    """Files of the copy; what was changed since it began is newer."""
    link = link_of(broker, sender, message.channel)
    if link is None:
        return
    changes: Changes = tuple((name, value) for name, value in message.files if name not in link.mirrored)
    broker.apply(changes)
    broker.process.write(changes, f"files:{link.name}:{message.batch}")


def files_written(broker: Broker, token: int, which: str) -> None:
    """The next ones, please."""
    channel, _, batch = which.partition(":")
    link = broker.primary
    if link is not None and link.name == channel and broker.state is State.COPYING:
        broker.process.send(link.primary, SyncFilesStored(channel, int(batch)))


def change_came(broker: Broker, sender: Name, message: Replicate) -> None:
    """A change: applied in order, and answered as soon as it is here, or on this disk."""
    link = link_of(broker, sender, message.channel)
    if link is None or message.number <= link.received:
        return
    if message.number > link.received + 1:
        broker.process.send(sender, ChannelClosed(message.channel, False))
        broker.start_again("something was lost on the way from a server that lives")
        return
    link.received = message.number
    if broker.state is State.COPYING:
        link.mirrored.update(dict.fromkeys(key for key, _ in message.changes))
    broker.apply(message.changes)
    if broker.options.replica_ack == "received":
        broker.process.write(message.changes)
        broker.process.send(sender, Replicated(link.name, link.received))
    else:
        link.unwritten.append((broker.process.write(message.changes, "change"), link.received))
    if link.last >= 0:
        complete(broker, link)


def change_written(broker: Broker, token: int, _: str) -> None:
    """A change is on this disk."""
    link = broker.primary
    number = 0
    while link is not None and link.unwritten and link.unwritten[0][0] <= token:
        number = link.unwritten.popleft()[1]
    if link is not None and number:
        broker.process.send(link.primary, Replicated(link.name, number))


def sync_done(broker: Broker, sender: Name, message: SyncDone) -> None:
    """The final question."""
    link = link_of(broker, sender, message.channel)
    if link is not None and broker.state is State.COPYING:
        link.last = message.last
        complete(broker, link)


def complete(broker: Broker, link: PrimaryLink) -> None:
    """All is here; when it is on the disk as well, the copy is good."""
    if broker.state is State.COPYING and link.received >= link.last:
        link.last = -1
        broker.identify(IN_SYNC, f"in-sync:{link.name}", node_id=link.node_id, replica=link.primary)


def in_sync(broker: Broker, token: int, channel: str) -> None:
    """The copy is good."""
    link = broker.primary
    if link is None or link.name != channel or broker.state is not State.COPYING:
        return
    link.mirrored.clear()
    broker.up_to_date = True
    process = broker.process
    process.line(221024, server=process.member, primary=link.primary, node_id=link.node_id)
    process.line(221031, node_id=link.node_id)
    broker.go(Cause.UP_TO_DATE)
    process.send(link.primary, UpToDate(link.name))
    broker.broadcast(BackupAnnounced(link.node_id))


# ---- taking over ---------------------------------------------------------------------------------------------------


def lose_primary(broker: Broker) -> None:
    """The channel is broken."""
    link = broker.primary
    if link is not None and broker.state in REPLICA:
        broker.go(Cause.FAIL_OVER if link.stop_called else Cause.PRIMARY_LOST)


def channel_closed(broker: Broker, message: ChannelClosed) -> None:
    """The other end is closed. If the one that was there goes on without this one, this copy is not good any more."""
    link = broker.primary
    if link is None or link.name != message.channel or broker.state not in REPLICA:
        return
    if message.serves:
        broker.start_again("the active server goes on without this replica")
    else:
        lose_primary(broker)


def node_down(broker: Broker, sender: Name, node_id: str) -> None:
    """The active server leaves in an orderly way. A returning primary knows already, and waits for the word."""
    link = broker.primary
    if link is None or link.node_id != node_id or link.primary != sender:
        return
    if broker.state is State.IN_SYNC and (not broker.failing_back or broker.options.bug_vote_in_failback):
        lose_primary(broker)


def stop_called(broker: Broker, sender: Name, message: StopCalled) -> None:
    """The other is about to stop; its last changes are still to come."""
    link = link_of(broker, sender, message.channel)
    if link is None:
        return
    link.stop_called = True
    if broker.state is State.COPYING:
        broker.give_up("the active server stops before everything is copied")
    elif broker.state is State.IN_SYNC:
        broker.step_after(broker.options.stop_called_wait_us)


def fail_over(broker: Broker, sender: Name, message: FailOver) -> None:
    """The other serves no more."""
    link = link_of(broker, sender, message.channel)
    if link is None:
        return
    if broker.state is State.COPYING:
        broker.give_up("the active server has stopped before everything was copied")
        return
    broker.process.send(sender, FailOverTaken(message.channel))
    broker.go(Cause.FAIL_OVER)


def stop_called_due(broker: Broker) -> None:
    """It must have stopped by now."""
    link = broker.primary
    if link is not None and link.stop_called:
        broker.go(Cause.FAIL_OVER)
