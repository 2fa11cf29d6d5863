"""What is sent without a connection: status checks, and what passes between brokers and the resource manager."""

from __future__ import annotations

from hacheck.impl.node import Message
from hacheck.impl.protocols.qpid.objects import Info


class StatusQuery(Message, frozen=True, gc=False):
    """How are you? From the resource manager, which has heard the broker's clock say `lease_from_us` in incarnation
    `incarnation` (-1: not yet); or, with -1, from a broker that is joining."""

    number: int
    incarnation: int = -1
    lease_from_us: int = 0


class StatusAnswer(Message, frozen=True, gc=False):
    """The answer, with the broker's own clock."""

    number: int
    about: Info
    incarnation: int
    clock_us: int
    term: int


class Promote(Message, frozen=True, gc=False):
    """Become the primary, for this term."""

    term: int
    incarnation: int
    lease_from_us: int


class PromoteAnswer(Message, frozen=True, gc=False):
    """Whether the broker is the primary now."""

    term: int
    ok: bool
    reason: str = ""


class Stop(Message, frozen=True, gc=False):
    """End your process, if you are a primary of this term or an earlier one."""

    term: int


class Stopped(Message, frozen=True, gc=False):
    """The broker is not a primary of this term, and will not become one."""

    term: int


class Restart(Message, frozen=True, gc=False):
    """End your process, whatever you are: an operator starts all brokers anew."""

    term: int


class Register(Message, frozen=True, gc=False):
    """These backups, by their ids, are in step with the primary of this term."""

    term: int
    number: int
    systems: tuple[str, ...]


class Registered(Message, frozen=True, gc=False):
    """The resource manager will promote nobody else."""

    term: int
    number: int


# ---- from the operator of brokers without a cluster -----------------------------------------------------------------


class Replicate(Message, frozen=True, gc=False):
    """Keep copies of these queues and exchanges."""

    number: int
    names: tuple[str, ...]


class EndReplication(Message, frozen=True, gc=False):
    """Keep no copies any more: what is here is yours."""

    number: int


class Replicating(Message, frozen=True, gc=False):
    """Whether the broker keeps copies."""

    number: int
    does: bool


class GoOver(Message, frozen=True, gc=False):
    """To a client: use this broker from now on."""

    to: str


class GoneOver(Message, frozen=True, gc=False):
    """It does."""

    to: str
