"""Two locks of others, in real processes that are paused: `pip install filelock redis`, and a `redis-server`.

Both have a time-out, so a holder that is paused longer loses its lock and does not know: it writes after the next one.
The cure is not in the lock: each holder gets a number, and the store refuses one that is smaller than one it has seen.
That is the spec of examples/lease. Run `pytest examples/real_locks`; what is not installed is skipped.
"""

from __future__ import annotations

import importlib.util
import shutil
import socket
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
import worker
from hypothesis import settings

from hacheck.testing import SETTINGS, Adapter, Disagreement, Event, Process, do, state_machine

LONG = 2 * worker.LIFETIME_SECONDS
FEW = settings(SETTINGS, max_examples=25, stateful_step_count=8)
needs_filelock = pytest.mark.skipif(not importlib.util.find_spec("filelock"), reason="needs filelock")
needs_redis = pytest.mark.skipif(
    not (importlib.util.find_spec("redis") and shutil.which("redis-server")), reason="needs redis and redis-server"
)


class WorkersWithALock(Adapter):
    """Two workers and a store."""

    spec = "../lease/lease.ha"
    settings: ClassVar = {"leases": 99}
    waits = (0.01, LONG)
    scenarios: ClassVar = {"overtaken": (do("pause", n="writer"), "given", do("resume", n="paused"))}
    directed = (
        (do("pause", n="writer"), do("wait", seconds=LONG), do("resume", n="paused"), do("wait", seconds=LONG)),
    )
    fenced = False

    def start(self) -> None:
        """Starts two workers beside an empty store."""
        self.folder = Path(tempfile.mkdtemp(prefix="real-locks-"))
        database = self.folder / "store.sqlite"
        self._database = sqlite3.connect(database, isolation_level=None)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.executescript(worker.STORE)
        self._read, self._writer = 0, ""
        fenced = ["fenced"] if self.fenced else []
        program = [sys.executable, worker.__file__]
        self._workers = {
            name: Process([*program, name, str(database), self._lock(), *fenced], output=self.folder / name)
            for name in ("Worker-1", "Worker-2")
        }
        for one in self._workers.values():
            one.start()
        until = time.monotonic() + 20.0
        while not self._has_begun() and time.monotonic() < until:
            time.sleep(0.01)

    def _has_begun(self) -> bool:
        return self._database.execute("SELECT count(DISTINCT node) FROM log WHERE event = 'given'").fetchone()[0] == 2

    def _lock(self) -> str:
        """Which lock, as the worker's argument."""
        return f"file:{self.folder / 'the-lock'}"

    def stop(self) -> None:
        """Kills them."""
        for one in self._workers.values():
            one.close()
        self._database.close()
        shutil.rmtree(self.folder)

    def wait(self, seconds: float) -> None:
        """They work."""
        time.sleep(seconds)

    def pause(self, n: str) -> bool:
        """One stands still, and does not know."""
        return self._workers[n].pause()

    def resume(self, n: str) -> bool:
        """It goes on."""
        return self._workers[n].resume()

    def roles(self) -> dict[str, str]:
        """Who stands still; and who has a number and has not written yet."""
        paused = next((name for name, one in self._workers.items() if one.paused), "")
        writer = "" if self._writer == paused else self._writer
        return {role: name for role, name in (("paused", paused), ("writer", writer)) if name}

    def events(self) -> Iterator[Event]:
        """What the store has logged since the last time."""
        for place, node, event, number in self._database.execute(
            "SELECT place, node, event, number FROM log WHERE place > ? ORDER BY place", [self._read]
        ).fetchall():
            self._read, self._writer = place, node if event == "given" else ""
            yield Event(node, event, {} if number is None else {"number": number})

    def story(self) -> str:
        """What the workers printed."""
        return "\n".join((self.folder / name).read_text() for name in self._workers)


class WorkersWithRedis(WorkersWithALock):
    """The same with the lock of redis-py."""

    _server: ClassVar[Process | None] = None
    _port: ClassVar[int] = 0

    def _lock(self) -> str:
        """A server for all runs, emptied for each."""
        from redis import Redis

        kind = type(self)
        if kind._server is None:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                kind._port = free.getsockname()[1]
            kind._server = Process(["redis-server", "--port", str(kind._port), "--save", "", "--bind", "127.0.0.1"])
            kind._server.start()
        client = Redis(port=kind._port, retry_on_error=[ConnectionError])
        for _ in range(200):
            try:
                client.flushall()
                break
            except Exception:
                time.sleep(0.02)
        return f"redis:{kind._port}"

    @classmethod
    def finish(cls) -> None:
        """Ends the server."""
        if cls._server is not None:
            cls._server.close()
            cls._server = None


class FencedWorkers(WorkersWithALock):
    """With a store that refuses numbers that are too small."""

    fenced = True


class FencedWorkersWithRedis(WorkersWithRedis):
    """The same."""

    fenced = True


overtaken = pytest.mark.xfail(
    strict=True, raises=Disagreement, reason="a paused holder writes after its lock has expired"
)
TestSoftFileLock = needs_filelock(overtaken(state_machine(WorkersWithALock, FEW)))
TestRedisLock = needs_redis(overtaken(state_machine(WorkersWithRedis, FEW)))
TestFencedFileLock = needs_filelock(state_machine(FencedWorkers, FEW))
TestFencedRedisLock = needs_redis(state_machine(FencedWorkersWithRedis, FEW))
