"""Runs `hacheck sweep`: examines what was given, has the tasks done here or on Spark, keeps and shows the results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct, field
from rich.console import Console
from rich.text import Text

from hacheck.checker.engine import Limits
from hacheck.checker.sent_specification import sent
from hacheck.checker.sweep.sweep_plan import Axis, Task, smaller_tasks, tasks_of
from hacheck.checker.sweep.sweep_task import TaskResult
from hacheck.checker.verify import Question
from hacheck.cli import json_output
from hacheck.cli.console import error_console, output_console, say, seconds, visible
from hacheck.cli.engines import Exploring, refuse_ignored
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.jobs import job_pool
from hacheck.cli.options import all_known
from hacheck.cli.progress import progress_of_several
from hacheck.cli.selection import choose
from hacheck.cli.sources import load_specification
from hacheck.cli.sweeping.heat_map import picture
from hacheck.cli.sweeping.heat_map_drawing import command_for, page, show, svg
from hacheck.cli.sweeping.kept_tasks import KeptTasks
from hacheck.cli.sweeping.sweep_table import Swept, document_of, write_table
from hacheck.cli.sweeping.task_queue import HowToRun, TaskQueue, Workers
from hacheck.model.language import Specification
from hacheck.model.language.raised_limits import limit_roles
from hacheck.model.property_names import nameable
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.resources import usable_cores
from hacheck.traces.findings import TracesError
from hacheck.wording import plural

RANGE = re.compile(r"(-?[0-9]{1,9})\.\.(-?[0-9]{1,9})")
TASKS_MAX = 100_000
"""More tasks are a mistake."""
NAMED_MAX = 5
"""Of more tasks without a verdict the first are named."""


class SweepRequest(Struct, frozen=True):
    """What the user wants of `sweep`."""

    spec: str
    vary: tuple[str, ...]
    out: str
    checks: tuple[str, ...] = ()
    wide: bool = False
    properties: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    explore_all: bool = False
    engine: str = "local"
    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    jobs: int | None = None
    threads: int | None = None
    limits: Limits = Limits()
    json: str | None = None
    quiet: bool = False
    no_color: bool = False


class _Sweep(Struct, frozen=True):
    """A sweep that was examined: its tasks, and for each those with smaller budgets of faults."""

    specification: Specification
    questions: tuple[Question, ...]
    axes: tuple[Axis, ...]
    tasks: tuple[Task, ...]
    smaller: tuple[tuple[int, ...], ...]


def sweep_spec(request: SweepRequest) -> ExitCode:
    """Does the tasks that are not done yet, and returns what the process is to return."""
    specification = load_specification(request.spec, no_color=request.no_color)
    sweep = examined(request, specification)
    target = None if request.json is None else json_output.open_target(request.json)
    folder = json_output.open_folder(request.out)
    kept = KeptTasks(folder, specification, sweep.questions, request.limits, explore_all=request.explore_all)
    before = {number: kept.done[task] for number, task in enumerate(sweep.tasks) if task in kept.done}
    try:
        results = _done(request, sweep, kept, before)
    except TracesError as error:
        raise BadInput(error.message, error.hint) from None
    swept = Swept(request.spec, specification.name, sweep.axes, sweep.tasks, results)
    found = picture(swept)
    write_table(swept, folder / "sweep.parquet")
    json_output.Target(folder / "sweep.svg").save(svg(swept, found))
    json_output.Target(folder / "sweep.html").save(page(swept, found))
    code = ExitCode.UNDECIDED if swept.undecided else ExitCode.AS_EXPECTED
    if target is not None:
        target.write(document_of(swept, code))
    to_stderr = target is not None and target.path is None
    console = (error_console if to_stderr else output_console)(no_color=request.no_color)
    if not request.quiet:
        show(console, found)
    _summarise(console, swept, len(before), folder)
    return code


# ---- what was given ----


def examined(request: SweepRequest, specification: Specification) -> _Sweep:
    """The sweep that a request means. Errors: `BadInput` for what the spec does not have."""
    refuse_ignored(Exploring(), None)
    axes = axes_of(request.vary, specification)
    all_known("setting", request.settings, [one.name for one in specification.parameters])
    for name in request.settings:
        if any(axis.name == name for axis in axes):
            raise BadInput(f"`{name}` is varied, and set as well", f"leave one of the two out: --set {name}=…")
    _refuse_wrong_values(specification, request.settings.items(), "--set")
    _refuse_wrong_values(specification, ((axis.name, value) for axis in axes for value in axis.values), "--vary")
    questions, _ = choose(specification, request.checks, wide=request.wide)
    count = len(questions)
    for axis in axes:
        count *= len(axis.values)
    if count > TASKS_MAX:
        raise BadInput(f"{count:,} tasks are more than {TASKS_MAX:,}", "vary fewer settings, or name one check")
    tasks = tasks_of([one.name for one in questions], axes, tuple(request.settings.items()), request.properties)
    if request.properties:
        _refuse_unknown_properties(specification, tasks, request.properties)
    budgets = [name for name, role in limit_roles(specification).items() if role == "fault budget"]
    smaller = ((),) * len(tasks) if request.explore_all else smaller_tasks(tasks, budgets)
    return _Sweep(specification, questions, axes, tasks, smaller)


def axes_of(texts: tuple[str, ...], specification: Specification) -> tuple[Axis, ...]:
    """The settings to vary. Errors: `BadInput`."""
    known = {one.name: one for one in specification.parameters}
    if not texts:
        example = next(iter(known), None)
        hint = (
            f"for example --vary {example}=…,…" if example else "this spec has no settings: `hacheck verify` checks it"
        )
        raise BadInput("which settings are to be varied?", hint)
    found: dict[str, Axis] = {}
    for text in texts:
        name, equals, written = (part.strip() for part in text.partition("="))
        values = _values(written)
        if not equals or not name or not values:
            raise BadInput(
                f"--vary {text}: expected NAME=VALUE,VALUE…", "for example --vary crashes=0,1,2 or crashes=0..2"
            )
        all_known("setting", (name,), known)
        if name in found:
            raise BadInput(f"--vary {text}: `{name}` is varied already", "name all of its values at once")
        found[name] = Axis(name, values)
    return tuple(found.values())


def _values(text: str) -> tuple[str, ...]:
    """The values that a text lists, each once; `LOW..HIGH` is each whole number in it. None where one is empty."""
    found: list[str] = []
    for part in (one.strip() for one in text.split(",")):
        whole = RANGE.fullmatch(part)
        if not part:
            return ()
        if whole is None:
            found.append(part)
        else:
            low, high = int(whole[1]), int(whole[2])
            if high - low >= TASKS_MAX:
                raise BadInput(f"--vary …={part}: {high - low + 1:,} values are more than {TASKS_MAX:,}")
            found += map(str, range(low, high + 1))
    return tuple(dict.fromkeys(found))


def _refuse_wrong_values(specification: Specification, given: Iterable[tuple[str, str]], option: str) -> None:
    for name, value in given:
        wrong = next(iter(specification.setting_mistakes({name: value})), None)
        if wrong is not None:
            raise BadInput(f"{option} {name}={value}: {wrong.message}", wrong.hint)


def _refuse_unknown_properties(
    specification: Specification, tasks: tuple[Task, ...], properties: tuple[str, ...]
) -> None:
    """Errors: `BadInput` for a property that the system of the first task that there is does not have."""
    for task in tasks:
        system = specification.instantiate(task.settings, task.check).system
        if system is not None:
            all_known("property", properties, nameable([one.name for one in system.properties]))
            return


# ---- what is done ----


def _done(
    request: SweepRequest, sweep: _Sweep, kept: KeptTasks, before: dict[int, TaskResult]
) -> dict[int, TaskResult]:
    """The results of all tasks, or of those that were done when the user interrupted."""
    if len(before) == len(sweep.tasks):
        return before
    with (
        Interruption().watching() as interruption,
        progress_of_several(error_console(no_color=request.no_color), quiet=request.quiet) as display,
        _workers(request) as (workers, how),
    ):
        queue = TaskQueue(
            sent(sweep.specification),
            sweep.tasks,
            sweep.smaller,
            how,
            workers,
            display,
            interruption,
            lambda number, result: kept.add(sweep.tasks[number], result),
        )
        return queue.run(before)


@contextmanager
def _workers(request: SweepRequest) -> Iterator[tuple[Workers, HowToRun]]:
    """Who does the tasks, and how."""
    infers = not request.explore_all
    if request.engine == "local":
        jobs = request.jobs or usable_cores()
        threads = request.threads or max(usable_cores() // jobs, 1)
        with job_pool(jobs) as pool:
            yield pool, HowToRun(threads, request.limits, jobs, infers, can_run_alone=True)
        return
    from hacheck.spark.task_workers import SparkWorkers
    from hacheck.traces.drivers.spark_session import end, session

    spark = session(request.master, settings=request.conf)
    try:
        workers = SparkWorkers(spark, request.jobs)
        yield workers, HowToRun(request.threads or 1, request.limits, 0, infers, can_run_alone=False)
    finally:
        end(spark)


def _summarise(console: Console, swept: Swept, before: int, folder: Path) -> None:
    """How many tasks came out how, which have no verdict and why, how to see a run, and where the results are."""
    found = [(number, one) for number, result in sorted(swept.results.items()) for one in result.properties]
    counts = {
        "hold": sum(one.verdict == "holds" for _, one in found),
        "violated": sum(one.verdict == "violated" for _, one in found),
        "without a verdict": sum(not one.is_decided for _, one in found),
    }
    follow = sum(one.follows_from is not None for _, one in found)
    said = [f"{count:,} {words}" for words, count in counts.items() if count]
    more = f", {follow:,} of these follow from smaller budgets of faults" if follow else ""
    done = f"{len(swept.results):,} of {plural(len(swept.tasks), 'task')} done"
    earlier = f" ({before:,} by an earlier run)" if before else ""
    cpu = seconds(sum(one.cpu_seconds for one in swept.results.values()))
    say(console, f"{done}{earlier}: {', '.join(said) or 'no verdict'}{more}; {cpu} of processor time")
    for number in swept.undecided[:NAMED_MAX]:
        result = swept.results.get(number)
        open_one = next((one for one in result.properties if not one.is_decided), None) if result else None
        name = f", {open_one.name}" if open_one is not None else ""
        say(
            console,
            f"  no verdict: {swept.tasks[number].title}{name}: {visible(swept.reason(number, open_one))}",
            "warn",
        )
    if len(swept.undecided) > NAMED_MAX:
        say(console, f"  and {len(swept.undecided) - NAMED_MAX:,} more", "warn")
    runs = [(number, one) for number, one in found if one.verdict == "violated" and one.steps and not one.follows_from]
    if runs:
        number, one = min(runs, key=lambda pair: pair[1].steps or 0)
        say(console, Text("  the shortest violation, step by step:", style="quiet"))
        say(console, Text(f"  {command_for(swept, number, one.name)}"))
    say(console, Text(f"  {folder / 'sweep.html'}, sweep.svg and sweep.parquet have all of it", style="quiet"))
    if len(swept.results) < len(swept.tasks):
        say(console, "  the same command again does the tasks that are left", "quiet")
