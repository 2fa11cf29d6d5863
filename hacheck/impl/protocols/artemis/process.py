"""What every process of a cluster has: a name, a clock, a disk, and a list of what it is about to do."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from hacheck.impl.node import (
    CancelTimer,
    Effect,
    Halt,
    Message,
    Name,
    ReadShared,
    Record,
    Send,
    SetTimer,
    Setup,
    TryLock,
    Unlock,
    Write,
)
from hacheck.impl.protocols.artemis.lines import line


class Process:
    """The outside of a process as its parts see it: whatever they ask for is done, in order, after this input.

    `now_us`: the process's own clock, at this input. `asked`: the token of the last write asked for. `written`: that of
    the last one that is done with all before it; one that failed may be known later than those after it. `purposes`:
    what is to be done about the answers that are still to come. `halted`: nothing more is to be done.
    """

    __slots__ = (
        "_early",
        "_fresh",
        "_outstanding",
        "_token",
        "asked",
        "effects",
        "halted",
        "incarnation",
        "member",
        "now_us",
        "purposes",
        "written",
    )

    def __init__(self, setup: Setup) -> None:
        self.member = setup.member
        self.incarnation = setup.incarnation
        self.now_us = 0
        self.effects: list[Effect] = []
        self.purposes: dict[int, str] = {}
        self.asked = 0
        self.written = 0
        self.halted = False
        self._token = 0
        self._fresh = 0
        self._outstanding: deque[int] = deque()
        self._early: set[int] = set()

    def begin(self, now_us: int) -> None:
        """An input has come."""
        self.now_us = now_us
        self.effects = []

    def fresh(self) -> str:
        """A name that nobody ever had."""
        self._fresh += 1
        return f"{self.member}.{self.incarnation}.{self._fresh}"

    def send(self, to: Name, message: Message) -> None:
        """Sends a message."""
        self.effects.append(Send(to, message))

    def set_timer(self, timer: str, after_us: int) -> None:
        """Sets a timer, or sets it anew."""
        self.effects.append(SetTimer(timer, after_us))

    def cancel_timer(self, timer: str) -> None:
        """Drops a timer."""
        self.effects.append(CancelTimer(timer))

    def write(self, changes: tuple[tuple[str, bytes | None], ...], purpose: str = "", shared: str = "") -> int:
        """Writes, durably. Returns the token. `purpose`: what to do when it is done, if anything."""
        self._token += 1
        token = self.asked = self._token
        if purpose:
            self.purposes[token] = purpose
        self._outstanding.append(token)
        self.effects.append(Write(token, changes, True, shared))
        return token

    def done(self, token: int) -> bool:
        """A write is done. Returns whether all before it are, so that it counts."""
        outstanding = self._outstanding
        if outstanding[0] != token:
            self._early.add(token)
            return False
        outstanding.popleft()
        self.written = token
        return True

    def next_done(self) -> int:
        """A write that was done before one that was asked for earlier, and counts now; 0: there is none."""
        outstanding = self._outstanding
        if not (outstanding and outstanding[0] in self._early):
            return 0
        self.written = outstanding.popleft()
        self._early.discard(self.written)
        return self.written

    def read(self, shared: str, key: str, purpose: str) -> int:
        """Reads from a shared disk. Returns the token."""
        self._token += 1
        self.purposes[self._token] = purpose
        self.effects.append(ReadShared(self._token, shared, key))
        return self._token

    def try_lock(self, lock: str) -> None:
        """Tries to take a lock."""
        self.effects.append(TryLock(lock))

    def unlock(self, lock: str) -> None:
        """Gives a lock back."""
        self.effects.append(Unlock(lock))

    def record(self, event: str, fields: Mapping[str, Any]) -> None:
        """Writes a record."""
        self.effects.append(Record(event, fields))

    def line(self, number: int, **fields: Any) -> None:
        """Writes one of the product's own lines (`lines.EVENTS`)."""
        self.record(*line(number, fields))

    def critical(self, reason: str) -> None:
        """Ends the process after an error of what it keeps its data in, or of the lock on it."""
        self.line(222010, reason=reason)
        self.halt(reason)

    def halt(self, reason: str) -> None:
        """Ends the process."""
        self.line(221002, reason=reason)
        self.halted = True
        self.effects.append(Halt(reason))
