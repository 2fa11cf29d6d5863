"""No silence: where nothing has come from the tests for a while, which of them are running, and for how long."""

from __future__ import annotations

import threading
import time

import pytest

SILENCE_SECONDS = 15.0
SHOWN_MAX = 3


class Heartbeat:
    """The plug-in of the process that shows the results."""

    def __init__(self, config: pytest.Config, seconds: float = SILENCE_SECONDS) -> None:
        self._config, self._seconds = config, seconds
        self._running: dict[str, float] = {}
        self._begun = self._last = time.monotonic()
        self._over = threading.Event()
        self._tests_begun = False
        self._lock = threading.Lock()

    def pytest_sessionstart(self) -> None:
        """Begins to watch."""
        threading.Thread(target=self._watch, daemon=True, name="heartbeat").start()

    def pytest_sessionfinish(self) -> None:
        """Ends watching."""
        self._over.set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins, in this process or a worker."""
        with self._lock:
            self._tests_begun = True
            self._running[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A test is over, and its dot is shown."""
        with self._lock:
            self._running.pop(nodeid, None)
            self._last = time.monotonic()

    def line(self, now: float) -> str:
        """What is said at a time: what is under way, the longest first."""
        with self._lock:
            oldest = sorted(self._running.items(), key=lambda item: item[1])
        if not oldest:
            doing = "finishing" if self._tests_begun else "reading the tests"
            return f"… {doing}, {now - self._begun:.0f} s"
        shown = ", ".join(f"{nodeid} ({now - begun:.0f} s)" for nodeid, begun in oldest[:SHOWN_MAX])
        return f"… running {shown}"

    def _watch(self) -> None:
        while not self._over.wait(self._seconds / 5):
            now = time.monotonic()
            if now - self._last < self._seconds:
                continue
            self._last = now
            writer = self._config.get_terminal_writer()
            writer.line()
            writer.line(self.line(now))
            writer.flush()
