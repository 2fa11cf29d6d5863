"""Everything that brokers, clients, operators and the pinged host send each other."""

from __future__ import annotations

from hacheck.impl.node import Message, Name

# ---- clients and their broker --------------------------------------------------------------------------------------


class CreateSession(Message, frozen=True, gc=False):
    """A client wants a session, on the broker that serves a node. `node_id`: empty where it does not know any yet.

    `session`: a fresh name; whatever session this client had before is over.
    """

    session: str
    node_id: str


class SessionCreated(Message, frozen=True, gc=False):
    """The session is there. `connectors`: who serves that node, then who would next: the client's topology."""

    session: str
    node_id: str
    connectors: tuple[Name, ...]


class SessionRefused(Message, frozen=True, gc=False):
    """This broker does not serve that node now. `connectors`: who does, as far as it knows."""

    session: str
    connectors: tuple[Name, ...]


class SessionClosed(Message, frozen=True, gc=False):
    """There is no such session here (any more): whatever was requested in it may or may not have been done."""

    session: str


class Outgoing(Message, frozen=True, gc=False):
    """A message to an address. `duplicate_id`: the same for the same message, however often it is sent. `durable`: it
    is kept on disk."""

    address: str
    duplicate_id: str
    body: bytes
    durable: bool = True


class Produce(Message, frozen=True, gc=False):
    """Send one message outside any transaction, and wait for the answer."""

    session: str
    call: int
    outgoing: Outgoing


class Commit(Message, frozen=True, gc=False):
    """Commit a transaction: these messages sent, those of this session's deliveries acknowledged, all or nothing."""

    session: str
    call: int
    outgoing: tuple[Outgoing, ...]
    acknowledged: tuple[int, ...]


class Fetch(Message, frozen=True, gc=False):
    """Deliver up to so many messages of a queue to this session, which has them until it acknowledges or closes."""

    session: str
    call: int
    queue: str
    credit: int


class Incoming(Message, frozen=True, gc=False):
    """A message as it is delivered. `number`: what to acknowledge it by."""

    number: int
    duplicate_id: str
    body: bytes


class Delivered(Message, frozen=True, gc=False):
    """What a `Fetch` got."""

    session: str
    call: int
    messages: tuple[Incoming, ...]


class Answered(Message, frozen=True, gc=False):
    """What came of a `Produce` or `Commit`: `ok`, `rolled-back`, or `duplicate` for a transaction that was rolled back
    because one of its messages is there already."""

    session: str
    call: int
    outcome: str


class SessionPing(Message, frozen=True, gc=False):
    """Is this session still there?"""

    session: str


class SessionPong(Message, frozen=True, gc=False):
    """It is."""

    session: str


# ---- operators, and the pinged host --------------------------------------------------------------------------------


class StopServer(Message, frozen=True, gc=False):
    """Stop this broker in an orderly way. `failover`: let the backup take over whatever the options say."""

    failover: bool


class HealthPing(Message, frozen=True, gc=False):
    """Sent to the hosts on the network check list."""

    check: int


class HealthPong(Message, frozen=True, gc=False):
    """This host is there."""

    check: int


# ---- brokers of one cluster ----------------------------------------------------------------------------------------


class NodeUp(Message, frozen=True, gc=False):
    """The sender serves this node. `backup`: who would take over, or empty."""

    node_id: str
    backup: Name
    group: str


class NodeDown(Message, frozen=True, gc=False):
    """The sender, which served this node, leaves in an orderly way."""

    node_id: str


class BackupAnnounced(Message, frozen=True, gc=False):
    """The sender is ready to take over this node: a backup, or a primary that waits for its lock."""

    node_id: str


class FindServer(Message, frozen=True, gc=False):
    """A starting primary: does anybody serve my node? Sent to all, and again of the one that is named."""

    node_id: str


class ServerFound(Message, frozen=True, gc=False):
    """That node is served by `active`, says the sender's topology; if that is the sender, it is certain."""

    node_id: str
    active: Name


class CopyGivenUp(Message, frozen=True, gc=False):
    """The sender has laid its copy of this node aside, and never served it without the one that has the other one."""

    node_id: str


class VoteRequest(Message, frozen=True, gc=False):
    """A ballot. `question`: `replace` (is the node gone, so that I may replace it?) or `stay` (is it still mine?)."""

    ballot: str
    question: str
    node_id: str


class Vote(Message, frozen=True, gc=False):
    """What one voter says. `connector`: whom its topology has for the node, or empty."""

    ballot: str
    yes: bool
    connector: Name


# ---- replication ---------------------------------------------------------------------------------------------------


class RegisterBackup(Message, frozen=True, gc=False):
    """A backup asks to be the replica of a node. `channel`: a fresh name. `failback`: it is that node's own primary."""

    channel: str
    node_id: str
    group: str
    failback: bool
    nodes: int


class AlreadyReplicating(Message, frozen=True, gc=False):
    """No: there is a replica, or the groups differ, or the sender serves no such node."""

    channel: str


class SyncStarted(Message, frozen=True, gc=False):
    """The backup is taken; so many files will be copied, and from now on all changes are replicated as well.

    `nodes`: the most nodes that the sender has seen, here and in `RegisterBackup`: who has just been started has seen
    few, and would need too few votes.
    """

    channel: str
    node_id: str
    files: int
    nodes: int


class SyncFiles(Message, frozen=True, gc=False):
    """Some of the files, all of one kind: `journal`, `bindings`, `large-messages` or `pages`."""

    channel: str
    kind: str
    batch: int
    files: tuple[tuple[str, bytes], ...]


class SyncFilesStored(Message, frozen=True, gc=False):
    """The backup has that batch."""

    channel: str
    batch: int


class SyncDone(Message, frozen=True, gc=False):
    """All is copied: be up to date. `last`: the number of the last change before this. `sequence`: the activation
    sequence of the data, where a lock manager decides."""

    channel: str
    node_id: str
    last: int
    sequence: int = -1


class UpToDate(Message, frozen=True, gc=False):
    """The backup has everything on its disk, and may replace its primary from now on."""

    channel: str


class Replicate(Message, frozen=True, gc=False):
    """A change of the files, the `number`-th on this channel, from 1."""

    channel: str
    number: int
    changes: tuple[tuple[str, bytes | None], ...]


class Replicated(Message, frozen=True, gc=False):
    """The backup has all changes up to this number."""

    channel: str
    number: int


class ChannelPing(Message, frozen=True, gc=False):
    """Both sides of a replication channel show that they live."""

    channel: str


class ChannelClosed(Message, frozen=True, gc=False):
    """This channel is closed, or was never there. `serves`: the sender serves the node, and goes on alone."""

    channel: str
    serves: bool


class StopCalled(Message, frozen=True, gc=False):
    """The sender is about to stop, and wants the receiver to take over."""

    channel: str


class FailOver(Message, frozen=True, gc=False):
    """The sender serves no more. `last`: the number of the last change it ever made."""

    channel: str
    last: int


class FailOverTaken(Message, frozen=True, gc=False):
    """The receiver takes over."""

    channel: str


MESSAGES: tuple[type[Message], ...] = (
    CreateSession,
    SessionCreated,
    SessionRefused,
    SessionClosed,
    Produce,
    Commit,
    Fetch,
    Delivered,
    Answered,
    SessionPing,
    SessionPong,
    StopServer,
    HealthPing,
    HealthPong,
    NodeUp,
    NodeDown,
    BackupAnnounced,
    FindServer,
    ServerFound,
    CopyGivenUp,
    VoteRequest,
    Vote,
    RegisterBackup,
    AlreadyReplicating,
    SyncStarted,
    SyncFiles,
    SyncFilesStored,
    SyncDone,
    UpToDate,
    Replicate,
    Replicated,
    ChannelPing,
    ChannelClosed,
    StopCalled,
    FailOver,
    FailOverTaken,
)
