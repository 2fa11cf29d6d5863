"""A broker that serves: sessions, sends, transactions, deliveries; and answers that wait until all is stored."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from hacheck.impl.node import Message, Name
from hacheck.impl.protocols.artemis.journal import Changes, Journal, Stored
from hacheck.impl.protocols.artemis.messages import (
    Answered,
    Commit,
    CreateSession,
    Delivered,
    Fetch,
    Incoming,
    Outgoing,
    Produce,
    SessionClosed,
    SessionCreated,
    SessionPing,
    SessionPong,
    SessionRefused,
)
from hacheck.impl.protocols.artemis.options import BrokerOptions
from hacheck.impl.protocols.artemis.process import Process
from hacheck.impl.protocols.artemis.session_messages import Perform

REQUESTS = (CreateSession, Produce, Commit, Fetch, SessionPing, Perform)
"""What clients ask of brokers."""


class Storage(Protocol):
    """Where a serving broker puts its changes."""

    def store(self, changes: Changes) -> int:
        """Stores changes, all or none. Returns a number that `Server.release` is called with, or a higher one, once
        they are as safe as the protocol promises."""
        ...

    def stored(self) -> int:
        """The number of the last changes."""
        ...


class Session:
    """A client's session. `delivering`: the messages that it has and did not acknowledge."""

    __slots__ = ("client", "delivering", "heard_us")

    def __init__(self, client: Name, heard_us: int) -> None:
        self.client = client
        self.heard_us = heard_us
        self.delivering: dict[int, None] = {}


class Server:
    """What a broker has while it serves.

    `waiting`: answers that are due when changes are safe, with the messages that may be delivered from then on;
    `refused`: duplicates, which are called so then. `done`: the number of the last changes that are safe. `held`:
    requests that came while the storage was locked (`locked`).
    """

    __slots__ = (
        "_by_client", "_options", "_process", "_storage", "connectors", "done", "held", "journal", "locked", "node_id",
        "ready", "refused", "sessions", "waiting",
    )  # fmt: skip

    def __init__(
        self, process: Process, storage: Storage, journal: Journal, node_id: str, options: BrokerOptions
    ) -> None:
        self._process = process
        self._storage = storage
        self._options = options
        self.journal = journal
        self.node_id = node_id
        self.connectors: tuple[Name, ...] = (process.member,)
        self.sessions: dict[str, Session] = {}
        self._by_client: dict[Name, str] = {}
        self.waiting: deque[tuple[int, Name, Message, tuple[Stored, ...]]] = deque()
        self.refused: deque[tuple[int, Outgoing]] = deque()
        self.done = storage.stored()
        self.locked = False
        self.held: deque[tuple[Name, Message]] = deque()
        self.ready: dict[str, deque[int]] = {}
        held = journal.held()
        for message in journal.messages.values():
            if message.number in held:
                continue
            self.ready.setdefault(message.queue, deque()).append(message.number)

    def request(self, sender: Name, message: Message) -> None:
        """Does what a client asks."""
        if self.locked:
            self.held.append((sender, message))
            return
        self.handlers[type(message)](self, sender, message)

    def lock(self) -> None:
        """From now on nothing is stored: requests wait."""
        self.locked = True

    def unlock(self) -> None:
        """Requests that waited are done now."""
        self.locked = False
        held, self.held = self.held, deque()
        for sender, message in held:
            self.request(sender, message)

    def release(self, done: int) -> None:
        """Changes up to this number are safe: their answers go out."""
        self.done = done
        while self.refused and self.refused[0][0] <= done:
            _, outgoing = self.refused.popleft()
            self._process.line(222059, address=outgoing.address, duplicate_id=outgoing.duplicate_id)
        waiting = self.waiting
        while waiting and waiting[0][0] <= done:
            _, client, answer, sent = waiting.popleft()
            for message in sent:
                self.ready.setdefault(message.queue, deque()).append(message.number)
            self._process.send(client, answer)

    def idle(self) -> bool:
        """Whether no answer is due."""
        return not self.waiting

    def forget(self, client: Name) -> None:
        """A client is gone."""
        session = self._by_client.get(client)
        if session is not None:
            self._close(session)

    def check_sessions(self) -> None:
        """Closes the sessions that gave no sign of life for too long."""
        oldest = self._process.now_us - self._options.connection_ttl_us
        for name in [name for name, session in self.sessions.items() if session.heard_us < oldest]:
            self._process.send(self.sessions[name].client, SessionClosed(name))
            self._close(name)

    def disconnect(self) -> None:
        """Informs all clients that it is over here."""
        for name, session in self.sessions.items():
            self._process.send(session.client, SessionClosed(name))
        self.sessions.clear()
        self._by_client.clear()
        self.held.clear()

    def stands_in(self, node_id: str) -> bool:
        """Whether clients of a node, or of any, find here what it has."""
        return node_id in ("", self.node_id)

    def _create(self, sender: Name, message: CreateSession) -> None:
        if not self.stands_in(message.node_id):
            self._process.send(sender, SessionRefused(message.session, ()))
            return
        self.forget(sender)
        self.sessions[message.session] = Session(sender, self._process.now_us)
        self._by_client[sender] = message.session
        self._process.send(sender, SessionCreated(message.session, self.node_id, self.connectors))

    def _session(self, sender: Name, name: str) -> Session | None:
        session = self.sessions.get(name)
        if session is None or session.client != sender:
            self._process.send(sender, SessionClosed(name))
            return None
        session.heard_us = self._process.now_us
        return session

    def _ping(self, sender: Name, message: SessionPing) -> None:
        if self._session(sender, message.session) is not None:
            self._process.send(sender, SessionPong(message.session))

    def _produce(self, sender: Name, message: Produce) -> None:
        if self._session(sender, message.session) is None:
            return
        answer = Answered(message.session, message.call, "ok")
        if self.journal.has(message.outgoing):
            self._duplicate(message.outgoing)
            self._answer_after(self._storage.stored(), sender, answer, ())
            return
        self._store(sender, answer, (message.outgoing,), ())

    def _commit(self, sender: Name, message: Commit) -> None:
        session = self._session(sender, message.session)
        if session is None:
            return
        duplicate = next((out for out in message.outgoing if self.journal.has(out)), None)
        if duplicate is not None:
            self._duplicate(duplicate)
            self._give_back(session, message.acknowledged)
            answer = Answered(message.session, message.call, "duplicate")
            self._answer_after(self._storage.stored(), sender, answer, ())
            return
        names = {(out.address, out.duplicate_id) for out in message.outgoing}
        numbers = dict.fromkeys(message.acknowledged)
        if (
            len(names) < len(message.outgoing)
            or len(numbers) < len(message.acknowledged)
            or any(number not in session.delivering for number in numbers)
        ):
            self._give_back(session, message.acknowledged)
            self._process.send(sender, Answered(message.session, message.call, "rolled-back"))
            return
        for number in numbers:
            del session.delivering[number]
        self._store(sender, Answered(message.session, message.call, "ok"), message.outgoing, message.acknowledged)

    def _fetch(self, sender: Name, message: Fetch) -> None:
        session = self._session(sender, message.session)
        if session is None:
            return
        ready = self.ready.get(message.queue)
        messages: list[Incoming] = []
        while ready and len(messages) < message.credit:
            stored = self._message(ready.popleft())
            session.delivering[stored.number] = None
            messages.append(Incoming(stored.number, stored.duplicate_id, stored.body))
        self._process.send(sender, Delivered(message.session, message.call, tuple(messages)))

    def _store(
        self, client: Name, answer: Message, outgoing: tuple[Outgoing, ...], acknowledged: tuple[int, ...]
    ) -> None:
        changes, sent = self.journal.append(outgoing, acknowledged)
        token = self._storage.store(changes)
        self._answer_after(token, client, answer, sent)
        if self.journal.wants_compacting():
            self._storage.store(self.journal.compact())

    def _answer_after(self, token: int, client: Name, answer: Message, sent: tuple[Stored, ...]) -> None:
        self.waiting.append((token, client, answer, sent))
        if token <= self.done:
            self.release(self.done)

    def _duplicate(self, outgoing: Outgoing) -> None:
        """Says that there is such a message already, once that one is safe."""
        self.refused.append((self._storage.stored(), outgoing))
        self.release(self.done)

    def _close(self, name: str) -> None:
        session = self.sessions.pop(name)
        if self._by_client.get(session.client) == name:
            del self._by_client[session.client]
        self._give_back(session, tuple(session.delivering))

    def _give_back(self, session: Session, numbers: Sequence[int]) -> None:
        for number in sorted((n for n in dict.fromkeys(numbers) if n in session.delivering), reverse=True):
            del session.delivering[number]
            self.ready[self._message(number).queue].appendleft(number)

    def _message(self, number: int) -> Stored:
        return self.journal.messages[number]

    handlers: ClassVar[Mapping[type[Message], Callable[[Any, Name, Any], None]]] = {
        CreateSession: _create,
        Produce: _produce,
        Commit: _commit,
        Fetch: _fetch,
        SessionPing: _ping,
    }
    """What is done about each request."""
