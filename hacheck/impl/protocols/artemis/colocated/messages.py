"""What processes say to each other that run several servers. Source: HornetQ manual, "Colocated Backup Servers"."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from hacheck.impl.node import Message, Name
from hacheck.impl.protocols.artemis.messages import MESSAGES
from hacheck.impl.protocols.artemis.scale_down.messages import SCALING

if TYPE_CHECKING:
    Inner: TypeAlias = Message
else:
    Inner = reduce(or_, (*MESSAGES, *SCALING))


class Carried(Message, frozen=True, gc=False):
    """A message from one server to another, of which at least one is not what its process is there for. `to`, `of`:
    their addresses."""

    to: Name
    of: Name
    message: Inner


class NobodyThere(Message, frozen=True, gc=False):
    """The process runs, and has no server of the address `to`, to which `of` has written."""

    to: Name
    of: Name


class AskStanding(Message, frozen=True, gc=False):
    """A live server wants a backup: how many backups has the receiver, and has it room? `round`: a fresh name."""

    round: str


class Standing(Message, frozen=True, gc=False):
    """So many backups run here. `room`: one more may."""

    round: str
    backups: int
    room: bool


class RequestBackup(Message, frozen=True, gc=False):
    """Start a backup of the sender's live server. `seen`: so many backups the receiver said that it had; `number`: of
    the live server's store, which the backup uses if stores are shared."""

    round: str
    seen: int
    node_id: str
    group: str
    number: int


class BackupAnswered(Message, frozen=True, gc=False):
    """Whether it was started, and under which address."""

    round: str
    granted: bool
    address: Name


class Backup(Struct, frozen=True, array_like=True, gc=False):
    """A backup that runs: its address, and whose it is."""

    address: Name
    live: Name


class Hosts(Message, frozen=True, gc=False):
    """These backups run in the sender's process. Said all the time."""

    backups: tuple[Backup, ...]


HOSTING: tuple[type[Message], ...] = (Carried, NobodyThere)
COLOCATED: tuple[type[Message], ...] = (*HOSTING, AskStanding, Standing, RequestBackup, BackupAnswered, Hosts)
