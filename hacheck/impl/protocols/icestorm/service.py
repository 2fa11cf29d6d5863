"""The service at one replica: requests wait until the group replicates; reads are answered here, updates by the
coordinator.

**Source**: Highly Available IceStorm, "Client Considerations for IceStorm Replication"; notes on IceStorm 3.7.8,
section 3.
"""

from __future__ import annotations

from typing import assert_never

from hacheck.impl.kit.rpc import Round
from hacheck.impl.node import Name
from hacheck.impl.protocols.icestorm.core import Core
from hacheck.impl.protocols.icestorm.messages import (
    Done,
    Forward,
    Nodes,
    Query,
    QueryNodes,
    Reply,
    Request,
    View,
)
from hacheck.impl.protocols.icestorm.records import (
    FAILED,
    NO_SUCH_TOPIC,
    OK,
    UPDATES,
    GetPublisher,
    Publish,
    Read,
    Retrieve,
    RetrieveAll,
    Unsubscribe,
    Update,
    about,
)
from hacheck.impl.protocols.icestorm.replica_state import State
from hacheck.impl.protocols.icestorm.updates import Work


class Service:
    """`gate`: what waits for the group, in the order it came: requests with their senders, and updates that found no
    coordinator. What a client sends again while it waits takes the place of what it sent before."""

    __slots__ = ("core", "gate", "options", "process", "removing", "standing", "store")

    def __init__(self, core: Core) -> None:
        self.core = core
        self.process = core.process
        self.standing = core.standing
        self.store = core.store
        self.options = core.options
        self.gate: dict[tuple[str, str | int], tuple[Name, Request] | Work] = {}
        self.removing: set[tuple[str, str]] = set()
        self.process.finished["forward"] = self._forwarded

    # ---- requests ---------------------------------------------------------------------------------------------

    def request(self, sender: Name, message: Request) -> None:
        """A client asks."""
        if self.standing.state is State.NORMAL:
            self._serve(sender, message)
        else:
            self.gate[sender, message.request] = (sender, message)

    def forwarded(self, sender: Name, message: Forward) -> None:
        """A slave passes an update on."""
        work = Work(message.update, slave=sender, call=message.call)
        if self.standing.state is State.NORMAL:
            self._update(work)
        else:
            self.wait(work)

    def remove(self, topic: str, identity: str) -> None:
        """A subscriber has failed too often: its subscription ends, as soon as there is a coordinator."""
        if (topic, identity) in self.removing:
            return
        self.removing.add((topic, identity))
        self.process.record("subscriber_failed", id=self.standing.ident, topic=topic, subscriber=identity)
        work = Work(Unsubscribe(topic, (identity,)), call=self.process.fresh_number())
        if self.standing.state is State.NORMAL:
            self._update(work)
        else:
            self.wait(work)

    def wait(self, work: Work) -> None:
        """An update waits for the group to replicate."""
        key = (work.client, work.request) if work.client else (work.slave, work.call)
        self.gate[key] = work

    def opened(self) -> None:
        """The group replicates: what has waited goes on."""
        waiting = list(self.gate.values())
        self.gate.clear()
        for item in waiting:
            if isinstance(item, Work):
                self._update(item)
            else:
                self._serve(*item)

    # ---- their execution --------------------------------------------------------------------------------------

    def _serve(self, sender: Name, message: Request) -> None:
        operation = message.operation
        if isinstance(operation, UPDATES):
            self._update(Work(operation, sender, message.request, message.attempt))
        elif isinstance(operation, Publish):
            outcome = self.core.publishing.publish(operation)
            self.process.send(sender, Reply(message.request, message.attempt, outcome))
        else:
            self.process.send(sender, self._read(message, operation))

    def _read(self, message: Request, operation: Read) -> Reply:
        topics = self.store.topics
        match operation:
            case RetrieveAll():
                return Reply(message.request, message.attempt, OK, tuple(sorted(topics)))
            case Retrieve(topic=name):
                topic = topics.get(name)
                return Reply(message.request, message.attempt, OK if topic else NO_SUCH_TOPIC, topic=topic)
            case GetPublisher(topic=name, replicated=replicated):
                if name not in topics:
                    return Reply(message.request, message.attempt, NO_SUCH_TOPIC)
                nodes = {**self.standing.nodes, self.standing.ident: self.core.member}
                several = replicated and not self.options.one_endpoint
                names = tuple(nodes[ident] for ident in sorted(nodes)) if several else (self.core.member,)
                return Reply(message.request, message.attempt, OK, names)
            case _:
                assert_never(operation)

    def _update(self, work: Work) -> None:
        standing = self.standing
        if standing.state is not State.NORMAL:
            self.wait(work)
        elif standing.coord == standing.ident:
            self.core.updating.add(work)
        else:
            coordinator = (standing.coord, standing.nodes[standing.coord])
            update: Update = work.update
            self.process.ask("forward", [coordinator], lambda call: Forward(call, update), (standing.group, work))

    def _forwarded(self, round_: Round) -> None:
        group, work = round_.data
        (answer,) = round_.answers.values()
        if isinstance(answer, Done):
            self.done(work, answer.outcome, answer.detail)
            return
        # Nobody knows whether the coordinator has done it, or will. It gets the request again, after the next election.
        self.process.record(
            "forward_failed",
            id=self.standing.ident,
            update=type(work.update).__name__,
            topic=work.update.topic,
            item=about(work.update),
        )
        if self.standing.serves_in(group):
            self.core.election.recover("the coordinator does not answer")
        self._update(work)

    def done(self, work: Work, outcome: str, detail: str = "") -> None:
        """An update is through: the one that requested it is informed."""
        if work.client:
            self.process.send(work.client, Reply(work.request, work.attempt, outcome, detail=detail))
        elif work.slave:
            self.process.send(work.slave, Done(work.call, outcome, detail))
        elif isinstance(work.update, Unsubscribe):
            for identity in work.update.identities:
                self.removing.discard((work.update.topic, identity))
                if outcome == FAILED:
                    self.core.publishing.still_there(work.update.topic, identity)

    # ---- for administrators ----------------------------------------------------------------------------------------

    def query_nodes(self, sender: Name, message: QueryNodes) -> None:
        """Who the replicas are."""
        nodes = {**self.standing.nodes, self.standing.ident: self.core.member}
        self.process.send(sender, Nodes(message.call, tuple(sorted(nodes.items()))))

    def query(self, sender: Name, message: Query) -> None:
        """How this replica stands."""
        standing = self.standing
        view = View(
            message.call,
            standing.ident,
            standing.coord,
            standing.group,
            standing.state.value,
            tuple(sorted(standing.members)),
            standing.seen_max,
        )
        self.process.send(sender, view)
