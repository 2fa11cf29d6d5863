"""A server with a copy of the database of its own: takes the inputs, and goes where the table says.

Source: HA Locking Mechanism; Fiorano Replicated High Availability Working; broker facts 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hacheck.impl.kit.storage import decode
from hacheck.impl.node import (
    Effect,
    Fired,
    Input,
    LockAnswered,
    LockLost,
    Received,
    Setup,
    SharedRead,
    Started,
    Unreachable,
    WriteFailed,
    Written,
)
from hacheck.impl.protocols.fiorano.channel import Channel, Link
from hacheck.impl.protocols.fiorano.client_service import Server, answer_query, refuse
from hacheck.impl.protocols.fiorano.database_copies import Copies
from hacheck.impl.protocols.fiorano.epoch_claim import Claim, Step
from hacheck.impl.protocols.fiorano.lock_file import Lock, LockFile
from hacheck.impl.protocols.fiorano.messages import (
    Beat,
    Hello,
    OnChannel,
    Replicate,
    Replicated,
    State,
    StateQuery,
    SyncBegin,
    SyncEnd,
    SyncObjects,
    SyncTaken,
)
from hacheck.impl.protocols.fiorano.options import ReplicatedOptions
from hacheck.impl.protocols.fiorano.process import Process
from hacheck.impl.protocols.fiorano.replicated_states import (
    DECIDING,
    SERVER,
    SERVING,
    Role,
    View,
    When,
    merit,
    wants_lock,
)
from hacheck.impl.protocols.fiorano.repository import META, OBJECT, Meta, Repository
from hacheck.impl.system import Member

_NOBODY = State("", "DEAD", "DEAD", 0, 0, 0, True, 0)


class ReplicatedServer:
    """One server of the pair. `role`, `previous`: its present and previous state. `peer_state`: what the peer said last
    on this connection. `server`: what it serves with, if it serves."""

    def __init__(self, member: Member, members: tuple[Member, ...], setup: Setup) -> None:
        options: ReplicatedOptions = setup.options
        durable = setup.durable
        meta = decode(durable[META], Meta, "the repository") if META in durable else Meta()
        objects = {name[len(OBJECT) :]: value for name, value in durable.items() if name.startswith(OBJECT)}
        self.options = options
        self.process = Process(setup)
        self.peer = next(m.name for m in members if m.role == "server" and m.name != member.name)
        self.lock_file = LockFile(self.process, options.lock_file, options.lock_timeout_us)
        self.channel = Channel(self.process, self.peer)
        both = options.answer_after == "both"
        self.copies = Copies(self.process, self.channel, meta, Repository(objects), options.sync_batch, both)
        self.claim = Claim(self.process, self.peer)
        self.server: Server | None = None
        self.role = self.previous = Role.DEAD
        self.peer_state = _NOBODY
        self._settings = (
            "wait" if options.on_lock_lost == "wait" else "",
            "promote" if options.bug_promote_passive_sync else "return",
            options.alone_from_waiting,
            "",
        )
        self._link = Link.CONNECTING
        self._wanted = self._in_sync = False
        self._begun = False
        self._moved = True

    @property
    def serving(self) -> bool:
        """Whether it accepts clients."""
        return self.server is not None

    @property
    def repository(self) -> Repository:
        """The objects that it has."""
        return self.copies.repository

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done about an input."""
        process = self.process
        process.begin(now_us)
        self._moved = True
        INPUTS[type(given)](self, given)
        self._settle()
        return process.effects

    # ---- inputs ----------------------------------------------------------------------------------------------------

    def _started(self, given: Started) -> None:
        process, options = self.process, self.options
        process.record("started", {"mode": "replicated"})
        process.set_timer("ping", options.ping_us)
        process.set_timer("lock", options.lock_check_us)
        process.set_timer("connect", options.connect_us)
        self.channel.beat(options.socket_timeout_us)

    def _received(self, given: Received) -> None:
        message = given.message
        if given.sender != self.peer:
            self._moved = False
            if isinstance(message, StateQuery):
                answer_query(
                    self.process, given.sender, self.role, self.previous, self.peer_state.present, self.lock_file
                )
            elif self.server is not None:
                self.server.received(given.sender, message)
            else:
                refuse(self.process, given.sender, message)
        elif isinstance(message, Hello):
            if self.channel.hello(message):
                self._connected()
        elif isinstance(message, OnChannel) and self.channel.heeded(message):
            CHANNEL[type(message)](self, message)

    def _unreachable(self, given: Unreachable) -> None:
        if given.peer == self.peer:
            self.channel.give_up()
        elif self.server is not None:
            self.server.drop(given.peer)

    def _fired(self, given: Fired) -> None:
        TIMERS[given.timer](self)

    def _written(self, given: Written) -> None:
        purpose, number = self.process.purposes.pop(given.token)
        if purpose == "claim":
            self.claim.written(number, failed=False)
        else:
            self._moved = purpose == "synchronised"
            self.copies.written(given.token, purpose, number)

    def _write_failed(self, given: WriteFailed) -> None:
        purpose, number = self.process.purposes.pop(given.token)
        if purpose == "claim" and self.claim.step is Step.FILING:
            self.claim.written(number, failed=True)
        else:
            self.process.halt(f"the repository cannot be written: {given.reason}")

    def _lock_answered(self, given: LockAnswered) -> None:
        self.lock_file.answered(given.granted)

    def _lock_lost(self, given: LockLost) -> None:
        self.lock_file.lost()

    def _shared_read(self, given: SharedRead) -> None:
        _, attempt = self.process.purposes.pop(given.token)
        self.claim.read(attempt, given, self.copies.meta, self._keep)

    def _keep(self, meta: Meta) -> None:
        self.copies.meta = meta
        self.claim.keep(meta)

    # ---- timers ----------------------------------------------------------------------------------------------------

    def _ping_due(self) -> None:
        self.process.set_timer("ping", self.options.ping_us)
        self.channel.beat(self.options.socket_timeout_us)
        if self.server is not None:
            self.server.expire()

    def _connect_due(self) -> None:
        if self.channel.link is Link.CONNECTING:
            self.channel.give_up()

    def _lock_due(self) -> None:
        self.process.set_timer("lock", self.options.lock_check_us)
        if self._wanted or self.role in SERVING:
            self.lock_file.ask()

    # ---- the channel -----------------------------------------------------------------------------------------------

    def _connected(self) -> None:
        """A new connection: each informs the other where it is."""
        self._link = Link.UP
        self.peer_state = _NOBODY
        self.claim.drop()
        self.copies.broken()
        self._begun = False
        self._in_sync = self._in_sync and self.role is not Role.WAITING
        self.process.record("channel", {"what": "up"})
        self._announce()

    def _broken(self, was_up: bool) -> None:
        """Failure detected. The one that goes on without the peer asks for the lock once more."""
        self.peer_state = _NOBODY
        self.claim.drop()
        self.copies.broken()
        self._begun = False
        if was_up:
            self.process.record("channel", {"what": "down"})
        promoted = self.role is Role.PASSIVE_SYNC and self.options.bug_promote_passive_sync
        if self.role in SERVING or self.role is Role.PASSIVE or promoted:
            self.lock_file.doubt()

    def _announce(self) -> None:
        if self.channel.link is Link.UP:
            meta = self.copies.meta
            self.channel.send(
                State(
                    self.channel.out_name,
                    self.role.value,
                    self.previous.value,
                    meta.timestamp_us,
                    meta.epoch,
                    meta.sequence,
                    meta.complete,
                    meta.claim,
                )
            )

    def _beat(self, message: Beat) -> None:
        pass

    def _peer_changed(self, message: State) -> None:
        self.peer_state = message
        self.process.record("peer", {"present": message.present, "previous": message.previous})
        if self.role is Role.PASSIVE and message.present == "WAITING":
            self.lock_file.doubt()  # it takes over as after a failure (F-R9)

    def _sync_begin(self, message: SyncBegin) -> None:
        if self.role is Role.PASSIVE_SYNC:
            self.copies.void(message)
        else:
            self.channel.give_up()

    def _sync_objects(self, message: SyncObjects) -> None:
        if self.role is Role.PASSIVE_SYNC:
            self.copies.objects(message)
        else:
            self.channel.give_up()

    def _sync_taken(self, message: SyncTaken) -> None:
        self.copies.taken()

    def _sync_end(self, message: SyncEnd) -> None:
        if self.role is not Role.PASSIVE_SYNC or not self.copies.end(message):
            self.channel.give_up()

    def _replicate(self, message: Replicate) -> None:
        self._moved = False
        if self.role not in (Role.PASSIVE_SYNC, Role.PASSIVE) or not self.copies.replicate(message):
            self.channel.give_up()

    def _replicated(self, message: Replicated) -> None:
        self._moved = False
        self.copies.peer_written = max(self.copies.peer_written, message.sequence)

    # ---- where to go -----------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Goes as far as the table says, then does what is due where it has come to. What clients ask for and what is
        replicated changes nothing that the table looks at."""
        if self.process.halted:
            return
        self._look_at_channel()
        if self._moved:
            self._move()
        if self.server is not None:
            self.server.release(self.copies.durable)

    def _look_at_channel(self) -> None:
        if self.channel.link is not self._link:
            was_up = self._link is Link.UP
            self._link = self.channel.link
            self._moved = True
            if self._link is Link.DOWN:
                self._broken(was_up)

    def _move(self) -> None:
        while (when := self._applies()) is not None:
            if when.alone and self.options.epochs_in_lock_file and not self._cleared():
                break
            self._go(when)
        self.channel.closed = self._link is not Link.UP and self.role in DECIDING
        self._want_lock()
        peer = self.peer_state.present
        if self.role is Role.ACTIVE_SYNC and peer == "PASSIVE_SYNC" and not self._begun:
            self._begun = True
            self.copies.begin()

    def _applies(self) -> When | None:
        view = self._view()
        for when in SERVER.causes(self.role):
            if when.setting in self._settings and when.applies(view):
                return when
        return None

    def _view(self) -> View:
        copies, names = self.copies, (self.process.member, self.peer)
        return View(
            self._link,
            Role(self.peer_state.present),
            self.lock_file.state,
            merit(copies.meta, self.peer_state, self.options, names),
            copies.synchronised,
            copies.meta.complete,
            self._in_sync,
        )

    def _cleared(self) -> bool:
        """Whether an epoch has been claimed; begins to claim one. Who must not give back the lock."""
        step = self.claim.step
        if step is Step.CLEARED:
            return True
        if step is Step.IDLE:
            self.claim.start(max(self.copies.meta.epoch, self.peer_state.claim, self.peer_state.epoch))
        elif step is Step.REFUSED:
            self.claim.drop()
            self.lock_file.give_back()
            while (when := self._applies()) is not None and not when.alone:
                self._go(when)
        return False

    def _go(self, when: When) -> None:
        """One change of the table."""
        if when.rule == "R10":
            self.lock_file.give_back()
        if when.rule in ("R11", "R17"):
            self.process.record("sync_complete", {})
        self.previous, self.role = self.role, SERVER.next(self.role, when)
        self.claim.drop()
        peer, meta = self.peer_state, self.copies.meta
        change = {"rule": when.rule, "old": self.previous.value, "new": self.role.value}
        known = {"peer": peer.present, "peer_previous": peer.previous, "lock": self.lock_file.state.value}
        kept = {"epoch": meta.epoch, "sequence": meta.sequence, "complete": meta.complete}
        self.process.record("state_change", change | known | kept)
        if self.role in SERVING:
            if self.server is None:
                self.server = Server(self.process, self.copies, self.repository, self.options)
            if self.role is not Role.ACTIVE:
                self.copies.streaming = self.copies.mirrored = self._begun = False
        elif self.server is not None:
            self.server.close()
            self.server = None
            self._begun = False
        if self.role is Role.PASSIVE_SYNC:
            self.lock_file.give_back()
            self.copies.synchronised = False
        if self.role is not Role.WAITING:
            self._in_sync = self.role is not Role.PASSIVE_SYNC
        self._announce()
        if self.role is Role.WAITING and self._link is Link.UP:
            self.channel.give_up()  # once it has said so, it waits for a new one (F-R9)
            self._look_at_channel()

    def _want_lock(self) -> None:
        """Tries the lock as soon as it is wanted; after that the timer does."""
        wanted = wants_lock(self.role, self._view(), self.options.alone_from_waiting)
        if wanted and not self._wanted and self.lock_file.state is not Lock.HELD and not self.lock_file.pending:
            self.lock_file.ask()
        self._wanted = wanted


INPUTS: Mapping[type[Input], Callable[[ReplicatedServer, Any], None]] = {
    Started: ReplicatedServer._started,
    Received: ReplicatedServer._received,
    Unreachable: ReplicatedServer._unreachable,
    Fired: ReplicatedServer._fired,
    Written: ReplicatedServer._written,
    WriteFailed: ReplicatedServer._write_failed,
    LockAnswered: ReplicatedServer._lock_answered,
    LockLost: ReplicatedServer._lock_lost,
    SharedRead: ReplicatedServer._shared_read,
}

CHANNEL: Mapping[type[OnChannel], Callable[[ReplicatedServer, Any], None]] = {
    Beat: ReplicatedServer._beat,
    State: ReplicatedServer._peer_changed,
    SyncBegin: ReplicatedServer._sync_begin,
    SyncObjects: ReplicatedServer._sync_objects,
    SyncTaken: ReplicatedServer._sync_taken,
    SyncEnd: ReplicatedServer._sync_end,
    Replicate: ReplicatedServer._replicate,
    Replicated: ReplicatedServer._replicated,
}

TIMERS: Mapping[str, Callable[[ReplicatedServer], None]] = {
    "ping": ReplicatedServer._ping_due,
    "connect": ReplicatedServer._connect_due,
    "lock": ReplicatedServer._lock_due,
}
