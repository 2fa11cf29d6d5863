"""A server that shares the database with its peer: takes the inputs, and goes where the table says.

Source: Fiorano Shared High Availability Working; broker facts 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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
from hacheck.impl.protocols.fiorano.database import Database
from hacheck.impl.protocols.fiorano.lock_file import Lock, LockFile
from hacheck.impl.protocols.fiorano.messages import Hello, OnChannel, State, StateQuery
from hacheck.impl.protocols.fiorano.options import SharedOptions
from hacheck.impl.protocols.fiorano.process import Process
from hacheck.impl.protocols.fiorano.repository import Repository
from hacheck.impl.protocols.fiorano.shared_states import SERVER, Cause, Phase
from hacheck.impl.system import Member, Refused


class SharedServer:
    """One server of the pair. `role`, `previous`: its present and previous state. `peer`, `peer_role`: the other one,
    and its state as it gave it on this connection. `database`: what is being read, or written."""

    def __init__(self, member: Member, members: tuple[Member, ...], setup: Setup) -> None:
        options: SharedOptions = setup.options
        self.options = options
        self.process = Process(setup)
        self.peer = next(m.name for m in members if m.role == "server" and m.name != member.name)
        self.lock_file = LockFile(self.process, options.lock_file, options.lock_timeout_us)
        self.channel = Channel(self.process, self.peer)
        self.database: Database | None = None
        self.server: Server | None = None
        self.role = self.previous = Phase.DEAD
        self.peer_role = Phase.DEAD
        self._link = Link.CONNECTING

    @property
    def serving(self) -> bool:
        """Whether it accepts clients."""
        return self.server is not None

    @property
    def repository(self) -> Repository:
        """The objects that it serves."""
        return self.server.repository if self.server is not None else Repository()

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done about an input."""
        process = self.process
        process.begin(now_us)
        try:
            INPUTS[type(given)](self, given)
        except Refused as refused:
            process.halt(str(refused))
        self._settle()
        return process.effects

    # ---- inputs ----------------------------------------------------------------------------------------------------

    def _started(self, given: Started) -> None:
        process, options = self.process, self.options
        process.record("started", {"mode": "shared"})
        process.set_timer("ping", options.ping_us)
        process.set_timer("lock", options.lock_check_us)
        self.lock_file.doubt()
        self.channel.beat(options.socket_timeout_us)

    def _received(self, given: Received) -> None:
        message = given.message
        if given.sender != self.peer:
            if isinstance(message, StateQuery):
                answer_query(self.process, given.sender, self.role, self.previous, self.peer_role.value, self.lock_file)
            elif self.server is not None:
                self.server.received(given.sender, message)
            else:
                refuse(self.process, given.sender, message)
        elif isinstance(message, Hello):
            if self.channel.hello(message):
                self._link = Link.UP
                self.process.record("channel", {"what": "up"})
                self._announce()
        elif isinstance(message, OnChannel) and self.channel.heeded(message) and isinstance(message, State):
            self.peer_role = Phase(message.present)

    def _unreachable(self, given: Unreachable) -> None:
        if given.peer == self.peer:
            self.channel.give_up()
        elif self.server is not None:
            self.server.drop(given.peer)

    def _fired(self, given: Fired) -> None:
        if given.timer == "ping":
            self.process.set_timer("ping", self.options.ping_us)
            self.channel.beat(self.options.socket_timeout_us)
            if self.server is not None:
                self.server.expire()
        else:
            self.process.set_timer("lock", self.options.lock_check_us)
            if self.role is not Phase.PASSIVE or self._peer_is_gone():
                self.lock_file.ask()

    def _written(self, given: Written) -> None:
        purpose, number = self.process.purposes.pop(given.token)
        if self.database is not None:
            self.database.written(given.token, purpose, number)

    def _write_failed(self, given: WriteFailed) -> None:
        if self.database is not None:  # else it was begun before the lock was lost, and nobody waits for it
            self._database_failed(given.reason)

    def _lock_answered(self, given: LockAnswered) -> None:
        self.lock_file.answered(given.granted)

    def _lock_lost(self, given: LockLost) -> None:
        self.lock_file.lost()

    def _shared_read(self, given: SharedRead) -> None:
        purpose, number = self.process.purposes.pop(given.token)
        if self.database is not None:
            self.database.read(given.token, purpose, number, given)

    # ---- where to go -----------------------------------------------------------------------------------------------

    def _peer_is_gone(self) -> bool:
        """Whether a passive server has reason to try the lock."""
        return self._link is not Link.UP or self.peer_role in (Phase.PASSIVE, Phase.DEAD)

    def _settle(self) -> None:
        if self.process.halted:
            return
        if self.channel.link is not self._link:
            if self._link is Link.UP:
                self.process.record("channel", {"what": "down"})
            self._link = self.channel.link
            self.peer_role = Phase.DEAD
            if self.role is Phase.PASSIVE:
                self.lock_file.ask()
        lock, database = self.lock_file.state, self.database
        if self.role in (Phase.DEAD, Phase.PASSIVE):
            if lock is Lock.HELD:
                self._go(Cause.LOCK_OBTAINED)
            elif lock is Lock.FREE and self.role is Phase.DEAD:
                self._go(Cause.LOCK_REFUSED)
        elif lock is Lock.FREE:
            self._go(Cause.LOCK_LOST)
        elif database is not None and database.failed:
            self._database_failed(database.failed)
        elif database is not None and database.superseded:
            self.lock_file.give_back()
            self._go(Cause.TAKEN_OVER)
        elif database is not None and database.ready and self.role is Phase.ACTIVATING:
            self._go(Cause.SERVICES_UP)
        if self.server is not None and self.database is not None:
            self.server.release(self.database.durable)

    def _database_failed(self, reason: str) -> None:
        self._go(Cause.DATABASE_FAILED)
        self.process.halt(f"the database cannot be used: {reason}")

    def _go(self, cause: Cause) -> None:
        """One way of the table."""
        rule, following = SERVER.rules[self.role, cause], SERVER.next(self.role, cause)
        self.previous, self.role = self.role, following
        self.process.record(
            "state_change",
            {
                "rule": rule,
                "old": self.previous.value,
                "new": following.value,
                "peer": self.peer_role.value,
                "lock": self.lock_file.state.value,
                "sequence": self.database.sequence if self.database is not None else 0,
                "complete": self.database is None or self.database.ready,
            },
        )
        if following is Phase.ACTIVATING:
            self.database = Database(
                self.process, compact_after=self.options.compact_after, verify=self.options.verify_before_answer
            )
        elif following is Phase.ACTIVE and self.database is not None:
            self.server = Server(self.process, self.database, self.database.repository, self.options)
        else:
            if self.server is not None:
                self.server.close()
            self.server = self.database = None
        self._announce()

    def _announce(self) -> None:
        if self.channel.link is Link.UP:
            role, previous = self.role.value, self.previous.value
            self.channel.send(State(self.channel.out_name, role, previous, 0, 0, 0, True, 0))


INPUTS: Mapping[type[Input], Callable[[SharedServer, Any], None]] = {
    Started: SharedServer._started,
    Received: SharedServer._received,
    Unreachable: SharedServer._unreachable,
    Fired: SharedServer._fired,
    Written: SharedServer._written,
    WriteFailed: SharedServer._write_failed,
    LockAnswered: SharedServer._lock_answered,
    LockLost: SharedServer._lock_lost,
    SharedRead: SharedServer._shared_read,
}
