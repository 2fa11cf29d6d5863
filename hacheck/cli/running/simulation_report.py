"""Shows what came of simulated runs: how many kept every promise, what went wrong in them, and what broke."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct, field
from rich.text import Text

from hacheck.checker.run_view.view_reader import ViewReader
from hacheck.cli.console import output_console, say, seconds, symbols, visible
from hacheck.cli.guard import ExitCode, version
from hacheck.cli.pictures.run_picture import RunPicture
from hacheck.documents.implementation import (
    BrokenPromise,
    FailedRun,
    MessageCounts,
    RunCounts,
    SimulateImplDocument,
    StoryEntry,
)
from hacheck.impl.simulator.profiles import TARGETS
from hacheck.impl.simulator.run_reduction import failure
from hacheck.impl.simulator.run_story import StoryLine
from hacheck.impl.simulator.running import Outcome, Plan
from hacheck.wording import plural

if TYPE_CHECKING:
    from rich.console import Console

SEEDS_SHOWN, BROKEN_SHOWN, BEYOND_SHOWN = 8, 4, 6

RUNS_CONCLUSIVE = 20
"""In fewer runs a kind of fault may well be missing: each draws from a part of them only."""


class Tally(Struct):
    """What came of some runs. `failures`: the seeds of those that failed in each way. `happened`: how many faults of
    each kind and target made a difference; `idle`: how many made none."""

    runs: int = 0
    delivered: int = 0
    lost: int = 0
    events: int = 0
    simulated_us: int = 0
    halts: int = 0
    failures: dict[str, list[int]] = field(default_factory=dict)
    happened: dict[str, int] = field(default_factory=dict)
    idle: int = 0

    def add(self, seed: int, outcome: Outcome) -> None:
        """Counts a run."""
        self.runs += 1
        self.delivered += outcome.delivered
        self.lost += outcome.lost
        self.events += outcome.events
        self.simulated_us += outcome.end_us
        self.halts += sum(outcome.halts.values())
        self.idle += sum(not hits for hits in outcome.hits)
        for label, number in outcome.happened.items():
            self.happened[label] = self.happened.get(label, 0) + number
        if not outcome.kept:
            self.failures.setdefault(failure(outcome), []).append(seed)

    def plus(self, other: Tally) -> None:
        """Counts the runs of another one, too."""
        for name in ("runs", "delivered", "lost", "events", "simulated_us", "halts", "idle"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for label, number in other.happened.items():
            self.happened[label] = self.happened.get(label, 0) + number
        for label, seeds in other.failures.items():
            self.failures[label] = sorted([*self.failures.get(label, []), *seeds])


class Failure(Struct, frozen=True):
    """A run that is shown. `label`: how it failed, empty if it did not; `attempts`: how many runs it took to make it
    small; `faults`: how many there were before; `view`: what its picture shows."""

    label: str
    seed: int
    outcome: Outcome
    attempts: int
    faults: int
    story: tuple[StoryLine, ...]
    view: Any

    def file_name(self, protocol: str) -> str:
        """What its file is called."""
        return f"{re.sub('[^A-Za-z0-9_-]+', '-', protocol)}-{self.seed}.json"


class Summary(Struct, frozen=True):
    """All that came of a command. `possible`: the kinds of faults that could have happened; `beyond`: those faults that
    the protocol does not say it survives."""

    protocol: str
    faults: str
    plan: Plan
    tally: Tally
    shown: tuple[Failure, ...]
    elapsed: float
    possible: tuple[str, ...] = ()
    beyond: frozenset[str] = frozenset()


def far(tally: Tally, runs: int, passed: float) -> str:
    """How many runs are done after so many seconds."""
    broken = sum(map(len, tally.failures.values()))
    speed = f"{tally.delivered / passed:,.0f} messages/s"
    return f"{tally.runs:,} of {plural(runs, 'run')}, {broken:,} broken, {speed}"


# ---- words ----


def show(summary: Summary, runs: int, out: str | None, *, quiet: bool, no_color: bool) -> None:
    """What came of all runs, in words."""
    console = output_console(no_color=no_color)
    for one in summary.shown:
        _failed(console, summary, one, out)
    tally = summary.tally
    kept = tally.runs - sum(map(len, tally.failures.values()))
    marks = symbols(console)
    mark = marks.holds if kept == runs else marks.violated if tally.failures else marks.unknown
    style = "good" if kept == runs else "bad" if tally.failures else "doubt"
    said = f"{kept:,} of {plural(tally.runs, 'run')} kept every promise; faults: {summary.faults}"
    _line(console, f"{mark} {visible(summary.protocol)}", style, f"  {said}")
    if tally.runs < runs and not summary.shown:
        say(console, f"  interrupted after {tally.runs:,} of {plural(runs, 'run')}")
    if not quiet:
        _numbers(console, summary)


def _line(console: Console, first: str, style: str, then: str) -> None:
    """A line whose beginning has a style."""
    say(console, Text(first, style=style).append(then, style="default"))


def _numbers(console: Console, summary: Summary) -> None:
    tally, plan = summary.tally, summary.plan
    say(
        console,
        f"  {plan.replicas} replicas, {plural(plan.clients, 'client')}, seeds from {plan.seed}; "
        f"{tally.simulated_us / 1e6:,.0f} s of virtual time in {seconds(summary.elapsed)}; "
        f"{tally.delivered:,} messages, {tally.lost:,} lost; {tally.halts:,} processes ended themselves",
    )
    kinds: dict[str, list[str]] = {}
    for label, number in tally.happened.items():
        kind, _, target = label.partition("/")
        kinds.setdefault(kind, []).append(f"{target} {number:,}" if target else f"{number:,}")
    if kinds:
        say(console, f"  faults with an effect ({tally.idle:,} more had none):")
    for kind in sorted(kinds, key=list(TARGETS).index):
        say(console, f"    {kind:<12}{', '.join(kinds[kind])}")
    beyond = [label for label in tally.happened if label in summary.beyond]
    if beyond:
        listed = ", ".join(beyond[:BEYOND_SHOWN]) + (", …" if len(beyond) > BEYOND_SHOWN else "")
        say(
            console,
            f"  more than {visible(summary.protocol)} says it survives: {listed}; a promise that breaks may be the "
            "protocol's fault, and not the code's (--faults promised: only what it survives)",
            "warn",
        )
    missing = [kind for kind in summary.possible if kind not in kinds]
    if missing and tally.runs >= RUNS_CONCLUSIVE:
        say(console, f"  never happened: {', '.join(missing)}", "warn")


def _failed(console: Console, summary: Summary, one: Failure, out: str | None) -> None:
    marks = symbols(console)
    seeds = summary.tally.failures.get(one.label, [])
    console.print(f"{marks.violated} {visible(one.label)}", style="bad", markup=False, soft_wrap=True)
    if len(seeds) > 1:
        more = f", {len(seeds) - SEEDS_SHOWN:,} more" if len(seeds) > SEEDS_SHOWN else ""
        say(console, f"  in {plural(len(seeds), 'run')}: seeds {', '.join(map(str, seeds[:SEEDS_SHOWN]))}{more}")
    if one.attempts:
        there, faults = one.outcome.plan, len(one.outcome.faults)
        members = f"{plural(there.replicas, 'replica')} and {plural(there.clients, 'client')}"
        made = f"reduced in {plural(one.attempts, 'run')}, from {plural(one.faults, 'fault')} to {faults}"
        say(console, f"  seed {one.seed}: {made}, with {members}")
    _show_story(console, one)
    again = f"  again: {_command(summary, one, out)}"  # one line also where it is too long: to be copied
    console.print(visible(again), style="quiet", markup=False, highlight=False, soft_wrap=True)
    console.print()


def _command(summary: Summary, one: Failure, out: str | None) -> str:
    if out is not None:
        return shlex.join(
            [
                "hacheck",
                "simulate-impl",
                summary.protocol,
                "--replay",
                f"{out.rstrip('/')}/{one.file_name(summary.protocol)}",
            ]
        )
    plan = summary.plan
    words = [
        "hacheck",
        "simulate-impl",
        summary.protocol,
        "--seeds",
        "1",
        "--seed",
        str(one.seed),
        "--faults",
        summary.faults,
    ]
    words += ["--replicas", str(plan.replicas), "--clients", str(plan.clients)]
    words += ["--seconds", str(plan.fault_us // 1_000_000)]
    if plan.stretch != 1:
        words += ["--stretch", str(plan.stretch)]
    for name, value in plan.settings.items():
        words += ["--set", f"{name}={value}"]
    return shlex.join(words)


def _show_story(console: Console, one: Failure) -> None:
    outcome = one.outcome
    console.print(RunPicture(ViewReader(one.view)))
    for broken in outcome.broken[:BROKEN_SHOWN]:
        said = visible(f": {broken.story} (at {broken.at_us / 1e6:.6f} s)")
        _line(console, f"  {symbols(console).violated} {visible(broken.promise)}", "bad", said)
    if len(outcome.broken) > BROKEN_SHOWN:
        say(console, f"  and {len(outcome.broken) - BROKEN_SHOWN:,} more", "bad")
    if outcome.defect is not None:
        gone = outcome.defect
        say(console, f"  {gone.member}, given {gone.given} at {gone.at_us / 1e6:.6f} s: {gone.what}", "bad")
        say(console, gone.trace.rstrip())
    if outcome.exhausted:
        say(console, f"  more than {outcome.plan.around.events_max:,} events: the run was stopped", "doubt")


def show_run(one: Failure, protocol: str, file: str, *, no_color: bool) -> None:
    """One run that the user selected, in words."""
    console = output_console(no_color=no_color)
    _show_story(console, one)
    marks = symbols(console)
    if one.label:
        console.print(f"{marks.violated} {protocol}: {visible(one.label)}", style="bad", markup=False)
    else:
        console.print(
            f"{marks.holds} {protocol}: every promise was kept in the run of {file}", style="good", markup=False
        )


# ---- JSON ----


def document_of(summary: Summary, runs: int, code: ExitCode) -> SimulateImplDocument:
    """Everything the screen shows, and each run shown in full. `runs`: how many were requested."""
    tally, plan = summary.tally, summary.plan
    kept = tally.runs - sum(map(len, tally.failures.values()))
    return SimulateImplDocument(
        hacheck=version(),
        protocol=summary.protocol,
        faults=summary.faults,
        replicas=plan.replicas,
        clients=plan.clients,
        settings=dict(plan.settings),
        seconds=plan.fault_us / 1e6,
        stretch=plan.stretch,
        seed=plan.seed,
        runs=RunCounts(requested=runs, done=tally.runs, kept=kept),
        messages=MessageCounts(delivered=tally.delivered, lost=tally.lost),
        events=tally.events,
        virtual_seconds=tally.simulated_us / 1e6,
        wall_seconds=round(summary.elapsed, 3),
        ended_themselves=tally.halts,
        faults_happened=dict(sorted(tally.happened.items())),
        faults_without_effect=tally.idle,
        faults_possible=list(summary.possible),
        failures=dict(sorted(tally.failures.items())),
        runs_shown=[_failed_run(one) for one in summary.shown],
        exit_code=int(code),
    )


def _failed_run(one: Failure) -> FailedRun:
    outcome = one.outcome
    return FailedRun(
        failure=one.label,
        seed=one.seed,
        attempts=one.attempts,
        faults_before=one.faults,
        broken=msgspec.convert(msgspec.to_builtins(outcome.broken), list[BrokenPromise]),
        defect=msgspec.to_builtins(outcome.defect),
        exhausted=outcome.exhausted,
        plan=msgspec.to_builtins(outcome.again()),
        story=msgspec.convert(msgspec.to_builtins(one.story), list[StoryEntry]),
    )
