"""Waiting for lines in the logs of servers, each of which counts once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hacheck.replay.artemis.brokers import Brokers
from hacheck.replay.product import until_line

SECONDS = 45.0
"""How long a step is waited for: a JVM may take 15 s to start, a primary 5 s to look for others."""


class LogWaiting:
    """The logs of one cluster, each read up to the line that a step waited for last."""

    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        self._marks: dict[int, int] = {}

    def start(self, n: int) -> None:
        """Starts a server; lines that its earlier processes wrote do not count."""
        self._marks[n] = len(self._brokers.lines(n))
        self._brokers.start(n)

    def waited_for(self, n: int) -> int:
        """How many lines of a log there are up to the last one that a step waited for."""
        return self._marks.get(n, 0)

    def line(self, n: int, pattern: str, seconds: float = SECONDS, meanwhile: Callable[[], None] | None = None) -> str:
        """Waits for a line, and returns it. Errors: `Awaited`."""
        since = self._marks.get(n, 0)
        lines = partial(self._brokers.lines, n)
        self._marks[n] = until_line(lines, since, pattern, seconds, meanwhile or _nothing)
        return self._brokers.lines(n)[self._marks[n] - 1]

    def code(self, n: int, *codes: str, seconds: float = SECONDS, meanwhile: Callable[[], None] | None = None) -> str:
        """Waits for a line with one of these codes, and returns that. Errors: `Awaited`."""
        line = self.line(n, f"(?:AMQ|HQ)({'|'.join(codes)}):", seconds, meanwhile)
        return next(code for code in codes if f"Q{code}:" in line)


def _nothing() -> None:
    """Nothing goes on meanwhile."""
