"""Where the time of a check goes, and work that cannot say how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from hacheck.checker.engine import Limits, Progress, Report
from hacheck.supervise.resources import process_bytes
from hacheck.supervise.task import Budget, supervised

Made = TypeVar("Made")

RECONSTRUCTING = "reconstructing runs"
"""The phase in which runs are put together, also those that are while a search goes on."""

_GRACE_SECONDS = 0.2  # for work given up to come to its end: what is being compiled cannot be stopped


class Stopwatch:
    """Runs from when it is made, at `started` on the performance counter. `report` is called with what is being done
    while work is supervised."""

    def __init__(self, limits: Limits, report: Report) -> None:
        self.limits, self.report = limits, report
        self.started = time.perf_counter()
        self._spent: dict[str, float] = {}

    def seconds(self) -> float:
        """Since it was made."""
        return time.perf_counter() - self.started

    def phases(self) -> tuple[tuple[str, float], ...]:
        """What was done, in the order in which it was begun, and the seconds each took."""
        return tuple(self._spent.items())

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Notes the time that the block takes. One inside another counts for itself alone."""
        begun, before = time.perf_counter(), sum(self._spent.values())
        self._spent.setdefault(name, 0.0)
        try:
            yield
        finally:
            inner = sum(self._spent.values()) - before
            self._spent[name] += time.perf_counter() - begun - inner

    def supervised(self, name: str, work: Callable[[], Made]) -> Made:
        """What the work returns, done in another thread while this one reports and looks at the time.

        Errors: those of the work; `Cancelled` when the report says to stop or time is out.
        """
        with self.phase(name):
            return supervised(work, lambda: self._reason(name), grace_seconds=_GRACE_SECONDS)

    def _reason(self, phase: str) -> str | None:
        """The reason to stop waiting, if there is one."""
        reason = Budget(self.started, self.limits.wall_seconds_max).exceeded()
        if reason is not None:
            return reason
        seen = Progress(0, 0, 0, 0, self.seconds(), process_bytes(), phase)
        return None if self.report(seen) else "interrupted"
