"""The checks of one spec, explored: one after the other, or side by side where they take long; with their progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec.structs import replace
from rich.console import Console

from hacheck.checker.engine import Engine, Progress, Refused
from hacheck.checker.verify import CheckResult, Prepared, Question, run_check
from hacheck.cli.checking import growth_report
from hacheck.cli.checking.request import Request
from hacheck.cli.console import error_console
from hacheck.cli.engines import Exploring, engine_for, recheck_for
from hacheck.cli.guard import BadInput
from hacheck.cli.progress import Display, OneLine, progress_display, progress_of_several
from hacheck.cli.selection import Selection
from hacheck.model.interpreter import replay
from hacheck.model.language import Specification
from hacheck.supervise.interruption import Interruption
from hacheck.wording import plural

if TYPE_CHECKING:
    from hacheck.checker.recheck_result import Recheck
    from hacheck.model.ir import System

ALONE_SECONDS = 1.0
"""Checks that take no longer than this run in this process. Others begin, and load hacheck, in half of that."""


def explored(
    request: Request, selection: Selection, interruption: Interruption, *, kept: frozenset[str] = frozenset()
) -> Iterator[CheckResult]:
    """Each check in its order, until all are done or the user interrupts. `kept`: the checks to go on with. Where
    those done so far took a while, the others run side by side in processes of their own; those that run by request are
    large, and have all threads to themselves."""
    begin, violated, number = time.monotonic(), 0, 0
    while number < len(selection.questions) and not interruption.requested:
        several = list(takewhile(lambda one: not one.by_request, selection.questions[number:]))
        jobs = min(jobs_now(request, time.monotonic() - begin), len(several))
        if jobs > 1:
            found = explored_side_by_side(request, selection, several, jobs, interruption)
        else:
            several = [selection.questions[number]]
            found = iter([explored_alone(request, selection, several[0], violated, interruption, kept)])
        number += len(several)
        for result in found:
            violated += sum(found.answer.verdict == "violated" for found in result.properties)
            yield under_other_settings(result) if request.settings else result


def explored_alone(
    request: Request,
    selection: Selection,
    question: Question,
    violated: int,
    interruption: Interruption,
    kept: frozenset[str],
) -> CheckResult:
    """One check, in this process. `violated`: so many violations were found before."""
    title = f"check {question.name}"
    if violated:
        title += f" ({plural(violated, 'violation')} so far)"
    prepared = selection.prepare(question)
    recheck = recheck_for(request.exploring, selection.specification, request.settings, question.name)
    engine = engine_of(request.exploring, prepared, kept, recheck)
    return explore(request, engine, prepared, title, interruption, selection.specification)


def jobs_now(request: Request, spent_seconds: float) -> int:
    """How many checks may run at once when so much time was spent on the first ones. A checkpoint is written by one."""
    if request.exploring.checkpoint is not None or (request.jobs is None and spent_seconds <= ALONE_SECONDS):
        return 1
    from hacheck.cli.checking.side_by_side import jobs_default

    return request.jobs or jobs_default()


def explored_side_by_side(
    request: Request, selection: Selection, questions: Sequence[Question], jobs: int, interruption: Interruption
) -> Iterator[CheckResult]:
    """Each of these checks in its order, `jobs` of them at once."""
    from hacheck.cli.checking.side_by_side import SideBySide

    errors = error_console(no_color=request.no_color)
    with progress_of_several(errors, quiet=request.quiet) as display:
        growth = GrowthNotice(request, selection.specification, errors, display)

        def notice(question: Question, progress: Progress) -> None:
            growth.look(question.name, progress, lambda: selection.prepare(question).system)

        several = SideBySide.of_one(
            request, selection.specification, questions, jobs, display, interruption, notice
        ).checks()
        with closing(several) as results:
            for result in results:
                display.hide()
                yield result


def under_other_settings(result: CheckResult) -> CheckResult:
    """A check whose settings `--set` changed: a violation that it expects belongs to its own settings, so a property
    that holds under others is no surprise. One that is violated against expectation still is."""
    return replace(
        result,
        properties=tuple(
            replace(found, expected="holds")
            if (found.expected, found.answer.verdict) == ("violated", "holds")
            else found
            for found in result.properties
        ),
    )


def explore(
    request: Request,
    engine: Engine,
    prepared: Prepared,
    title: str,
    interruption: Interruption,
    specification: Specification,
) -> CheckResult:
    """One check, with its progress shown under a title; once it is large, what makes it so, where the user gave no
    limits."""
    errors = error_console(no_color=request.no_color)
    with progress_display(errors, title, quiet=request.quiet) as display:
        growth = GrowthNotice(request, specification, errors, display)

        def report(progress: Progress) -> bool:
            growth.look(prepared.check.name, progress, lambda: prepared.system)
            display.update(progress)
            return not interruption.requested

        try:
            return run_check(prepared, engine, request.limits, report, replay)
        except Refused as refused:
            raise BadInput(str(refused)) from None


class GrowthNotice:
    """Says of each check once, when it has become large, what makes it so, where the user gave no limits."""

    def __init__(
        self, request: Request, specification: Specification, errors: Console, display: Display | OneLine
    ) -> None:
        self._request, self._specification = request, specification
        self._errors, self._display = errors, display
        self._noticed: set[str] = set()

    def look(self, check: str, progress: Progress, system: Callable[[], System]) -> None:
        """Looks at the progress of a check."""
        request = self._request
        is_large = progress.multipliers and progress.states  # without states it is still being compiled
        if not is_large or request.quiet or request.is_limited or check in self._noticed:
            return
        self._noticed.add(check)
        self._display.hide()
        memory = request.limits.memory_bytes_max
        text = growth_report.notice(self._specification, system(), check, progress, memory, request.spec)
        self._errors.print(text)


def engine_of(exploring: Exploring, prepared: Prepared, kept: frozenset[str], recheck: Recheck | None = None) -> Engine:
    """The engine for one check, which keeps what it explores in a folder of its own."""
    folder, name = exploring.checkpoint, prepared.check.name
    own = replace(exploring, checkpoint=None if folder is None else folder / name, resume=name in kept)
    return engine_for(own, recheck)
