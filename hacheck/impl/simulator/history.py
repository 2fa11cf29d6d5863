"""Keeps what happened in a run: for stories, traces, and to decide whether two runs were the same."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Protocol, TypeAlias

from msgspec import Struct

from hacheck.impl.node import Input, Message, Name, Record
from hacheck.impl.recording import TOTAL, Line
from hacheck.impl.simulator.faults import Fault

EPOCH_NS = 1_767_225_600_000_000_000
"""Virtual time begins on 2026-01-01 at 00:00 UTC."""


class Watcher(Protocol):
    """Informed of everything, in true order of time. Times are true times in microseconds since the start."""

    def sent(self, at_us: int, sender: Name, to: Name, message: Message) -> None:
        """A message sets out; whether it arrives, `given` shows."""
        ...

    def given(self, at_us: int, member: Name, what: Input) -> None:
        """A process gets an input."""
        ...

    def recorded(self, at_us: int, local_us: int, member: Name, record: Record) -> None:
        """A process wrote a record; `local_us`: by its own clock."""
        ...

    def unlocked(self, at_us: int, member: Name, lock: Name) -> None:
        """A process gives a lock back."""
        ...

    def started(self, at_us: int, member: Name, incarnation: int) -> None:
        """A process has been started."""
        ...

    def ended(self, at_us: int, member: Name, why: str) -> None:
        """A process is gone: `crash`, `power`, or the reason it gave itself."""
        ...

    def fault(self, at_us: int, fault: Fault, begins: bool) -> None:
        """A fault begins, or is over."""
        ...


class Sent(Struct, frozen=True, gc=False):
    """A message set out. `place`: its number in the run."""

    at_us: int
    member: Name
    to: Name
    message: Message


class Given(Struct, frozen=True, gc=False):
    """A process got an input."""

    at_us: int
    member: Name
    what: Input


class Recorded(Struct, frozen=True, gc=False):
    """A process wrote a record."""

    at_us: int
    local_us: int
    member: Name
    record: Record


class Unlocked(Struct, frozen=True, gc=False):
    """A process gives a lock back."""

    at_us: int
    member: Name
    lock: Name


class Came(Struct, frozen=True, gc=False):
    """A process was started."""

    at_us: int
    member: Name
    incarnation: int


class Went(Struct, frozen=True, gc=False):
    """A process is gone."""

    at_us: int
    member: Name
    why: str


class Strike(Struct, frozen=True, gc=False):
    """A fault begins, or is over."""

    at_us: int
    fault: Fault
    begins: bool


class Standing(Struct, frozen=True, gc=False):
    """Who stands how after what came before: `serving`: the processes that believe they serve; `held`: each lock that
    is held, with its holder."""

    serving: tuple[Name, ...] = ()
    held: tuple[tuple[Name, Name], ...] = ()


Entry: TypeAlias = Sent | Given | Recorded | Unlocked | Came | Went | Strike | Standing


class History:
    """Everything that happened, in order. `inputs`: with messages and timers, not only records and faults.

    `probe`: who stands how now; if there is one, a `Standing` is kept wherever that has changed.
    """

    def __init__(self, *, inputs: bool = True, standing: bool = False) -> None:
        self._inputs, self.wants_standing = inputs, standing
        self.entries: list[Entry] = []
        self.probe: Callable[[], Standing] | None = None
        self._standing = Standing()

    def look(self) -> None:
        """Keeps who stands how, if that has changed since it was kept last."""
        if self.probe is not None and (now := self.probe()) != self._standing:
            self._standing = now
            self.entries.append(now)

    def sent(self, at_us: int, sender: Name, to: Name, message: Message) -> None:
        """A message sets out."""
        if self._inputs:
            self.entries.append(Sent(at_us, sender, to, message))

    def given(self, at_us: int, member: Name, what: Input) -> None:
        """A process gets an input."""
        if self._inputs:
            self.look()
            self.entries.append(Given(at_us, member, what))

    def recorded(self, at_us: int, local_us: int, member: Name, record: Record) -> None:
        """A process wrote a record."""
        self.entries.append(Recorded(at_us, local_us, member, record))

    def unlocked(self, at_us: int, member: Name, lock: Name) -> None:
        """A process gives a lock back."""
        if self._inputs:
            self.entries.append(Unlocked(at_us, member, lock))

    def started(self, at_us: int, member: Name, incarnation: int) -> None:
        """A process has been started."""
        self.look()
        self.entries.append(Came(at_us, member, incarnation))

    def ended(self, at_us: int, member: Name, why: str) -> None:
        """A process is gone."""
        self.look()
        self.entries.append(Went(at_us, member, why))

    def fault(self, at_us: int, fault: Fault, begins: bool) -> None:
        """A fault begins, or is over."""
        self.look()
        self.entries.append(Strike(at_us, fault, begins))

    def digest(self) -> str:
        """The same for the same entries, in every process and on every machine."""
        found = blake2b(digest_size=16)
        for entry in self.entries:
            found.update(repr(entry).encode())
        return found.hexdigest()

    def lines(self) -> list[Line]:
        """The records as lines of a trace, by the clocks of those who wrote them."""
        return [
            Line(entry.member, EPOCH_NS + entry.local_us * 1000, entry.record.event, entry.record.fields)
            for entry in self.entries
            if isinstance(entry, Recorded)
        ]


ORDER = TOTAL
"""The order of a simulated trace: one process saw everything."""
