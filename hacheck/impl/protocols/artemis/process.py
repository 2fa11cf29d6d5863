"""A process of Artemis: its writes count in the order in which they were requested; its log has the product's lines."""

from __future__ import annotations

from collections import deque
from typing import Any

from hacheck.impl.kit import process
from hacheck.impl.node import Name, Setup
from hacheck.impl.protocols.artemis.lines import line


class Process(process.Process[str]):
    """The outside of a process as its parts see it.

    `requested`: the token of the last write requested. `written`: that of the last one that is done with all before it;
    one that failed may be known later than those after it.
    """

    __slots__ = ("_early", "_outstanding", "requested", "written")

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.requested = 0
        self.written = 0
        self._outstanding: deque[int] = deque()
        self._early: set[int] = set()

    def write(
        self, changes: process.Changes, purpose: str | None = None, shared: Name = "", *, sync: bool = True
    ) -> int:
        """Writes; the answers count in the order of the writes."""
        token = self.requested = super().write(changes, purpose or None, shared, sync=sync)
        self._outstanding.append(token)
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
        """A write that was done before one that was requested earlier, and counts now; 0: there is none."""
        outstanding = self._outstanding
        if not (outstanding and outstanding[0] in self._early):
            return 0
        self.written = outstanding.popleft()
        self._early.discard(self.written)
        return self.written

    def line(self, number: int, **fields: Any) -> None:
        """Writes one of the product's own lines (`lines.EVENTS`)."""
        self.record(*line(number, fields))

    def critical(self, reason: str) -> None:
        """Ends the process after an error of what it keeps its data in, or of the lock on it."""
        self.line(222010, reason=reason)
        self.halt(reason)

    def end(self, reason: str) -> None:
        """Ends a process that is no broker."""
        super().halt(reason)

    def halt(self, reason: str) -> None:
        """Ends the process."""
        self.line(221002, reason=reason)
        super().halt(reason)
