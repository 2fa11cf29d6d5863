"""Breadth-first search over packed states, with generated code.

The log of the search is the list of states in the order in which they were found, which is frontier and store at once,
and two arrays that say how long the list was after each batch: enough to find a state's predecessor again by
expanding the few hundred states of one batch, so nothing is noted for a single state.
"""

from __future__ import annotations

import time
from array import array
from bisect import bisect_right
from collections.abc import Callable

from msgspec import Struct, field

from hacheck.checker.engine import DECIDED, Limits, Progress, Report
from hacheck.checker.explicit.portable.python_program import Code
from hacheck.supervise.resources import process_bytes

_BATCH_MIN, _BATCH_MAX = 16, 4_096
_BATCH_SECONDS = 0.05
_REPORT_SECONDS = 0.2


class Finder(Struct, frozen=True):
    """A condition to look for in states: `find` gives the first that satisfies it. `dead_only`: evaluated only in
    states without a step that counts as alive."""

    key: str
    find: Callable[[list[int]], int | None]
    dead_only: bool = False


class Log(Struct):
    """What a search saw. `order`: states as found; `levels`: index of each level's first state; `marks`: length of
    `order` after each batch and function; `starts`: index of each batch's first state; `found`: for each finder its
    first hit; `hits`: for each step condition its first (before, after); `errors`: the first (state, instance)
    whose step is an error of the spec. `stopped`: why the search ended early."""

    order: list[int]
    seen: set[int]
    initial: int
    counts: list[int]
    bounds_reached: list[int]
    hits: list[list[tuple[int, int]]]
    levels: list[int] = field(default_factory=list)
    marks: array[int] = field(default_factory=lambda: array("Q"))
    starts: array[int] = field(default_factory=lambda: array("Q"))
    found: dict[str, int] = field(default_factory=dict)
    errors: list[tuple[int, int]] = field(default_factory=list)
    expanded: int = 0
    stopped: str | None = None

    @property
    def depth(self) -> int:
        """The number of steps to the states found last."""
        return max(len(self.levels) - 1, 0)


class Goal(Struct, frozen=True):
    """When a search may end before it has seen everything: once each of these finders and step conditions has hit."""

    finders: frozenset[str]
    steps: tuple[int, ...]


class _Search(Struct):
    code: Code
    finders: list[Finder]
    limits: Limits
    report: Report
    goal: Goal | None
    log: Log
    started: float
    reported: float = field(default_factory=time.perf_counter)
    batch: int = 64

    def run(self) -> None:
        log = self.log
        log.levels.append(0)
        self.inspect(log.order)
        while log.stopped is None and log.expanded < len(log.order):
            if self.limits.depth_max is not None and log.depth >= self.limits.depth_max:
                log.stopped = f"depth {self.limits.depth_max} reached"
                break
            if self.goal is not None and self.reached(self.goal):
                log.stopped = DECIDED
                break
            self.level(len(log.order))
        self.progress(last=True)

    def level(self, end: int) -> None:
        log = self.log
        while log.expanded < end:
            log.stopped = self.reason()
            if log.stopped is not None:
                break
            begun = time.perf_counter()
            start = log.expanded
            self.expand(log.order[start : min(end, start + self.batch)])
            self.adapt(time.perf_counter() - begun)
        if len(log.order) > end:
            log.levels.append(end)

    def expand(self, states: list[int]) -> None:
        log, code = self.log, self.code
        before = len(log.order)
        unblocking = bytearray(len(states)) if code.unblocking else None
        log.starts.append(log.expanded)
        for function in code.expand:
            function(
                states,
                log.seen,
                log.seen.add,
                log.order.append,
                log.counts,
                log.bounds_reached,
                log.errors,
                log.hits,
                unblocking,
            )
            log.marks.append(len(log.order))
        log.expanded += len(states)
        if self.limits.states_max is not None and len(log.order) > self.limits.states_max:
            del log.order[max(self.limits.states_max, log.initial, log.expanded) :]
            log.stopped = f"{self.limits.states_max:,} states reached"
        if len(log.order) > before:
            self.inspect(log.order[before:])
        if unblocking is not None and 0 in unblocking:
            self.inspect([state for state, alive in zip(states, unblocking, strict=True) if not alive], dead=True)

    def inspect(self, states: list[int], dead: bool = False) -> None:
        for finder in [finder for finder in self.finders if finder.dead_only == dead]:
            hit = finder.find(states)
            if hit is not None:
                self.log.found[finder.key] = hit
                self.finders.remove(finder)

    def adapt(self, seconds: float) -> None:
        """Batches short enough to obey limits, long enough to cost nothing."""
        if seconds < _BATCH_SECONDS / 2:
            self.batch = min(self.batch * 2, _BATCH_MAX)
        elif seconds > _BATCH_SECONDS * 2:
            self.batch = max(self.batch // 2, _BATCH_MIN)
        states_max = self.limits.states_max
        if states_max is not None and self.log.expanded:
            grown = max(len(self.log.order) / self.log.expanded, 1.0)
            self.batch = max(_BATCH_MIN, min(self.batch, int((states_max - len(self.log.order)) / grown)))

    def reason(self) -> str | None:
        """Why to stop here, if there is a reason."""
        log, limits = self.log, self.limits
        if log.stopped is not None:
            return log.stopped
        if limits.wall_seconds_max is not None and self.elapsed() >= limits.wall_seconds_max:
            return f"{limits.wall_seconds_max:g} seconds passed"
        if limits.memory_bytes_max is not None and process_bytes() >= limits.memory_bytes_max:
            return f"{limits.memory_bytes_max / 2**20:,.0f} MiB of memory used"
        if limits.states_max is not None and len(log.order) >= limits.states_max:
            return f"{limits.states_max:,} states reached"
        return self.progress()

    def reached(self, goal: Goal) -> bool:
        return goal.finders <= self.log.found.keys() and all(self.log.hits[step] for step in goal.steps)

    def progress(self, last: bool = False) -> str | None:
        """Reports when it is due; returns "interrupted" where the report's answer is to stop."""
        now = time.perf_counter()
        if not last and now - self.reported < _REPORT_SECONDS:
            return None
        self.reported = now
        log = self.log
        waiting = len(log.order) - log.expanded
        seen = Progress(len(log.order), sum(log.counts), log.depth, waiting, self.elapsed(), process_bytes())
        return None if self.report(seen) or last else "interrupted"

    def elapsed(self) -> float:
        return time.perf_counter() - self.started


def search(
    code: Code,
    initial: list[int],
    finders: list[Finder],
    limits: Limits,
    report: Report,
    goal: Goal | None = None,
    started: float | None = None,
) -> Log:
    """Explores from the initial states, level by level, until nothing is new, a limit is met, `report` says no, or
    the goal is reached. `started`: when the time began that is limited, by the performance counter; `None` is now.
    Cost: about 100 bytes for each state of up to 60 bits."""
    distinct = list(dict.fromkeys(initial))
    log = Log(
        distinct,
        set(distinct),
        len(distinct),
        [0] * code.actions,
        [0] * len(code.bounds),
        [[] for _ in range(code.watches)],
    )
    begun = time.perf_counter() if started is None else started
    _Search(code, list(finders), limits, report, goal, log, begun).run()
    return log


def predecessor(code: Code, log: Log, index: int) -> int | None:
    """The index of the state from which a state was first found; `None` for an initial state."""
    if index < log.initial:
        return None
    mark = bisect_right(log.marks, index)
    batch, function = divmod(mark, len(code.expand))
    start = log.starts[batch]
    end = log.starts[batch + 1] if batch + 1 < len(log.starts) else log.expanded
    target = log.order[index]
    for place in range(start, end):
        found: list[int] = []
        code.listing()[function](log.order[place], found.append, _ignore, _ignore, _ignore)
        if target in found:
            return place
    raise AssertionError(f"state {index} has no predecessor in batch {batch}")


def _ignore(_: int) -> None:
    return None
