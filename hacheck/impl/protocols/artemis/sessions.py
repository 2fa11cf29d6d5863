"""Sessions as the client library has them: commands with numbers, transactions, branches, deliveries, temporary queues.

A session is memory: with its server go its open transaction, its temporary queue, messages that are not durable, and
what it was delivered. What is prepared is in the journal. Source: broker facts 2.13, 2.14; HornetQ manual, "Failover
Modes".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from hacheck.impl.node import Message, Name
from hacheck.impl.protocols.artemis.journal import Branch, Journal, Stored
from hacheck.impl.protocols.artemis.messages import Incoming, Outgoing, SessionRefused
from hacheck.impl.protocols.artemis.options import BrokerOptions
from hacheck.impl.protocols.artemis.process import Process
from hacheck.impl.protocols.artemis.session_messages import (
    Delivery,
    JoinSession,
    Perform,
    Performed,
    SessionJoined,
    TopologyChanged,
    Wanted,
)
from hacheck.impl.protocols.artemis.session_server import Server, Session, Storage

TEMPORARY = "temporary/"
"""Addresses of temporary queues begin so."""


class LibrarySession(Session):
    """A session of a library. `number`: of the last command that it had; `answer`: what came of that, which may be said
    once changes up to `answer_token` are safe. `open`: what its transaction sends; `doomed`: one of these has been
    there already; `acknowledged`: what its transaction acknowledges. `deliveries`: how many it got; `delivery`: the one
    that it has not acknowledged."""

    __slots__ = (
        *("acknowledged", "answer", "answer_token", "deliveries", "delivery", "doomed", "number", "open", "wanted"),
    )

    def __init__(self, client: Name, heard_us: int, wanted: Wanted) -> None:
        super().__init__(client, heard_us)
        self.wanted = wanted
        self.number = 0
        self.answer: Performed | None = None
        self.answer_token = 0
        self.open: list[Outgoing] = []
        self.doomed = False
        self.acknowledged: list[int] = []
        self.deliveries = 0
        self.delivery: Delivery | None = None


class SessionServer(Server):
    """A server with such sessions, beside the simple ones. `volatile`: messages that are not durable, by number.
    `prepared`: of each branch what it sends and acknowledges besides what the journal has."""

    __slots__ = ("_announced", "prepared", "volatile")

    def __init__(
        self, process: Process, storage: Storage, journal: Journal, node_id: str, options: BrokerOptions
    ) -> None:
        super().__init__(process, storage, journal, node_id, options)
        self.volatile: dict[int, Stored] = {}
        self.prepared: dict[str, tuple[tuple[Outgoing, ...], tuple[int, ...]]] = {}
        self._announced: tuple[Name, ...] = ()

    # ---- requests to a server ------------------------------------------------------------------------------------

    def request(self, sender: Name, message: Message) -> None:
        """Does what a client asks."""
        super().request(sender, message)
        self._deliver()

    def release(self, done: int) -> None:
        """Changes up to this number are safe."""
        super().release(done)
        for queue in [queue for queue in self.ready if queue.startswith(TEMPORARY) and queue not in self._temporary()]:
            for number in self.ready.pop(queue):  # it ended before this was safe
                self.volatile.pop(number, None)
        self._deliver()

    def forget(self, client: Name) -> None:
        """A client is gone: with a confirmation window its session waits for it, for as long as it may be silent."""
        session = self.sessions.get(self._by_client.get(client, ""))
        if not isinstance(session, LibrarySession) or not self._goes_on():
            super().forget(client)
            self._deliver()

    def check_sessions(self) -> None:
        """Closes sessions that are silent, and informs the others who would serve next."""
        super().check_sessions()
        self._deliver()
        if self._announced != self.connectors:
            self._announced = self.connectors
            for name, session in self.sessions.items():
                if isinstance(session, LibrarySession):
                    self._process.send(session.client, TopologyChanged(name, self.connectors))

    def _temporary(self) -> set[str]:
        return {one.wanted.temporary for one in self.sessions.values() if isinstance(one, LibrarySession)}

    def _goes_on(self) -> bool:
        return getattr(self._options, "confirmation_window", False)

    # ---- sessions --------------------------------------------------------------------------------------------------

    def _join(self, sender: Name, message: JoinSession) -> None:
        if not self.stands_in(message.node_id):
            self._process.send(sender, SessionRefused(message.session, ()))
            return
        session = self.sessions.get(message.goes_on)
        name = message.goes_on
        if not isinstance(session, LibrarySession) or session.client != sender or not self._goes_on():
            Server.forget(self, sender)
            name = message.session
            session = LibrarySession(sender, self._process.now_us, message.wanted)
            self.sessions[name] = session
            self._by_client[sender] = name
            if message.wanted.temporary:
                self.ready[message.wanted.temporary] = deque()
        session.heard_us = self._process.now_us
        wanted = session.wanted.temporary
        there = not wanted or wanted in self.ready
        self._process.send(sender, SessionJoined(message.session, name, self.node_id, self.connectors, there))
        if name == message.goes_on and session.delivery is not None and session.delivery.number > message.heard:
            self._process.send(sender, session.delivery)

    def _close(self, name: str) -> None:
        session = self.sessions[name]
        super()._close(name)
        if isinstance(session, LibrarySession) and session.wanted.temporary:
            for number in self.ready.pop(session.wanted.temporary, ()):
                self.volatile.pop(number, None)

    # ---- commands --------------------------------------------------------------------------------------------------

    def _perform(self, sender: Name, message: Perform) -> None:
        session = self._session(sender, message.session)
        if not isinstance(session, LibrarySession):
            return
        if message.number <= session.number:
            if message.number == session.number and session.answer is not None:
                self._answer_after(session.answer_token, sender, session.answer, ())
            return
        session.number = message.number
        COMMANDS[message.command](self, session, message)

    def _done(
        self, session: LibrarySession, message: Perform, outcome: Any = "ok", branches: tuple[str, ...] = ()
    ) -> None:
        self._say(session, message, self._storage.stored(), (), outcome, branches)

    def _say(
        self,
        session: LibrarySession,
        message: Perform,
        token: int,
        sent: tuple[Stored, ...],
        outcome: Any = "ok",
        branches: tuple[str, ...] = (),
    ) -> None:
        session.answer = Performed(message.session, message.number, outcome, branches)
        session.answer_token = token
        self._answer_after(token, session.client, session.answer, sent)

    def _send(self, session: LibrarySession, message: Perform) -> None:
        (outgoing,) = message.outgoing
        if outgoing.address.startswith(TEMPORARY) and outgoing.address not in self.ready:
            self._done(session, message, "no-queue")
            return
        known = bool(outgoing.duplicate_id) and self.journal.has(outgoing)
        if known:
            self._duplicate(outgoing)
        if session.wanted.kind != "plain":
            session.doomed = session.doomed or known
            session.open.append(outgoing)
            self._done(session, message)
        elif known:
            self._done(session, message)
        else:
            token, sent = self._keep((outgoing,), ())
            self._say(session, message, token, sent)

    def _acknowledge(self, session: LibrarySession, message: Perform) -> None:
        delivery = session.delivery
        if delivery is None or delivery.number != message.delivery:
            self._done(session, message)
            return
        session.delivery = None
        number = delivery.incoming.number
        if session.wanted.kind != "plain":
            session.acknowledged.append(number)
            self._done(session, message)
            return
        del session.delivering[number]
        token, _ = self._keep((), (number,))
        self._say(session, message, token, ())

    def _commit_open(self, session: LibrarySession, message: Perform) -> None:
        if self._refused(session, message):
            return
        outgoing, numbers = self._take(session)
        if not outgoing and not numbers:
            self._done(session, message)
            return
        token, sent = self._keep(outgoing, numbers)
        self._say(session, message, token, sent)

    def _prepare(self, session: LibrarySession, message: Perform) -> None:
        if self._refused(session, message):
            return
        outgoing, numbers = self._take(session)
        kept = tuple(one for one in outgoing if _durable(one))
        stored = tuple(number for number in numbers if number not in self.volatile)
        self.prepared[message.branch] = (outgoing, numbers)
        token = self._storage.store(self.journal.prepare(Branch(message.branch, kept, stored)))
        self._say(session, message, token, ())

    def _roll_back(self, session: LibrarySession, message: Perform) -> None:
        self._drop(session)
        self._done(session, message)

    def _refused(self, session: LibrarySession, message: Perform) -> bool:
        """One duplicate is enough to roll all of it back."""
        if session.doomed or any(one.duplicate_id and self.journal.has(one) for one in session.open):
            self._drop(session)
            self._done(session, message, "duplicate")
            return True
        return False

    def _take(self, session: LibrarySession) -> tuple[tuple[Outgoing, ...], tuple[int, ...]]:
        """What the open transaction has, which is over."""
        outgoing, numbers = tuple(session.open), tuple(session.acknowledged)
        session.open.clear()
        session.acknowledged.clear()
        for number in numbers:
            del session.delivering[number]
        return outgoing, numbers

    def _drop(self, session: LibrarySession) -> None:
        """The open transaction is rolled back: what it was delivered goes to the one that is next."""
        session.open.clear()
        session.doomed = False
        session.acknowledged.clear()
        session.delivery = None
        self._give_back(session, tuple(session.delivering))

    # ---- branches --------------------------------------------------------------------------------------------------

    def _commit_branch(self, session: LibrarySession, message: Perform) -> None:
        branch = self.journal.branches.get(message.branch)
        if branch is None:
            self._done(session, message, "no-branch")
            return
        outgoing, numbers = self.prepared.pop(message.branch, (branch.outgoing, branch.acknowledged))
        token, sent = self._keep(outgoing, numbers, message.branch)
        self._say(session, message, token, sent)

    def _roll_back_branch(self, session: LibrarySession, message: Perform) -> None:
        self._drop(session)
        branch = self.journal.branches.get(message.branch)
        if branch is None:
            self._done(session, message, "no-branch")
            return
        _, numbers = self.prepared.pop(message.branch, ((), branch.acknowledged))
        token = self._storage.store(self.journal.roll_back(message.branch))
        for number in sorted(numbers, reverse=True):
            self.ready.setdefault(self._message(number).queue, deque()).appendleft(number)
        self._say(session, message, token, ())

    def _recover(self, session: LibrarySession, message: Perform) -> None:
        self._done(session, message, "ok", tuple(self.journal.branches))

    # ---- messages --------------------------------------------------------------------------------------------------

    def _keep(
        self, outgoing: Sequence[Outgoing], numbers: tuple[int, ...], ended: str = ""
    ) -> tuple[int, tuple[Stored, ...]]:
        """Stores what is durable, in one record with the duplicate ids of the rest. Returns the write to wait for, and
        what may be delivered then, in the order in which it was sent."""
        numbered = [(self.journal.number(), one) for one in outgoing]
        fleeting = [(number, one) for number, one in numbered if not _durable(one)]
        ids = tuple((one.address, one.duplicate_id) for _, one in fleeting if one.duplicate_id)
        stored = tuple(number for number in numbers if number not in self.volatile)
        for number in numbers:
            self.volatile.pop(number, None)
        durable = [(number, one) for number, one in numbered if _durable(one)]
        token = self._storage.stored()
        sent: tuple[Stored, ...] = ()
        if durable or stored or ended or ids:
            kept_numbers = [number for number, _ in durable]
            changes, sent = self.journal.append([one for _, one in durable], stored, ended, ids, kept_numbers)
            token = self._storage.store(changes)
        more = [Stored(number, one.address, one.duplicate_id, one.body) for number, one in fleeting]
        self.volatile.update((one.number, one) for one in more)
        if self.journal.wants_compacting():
            self._storage.store(self.journal.compact())
        return token, tuple(sorted((*sent, *more), key=lambda one: one.number))

    def _message(self, number: int) -> Stored:
        return self.volatile.get(number) or self.journal.messages[number]

    def _deliver(self) -> None:
        """Gives each session that waits for one the next message of its queues."""
        if self.locked:
            return
        for name, session in self.sessions.items():
            if not isinstance(session, LibrarySession) or session.delivery is not None:
                continue
            if session.answer_token > self.done:
                continue  # its acknowledgement is not answered yet
            for queue in session.wanted.consumes:
                ready = self.ready.get(queue)
                if ready:
                    stored = self._message(ready.popleft())
                    session.delivering[stored.number] = None
                    session.deliveries += 1
                    incoming = Incoming(stored.number, stored.duplicate_id, stored.body)
                    session.delivery = Delivery(name, session.deliveries, incoming)
                    self._process.send(session.client, session.delivery)
                    break

    handlers: ClassVar[Mapping[type[Message], Callable[[Any, Name, Any], None]]] = {
        **Server.handlers,
        JoinSession: _join,
        Perform: _perform,
    }


COMMANDS: Mapping[str, Callable[[SessionServer, LibrarySession, Perform], None]] = {
    "send": SessionServer._send,
    "acknowledge": SessionServer._acknowledge,
    "commit": SessionServer._commit_open,
    "rollback": SessionServer._roll_back,
    "prepare": SessionServer._prepare,
    "commit-branch": SessionServer._commit_branch,
    "rollback-branch": SessionServer._roll_back_branch,
    "recover": SessionServer._recover,
}


def _durable(outgoing: Outgoing) -> bool:
    return outgoing.durable and not outgoing.address.startswith(TEMPORARY)
