"""Runs on disk: writing the one a simulation made, and finding, replaying and showing one that was saved."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from rich.console import Console
from rich.text import Text

from hacheck.api.errors import near_names
from hacheck.api.simulation import drawn_run
from hacheck.checker.described_run import run_title
from hacheck.checker.engine import Limits
from hacheck.cli.checking import report
from hacheck.cli.checking.run_rendering import indented
from hacheck.cli.checking.shown_runs import settings_line, shown_run
from hacheck.cli.console import error_console, output_console
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.json_output import from_rows, open_target
from hacheck.cli.options import all_known
from hacheck.cli.page.report_data import ShownRun
from hacheck.cli.progress import working
from hacheck.cli.selection import one_system
from hacheck.cli.sources import instantiate, load_specification
from hacheck.model.counters.value_distances import unbounded
from hacheck.model.failing_conditions import why_impossible
from hacheck.model.interpreter import replay
from hacheck.model.ir import Property, System
from hacheck.model.language import Specification
from hacheck.model.run_json import run_from_json
from hacheck.model.runs import Run
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.resources import memory_default

if TYPE_CHECKING:
    from hacheck.checker.blame.blamed import Blamed

CODE_RUN = "hacheck.sim"
"""The key by which a saved run of code is known."""

# What the standard library's JSON decoder gives: a recursive type that Python cannot narrow usefully.
Json = Any


def simulate_spec(
    spec: str,
    seed: int,
    steps: int,
    check: str | None,
    settings: Mapping[str, str],
    target: str | None,
    *,
    no_color: bool,
) -> ExitCode:
    """Makes one random run, shows it, and saves it where the user wants that."""
    specification = load_specification(spec, no_color=no_color, examined=False)
    system = one_system(specification, check, settings, no_color=no_color)
    place = None if target is None else open_target(target)
    with working("preparing a random run", no_color=no_color):
        run = drawn_run(system, seed, steps)
    to_stderr = place is not None and place.path is None
    console = (error_console if to_stderr else output_console)(no_color=no_color)
    console.print(f"{specification.name}, seed {seed}: {run_title(system, run)}", markup=False)
    console.print(settings_line(system, specification), markup=False, style="dim")
    console.print()
    console.print(shown_run(console, system, run, None, places=specification.place_of))
    if len(run.steps) < steps and run.error is None:
        console.print("\nNothing more can happen here.", style="warn")
    if place is not None:
        from hacheck.api.run_document import simulate_document

        place.write(simulate_document(specification, spec, system, seed, run))
    return ExitCode.AS_EXPECTED if run.error is None else ExitCode.BAD_INPUT


class BlameOptions(Struct, frozen=True):
    """How a saved counterexample is tried without its parts: for how long in all, if not the usual time."""

    seconds_max: float | None = None


class ShowOptions(Struct, frozen=True):
    """How one run is shown. `path`: up to which step, and how on from there."""

    form: str | None
    out: str | None
    steps: bool
    blaming: BlameOptions | None
    path: str | None


class Saved(Struct, frozen=True):
    """A run found in a file, with what is needed to understand it."""

    spec: str
    settings: Mapping[str, str]
    check: str | None
    property: str | None
    run: Json


def show_saved(
    file: str,
    check: str | None,
    only: str | None,
    spec: str | None,
    shown: ShowOptions,
    *,
    no_color: bool,
) -> ExitCode:
    """Replays a saved run and shows it, with `blaming` also what it needs; or writes it in a format for other tools to
    `out`, else to standard output."""
    form, blaming = shown.form, shown.blaming
    content = read_json(file)
    if is_code_run(content):
        named = [name for name, given in (("--check", check), ("--property", only), ("--spec", spec)) if given]
        named += [name for name, given in (("--blame", blaming), ("--path", shown.path)) if given]
        refuse_with_code(file, [*named, *["--steps"] * shown.steps])
        from hacheck.cli.running.saved_code_runs import show_code_run

        return show_code_run(file, content, form, shown.out, no_color=no_color)
    several = isinstance(content, dict) and "specs" in content
    saved = choose(saved_runs(content, file, spec if several else None), file, check, only)
    target = open_target(shown.out or "-") if form is not None else None
    specification = load_specification(saved.spec if several else spec or saved.spec, no_color=no_color, examined=False)
    system = system_of(specification, saved, {}, no_color=no_color)
    run = decode(system, saved, file)
    about = next((item for item in system.properties if item.name == saved.property), None)
    if shown.path is not None:
        run = on_path(system, run, shown.path)
    found = None if blaming is None else blamed_of(blaming, specification, saved, run, about, no_color=no_color)
    if form is not None and target is not None:
        from hacheck.cli.pictures.run_formats import in_format

        target.save(in_format(form, specification, system, run, about, saved.check, found))
        return ExitCode.AS_EXPECTED
    console = output_console(no_color=no_color)
    show_run(console, specification, system, saved, run, about, shown.steps, found)
    if found is not None:
        from hacheck.cli.checking.blaming import shown_blame

        console.print()
        console.print(indented(shown_blame(found), 2))
    return ExitCode.AS_EXPECTED


def is_code_run(content: Json) -> bool:
    """Whether a file holds a run of code, as `simulate-impl --out` writes it."""
    return isinstance(content, dict) and CODE_RUN in content


def refuse_with_code(file: str, options: list[str]) -> None:
    """Errors: `BadInput` where there are options that a run of code has no use for."""
    if options:
        raise BadInput(f"{file}: is a run of code, which goes without {options[0]}", "leave it out")


def on_path(system: System, run: Run, path: str) -> Run:
    """The run along another path. Errors: `BadInput`."""
    from hacheck.checker.run_view.run_paths import BadPath, along
    from hacheck.checker.run_view.views import Views

    try:
        return along(Views(system, {}), run, path)
    except BadPath as bad:
        raise BadInput(f"--path {bad.message}", bad.hint) from None


def blamed_of(
    blaming: BlameOptions,
    specification: Specification,
    saved: Saved,
    run: Run,
    about: Property | None,
    *,
    no_color: bool,
) -> Blamed:
    """What a saved counterexample needs. Errors: `BadInput` where the run is none."""
    from hacheck.checker.blame.blamed import is_blamable
    from hacheck.cli.checking.blaming import blame_run

    if about is None or not is_blamable(about, run):
        what = "a run of no property" if about is None else f"the run of {about.name} violates nothing"
        raise BadInput(f"--blame is about counterexamples, and this is {what}", "choose one with --property")
    limits = Limits(wall_seconds_max=blaming.seconds_max, memory_bytes_max=memory_default())
    errors = error_console(no_color=no_color)
    with Interruption().watching() as interruption:
        settings = known_settings(specification, saved)
        found = blame_run(errors, specification, settings, None, about, run, limits, interruption)
    assert found is not None, "the run is a counterexample of this spec"
    return found


def known_settings(specification: Specification, saved: Saved) -> dict[str, str]:
    """The settings of a saved run that the spec has."""
    names = {parameter.name for parameter in specification.parameters}
    return {name: value for name, value in saved.settings.items() if name in names}


def report_saved(
    file: str,
    check: str | None,
    only: str | None,
    spec: str | None,
    report: str,
    *,
    blaming: BlameOptions | None = None,
    no_color: bool,
) -> ExitCode:
    """Replays saved runs, all of a file unless some are chosen, and writes a page of them."""
    from hacheck.checker.blame.blamed import is_blamable
    from hacheck.cli.page.report_files import good_runs, runs_report

    content = read_json(file)
    if is_code_run(content):
        refuse_with_code(file, ["--blame"] * (blaming is not None))
        from hacheck.cli.running.saved_code_runs import report_code_run

        return report_code_run(file, content, report)
    several = isinstance(content, dict) and "specs" in content
    found = saved_runs(content, file, spec if several else None)
    document = one_of_several(content["specs"], file, spec) if several else content
    if check is not None or only is not None:
        found = [choose(found, file, check, only)]
    if not found and "checks" not in document:
        choose(found, file, check, only)
    target = open_target(report)
    named = found[0].spec if found else spec_of(document)
    specification = load_specification(named if several else spec or named, no_color=no_color, examined=False)
    verdicts = {(one["name"], item["name"]): item for one in document.get("checks", ()) for item in one["properties"]}
    systems: dict[tuple[tuple[str, str], ...], System] = {}
    shown = []
    for saved in found:
        system = system_of(specification, saved, systems, no_color=no_color)
        prop = next((item for item in system.properties if item.name == saved.property), None)
        verdict = verdicts.get((saved.check, saved.property), {})
        run = decode(system, saved, file)
        found_blame = None
        if blaming is not None and prop is not None and is_blamable(prop, run):
            found_blame = blamed_of(blaming, specification, saved, run, prop, no_color=no_color)
        shown.append(
            ShownRun(
                saved.check or "run",
                saved.property or "run",
                system,
                run,
                prop,
                str(verdict.get("verdict", "")),
                str(verdict.get("outcome", "")),
                str(verdict.get("scope", "")),
                verdict.get("outcome") == "unexpected",
                found_blame,
            )
        )
        shown += good_runs(shown[-1])
    target.save(runs_report(specification, document, shown))
    return ExitCode.AS_EXPECTED


def system_of(
    specification: Specification, saved: Saved, known: dict[tuple[tuple[str, str], ...], System], *, no_color: bool
) -> System:
    """The system that a saved run is of. `known`: those made so far, by their settings."""
    settings = known_settings(specification, saved)
    key = tuple(sorted(settings.items()))
    if key not in known:
        # A counter without an end passes in a run the greatest value that it has while it is explored.
        known[key] = unbounded(instantiate(specification, settings, no_color=no_color))
    return known[key]


def show_run(
    console: Console,
    specification: Specification,
    system: System,
    saved: Saved,
    run: Run,
    about: Property | None,
    steps: bool = False,
    blamed: Blamed | None = None,
) -> None:
    """The run with its title. `blamed`: what it needs, if that was tried."""
    place = "" if about is None else specification.place_of(about)
    what = f"check {saved.check}" if saved.check else "a run"
    title = f"{system.name}, {what}" + (f", {saved.property}" if saved.property else "")
    style = "good" if about is None or about.kind == "reachable" else "bad"
    console.print(report.run_heading(console, title, run_title(system, run), style, about, place))
    settings = settings_line(system, specification)
    console.print(Text(f"  {settings}", style="quiet"))
    console.print()
    console.print(shown_run(console, system, run, about, steps=steps, places=specification.place_of, blamed=blamed))
    console.print("\n  Replayed by the reference interpreter: every step is possible.", style="quiet")


def decode(system: System, saved: Saved, file: str) -> Run:
    """The run, if it is one of this system.

    Errors: `BadInput` when the text is no run of it, or the spec has changed so that the run is no longer
    possible.
    """
    hint = "the spec may have changed since the run was saved; --spec names another one"
    try:
        run = run_from_json(system, saved.run)
    except ValueError as error:
        raise BadInput(f"{file}: not a run of {system.name}: {error}", hint) from None
    if (mismatch := replay(system, run)) is not None:
        reasons = "; ".join(one.words for one in why_impossible(system, run))
        because = f" {reasons[0].upper()}{reasons[1:]}." if reasons else ""
        raise BadInput(f"{file}: the run is not possible in {system.name}: {mismatch}{because}", hint)
    return run


def read_json(file: str) -> Json:
    """The JSON in a file, or on standard input for `-`. Errors: `BadInput`."""
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        return json.loads(text)
    except IsADirectoryError:
        raise BadInput(f"{file}: is a directory", "give a file that --json wrote") from None
    except OSError as error:
        raise BadInput(f"{file}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        reason = "too deeply nested" if isinstance(error, RecursionError) else str(error)
        raise BadInput(f"{file}: not JSON: {reason}", "give a file that --json wrote") from None


def saved_runs(content: Json, file: str, spec: str | None = None) -> list[Saved]:
    """Every run in what `verify` or `simulate` saved; of what `verify --all` saved, those of one spec.

    Errors: `BadInput` when it is neither, or `spec` is not in it.
    """
    if isinstance(content, dict) and content.get("version", 1) != 1:
        raise BadInput(
            f"{file}: document version {content['version']}, where this hacheck reads 1",
            "use the hacheck that wrote it",
        )
    try:
        if "specs" in content:
            return saved_runs(one_of_several(content["specs"], file, spec), file)
        if "checks" not in content:
            return [saved_run(content, content, None, content.get("property"), content)]
        found = []
        for check in content["checks"]:
            for item in check["properties"]:
                if item["run"] is not None:
                    found.append(saved_run(content, check, check["name"], item["name"], item))
            if check.get("fault"):
                found.append(saved_run(content, check, check["name"], None, check["fault"]))
        return found
    except (KeyError, TypeError, AttributeError, ValueError):
        raise BadInput(f"{file}: no run in it", "give a file that verify --json or simulate --json wrote") from None


def one_of_several(specs: list[Json], file: str, spec: str | None) -> Json:
    """What was found of one spec. Errors: `BadInput` when the user has to say of which, or it is not there."""
    names = [str(one["spec"]) for one in specs]
    if spec is None:
        raise BadInput(f"{file}: holds runs of several specs", f"say which with --spec: {', '.join(names)}")
    all_known("spec", (spec,), names)
    return specs[names.index(spec)]


def saved_run(top: Json, about: Json, check: str | None, property_name: str | None, holder: Json) -> Saved:
    """One run, held by an object with `run` and `loop`. Errors: those of a wrong shape."""
    settings = {str(name): str(value) for name, value in about["settings"].items()}
    run = from_rows(holder["run"], holder.get("loop"))
    return Saved(spec_of(top), settings, check, property_name, run)


def spec_of(top: Json) -> str:
    """The spec a saved run belongs to: as it was called, if that still means something, else where it lay. What was
    called as a file and is none here is not a shipped spec of that name."""
    from hacheck import shipped

    called, lay = str(top["spec"]), str(top.get("path") or "")
    if called.endswith(shipped.SUFFIX) and not Path(called).is_file() and lay and Path(lay).is_file():
        return lay
    try:
        shipped.find(called)
    except (shipped.UnknownSpec, OSError, ValueError):
        return lay or called
    return called


def choose(found: list[Saved], file: str, check: str | None, only: str | None) -> Saved:
    """The selected run.

    Errors: `BadInput` when there is none, or several and the user has to say which.
    """
    fitting = [
        saved for saved in found if (check is None or saved.check == check) and (only is None or saved.property == only)
    ]
    if len(fitting) == 1:
        return fitting[0]
    listed = [f"--check {saved.check} --property {saved.property}" for saved in fitting or found if saved.property]
    if not found:
        hint = "a run is there for what is violated or reached; here the verdicts needed none"
        raise BadInput(f"{file}: holds no run to show", hint)
    if not fitting:
        names = [str(saved.property) for saved in found]
        raise BadInput(
            f"{file}: no such run in it",
            near_names(only or "", names, f"there are: {'; '.join(listed) or 'none'}"),
        )
    shown = "\n    ".join(listed[:20])
    raise BadInput(f"{file}: holds {len(fitting)} runs", f"say which:\n    {shown}")


__all__ = ["report_saved", "show_saved", "simulate_spec"]
