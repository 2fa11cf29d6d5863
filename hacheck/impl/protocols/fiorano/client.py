"""A client with a durable connection: tries the primary, then the backup, and keeps what it could not send.

While there is no connection its requests go into a local store on its disk, and are sent, oldest first, as soon as
there is one again. A request whose answer did not come is the oldest of them. Whether the server did it the first time
nobody knows, so without `detect_duplicates` it may be done twice. An acknowledgement is not sent again: its messages
may by then belong to somebody else. Source: "How do failovers happen?"; broker facts 3.5.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from msgspec import Struct

from hacheck.impl.kit import client
from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import Message, Setup
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
from hacheck.impl.protocols.fiorano.repository import VERSION
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


class Client(client.Client[Process]):
    """One client. `requests`: not answered yet, the oldest first, of which only that is ever under way; `kept`: the
    numbers of those that are in the local store. `next`: the server to try."""

    def __init__(self, member: Member, members: tuple[Member, ...], setup: Setup) -> None:
        options: PairOptions = setup.options
        super().__init__(
            Process(setup),
            tuple(m.name for m in members if m.role == "server"),
            ping_us=options.ping_us,
            silence_us=options.socket_timeout_us,
            connect_us=options.call_timeout_us,
        )
        self.options = options
        kept = sorted(name for name in setup.durable if name.startswith(PENDING))
        self.requests = deque(decode(setup.durable[name], Request, name) for name in kept)
        self.kept = {request.number for request in self.requests}
        self.number = setup.incarnation * NUMBERS
        self.turn = 0
        self.under_way = False
        self.call = 0
        self.fetching = 0

    def _started(self) -> None:
        self.process.set_timer("go", self.options.pause_us)
        self.connect()

    def _not_written(self, reason: str) -> None:
        self.process.halt(f"the local store cannot be written: {reason}")

    # ---- connecting ------------------------------------------------------------------------------------------------

    def _hello(self) -> Message:
        return Connect(self.session)

    def _sign_of_life(self) -> Message:
        return SessionPing(self.session)

    def _connected(self, message: Connected) -> None:
        if not self.connected:
            self.connected = True
            self.process.cancel_timer("connect")
            self.process.record("connected", {"server": self.server})
            self._flush()

    def _gone(self) -> None:
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
            self.connect()
        else:
            self.process.set_timer("connect", self.options.reconnect_us)

    def _in_doubt(self) -> None:
        request = self.requests[0]
        self._report(request, "unknown")
        if isinstance(request.action, Acknowledge):
            self._done(request)

    def _not_serving(self, message: NotServing) -> None:
        self._gone()

    def _pong(self, message: SessionPong) -> None:
        pass

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
        self._report(request, "ok" if message.outcome == "ok" else "unknown")
        self._done(request)
        self._flush()

    def _done(self, request: Request) -> None:
        self.requests.popleft()
        if request.number in self.kept:
            self.kept.discard(request.number)
            self.process.write(((f"{PENDING}{request.number:020}", None),))

    def _call_due(self) -> None:
        if self.under_way or self.fetching:
            self._gone()

    def _report(self, request: Request, outcome: str) -> None:
        self.process.record("told", {"request": request.name, "outcome": outcome})

    messages: ClassVar[Mapping[type[Message], Callable[[Any, Any], None]]] = {
        Connected: _connected,
        NotServing: _not_serving,
        SessionPong: _pong,
        Delivered: _delivered,
        Answer: _answered,
    }
    timers: ClassVar[Mapping[str, Callable[[Any], None]]] = {
        "connect": client.Client.connect_due,
        "ping": client.Client.ping_due,
        "go": _go,
        "call": _call_due,
    }
