"""A replica: its parts, and which input goes to which of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hacheck.impl.node import (
    Effect,
    Fired,
    Input,
    Message,
    Name,
    Received,
    Setup,
    Started,
    Unreachable,
    WriteFailed,
    Written,
)
from hacheck.impl.protocols.icestorm import messages
from hacheck.impl.protocols.icestorm.core import Core
from hacheck.impl.protocols.icestorm.election import CHECK, MASTER, MERGE, RESPONSE, Election
from hacheck.impl.protocols.icestorm.following import Following
from hacheck.impl.protocols.icestorm.forming import Forming
from hacheck.impl.protocols.icestorm.options import Options
from hacheck.impl.protocols.icestorm.publishing import AGAIN, Publishing
from hacheck.impl.protocols.icestorm.records import BEGINNING
from hacheck.impl.protocols.icestorm.service import Service
from hacheck.impl.protocols.icestorm.standing import Standing, State
from hacheck.impl.protocols.icestorm.store import Store, decoded
from hacheck.impl.protocols.icestorm.updating import Updating
from hacheck.impl.protocols.icestorm.wire import TIMER, Wire


class Replica:
    """One IceStorm server. `ident`: its identifier and priority; `nodes`: the other replicas, by identifier."""

    __slots__ = (
        "_messages",
        "_timers",
        "core",
        "election",
        "following",
        "forming",
        "publishing",
        "service",
        "standing",
        "store",
        "updating",
        "wire",
    )

    def __init__(self, setup: Setup, ident: int, nodes: dict[int, Name]) -> None:
        options: Options = setup.options
        self.wire = Wire(setup.incarnation, options.invocation_timeout_us)
        self.standing = Standing(ident, nodes, self.wire)
        self.store = Store(decoded(setup.durable, setup.member), self.wire, transient=options.transient)
        if options.bug_stamp_reset_at_start:
            self.store.stamp = BEGINNING
        self.core = core = Core(setup.member, self.wire, self.standing, self.store, options)
        self.forming = core.forming = Forming(core)
        self.following = Following(core)
        self.updating = core.updating = Updating(core)
        self.service = core.service = Service(core)
        self.publishing = core.publishing = Publishing(core)
        self.election = core.election = Election(core)
        self.store.finished["probed"] = self._probed
        self._timers: dict[str, Callable[[], None]] = {
            CHECK: self.election.check,
            MERGE: self.election.merge,
            RESPONSE: self.election.gathered,
            MASTER: self.election.ask_master,
            TIMER: self.wire.fired,
            AGAIN: self.publishing.again_due,
        }
        self._messages = self._handlers()

    def _handlers(self) -> dict[type[Message], Callable[[Name, Any], None]]:
        election, following, service = self.election, self.following, self.service
        return {
            messages.AreYouCoordinator: election.are_you_coordinator,
            messages.Invitation: election.invitation,
            messages.Accept: election.accept,
            messages.AreYouThere: election.are_you_there,
            messages.Propose: following.propose,
            messages.Sync: following.sync,
            messages.Init: following.init,
            messages.Ready: following.ready,
            messages.Ping: following.ping,
            messages.Apply: following.apply,
            messages.Forward: service.forwarded,
            messages.Request: service.request,
            messages.QueryNodes: service.query_nodes,
            messages.Query: service.query,
            messages.Answer: self._answered,
            messages.Database: self._answered,
            messages.Done: self._answered,
            messages.Delivered: self._answered,
        }

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done about an input."""
        wire = self.wire
        wire.now_us = now_us
        wire.out = []
        if isinstance(given, Received):
            handler = self._messages.get(type(given.message))
            if handler is not None:  # what only clients understand is not for a replica
                handler(given.sender, given.message)
        elif isinstance(given, Fired):
            self._timers[given.timer]()
        elif isinstance(given, Written):
            self.store.written(given.token, "")
        elif isinstance(given, WriteFailed):
            self.store.written(given.token, given.reason)
        elif isinstance(given, Unreachable):
            self._unreachable(given.peer)
        elif isinstance(given, Started):
            self._start()
        while self.standing.draining is not None and not self.store.busy and not self.updating.committed:
            self.election.drained()
        return wire.out

    def _start(self) -> None:
        self.wire.record(
            "started",
            id=self.standing.ident,
            nodes=sorted([*self.standing.nodes, self.standing.ident]),
            topics=sorted(self.store.topics),
            generation=self.store.stamp.generation,
            iteration=self.store.stamp.iteration,
        )
        if not self.standing.nodes:
            self.standing.group = "alone"
            self.standing.state = State.NORMAL
        else:
            self.election.start()

    def _answered(self, sender: Name, message: Any) -> None:
        self.wire.answered(sender, message.call, message)

    def _unreachable(self, peer: Name) -> None:
        ident = self.core.idents.get(peer)
        if ident is not None:
            self.election.unreachable(ident)
        self.wire.unreachable(peer)
        self.publishing.unreachable(peer)

    def _probed(self, _: None, failed: str) -> None:
        self.wire.record("disk_probed", id=self.standing.ident, works=not failed)
