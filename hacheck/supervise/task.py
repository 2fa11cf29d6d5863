"""Work in a thread of its own, while the caller looks at limits, reports progress and hears Ctrl-C."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

from msgspec import Struct

Made = TypeVar("Made")

POLL_SECONDS = 0.1
"""How often the caller looks whether the work is to stop."""

_FIRST_WAIT_SECONDS = 0.001
_STACK_BYTES = 64 * 2**20


class Cancelled(Exception):
    """Work was stopped before its end. `reason` completes the sentence "stopped because …" ("interrupted", "60 seconds
    passed")."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Budget(Struct, frozen=True):
    """What work may use from `started` (on the performance counter) on: seconds, and bytes of this process."""

    started: float
    seconds_max: float | None = None
    bytes_max: int | None = None

    def seconds(self) -> float:
        """The seconds since the start."""
        return time.perf_counter() - self.started

    def exceeded(self, bytes_used: int = 0) -> str | None:
        """The reason to stop, if there is one."""
        if self.seconds_max is not None and self.seconds() >= self.seconds_max:
            return f"{self.seconds_max:g} seconds passed"
        if self.bytes_max is not None and bytes_used >= self.bytes_max:
            return f"{self.bytes_max / 2**30:.3g} GiB of memory were in use"
        return None


def supervised(
    work: Callable[[], Made],
    poll: Callable[[], str | None],
    *,
    cancel: Callable[[], None] | None = None,
    grace_seconds: float = 0.0,
    poll_seconds: float = POLL_SECONDS,
) -> Made:
    """What the work returns, which runs in a thread of its own.

    `poll`: reports progress and returns the reason to stop, if there is one; called every `poll_seconds`, first after
    that time. `cancel`: asks the work to end, called again and again until it does or `grace_seconds` are over: a
    request that comes before the work listens is lost. Errors: those of the work; `Cancelled`, after which the work may
    go on for a while, and must do no harm.
    """
    running = BackgroundWork(work)
    wait = min(_FIRST_WAIT_SECONDS, poll_seconds)
    while not running.finished(wait):
        wait = min(2 * wait, poll_seconds)
        reason = poll() if wait == poll_seconds else None
        if reason is not None:
            deadline = time.perf_counter() + grace_seconds
            while time.perf_counter() < deadline:
                if cancel is not None:
                    cancel()
                if running.finished(min(poll_seconds, grace_seconds)):
                    break
            raise Cancelled(reason)
    return running.result()


class BackgroundWork(Generic[Made]):
    """Work in a thread of its own, from when this is made, and its result."""

    def __init__(self, work: Callable[[], Made]) -> None:
        self._work = work
        self._made: list[Made] = []
        self._failed: list[BaseException] = []
        self._thread = start_thread(self._run)

    def _run(self) -> None:
        try:
            self._made.append(self._work())
        except BaseException as error:
            self._failed.append(error)

    def finished(self, seconds: float) -> bool:
        """Waits for its end, `seconds` at most; whether it has come."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def result(self) -> Made:
        """What the work, which has finished, returned. Errors: those of the work."""
        if self._failed:
            raise self._failed[0]
        return self._made[0]


def start_thread(work: Callable[[], None]) -> threading.Thread:
    """Starts a thread with a stack as large as that of the main one: what is compiled may be nested deeply."""
    thread = threading.Thread(target=work, daemon=True)
    before = threading.stack_size()
    with suppress(ValueError, RuntimeError):  # the system has its own ideas
        threading.stack_size(_STACK_BYTES)
    try:
        thread.start()
    finally:
        threading.stack_size(before)
    return thread
