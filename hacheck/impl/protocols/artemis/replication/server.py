"""A broker with replication: pairs that copy every change over the network, and a quorum vote when one is lost.

This module takes the inputs and knows who is to have them; `states` is the protocol as a table, and the
modules that it names say what is done in each state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hacheck.impl.node import (
    Effect,
    Fired,
    Input,
    Message,
    Name,
    Received,
    Setup,
    Started,
    Unreachable,
    WriteFailed,
    Written,
)
from hacheck.impl.protocols.artemis.messages import (
    AlreadyReplicating,
    BackupAnnounced,
    ChannelClosed,
    ChannelPing,
    Commit,
    CopyGivenUp,
    CreateSession,
    FailOver,
    FailOverTaken,
    Fetch,
    FindServer,
    HealthPing,
    HealthPong,
    NodeDown,
    NodeUp,
    Produce,
    RegisterBackup,
    Replicate,
    Replicated,
    ServerFound,
    SessionClosed,
    SessionPing,
    SessionRefused,
    StopCalled,
    StopServer,
    SyncDone,
    SyncFiles,
    SyncFilesStored,
    SyncStarted,
    UpToDate,
    Vote,
    VoteRequest,
)
from hacheck.impl.protocols.artemis.process import Process
from hacheck.impl.protocols.artemis.replication import active, backup, cluster, start, votes
from hacheck.impl.protocols.artemis.replication.broker import Broker, Tables
from hacheck.impl.protocols.artemis.replication.states import BROKER, State
from hacheck.impl.protocols.artemis.session_server import Server
from hacheck.impl.system import Member


def nothing(broker: Broker) -> None:
    """Waits for others."""


def _client(broker: Broker, sender: Name, message: Any) -> None:
    if broker.server is not None and broker.serves:
        broker.server.request(sender, message)
    elif isinstance(message, CreateSession):
        known = broker.topology.connector(message.node_id)
        broker.process.send(sender, SessionRefused(message.session, (known,) if known else ()))
    else:
        broker.process.send(sender, SessionClosed(message.session))


def _announced(broker: Broker, sender: Name, message: BackupAnnounced) -> None:
    active.backup_announced(broker, sender)


MESSAGES: Mapping[type[Message], Callable[[Broker, Name, Any], None]] = {
    CreateSession: _client,
    Produce: _client,
    Commit: _client,
    Fetch: _client,
    SessionPing: _client,
    StopServer: cluster.stop_server,
    HealthPong: votes.gateway_answered,
    NodeUp: cluster.node_up,
    NodeDown: cluster.node_left,
    BackupAnnounced: _announced,
    FindServer: cluster.find_server,
    ServerFound: start.server_found,
    CopyGivenUp: start.copy_given_up,
    VoteRequest: votes.vote_requested,
    Vote: votes.voted,
    RegisterBackup: active.registered,
    AlreadyReplicating: backup.already_replicating,
    SyncStarted: backup.sync_started,
    SyncFiles: backup.files_came,
    SyncFilesStored: active.files_stored,
    SyncDone: backup.sync_done,
    UpToDate: active.up_to_date,
    Replicate: backup.change_came,
    Replicated: active.replicated,
    ChannelPing: cluster.pinged,
    ChannelClosed: cluster.closed,
    StopCalled: backup.stop_called,
    FailOver: backup.fail_over,
    FailOverTaken: active.fail_over_taken,
}


def step(broker: Broker) -> None:
    """A state's own time has come."""
    broker.tables.steps[broker.state](broker)


TIMERS: Mapping[str, Callable[[Broker], None]] = {
    "tick": cluster.tick,
    "step": step,
    "ballot": votes.ballot_due,
    "network": votes.check_network,
    "health": votes.health_due,
}

TABLES = Tables(
    enter={
        State.STARTING: start.begin,
        State.CHECKING: start.check,
        State.UNDECIDED: start.ask,
        State.ALONE: active.serve_alone,
        State.SYNCING: active.copy,
        State.REPLICATED: active.enter_replicated,
        State.HANDING_OVER: active.hand_over,
        State.HANDED_OVER: active.wait_for_take_over,
        State.SAVING: backup.save,
        State.LOCATING: backup.locate,
        State.REGISTERING: backup.register,
        State.COPYING: nothing,
        State.IN_SYNC: nothing,
        State.DECIDING: votes.decide,
        State.ACTIVATING: start.activate,
        State.ISOLATED: cluster.isolate,
        State.STOPPED: cluster.stop,
    },
    steps={
        State.CHECKING: start.check_again,
        State.UNDECIDED: start.ask,
        State.SYNCING: active.copy_due,
        State.REPLICATED: active.announcement_due,
        State.HANDED_OVER: active.handed_over,
        State.LOCATING: backup.locate_again,
        State.REGISTERING: backup.not_taken,
        State.IN_SYNC: backup.stop_called_due,
        State.DECIDING: votes.vote_again,
    },
    written={
        "activation": start.activated,
        "saved": backup.saved,
        "files": backup.files_written,
        "change": backup.change_written,
        "in-sync": backup.in_sync,
    },
    timers=TIMERS,
    messages=MESSAGES,
    states=BROKER,
)


OF_VOTES = (HealthPong, FindServer, ServerFound, CopyGivenUp, VoteRequest, Vote)
"""Messages of the policy that votes."""


class ReplicationBroker:
    """One broker of a cluster of live-backup pairs with replication."""

    def __init__(self, member: Member, members: tuple[Member, ...], setup: Setup, group: str) -> None:
        self.broker = Broker(member, members, setup, TABLES, group)

    @property
    def serving(self) -> bool:
        """Whether clients are served here."""
        return self.broker.serves

    @property
    def server(self) -> Server | None:
        """What clients are served with, while they are."""
        return self.broker.server if self.broker.serves else None

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done about an input."""
        return self.broker.process.dispatch(INPUTS, self.broker, given, now_us)


def _started(broker: Broker, given: Started) -> None:
    broker.process.set_timer("tick", broker.options.check_period_us)
    if broker.gateways:
        broker.process.set_timer("network", broker.options.network_check_period_us)
    start.begin(broker)


def _received(broker: Broker, given: Received) -> None:
    broker.tables.messages[type(given.message)](broker, given.sender, given.message)


def _unreachable(broker: Broker, given: Unreachable) -> None:
    cluster.unreachable(broker, given.peer)


def _fired(broker: Broker, given: Fired) -> None:
    broker.tables.timers[given.timer](broker)


def _written(broker: Broker, given: Written) -> None:
    process = broker.process
    counts = process.done(given.token)
    token = given.token
    while counts and token:
        while broker.pending and broker.pending[0][0] <= token:
            broker.pending.popleft()
        purpose = process.purposes.pop(token, "")
        broker.release()
        if broker.state is State.HANDING_OVER:
            active.finish(broker)
        if purpose:
            word, _, rest = purpose.partition(":")
            broker.tables.written[word](broker, token, rest)
        token = process.next_done()


def _write_failed(broker: Broker, given: WriteFailed) -> None:
    broker.process.purposes.pop(given.token, "")
    broker.fail(f"a write failed: {given.reason}")


INPUTS: Mapping[type[Input], Callable[[Broker, Any], None]] = {
    Started: _started,
    Received: _received,
    Unreachable: _unreachable,
    Fired: _fired,
    Written: _written,
    WriteFailed: _write_failed,
}


class Gateway:
    """A host of the network check list: it answers, and that is all."""

    def __init__(self, setup: Setup) -> None:
        self.process = Process(setup)

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """Answers."""
        self.process.begin(now_us)
        if isinstance(given, Received) and isinstance(given.message, HealthPing):
            self.process.send(given.sender, HealthPong(given.message.check))
        return self.process.effects
