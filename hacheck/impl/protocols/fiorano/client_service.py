"""What a server does for clients, while it serves: sessions, deliveries, and answers that wait until they are true."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Protocol

from msgspec import Struct

from hacheck.impl.kit.storage import encode
from hacheck.impl.node import Message, Name
from hacheck.impl.protocols.fiorano.lock_file import LockFile
from hacheck.impl.protocols.fiorano.messages import (
    Answer,
    Ask,
    Change,
    Connect,
    Connected,
    Delivered,
    Fetch,
    NotServing,
    SessionPing,
    SessionPong,
    StateAnswer,
)
from hacheck.impl.protocols.fiorano.options import PairOptions
from hacheck.impl.protocols.fiorano.process import Process
from hacheck.impl.protocols.fiorano.repository import LastRequest, Repository


class Store(Protocol):
    """Where changes go."""

    def next_sequence(self) -> int:
        """The number that the next change will get."""
        ...

    def commit(self, changes: tuple[Change, ...]) -> int:
        """Has a change made durable. Returns its number."""
        ...


class Session(Struct):
    """A client's session, and when it last gave a sign of life."""

    name: str
    heard_us: int


class Waiting(Struct, frozen=True, gc=False):
    """An answer that waits until this change, with all before it, is durable."""

    sequence: int
    client: Name
    answer: Answer


class Server:
    """Sessions by client. `held`: the messages that are delivered to one and not yet acknowledged. `waiting`: answers,
    those of the oldest changes first."""

    __slots__ = ("_options", "_process", "_store", "held", "repository", "sessions", "waiting")

    def __init__(self, process: Process, store: Store, repository: Repository, options: PairOptions) -> None:
        self._process = process
        self._store = store
        self._options = options
        self.repository = repository
        self.sessions: dict[Name, Session] = {}
        self.held: dict[str, Name] = {}
        self.waiting: deque[Waiting] = deque()

    def received(self, sender: Name, message: Message) -> None:
        """A client speaks."""
        if type(message) is Connect:
            self.drop(sender)
            self.sessions[sender] = Session(message.session, self._process.now_us)
            self._process.send(sender, Connected(message.session))
            return
        handler = MESSAGES.get(type(message))
        if handler is None:
            return
        session = self.sessions.get(sender)
        if session is None or session.name != message.session:  # type: ignore[attr-defined]
            self._process.send(sender, NotServing(message.session))  # type: ignore[attr-defined]
            return
        session.heard_us = self._process.now_us
        handler(self, sender, message)

    def _ping(self, sender: Name, message: SessionPing) -> None:
        self._process.send(sender, SessionPong(message.session))

    def _fetch(self, sender: Name, message: Fetch) -> None:
        found: list[tuple[str, str]] = []
        for name in self.repository.places.get(message.place, ()):
            if len(found) == message.credit:
                break
            if name not in self.held:
                self.held[name] = sender
                found.append((name, self.repository.stored(name).request))
        self._process.send(sender, Delivered(message.session, message.call, tuple(found)))

    def _ask(self, sender: Name, message: Ask) -> None:
        last = self.repository.last_request(sender) if self._options.detect_duplicates else None
        if last is not None and message.number <= last.number:
            outcome = last.outcome if message.number == last.number else "ok"
            self._answer(self._store.next_sequence() - 1, sender, message, outcome)
            return
        outcome, changes = self.repository.perform(sender, message.request, message.action, self._store.next_sequence())
        if self._options.detect_duplicates:
            changes.append((f"client/{sender}", encode(LastRequest(message.number, outcome))))
        if not changes:
            self._answer(self._store.next_sequence() - 1, sender, message, outcome)
            return
        self.repository.apply(changes)
        for name, value in changes:
            if value is None:
                self.held.pop(name, None)
        self._answer(self._store.commit(tuple(changes)), sender, message, outcome)

    def _answer(self, sequence: int, client: Name, message: Ask, outcome: str) -> None:
        self.waiting.append(Waiting(sequence, client, Answer(message.session, message.request, outcome)))

    def release(self, durable: int) -> None:
        """All changes up to this one are durable: answers that waited for them may go."""
        waiting = self.waiting
        while waiting and waiting[0].sequence <= durable:
            first = waiting.popleft()
            self._process.send(first.client, first.answer)

    def drop(self, client: Name) -> None:
        """A client's session is over; what was delivered to it is delivered again."""
        if self.sessions.pop(client, None) is not None:
            self.held = {name: holder for name, holder in self.held.items() if holder != client}

    def expire(self) -> None:
        """Ends sessions of clients that were silent for too long."""
        oldest = self._process.now_us - self._options.session_timeout_us
        for client in [name for name, session in self.sessions.items() if session.heard_us < oldest]:
            self.drop(client)

    def close(self) -> None:
        """This server serves no more, and says so."""
        for client, session in self.sessions.items():
            self._process.send(client, NotServing(session.name))
        self.sessions.clear()
        self.waiting.clear()


MESSAGES: Mapping[type[Message], Callable[[Server, Name, Any], None]] = {
    Ask: Server._ask,
    Fetch: Server._fetch,
    SessionPing: Server._ping,
}


def refuse(process: Process, sender: Name, message: Message) -> None:
    """A client speaks to a server that does not serve."""
    if isinstance(message, Connect | Ask | Fetch | SessionPing):
        process.send(sender, NotServing(message.session))


def answer_query(process: Process, sender: Name, present: Enum, previous: Enum, peer: str, lock_file: LockFile) -> None:
    """An operator asks how a server stands."""
    process.send(sender, StateAnswer(present.value, previous.value, peer, lock_file.state.value))
