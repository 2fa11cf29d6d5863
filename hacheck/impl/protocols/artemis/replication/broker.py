"""A broker with replication, as its states see it: what it knows, and what it asks for.

Silence is counted in ticks, not in time: a broker that stood still, or whose clock jumped, must not find everybody else
dead.

On its own disk a broker has the journal's files, `identity` (whose data they are, and how good), and `oldreplica.<n>/`
(what it had before). Source: broker facts 2.3 to 2.8, 2.10.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from hacheck.impl.kit.state_table import StateTable
from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import Message, Name, Setup
from hacheck.impl.protocols.artemis.journal import KINDS, VERSION, Changes, from_files, kind_of
from hacheck.impl.protocols.artemis.messages import NodeUp, Replicate
from hacheck.impl.protocols.artemis.options import ReplicationOptions
from hacheck.impl.protocols.artemis.process import Process
from hacheck.impl.protocols.artemis.replication.ballot import Ballot
from hacheck.impl.protocols.artemis.replication.states import SERVING, Cause, State
from hacheck.impl.protocols.artemis.session_server import Server
from hacheck.impl.protocols.artemis.topology import Topology
from hacheck.impl.system import Member

IDENTITY_KEY = "identity"
SAVED = "oldreplica."

NO_SEQUENCE = -1
"""Of data that have no activation sequence."""

EMPTY, COPYING, IN_SYNC, REPLICATED, ALONE = "empty", "copying", "in-sync", "replicated", "alone"
"""How good the data of a broker are: none; a copy that is not complete; a complete copy; served with a replica that may
be up to date; served, or about to, without one."""


class Identity(Struct, frozen=True):
    """Whose data a broker has, and how good they are. `replica`: who has the other copy, if there is one. `given_up`:
    the nodes of which it had a copy that it has laid aside, and that the other one is as good as."""

    version: int
    node_id: str
    history: str
    replica: Name = ""
    given_up: tuple[str, ...] = ()


class ReplicaLink:
    """The replication channel, on the side of the one that serves.

    `sent`: changes so far. `unacknowledged`: those that are not answered, with the write that each goes with and when
    it was sent. `copying`: files still to be copied, and `batch`, the one under way. `final`: the last question of the
    copy gets its query. `up_to_date`: and answered. `failback`: the replica is the node's own primary.
    """

    def __init__(self, name: str, replica: Name, failback: bool, tick: int) -> None:
        self.name = name
        self.replica = replica
        self.failback = failback
        self.heard = tick
        self.sent = 0
        self.unacknowledged: deque[tuple[int, int, int]] = deque()
        self.copying: deque[tuple[str, bytes]] = deque()
        self.batch = 0
        self.final = False
        self.up_to_date = False
        self.announced = False


class PrimaryLink:
    """The replication channel, on the side of the replica.

    `received`: changes so far. `unwritten`: those not yet on this disk, by write and number. `mirrored`: the files that
    were changed since the copy began, which the copy must not overwrite. `last`: after how many changes the copy is
    complete, or -1. `stop_called`: the other is about to stop. `sequence`: the activation sequence of the copy.
    """

    def __init__(self, name: str, primary: Name, node_id: str, tick: int) -> None:
        self.name = name
        self.primary = primary
        self.node_id = node_id
        self.heard = tick
        self.received = 0
        self.mirrored: dict[str, None] = {}
        self.last = -1
        self.stop_called = False
        self.sequence = NO_SEQUENCE
        self.unwritten: deque[tuple[int, int]] = deque()


class Tables(Struct, frozen=True):
    """What is done where: on entering a state, when a timer fires, a message comes, a write is done. Brokers are of the
    kind that the tables are for. `votes`: whether a vote decides who serves, or else a lock."""

    enter: Mapping[State, Callable[[Any], None]]
    steps: Mapping[State, Callable[[Any], None]]
    written: Mapping[str, Callable[[Any, int, str], None]]
    timers: Mapping[str, Callable[[Any], None]]
    messages: Mapping[type[Message], Callable[[Any, Name, Any], None]]
    states: StateTable[State, Cause]
    votes: bool = True


class Broker:
    """What a broker knows.

    `role`: what it is by nature; `policy`: what it is now: a backup that took over is a primary until it ends or makes
    way. `files`: its data, as they are on its disk, ahead by what is being written. `saved`: what it had before, by
    number. `ticks`: how often it looked for silence. `server`: there while it serves. `replica`, `primary`: the
    replication channel, by side. `starting`: it has been no replica since its start. `up_to_date`: its copy is
    complete, and it said so. `pairs_with`: the only node that it may be a replica of, or empty. `tried`: who did not
    want it as one. `alone_token`: the write that says that it has
    no replica; answers wait for it. `failure`, `reason`: why it ends. `sequence`: the activation sequence of its data,
    where a lock manager decides.
    """

    def __init__(self, member: Member, members: tuple[Member, ...], setup: Setup, tables: Tables, group: str) -> None:
        self.process = Process(setup)
        self.options: ReplicationOptions = setup.options
        self.tables = tables
        self.role = self.policy = member.role
        self.group = group
        self.others = tuple(m.name for m in members if m.role in ("primary", "backup") and m.name != member.name)
        self.gateways = tuple(m.name for m in members if m.role == "gateway")
        self.state = State.STARTING
        self.failure = ""
        self.reason = "stopped"
        self.starting = True
        self.up_to_date = False
        raw = setup.durable.get(IDENTITY_KEY)
        self.identity = decode(raw, Identity, "identity") if raw is not None else Identity(VERSION, "", EMPTY)
        self.files = {key: value for key, value in setup.durable.items() if kind_of(key) < len(KINDS)}
        self.saved: dict[int, list[str]] = {}
        for key in sorted(setup.durable):
            if key.startswith(SAVED):
                self.saved.setdefault(int(key[len(SAVED) :].partition("/")[0]), []).append(key)
        from_files(self.files, self.options)  # the one that cannot read its data must not start
        self.ticks = 0
        self.server: Server | None = None
        self.topology = Topology()
        self.replica: ReplicaLink | None = None
        self.primary: PrimaryLink | None = None
        self.ballot: Ballot | None = None
        self.failing_back = False
        self.pairs_with = ""
        self.candidate: Name = ""
        self.channel = ""
        self.wanted = ""
        self.tried: dict[Name, None] = {}
        self.asks_left = 0
        self.alone_token = 0
        self.health_check = 0
        self.health_answers = 0
        self.healthy = True
        self.left = 0
        self.left_open: tuple[Name, str] | None = None
        self.vote_won: bool | None = None
        self.pending: deque[tuple[int, tuple[str, ...]]] = deque()
        self.conflicts: dict[tuple[str, Name], None] = {}
        self.sequence = NO_SEQUENCE

    @property
    def node_id(self) -> str:
        """Whose data it has."""
        return self.identity.node_id

    @property
    def serves(self) -> bool:
        """Whether it is there for clients."""
        return self.state in SERVING

    def go(self, cause: Cause) -> None:
        """Changes the state."""
        old, self.state = self.state, self.tables.states.next(self.state, cause)
        self.process.cancel_timer("step")
        self.process.record("state", {"old": old.value, "new": self.state.value, "cause": cause.value})
        self.tables.enter[self.state](self)

    def fail(self, reason: str) -> None:
        """A critical error: this process ends."""
        if self.state is not State.STOPPED:
            self.failure = reason
            self.go(Cause.FAILURE)

    def give_up(self, reason: str) -> None:
        """This process ends, though nothing is wrong with it: it must not serve what it has."""
        self.reason = reason
        self.go(Cause.STOP)

    def start_again(self, reason: str) -> None:
        """A replica gives up its copy, stops, and starts again as a backup."""
        self.process.line(221002, reason=reason)
        self.go(Cause.RETRY)

    def step_after(self, after_us: int) -> None:
        """Does this state's step after a while."""
        self.process.set_timer("step", after_us)

    def broadcast(self, message: Message) -> None:
        """Sends to all other brokers."""
        for other in self.others:
            self.process.send(other, message)

    def announce(self) -> None:
        """Informs the cluster and its clients who serves here, and who would next."""
        link = self.replica
        backup = link.replica if link is not None and link.up_to_date else ""
        process = self.process
        self.topology.up(self.node_id, process.member, backup, self.group, self.ticks)
        self.broadcast(NodeUp(self.node_id, backup, self.group))
        if self.server is not None:
            self.server.connectors = (process.member, backup) if backup else (process.member,)

    def identify(self, history: str, purpose: str = "", node_id: str = "", replica: Name = "") -> int:
        """Writes what its data are from now on. `node_id`: as it is, where empty. Returns the write."""
        node_id = node_id or self.node_id
        given_up = tuple(other for other in self.identity.given_up if other != node_id)
        self.identity = Identity(VERSION, node_id, history, replica, given_up)
        return self.process.write(((IDENTITY_KEY, encode(self.identity)),), purpose)

    # ---- changes ---------------------------------------------------------------------------------------------------

    def store(self, changes: Changes) -> int:
        """Writes changes here and at the replica: what a `Server` asks of its `Storage`."""
        self.apply(changes)
        token = self.process.requested + 1
        if self.options.bug_replicate_first:
            self.replicate(changes, token)
        written = self.process.write(changes, "")
        assert written == token, "a broker with replication asks for nothing but writes"
        if not self.options.bug_replicate_first:
            self.replicate(changes, token)
        if self.options.bug_pending_left_out:
            self.pending.append((token, tuple(key for key, _ in changes)))
        return token

    def stored(self) -> int:
        """The last write requested."""
        return self.process.requested

    def apply(self, changes: Changes) -> None:
        """The files as they are to be."""
        files = self.files
        for key, value in changes:
            if value is None:
                files.pop(key, None)
            else:
                files[key] = value

    def replicate(self, changes: Changes, token: int) -> None:
        """Sends changes to the replica, if there is one."""
        link = self.replica
        if link is not None:
            link.sent += 1
            link.unacknowledged.append((link.sent, token, self.ticks))
            self.process.send(link.replica, Replicate(link.name, link.sent, changes))

    def release(self) -> None:
        """Answers what is on this disk, and with the replica if there is one."""
        server, written = self.server, self.process.written
        if server is None or written < self.alone_token:
            return
        link = self.replica
        if link is not None and link.unacknowledged:
            written = min(written, link.unacknowledged[0][1] - 1)
        server.release(written)
