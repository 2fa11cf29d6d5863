"""The states of a server with a copy of its own, and every way from one to another, as one table.

What a server does next depends on its own state, the peer's state, the lock, and its copy of the database. After every
input the first condition that applies is taken, until none does.
Source: Fiorano Replicated High Availability Working 3.1.1, 3.1.2 and its diagram; broker facts 3.3, R1 to R21.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from hacheck.impl.kit.state_table import StateTable
from hacheck.impl.node import Name
from hacheck.impl.protocols.fiorano.channel import Link
from hacheck.impl.protocols.fiorano.lock_file import Lock
from hacheck.impl.protocols.fiorano.messages import State
from hacheck.impl.protocols.fiorano.options import ReplicatedOptions
from hacheck.impl.protocols.fiorano.repository import Meta


class Role(Enum):
    """Where a server is."""

    DEAD = "DEAD"
    WAITING = "WAITING"
    ACTIVE_SYNC = "ACTIVE_SYNC"
    PASSIVE_SYNC = "PASSIVE_SYNC"
    ACTIVE = "ACTIVE"
    PASSIVE = "PASSIVE"
    STANDALONE = "STANDALONE"


SERVING = frozenset({Role.ACTIVE_SYNC, Role.ACTIVE, Role.STANDALONE})
"""Who accepts clients."""


class Merit(Enum):
    """How the own copy compares with the peer's. `NONE`: neither is complete."""

    WINS = "wins"
    EQUAL = "equal"
    LOSES = "loses"
    NONE = "none"


class View(Struct):
    """What conditions look at. `peer`: the peer's state as it last gave it on this connection; DEAD before that.
    `synchronised`: this copy is complete, and was made on this connection. `complete`: it is, since whenever.
    `in_sync`: when the peer was last heard of, and since the start, it had all that the peer had."""

    link: Link
    peer: Role
    lock: Lock
    merit: Merit
    synchronised: bool
    complete: bool
    in_sync: bool


class When(Struct, frozen=True):
    """When a server goes to another state; `None`: whatever it sees. `rule`: the name of the rule. `alone`: the next
    state serves without a peer that has everything, for which an epoch may have to be claimed first. `setting`: only
    with this setting."""

    rule: str
    link: Link | None = None
    peer: tuple[Role, ...] | None = None
    lock: Lock | None = None
    merit: tuple[Merit, ...] | None = None
    synchronised: bool | None = None
    complete: bool | None = None
    in_sync: bool | None = None
    alone: bool = False
    setting: str = ""

    def applies(self, view: View) -> bool:
        """Whether this is what a server sees."""
        return (
            (self.link is None or view.link is self.link)
            and (self.lock is None or view.lock is self.lock)
            and (self.peer is None or view.peer in self.peer)
            and (self.merit is None or view.merit in self.merit)
            and (self.synchronised is None or view.synchronised is self.synchronised)
            and (self.complete is None or view.complete is self.complete)
            and (self.in_sync is None or view.in_sync is self.in_sync)
        )

    def __str__(self) -> str:
        seen = {
            "link": self.link and self.link.value,
            "peer": self.peer and " or ".join(role.value for role in self.peer),
            "lock": self.lock and self.lock.value,
            "own copy": self.merit and " or ".join(merit.value for merit in self.merit),
        }
        flags = {"synchronised": self.synchronised, "complete": self.complete, "in sync": self.in_sync}
        parts = [f"{name} {value}" for name, value in seen.items() if value is not None]
        parts += [name if value else f"not {name}" for name, value in flags.items() if value is not None]
        parts += [f"setting {self.setting}"] if self.setting else []
        return f"{self.rule}: {', '.join(parts) or 'always'}"


_R = Role
_UP, _DOWN = Link.UP, Link.DOWN
_HELD, _FREE = Lock.HELD, Lock.FREE
_ACTIVE_ONES = (_R.STANDALONE, _R.ACTIVE_SYNC, _R.ACTIVE)

SERVER: StateTable[Role, When] = StateTable(
    "A server with a copy of the database",
    "broker facts 3.3",
    _R.DEAD,
    {
        (_R.DEAD, When("R1")): _R.WAITING,
        (_R.WAITING, When("R3", link=_UP, peer=_ACTIVE_ONES)): _R.PASSIVE_SYNC,
        (_R.WAITING, When("R5", link=_UP, peer=(_R.WAITING,), merit=(Merit.LOSES,))): _R.PASSIVE_SYNC,
        (
            _R.WAITING,
            When("R4", link=_UP, peer=(_R.WAITING,), lock=_HELD, merit=(Merit.WINS, Merit.EQUAL), alone=True),
        ): _R.ACTIVE_SYNC,
        (
            _R.WAITING,
            When("R4", link=_UP, peer=(_R.PASSIVE_SYNC,), lock=_HELD, complete=True, alone=True),
        ): _R.ACTIVE_SYNC,
        (_R.WAITING, When("R6", link=_DOWN, lock=_HELD, complete=True, alone=True, setting="anyone")): _R.STANDALONE,
        (
            _R.WAITING,
            When("R6", link=_DOWN, lock=_HELD, complete=True, in_sync=True, alone=True, setting="in_sync"),
        ): _R.STANDALONE,
        (_R.STANDALONE, When("R9", lock=_FREE)): _R.WAITING,
        (_R.STANDALONE, When("R10", link=_UP, peer=_ACTIVE_ONES, merit=(Merit.LOSES,))): _R.WAITING,
        (_R.STANDALONE, When("R8", link=_UP, peer=(_R.WAITING, _R.PASSIVE_SYNC), lock=_HELD)): _R.ACTIVE_SYNC,
        (_R.ACTIVE_SYNC, When("R11", link=_UP, peer=(_R.PASSIVE,))): _R.ACTIVE,
        (_R.ACTIVE_SYNC, When("R12", link=_DOWN, lock=_HELD, alone=True)): _R.STANDALONE,
        (_R.ACTIVE_SYNC, When("R13", link=_DOWN, lock=_FREE)): _R.WAITING,
        (_R.ACTIVE, When("R14", link=_DOWN, lock=_HELD, alone=True)): _R.STANDALONE,
        (_R.ACTIVE, When("R15", link=_DOWN, lock=_FREE)): _R.WAITING,
        (_R.ACTIVE_SYNC, When("R16", link=_UP, lock=_FREE, setting="wait")): _R.WAITING,
        (_R.ACTIVE, When("R16", link=_UP, lock=_FREE, setting="wait")): _R.WAITING,
        (_R.PASSIVE_SYNC, When("R17", link=_UP, synchronised=True)): _R.PASSIVE,
        (_R.PASSIVE_SYNC, When("R19", link=_DOWN, lock=_HELD, alone=True, setting="promote")): _R.STANDALONE,
        (_R.PASSIVE_SYNC, When("R20", link=_DOWN, lock=_FREE, setting="promote")): _R.WAITING,
        (_R.PASSIVE_SYNC, When("R18", link=_DOWN, setting="return")): _R.WAITING,
        (_R.PASSIVE, When("R19", link=_DOWN, lock=_HELD, alone=True)): _R.STANDALONE,
        (_R.PASSIVE, When("R20", link=_DOWN, lock=_FREE)): _R.WAITING,
        (_R.PASSIVE, When("R21", link=_UP, peer=(_R.WAITING,), lock=_HELD, alone=True)): _R.STANDALONE,
        (_R.PASSIVE, When("R20", link=_UP, peer=(_R.WAITING,), lock=_FREE)): _R.WAITING,
    },
)

DECIDING = frozenset({Role.ACTIVE_SYNC, Role.ACTIVE, Role.PASSIVE_SYNC, Role.PASSIVE})
"""Who must decide what to do without its peer before it makes a new connection."""


def wants_lock(role: Role, view: View, alone_from_waiting: str) -> bool:
    """Whether a server that does not serve tries to get the lock. `alone_from_waiting`: who may go on alone (F-R4)."""
    if role is Role.PASSIVE:
        return view.link is _DOWN or view.peer is Role.WAITING
    if role is not Role.WAITING or not view.complete:
        return False
    if view.link is _UP:
        can_win = view.merit in (Merit.WINS, Merit.EQUAL)
        return (view.peer is Role.WAITING and can_win) or view.peer is Role.PASSIVE_SYNC
    may_alone = alone_from_waiting == "anyone" or (alone_from_waiting == "in_sync" and view.in_sync)
    return view.link is _DOWN and may_alone


def merit(mine: Meta, theirs: State, options: ReplicatedOptions, names: tuple[Name, Name]) -> Merit:
    """How the own copy compares with what the peer said of its own. `names`: the own one and the peer's, which decide
    between equals where there is no lock to decide."""
    if not (mine.complete and theirs.complete):
        return Merit.WINS if mine.complete else Merit.LOSES if theirs.complete else Merit.NONE
    if options.epochs_in_lock_file:
        own, other = (mine.epoch, mine.sequence), (theirs.epoch, theirs.sequence)
    else:
        own, other = (mine.timestamp_us, 0), (theirs.timestamp_us, 0)
    if own != other:
        return Merit.WINS if own > other else Merit.LOSES
    if options.lock_file:
        return Merit.EQUAL
    return Merit.WINS if names[0] < names[1] else Merit.LOSES
