"""From a command line to runs of a model: saved ones, those that an exploration finds, and random ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hacheck.checker.engine import Limits, Progress
from hacheck.checker.verify import default_check, run_check
from hacheck.cli.checking import saved_runs
from hacheck.cli.console import error_console
from hacheck.cli.engines import Exploring, engine_for
from hacheck.cli.guard import BadInput
from hacheck.cli.progress import progress_display, working
from hacheck.cli.selection import one_system, select
from hacheck.cli.sources import instantiate, load_specification
from hacheck.model.interpreter import replay
from hacheck.replay.model_run import ModelRun, model_run
from hacheck.supervise.resources import memory_default

if TYPE_CHECKING:
    from hacheck.model.ir import System
    from hacheck.model.language import Specification
    from hacheck.model.runs import Run

EXPLORING_SECONDS_MAX = 600.0


class Chosen(Struct, frozen=True):
    """A run, with the system that it is a run of. `data`: the same as a replay uses it."""

    specification: Specification
    system: System
    run: Run
    data: ModelRun


def chosen_run(
    text: str, check: str | None, only: str | None, settings: Mapping[str, str], *, no_color: bool
) -> Chosen:
    """The run that the user means: one in a file of JSON, or what an exploration of a spec finds. Errors: `BadInput`,
    `Reported`."""
    if Path(text).suffix == ".json" or text == "-":
        return _saved(text, check, only, settings, no_color=no_color)
    return _found(text, check, only, settings, no_color=no_color)


def _saved(file: str, check: str | None, only: str | None, settings: Mapping[str, str], *, no_color: bool) -> Chosen:
    if settings:
        raise BadInput("--set is for a SPEC: a saved run has its settings", "leave --set out, or give the spec")
    content = saved_runs.read_json(file)
    saved = saved_runs.choose(saved_runs.saved_runs(content, file), file, check, only)
    specification = load_specification(saved.spec, no_color=no_color)
    known = {parameter.name for parameter in specification.parameters}
    own = {name: value for name, value in saved.settings.items() if name in known}
    system = instantiate(specification, own, no_color=no_color)
    run = saved_runs.decode(system, saved, file)
    about = next((item for item in system.properties if item.name == saved.property), None)
    name = _name_of(saved.spec)
    return Chosen(specification, system, run, model_run(system, run, name, saved.check or "simulate", about))


def _found(spec: str, check: str | None, only: str | None, settings: Mapping[str, str], *, no_color: bool) -> Chosen:
    if only is None:
        of_check = "" if check is None else f" --check {check}"
        raise BadInput(
            "--property is missing: which counterexample, or witness, is to be carried out",
            f"`hacheck verify {spec}{of_check}` lists the properties; --random N carries out random runs instead",
        )
    specification = load_specification(spec, no_color=no_color)
    name = check or default_check(specification)
    (prepared,) = select(specification, (name,), settings, (only,), wide=True, no_color=no_color).prepared
    limits = Limits(None, EXPLORING_SECONDS_MAX, memory_default(), None)
    with progress_display(error_console(no_color=no_color), f"looking for {only}", quiet=False) as display:

        def report(progress: Progress) -> bool:
            display.update(progress)
            return True

        result = run_check(prepared, engine_for(Exploring()), limits, report, replay)
    found = next(item for item in result.properties if item.prop.name == only)
    run = found.answer.run
    if run is None:
        hint = f"the verdict is: {found.answer.verdict}; choose a property that is violated or reached"
        raise BadInput(f"no run shows {only} in the check {name}", hint)
    data = model_run(result.system, run, _name_of(spec), name, found.prop)
    return Chosen(specification, result.system, run, data)


def random_runs(
    spec: str,
    check: str | None,
    settings: Mapping[str, str],
    seeds: range,
    steps: int,
    *,
    no_color: bool,
) -> Iterator[tuple[int, Chosen]]:
    """Random runs of a check, each with its seed. Errors: `BadInput`."""
    from hacheck.checker.explicit.portable.random_walks import simulate

    if Path(spec).suffix == ".json":
        raise BadInput("--random makes runs of a SPEC, and this is a saved run", "give the spec")
    specification = load_specification(spec, no_color=no_color)
    name = check or default_check(specification)
    system = one_system(specification, name, settings, no_color=no_color)
    for seed in seeds:
        with working(f"preparing a random run from seed {seed}", no_color=no_color):
            run = simulate(system, seed, steps)
        if run is None:
            raise BadInput(f"{system.name} has no initial state under these settings")
        yield seed, Chosen(specification, system, run, model_run(system, run, _name_of(spec), name, None))


def _name_of(spec: str) -> str:
    """What plug-ins call a spec: the name of its file without its ending."""
    return Path(spec).stem
