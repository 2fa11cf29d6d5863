"""What servers say to each other, and to their clients, when one of them scales down.

Source: HornetQ manual, "Scaling Down"; broker facts 2.12.
"""

from __future__ import annotations

from hacheck.impl.node import Message, Name
from hacheck.impl.protocols.artemis.messages import Outgoing


class ScalingDown(Message, frozen=True, gc=False):
    """To a client: this server is about to end, and `target` will have all that it has. The session is over."""

    session: str
    target: Name


class FindTarget(Message, frozen=True, gc=False):
    """Does the receiver serve, and of which group is it? `scaling`: a fresh name of this scale-down."""

    scaling: str


class TargetFound(Message, frozen=True, gc=False):
    """The sender serves."""

    scaling: str
    node_id: str
    group: str


class Move(Message, frozen=True, gc=False):
    """A message of the sender's queue, for the same queue of the receiver; the `number`-th of this scale-down."""

    scaling: str
    number: int
    outgoing: Outgoing


class Moved(Message, frozen=True, gc=False):
    """The receiver of a `Move` or `Adopt` has it on its disk."""

    scaling: str
    number: int


class MoveRefused(Message, frozen=True, gc=False):
    """The receiver of a `Move` or `Adopt` does not serve, or no more."""

    scaling: str


class PreparedBranch(Message, frozen=True, gc=False):
    """A prepared transaction with all that it would do: what it sends, and the messages that it consumes, which nobody
    else may get."""

    name: str
    outgoing: tuple[Outgoing, ...]
    consumed: tuple[Outgoing, ...]


class Adopt(Message, frozen=True, gc=False):
    """All messages are there: now what else the sender's node has. `ids`: its caches of duplicate ids by address,
    oldest first. From now on the receiver stands in for these nodes: the sender's own, and those for which that did."""

    scaling: str
    number: int
    nodes: tuple[str, ...]
    ids: tuple[tuple[str, str], ...]
    branches: tuple[PreparedBranch, ...]


SCALING: tuple[type[Message], ...] = (ScalingDown, FindTarget, TargetFound, Move, Moved, MoveRefused, Adopt)
