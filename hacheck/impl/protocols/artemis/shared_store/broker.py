"""A broker over a shared store, as its states see it: what it knows, and how it asks for locks, files and time.

The store has `server.lock/state` (the state byte), `server.lock/node-id`, `server.lock/activation` (who activated last)
and the journal's files. Two locks beside it: the one that serves holds the primary lock; the one backup that waits for
that holds the backup lock. Source: broker facts 2.2."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from hacheck.impl.node import LockAnswered, Name, Setup, SharedRead
from hacheck.impl.protocols.artemis.journal import Changes
from hacheck.impl.protocols.artemis.messages import BackupAnnounced
from hacheck.impl.protocols.artemis.options import SharedStoreOptions
from hacheck.impl.protocols.artemis.process import Process
from hacheck.impl.protocols.artemis.session_server import Server
from hacheck.impl.protocols.artemis.shared_store.journal_reader import JournalReader
from hacheck.impl.protocols.artemis.shared_store.states import BROKER, Cause, State
from hacheck.impl.system import Member

STORE = "store"
PRIMARY_LOCK = "primary-lock"
BACKUP_LOCK = "backup-lock"

STATE_KEY = "server.lock/state"
NODE_ID_KEY = "server.lock/node-id"
ACTIVATION_KEY = "server.lock/activation"

FIRST_START, NOT_STARTED, LIVE, FAILING_BACK, PAUSED = b"0", b"N", b"L", b"F", b"P"

CACHED_READS = 100
"""How many reads of the state byte an old value answers, with `bug_state_cached`."""


class Activation(Struct, frozen=True):
    """Who activated last. `count`: how many did. `folder`: where its journal is. `stamp_us`: when, by its own clock."""

    version: int
    count: int
    holder: str
    folder: str
    stamp_us: int


class Tables(Struct, frozen=True):
    """What is done where: on entering a state, and when an answer comes."""

    enter: Mapping[State, Callable[[Broker], None]]
    timers: Mapping[str, Callable[[Broker], None]]
    steps: Mapping[State, Callable[[Broker], None]]
    read: Mapping[str, Callable[[Broker, str, SharedRead], None]]
    written: Mapping[str, Callable[[Broker], None]]
    locks: Mapping[tuple[State, str], Callable[[Broker, LockAnswered], None]]


class Broker:
    """What a broker knows. `role`: what it is by nature, `primary` or `backup`.

    `serves_with`: the kind of server that it makes. `server`: there while it serves, or finishes what it had begun.
    `activation`: its own. `trying`, `holding`: locks that were requested, and those it believes to hold. `expected`:
    for each purpose the read that is still of use. `announcing`: it waits to take over, and says so. `announced`: when
    others last said so. `failing_back_since_us`: since when it has seen the mark of a primary that wants to fail back,
    or -1. `marked`: its own mark is there. `unconfirmed`: what the monitor still waits for. `verifying`: the write
    whose answers wait for the store's confirmation, or 0.
    """

    def __init__(
        self,
        member: Member,
        members: tuple[Member, ...],
        setup: Setup,
        tables: Tables,
        serves_with: type[Server] = Server,
    ) -> None:
        self.process = Process(setup)
        self.serves_with = serves_with
        self.options: SharedStoreOptions = setup.options
        self.tables = tables
        self.role = member.role
        self.others = tuple(m.name for m in members if m.role in ("primary", "backup") and m.name != member.name)
        self.primaries = tuple(m.name for m in members if m.role == "primary")
        self.state = State.STARTING
        self.failure = ""
        self.server: Server | None = None
        self.node_id = ""
        self.activation: Activation | None = None
        self.loading: JournalReader | None = None
        self.trying: set[str] = set()
        self.holding: set[str] = set()
        self.expected: dict[str, int] = {}
        self.announcing = False
        self.announced: dict[Name, int] = {}
        self.failing_back_since_us = -1
        self.marked = False
        self.retaking = False
        self.handed_over_us = 0
        self.stop_with_failover = False
        self.unconfirmed: set[str] = set()
        self.verifying = 0
        self.cached_state: tuple[int, bytes | None] = (0, None)

    def go(self, cause: Cause) -> None:
        """Changes the state. What was requested in the old one is of no use any more."""
        old, self.state = self.state, BROKER.next(self.state, cause)
        self.expected.clear()
        self.process.cancel_timer("step")
        self.process.record("state", {"old": old.value, "new": self.state.value, "cause": cause.value})
        self.tables.enter[self.state](self)

    def fail(self, reason: str) -> None:
        """A critical error: this process ends."""
        if self.state is not State.STOPPED:
            self.failure = reason
            self.go(Cause.FAILURE)

    def step_after(self, after_us: int) -> None:
        """Does this state's step after a while."""
        self.process.set_timer("step", after_us)

    def read(self, key: str, purpose: str) -> None:
        """Reads a file of the store."""
        self.expected[purpose] = self.process.read(STORE, key, purpose)

    def try_lock(self, lock: str) -> None:
        """Tries to take a lock, unless that is under way already."""
        if lock not in self.trying:
            self.trying.add(lock)
            self.process.try_lock(lock)

    def unlock(self, lock: str) -> None:
        """Gives a lock back."""
        self.holding.discard(lock)
        self.process.unlock(lock)

    def announce(self) -> None:
        """Informs the others that this one waits to take over."""
        for other in self.others:
            self.process.send(other, BackupAnnounced(self.node_id))

    def primary_heard_us(self) -> int:
        """When a waiting primary was last heard of, or -1."""
        return max((self.announced.get(name, -1) for name in self.primaries), default=-1)

    def state_byte(self, given: SharedRead) -> bytes | None:
        """The state byte that was read."""
        if not self.options.bug_state_cached:
            return given.value
        left, value = self.cached_state
        if left == 0:
            left, value = CACHED_READS, given.value
        self.cached_state = (left - 1, value)
        return value

    def store(self, changes: Changes) -> int:
        """Writes changes of the journal: what a `Server` asks of its `Storage`."""
        return self.process.write(changes, "", STORE)

    def stored(self) -> int:
        """The last write requested."""
        return self.process.requested
