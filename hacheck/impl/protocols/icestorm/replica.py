"""A replica: its parts, and which input goes to which of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from hacheck.impl.kit.process import ProcessNode
from hacheck.impl.kit.rpc import TIMER, Caller
from hacheck.impl.node import Fired, Input, Message, Name, Received, Setup, Started, Unreachable, WriteFailed, Written
from hacheck.impl.protocols.icestorm import messages
from hacheck.impl.protocols.icestorm.core import Core
from hacheck.impl.protocols.icestorm.deliveries import AGAIN, Deliveries
from hacheck.impl.protocols.icestorm.election import CHECK, MASTER, MERGE, RESPONSE, Election
from hacheck.impl.protocols.icestorm.group_formation import GroupFormation
from hacheck.impl.protocols.icestorm.options import Options
from hacheck.impl.protocols.icestorm.records import BEGINNING
from hacheck.impl.protocols.icestorm.replica_state import ReplicaState, State
from hacheck.impl.protocols.icestorm.service import Service
from hacheck.impl.protocols.icestorm.slave import Slave
from hacheck.impl.protocols.icestorm.store import Store, decoded
from hacheck.impl.protocols.icestorm.updates import Updates


class Replica(ProcessNode[Caller]):
    """One IceStorm server. `ident`: its identifier and priority; `nodes`: the other replicas, by identifier."""

    __slots__ = (
        "_messages",
        "_timers",
        "core",
        "election",
        "following",
        "forming",
        "process",
        "publishing",
        "service",
        "standing",
        "store",
        "updating",
    )

    def __init__(self, setup: Setup, ident: int, nodes: dict[int, Name]) -> None:
        options: Options = setup.options
        self.process = Caller(setup, options.invocation_timeout_us)
        self.standing = ReplicaState(ident, nodes, self.process)
        self.store = Store(decoded(setup.durable, setup.member), self.process, transient=options.transient)
        if options.bug_stamp_reset_at_start:
            self.store.stamp = BEGINNING
        self.core = core = Core(setup.member, self.process, self.standing, self.store, options)
        self.forming = core.forming = GroupFormation(core)
        self.following = Slave(core)
        self.updating = core.updating = Updates(core)
        self.service = core.service = Service(core)
        self.publishing = core.publishing = Deliveries(core)
        self.election = core.election = Election(core)
        self.store.finished["probed"] = self._probed
        self._timers: dict[str, Callable[[], None]] = {
            CHECK: self.election.check,
            MERGE: self.election.merge,
            RESPONSE: self.election.gathered,
            MASTER: self.election.ask_master,
            TIMER: self.process.fired,
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

    def conclude(self) -> None:
        """Goes on with what waited for the updates in flight."""
        while self.standing.draining is not None and not self.store.busy and not self.updating.committed:
            self.election.drained()

    def _received(self, given: Received) -> None:
        handler = self._messages.get(type(given.message))
        if handler is not None:  # what only clients understand is not for a replica
            handler(given.sender, given.message)

    def _fired(self, given: Fired) -> None:
        self._timers[given.timer]()

    def _written(self, given: Written) -> None:
        self.store.written(given.token, "")

    def _write_failed(self, given: WriteFailed) -> None:
        self.store.written(given.token, given.reason)

    def _start(self, given: Started) -> None:
        self.process.record(
            "started",
            id=self.standing.ident,
            nodes=sorted([*self.standing.nodes, self.standing.ident]),
            topics=sorted(self.store.topics),
            generation=self.store.stamp.generation,
            iteration=self.store.stamp.iteration,
            forgets_stamp=self.core.options.bug_stamp_reset_at_start,
        )
        if not self.standing.nodes:
            self.standing.group = "alone"
            self.standing.state = State.NORMAL
        else:
            self.election.start()

    def _answered(self, sender: Name, message: Any) -> None:
        self.process.answered(sender, message.call, message)

    def _unreachable(self, given: Unreachable) -> None:
        peer = given.peer
        ident = self.core.idents.get(peer)
        if ident is not None:
            self.election.unreachable(ident)
        self.process.unreachable(peer)
        self.publishing.unreachable(peer)

    def _probed(self, _: None, failed: str) -> None:
        self.process.record("disk_probed", id=self.standing.ident, works=not failed)

    inputs: ClassVar[Mapping[type[Input], Callable[[Any, Any], None]]] = {
        Started: _start,
        Received: _received,
        Fired: _fired,
        Unreachable: _unreachable,
        Written: _written,
        WriteFailed: _write_failed,
    }
