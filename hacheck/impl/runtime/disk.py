"""A disk: a SQLite database, in which each write is one transaction, done by a thread of its own.

A synced write is one with `synchronous=FULL`: it is in the write-ahead log, and the log is on the medium, before it
counts as done. One that is not synced is consistent, and there after `kill -9`, but not after a loss of power.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import TypeAlias

from hacheck.impl.system import Refused

Changes: TypeAlias = tuple[tuple[str, bytes | None], ...]

VERSION = 1
APPLICATION = 0x6861_6368
BUSY_SECONDS = 2.0
"""So long a write waits for another process that writes to the same shared disk."""

MADE = """
    CREATE TABLE IF NOT EXISTS data (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
REFUSED = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_TOOBIG)
"""Errors after which nothing of a transaction is there. After others nobody knows."""


class Doubtful(Exception):
    """A write failed in a way that leaves open whether it is there: who has written must end, and look again."""


class Database:
    """The database itself, used by one thread at a time."""

    def __init__(self, path: Path, system: str) -> None:
        """Opens it, or makes it. Errors: `Refused`, for one that is damaged, newer, or another system's."""
        self.path = path
        self._sync = True
        try:
            self._connection = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise Refused(f"the database {path} cannot be opened: {error}") from None
        try:
            self._open(system)
        except sqlite3.Error as error:
            self._connection.close()
            raise Refused(f"the database {path} is damaged ({error}): restore it, or erase the disk") from None
        except Refused:
            self._connection.close()
            raise

    def _open(self, system: str) -> None:
        connection = self._connection
        application = self._pragma("application_id")
        version = self._pragma("user_version")
        if application not in (0, APPLICATION) or (application == 0 and self._pragma("schema_version")):
            raise Refused(f"the database {self.path} is another program's: give another --dir")
        if version > VERSION:
            raise Refused(
                f"the database {self.path} is in version {version}, and this program reads {VERSION}: "
                "start the version that wrote it"
            )
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise Refused(
                f"the database {self.path} is damaged ({found.splitlines()[-1]}): restore it, or erase the disk"
            )
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA fullfsync=ON")
        if application == 0:
            marks = f"PRAGMA user_version={VERSION}; PRAGMA application_id={APPLICATION};"
            connection.executescript(f"BEGIN IMMEDIATE; {MADE} {marks} COMMIT;")
        owner = self.about("system")
        if owner is None:
            self.note("system", system)
        elif owner != system:
            raise Refused(f"the database {self.path} has the data of {owner}, not of {system}: give another --dir")

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    def about(self, key: str) -> str | None:
        """What is noted beside the data."""
        row = self._connection.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def note(self, key: str, value: str) -> None:
        """Notes something beside the data, durably."""
        self._connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (key, value))

    def begin_incarnation(self) -> int:
        """How often the owner was started before; counted up, durably. Errors: `Refused`, if that cannot be written."""
        number = int(self.about("incarnation") or "-1") + 1
        try:
            self.note("incarnation", str(number))
        except sqlite3.Error as error:
            raise Refused(f"the database {self.path} cannot be written: {error}") from None
        return number

    def content(self) -> Mapping[str, bytes]:
        """All data."""
        return {key: bytes(value) for key, value in self._connection.execute("SELECT key, value FROM data")}

    def read(self, key: str) -> tuple[bytes | None, str]:
        """A value, and why it cannot be read."""
        try:
            row = self._connection.execute("SELECT value FROM data WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            return None, str(error)
        return (None if row is None else bytes(row[0])), ""

    def write(self, changes: Changes, sync: bool) -> str:
        """One transaction. Returns why it was not done, or nothing. Errors: `Doubtful`."""
        connection = self._connection
        try:
            if sync != self._sync:
                connection.execute(f"PRAGMA synchronous={'FULL' if sync else 'NORMAL'}")
                self._sync = sync
            connection.execute("BEGIN IMMEDIATE")
            for key, value in changes:
                if value is None:
                    connection.execute("DELETE FROM data WHERE key = ?", (key,))
                else:
                    connection.execute("INSERT OR REPLACE INTO data VALUES (?, ?)", (key, value))
        except sqlite3.Error as error:
            self._undo()
            return str(error)
        try:
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if error.sqlite_errorcode & 0xFF not in REFUSED:
                raise Doubtful(f"{self.path}: {error}") from None
            self._undo()
            return str(error)
        return ""

    def _undo(self) -> None:
        if self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error as error:
                raise Doubtful(f"{self.path}: {error}") from None

    def close(self) -> None:
        """No more of it."""
        self._connection.close()


class Disk:
    """A database with a thread that carries out requests, one after the other. What is done calls back in that
    thread."""

    def __init__(self, database: Database, doubtful: Callable[[str], None]) -> None:
        """`doubtful`: informed when nobody can know whether a write is there; nothing more is done then."""
        self._database = database
        self._doubtful = doubtful
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=f"disk {database.path}", daemon=True)
        self._thread.start()

    def write(self, changes: Changes, sync: bool, done: Callable[[str], None]) -> None:
        """Writes after all earlier requests; `done` is informed why not, or nothing."""
        self._jobs.put(lambda: done(self._database.write(changes, sync)))

    def read(self, key: str, done: Callable[[bytes | None, str], None]) -> None:
        """Reads after all earlier requests."""
        self._jobs.put(lambda: done(*self._database.read(key)))

    def close(self) -> None:
        """Carries out what was requested, and closes the database."""
        self._jobs.put(None)
        self._thread.join()
        self._database.close()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Doubtful as doubt:
                self._doubtful(str(doubt))
                return
