"""Checks of one spec, or of several, run side by side in processes of their own.

What is found does not depend on how many run at once, as long as no limit on time cuts a check short: each has its
share of the threads and of the memory, and one that its share of the memory does not suffice for is run again by itself
when the others are done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.checker.engine import Limits, Progress, Refused, Report
from hacheck.checker.sent_specification import sent, specification_of
from hacheck.checker.verify import CheckResult, Question, run_check
from hacheck.cli.checking.request import Request
from hacheck.cli.console import error_console
from hacheck.cli.engines import Exploring, engine_for, recheck_for
from hacheck.cli.guard import BadInput, ExitCode, Reported
from hacheck.cli.jobs import Job, job_pool
from hacheck.cli.progress import Display
from hacheck.cli.selection import choose, prepare
from hacheck.cli.sources import read_library, read_spec, show_findings
from hacheck.model.interpreter import replay
from hacheck.model.language import Specification, load
from hacheck.model.language.specification import Loaded
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.process_pool import Died, Done, Event, Failed, JobFailed, Message, ProcessPool
from hacheck.supervise.resources import memory_default, usable_cores

WAIT_SECONDS = 0.1
GRACE_SECONDS = 0.7
"""How long after Ctrl-C checks that run may take to say how far they came."""

SHARE_BYTES_LEAST = 2**29
"""Of memory for each check that runs, where it is not the user who says how many do. Python, the models of a few specs
and LLVM take half of it."""

READING = -1
"""In place of the number of a check: the spec is read."""


class SpecResult(Struct, frozen=True):
    """What became of one spec. `specification`: none if its text has errors, which were shown. `skipped`: the checks
    that were not run; `left_out`: those that run by request only. `wall_seconds`: from the begin of its first check to
    the end of its last."""

    name: str
    specification: Specification | None
    results: tuple[CheckResult, ...]
    skipped: tuple[str, ...]
    left_out: tuple[str, ...]
    wall_seconds: float


class _Work(Struct):
    """What there is to do for one spec, and what is done. `waiting`: numbers of checks not begun; `alone`: those that
    need more memory than their share; `running`: how many jobs of it are being done."""

    path: Path
    text: str = ""
    shown_path: str = ""
    is_begun: bool = False
    is_read: bool = False
    specification: Specification | None = None
    pickled: bytes = b""
    questions: tuple[Question, ...] = ()
    left_out: tuple[Question, ...] = ()
    waiting: list[int] = field(default_factory=list)
    alone: list[int] = field(default_factory=list)
    results: dict[int, CheckResult] = field(default_factory=dict)
    running: int = 0
    begin: float | None = None
    end: float = 0.0

    def take(
        self, specification: Specification, questions: tuple[Question, ...], left_out: tuple[Question, ...]
    ) -> None:
        """The spec was read, and these of its checks are to be done."""
        self.is_begun = self.is_read = True
        self.specification, self.questions, self.left_out = specification, questions, left_out
        self.pickled = sent(specification)
        self.waiting = list(range(len(questions)))

    @property
    def is_done(self) -> bool:
        return self.is_read and not (self.waiting or self.alone or self.running)

    def title(self, number: int) -> str:
        """What is being done, for people."""
        if number == READING:
            return self.path.stem
        return f"{self.path.stem}: check {self.questions[number].name} ({number + 1} of {len(self.questions)})"

    def result(self) -> SpecResult:
        """What became of it so far."""
        if self.specification is None:
            return SpecResult(self.path.stem, None, (), (), (), 0.0)
        return SpecResult(
            name=self.path.stem,
            specification=self.specification,
            results=tuple(self.results[number] for number in sorted(self.results)),
            skipped=tuple(one.name for number, one in enumerate(self.questions) if number not in self.results),
            left_out=tuple(one.name for one in self.left_out),
            wall_seconds=0.0 if self.begin is None else self.end - self.begin,
        )


Notice: TypeAlias = Callable[[Question, Progress], None]
"""Looks at the progress of a check."""


class SideBySide:
    """Runs the checks of specs, `jobs` at once. `request`: how, the same for all; if it names checks, these only.
    `notice`: looks at all progress of checks."""

    def __init__(
        self,
        request: Request,
        paths: Sequence[Path],
        jobs: int,
        display: Display,
        interruption: Interruption,
        notice: Notice = lambda question, progress: None,
    ) -> None:
        self._request, self._display, self._interruption, self._notice = request, display, interruption, notice
        self._works = [_Work(path) for path in paths]
        self._processes: ProcessPool[tuple[int, int]] = job_pool(jobs)
        self._exploring = shared_threads(request.exploring, jobs)
        self._alone = request.limits
        self._shared = shared_limits(self._alone, jobs)
        self._run_alone: set[tuple[int, int]] = set()

    @classmethod
    def of_one(
        cls,
        request: Request,
        specification: Specification,
        questions: Sequence[Question],
        jobs: int,
        display: Display,
        interruption: Interruption,
        notice: Notice,
    ) -> SideBySide:
        """Runs these checks of one spec, which was read."""
        made = cls(request, [Path(specification.path)], jobs, display, interruption, notice)
        made._works[0].take(specification, tuple(questions), ())
        return made

    def checks(self) -> Generator[CheckResult, None, None]:
        """Each check of the first spec in its order, as soon as it and all before it are done. When the user
        interrupts: those of which something was found.

        Errors: those of `results`; `Reported` where the spec is wrong under the settings of a check, which is said.
        """
        work, shown = self._works[0], 0
        with self._processes:
            while shown < len(work.questions):
                if self._interrupted():
                    yield from (work.results[number] for number in sorted(work.results) if number >= shown)
                    return
                if work.specification is None:
                    raise Reported(ExitCode.BAD_INPUT)
                while shown in work.results:
                    yield work.results[shown]
                    shown += 1

    def results(self) -> Generator[SpecResult, None, None]:
        """Each spec in the order given, as soon as it and all before it are done. When the user interrupts: those of
        which something was run.

        Errors: what a job raised, as `BadInput`, `MemoryError` or `JobFailed`; `Reported` when somebody ended one of
        the processes, which is said.
        """
        shown = 0
        with self._processes:
            while shown < len(self._works):
                if self._interrupted():
                    yield from (work.result() for work in self._works[shown:] if work.is_done or work.results)
                    return
                while shown < len(self._works) and self._works[shown].is_done:
                    yield self._works[shown].result()
                    shown += 1

    def _interrupted(self) -> bool:
        """Waits a moment for what runs; whether the user interrupts, which gives it a moment to say what it found."""
        self._hand_out()
        for key, event in self._processes.wait(WAIT_SECONDS):
            self._take(key, event)
        if self._interruption.requested:
            self._last_reports()
        return self._interruption.requested

    # ---- what is begun ----

    def _hand_out(self) -> None:
        """Begins what there is a process for: the next spec in time, else the first check that waits."""
        while self._processes.busy < self._processes.size:
            waiting = sum(len(work.waiting) for work in self._works)
            unread = next((index for index, work in enumerate(self._works) if not work.is_begun), None)
            if unread is not None and waiting < self._processes.size:
                self._begin_reading(unread)
            elif waiting:
                first = next(index for index, work in enumerate(self._works) if work.waiting)
                self._begin_check(first, self._works[first].waiting.pop(0), self._exploring, self._shared)
            else:
                break
        if not self._processes.busy:
            alone = next((index for index, work in enumerate(self._works) if work.alone), None)
            if alone is not None:
                number = self._works[alone].alone.pop(0)
                self._run_alone.add((alone, number))
                self._begin_check(alone, number, self._request.exploring, self._alone)

    def _begin_reading(self, index: int) -> None:
        work = self._works[index]
        work.is_begun = True
        work.text, work.shown_path = read_spec(str(work.path))
        self._begin(index, READING, partial(read, work.text, work.shown_path), "reading")

    def _begin_check(self, index: int, number: int, exploring: Exploring, limits: Limits) -> None:
        work = self._works[index]
        work.begin = work.begin or time.monotonic()
        question = work.questions[number]
        job = partial(check, work.pickled, question, self._request, exploring, limits)
        self._begin(index, number, job, "preparing")

    def _begin(self, index: int, number: int, job: Job, phase: str) -> None:
        work = self._works[index]
        work.running += 1
        self._display.update(work.title(number), Progress(0, 0, 0, 0, 0.0, 0, phase))
        self._processes.begin((index, number), job)

    # ---- what has happened ----

    def _take(self, key: tuple[int, int], event: Event) -> None:
        index, number = key
        work = self._works[index]
        title = work.title(number)
        if isinstance(event, Message):
            if number != READING:
                self._notice(work.questions[number], event.content)
            self._display.update(title, event.content)
            return
        work.running -= 1
        work.end = time.monotonic()
        self._display.end(title)
        had_share = self._shared != self._alone and key not in self._run_alone
        match event:
            case Done(loaded) if number == READING:
                self._take_specification(work, loaded)
            case Done(CheckResult() as result) if had_share and is_short_of_memory(result):
                work.alone.append(number)
            case Done(result):
                work.results[number] = result
            case Failed("MemoryError") if had_share and number != READING:
                work.alone.append(number)
            case Failed():
                self._fail(work, title, event)
            case Died() if not self._interruption.requested:
                self._process_died(title, event)

    def _take_specification(self, work: _Work, loaded: Loaded) -> None:
        work.is_read = True
        if loaded.diagnostics:
            self._display.hide()
            show_findings(loaded.diagnostics, {work.shown_path: work.text}, self._request.no_color)
        if loaded.specification is not None:
            chosen, left_out = choose(loaded.specification, self._request.checks, wide=self._request.wide)
            work.take(loaded.specification, chosen, left_out)

    def _fail(self, work: _Work, title: str, failed: Failed) -> None:
        if failed.kind == "Reported":  # wrong under the settings of this check, which was shown
            work.specification = None
            work.waiting.clear()
            work.alone.clear()
            return
        if failed.kind == "BadInput":
            raise BadInput(failed.message, failed.hint)
        if failed.kind == "MemoryError":
            raise MemoryError(f"{title}: {failed.message}")
        raise failed.as_mistake(title)

    def _process_died(self, title: str, died: Died) -> None:
        if not died.from_outside:
            raise JobFailed(f"{title}: its process {died.how}")
        self._display.hide()
        console = error_console(no_color=self._request.no_color)
        console.print(f"[bold red]error[/]: {title}: its process {died.how}", soft_wrap=True)
        if died.signal == "SIGKILL":
            hint = "if the machine ran out of memory: --jobs 1 runs one check at a time, --memory sets a limit"
            console.print(f"  [cyan]=[/] {hint}", soft_wrap=True)
        raise Reported(ExitCode.UNDECIDED)

    def _last_reports(self) -> None:
        """Takes what the checks that run have found so far, of those that say it in time."""
        self._processes.ask_to_stop()
        until = time.monotonic() + GRACE_SECONDS
        while self._processes.busy and (left := until - time.monotonic()) > 0:
            for key, event in self._processes.wait(left):
                self._take(key, event)


def jobs_default() -> int:
    """How many checks run at once: one for each core, fewer where the memory does not suffice for so many."""
    memory = memory_default()
    return usable_cores() if memory is None else max(min(usable_cores(), memory // SHARE_BYTES_LEAST), 1)


def shared_threads(alone: Exploring, jobs: int) -> Exploring:
    """How each of several checks that run at once is explored: with its share of the cores, if no option says otherwise
    for."""
    if alone.threads is not None or alone.engine != "native":
        return alone
    return replace(alone, threads=max(usable_cores() // jobs, 1))


def shared_limits(alone: Limits, jobs: int) -> Limits:
    """The limits of each of several checks that run at once: all together have the memory that one has by default."""
    default = memory_default()
    if default is None or jobs == 1:
        return alone
    share = default // jobs
    most = alone.memory_bytes_max
    return replace(alone, memory_bytes_max=share if most is None else min(share, most))


def is_short_of_memory(result: CheckResult) -> bool:
    """Whether something was not decided because the memory did not suffice, which engines say in words only."""
    open_ones = (found.answer.scope for found in result.properties if found.outcome == "undecided")
    return any("memory" in text for text in (result.answer.coverage.stopped or "", *open_ones))


# ---- what the other processes do ----


def read(text: str, path: str, report: Report) -> Loaded:
    """A spec, or what is wrong with it."""
    return load(text, path, read_library)


def check(
    pickled: bytes, question: Question, request: Request, exploring: Exploring, limits: Limits, report: Report
) -> CheckResult:
    """A check of a spec, run. Errors: `Reported`, when the spec is wrong under its settings."""
    specification = specification_of(pickled)
    prepared = prepare(specification, question, request.settings, request.properties, no_color=request.no_color)
    recheck = recheck_for(exploring, specification, request.settings, question.name)
    try:
        return run_check(prepared, engine_for(exploring, recheck), limits, report, replay)
    except Refused as refused:
        raise BadInput(str(refused)) from None
