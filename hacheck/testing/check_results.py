"""The checks of a spec as tests: their questions, exploring, and what is wrong with an answer, in plain text."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hacheck.checker.described_run import run_title
from hacheck.checker.engine import Limits, Progress
from hacheck.checker.pictures.charset import shows_unicode
from hacheck.checker.pictures.glyphs import ASCII, UNICODE
from hacheck.checker.pictures.picture_lines import picture_lines
from hacheck.checker.run_view.view_reader import ViewReader
from hacheck.checker.run_view.views import Views
from hacheck.checker.verify import CheckResult, Prepared, PropertyResult, Question, questions_of, run_check
from hacheck.model.interpreter import replay
from hacheck.model.ir import Property, System
from hacheck.model.language.parse import parse
from hacheck.model.runs import Run
from hacheck.supervise.resources import memory_default, usable_cores

if TYPE_CHECKING:
    from hacheck.model.language import Specification

Explored: TypeAlias = CheckResult

NO_PROPERTY = "no_error"
"""What the test of a check is called that asks for nothing."""

WIDTH = 78
"""Columns of text."""


def is_library(path: Path) -> bool:
    """Whether a file is part of specs, and none itself."""
    try:
        file, _ = parse(path.read_text(encoding="utf-8-sig"), str(path))
    except (OSError, UnicodeDecodeError):
        return False
    return file is not None and file.library


def questions(specification: Specification, *, wide: bool) -> tuple[Question, ...]:
    """The checks of a spec, those by request only where that is wanted (`wide`)."""
    return tuple(one for one in questions_of(specification) if wide or not one.by_request)


def explored(system: System, question: Question, workers: int = 1) -> Explored:
    """The answer of the engine that `hacheck verify` takes. `workers`: so many processes share the machine. Errors:
    `RunDoesNotReplay`, a mistake of ours."""
    from hacheck.checker.explicit.native_engine import NativeEngine

    memory = memory_default()
    limits = Limits(memory_bytes_max=None if memory is None else memory // workers)
    engine = NativeEngine(threads=max(usable_cores() // workers, 1), stop_early=True)
    return run_check(Prepared(question, system, question.only), engine, limits, _go_on, replay)


def _go_on(_: Progress) -> bool:
    return True


def what_is_wrong(result: Explored, name: str, specification: Specification) -> str:
    """Why the test of a property fails, for people; nothing where it does not."""
    found = next((one for one in result.properties if one.prop.name == name), None)
    if found is not None and found.outcome == "expected":
        return ""
    if found is None or found.outcome == "undecided":
        return _of_the_spec(result, name, specification) or ("" if found is None else _undecided(result, found))
    parts = [_headline(result, found)]
    about = [found.prop.description, f"source: {found.prop.source}" if found.prop.source else ""]
    parts += [line for line in (*about, specification.place_of(found.prop)) if line]
    run = found.answer.run
    if run is not None:
        decides = found.prop if found.answer.verdict == "violated" else None
        parts += ["", *run_lines(result.system, run, decides), *_again(result, specification, name)]
    elif not result.answer.coverage.complete or result.answer.coverage.bounds_reached:
        parts.append(found.answer.scope.removeprefix("in no state of "))  # that much was said
    return "\n".join(_wrapped(parts))


def _headline(result: Explored, found: PropertyResult) -> str:
    prop, run = found.prop, found.answer.run
    length = "" if run is None else f" in {run_title(result.system, run)}"
    check = f"check {result.check.name}: {prop.name}"
    if prop.kind == "reachable":
        missed = found.answer.verdict == "violated"
        return f"{check} is never reached" if missed else f"{check} is reached{length}, which is not expected"
    if found.answer.verdict == "violated":
        return f"{check} is violated{length}"
    return f"{check} holds, but a violation is expected"


def _undecided(result: Explored, found: PropertyResult) -> str:
    text = f"check {result.check.name}: {found.prop.name} is undecided: {found.answer.scope}"
    return "\n".join(_wrapped([text]))


def _of_the_spec(result: Explored, name: str, specification: Specification) -> str:
    """What is wrong with the spec itself, in a state that it reaches."""
    run, coverage = result.answer.error, result.answer.coverage
    if run is None or run.error is None:
        if result.answer.unstartable or (name == NO_PROPERTY and not coverage.complete):
            why = coverage.stopped or "not every state was visited"
            return "\n".join(_wrapped([f"check {result.check.name}: {why}"]))
        return ""
    action = result.system.actions[run.error.action]
    place = specification.place_of(action)
    title = f"check {result.check.name}: the spec has an error after {run_title(result.system, run)}"
    failed = f"{action.name} cannot be completed: {run.error.message}"
    return "\n".join(_wrapped([title, failed, place, "", *run_lines(result.system, run, None)]))


def _again(result: Explored, specification: Specification, name: str) -> list[str]:
    settings = f"--check {result.check.name} " if specification.checks else ""
    return [
        "",
        "To see it again, and as JSON or a diagram:",
        f"    hacheck verify {specification.path} {settings}--property {name} --runs",
    ]


# ---- runs ----


def run_lines(system: System, run: Run, about: Property | None) -> Iterator[str]:
    """The picture of a run as `hacheck verify` shows it, in lines of text for the terminal of this process, which stays
    where it is while pytest captures what is printed."""
    reader = ViewReader(Views(system, {}).view(run, about).to_json())
    glyphs = UNICODE if shows_unicode(sys.__stdout__) else ASCII
    yield from (line.plain for line in picture_lines(reader, WIDTH, glyphs))


def _wrapped(lines: Iterable[str]) -> Iterator[str]:
    """Lines of a terminal's width: what goes on is indented as its line is, and a little more."""
    for number, line in enumerate(lines):
        if len(line) <= WIDTH:
            if line or number:
                yield line
            continue
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        yield from textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
