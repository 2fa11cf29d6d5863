"""The states of a server with a copy of its own, and every way from one to another, as one table.

What a server does next depends on its own state, the peer's present and previous state, and the lock; besides, on what
the table's columns name. The table is looked at after every input, until no row applies.
Source: Fiorano Replicated High Availability Working 3.1.1, 3.1.2 and its diagram; broker facts 3.3, R1 to R21.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from hacheck.impl.protocols.fiorano.channel import Link
from hacheck.impl.protocols.fiorano.lock_file import Lock


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
    """What the table looks at. `peer`, `previous`: the peer's last two states as it told them on this connection; DEAD
    before that. `synchronised`: this copy is complete, and was made on this connection. `complete`: it is, since
    whenever. `in_sync`: when the peer was last heard of, and since the start, it had all that the peer had."""

    link: Link
    peer: Role
    previous: Role
    lock: Lock
    merit: Merit
    synchronised: bool
    complete: bool
    in_sync: bool


class Row(Struct, frozen=True):
    """A way from one state to another. `None`: any. `alone`: the next state serves without a peer that has everything,
    for which an epoch may have to be claimed first. `setting`: only with this setting."""

    rule: str
    state: Role
    next: Role
    link: Link | None = None
    peer: tuple[Role, ...] | None = None
    previous: tuple[Role, ...] | None = None
    lock: Lock | None = None
    merit: tuple[Merit, ...] | None = None
    synchronised: bool | None = None
    complete: bool | None = None
    in_sync: bool | None = None
    alone: bool = False
    setting: str = ""

    def applies(self, view: View) -> bool:
        """Whether a server in this state goes this way."""
        return (
            (self.link is None or view.link is self.link)
            and (self.lock is None or view.lock is self.lock)
            and (self.peer is None or view.peer in self.peer)
            and (self.previous is None or view.previous in self.previous)
            and (self.merit is None or view.merit in self.merit)
            and (self.synchronised is None or view.synchronised is self.synchronised)
            and (self.complete is None or view.complete is self.complete)
            and (self.in_sync is None or view.in_sync is self.in_sync)
        )


_R = Role
_UP, _DOWN = Link.UP, Link.DOWN
_HELD, _FREE = Lock.HELD, Lock.FREE
_ACTIVE_ONES = (_R.STANDALONE, _R.ACTIVE_SYNC, _R.ACTIVE)

ROWS: tuple[Row, ...] = (
    Row("R1", _R.DEAD, _R.WAITING),
    Row("R3", _R.WAITING, _R.PASSIVE_SYNC, _UP, _ACTIVE_ONES),
    Row("R5", _R.WAITING, _R.PASSIVE_SYNC, _UP, (_R.WAITING,), merit=(Merit.LOSES,)),
    Row("R4", _R.WAITING, _R.ACTIVE_SYNC, _UP, (_R.WAITING,), None, _HELD, (Merit.WINS, Merit.EQUAL), alone=True),
    Row("R4", _R.WAITING, _R.ACTIVE_SYNC, _UP, (_R.PASSIVE_SYNC,), None, _HELD, complete=True, alone=True),
    Row("R6", _R.WAITING, _R.STANDALONE, _DOWN, None, None, _HELD, complete=True, alone=True, setting="anyone"),
    Row("R6", _R.WAITING, _R.STANDALONE, _DOWN, None, None, _HELD, None, None, True, True, True, "in_sync"),
    Row("R9", _R.STANDALONE, _R.WAITING, lock=_FREE),
    Row("R10", _R.STANDALONE, _R.WAITING, _UP, _ACTIVE_ONES, merit=(Merit.LOSES,)),
    Row("R8", _R.STANDALONE, _R.ACTIVE_SYNC, _UP, (_R.WAITING, _R.PASSIVE_SYNC), None, _HELD),
    Row("R11", _R.ACTIVE_SYNC, _R.ACTIVE, _UP, (_R.PASSIVE,)),
    Row("R12", _R.ACTIVE_SYNC, _R.STANDALONE, _DOWN, None, None, _HELD, alone=True),
    Row("R13", _R.ACTIVE_SYNC, _R.WAITING, _DOWN, None, None, _FREE),
    Row("R14", _R.ACTIVE, _R.STANDALONE, _DOWN, None, None, _HELD, alone=True),
    Row("R15", _R.ACTIVE, _R.WAITING, _DOWN, None, None, _FREE),
    Row("R16", _R.ACTIVE_SYNC, _R.WAITING, _UP, None, None, _FREE, setting="wait"),
    Row("R16", _R.ACTIVE, _R.WAITING, _UP, None, None, _FREE, setting="wait"),
    Row("R17", _R.PASSIVE_SYNC, _R.PASSIVE, _UP, synchronised=True),
    Row("R19", _R.PASSIVE_SYNC, _R.STANDALONE, _DOWN, None, None, _HELD, alone=True, setting="promote"),
    Row("R20", _R.PASSIVE_SYNC, _R.WAITING, _DOWN, None, None, _FREE, setting="promote"),
    Row("R18", _R.PASSIVE_SYNC, _R.WAITING, _DOWN, setting="return"),
    Row("R19", _R.PASSIVE, _R.STANDALONE, _DOWN, None, None, _HELD, alone=True),
    Row("R20", _R.PASSIVE, _R.WAITING, _DOWN, None, None, _FREE),
    Row("R21", _R.PASSIVE, _R.STANDALONE, _UP, (_R.WAITING,), None, _HELD, alone=True),
    Row("R20", _R.PASSIVE, _R.WAITING, _UP, (_R.WAITING,), None, _FREE),
)

BY_STATE: Mapping[Role, tuple[Row, ...]] = {role: tuple(row for row in ROWS if row.state is role) for role in Role}

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
