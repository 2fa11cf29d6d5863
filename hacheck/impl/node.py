"""What a protocol is written against: a node takes one input and the time, and returns what is to be done.

Nothing in a node reads a clock, opens a socket or a file, or throws dice. Who runs it (`hacheck.impl.simulator`, or
`hacheck.impl.runtime` with processes, sockets and disks) brings the inputs and carries the effects out, in their order.

What a runner promises:

- A node handles one input at a time. A crash happens between inputs or between two effects of one input.
- Messages from one process to another arrive in the order sent, at most once, while neither is reported `Unreachable`
  to the other. A network may be ordered to lose, repeat and reorder them; each protocol says what of that it bears.
- What is written with `sync` is there after a crash once `Written` has been handed in; before that, or without `sync`,
  it may be there or not. All changes of one `Write` are there, or none.
- A timer fires once, not before its time by the node's own clock. Setting it again replaces it.
- `now_us` is the node's own clock: it never goes back, may run fast or slow, and says nothing about others' clocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

Name: TypeAlias = str
"""A process: `replica-2`, `client-1`. Unique in a cluster, the same after a restart."""


class Message(Struct, frozen=True, tag=True, gc=False):
    """What processes send each other; each protocol's messages are subclasses."""


# ---- inputs --------------------------------------------------------------------------------------------------------


class Started(Struct, frozen=True, gc=False):
    """The first input of every incarnation."""


class Received(Struct, frozen=True, gc=False):
    """A message has arrived."""

    sender: Name
    message: Message


class Unreachable(Struct, frozen=True, gc=False):
    """The transport has found out that a process does not answer: it refuses connections, or a connection broke.

    What was sent to it since the last message from it may be lost. Nobody promises that this is ever found out: a
    process that is paused, or cut off, is just silent.
    """

    peer: Name


class Fired(Struct, frozen=True, gc=False):
    """A timer's time has come."""

    timer: str


class Written(Struct, frozen=True, gc=False):
    """What a `Write` wanted is done; with `sync` it is durable."""

    token: int


class WriteFailed(Struct, frozen=True, gc=False):
    """A `Write` was not done, and left nothing behind: the disk is full, or gives errors."""

    token: int
    reason: str


class LockAnswered(Struct, frozen=True, gc=False):
    """What came of a `TryLock`. Only `granted` means that the lock is held; a lock host out of reach grants nothing."""

    lock: str
    granted: bool
    reason: str = ""


class LockLost(Struct, frozen=True, gc=False):
    """The lock host says that a lock is no longer held. A lock may be lost without this."""

    lock: str


class SharedRead(Struct, frozen=True, gc=False):
    """What a `ReadShared` found: the value, `None` where there is none, or a reason why nobody can know."""

    token: int
    value: bytes | None
    failed: str = ""


Input: TypeAlias = (
    Started
    | Received
    | Unreachable
    | Fired
    | Written
    | WriteFailed
    | LockAnswered
    | LockLost
    | SharedRead
)  # fmt: skip

# ---- effects -------------------------------------------------------------------------------------------------------


class Send(Struct, frozen=True, gc=False):
    """Send a message. Nobody says whether it arrives."""

    to: Name
    message: Message


class SetTimer(Struct, frozen=True, gc=False):
    """`Fired` after so many microseconds of the node's own clock; a timer of that name that is set is replaced."""

    timer: str
    after_us: int


class CancelTimer(Struct, frozen=True, gc=False):
    """No `Fired` for this timer, until it is set again. It need not be set."""

    timer: str


class Write(Struct, frozen=True, gc=False):
    """Write these values (`None`: erase) to the node's own disk, or to the shared one named, all or none.

    Answered by `Written` or `WriteFailed` with the token, unless the node crashes. Writes are done in the order of
    their requests."""

    token: int
    changes: tuple[tuple[str, bytes | None], ...]
    sync: bool = True
    shared: str = ""


class ReadShared(Struct, frozen=True, gc=False):
    """Read a value of a shared disk. Answered by `SharedRead`. (Its own disk a node is given when it is made.)"""

    token: int
    shared: str
    key: str


class TryLock(Struct, frozen=True, gc=False):
    """Try to take a lock, without waiting. Answered by `LockAnswered`. A process that ends loses its locks."""

    lock: str


class Unlock(Struct, frozen=True, gc=False):
    """Give a lock back. It need not be held."""

    lock: str


class Record(Struct, frozen=True, gc=False):
    """Something worth a line in the trace: an event, and what it shows. Values are numbers, words, truth values, or
    lists of them."""

    event: str
    fields: Mapping[str, Any]


class Halt(Struct, frozen=True, gc=False):
    """End this process, with a reason for the operator. Effects after it are not carried out."""

    reason: str


Effect: TypeAlias = Send | SetTimer | CancelTimer | Write | ReadShared | TryLock | Unlock | Record | Halt

# ---- nodes ---------------------------------------------------------------------------------------------------------


class Node(Protocol):
    """One process of a protocol: its whole state in memory. A restart makes a new one from what the disk has."""

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done about an input, in this order. `now_us`: the node's own clock, in microseconds. Errors:
        none; an exception is a defect of the protocol."""
        ...


class Setup(Struct, frozen=True):
    """What a process is informed when it starts.

    `member`: its own name. `incarnation`: how often it was started before, from 0. `durable`: what its disk has.
    `options`: the protocol's own settings (its `Options`).
    """

    member: Name
    incarnation: int
    durable: Mapping[str, bytes]
    options: Any
