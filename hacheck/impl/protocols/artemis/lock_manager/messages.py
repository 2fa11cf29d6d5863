"""What brokers and the lock manager say to each other: sessions, a lock and a number for each node id."""

from __future__ import annotations

from typing import Literal

from hacheck.impl.node import Message

Operation = Literal["read", "set", "compare", "lock", "unlock"]


class ManagerPing(Message, frozen=True, gc=False):
    """A broker shows that it lives. `session`: one for each process; the first ping begins it. `number`: of this."""

    session: str
    number: int


class ManagerPong(Message, frozen=True, gc=False):
    """The session goes on. `holds`: the node ids whose lock it has."""

    session: str
    number: int
    holds: tuple[str, ...]


class ManagerRequest(Message, frozen=True, gc=False):
    """An operation on the lock or the coordinated sequence of a node id. `compare`: set it to `wanted` if it is
    `expected`; `set`: whatever it is."""

    session: str
    number: int
    node_id: str
    operation: Operation
    expected: int = 0
    wanted: int = 0


class ManagerAnswer(Message, frozen=True, gc=False):
    """What came of it. `done`: the lock is this session's; the number was set. `value`: the number as it is now."""

    session: str
    number: int
    done: bool
    value: int


class ForceSequence(Message, frozen=True, gc=False):
    """An operator sets the coordinated sequence of a node id, whatever it is."""

    node_id: str
    value: int


LOCK_MESSAGES: tuple[type[Message], ...] = (ManagerPing, ManagerPong, ManagerRequest, ManagerAnswer, ForceSequence)
