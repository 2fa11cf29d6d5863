"""What processes say to each other that run several servers. Source: HornetQ manual, "Colocated Backup Servers"."""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, TypeAlias

from hacheck.impl.node import Message, Name
from hacheck.impl.protocols.artemis.messages import MESSAGES
from hacheck.impl.protocols.artemis.scale_down_messages import SCALING

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


HOSTING: tuple[type[Message], ...] = (Carried, NobodyThere)
