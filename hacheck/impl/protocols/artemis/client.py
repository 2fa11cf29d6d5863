"""A client: finds the broker that serves, sends, consumes, and sends again what is in doubt.

It follows the manual's recipe for once and only once: every message has a duplicate id, and whatever was unblocked by a
failover or rolled back is tried again with the same ids. What cannot be tried again, an acknowledgement alone, stays in
doubt. Source: HornetQ manual, "Failover Modes"; broker facts 2.13.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from msgspec import Struct

from hacheck.impl.kit import client
from hacheck.impl.node import Message, Name, Setup
from hacheck.impl.protocols.artemis.messages import (
    Answered,
    Commit,
    CreateSession,
    Delivered,
    Fetch,
    Outgoing,
    Produce,
    SessionClosed,
    SessionCreated,
    SessionPong,
    SessionRefused,
)
from hacheck.impl.protocols.artemis.options import BrokerOptions
from hacheck.impl.protocols.artemis.process import Process
from hacheck.impl.protocols.artemis.session_client import SessionClient
from hacheck.impl.system import Member

ORDERS = "orders"
ARCHIVE = "archive"
CREDIT = 2


class Request(Struct, frozen=True):
    """What a client wants done, all or nothing, or once. `consumed`: the duplicate ids of the acknowledged messages."""

    name: str
    operation: str
    outgoing: tuple[Outgoing, ...]
    acknowledged: tuple[int, ...] = ()
    consumed: tuple[str, ...] = ()


class Client(SessionClient):
    """One client with one session. `servers`: the brokers it knows, the likeliest first; `static`: as it was informed.

    `request`: under way, or in doubt and to be tried again; `attempts`: how often it was sent. `call`: the number of
    the call that an answer is awaited for, or 0. `turn`: how many operations were begun.
    """

    def __init__(self, member: Member, members: tuple[Member, ...], setup: Setup) -> None:
        options: BrokerOptions = setup.options
        brokers = [m.name for m in members if m.role in ("primary", "backup")]
        primaries = [m.name for m in members if m.role == "primary"]
        clients = [m.name for m in members if m.role == "client"]
        mine = primaries[clients.index(member.name) % len(primaries)]
        self.static = (mine, *(name for name in brokers if name != mine))
        ttl_us = options.connection_ttl_us
        super().__init__(
            Process(setup), self.static, ping_us=options.check_period_us, silence_us=ttl_us, connect_us=ttl_us
        )
        self.options = options
        self.node_id = ""
        self.request: Request | None = None
        self.attempts = 0
        self.call = 0
        self.calls = 0
        self.turn = 0
        self.fetching = ""

    # ---- connecting ------------------------------------------------------------------------------------------------

    def _hello(self) -> Message:
        return CreateSession(self.session, self.node_id)

    def _try_next(self) -> None:
        self.session = ""
        self.next += 1
        if self.next < len(self.servers):
            self.connect()
        else:
            self.next = 0
            self.servers = self.static
            self.process.set_timer("connect", self.options.reconnect_us)

    def _known(self, connectors: tuple[Name, ...]) -> tuple[Name, ...]:
        """Those that it can turn to, of the servers that it was informed."""
        return tuple(name for name in connectors if name in self.static)

    def _refused(self, message: SessionRefused) -> None:
        known = self._known(message.connectors)
        if known and known[0] not in self.servers[: self.next + 1]:
            tried, rest = self.servers[: self.next + 1], self.servers[self.next + 1 :]
            self.servers = (*tried, known[0], *(name for name in rest if name != known[0]))
        self._try_next()

    def _created(self, message: SessionCreated) -> None:
        if self.connected:
            return
        self.connected = True
        self.process.cancel_timer("connect")
        broker = self.server
        if self.node_id != message.node_id:
            self.node_id = message.node_id
        known = (broker, *(name for name in self._known(message.connectors) if name != broker))
        self.servers = (*known, *(name for name in self.static if name not in known))
        self.next = 0
        self.process.record("connected", {"broker": broker, "node_id": message.node_id})
        if self.request is not None:
            self._send()
        else:
            self.process.set_timer("go", self.options.pause_us)

    def _lost(self) -> None:
        self.process.record("disconnected", {"broker": self.server})
        self.process.cancel_timer("go")
        self.process.cancel_timer("call")
        if self.call and self.request is not None:
            self._report("unknown")
            if not self.request.outgoing:
                self.request = None
        self.call = 0
        self.fetching = ""
        self.connect()

    def _closed(self, message: SessionClosed) -> None:
        if self.connected:
            self._lost()

    def _pong(self, message: SessionPong) -> None:
        pass

    # ---- operations ------------------------------------------------------------------------------------------------

    def _go(self) -> None:
        if not self.connected or self.call or (0 < self.options.operations <= self.turn):
            return
        turn, self.turn = self.turn, self.turn + 1
        kind = turn % 4
        if kind == 0:
            self._begin(Request(self.process.fresh(), "send", (self._outgoing(ORDERS, turn),)))
        elif kind == 1:
            outgoing = (self._outgoing(ORDERS, turn), self._outgoing(ORDERS, turn))
            self._begin(Request(self.process.fresh(), "transaction", outgoing))
        else:
            self._fetch(ARCHIVE if turn % 8 == 6 else ORDERS)

    def _outgoing(self, address: str, turn: int) -> Outgoing:
        name = self.process.fresh()
        length = self.options.body_bytes * (10 if turn % 8 == 0 else 1)
        return Outgoing(address, name, name.encode().ljust(length, b"."))

    def _fetch(self, queue: str) -> None:
        self.fetching = queue
        self._call(Fetch(self.session, self._next_call(), queue, CREDIT))

    def _delivered(self, message: Delivered) -> None:
        if message.call != self.call:
            return
        self.call = 0
        self.process.cancel_timer("call")
        queue, self.fetching = self.fetching, ""
        if not message.messages:
            self.process.set_timer("go", self.options.pause_us)
            return
        outgoing: tuple[Outgoing, ...] = ()
        if queue == ORDERS and self.turn % 4 == 0:
            outgoing = (self._outgoing(ARCHIVE, 1),)
        self._begin(
            Request(
                self.process.fresh(),
                "forward" if outgoing else "consume",
                outgoing,
                tuple(incoming.number for incoming in message.messages),
                tuple(incoming.duplicate_id for incoming in message.messages),
            )
        )

    def _begin(self, request: Request) -> None:
        self.request = request
        self.attempts = 0
        self.process.record(
            "asked",
            {
                "request": request.name,
                "operation": request.operation,
                "node_id": self.node_id,
                "sent": [out.duplicate_id for out in request.outgoing],
                "consumed": list(request.consumed),
            },
        )
        self._send()

    def _send(self) -> None:
        request = self.request
        assert request is not None
        self.attempts += 1
        call = self._next_call()
        if request.operation == "send":
            self._call(Produce(self.session, call, request.outgoing[0]))
        else:
            self._call(Commit(self.session, call, request.outgoing, request.acknowledged))

    def _next_call(self) -> int:
        self.calls += 1
        self.call = self.calls
        return self.calls

    def _call(self, message: Message) -> None:
        self.process.send(self.server, message)
        self.process.set_timer("call", self.options.call_timeout_us)

    def _call_due(self) -> None:
        if self.call:
            self._lost()

    def _answered(self, message: Answered) -> None:
        if message.call != self.call or self.request is None:
            return
        self.call = 0
        self.process.cancel_timer("call")
        if message.outcome == "duplicate":
            self._report("ok" if self.attempts > 1 else "failed")
        else:
            self._report("ok" if message.outcome == "ok" else "failed")
        self.request = None
        self.process.set_timer("go", self.options.pause_us)

    def _report(self, outcome: str) -> None:
        assert self.request is not None
        self.process.record("told", {"request": self.request.name, "outcome": outcome})

    messages: ClassVar[Mapping[type[Message], Callable[[Any, Any], None]]] = {
        SessionCreated: _created,
        SessionRefused: _refused,
        SessionClosed: _closed,
        SessionPong: _pong,
        Delivered: _delivered,
        Answered: _answered,
    }
    timers: ClassVar[Mapping[str, Callable[[Any], None]]] = {
        "connect": client.Client.connect_due,
        "ping": client.Client.ping_due,
        "go": _go,
        "call": _call_due,
    }
