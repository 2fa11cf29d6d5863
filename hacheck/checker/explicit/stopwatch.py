"""Where the time of a check goes, and work of which nobody can ask how far it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Generic, TypeVar

from hacheck.checker.engine import Limits, Progress, Report
from hacheck.checker.explicit.memory_use import process_bytes
from hacheck.checker.explicit.search_result import GaveUp

Made = TypeVar("Made")

_WAIT_SECONDS = 0.1
_GRACE_SECONDS = 0.2  # for work given up to come to its end: what is being compiled cannot be stopped
_STACK_BYTES = 64 * 2**20


class Stopwatch:
    """Runs from when it is made, at `started` on the performance counter. `report` is told what is being done while
    work is attended."""

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

    def attended(self, name: str, work: Callable[[], Made]) -> Made:
        """What the work makes, done in another thread while this one reports and looks at the time.

        Errors: those of the work; `GaveUp` when told not to go on or out of time. Then the work goes on unattended; it
        must do no harm.
        """
        with self.phase(name):
            under_way = Work(work)
            while not under_way.is_over(_WAIT_SECONDS):
                reason = self._reason(name)
                if reason is not None:
                    under_way.is_over(_GRACE_SECONDS)
                    raise GaveUp(reason)
        return under_way.result()

    def _reason(self, phase: str) -> str | None:
        """Why to stop waiting, if there is a reason."""
        limit = self.limits.wall_seconds_max
        if limit is not None and self.seconds() >= limit:
            return f"{limit:g} seconds passed"
        seen = Progress(0, 0, 0, 0, self.seconds(), process_bytes(), phase)
        return None if self.report(seen) else "interrupted"


class Work(Generic[Made]):
    """Work that goes on in a thread of its own from when this is made, and what comes of it."""

    def __init__(self, work: Callable[[], Made]) -> None:
        self._work = work
        self._made: list[Made] = []
        self._failed: list[BaseException] = []
        self._thread = begun(self._do)

    def _do(self) -> None:
        try:
            self._made.append(self._work())
        except BaseException as error:
            self._failed.append(error)

    def is_over(self, seconds: float) -> bool:
        """Waits for its end, so long at most; whether it has come."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def result(self) -> Made:
        """What the work, which is over, has made. Errors: those of the work."""
        if self._failed:
            raise self._failed[0]
        return self._made[0]


def begun(work: Callable[[], None]) -> threading.Thread:
    """The work under way in a thread of its own, with a stack as large as that of the main one: what is compiled may be
    nested deeply."""
    thread = threading.Thread(target=work, daemon=True)
    before = threading.stack_size()
    with suppress(ValueError, RuntimeError):  # the system has its own ideas
        threading.stack_size(_STACK_BYTES)
    try:
        thread.start()
    finally:
        threading.stack_size(before)
    return thread
