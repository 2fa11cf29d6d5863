"""What the client library and brokers say to each other about sessions that can go on: commands, deliveries.

Every command of a session has a number, so that one which is sent again is not done again.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hacheck.impl.node import Message, Name
from hacheck.impl.protocols.artemis.messages import CreateSession, Incoming, Outgoing

Command = Literal[
    "send", "acknowledge", "commit", "rollback", "prepare", "commit-branch", "rollback-branch", "recover"
]  # fmt: skip
Kind = Literal["plain", "local", "xa"]


class Wanted(Struct, frozen=True, gc=False):
    """What a session is to have. `kind`: without transactions, with local ones, or with those of a transaction manager.
    `consumes`: the queues that it gets messages of, one at a time. `temporary`: a queue of its own, or empty."""

    kind: Kind
    consumes: tuple[str, ...] = ()
    temporary: str = ""


class JoinSession(CreateSession, frozen=True, gc=False):
    """A library wants its session `goes_on` to go on, or else a new one, `session`. `heard`: the last delivery that it
    has. `goes_on`: empty where it never had a session, or has no confirmation window."""

    wanted: Wanted
    goes_on: str = ""
    heard: int = 0


class SessionJoined(Message, frozen=True, gc=False):
    """The session is there. `name`: under which it is known from now on: the old one if it goes on. `temporary`: it has
    the temporary queue that it wanted."""

    session: str
    name: str
    node_id: str
    connectors: tuple[Name, ...]
    temporary: bool


class TopologyChanged(Message, frozen=True, gc=False):
    """Who serves the session's node, then who would next, is now this."""

    session: str
    connectors: tuple[Name, ...]


class Perform(Message, frozen=True, gc=False):
    """A command of a session. `number`: from 1. `outgoing`: of a `send`; `delivery`: the number of the delivery that an
    `acknowledge` is for; `branch`: of the commands of a transaction manager."""

    session: str
    number: int
    command: Command
    outgoing: tuple[Outgoing, ...] = ()
    delivery: int = 0
    branch: str = ""


class Performed(Message, frozen=True, gc=False):
    """What came of a command: `ok`; `duplicate`: a transaction was rolled back, for one of its messages is there
    already; `no-branch`: nothing is prepared under that name; `no-queue`: a temporary queue is gone. `branches`: what a
    `recover` found."""

    session: str
    number: int
    outcome: Literal["ok", "duplicate", "no-branch", "no-queue"]
    branches: tuple[str, ...] = ()


class Delivery(Message, frozen=True, gc=False):
    """A message for the session, the `number`-th that it gets."""

    session: str
    number: int
    incoming: Incoming


CLIENT_MESSAGES: tuple[type[Message], ...] = (
    JoinSession,
    SessionJoined,
    TopologyChanged,
    Perform,
    Performed,
    Delivery,
)
