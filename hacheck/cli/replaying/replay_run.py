"""Carries out `hacheck replay`: the run, the product, the steps as they come, the outcome."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from msgspec import Struct
from msgspec.structs import replace

from hacheck.cli.console import error_console, output_console
from hacheck.cli.guard import BadInput, ExitCode, version
from hacheck.cli.json_output import open_folder, open_target
from hacheck.cli.progress import ProgressLine
from hacheck.cli.replaying import outcome_report
from hacheck.cli.replaying.chosen_run import Chosen, chosen_run, random_runs
from hacheck.documents.replay import ReplayDocument, ReplayedRun, ReplayedStep, ReplayOutcome
from hacheck.replay.outcomes import Outcome, ReplayResult, StepResult
from hacheck.replay.product import Product
from hacheck.replay.products import UnknownProduct, names, product
from hacheck.replay.replayer import Patience, carry_out


class Request(Struct, frozen=True):
    """What the user wants of `replay`. `random`: so many random runs, of `steps` steps, from `seed` on."""

    run: str
    check: str | None
    property: str | None
    settings: Mapping[str, str]
    on: str
    random: int | None
    steps: int
    seed: int
    repeat: int
    linger_seconds: float
    json: str | None
    keep: str | None
    quiet: bool
    no_color: bool


def list_products(*, no_color: bool) -> ExitCode:
    """Shows every product, and whether it can be started here."""
    console = output_console(no_color=no_color)
    console.print(outcome_report.products_table([product(name) for name in names()]))
    return ExitCode.AS_EXPECTED


def replay_run(request: Request) -> ExitCode:
    """Carries out the runs, shows it, and returns what the process is to return."""
    plugin = _product(request.on)
    target = None if request.json is None else open_target(request.json)
    folder = _folder(request.keep)
    several = _repeated if request.random is None else _random
    results = several(request, plugin, folder)
    outcome = overall(results, same_run=request.random is None)
    code = exit_code(outcome)
    to_stderr = target is not None and target.path is None
    console = (error_console if to_stderr else output_console)(no_color=request.no_color)
    if len(results) > 1:
        console.print(outcome_report.totals(console, results))
    if target is not None:
        target.write(document_of(request, results, outcome))
    return code


def _product(name: str) -> Product:
    try:
        found = product(name)
    except UnknownProduct as unknown:
        raise BadInput(f"no product `{name}`", str(unknown)) from None
    why = found.missing()
    if why is not None:
        raise BadInput(f"{found.name} cannot be started here: {why}")
    return found


def _folder(keep: str | None) -> Path:
    if keep is None:
        return Path(tempfile.mkdtemp(prefix="hacheck-replay-"))
    folder = open_folder(keep)
    if any(folder.iterdir()):
        raise BadInput(f"--keep {keep}: is not empty", "give a new folder")
    return folder.resolve()


def _repeated(request: Request, plugin: Product, folder: Path) -> list[ReplayResult]:
    chosen = chosen_run(request.run, request.check, request.property, request.settings, no_color=request.no_color)
    _fits(chosen, plugin)
    results = []
    for number in range(1, request.repeat + 1):
        title = f"{chosen.data.title}, {number} of {request.repeat}"
        results.append(_carried_out(request, chosen, plugin, folder / f"run-{number}", title))
    return results


def _random(request: Request, plugin: Product, folder: Path) -> list[ReplayResult]:
    assert request.random is not None
    seeds = range(request.seed, request.seed + request.random)
    results = []
    walks = random_runs(request.run, request.check, request.settings, seeds, request.steps, no_color=request.no_color)
    for seed, chosen in walks:
        _fits(chosen, plugin)
        result = _carried_out(request, chosen, plugin, folder / f"seed-{seed}", f"{chosen.data.title}, seed {seed}")
        results.append(replace(result, run=f"{result.run} --random 1 --steps {request.steps} --seed {seed}"))
    return results


def _fits(chosen: Chosen, plugin: Product) -> None:
    if chosen.data.spec not in plugin.specs:
        raise BadInput(
            f"runs of {chosen.data.spec} cannot be carried out on {plugin.name}",
            f"it is for runs of {', '.join(plugin.specs)}; `hacheck replay --list` shows all products",
        )


def _carried_out(request: Request, chosen: Chosen, plugin: Product, place: Path, title: str) -> ReplayResult:
    console = (error_console if request.json == "-" else output_console)(no_color=request.no_color)
    if not request.quiet:
        console.print(outcome_report.heading(console, title, plugin, place))
    total = len(chosen.data.steps)
    line = ProgressLine(quiet=request.quiet, no_color=request.no_color)
    with line.shown(f"starting {plugin.name}"):

        def report(result: StepResult) -> None:
            line.update(lambda: f"step {result.number} of {total}: {result.title}")
            if not request.quiet:
                console.print(outcome_report.step(console, result))

        patience = Patience(linger_seconds=request.linger_seconds)
        result = carry_out(chosen.data, plugin, place, report, patience)
    console.print(outcome_report.outcome(console, result))
    return result


def exit_code(outcome: Outcome) -> ExitCode:
    """0 for a run that was confirmed, 1 for one that was not, 3 where nobody knows."""
    if outcome == "confirmed":
        return ExitCode.AS_EXPECTED
    return ExitCode.NOT_AS_EXPECTED if outcome in ("refuted", "masked") else ExitCode.UNDECIDED


def overall(results: Sequence[ReplayResult], *, same_run: bool) -> Outcome:
    """The outcome of several. Of one run that was repeated: it is confirmed if it came out once, since a schedule may
    miss what the product can do. Of several runs: none may be refuted."""
    first: tuple[Outcome, ...] = ("confirmed", "refuted", "masked") if same_run else ("refuted", "masked", "confirmed")
    order = (*first, "environment", "not_carried_out")
    return min((result.outcome for result in results), key=order.index)


def document_of(request: Request, results: Sequence[ReplayResult], outcome: Outcome) -> ReplayDocument:
    """Everything found, as `--json` writes it."""
    return ReplayDocument(
        hacheck=version(),
        outcome=outcome,
        exit_code=int(exit_code(outcome)),
        product=request.on,
        counts={kind: sum(result.outcome == kind for result in results) for kind in get_args(ReplayOutcome)},
        runs=[_run_of(result) for result in results],
    )


def _run_of(result: ReplayResult) -> ReplayedRun:
    return ReplayedRun(
        outcome=result.outcome,
        reason=result.reason,
        product=result.product,
        run=result.run,
        at_step=result.at_step,
        step=result.step,
        steps_compared=len({one.number for one in result.steps if one.number and not one.differences}),
        steps_of_run=result.total_steps,
        steps=[
            ReplayedStep(
                number=one.number,
                title=one.title,
                changes=list(one.changes),
                differences=list(one.differences),
                observed=dict(one.observed),
                at_seconds=round(one.at, 3),
            )
            for one in result.steps
        ],
        evidence=list(result.evidence),
        recording=result.recording,
        seconds=round(result.seconds, 3),
    )
