"""A process of Fiorano: the purpose of a write or a read is a word and a number."""

from __future__ import annotations

from hacheck.impl.kit import process


class Process(process.Process[tuple[str, int]]):
    """The outside of a process as its parts see it."""

    __slots__ = ()

    def halt(self, reason: str) -> None:
        """Ends the process, with a record of why."""
        if not self.halted:
            self.record("halted", {"reason": reason})
            super().halt(reason)
