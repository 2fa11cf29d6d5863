"""Reading the journal from a shared store, which gives one file at a time and has no list of them."""

from __future__ import annotations

from hacheck.impl.protocols.artemis.journal import Journal, record_key
from hacheck.impl.protocols.artemis.options import BrokerOptions

WINDOW = 32
"""So many records are read at a time."""


class JournalReader:
    """A load under way. The one that runs it reads the files in `wanted` and hands each in, until there are none.

    `problem`: why the journal cannot be used, or empty.
    """

    __slots__ = ("_bodies", "_files", "_numbers", "_phase", "journal", "problem", "wanted")

    def __init__(self, options: BrokerOptions, folder: str) -> None:
        self.journal = Journal(options, folder)
        self.problem = ""
        self._phase = "base"
        self._files: dict[str, bytes | None] = {}
        self._bodies: dict[str, int] = {}
        self.wanted: tuple[str, ...] = (f"{folder}journal/base", f"{folder}bindings/queues")

    def got(self, key: str, value: bytes | None) -> bool:
        """A file has been read; `None`: it is not there. Returns whether all wanted ones have. Errors: `Refused`."""
        self._files[key] = value
        if len(self._files) < len(self.wanted):
            return False
        files, self._files = self._files, {}
        if self._phase == "base":
            self.journal.start_from(*(files[key] for key in self.wanted))
            self._want_records()
        elif self._phase == "records":
            self._take_records(files)
        else:
            self._take_bodies(files)
        return True

    def _want_records(self) -> None:
        self._phase = "records"
        first = self.journal.position + 1
        self.wanted = tuple(record_key(self.journal.folder, n) for n in range(first, first + WINDOW))

    def _take_records(self, files: dict[str, bytes | None]) -> None:
        for key in self.wanted:
            raw = files[key]
            if raw is None or not self.journal.replay(raw):
                break
        else:
            self._want_records()
            return
        self._phase = "bodies"
        self._bodies = {where: number for number, where in self.journal.outside()}
        self.wanted = tuple(self._bodies)

    def _take_bodies(self, files: dict[str, bytes | None]) -> None:
        for where, body in files.items():
            if body is None:
                self.problem = f"the file `{where}` is missing"
            else:
                self.journal.fill(self._bodies[where], body)
        self.wanted = ()
