"""How a replica stands in its group: the four states, the table of steps between them, and what it knows."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from hacheck.impl.kit.rpc import Caller
from hacheck.impl.kit.state_table import StateTable
from hacheck.impl.node import Name
from hacheck.impl.protocols.icestorm.messages import Accept


class State(StrEnum):
    """The state of a replica."""

    INACTIVE = "inactive"
    """Awaiting an election."""
    ELECTION = "election"
    """Electing a coordinator."""
    REORGANIZATION = "reorganization"
    """Its group reorganizes."""
    NORMAL = "normal"
    """Its group replicates; requests are processed."""


class Step(StrEnum):
    """What moves a replica from state to state."""

    MERGE = "merge"
    """It starts to combine groups, as the coordinator."""
    INVITED = "invited"
    """It has been invited to another group."""
    JOINED = "joined"
    """It has accepted."""
    GATHERED = "gathered"
    """Its members have accepted, or their time is over."""
    READY = "ready"
    """Its coordinator says that the group replicates."""
    COMMENCE = "commence"
    """It says so itself, as the coordinator."""
    RECOVER = "recover"
    """It is in error, or has just started: it goes back to a group of its own."""


REPLICA = StateTable(
    "A replica",
    'Highly Available IceStorm, "IceStorm Replica States"',
    State.INACTIVE,
    {
        (State.INACTIVE, Step.MERGE): State.ELECTION,
        (State.NORMAL, Step.MERGE): State.ELECTION,
        (State.INACTIVE, Step.INVITED): State.ELECTION,
        (State.NORMAL, Step.INVITED): State.ELECTION,
        (State.ELECTION, Step.JOINED): State.REORGANIZATION,
        (State.ELECTION, Step.GATHERED): State.REORGANIZATION,
        (State.REORGANIZATION, Step.READY): State.NORMAL,
        (State.REORGANIZATION, Step.COMMENCE): State.NORMAL,
        (State.INACTIVE, Step.RECOVER): State.INACTIVE,
        (State.ELECTION, Step.RECOVER): State.INACTIVE,
        (State.REORGANIZATION, Step.RECOVER): State.INACTIVE,
        (State.NORMAL, Step.RECOVER): State.INACTIVE,
    },
)
"""Every step there is. What is not here cannot happen: an invitation during an election is ignored."""


class Drained(Struct, frozen=True):
    """What goes on as soon as no update is in flight: the step, and for `INVITED` whose group it is.

    `members`: of the group that is left, those too that fail at the update that is waited for. They are invited all the
    same: only a check drops members for good (notes on IceStorm 3.7.8, section 2, items 3 and 5).
    """

    step: Step
    coordinator: int = 0
    group: str = ""
    members: tuple[int, ...] = ()


class ReplicaState:
    """What a replica knows of its group.

    `ident`: its identifier, which is its priority. `nodes`: the others, by identifier, in that order. `group`: the
    group's name, of which there is one for each attempt to form one. `generation`: of the group that replicates, or -1.
    `members`: as a coordinator, the other members, with what they said when they accepted. `seen_max`: the largest
    group seen. `draining`: what waits for the updates in flight.
    """

    __slots__ = (
        "coord",
        "draining",
        "generation",
        "group",
        "ident",
        "majority",
        "members",
        "nodes",
        "process",
        "seen_max",
        "state",
    )

    def __init__(self, ident: int, nodes: dict[int, Name], process: Caller) -> None:
        self.ident = ident
        self.nodes = nodes
        self.process = process
        self.majority = (len(nodes) + 1) // 2
        self.state = State.INACTIVE
        self.coord = ident
        self.group = ""
        self.generation = -1
        self.members: dict[int, Accept] = {}
        self.seen_max = 0
        self.draining: Drained | None = None

    @property
    def size(self) -> int:
        """How many replicas are configured."""
        return len(self.nodes) + 1

    def may(self, step: Step) -> bool:
        """Whether there is such a step now."""
        return self.draining is None and REPLICA.has(self.state, step)

    def take(self, step: Step) -> None:
        """Take a step. That there is one is the caller's business."""
        old = self.state
        new = REPLICA.next(old, step)
        if new is not old:
            self.state = new
            self.process.record("state_change", id=self.ident, old=old.value, new=new.value)

    def coordinates(self) -> bool:
        """Whether it is the coordinator of a group, if only its own, that can be joined with others."""
        return self.coord == self.ident and self.state in (State.INACTIVE, State.NORMAL) and self.draining is None

    def serves_in(self, group: str) -> bool:
        """Whether it is a working member of this very group."""
        return self.state is State.NORMAL and self.group == group

    def others(self) -> list[tuple[int, Name]]:
        """The other members of its group, as a coordinator, by identifier."""
        return [(ident, self.nodes[ident]) for ident in self.members]

    def leave(self, ident: int, why: str) -> None:
        """A member is not one any more."""
        del self.members[ident]
        event = "slave_reaped" if self.state is State.NORMAL else "member_dropped"
        self.process.record(event, id=self.ident, target=ident, reason=why)
