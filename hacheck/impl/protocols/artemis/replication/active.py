"""What a broker with replication does while it serves: its replica, the initial copy, and making way for its primary.

Source: broker facts 2.4, 2.7, 2.8, 2.10, AR-12 to AR-14, AR-16, AR-18.
"""

from __future__ import annotations

from collections import deque

from hacheck.impl.node import Name
from hacheck.impl.protocols.artemis.journal import KINDS, kind_of
from hacheck.impl.protocols.artemis.messages import (
    AlreadyReplicating,
    ChannelClosed,
    FailOver,
    FailOverTaken,
    NodeDown,
    RegisterBackup,
    Replicated,
    StopCalled,
    SyncDone,
    SyncFiles,
    SyncFilesStored,
    SyncStarted,
    UpToDate,
)
from hacheck.impl.protocols.artemis.replication.broker import ALONE, REPLICATED, Broker, ReplicaLink
from hacheck.impl.protocols.artemis.replication.states import Cause, State
from hacheck.impl.protocols.artemis.replication.votes import begin_stay_vote

SMALL_CLUSTER = 2
"""In a cluster of so many nodes a replica that says too late that it is up to date may win any vote (AR-12)."""


def serve_alone(broker: Broker) -> None:
    """The one that was lost, answers do not wait for it."""
    broker.release()


def registered(broker: Broker, sender: Name, message: RegisterBackup) -> None:
    """Somebody wants to be the replica."""
    link = broker.replica
    if link is not None and link.replica == sender and broker.serves:
        lose_replica(broker, 222091)  # it would not ask if it still had its end of that channel
    if broker.state is not State.ALONE or message.node_id != broker.node_id or message.group != broker.group:
        broker.process.send(sender, AlreadyReplicating(message.channel))
        return
    assert broker.server is not None
    broker.topology.heard_of(message.nodes)
    broker.store(broker.server.journal.compact())
    link = ReplicaLink(message.channel, sender, message.failback, broker.ticks)
    link.copying = files_to_copy(broker)
    broker.replica = link
    broker.ballot = None
    broker.process.send(sender, SyncStarted(link.name, broker.node_id, len(link.copying), broker.topology.largest))
    broker.go(Cause.REPLICA_REGISTERED)  # which begins to copy


def files_to_copy(broker: Broker) -> deque[tuple[str, bytes]]:
    """All files as they are just now, what is being written among them, by kind."""
    names = sorted(broker.files, key=lambda name: (kind_of(name), name))
    if broker.options.bug_pending_left_out:
        pending = {key for token, keys in broker.pending if token > broker.process.written for key in keys}
        names = [name for name in names if name not in pending]
    return deque((name, broker.files[name]) for name in names)


def copy(broker: Broker) -> None:
    """The next files, of one kind; then the final question, until whose answer nothing is written."""
    link = broker.replica
    assert link is not None
    files: list[tuple[str, bytes]] = []
    copying = link.copying
    while copying and len(files) < broker.options.sync_batch:
        if files and kind_of(copying[0][0]) != kind_of(files[0][0]):
            break
        files.append(copying.popleft())
    if files:
        link.batch += 1
        broker.process.send(link.replica, SyncFiles(link.name, KINDS[kind_of(files[0][0])], link.batch, tuple(files)))
        broker.step_after(broker.options.initial_replication_sync_timeout_us)
        return
    assert broker.server is not None
    broker.server.lock()
    link.final = True
    broker.identify(REPLICATED, replica=link.replica)  # from now on the other copy may be the one that is served
    broker.process.send(link.replica, SyncDone(link.name, broker.node_id, link.sent, broker.sequence))
    if broker.options.bug_failback_by_sleeping and link.failback and broker.options.allow_failback:
        broker.step_after(broker.options.fail_over_wait_us)
    else:
        broker.step_after(broker.options.initial_replication_sync_timeout_us)


def files_stored(broker: Broker, sender: Name, message: SyncFilesStored) -> None:
    """The next batch, please."""
    link = broker.replica
    if link is not None and link.name == message.channel and message.batch == link.batch and not link.final:
        link.heard = broker.ticks
        copy(broker)


def copy_due(broker: Broker) -> None:
    """An answer is late. If it is the last one, the replica may believe that it is up to date."""
    link = broker.replica
    assert link is not None
    if not link.final:
        lose_replica(broker, 222013)
    elif broker.options.bug_failback_by_sleeping and link.failback and broker.options.allow_failback:
        broker.go(Cause.FAILBACK)
    elif broker.tables.votes and broker.topology.largest <= SMALL_CLUSTER and not broker.options.bug_late_final_ack:
        broker.fail("the replica did not answer in time, and may believe to be up to date")
    else:
        lose_replica(broker, 222013)


def up_to_date(broker: Broker, sender: Name, message: UpToDate) -> None:
    """The replica may replace this broker from now on."""
    link = broker.replica
    if link is None or link.name != message.channel or broker.state is not State.SYNCING:
        return
    link.heard = broker.ticks
    link.up_to_date = True
    assert broker.server is not None
    broker.go(Cause.REPLICA_UP_TO_DATE)
    broker.server.unlock()
    broker.announce()


def enter_replicated(broker: Broker) -> None:
    """A primary that is up to date again gets its node back, once the cluster knows of it."""
    link = broker.replica
    assert link is not None
    if link.failback and broker.options.allow_failback:
        broker.step_after(broker.options.announcement_wait_us)


def announcement_due(broker: Broker) -> None:
    """The returning primary was not announced: this broker stays."""
    broker.process.line(224057, node_id=broker.node_id)


def backup_announced(broker: Broker, sender: Name) -> None:
    """A backup is announced; if it is the returning primary, that is what failback waits for."""
    link = broker.replica
    if broker.state is State.REPLICATED and link is not None and link.replica == sender and not link.announced:
        link.announced = True
        if link.failback and broker.options.allow_failback:
            broker.go(Cause.FAILBACK)


def replicated(broker: Broker, sender: Name, message: Replicated) -> None:
    """The replica has changes."""
    link = broker.replica
    if link is None or link.name != message.channel:
        return
    link.heard = broker.ticks
    unacknowledged = link.unacknowledged
    while unacknowledged and unacknowledged[0][0] <= message.number:
        unacknowledged.popleft()
    broker.release()
    if broker.state is State.HANDING_OVER:
        finish(broker)


def lose_replica(broker: Broker, line: int) -> None:
    """The replica is given up, and informed: its copy must not be taken for a good one. `line`: what the log says."""
    link = broker.replica
    assert link is not None
    if broker.serves:
        broker.process.line(line, replica=link.replica, node_id=broker.node_id)
    if broker.options.bug_channel_left_open and line == 222207:
        broker.left_open = (link.replica, link.name)
    else:
        broker.process.send(link.replica, ChannelClosed(link.name, broker.serves))
    broker.replica = None
    if not broker.serves:
        stop_serving(broker)
        restart(broker, Cause.REPLICA_LOST if broker.state is State.HANDING_OVER else Cause.HANDED_OVER)
        return
    was_replicated = broker.state is State.REPLICATED
    token = broker.identify(ALONE)
    if broker.options.last_server_starts:
        broker.alone_token = token
    broker.go(Cause.REPLICA_LOST)
    assert broker.server is not None
    broker.server.unlock()
    broker.announce()
    if was_replicated and line == 222092 and broker.options.vote_on_replication_failure:
        begin_stay_vote(broker)


# ---- making way ----------------------------------------------------------------------------------------------------


def hand_over(broker: Broker) -> None:
    """Serves no more; the replica is informed before and after the last change."""
    link = broker.replica
    assert link is not None
    broker.broadcast(NodeDown(broker.node_id))
    broker.topology.down(broker.node_id, broker.process.member)
    broker.process.send(link.replica, StopCalled(link.name))
    if broker.options.bug_failback_by_sleeping:
        drained(broker)
    else:
        finish(broker)


def finish(broker: Broker) -> None:
    """What was begun is finished."""
    if broker.server is not None and broker.server.idle():
        drained(broker)


def drained(broker: Broker) -> None:
    """The replica has everything."""
    link = broker.replica
    assert link is not None
    stop_serving(broker)
    broker.go(Cause.DRAINED)
    broker.process.send(link.replica, FailOver(link.name, link.sent))


def stop_serving(broker: Broker) -> None:
    """Clients are sent away; answers that are due are never given."""
    if broker.server is not None:
        broker.server.disconnect()
        broker.server = None
        broker.process.line(221002, reason="failback")


def wait_for_take_over(broker: Broker) -> None:
    """For a while."""
    broker.step_after(broker.options.fail_over_wait_us)


def fail_over_taken(broker: Broker, sender: Name, message: FailOverTaken) -> None:
    """The other takes over."""
    link = broker.replica
    if broker.state is State.HANDED_OVER and link is not None and link.name == message.channel:
        handed_over(broker)


def handed_over(broker: Broker) -> None:
    """It has taken over, or there was time enough for that."""
    restart(broker, Cause.HANDED_OVER)


def restart(broker: Broker, cause: Cause) -> None:
    """Starts again as a backup, if it may."""
    broker.process.line(221039, node_id=broker.node_id)
    broker.replica = None
    broker.policy = "backup"
    broker.failing_back = False
    broker.go(cause if broker.options.restart_backup else Cause.STOP)
