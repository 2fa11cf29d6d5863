"""A process of Fiorano: what is to be done about a write or a read is a word and a number."""

from __future__ import annotations

from hacheck.impl.protocols import process


class Process(process.Process[tuple[str, int]]):
    """The outside of a process as its parts see it."""

    __slots__ = ()

    def write(
        self, changes: tuple[tuple[str, bytes | None], ...], purpose: str = "", number: int = 0, shared: str = ""
    ) -> None:
        """Writes, durably. `purpose`, `number`: what to do when it is done, if anything."""
        self._write(changes, (purpose, number), shared)

    def read(self, shared: str, key: str, purpose: str, number: int = 0) -> None:
        """Reads from a shared disk."""
        self._read(shared, key, (purpose, number))

    def halt(self, reason: str) -> None:
        """Ends the process."""
        if not self.halted:
            self.record("halted", {"reason": reason})
            self._halt(reason)
