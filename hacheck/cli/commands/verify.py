"""`hacheck verify`: runs the checks of a spec and says what holds, what does not, and how far that
reaches."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import Writes, flag, option
from hacheck.cli.guard import BadInput, ExitCode, guarded
from hacheck.cli.options import (
    MEMORY,
    DebugOption,
    NoColorOption,
    OptionalSpecArgument,
    SettingOptions,
    engines_beginning,
)

EXPLORING, LIMITS, OUTPUT = "Exploring", "Limits (each check on its own)", "Output"

EPILOG = """
[bold]Examples[/]

  hacheck verify icestorm                           every check of it

  hacheck verify --all                              every shipped protocol, in one table

  hacheck verify mine.ha --check default --runs     one check, with every run

  hacheck verify mine.ha --set crashes=2 --time 5m  other settings, at most 5 min

  hacheck verify mine.ha --json - | jq .checks      all that was found, as JSON

  hacheck verify mine.ha --report mine.html         one page with verdicts, pictures, explorer

  hacheck verify mine.ha --watch                    again each time it is saved

  hacheck verify mine.ha --engine induction         at every depth, by Z3

  hacheck verify mine.ha --raise-bounds             does it hold with one more of everything?

  hacheck verify mine.ha --blame                    what does each violation need?

  hacheck verify mine.ha --counterexamples 3        in which other ways?

  hacheck verify mine.ha --recheck 30s              does a second interpreter say the same?

  hacheck verify mine.ha --checkpoint kept          then, if it is cut off:
  hacheck verify mine.ha --resume kept              go on where it was

[bold]Exit codes[/]

  0 as expected   1 not as expected   2 bad input   3 undecided   4 a bug in hacheck
"""


Many = list[str] | None
One = str | None
ENGINES = (
    "Who answers: native (machine code, every state), python (the same without llvmlite), simulation (random walks), "
    "bmc (Z3: every run of up to --depth steps) or induction (Z3: every depth; --depth is the greatest k)."
)
THREADS = "How many threads explore; by default one for each core this process may use."
FINGERPRINT = (
    "Store a 64-bit hash of each state instead of the state. Needs less memory; a collision can hide states, and the "
    "report gives its probability."
)
EXHAUSTIVE = (
    "Explore every state, also when every property is decided before: for exact numbers of states and steps, and what "
    "never happened."
)
CHECKPOINT = "Keep what was explored in a folder, to go on from there another time."
RESUME = "Go on from what --checkpoint kept in this folder; it is kept up to date."
NO_REDUCTIONS = "Switch off symmetry reduction and slicing."
RECHECK = (
    "Afterwards, for so long, compute random states again with a second interpreter of the language, and look up each "
    "step: 30s, 5m."
)
GIVEN = "With --engine induction: look for no lemmas besides those of the spec."
EVERY = "Every shipped protocol instead of one SPEC, a row for each."
RAISE = (
    "Check what holds again with each bound, size, fault budget and other number raised by one, and each assumption "
    "switched off. --time then also limits all these trials together (by default 10 min)."
)
BLAME = (
    "Try each counterexample (of --property NAME, else each unexpected one) without each fault, assumption, step and "
    "way of a guard: which of them prevents it? And show the nearest run in which the property holds."
)
COUNTEREXAMPLES = (
    "Look for N counterexamples (of --property NAME, else of each unexpected violation) that differ in what breaks, in "
    "faults or in actions, not in the order of independent steps. --time then also limits all of one property together "
    "(by default 2 min)."
)
JOBS = "How many checks run side by side, where they take longer than a second; by default one for each core."
STATES = "Stop at this many states: 5000000, 5M. Not for bmc and induction, which count none."
DEPTH = "Go at most this many steps deep; with simulation, take this many steps in each run instead of 200."
DETAILS = "With several checks, report of each what is reported of one alone: faults, bounds, each property."
WATCH = "Verify again each time the spec is saved, and say what has changed since; Ctrl-C ends."
QUIET = "Only what is not as expected, and the summary."

REPORT = "Write one HTML page: verdicts, each run as a picture to step through, and what else was possible."
JSON = "Write everything found as JSON (- is stdout)."
CI = "Continuous integration"
JUNIT = "Write JUnit XML: a suite for each check, a case for each property."
SARIF = "Write SARIF: each property that is not as expected, at its line, with its run."
ANNOTATIONS = "Print annotations that this system shows at the lines of the spec: github."
BASELINE = "What an earlier --json has that is not as expected is known: only what is new ends with exit code 1."
KEPT, ITF = Writes(within=("*",)), Writes(within=("*.itf.json",))

Every = Annotated[bool, flag("--all", help=EVERY)]
RaiseBounds = Annotated[bool, flag("--raise-bounds", help=RAISE, panel=EXPLORING)]
Blame = Annotated[bool, flag("--blame", help=BLAME, panel=EXPLORING)]
Counterexamples = Annotated[One, option("--counterexamples", metavar="N", help=COUNTEREXAMPLES, panel=EXPLORING)]
Jobs = Annotated[One, option("--jobs", metavar="N", help=JOBS, panel=EXPLORING)]
Checks = Annotated[Many, option("--check", metavar="NAME", help="Run this check only. Repeatable.")]
Only = Annotated[Many, option("--property", metavar="NAME", help="Decide this property only. Repeatable.")]
WatchIt = Annotated[bool, flag("--watch", help=WATCH)]
Wide = Annotated[bool, flag("--wide", help="Run the checks marked `by request` as well.")]
EngineName = Annotated[str, option("--engine", metavar="NAME", help=ENGINES, panel=EXPLORING, offers=engines_beginning)]
Threads = Annotated[One, option("--threads", metavar="N", help=THREADS, panel=EXPLORING)]
Fingerprint = Annotated[bool, flag("--fingerprint", help=FINGERPRINT, panel=EXPLORING)]
Exhaustive = Annotated[bool, flag("--exhaustive", help=EXHAUSTIVE, panel=EXPLORING)]
Checkpoint = Annotated[One, option("--checkpoint", metavar="DIR", help=CHECKPOINT, panel=EXPLORING, writes=KEPT)]
Resume = Annotated[One, option("--resume", metavar="DIR", help=RESUME, panel=EXPLORING, writes=KEPT)]
NoReductions = Annotated[bool, flag("--no-reductions", help=NO_REDUCTIONS, panel=EXPLORING)]
Recheck = Annotated[One, option("--recheck", metavar="TIME", help=RECHECK, panel=EXPLORING)]
Given = Annotated[bool, flag("--given", help=GIVEN, panel=EXPLORING)]
States = Annotated[One, option("--states", metavar="N", help=STATES, panel=LIMITS)]
Depth = Annotated[One, option("--depth", metavar="N", help=DEPTH, panel=LIMITS)]
Time = Annotated[One, option("--time", metavar="TIME", help="Stop after this long: 90, 5m, 2h.", panel=LIMITS)]
Memory = Annotated[One, option("--memory", metavar="SIZE", help=MEMORY, panel=LIMITS)]
JsonFile = Annotated[
    One,
    option("--json", metavar="FILE", help=JSON, panel=OUTPUT, writes=Writes()),
]
ItfFolder = Annotated[
    One,
    option("--itf", metavar="DIR", help="Write every run as ITF JSON into a folder.", panel=OUTPUT, writes=ITF),
]
Report = Annotated[One, option("--report", metavar="FILE", help=REPORT, panel=OUTPUT, writes=Writes())]
Junit = Annotated[One, option("--junit", metavar="FILE", help=JUNIT, panel=CI, writes=Writes())]
Sarif = Annotated[One, option("--sarif", metavar="FILE", help=SARIF, panel=CI, writes=Writes())]
Annotations = Annotated[One, option("--annotations", metavar="SYSTEM", help=ANNOTATIONS, panel=CI)]
Baseline = Annotated[One, option("--baseline", metavar="FILE", help=BASELINE, panel=CI, reads="file")]
Runs = Annotated[bool, flag("--runs", help="Draw the runs of expected violations, too.", panel=OUTPUT)]
Steps = Annotated[bool, flag("--steps", help="Show runs as lists of all that each step changed.", panel=OUTPUT)]
Details = Annotated[bool, flag("--details", help=DETAILS, panel=OUTPUT)]
Witnesses = Annotated[bool, flag("--witnesses", help="Draw how what is reachable is reached.", panel=OUTPUT)]
Quiet = Annotated[bool, flag("--quiet", "-q", help=QUIET, panel=OUTPUT)]


def refuse_contradictions(
    spec: str | None,
    every: bool,
    jobs: str | None,
    raise_bounds: bool,
    report: str | None,
    kept: str | None,
    watch: bool,
    tried: str | None,
) -> None:
    """Errors: `BadInput` where it is not said what to check, or how many run at once of what does not."""
    if spec is None and not every:
        raise BadInput("which spec?", "hacheck verify icestorm, or --all for all that is shipped")
    if every and report is not None:
        raise BadInput("--report is about one spec", "name it instead of --all")
    if every and tried is not None:
        raise BadInput(f"{tried} is about one spec", "name it instead of --all")
    if jobs is not None and kept is not None and not raise_bounds:
        raise BadInput("--checkpoint and --resume run one check after the other", "leave --jobs out")
    if watch and (every or raise_bounds or kept is not None):
        other = "--all" if every else "--raise-bounds" if raise_bounds else "--checkpoint and --resume"
        raise BadInput(
            f"--watch verifies one spec that is being written, and {other} takes long", "leave one of them out"
        )


@guarded
def verify(
    spec: OptionalSpecArgument = None,
    every: Every = False,
    check: Checks = None,
    settings: SettingOptions = None,
    only: Only = None,
    wide: Wide = False,
    watch: WatchIt = False,
    engine: EngineName = "native",
    raise_bounds: RaiseBounds = False,
    blame: Blame = False,
    counterexamples: Counterexamples = None,
    jobs: Jobs = None,
    threads: Threads = None,
    fingerprint: Fingerprint = False,
    exhaustive: Exhaustive = False,
    checkpoint: Checkpoint = None,
    resume: Resume = None,
    no_reductions: NoReductions = False,
    recheck: Recheck = None,
    given: Given = False,
    states: States = None,
    depth: Depth = None,
    time: Time = None,
    memory: Memory = None,
    json: JsonFile = None,
    itf: ItfFolder = None,
    report: Report = None,
    junit: Junit = None,
    sarif: Sarif = None,
    annotations: Annotations = None,
    baseline: Baseline = None,
    runs: Runs = False,
    steps: Steps = False,
    details: Details = False,
    witnesses: Witnesses = False,
    quiet: Quiet = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Check a protocol: what holds, what does not and by which run, and how far each answer reaches."""
    from hacheck.cli.checking.ci_outputs import Ci
    from hacheck.cli.checking.request import Request
    from hacheck.cli.checking.verification import runner
    from hacheck.cli.engines import parse_exploring
    from hacheck.cli.options import parse_count, parse_jobs, parse_limits, parse_settings

    tried = "--blame" if blame else counterexamples and "--counterexamples"
    refuse_contradictions(spec, every, jobs, raise_bounds, report, checkpoint or resume, watch, tried)
    request = Request(
        spec=spec or "", checks=tuple(check or ()), settings=parse_settings(settings or ()),
        properties=tuple(only or ()), wide=wide, raising=raise_bounds, jobs=parse_jobs(jobs), blame=blame,
        counterexamples=parse_count("--counterexamples", counterexamples or "1"),
        exploring=parse_exploring(
            engine, threads, fingerprint, no_reductions, checkpoint, resume, given, recheck, exhaustive
        ),
        **parse_limits(states, depth, time, memory), ci=Ci(junit, sarif, annotations, baseline), json=json, itf=itf,
        report=report, no_color=no_color, runs=runs, steps=steps, details=details, witnesses=witnesses, quiet=quiet,
    )  # fmt: skip
    return runner(every=every, watched=watch)(request)
