"""Runs `hacheck verify --all`: the checks of every shipped spec, one row of a table for each spec."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from hacheck import shipped
from hacheck.checker.engine import Progress
from hacheck.checker.verify import CheckResult
from hacheck.cli import json_output
from hacheck.cli.console import error_console, output_console, plural, seconds, symbols
from hacheck.cli.engines import engine_for
from hacheck.cli.guard import BadInput, ExitCode, Reported
from hacheck.cli.json_output import Json
from hacheck.cli.progress import Interruption, progress_display
from hacheck.cli.selection import select
from hacheck.cli.sources import load_specification
from hacheck.cli.summary import STYLES, VERDICTS, exit_code, listed, remark, tally
from hacheck.cli.verifying import Request, explored
from hacheck.model.data import dataclass, replace


@dataclass(frozen=True, slots=True)
class SpecResult:
    """What became of one spec. `readable`: else its text has errors, which were shown. `skipped`: the checks that were
    not begun; `left_out`: those that run by request only. `json`: all that was found, where it is asked for."""

    name: str
    readable: bool
    results: tuple[CheckResult, ...]
    skipped: tuple[str, ...]
    left_out: tuple[str, ...]
    wall_seconds: float
    json: Json = None

    @property
    def code(self) -> ExitCode:
        """What `hacheck verify` would return for this spec alone."""
        return exit_code(self.results, all_ran=not self.skipped) if self.readable else ExitCode.BAD_INPUT


def verify_all(request: Request) -> ExitCode:
    """Runs the checks of every shipped spec, and returns what the process is to return."""
    refuse_what_is_of_one_spec(request)
    engine_for(request.exploring)  # says at once what is wrong with it
    target = None if request.json is None else json_output.open_target(request.json)
    to_stderr = target is not None and target.path is None
    console = (error_console if to_stderr else output_console)(no_color=request.no_color)
    paths = shipped.specs()
    width = max((len(path.stem) for path in paths), default=0)
    done: list[SpecResult] = []
    try:
        console.print(heading(width))
        for found in verified(request, paths):
            done.append(found)
            if not request.quiet or found.code != ExitCode.AS_EXPECTED:
                show_row(console, found, width)
        not_run = [path.stem for path in paths[len(done) :]]
        code = overall(done, not_run)
        show_summary(console, done, not_run)
        if target is not None:
            found_of_each = [one.json for one in done if one.readable]
            target.write(json_output.all_json(found_of_each, not_run, code))
    finally:
        if target is not None:
            target.forget()
    return code


def refuse_what_is_of_one_spec(request: Request) -> None:
    """Errors: `BadInput` for what the user asked for that only one spec has."""
    if request.spec:
        hint = f"leave out one of them: hacheck verify {request.spec}, or hacheck verify --all"
        raise BadInput(f"--all means every shipped spec, and `{request.spec}` is one", hint)
    asked = {
        "--check": request.checks,
        "--property": request.properties,
        "--set": request.settings,
        "--itf": request.itf,
        "--checkpoint and --resume": request.exploring.checkpoint,
        "--runs": request.runs,
        "--witnesses": request.witnesses,
    }
    for name, given in asked.items():
        if given:
            raise BadInput(f"{name} goes with one spec, not with --all", "hacheck verify SPEC, and the option")


def verified(request: Request, paths: Sequence[Path]) -> Iterator[SpecResult]:
    """One spec after the other, until all are done or the user interrupts."""
    interruption = Interruption()
    for path in paths:
        try:
            found = verify_one(replace(request, spec=str(path)), path, interruption)
        except KeyboardInterrupt:
            if interruption.requested:  # asked for a second time: at once
                raise
            return
        yield found
        if interruption.requested:
            return


def verify_one(request: Request, path: Path, interruption: Interruption) -> SpecResult:
    """The checks of one spec, until all are done or the user interrupts.

    Errors: `KeyboardInterrupt` while the spec is read, which nobody asks how far it is.
    """
    name, begin = path.stem, time.monotonic()
    errors = error_console(no_color=request.no_color)
    try:
        with progress_display(errors, name, quiet=request.quiet) as display:
            display.update(Progress(0, 0, 0, 0, 0.0, 0, "reading"))
            specification = load_specification(request.spec, no_color=request.no_color)
            selection = select(specification, (), {}, (), wide=request.wide, no_color=request.no_color)
    except Reported:
        return SpecResult(name, False, (), (), (), time.monotonic() - begin)
    with interruption.watching():
        results = tuple(explored(request, selection, interruption, spec=name))
    skipped = tuple(prepared.check.name for prepared in selection.prepared[len(results) :])
    left_out = tuple(check.name for check in selection.left_out)
    elapsed = time.monotonic() - begin
    found = SpecResult(name, True, results, skipped, left_out, elapsed)
    if request.json is None:
        return found
    made = json_output.verify_json(specification, name, results, [*skipped, *left_out], found.code)
    return replace(found, json=made)


def overall(done: list[SpecResult], not_run: list[str]) -> ExitCode:
    """What the process returns: a spec with errors counts most, as for one spec."""
    if any(not one.readable for one in done):
        return ExitCode.BAD_INPUT
    results = [result for one in done for result in one.results]
    return exit_code(results, all_ran=not not_run and not any(one.skipped for one in done))


def heading(width: int) -> Text:
    """The names of the columns."""
    return Text(row("spec", "checks", "states", "time", width), style="quiet")


def row(name: str, checks: str, states: str, wall_time: str, width: int) -> str:
    """The cells of a row beside each other, without its mark and its verdict."""
    return f"   {name:<{width}}  {checks:>6}  {states:>13}  {wall_time:>11}  "


def show_row(console: Console, found: SpecResult, width: int) -> None:
    """The row of a spec, and beneath it each of its checks that did not come out as expected."""
    marks = symbols(console)
    code = found.code
    mark, style = {
        ExitCode.AS_EXPECTED: (marks.holds, "ok"),
        ExitCode.UNDECIDED: (marks.unknown, "warn"),
    }.get(code, (marks.violated, "bad"))
    states = sum(result.answer.coverage.states for result in found.results)
    cells = row(found.name, str(len(found.results)), f"{states:,}", seconds(found.wall_seconds), width)
    verdict = verdict_of(found)
    console.print(Text.assemble((mark, style), cells[1:], (verdict, style)), soft_wrap=True)
    for result in found.results:
        if result.outcome != "expected":
            line = Text.assemble("check ", (result.check.name, "name"), ": ", (remark(result), STYLES[result.outcome]))
            console.print(Padding(line, (0, 0, 0, 6)))


def verdict_of(found: SpecResult) -> str:
    """How the checks of a spec came out, in a few words."""
    if not found.readable:
        return "has errors, see above"
    count = {name: sum(result.outcome == name for result in found.results) for name in VERDICTS}
    if found.code == ExitCode.AS_EXPECTED:
        return "as expected"
    said = [f"{count[name]} {VERDICTS[name]}" for name in ("unexpected", "undecided") if count[name]]
    if found.skipped:
        said.append(f"{len(found.skipped)} not run")
    return ", ".join(said)


def show_summary(console: Console, done: list[SpecResult], not_run: list[str]) -> None:
    """How many checks of how many specs came out how, how to see more, and how to run the rest."""
    console.print(Rule(style="quiet", characters=symbols(console).rule))
    results = [result for one in done for result in one.results]
    line = Text(f"{plural(len(done), 'spec')}, {plural(len(results), 'check')}, ")
    line.append(f"{seconds(sum(one.wall_seconds for one in done))}: ")
    said = tally(results)
    unreadable = [one.name for one in done if not one.readable]
    if unreadable:
        said.append((f"with errors: {', '.join(unreadable)}", "bad"))
    skipped = sum(len(one.skipped) for one in done)
    if skipped or not_run:
        unbegun = [plural(skipped, "check")] if skipped else []
        said.append((f"not run: {', '.join([*unbegun, *not_run])}", "doubt"))
    console.print(listed(line, said))
    checks = ((one.name, result) for one in done for result in one.results)
    surprise = next(((spec, result.check.name) for spec, result in checks if result.outcome == "unexpected"), None)
    if surprise is not None:
        spec, check = surprise
        console.print(Text(f"  hacheck verify {spec} --check {check}   tells it step by step", style="quiet"))
    left_out = sum(len(one.left_out) for one in done)
    if left_out:
        console.print(Text(f"by request, not run: {plural(left_out, 'check')}; --wide runs them", style="quiet"))
