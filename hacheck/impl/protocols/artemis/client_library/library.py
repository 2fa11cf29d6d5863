"""The client library: a connection with one session that outlives its server, and what a failover does to calls.

It knows the live server first, and the backup from the first connection on. When it hears nothing, or its connection is
broken, it tries the server that it had and the others; its session goes on there, where it is still there, or is made
again. Re-attached, a call is sent once more under its number, and answered as it was before. In a new session it ends
as unblocked, and a transaction with something in it can only be rolled back. Source: broker facts 2.13; HornetQ manual,
"Automatic Client Failover", "Handling Blocking Calls During Failover", "Handling Failover With Transactions".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, Protocol

from msgspec import Struct

from hacheck.impl.kit import client
from hacheck.impl.node import Message, Name, Setup, Written
from hacheck.impl.protocols.artemis.client_library.options import ClientOptions
from hacheck.impl.protocols.artemis.client_library.states import CONNECTION, Cause, Phase
from hacheck.impl.protocols.artemis.messages import Outgoing, SessionClosed, SessionPong, SessionRefused
from hacheck.impl.protocols.artemis.process import Process
from hacheck.impl.protocols.artemis.session_client import SessionClient
from hacheck.impl.protocols.artemis.session_messages import (
    Command,
    Delivery,
    JoinSession,
    Perform,
    Performed,
    SessionJoined,
    TopologyChanged,
    Wanted,
)

Outcome = Literal["ok", "duplicate", "no-branch", "no-queue", "rolled-back", "unblocked", "timed-out"]
"""How a call ends: as the server says; `rolled-back`: its transaction could only be rolled back, and is; `unblocked`:
nobody knows, for its session is gone; `timed-out`: nobody knows, and a transaction is being rolled back."""

WORDS: Mapping[str, str] = {"send": "produce", "commit-branch": "commit_prepared", "rollback-branch": "rollback"}
"""What logs call some commands."""


class Call(Struct):
    """A call under way. `command`: what the application wants; `perform`: the request to the server, which is to
    roll back where a transaction can only be rolled back. `message`: the application's number of a message, or 0."""

    command: Command
    perform: Perform
    message: int = 0


class Application(Protocol):
    """What the library needs to know of who uses it."""

    def ready(self) -> None:
        """There is a session, and no call is under way."""
        ...

    def ended(self, call: Call, outcome: Outcome, branches: tuple[str, ...]) -> None:
        """A call has ended. `ready` follows, where there is a session."""
        ...

    def delivered(self, delivery: Delivery) -> None:
        """A message has come."""
        ...

    def session_lost(self) -> None:
        """There is a new session, or none: what was delivered in the old one counts no more."""
        ...

    def failed(self, code: Literal["failover", "disconnect"]) -> None:
        """The failure listener: the connection had failed, and this is what came of it."""
        ...

    def fired(self) -> None:
        """The application's own timer."""
        ...

    def written(self, purpose: str) -> None:
        """What the application wrote to its disk is there."""
        ...


class Library(SessionClient):
    """A client process: the library, and its application. `old`: the session that may go on. `heard`: the last delivery
    that it got in that. `number`: of the last command. `dirty`: the open transaction has something in it. `rounds`: how
    often all servers were tried in vain. `prepared`: the branch that is prepared, or empty."""

    application: Application

    def __init__(self, servers: tuple[Name, ...], wanted: Wanted, setup: Setup) -> None:
        options: ClientOptions = setup.options
        ttl_us = options.connection_ttl_us
        known = servers if options.server_list else servers[:1]
        super().__init__(Process(setup), known, ping_us=options.check_period_us, silence_us=ttl_us, connect_us=ttl_us)
        self.options = options
        self.wanted = wanted
        self.static = servers
        self.phase = Phase.NEW
        self.node_id = ""
        self.old = ""
        self.heard = 0
        self.number = 0
        self.call: Call | None = None
        self.dirty = False
        self.rollback_only = False
        self.prepared = ""
        self.rounds = 0
        self.retry_us = options.reconnect_us

    def _written(self, given: Written) -> None:
        self.process.done(given.token)
        purpose = self.process.purposes.pop(given.token, "")
        if purpose:
            self.application.written(purpose)

    def _not_written(self, reason: str) -> None:
        self.process.end(f"the application cannot write to its disk: {reason}")

    def go(self, cause: Cause) -> None:
        """Changes the state of the connection."""
        self.phase = CONNECTION.next(self.phase, cause)

    # ---- connecting ------------------------------------------------------------------------------------------------

    def _hello(self) -> Message:
        goes_on = self.old if self.options.confirmation_window else ""
        return JoinSession(self.session, self.node_id, self.wanted, goes_on, self.heard)

    def _try_next(self) -> None:
        self.session = ""
        self.next += 1
        if self.next < len(self.servers):
            self.connect()
            return
        self.next = 0
        new = self.phase is Phase.NEW
        most = self.options.initial_connect_attempts + 1 if new else self.options.reconnect_attempts
        self.rounds += 1
        if 0 < most <= self.rounds:
            self._give_up()
            return
        self.process.set_timer("connect", self.retry_us)
        longer = self.retry_us * self.options.retry_multiplier_percent // 100
        self.retry_us = max(self.retry_us, min(longer, self.options.max_retry_us))

    def _refused(self, message: SessionRefused) -> None:
        self._try_next()

    def _joined(self, message: SessionJoined) -> None:
        if self.connected:
            return
        first, attached = self.phase is Phase.NEW, message.name == self.old
        self.connected = True
        self.process.cancel_timer("connect")
        self.session, self.node_id = message.name, message.node_id
        self.rounds, self.retry_us = 0, self.options.reconnect_us
        server = self.server
        self._learn(message.connectors)
        if first:
            self.process.record("connected", {"to": server, "temporary": message.temporary})
        else:
            what = {"to": server, "attached": attached, "temporary": message.temporary}
            self.process.record("reconnected", what)
        self.go(Cause.OPENED if first else Cause.ATTACHED if attached else Cause.CREATED)
        if attached:
            if self.call is not None:
                self._ask(self.call)
        else:
            self._begin_session(message.name)
        if not first:
            self.application.failed("failover")
        self._go_on()

    def _begin_session(self, name: str) -> None:
        """Nothing of the old session is left."""
        self.old, self.number, self.heard = name, 0, 0
        self._unblock()

    def _learn(self, connectors: tuple[Name, ...]) -> None:
        known = dict.fromkeys((self.server, *connectors, *self.servers))
        self.servers = tuple(name for name in known if name in self.static)
        self.next = 0

    def _topology(self, message: TopologyChanged) -> None:
        if self.connected:
            self._learn(message.connectors)

    def _lost(self) -> None:
        self.process.record("connection_failed", {"to": self.server})
        self.process.cancel_timer("call")
        self.process.cancel_timer("work")
        self.connected = False
        self.session = ""
        self.rounds = 0
        self.go(Cause.LOST)
        if self.options.reconnect_attempts == 0:
            self._give_up()
        else:
            self.connect()

    def _give_up(self) -> None:
        """The application has to see for itself."""
        self.session = ""
        self.connected = False
        self.go(Cause.GIVEN_UP)
        self.process.cancel_timer("connect")
        self.process.record("given_up", {})
        self.application.failed("disconnect")

    def connect_anew(self) -> None:
        """The application closes the connection, and makes a new one, by the next server. That is no failover: no old
        session can go on in it, and there is no old transaction to be rolled back. Who has been connected knows the
        others, too: the next one need not serve, however often it is tried."""
        self.go(Cause.ANEW)
        start = (self.static.index(self.server) + 1) % len(self.static)
        in_turn = (*self.static[start:], *self.static[:start])
        known = self.servers if self.node_id or self.options.server_list else ()
        self.servers = tuple(name for name in in_turn if name == in_turn[0] or name in known)
        self.next = self.rounds = 0
        self.retry_us = self.options.reconnect_us
        self._unblock()
        self.old, self.heard = "", 0
        self.dirty = self.rollback_only = False
        self.process.set_timer("connect", self.options.pause_us)

    def _closed(self, message: SessionClosed) -> None:
        self._gone()

    def _pong(self, message: SessionPong) -> None:
        pass

    # ---- calls -----------------------------------------------------------------------------------------------------

    def do(
        self,
        command: Command,
        outgoing: tuple[Outgoing, ...] = (),
        delivery: int = 0,
        branch: str = "",
        message: int = 0,
    ) -> None:
        """Begins a call; the one before has ended."""
        assert self.call is None, "one call at a time"
        self.number += 1
        what: Command = "rollback" if self.rollback_only and command in ("commit", "prepare") else command
        self.call = Call(command, Perform(self.session, self.number, what, outgoing, delivery, branch), message)
        self._ask(self.call)

    def _ask(self, call: Call) -> None:
        self.process.send(self.server, call.perform)
        self.process.set_timer("call", self.options.call_timeout_us)

    def _performed(self, message: Performed) -> None:
        call = self.call
        if call is None or message.number != call.perform.number:
            return
        self.process.cancel_timer("call")
        done = call.perform.command
        outcome: Outcome = message.outcome
        if done == "rollback" and call.command != done:
            outcome = "rolled-back"
        if done in ("send", "acknowledge"):
            self.dirty = self.wanted.kind != "plain"
        elif done != "recover":
            self.dirty = self.rollback_only = False
            self.prepared = call.perform.branch if done == "prepare" and outcome == "ok" else ""
        self._end(call, outcome, message.branches)

    def _end(self, call: Call, outcome: Outcome, branches: tuple[str, ...] = ()) -> None:
        """A call has ended, in this way."""
        self.call = None
        done = call.perform.command
        shown: dict[str, Any] = {"command": WORDS.get(done, done)}
        if call.message:
            shown["message"] = call.message
        if outcome in ("unblocked", "timed-out"):
            self.process.record(outcome.replace("-", "_"), shown)
        elif done != "recover":
            shown["outcome"] = "duplicate" if outcome == "duplicate" else "done"
            self.process.record("answered", shown)
        self.application.ended(call, outcome, branches)
        if outcome not in ("unblocked", "timed-out"):
            self._go_on()

    def _unblock(self) -> None:
        """The session is another one: the one that waits gets an exception, and no transaction is committed."""
        call = self.call
        if self.dirty and not self.prepared:
            self.rollback_only = True
        self.application.session_lost()
        if call is None:
            return
        if call.perform.command in ("commit", "prepare", "rollback"):
            self.dirty = self.rollback_only = False
        self._end(call, "unblocked")

    def _call_due(self) -> None:
        """A commit whose answer is late is rolled back; other calls that wait so long have lost their server."""
        call = self.call
        if call is None or not self.connected:
            return
        if call.perform.command != "commit":
            self._lost()
            return
        if self.options.bug_commit_timeout_is_plain_error:
            self.dirty = False
            self._end(call, "timed-out")
            self._go_on()
            return
        self.dirty = self.rollback_only = False
        self._end(call, "timed-out")
        self.do("rollback")

    def _go_on(self) -> None:
        if self.connected and self.call is None:
            self.application.ready()

    def _delivered(self, message: Delivery) -> None:
        if not self.connected or message.number <= self.heard:
            return
        self.heard = message.number
        if self.call is None or not self.call.perform.command.startswith("rollback"):
            self.application.delivered(message)  # else it goes back, and comes again

    def _work(self) -> None:
        self.application.fired()

    messages: ClassVar[Mapping[type[Message], Callable[[Any, Any], None]]] = {
        SessionJoined: _joined,
        SessionRefused: _refused,
        SessionClosed: _closed,
        SessionPong: _pong,
        TopologyChanged: _topology,
        Performed: _performed,
        Delivery: _delivered,
    }
    timers: ClassVar[Mapping[str, Callable[[Any], None]]] = {
        "connect": client.Client.connect_due,
        "ping": client.Client.ping_due,
        "call": _call_due,
        "work": _work,
    }
