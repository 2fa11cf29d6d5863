"""Limits of a search, and the report of how far it is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hacheck.checker.engine import Limits, Progress, Report
from hacheck.supervise.resources import available_bytes, process_bytes
from hacheck.supervise.task import Cancelled

if TYPE_CHECKING:
    from hacheck.checker.multipliers import Multiplier

REPORT_SECONDS = 0.15
_MEASURE_SECONDS = 0.03
GRACE_SECONDS = 0.7
"""So long runs are traced back when a search was interrupted: the run to what was met by then is mostly found at
once."""
INTERRUPTED = "interrupted"
EXPLORING = "exploring"


class Bounds:
    """What a search may use. It counts the memory it takes; what the process held before is added.

    - `phase`: what is being done, for the report.
    - `seen`: what was last reported.
    - `violated`, `multipliers`: the counterexamples known so far, and what makes the state space large, for the report.
    """

    __slots__ = (
        "_before",
        "_machine",
        "_measured",
        "_process",
        "_refused",
        "_reported",
        "_started",
        "limits",
        "multipliers",
        "phase",
        "report",
        "seen",
        "violated",
    )

    def __init__(self, limits: Limits, report: Report, started: float | None = None) -> None:
        """`started`: when the time began that is limited, by the performance counter; `None` is now."""
        self.limits, self.report = limits, report
        self.phase = EXPLORING
        self.seen = Progress(0, 0, 0, 0, 0.0, 0)
        self.violated: tuple[tuple[str, int], ...] = ()
        self.multipliers: tuple[Multiplier, ...] = ()
        self._refused: float | None = None  # when a report was first answered by no
        self._reported = time.perf_counter()
        self._started = self._reported if started is None else started
        self._before = self._process = process_bytes()  # held when the search began, and when it was last measured
        self._machine: int | None = None  # held when the machine has no more
        self._measure()

    def seconds(self) -> float:
        """Since the search began."""
        return time.perf_counter() - self._started

    def bytes_free(self, taken: int) -> int:
        """What may be taken besides what the search has taken; less than 0 where that is too much already."""
        held = self._held(taken)
        most = [bound for bound in (self.limits.memory_bytes_max, self._machine) if bound is not None]
        return min(most) - held if most else 2**62

    def out_of_memory(self, taken: int) -> str:
        """That no more may be taken, in words."""
        limit = self.limits.memory_bytes_max
        if limit is not None and (self._machine is None or limit <= self._machine):
            return f"{limit / 2**20:,.0f} MiB of memory used"
        return f"the machine's memory is used up, {self._held(taken) / 2**20:,.0f} MiB by this process"

    def reason(self, states: int, taken: int) -> str | None:
        """The limit that is reached, if one is."""
        limits, now = self.limits, time.perf_counter()
        if now - self._measured >= _MEASURE_SECONDS:
            self._measure()
        if limits.wall_seconds_max is not None and now - self._started >= limits.wall_seconds_max:
            return f"{limits.wall_seconds_max:g} seconds passed"
        if self.bytes_free(taken) <= 0:
            return self.out_of_memory(taken)
        if limits.states_max is not None and states >= limits.states_max:
            return f"{limits.states_max:,} states reached"
        return None

    def is_due(self) -> bool:
        """Whether it is time to report."""
        return time.perf_counter() - self._reported >= REPORT_SECONDS

    def report_progress(self, states: int, transitions: int, depth: int, waiting: int) -> str | None:
        """Reports; returns "interrupted" where the report's answer is to stop."""
        self._reported = time.perf_counter()
        held = process_bytes()
        self.seen = Progress(
            states, transitions, depth, waiting, self.seconds(), held, self.phase, self.violated, self.multipliers
        )
        return None if self.report(self.seen) else INTERRUPTED

    def poll(self, phase: str, grace: float = 0.0) -> None:
        """Reports, if it is due, which phase is under way. Errors: `Cancelled` where the report's answer has been to
        stop for `grace` seconds."""
        if phase == self.phase and not self.is_due():
            return
        self.phase = phase
        if not self.report_progress(self.seen.states, self.seen.transitions, self.seen.depth, self.seen.frontier):
            return
        self._refused = self._refused or self._reported
        if self._reported - self._refused >= grace:
            raise Cancelled(INTERRUPTED)

    def _held(self, taken: int) -> int:
        return max(self._before + taken, self._process)

    def _measure(self) -> None:
        self._measured = time.perf_counter()
        room = available_bytes()
        self._process = process_bytes()
        self._machine = None if room is None else self._process + room
