"""Who uses servers that scale down: clients, which go where they are sent, and the operator, who stops servers.

A client is a producer that spreads its messages over the servers. Every second one is a transaction manager, whose
transactions stay prepared for a while. Whatever is in doubt goes where the old server's state went, with the same
duplicate ids, as HornetQ's manual says. Source: HornetQ manual, "Scaling Down", "Scale Down and Clients".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from hacheck.impl.kit.process import ProcessNode
from hacheck.impl.kit.storage import decode, encode
from hacheck.impl.node import Fired, Input, Message, Name, Setup, Started, Written
from hacheck.impl.protocols.artemis.journal import VERSION
from hacheck.impl.protocols.artemis.messages import (
    Outgoing,
    SessionClosed,
    SessionPong,
    SessionRefused,
    StopServer,
)
from hacheck.impl.protocols.artemis.process import Process
from hacheck.impl.protocols.artemis.scale_down.messages import ScalingDown
from hacheck.impl.protocols.artemis.scale_down.options import ScaleDownOptions
from hacheck.impl.protocols.artemis.session_client import SessionClient
from hacheck.impl.protocols.artemis.session_messages import (
    Command,
    JoinSession,
    Perform,
    Performed,
    SessionJoined,
    Wanted,
)
from hacheck.impl.system import Member

ORDERS = "orders"
OUTBOX_KEY = "outbox"


class Outbox(Struct, frozen=True):
    """The last message of a client, which it sends again if it does not know that it is stored. `number`: it was its
    so many-th; `node_id`: of the server it was for."""

    version: int
    number: int
    name: str
    node_id: str
    stored: bool = False


class ScaleDownClient(SessionClient):
    """One producer with one session. `all`: the servers, its first one first.

    `node_id`: whose session it had last. `target`: where it was sent, or empty; `tries`: how often it tried to be
    let in there. `message`: what is under way or in doubt; `step`: how far it has come; `command`: the last one.
    `sends`: how many were done since it turned to this server. `number`: of its messages. `commands`: of this session.
    `outbox`: its last message, as its disk has it, or, while `writing`, will; `let_in`: where it is let in once its
    disk knows that what is in doubt is there.
    """

    def __init__(self, member: Member, members: tuple[Member, ...], setup: Setup) -> None:
        options: ScaleDownOptions = setup.options
        servers = [one.name for one in members if one.role == "primary"]
        clients = [one.name for one in members if one.role == "client"]
        place = clients.index(member.name)
        first = place % len(servers)
        self.all: tuple[Name, ...] = (*servers[first:], *servers[:first])
        ttl_us = options.connection_ttl_us
        super().__init__(
            Process(setup), self.all, ping_us=options.check_period_us, silence_us=ttl_us, connect_us=ttl_us
        )
        self.options = options
        self.steps: tuple[Command, ...] = ("send",)
        if place % 2 and options.prepared_us:
            self.steps = ("send", "prepare", "commit-branch")
        self.node_id = ""
        self.target = ""
        self.tries = 0
        self.message: Outgoing | None = None
        self.step = 0
        self.command: Command = "send"
        self.sends = 0
        self.commands = 0
        raw = setup.durable.get(OUTBOX_KEY)
        self.outbox = decode(raw, Outbox, "outbox") if raw is not None else Outbox(VERSION, 0, "", "", True)
        self.number = self.outbox.number
        self.writing = 0
        self.let_in: SessionJoined | None = None
        if not self.outbox.stored:
            self.node_id = self.outbox.node_id
            self.message = self._outgoing(self.outbox.name)

    @property
    def prepares(self) -> bool:
        """Whether it is a transaction manager."""
        return len(self.steps) > 1

    def _written(self, given: Written) -> None:
        if given.token == self.writing:
            self.writing = 0
            if self.let_in is None:
                self._begin()
            else:
                self._enter(self.let_in)

    def _started(self) -> None:
        if self.message is not None:
            self._ask(self.message)
        self.connect()

    def _outgoing(self, name: str) -> Outgoing:
        return Outgoing(ORDERS, name, name.encode().ljust(self.options.body_bytes, b"."))

    # ---- connecting ------------------------------------------------------------------------------------------------

    def _hello(self) -> Message:
        return JoinSession(self.session, self.node_id, Wanted("xa" if self.prepares else "plain"))

    def _lost(self) -> None:
        self.process.record("disconnected", {"broker": self.server})
        self._cut_short()
        self.connect()

    def _cut_short(self) -> None:
        """No answer will come any more."""
        self.process.cancel_timer("go")
        self.process.cancel_timer("call")
        self.connected = False
        if self.message is not None:
            self._report("unknown")

    def _try_next(self) -> None:
        """The next server; after the last one a pause. The one that was ordered where to go asks there only."""
        self.session = ""
        attempts = self.options.reconnect_attempts
        if self.target:
            self.tries += 1
            if self.tries > attempts >= 0:
                self.process.record("gave_up", {"target": self.target})
                self._turn_to(self.all)
        elif self.next + 1 < len(self.servers):
            self.next += 1
            self.connect()
            return
        else:
            self.next = 0
        self.process.set_timer("connect", self.options.reconnect_us)

    def _turn_to(self, servers: tuple[Name, ...], target: Name = "") -> None:
        self.servers, self.next = servers, 0
        self.target, self.tries = target, 0

    def _refused(self, message: SessionRefused) -> None:
        self._try_next()

    def _joined(self, message: SessionJoined) -> None:
        """Who is to send a message again there first writes down where, or would look for it elsewhere after a
        restart."""
        if self.connected:
            return
        if self.message is None or self.outbox.node_id == message.node_id:
            self._enter(message)
            return
        self.let_in = message
        self._write_outbox(message.node_id)

    def _write_outbox(self, node_id: str) -> None:
        self.outbox = replace(self.outbox, node_id=node_id)
        self.writing = self.process.write(((OUTBOX_KEY, encode(self.outbox)),))

    def _enter(self, message: SessionJoined) -> None:
        self.let_in = None
        if message.session != self.session:
            return
        self.connected = True
        self.process.cancel_timer("connect")
        broker = self.server
        self.process.record("connected", {"broker": broker, "node_id": message.node_id, "of": self.node_id})
        self.node_id = message.node_id
        self._turn_to((broker, *(name for name in self.all if name != broker)))
        self.commands = 0
        if self.message is not None:
            self._again()
        else:
            self.process.set_timer("go", self.options.pause_us)

    def _closed(self, message: SessionClosed) -> None:
        self._gone()

    def _sent_away(self, message: ScalingDown) -> None:
        """The server scales down: everything that was here will be there."""
        if not self.connected:
            self._try_next()
            return
        self.process.record("sent_away", {"target": message.target})
        self._cut_short()
        self._turn_to((message.target,), message.target)
        self.connect()

    def _pong(self, message: SessionPong) -> None:
        pass

    # ---- messages --------------------------------------------------------------------------------------------------

    def _go(self) -> None:
        if not self.connected or self.writing:
            return
        if self.message is not None:
            self._perform(self.steps[self.step])
            return
        if 0 < self.options.operations <= self.number:
            return
        if 0 < self.options.spread_every <= self.sends:
            self._spread()
            return
        self.number += 1
        name = f"{self.process.fresh()}.{self.number}"
        self.outbox = Outbox(VERSION, self.number, name, self.node_id)
        self._write_outbox(self.node_id)

    def _begin(self) -> None:
        """Its disk knows the message: it may be sent, unless it turned to another server meanwhile."""
        if self.connected and self.outbox.node_id != self.node_id:
            self._write_outbox(self.node_id)
            return
        self.message = self._outgoing(self.outbox.name)
        self.step = 0
        self._ask(self.message)
        if self.connected:
            self._perform(self.steps[0])

    def _ask(self, message: Outgoing) -> None:
        name = message.duplicate_id
        operation = "transaction" if self.prepares else "send"
        self.process.record("asked", {"request": name, "operation": operation, "sent": [name], "number": self.number})

    def _spread(self) -> None:
        """The next messages are for the next server: a new session there, and nothing is in doubt here."""
        self.sends = 0
        at = self.all.index(self.server)
        self._turn_to((*self.all[at + 1 :], *self.all[: at + 1]))
        self.node_id = ""
        self.process.record("turned", {"server": self.server})
        self.connect()

    def _again(self) -> None:
        """Of a transaction whose prepare was not answered nothing may be left."""
        assert self.message is not None
        if not self.prepares:
            self._perform("send")
        elif self.step < 2:
            self._perform("rollback-branch")
        else:
            self._perform("commit-branch")

    def _perform(self, command: Command) -> None:
        message = self.message
        assert message is not None
        self.commands += 1
        outgoing = (message,) if command == "send" else ()
        self.command = command
        self.process.send(
            self.server, Perform(self.session, self.commands, command, outgoing, branch=message.duplicate_id)
        )
        self.process.set_timer("call", self.options.call_timeout_us)

    def _call_due(self) -> None:
        if self.connected:
            self._gone()

    def _performed(self, message: Performed) -> None:
        if message.number != self.commands or self.message is None:
            return
        self.process.cancel_timer("call")
        if self.command == "rollback-branch":
            self.step = 0
            self._perform("send")
            return
        if message.outcome == "no-branch":
            # It was committed, by this client before it lost the answer, or somebody else has ended it, or it has not
            # come yet: a server that stood in for the old one before lets its clients in while it is scaled down again.
            self._report("unknown")
            self._forget()
            self.process.set_timer("go", self.options.pause_us)
            return
        if message.outcome == "duplicate":  # it was prepared, and committed, before
            self.step = len(self.steps)
        else:
            self.step += 1
        if self.step >= len(self.steps):
            self._report("ok")
            self._forget()
            self.sends += 1
            self.process.set_timer("go", self.options.pause_us)
        elif self.steps[self.step] == "commit-branch":
            self.process.record("prepared", {"branch": self.message.duplicate_id})
            self.process.set_timer("go", self.options.prepared_us)
        else:
            self._perform(self.steps[self.step])

    def _forget(self) -> None:
        """The message is not sent again, also after a restart."""
        self.message = None
        self.outbox = Outbox(VERSION, self.number, self.outbox.name, self.outbox.node_id, True)
        self.process.write(((OUTBOX_KEY, encode(self.outbox)),))

    def _not_written(self, reason: str) -> None:
        self.writing = 0
        self.let_in = None
        self.outbox = replace(self.outbox, node_id="")  # who knows what the disk has
        self.process.set_timer("go", self.options.pause_us)

    def _report(self, outcome: str) -> None:
        assert self.message is not None
        self.process.record("told", {"request": self.message.duplicate_id, "outcome": outcome, "number": self.number})

    messages: ClassVar[Mapping[type[Message], Callable[[Any, Any], None]]] = {
        SessionJoined: _joined,
        SessionRefused: _refused,
        SessionClosed: _closed,
        SessionPong: _pong,
        ScalingDown: _sent_away,
        Performed: _performed,
    }
    timers: ClassVar[Mapping[str, Callable[[Any], None]]] = {
        "connect": SessionClient.connect_due,
        "ping": SessionClient.ping_due,
        "go": _go,
        "call": _call_due,
    }


class Operator(ProcessNode[Process]):
    """Stops one server after the other, in an orderly way."""

    def __init__(self, members: tuple[Member, ...], setup: Setup) -> None:
        self.process = Process(setup)
        self.options: ScaleDownOptions = setup.options
        self.servers = tuple(one.name for one in members if one.role == "primary")
        self.stopped = 0

    def _started(self, given: Started) -> None:
        self.process.set_timer("stop", self.options.stop_every_us)

    def _stop(self, given: Fired) -> None:
        name = self.servers[self.stopped % len(self.servers)]
        self.stopped += 1
        self.process.record("stops", {"target": name})
        self.process.send(name, StopServer(False))
        if self.options.stops < 1 or self.stopped < self.options.stops:
            self.process.set_timer("stop", self.options.stop_every_us)

    inputs: ClassVar[Mapping[type[Input], Callable[[Any, Any], None]]] = {
        Started: _started,
        Fired: _stop,
    }
