"""A worker as somebody might ship it: takes a lock, writes to a store, gives the lock back, again and again.

    python worker.py NAME DATABASE LOCK [fenced]

LOCK is `file:PATH` (filelock's `SoftFileLock` with a lifetime) or `redis:PORT` (redis-py's `Lock` with a time-out). The
store is a SQLite database. What happens there is logged there, in the transaction in which it happens.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable

LIFETIME_SECONDS = 0.3
WORK_SECONDS = 0.04

STORE = """
CREATE TABLE IF NOT EXISTS log (place INTEGER PRIMARY KEY, node TEXT, event TEXT, number INTEGER);
CREATE TABLE IF NOT EXISTS numbers (number INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS store (seen INTEGER);
"""


class Store:
    """Gives out numbers and takes writes, each in one transaction. `fenced`: refuses a number that is too small."""

    def __init__(self, path: str, *, fenced: bool) -> None:
        self.database = sqlite3.connect(path, timeout=60.0, isolation_level=None)
        self.fenced = fenced

    def give(self, worker: str) -> int:
        """The next number, for who has the lock."""
        with self.database:
            self.database.execute("BEGIN IMMEDIATE")
            number = self.database.execute("INSERT INTO numbers DEFAULT VALUES").lastrowid
            self._log(worker, "given", number)
        assert number is not None
        return number

    def write(self, number: int) -> None:
        """Takes what a worker writes, unless a later one has written before."""
        with self.database:
            self.database.execute("BEGIN IMMEDIATE")
            seen = self.database.execute("SELECT coalesce(max(seen), 0) FROM store").fetchone()[0]
            if self.fenced and number < seen:
                self._log("Store-1", "refused", number)
            else:
                self.database.execute("INSERT INTO store VALUES (?)", [number])
                self._log("Store-1", "written", number)

    def forget(self, worker: str) -> None:
        """The worker is about to give the lock back."""
        with self.database:
            self.database.execute("BEGIN IMMEDIATE")
            self._log(worker, "lapsed", None)

    def _log(self, node: str, event: str, number: int | None) -> None:
        self.database.execute("INSERT INTO log (node, event, number) VALUES (?, ?, ?)", [node, event, number])


def lock_of(kind: str) -> tuple[Callable[[], bool], Callable[[], None]]:
    """How a lock is taken, if nobody has it, and given back."""
    what, _, where = kind.partition(":")
    if what == "file":
        from filelock import SoftFileLock, Timeout

        file = SoftFileLock(where, lifetime=LIFETIME_SECONDS)

        def take_file() -> bool:
            try:
                file.acquire(blocking=False)
            except Timeout:
                return False
            return True

        return take_file, lambda: file.release(force=True)
    from redis import Redis
    from redis.exceptions import LockNotOwnedError

    lock = Redis(port=int(where)).lock("the-lock", timeout=LIFETIME_SECONDS)

    def release() -> None:
        try:
            lock.release()
        except LockNotOwnedError:  # it has expired, and somebody else may have it
            lock.local.token = None

    return lambda: lock.acquire(blocking=False), release


def main(name: str, database: str, kind: str, *fenced: str) -> None:
    """Works until it is killed."""
    store = Store(database, fenced=bool(fenced))
    take, release = lock_of(kind)
    while True:
        if take():
            number = store.give(name)
            time.sleep(WORK_SECONDS)
            store.write(number)
            store.forget(name)
            release()
        time.sleep(WORK_SECONDS)


if __name__ == "__main__":
    main(*sys.argv[1:])
