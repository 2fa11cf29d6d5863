"""Runs `hacheck verify`: everything the user gave is examined first, then the checks run, each shown as it
ends."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace
from rich.console import Console
from rich.text import Text

from hacheck.atomic_files import replace_text
from hacheck.checker.described_run import run_title
from hacheck.checker.verify import CheckResult, PropertyResult, runs_of
from hacheck.cli import json_output
from hacheck.cli.checking import overview, recheck_report, report, run_rendering
from hacheck.cli.checking.ci_outputs import ci_outputs
from hacheck.cli.checking.explored_checks import explored
from hacheck.cli.checking.raising_limits import Earlier, command_of, raise_limits, show_raised
from hacheck.cli.checking.request import Request
from hacheck.cli.checking.shown_runs import settings_line, shown_run
from hacheck.cli.checking.summary import exit_code, summary
from hacheck.cli.console import error_console, output_console, symbols
from hacheck.cli.engines import Exploring, refuse_ignored, refuse_no_exploration
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.selection import Selection, select
from hacheck.cli.sources import load_specification
from hacheck.model.language import Specification
from hacheck.model.property_names import is_named
from hacheck.supervise.interruption import Interruption

if TYPE_CHECKING:
    from hacheck.cli.checking.kept_trials import Raised
    from hacheck.documents.verify import VerifyDocument

NOTHING_TO_TRY = "there is no counterexample to try. It is about unexpected violations, or those of --property NAME."
"""What is said where `--blame` or `--counterexamples` finds nothing to do."""


def verify_shipped(request: Request) -> ExitCode:
    """Runs the checks of every shipped spec, and returns what the process is to return."""
    from hacheck.cli.checking.verification_of_all import verify_all

    return verify_all(request)


def verify_spec(request: Request) -> ExitCode:
    """Runs the selected checks, shows what was found, and returns what the process is to return."""
    return verified(request, Interruption())[0]


def runner(*, every: bool, watched: bool) -> Callable[[Request], ExitCode]:
    """What carries a request out: for every shipped spec, each time that the spec is saved, or once."""
    if every:
        return verify_shipped
    if watched:
        from hacheck.cli.checking.spec_watch import watch

        return watch
    return verify_spec


def verified(
    request: Request, interruption: Interruption, *, examined: bool = True
) -> tuple[ExitCode, list[CheckResult]]:
    """Runs the selected checks and shows what was found: what the process is to return, and the results. `examined`:
    looks for mistakes under the settings of every check, also of those that do not run."""
    refuse_ignored(request.exploring, request.states_max)
    if request.raising:
        refuse_no_exploration(request.exploring)
    specification = load_specification(request.spec, no_color=request.no_color, examined=examined)
    selection = select(
        specification,
        request.checks,
        request.settings,
        request.properties,
        wide=request.wide,
        no_color=request.no_color,
    )
    kept = kept_checks(request.exploring, selection)
    folder = None if request.itf is None else json_output.open_folder(request.itf)
    target = None if request.json is None else json_output.open_target(request.json)
    page = None if request.report is None else json_output.open_target(request.report)
    ci = ci_outputs(request.ci)
    to_stderr = any(one is not None and one.path is None for one in (target, page, *ci.targets))
    console = (error_console if to_stderr else output_console)(no_color=request.no_color)
    begin = time.monotonic()
    results, raised = run_checks(request, console, specification, selection, kept, interruption)
    spent = time.monotonic() - begin
    ran = {result.check.name for result in results}
    skipped = [question.name for question in selection.questions if question.name not in ran]
    code = exit_code(results, all_ran=not skipped)
    properties = [found for result in results for found in result.properties]
    if request.blame and not any(found.blamed for found in properties):
        console.print(Text(f"\nblame: {NOTHING_TO_TRY}", style="warn"))
    if request.counterexamples > 1 and not any(found.others for found in properties):
        console.print(Text(f"\ncounterexamples: {NOTHING_TO_TRY}", style="warn"))
    spec = request.spec
    console.print()
    left_out = selection.left_out
    console.print(summary(console, results, skipped=skipped, left_out=left_out, spec=spec, wall_seconds=spent))
    if folder is not None:
        write_itf(folder, results)
    if target is not None or page is not None or ci.is_wanted:
        not_run = [*skipped, *(check.name for check in selection.left_out)]
        document = document_of(specification, spec, results, not_run, code, raised)
        if target is not None:
            target.write(document)
        if page is not None:
            write_report(page, specification, document, results)
        code = ci.written(document, code, to_stderr=to_stderr)
    return code, results


def write_report(
    page: json_output.Target, specification: Specification, document: VerifyDocument, results: Sequence[CheckResult]
) -> None:
    """Writes the page that `--report` asks for."""
    from hacheck.cli.page.report_files import verify_report

    page.save(verify_report(specification, document.to_dict(), results))


def document_of(
    specification: Specification,
    spec: str,
    results: Sequence[CheckResult],
    not_run: Sequence[str],
    code: ExitCode,
    raised: Mapping[str, Raised],
) -> VerifyDocument:
    """What `--json` writes about a spec; the module is loaded only where it does."""
    from hacheck.api.verify_document import verify_document
    from hacheck.cli.checking.raised_json import raised_parts

    return verify_document(specification, spec, results, not_run, code, raised_parts(raised))


def kept_checks(exploring: Exploring, selection: Selection) -> frozenset[str]:
    """The checks of which something is kept to go on from. Errors: `BadInput` where the user wants that and there are
    none, and where it is not and there are some."""
    folder = exploring.checkpoint
    if folder is None:
        return frozenset()
    names = [question.name for question in selection.questions]
    if not exploring.resume:
        from hacheck.checker.explicit.search.checkpoint_manifest import NAME

        if already := [name for name in names if (folder / name / NAME).exists()]:
            hint = f"--resume {folder} continues it; to start anew, name another folder or remove that one"
            raise BadInput(f"--checkpoint {folder}: {', '.join(already)} is kept there already", hint)
        return frozenset()
    found = frozenset(name for name in names if (folder / name).is_dir())
    if not found:
        inside = sorted(item.name for item in folder.iterdir() if item.is_dir()) if folder.is_dir() else []
        hint = f"it holds: {', '.join(inside)}" if inside else "--checkpoint keeps what is explored, to go on from"
        raise BadInput(f"--resume {folder}: nothing of {', '.join(names)} is kept there", hint)
    return found


def run_checks(
    request: Request,
    console: Console,
    specification: Specification,
    selection: Selection,
    kept: frozenset[str],
    interruption: Interruption,
) -> tuple[list[CheckResult], dict[str, Raised]]:
    """Runs one check after the other until all are done or the user interrupts, and then, if the user wants that, again
    with each limit raised. What is known of raised limits, by check. `kept`: the checks to go on with."""
    results: list[CheckResult] = []
    raised: dict[str, Raised] = {}
    brief = len(selection.questions) > 1 and not request.details
    if not request.quiet:
        console.print(report.title(specification))
    with interruption.watching():
        before = Earlier(specification, tuple(request.settings.items()))
        for found in explored(request, selection, interruption, kept=kept):
            result = with_blame(request, specification, found, interruption) if request.blame else found
            result = with_others(request, result, interruption) if request.counterexamples > 1 else result
            results.append(result)
            known = None if request.raising else before.known(result)
            if known is not None:
                raised[result.check.name] = known
            if brief:
                continue
            if not request.quiet or result.outcome != "expected" or recheck_report.differs([result]):
                show_result(request, console, specification, result)
                if known is not None:
                    show_raised(console, known, command_of(request, result))
        if brief and results:
            show_overview(request, console, specification, results)
        if request.raising:
            raised = raise_limits(request, console, [(request.spec, specification, results)], interruption)[0]
    return results, raised


def with_blame(
    request: Request, specification: Specification, result: CheckResult, interruption: Interruption
) -> CheckResult:
    """The result with what its counterexamples need: those of the properties named, else the unexpected ones."""
    from hacheck.cli.checking.blaming import blame_run

    errors = error_console(no_color=request.no_color)
    made = []
    for found in result.properties:
        run, wanted = found.answer.run, is_to_blame(request, found)
        if run is not None and wanted and not interruption.requested:
            threads, check = request.exploring.threads, result.check.name
            blamed = blame_run(
                errors, specification, request.settings, check, found.prop, run, request.limits, interruption,
                threads=threads, quiet=request.quiet,
            )  # fmt: skip
            found = replace(found, blamed=blamed)
        made.append(found)
    return replace(result, properties=tuple(made))


def with_others(request: Request, result: CheckResult, interruption: Interruption) -> CheckResult:
    """The result with more counterexamples of the properties named, else of those violated unexpectedly."""
    from hacheck.cli.checking.other_counterexamples import others_of

    made = []
    for found in result.properties:
        run = found.answer.run
        if run is not None and is_to_vary(request, found) and not interruption.requested:
            found = replace(found, others=others_of(request, result.system, found.prop, run, interruption))
        made.append(found)
    return replace(result, properties=tuple(made))


def is_to_vary(request: Request, found: PropertyResult) -> bool:
    """Whether more counterexamples of a property are looked for, or its parts are tried."""
    if found.answer.verdict != "violated":
        return False
    return is_named(found.prop.name, request.properties) or (found.outcome == "unexpected" and not request.properties)


def is_to_blame(request: Request, found: PropertyResult) -> bool:
    """Whether a counterexample is one that `--blame` is about."""
    return request.blame and is_to_vary(request, found)


def show_overview(
    request: Request, console: Console, specification: Specification, results: Sequence[CheckResult]
) -> None:
    """What there is to say about several checks before their table: what matters, a screen for each check that did not
    come out as expected, and the scope of all answers."""
    if not request.quiet:
        console.print()
        console.print(overview.headline(results))
    for result in results:
        surprises = [one for one in result.properties if is_surprise(one)]
        short = replace(result, properties=tuple(surprises[:1]))
        wanted = short if not (request.runs or request.witnesses) else result
        show_runs(request, console, specification, wanted)
        if len(surprises) > 1 and wanted is short:
            console.print(Text(f"\nalso not as expected in check {result.check.name}:", style="bad"))
            for one in surprises[1:]:
                console.print(Text(f"  {one.prop.name}: {report.verdict_of(one)}{report.expectation(one)}"))
                command = command_for(request, result.check.name, one)
                console.print(f"    {command}", markup=False, highlight=False, soft_wrap=True)
        if result.answer.rechecked is not None:
            for difference in result.answer.rechecked.differences:
                console.print(recheck_report.difference(console, difference))
    if not request.quiet:
        console.print()
        console.print(overview.scope(results))


def show_result(request: Request, console: Console, specification: Specification, result: CheckResult) -> None:
    """Everything there is to say about one check; of what is as expected nothing, where the user wants quiet."""
    has_properties, vacuous = bool(result.properties), report.vacuous(result)
    if request.quiet:
        result = replace(result, properties=tuple(found for found in result.properties if found.outcome != "expected"))
    defaults = {parameter.name: parameter.default for parameter in specification.parameters}
    console.print()
    console.print(report.heading(console, result.check.name, result.check.description))
    if vacuous is not None:
        console.print(vacuous)
    console.print(report.facts(result, defaults, specification))
    console.print()
    if result.properties:
        console.print(report.properties(console, result))
        if not request.runs and any(is_short(found) for found in result.properties):
            console.print(report.how_to_see(result))
    elif not has_properties:
        console.print(report.no_property())
    if (unused := report.unused(specification, result)) is not None:
        console.print()
        console.print(unused)
    show_runs(request, console, specification, result)
    if result.answer.rechecked is not None:
        for one in result.answer.rechecked.differences:
            console.print(recheck_report.difference(console, one))


def is_surprise(found: PropertyResult) -> bool:
    """Whether a run is shown though no option names it: it is unexpected, or more of it was wanted than to be seen."""
    tried = found.blamed is not None or found.others is not None
    return found.outcome == "unexpected" or found.without_value or tried


def is_short(found: PropertyResult) -> bool:
    """Whether a run was found that is shown only on request: that of an expected violation."""
    return found.answer.verdict == "violated" and found.outcome == "expected" and found.answer.run is not None


def show_runs(request: Request, console: Console, specification: Specification, result: CheckResult) -> None:
    """The runs: surprises always, expected violations and witnesses on request."""
    fault = result.answer.error
    if fault is not None:
        console.print()
        console.print(
            report.run_heading(console, "the spec has an error", "after " + run_title(result.system, fault), "bad")
        )
        console.print(
            shown_run(console, result.system, fault, None, steps=request.steps, places=specification.place_of)
        )
    for found in result.properties:
        surprise = is_surprise(found)
        is_witness = found.prop.kind == "reachable" and not found.without_value
        wanted = request.witnesses if is_witness else surprise or request.runs
        if found.answer.cti is not None:
            show_cti(console, specification, result, found)
        if found.answer.run is not None and wanted:
            show_run(request, console, specification, result, found)


def show_run(
    request: Request, console: Console, specification: Specification, result: CheckResult, found: PropertyResult
) -> None:
    """One run: what it shows and under which settings, its picture, and the command that shows it again."""
    run = found.answer.run
    assert run is not None, "there is a run"
    surprise = found.outcome == "unexpected" or found.without_value
    title = f"{found.prop.name}: {report.verdict_of(found)}{report.expectation(found)}"
    length = f"in {run_title(result.system, run)}"
    style = "bad" if surprise else "expected" if found.answer.verdict == "violated" else "good"
    place = specification.place_of(found.prop)
    console.print()
    console.print(report.run_heading(console, title, length, style, found.prop, place))
    console.print(run_rendering.indented(Text(settings_line(result.system, specification), style="quiet"), 2))
    about = found.prop if found.answer.verdict == "violated" or found.without_value else None
    console.print()
    console.print(shown_run(console, result.system, run, about, steps=request.steps, blamed=found.blamed))
    if found.without_value:
        console.print(run_rendering.indented(Text(f"{symbols(console).violated} {found.answer.scope}", "bad")))
    if found.blamed is not None:
        from hacheck.cli.checking.blaming import shown_blame

        console.print()
        console.print(run_rendering.indented(shown_blame(found.blamed), 2))
    if found.others is not None:
        from hacheck.cli.checking.other_counterexamples import show_others

        show_others(console, result.system, found.prop, found.others, steps=request.steps)
    console.print(Text("\nto see it again:", style="quiet"))
    console.print(f"  {command_for(request, result.check.name, found)}", markup=False, highlight=False, soft_wrap=True)


def command_for(request: Request, check: str, found: PropertyResult) -> str:
    """The command that finds and shows a run again."""
    settings = [word for name, value in request.settings.items() for word in ("--set", f"{name}={value}")]
    what = "--witnesses" if found.prop.kind == "reachable" else "--runs"
    words = ["hacheck", "verify", request.spec, "--check", check, "--property", found.prop.name, *settings, what]
    words += ["--counterexamples", str(request.counterexamples)] if found.others is not None else []
    return shlex.join(words)


def show_cti(console: Console, specification: Specification, result: CheckResult, found: PropertyResult) -> None:
    """What speaks against a proof by induction: a state that nothing shown forbids, and a step from it that breaks the
    property."""
    cti = found.answer.cti
    assert cti is not None, "there is a counterexample to induction"
    place = specification.place_of(found.prop)
    title, length = f"{found.prop.name}: {report.verdict_of(found)}", "a step from a state that is not ruled out"
    console.print()
    console.print(report.run_heading(console, title, length, "bad", found.prop, place))
    start = "a state that nothing shown rules out"
    console.print(run_rendering.indented(run_rendering.full_run(console, result.system, cti, found.prop, start), 2))


def write_itf(folder: Path, results: list[CheckResult]) -> None:
    """A file for each run: `CHECK.PROPERTY.itf.json`."""
    import json

    from hacheck.model.itf import run_to_itf

    for result in results:
        for name, run in runs_of(result.answer):
            path = folder / f"{result.check.name}.{name.replace(' ', '_')}.itf.json"
            try:
                replace_text(path, json.dumps(run_to_itf(result.system, run), indent=1) + "\n")
            except OSError as error:
                raise BadInput(f"{path}: cannot be written: {error.strerror}") from None
