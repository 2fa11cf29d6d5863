"""What every process has, whatever its protocol: a name, a clock, and a list of what it is about to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

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

Purpose = TypeVar("Purpose")


class Process(Generic[Purpose]):
    """The outside of a process as its parts see it: whatever they ask for is done, in order, after this input.

    `now_us`: the process's own clock, at this input. `last_token`: of the last write or read that was asked for.
    `purposes`: what is to be done about the answers that are still to come, by token. `halted`: nothing more is to be
    done. How a write or a read is asked for, and what its end is told by, is the protocol's.
    """

    __slots__ = ("_fresh", "effects", "halted", "incarnation", "last_token", "member", "now_us", "purposes")

    def __init__(self, setup: Setup) -> None:
        self.member = setup.member
        self.incarnation = setup.incarnation
        self.now_us = 0
        self.effects: list[Effect] = []
        self.purposes: dict[int, Purpose] = {}
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

    def try_lock(self, lock: str) -> None:
        """Tries to take a lock."""
        self.effects.append(TryLock(lock))

    def unlock(self, lock: str) -> None:
        """Gives a lock back."""
        self.effects.append(Unlock(lock))

    def record(self, event: str, fields: Mapping[str, Any]) -> None:
        """Writes a record."""
        self.effects.append(Record(event, fields))

    def _write(self, changes: tuple[tuple[str, bytes | None], ...], purpose: Purpose | None, shared: str) -> int:
        """Writes, durably. Returns the token."""
        token = self._token(purpose)
        self.effects.append(Write(token, changes, True, shared))
        return token

    def _read(self, shared: str, key: str, purpose: Purpose) -> int:
        """Reads from a shared disk. Returns the token."""
        token = self._token(purpose)
        self.effects.append(ReadShared(token, shared, key))
        return token

    def _halt(self, reason: str) -> None:
        """Ends the process."""
        self.halted = True
        self.effects.append(Halt(reason))

    def _token(self, purpose: Purpose | None) -> int:
        self.last_token += 1
        if purpose is not None:
            self.purposes[self.last_token] = purpose
        return self.last_token
