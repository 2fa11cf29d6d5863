"""A broker with replication and a lock manager, as its states see it: its link to the manager, and its number.

Source: broker facts 2.9.
"""

from __future__ import annotations

from hacheck.impl.node import Name, Setup
from hacheck.impl.protocols.artemis.journal import VERSION
from hacheck.impl.protocols.artemis.lock_manager.messages import ManagerAnswer, ManagerPing, ManagerRequest, Operation
from hacheck.impl.protocols.artemis.lock_manager.options import LockManagerOptions
from hacheck.impl.protocols.artemis.process import Process
from hacheck.impl.protocols.artemis.replication.broker import EMPTY, NO_SEQUENCE, Broker, Identity, Tables
from hacheck.impl.protocols.artemis.replication.states import Cause, State
from hacheck.impl.system import Member

SEQUENCE_KEY = "server.activation.sequence"
COORDINATED = "coordinated"
"""The node id of brokers with a coordination id."""


class ManagerLink:
    """A broker's session with the lock manager, and the one operation that may be under way.

    `held`: the node ids whose lock it has, as far as it was informed. `confirmed_us`: when the last ping that was
    answered was sent: so long the session certainly lives. `then`: what is to be done with the answer. `locked_number`:
    the number of the last message when a lock was got: earlier pings know nothing of it."""

    def __init__(self, process: Process, manager: Name, options: LockManagerOptions) -> None:
        self.process = process
        self.manager = manager
        self.options = options
        self.session = process.fresh()
        self.number = 0
        self.then = ""
        self.held: set[str] = set()
        self.confirmed_us = 0
        self._pings: dict[int, int] = {}
        self._requested = 0
        self.locked_number = 0

    def ping(self) -> None:
        """Shows that this process lives."""
        self.number += 1
        now_us = self.process.now_us
        oldest = now_us - self.options.manager_patience_us
        self._pings = {number: at_us for number, at_us in self._pings.items() if at_us >= oldest}
        self._pings[self.number] = now_us
        self.process.send(self.manager, ManagerPing(self.session, self.number))
        self.process.set_timer("manager-ping", self.options.manager_ping_us)

    def confirm(self, number: int) -> None:
        """A ping was answered."""
        self.confirmed_us = max(self.confirmed_us, self._pings.pop(number, 0))

    def reachable(self) -> bool:
        """Whether the manager has answered of late."""
        return self.process.now_us - self.confirmed_us <= self.options.manager_patience_us

    def has(self, node_id: str) -> bool:
        """Whether the lock is its own, as far as it can know."""
        return node_id in self.held and (self.options.bug_listeners_silent or self.reachable())

    def ask(self, operation: Operation, node_id: str, then: str, expected: int = 0, wanted: int = 0) -> None:
        """Asks for an operation. One that was under way before is of no use any more."""
        self.number += 1
        self.then, self._requested = then, self.number
        request = ManagerRequest(self.session, self.number, node_id, operation, expected, wanted)
        self.process.send(self.manager, request)
        self.process.set_timer("manager", self.options.manager_patience_us)

    def answered(self, message: ManagerAnswer) -> str:
        """An answer has come. Returns what is to be done with it, or nothing, if it is of no use."""
        if not self.then or message.number != self._requested:
            return ""
        return self.over()

    def over(self) -> str:
        """Nothing is under way any more. Returns what was to be done with the answer."""
        then, self.then = self.then, ""
        self.process.cancel_timer("manager")
        return then

    def unlock(self, node_id: str) -> None:
        """Gives a lock back; nobody waits for the answer."""
        self.held.discard(node_id)
        self.number += 1
        self.process.send(self.manager, ManagerRequest(self.session, self.number, node_id, "unlock"))


class LockedBroker(Broker):
    """What such a broker knows besides. `sequence`: of its data; `on_disk`: the same as its disk has it, or is about
    to: a replica writes it later. `next`: the number that it claims. `taking_over`: it was in sync, and its primary is
    gone. `gave_way_us`: when it made way for its primary."""

    options: LockManagerOptions

    def __init__(
        self, member: Member, members: tuple[Member, ...], setup: Setup, tables: Tables, manager: Name
    ) -> None:
        super().__init__(member, members, setup, tables, "")
        self.link = ManagerLink(self.process, manager, self.options)
        raw = setup.durable.get(SEQUENCE_KEY)
        self.sequence = self.on_disk = int(raw) if raw is not None else NO_SEQUENCE
        self.next = 0
        self.taking_over = False
        self.gave_way_us = 0

    def go(self, cause: Cause) -> None:
        """Changes the state."""
        following = self.tables.states.next(self.state, cause)
        if following is State.TRYING:
            self.taking_over = self.state is State.IN_SYNC and cause is not Cause.RETRY
            self.primary = None
        super().go(cause)

    def start_again(self, reason: str) -> None:
        """Stops, and starts again as a backup: what it knows of its number is what is on its disk."""
        self.process.line(221002, reason=reason)
        self.sequence = self.on_disk
        self.up_to_date = False
        self.go(Cause.RETRY)

    def forget_identity(self) -> None:
        """Starts under a node id of its own, with nothing (AR-11)."""
        self.files = {}
        self.identity = Identity(VERSION, self.process.fresh(), EMPTY)
        self.sequence = self.on_disk = 0
