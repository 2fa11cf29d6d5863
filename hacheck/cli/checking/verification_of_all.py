"""Runs `hacheck verify --all`: the checks of every shipped spec, one row of a table for each spec."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from hacheck import shipped
from hacheck.cli import json_output
from hacheck.cli.checking.ci_outputs import Ci
from hacheck.cli.checking.kept_trials import Raised
from hacheck.cli.checking.raising_limits import raise_limits
from hacheck.cli.checking.request import Request
from hacheck.cli.checking.side_by_side import SideBySide, SpecResult, jobs_default
from hacheck.cli.checking.summary import STYLES, VERDICTS, exit_code, listed, remark, tally
from hacheck.cli.checking.verification import document_of
from hacheck.cli.console import error_console, output_console, seconds, symbols
from hacheck.cli.engines import refuse_ignored, refuse_no_exploration
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.progress import progress_of_several
from hacheck.supervise.interruption import Interruption
from hacheck.wording import plural

if TYPE_CHECKING:
    from hacheck.documents.verify import VerifyDocument


def verify_all(request: Request) -> ExitCode:
    """Runs the checks of every shipped spec, and returns what the process is to return."""
    refuse_what_is_of_one_spec(request)
    if request.ci != Ci():
        raise BadInput("outputs for CI systems are about one spec", "name it instead of --all")
    refuse_ignored(request.exploring, request.states_max)
    if request.raising:
        refuse_no_exploration(request.exploring)
    target = None if request.json is None else json_output.open_target(request.json)
    to_stderr = target is not None and target.path is None
    console = (error_console if to_stderr else output_console)(no_color=request.no_color)
    code, found_of_each, not_run = run_and_show(request, console)
    if target is not None:
        from hacheck.api.verify_document import verify_all_document

        target.write(verify_all_document(found_of_each, not_run, code))
    return code


def run_and_show(request: Request, console: Console) -> tuple[ExitCode, list[VerifyDocument], list[str]]:
    """Runs everything and shows the table. Returns the exit code, each spec's document where `--json` is given, and the
    specs of which nothing was run."""
    paths = shipped.specs()
    width = max((len(path.stem) for path in paths), default=0)
    done: list[SpecResult] = []
    jobs, begin = request.jobs or jobs_default(), time.monotonic()
    console.print(heading(width))
    errors = error_console(no_color=request.no_color)
    with (
        Interruption().watching() as interruption,
        progress_of_several(errors, quiet=request.quiet) as display,
        closing(SideBySide(request, paths, jobs, display, interruption).results()) as results,
    ):
        for found in results:
            done.append(found)
            if not request.quiet or code_of(found) != ExitCode.AS_EXPECTED:
                display.hide()
                show_row(console, found, width)
        raised = raised_of(request, console, done, interruption)
    names = {one.name for one in done}
    not_run = [path.stem for path in paths if path.stem not in names]
    show_summary(console, done, not_run, time.monotonic() - begin)
    found_of_each = [] if request.json is None else [json_of(one, raised.get(one.name)) for one in read(done)]
    return overall(done, not_run), found_of_each, not_run


def read(done: list[SpecResult]) -> list[SpecResult]:
    """The specs whose text has no errors."""
    return [one for one in done if one.specification is not None]


def raised_of(
    request: Request, console: Console, done: list[SpecResult], interruption: Interruption
) -> dict[str, dict[str, Raised]]:
    """What raising the limits of all specs finds, by spec and check, if the user wants that."""
    if not request.raising:
        return {}
    specs = [(one.name, one.specification, one.results) for one in done if one.specification is not None]
    return dict(zip((name for name, *_ in specs), raise_limits(request, console, specs, interruption), strict=True))


def json_of(found: SpecResult, raised: dict[str, Raised] | None) -> VerifyDocument:
    """All that was found, as `hacheck verify` has it for this spec alone."""
    assert found.specification is not None, "only what could be read is written down"
    not_run = [*found.skipped, *found.left_out]
    return document_of(found.specification, found.name, found.results, not_run, code_of(found), raised or {})


def code_of(found: SpecResult) -> ExitCode:
    """What `hacheck verify` would return for this spec alone."""
    if found.specification is None:
        return ExitCode.BAD_INPUT
    return exit_code(found.results, all_ran=not found.skipped)


def refuse_what_is_of_one_spec(request: Request) -> None:
    """Errors: `BadInput` for an option that only fits one spec."""
    if request.spec:
        hint = f"leave out one of them: hacheck verify {request.spec}, or hacheck verify --all"
        raise BadInput(f"--all means every shipped spec, and `{request.spec}` is one", hint)
    for_one_spec = {
        "--check": request.checks,
        "--property": request.properties,
        "--set": request.settings,
        "--itf": request.itf,
        "--checkpoint and --resume": request.exploring.checkpoint,
        "--runs": request.runs,
        "--witnesses": request.witnesses,
    }
    for name, given in for_one_spec.items():
        if given:
            raise BadInput(f"{name} goes with one spec, not with --all", "hacheck verify SPEC, and the option")


def overall(done: list[SpecResult], not_run: list[str]) -> ExitCode:
    """What the process returns: a spec with errors counts most, as for one spec."""
    if any(one.specification is None for one in done):
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
    code = code_of(found)
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
    if found.specification is None:
        return "has errors, see above"
    count = {name: sum(result.outcome == name for result in found.results) for name in VERDICTS}
    if code_of(found) == ExitCode.AS_EXPECTED:
        return "as expected"
    said = [f"{count[name]} {VERDICTS[name]}" for name in ("unexpected", "undecided") if count[name]]
    if found.skipped:
        said.append(f"{len(found.skipped)} not run")
    return ", ".join(said)


def show_summary(console: Console, done: list[SpecResult], not_run: list[str], wall_seconds: float) -> None:
    """How many checks of how many specs came out how, how to see more, and how to run the rest."""
    console.print(Rule(style="quiet", characters=symbols(console).rule))
    results = [result for one in done for result in one.results]
    line = Text(f"{plural(len(done), 'spec')}, {plural(len(results), 'check')}, ")
    line.append(f"{seconds(wall_seconds)}: ")
    said = tally(results)
    unreadable = [one.name for one in done if one.specification is None]
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
        console.print(Text(f"  hacheck verify {spec} --check {check}   shows it step by step", style="quiet"))
    left_out = sum(len(one.left_out) for one in done)
    if left_out:
        console.print(Text(f"by request, not run: {plural(left_out, 'check')}; --wide runs them", style="quiet"))
