"""A client with a durable connection: tries the primary, then the backup, and keeps what it could not send.

While there is no connection its requests go into a local store on its disk, and are sent, oldest first, as soon as
there is one again. A request whose answer did not come is the oldest of them. Whether the server did it the first time
nobody knows, so without `detect_duplicates` it may be done twice. An acknowledgement is not sent again: its messages
may by then belong to somebody else. Source: "How do failovers happen?"; broker facts 3.5.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from hacheck.impl.node import Effect, Fired, Input, Message, Name, Received, Setup, Started, Unreachable, WriteFailed
from hacheck.impl.protocols.fiorano.messages import (
    Acknowledge,
    Action,
    Answer,
    Ask,
    Connect,
    Connected,
    Delivered,
    Fetch,
    NotServing,
    Publish,
    SendMessage,
    SessionPing,
    SessionPong,
    SetObject,
    Subscribe,
)
from hacheck.impl.protocols.fiorano.options import PairOptions
from hacheck.impl.protocols.fiorano.process import Process
from hacheck.impl.protocols.fiorano.repository import VERSION, decode, encode
from hacheck.impl.system import Member

QUEUE, TOPIC = "orders", "prices"
PENDING = "pending/"
CREDIT = 2
NUMBERS = 1_000_000_000
"""How many requests an incarnation may have."""


class Request(Struct, frozen=True):
    """What a client wants done. `consumed`: the requests with which the acknowledged messages were sent."""

    name: str
    number: int
    action: Action
    consumed: tuple[str, ...] = ()
    version: int = VERSION


class Client:
    """One client. `requests`: not answered yet, the oldest first, of which only that is ever under way; `kept`: the
    numbers of those that are in the local store. `next`: the server to try."""

    def __init__(self, member: Member, members: tuple[Member, ...], setup: Setup) -> None:
        self.process = Process(setup)
        self.options: PairOptions = setup.options
        self.servers = tuple(m.name for m in members if m.role == "server")
        self.next = 0
        self.session = ""
        self.connected = False
        self.heard_us = 0
        kept = sorted(name for name in setup.durable if name.startswith(PENDING))
        self.requests = deque(decode(setup.durable[name], Request, name) for name in kept)
        self.kept = {request.number for request in self.requests}
        self.number = setup.incarnation * NUMBERS
        self.turn = 0
        self.under_way = False
        self.call = 0
        self.fetching = 0

    @property
    def server(self) -> Name:
        """Whom it is connected to, or tries."""
        return self.servers[self.next]

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done about an input."""
        self.process.begin(now_us)
        handler = INPUTS.get(type(given))
        if handler is not None:
            handler(self, given)
        return self.process.effects

    def _started(self, given: Started) -> None:
        self.process.set_timer("ping", self.options.ping_us)
        self.process.set_timer("go", self.options.pause_us)
        self._connect()

    def _received(self, given: Received) -> None:
        handler = MESSAGES.get(type(given.message))
        if handler is not None and given.message.session == self.session:  # type: ignore[attr-defined]
            self.heard_us = self.process.now_us
            handler(self, given.message)

    def _unreachable(self, given: Unreachable) -> None:
        if given.peer == self.server and self.session:
            self._lost()

    def _fired(self, given: Fired) -> None:
        TIMERS[given.timer](self)

    def _write_failed(self, given: WriteFailed) -> None:
        self.process.halt(f"the local store cannot be written: {given.reason}")

    # ---- connecting ------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        self.session = self.process.fresh()
        self.process.send(self.server, Connect(self.session))
        self.process.set_timer("connect", self.options.call_timeout_us)

    def _connect_due(self) -> None:
        if self.session:
            self._lost()
        else:
            self._connect()

    def _connected(self, message: Connected) -> None:
        if not self.connected:
            self.connected = True
            self.process.cancel_timer("connect")
            self.process.record("connected", {"server": self.server})
            self._flush()

    def _lost(self) -> None:
        """No connection to this server. What is in doubt goes into the local store; the other server is next."""
        self.session = ""
        self.process.cancel_timer("call")
        if self.connected:
            self.connected = False
            self.process.record("disconnected", {"server": self.server})
        if self.under_way:
            self.under_way = False
            self._in_doubt()
        self.fetching = 0
        for request in self.requests:
            self._keep(request)
        self.next = (self.next + 1) % len(self.servers)
        if self.next:
            self._connect()
        else:
            self.process.set_timer("connect", self.options.reconnect_us)

    def _in_doubt(self) -> None:
        request = self.requests[0]
        self._tell(request, "unknown")
        if isinstance(request.action, Acknowledge):
            self._done(request)

    def _not_serving(self, message: NotServing) -> None:
        self._lost()

    def _pong(self, message: SessionPong) -> None:
        pass

    def _ping_due(self) -> None:
        self.process.set_timer("ping", self.options.ping_us)
        if self.connected:
            if self.process.now_us - self.heard_us > self.options.socket_timeout_us:
                self._lost()
            else:
                self.process.send(self.server, SessionPing(self.session))

    # ---- requests --------------------------------------------------------------------------------------------------

    def _go(self) -> None:
        """One operation more, connected or not."""
        if 0 < self.options.operations <= self.turn:
            return
        self.process.set_timer("go", self.options.pause_us)
        if self.fetching or len(self.requests) >= (1 if self.connected else self.options.local_store_max):
            return
        turn = self.turn
        if turn == 0:
            self._begin(Subscribe(TOPIC))
        elif turn % 4 == 1:
            self._begin(SendMessage(QUEUE, b"." * self.options.body_bytes))
        elif turn % 4 == 3:
            self._begin(Publish(TOPIC, b"." * self.options.body_bytes))
        elif turn % 16 == 8:
            kind = ("acl", "principal", "admin")[turn // 16 % 3]
            self._begin(SetObject(kind, self.process.member, str(turn).encode()))
        elif self.connected:
            self.call += 1
            self.fetching = self.call
            place = f"ptp/{QUEUE}/" if turn % 8 == 2 else f"pubsub/{TOPIC}/{self.process.member}/"
            self.process.send(self.server, Fetch(self.session, self.call, place, CREDIT))
            self.process.set_timer("call", self.options.call_timeout_us)
        self.turn += 1

    def _delivered(self, message: Delivered) -> None:
        if message.call != self.fetching:
            return
        self.fetching = 0
        self.process.cancel_timer("call")
        if message.objects:
            names = tuple(name for name, _ in message.objects)
            self._begin(Acknowledge(names), tuple(request for _, request in message.objects))

    def _begin(self, action: Action, consumed: tuple[str, ...] = ()) -> None:
        self.number += 1
        request = Request(self.process.fresh(), self.number, action, consumed)
        fields: dict[str, Any] = {
            "request": request.name,
            "operation": type(action).__name__,
            "consumed": list(consumed),
        }
        if isinstance(action, SetObject) and action.value is not None:
            fields |= {"object": f"{action.kind}/{action.name}", "value": action.value.decode()}
        self.process.record("asked", fields)
        self.requests.append(request)
        if self.connected:
            self._flush()
        else:
            self._keep(request)

    def _keep(self, request: Request) -> None:
        if request.number not in self.kept:
            self.kept.add(request.number)
            self.process.write(((f"{PENDING}{request.number:020}", encode(request)),))

    def _flush(self) -> None:
        """Sends the oldest, if nothing is under way."""
        if self.requests and not self.under_way and self.connected:
            self.under_way = True
            request = self.requests[0]
            self.process.send(self.server, Ask(self.session, request.name, request.number, request.action))
            self.process.set_timer("call", self.options.call_timeout_us)

    def _answered(self, message: Answer) -> None:
        if not (self.under_way and self.requests[0].name == message.request):
            return
        self.under_way = False
        self.process.cancel_timer("call")
        request = self.requests[0]
        self._tell(request, "ok" if message.outcome == "ok" else "unknown")
        self._done(request)
        self._flush()

    def _done(self, request: Request) -> None:
        self.requests.popleft()
        if request.number in self.kept:
            self.kept.discard(request.number)
            self.process.write(((f"{PENDING}{request.number:020}", None),))

    def _call_due(self) -> None:
        if self.under_way or self.fetching:
            self._lost()

    def _tell(self, request: Request, outcome: str) -> None:
        self.process.record("told", {"request": request.name, "outcome": outcome})


INPUTS: Mapping[type[Input], Callable[[Client, Any], None]] = {
    Started: Client._started,
    Received: Client._received,
    Unreachable: Client._unreachable,
    Fired: Client._fired,
    WriteFailed: Client._write_failed,
}

MESSAGES: Mapping[type[Message], Callable[[Client, Any], None]] = {
    Connected: Client._connected,
    NotServing: Client._not_serving,
    SessionPong: Client._pong,
    Delivered: Client._delivered,
    Answer: Client._answered,
}

TIMERS: Mapping[str, Callable[[Client], None]] = {
    "connect": Client._connect_due,
    "ping": Client._ping_due,
    "go": Client._go,
    "call": Client._call_due,
}
