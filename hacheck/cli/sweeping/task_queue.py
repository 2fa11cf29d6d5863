"""Tasks of a sweep handed to workers, which are processes here or executors of Spark, until all are done.

A task waits for those with smaller budgets of faults, whose verdicts may be its own; so what is found does not depend
on how many run at once. One that was killed, or whose share of the memory did not suffice, is run again by itself at
the end; if it is killed again, it has no verdict.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Protocol

from msgspec import Struct

from hacheck.checker.engine import Limits, Progress
from hacheck.checker.sweep.sweep_plan import Task
from hacheck.checker.sweep.sweep_task import Smaller, TaskResult, sweep_job
from hacheck.cli.checking.side_by_side import GRACE_SECONDS, WAIT_SECONDS
from hacheck.cli.guard import BadInput
from hacheck.cli.jobs import Job
from hacheck.cli.progress import Display
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.process_pool import Died, Done, Event, Failed, Message

OVERALL = "sweep"
"""The title under which it is shown how many tasks are done."""


class Workers(Protocol):
    """Runs jobs side by side, as `ProcessPool` does."""

    @property
    def size(self) -> int:
        """How many it runs at once."""
        ...

    @property
    def busy(self) -> int:
        """How many it runs now."""
        ...

    def begin(self, key: int, task: Job) -> None:
        """Begins one."""
        ...

    def wait(self, seconds: float) -> list[tuple[int, Event]]:
        """What has happened, as soon as something has; nothing after so many seconds."""
        ...

    def ask_to_stop(self) -> None:
        """Asks the jobs under way to end."""
        ...


class HowToRun(Struct, frozen=True):
    """`threads`, `limits`: of each task; `shares`: so many tasks share the memory of a machine; `infers`: whether
    verdicts may follow from other tasks; `can_run_alone`: whether a task can have this machine to itself."""

    threads: int
    limits: Limits
    shares: int
    infers: bool
    can_run_alone: bool


class TaskQueue:
    """The tasks of a sweep. `smaller`: for each the tasks that it waits for; `keep`: called with each result."""

    def __init__(
        self,
        sent: bytes,
        tasks: Sequence[Task],
        smaller: Sequence[Sequence[int]],
        how: HowToRun,
        workers: Workers,
        display: Display,
        interruption: Interruption,
        keep: Callable[[int, TaskResult], None],
    ) -> None:
        self._sent, self._tasks, self._smaller, self._how = sent, tasks, smaller, how
        self._workers, self._display, self._interruption, self._keep = workers, display, interruption, keep
        self._results: dict[int, TaskResult] = {}
        self._running: set[int] = set()
        self._alone: list[int] = []
        self._run_alone: set[int] = set()
        self._waiting: list[int] = []

    def run(self, done: dict[int, TaskResult]) -> dict[int, TaskResult]:
        """All results, those that are done already among them; fewer where the user interrupts.

        Errors: what a task raised, as `BadInput` or `JobFailed`; those of the workers.
        """
        self._results = dict(done)
        self._waiting = [number for number in range(len(self._tasks)) if number not in done]
        begun = time.monotonic()
        while (self._waiting or self._alone or self._running) and not self._interruption.requested:
            self._hand_out()
            phase = f"{len(self._results):,} of {len(self._tasks):,} tasks"
            self._display.update(OVERALL, Progress(0, 0, 0, 0, time.monotonic() - begun, 0, phase))
            self._take_all(self._workers.wait(WAIT_SECONDS))
        if self._running:
            self._workers.ask_to_stop()
            until = time.monotonic() + GRACE_SECONDS
            while self._workers.busy and (left := until - time.monotonic()) > 0:
                self._take_all(self._workers.wait(left))
        self._display.end(OVERALL)
        return self._results

    def _hand_out(self) -> None:
        for number in self._ready():
            if self._workers.busy >= self._workers.size:
                return
            self._waiting.remove(number)
            self._begin(number, self._how.threads, self._how.shares)
        if self._alone and not self._running:
            number = self._alone.pop(0)
            self._run_alone.add(number)
            self._begin(number, self._how.threads * self._how.shares, 1)

    def _ready(self) -> list[int]:
        return [one for one in self._waiting if all(other in self._results for other in self._smaller[one])]

    def _begin(self, number: int, threads: int, shares: int) -> None:
        task = self._tasks[number]
        smaller = tuple(Smaller(self._tasks[one], self._results[one]) for one in self._smaller[number])
        known = smaller if self._how.infers else None
        self._running.add(number)
        self._display.update(task.title, Progress(0, 0, 0, 0, 0.0, 0, "preparing"))
        job = partial(sweep_job, self._sent, task, known, threads, self._how.limits, shares)
        self._workers.begin(number, job)

    def _take_all(self, events: Iterable[tuple[int, Event]]) -> None:
        for number, event in events:
            self._take(number, event)

    def _take(self, number: int, event: Event) -> None:
        title = self._tasks[number].title
        if isinstance(event, Message):
            self._display.update(title, event.content)
            return
        self._running.discard(number)
        self._display.end(title)
        may_try_again = self._how.can_run_alone and number not in self._run_alone
        match event:
            case Done(TaskResult() as result) if result.was_interrupted:
                return
            case Done(TaskResult() as result) if result.is_short_of_memory and may_try_again and self._how.shares > 1:
                self._alone.append(number)
            case Done(result):
                self._note(number, result)
            case Failed("MemoryError") | Died() if self._interruption.requested:
                return
            case Failed("MemoryError") | Died() if may_try_again:
                self._alone.append(number)
            case Failed("Lost") as failed:
                self._note(number, TaskResult(error=failed.message))
            case Failed("MemoryError"):
                self._note(number, TaskResult(error="its process ran out of memory"))
            case Died() as died:
                self._note(number, TaskResult(error=f"its process {died.how}, each time it was tried"))
            case Failed("BadInput" | "Refused") as failed:
                raise BadInput(failed.message, failed.hint)
            case Failed() as failed:
                raise failed.as_mistake(title)

    def _note(self, number: int, result: TaskResult) -> None:
        self._results[number] = result
        self._keep(number, result)
