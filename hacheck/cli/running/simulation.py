"""Carries out `hacheck simulate-impl`: has the runs done, side by side, and makes those that break something small."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from hacheck.atomic_files import replace_bytes
from hacheck.checker.engine import Progress, Report
from hacheck.cli.console import output_console, say
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.jobs import job_pool
from hacheck.cli.json_output import open_folder, open_target
from hacheck.cli.progress import ProgressLine
from hacheck.cli.running import simulation_report
from hacheck.cli.running.followed import conform_command, followed_by, is_as_counted, record_command, refuse_sides
from hacheck.cli.running.protocols import first_possible, refusals
from hacheck.cli.running.simulation_report import Failure, Tally, far
from hacheck.impl.recording import TOTAL, write_trace
from hacheck.impl.simulator.history import History
from hacheck.impl.simulator.profiles import PROMISED, profile
from hacheck.impl.simulator.run_reduction import failure, reduced
from hacheck.impl.simulator.run_story import StoryLine, story
from hacheck.impl.simulator.running import Outcome, Plan, run
from hacheck.impl.simulator.saved_run import SavedRun, from_json, to_json
from hacheck.impl.simulator.targets import Cluster
from hacheck.impl.system import Refused, System
from hacheck.impl.systems import system as system_of
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.process_pool import Died, Done, Failed, ProcessPool
from hacheck.supervise.resources import usable_cores
from hacheck.testing.code_runs.code_view import CodeRun, code_view
from hacheck.wording import plural

Json: TypeAlias = Any

SEEDS_MAX = 100_000_000
CHUNK = 8
"""So many runs a process does before it reports what came of them."""

REPLICAS_TRIED = (3, 2, 4, 1)
REDUCING_SECONDS = 120.0
FAILURES_MAX = 5
"""Of so many kinds of failure one run each is reduced and shown; of others the seed."""

WAIT_SECONDS = 0.1


class Request(Struct, frozen=True):
    """What the command line asks for."""

    protocol: str
    seeds: int
    seed: int
    faults: str
    seconds: int
    replicas: int | None
    clients: int
    settings: Mapping[str, str]
    stretch: int = 1
    first: bool = False
    reduce: bool = True
    jobs: int | None = None
    out: str | None = None
    record: str | None = None
    json: str | None = None
    quiet: bool = False
    no_color: bool = False


def simulate_seeds(request: Request) -> ExitCode:
    """Runs all seeds, and returns what the process is to return. Errors: `BadInput`."""
    refuse_sides(request.protocol)
    if request.seeds > SEEDS_MAX:
        raise BadInput(f"--seeds {request.seeds}: there are {SEEDS_MAX:,} runs at most")
    with refusals():
        system, plan, possible = planned(request)
    target = None if request.json is None else open_target(request.json)
    out = None if request.out is None else open_folder(request.out)
    if request.record is not None:
        open_folder(request.record)
    begun = time.monotonic()
    line = ProgressLine(quiet=request.quiet, no_color=request.no_color)
    with Interruption().watching() as interruption, line.shown("running"):
        tally = _all(request, system, plan, lambda: interruption.requested, line)
        shown: list[Failure] = []
        for label, outcome in _failures_to_show(tally, system, plan):
            shown.append(_failure_of(request, system, label, outcome, lambda: interruption.requested, line))
    code = exit_code(tally, complete=tally.runs == request.seeds or (request.first and bool(tally.failures)))
    for one in shown:
        if out is not None:
            _save(out, request.protocol, one)
    elapsed = time.monotonic() - begun
    summary = simulation_report.Summary(
        request.protocol,
        request.faults,
        plan,
        tally,
        tuple(shown),
        elapsed,
        possible,
        beyond_promise(request, system, plan.replicas),
    )
    if target is not None:
        target.write(simulation_report.document_of(summary, request.seeds, code))
    if request.json != "-":
        simulation_report.show(summary, request.seeds, request.out, quiet=request.quiet, no_color=request.no_color)
        _show_how_to_compare(request, plan, possible)
    return code


def _show_how_to_compare(request: Request, plan: Plan, faults: Iterable[str]) -> None:
    """The commands that compare what was recorded, and that record what can be compared, to be copied."""
    followed = followed_by(plan, request.protocol)
    if request.record is None or request.quiet or followed is None:
        return
    console = output_console(no_color=request.no_color)
    say(console, "  to compare what was recorded with the spec that it follows:")
    command = conform_command(followed, request.record, faults)
    console.print(f"    {command}", markup=False, highlight=False, soft_wrap=True)
    if not is_as_counted(plan, followed):
        command = record_command(followed, request.record, plan)
        say(
            console,
            "  it counts on another size, other settings or other faults than these runs have; what it counts on:",
        )
        console.print(f"    {command}", markup=False, highlight=False, soft_wrap=True)


def exit_code(tally: Tally, *, complete: bool) -> ExitCode:
    """What the runs mean for the caller; a protocol that raised matters most."""
    if any(label.startswith("defect") for label in tally.failures):
        return ExitCode.OUR_BUG
    if any(label.startswith("broken") for label in tally.failures):
        return ExitCode.NOT_AS_EXPECTED
    return ExitCode.AS_EXPECTED if complete and not tally.failures else ExitCode.UNDECIDED


def beyond_promise(request: Request, system: System, replicas: int) -> frozenset[str]:
    """The faults that these runs may meet, as `crash/one`, and that the protocol does not say it survives: at all, or
    more than once in a run. Errors: `Refused`."""
    members = system.members(replicas, request.clients, system.options(request.settings))
    menu, promised = (profile(name, system, Cluster(members)) for name in (request.faults, PROMISED))
    return frozenset(
        f"{kind}/{target}"
        for kind, target in menu.faults
        if (kind, target) not in promised.faults
        or ((kind, target) in promised.once and (kind, target) not in menu.once)
    )


def planned(request: Request) -> tuple[System, Plan, tuple[str, ...]]:
    """The protocol, what each seed runs, and which kinds of faults it may meet. Errors: `Refused`."""
    system = system_of(request.protocol)
    options = system.options(request.settings)
    tried = REPLICAS_TRIED if request.replicas is None else (request.replicas,)
    replicas, members = first_possible(system, tried, request.clients, options)
    menu = profile(request.faults, system, Cluster(members))
    settings, us = dict(request.settings), request.seconds * 1_000_000
    plan = Plan(request.seed, request.faults, replicas, request.clients, settings, us, stretch=request.stretch)
    return system, plan, tuple(dict.fromkeys(kind for kind, _ in menu.faults))


# ---- many runs ----


def run_chunk(protocol: str, plan: Plan, seeds: range, record: str | None, report: Report) -> Tally:
    """Runs these seeds; what another process does. Ends early on request."""
    tally = Tally()
    system = system_of(protocol)
    gc.disable()  # a run makes many small things and no circles of them
    try:
        for seed in seeds:
            history = None if record is None else History(inputs=False)
            outcome = run(system, msgspec.structs.replace(plan, seed=seed), history)
            tally.add(seed, outcome)
            if record is not None and history is not None:
                _record(Path(record), f"{protocol}-{seed}", history)
            gc.collect(0)
            if not report(Progress(tally.runs, tally.delivered, len(tally.failures), 0, 0.0, 0, "running")):
                break
    finally:
        gc.enable()
    return tally


def _record(folder: Path, name: str, history: History) -> None:
    name = name.replace(":", "-").replace("/", "-")
    try:
        write_trace(folder / f"{name}.jsonl", name, TOTAL, history.lines())
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written: {error.strerror}") from None


def _all(request: Request, system: System, plan: Plan, is_over: Callable[[], bool], line: ProgressLine) -> Tally:
    total = Tally()
    chunks = [
        range(first, min(first + CHUNK, request.seed + request.seeds))
        for first in range(request.seed, request.seed + request.seeds, CHUNK)
    ]

    def enough() -> bool:
        return is_over() or (request.first and bool(total.failures))

    jobs = min(request.jobs or usable_cores(), len(chunks))
    if jobs == 1:
        for chunk in chunks:
            total.plus(run_chunk(request.protocol, plan, chunk, request.record, lambda _: not enough()))
            line.update(lambda: far(total, request.seeds, line.passed))
            if enough():
                break
        return total
    waiting = chunks[::-1]
    with job_pool(jobs) as processes:
        while (waiting or processes.busy) and not enough():
            while waiting and processes.busy < jobs:
                chunk = waiting.pop()
                processes.begin(chunk.start, partial(run_chunk, request.protocol, plan, chunk, request.record))
            _take(processes, total)
            line.update(lambda: far(total, request.seeds, line.passed))
        processes.ask_to_stop()
        until = time.monotonic() + 2.0
        while processes.busy and time.monotonic() < until:
            _take(processes, total)
    return total


def _take(processes: ProcessPool[int], total: Tally) -> None:
    for first, event in processes.wait(WAIT_SECONDS):
        match event:
            case Done(tally):
                total.plus(tally)
            case Failed("BadInput") as failed:
                raise BadInput(failed.message, failed.hint)
            case Failed() as failed:
                raise failed.as_mistake(f"seeds from {first}")
            case Died() as died:
                raise BadInput(f"seeds from {first}: their process {died.how}", "--jobs 1 runs them one by one")
            case _:
                pass


# ---- single runs ----


def _failures_to_show(tally: Tally, system: System, plan: Plan) -> Iterator[tuple[str, Outcome]]:
    for label, seeds in sorted(tally.failures.items())[:FAILURES_MAX]:
        yield label, run(system, msgspec.structs.replace(plan, seed=min(seeds)))


def _failure_of(
    request: Request,
    system: System,
    label: str,
    outcome: Outcome,
    is_over: Callable[[], bool],
    line: ProgressLine,
) -> Failure:
    seed, attempts, faults = outcome.plan.seed, 0, len(outcome.faults)
    if request.reduce:
        begun = time.monotonic()

        def go_on(tried: int) -> bool:
            line.update(lambda: f"making a run small ({label}): {plural(tried, 'attempt')}")
            return not is_over() and time.monotonic() - begun < REDUCING_SECONDS

        small = reduced(system, outcome, go_on=go_on)
        outcome, attempts = small.outcome, small.attempts
    lines, view = _shown(system, outcome)
    return Failure(label, seed, outcome, attempts, faults, tuple(lines), view)


def _history() -> History:
    """What keeps all of a run that a picture shows."""
    return History(standing=True)


def _shown(system: System, outcome: Outcome, history: History | None = None) -> tuple[list[StoryLine], Json]:
    """The lines of a run for documents, and its view."""
    if history is None:
        history = _history()
        run(system, outcome.again(), history)
    until = outcome.end_us
    if outcome.defect is not None:
        until = outcome.defect.at_us
    elif outcome.broken:
        until = outcome.broken[0].at_us
    plan = outcome.plan
    members = system.members(plan.replicas, plan.clients, system.options(plan.settings))
    view = code_view(CodeRun(members, history.entries, until, _what_broke(outcome)))
    return story(history.entries, until), view


def _what_broke(outcome: Outcome) -> tuple[str, ...]:
    """What went wrong, in sentences."""
    if outcome.defect is not None:
        gone = outcome.defect
        return (f"{gone.member} fails at {gone.at_us / 1e6:.6f} s: {gone.what}.",)
    if not outcome.broken:
        return ()
    first = outcome.broken[0]
    return (f"{first.promise}: {first.story} ({first.at_us / 1e6:.6f} s).",)


def _save(folder: Path, protocol: str, failure: Failure) -> None:
    path = folder / failure.file_name(protocol)
    try:
        replace_bytes(path, to_json(SavedRun(protocol, failure.outcome.again(), failure.label)))
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None


class Replayed(Struct, frozen=True):
    """A saved run done again."""

    system: str
    plan: Plan
    outcome: Outcome
    history: History
    lines: tuple[StoryLine, ...]
    view: Json


def replayed(file: str, text: bytes, protocol: str | None = None) -> Replayed:
    """Runs what a file describes. `protocol`: of which it is to be. Errors: `BadInput`."""
    history = _history()
    try:
        saved = from_json(text)
        if protocol is not None and saved.system != protocol:
            raise BadInput(
                f"{file}: is a run of {saved.system}", f"hacheck simulate-impl {saved.system} --replay {file}"
            )
        system = system_of(saved.system)
        outcome = run(system, saved.plan, history)
    except Refused as refused:
        raise BadInput(f"{file}: {refused}") from None
    except KeyError as error:
        raise BadInput(f"{file}: a fault hits {error}, which is not there") from None
    lines, view = _shown(system, outcome, history)
    return Replayed(saved.system, saved.plan, outcome, history, tuple(lines), view)


def replay_run(request: Request, file: str) -> ExitCode:
    """Runs what a file describes, and shows the run. Errors: `BadInput`."""
    try:
        text = Path(file).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"{file}: cannot be read: {reason}") from None
    target = None if request.json is None else open_target(request.json)
    found = replayed(file, text, request.protocol)
    outcome, plan = found.outcome, found.plan
    tally = Tally()
    tally.add(plan.seed, outcome)
    if request.record is not None:
        _record(open_folder(request.record), f"{request.protocol}-{plan.seed}", found.history)
    shown = Failure(failure(outcome), plan.seed, outcome, 0, len(outcome.faults), found.lines, found.view)
    code = exit_code(tally, complete=True)
    summary = simulation_report.Summary(request.protocol, "those of the file", plan, tally, (shown,), 0.0)
    if target is not None:
        target.write(simulation_report.document_of(summary, 1, code))
    if request.json != "-":
        simulation_report.show_run(shown, found.system, file, no_color=request.no_color)
        _show_how_to_compare(request, plan, [fault.kind for fault in outcome.faults])
    return code
