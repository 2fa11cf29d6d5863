"""What every process of a pair has: a name, a clock, a disk, and a list of what it is about to do."""

from __future__ import annotations

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


class Process:
    """The outside of a process as its parts see it: whatever they ask for is done, in order, after this input.

    `last_token`: of the last write or read that was asked for. `purposes`: what is to be done about the writes and
    reads whose answers are still to come: a word and a number.
    """

    __slots__ = ("_fresh", "effects", "halted", "incarnation", "last_token", "member", "now_us", "purposes")

    def __init__(self, setup: Setup) -> None:
        self.member = setup.member
        self.incarnation = setup.incarnation
        self.now_us = 0
        self.effects: list[Effect] = []
        self.purposes: dict[int, tuple[str, int]] = {}
        self.halted = False
        self.last_token = 0
        self._fresh = 0

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

    def write(
        self, changes: tuple[tuple[str, bytes | None], ...], purpose: str = "", number: int = 0, shared: str = ""
    ) -> None:
        """Writes, durably. `purpose`, `number`: what to do when it is done, if anything."""
        self.last_token += 1
        self.purposes[self.last_token] = (purpose, number)
        self.effects.append(Write(self.last_token, changes, True, shared))

    def read(self, shared: str, key: str, purpose: str, number: int = 0) -> None:
        """Reads from a shared disk."""
        self.last_token += 1
        self.purposes[self.last_token] = (purpose, number)
        self.effects.append(ReadShared(self.last_token, shared, key))

    def try_lock(self, lock: str) -> None:
        """Tries to take a lock."""
        self.effects.append(TryLock(lock))

    def unlock(self, lock: str) -> None:
        """Gives a lock back."""
        self.effects.append(Unlock(lock))

    def record(self, event: str, fields: Mapping[str, Any]) -> None:
        """Writes a line of the log."""
        self.effects.append(Record(event, fields))

    def halt(self, reason: str) -> None:
        """Ends the process."""
        if not self.halted:
            self.halted = True
            self.effects.append(Record("halted", {"reason": reason}))
            self.effects.append(Halt(reason))
