"""`hacheck simulate-impl`: runs the reference implementation of a protocol under faults, from many seeds."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import Argument, Writes, flag, option
from hacheck.cli.guard import BadInput, ExitCode, guarded
from hacheck.cli.options import JOBS_MAX, MEMBERS_MAX, SECONDS_MAX, SEED_MAX, DebugOption, NoColorOption, SettingOptions

CLUSTER, OUTPUT = "The cluster", "Output"

EPILOG = """
[bold]Examples[/]

  hacheck simulate-impl icestorm                                   100 runs with the faults it promises to survive

  hacheck simulate-impl icestorm --seeds 1000 --faults chaos       all kinds of faults

  hacheck simulate-impl qpid --seed 17 --seeds 1 --faults crashes  one run

  hacheck simulate-impl icestorm -n 2 --seconds 7200 --stretch 20  two hours each, with faults minutes apart

  hacheck simulate-impl icestorm --faults chaos --out broken/      small runs that break something, as files

  hacheck simulate-impl icestorm --replay broken/icestorm-17.json  one of them, shown

[bold]Exit codes[/]

  0 every promise was kept   1 one was broken   2 bad input   3 interrupted, or a run without end
  4 a bug in hacheck: a protocol raised
"""


def systems_beginning(incomplete: str) -> list[str]:
    """What a shell offers for a PROTOCOL."""
    from hacheck.impl.systems import names

    return [name for name in names() if name.startswith(incomplete)]


def faults_beginning(incomplete: str) -> list[str]:
    """What a shell offers for --faults."""
    from hacheck.impl.simulator.profiles import names

    return [name for name in names() if name.startswith(incomplete)]


One = str | None
PROTOCOL = (
    "icestorm, icestorm-topics, fiorano-replicated, fiorano-shared, qpid, qpid-standalone, artemis-shared-store, "
    "artemis-replication, artemis-scale-down, artemis-colocated, artemis-client, artemis-lock-manager; or MODULE:VALUE "
    "for code of your own."
)
SEEDS = "Number of runs: 1000, 10k. By default 100."
SEED = "Seed of the first run; each further run takes the next one."
FAULTS = (
    "Faults: promised (those that the protocol claims to survive), none, crashes, power, wipes, pauses, partitions, "
    "network, datagrams, disk, clocks, locks, chaos or everything; or kinds: crash/coordinator,cut."
)
REPLICAS = "Number of replicas; by default 3, or 2 for a protocol of pairs."
CLIENTS = "Number of clients; by default 2."
SECONDS = "Seconds of virtual time in which faults are injected."
STRETCH = "Faults N times further apart, and up to N times as long: for runs of hours and days, with --seconds."
REPLAY = "Repeat the run in this file, which --out has written, instead of seeds."
FIRST = "Stop at the first run that breaks a promise."
AS_IT_IS = "Show runs as they are, without reducing them first."
OUT = "Write a reduced run of each kind of failure into this folder; --replay repeats it."
RECORD = "Write the records of each run as a trace into this folder."
JSON = "Write everything found as JSON (- is stdout)."
JOBS = "Number of processes; by default one for each core. The results do not depend on it."
QUIET = "Show only broken promises and the summary."

RUNS, TRACES = Writes(within=("*.json",)), Writes(within=("*.jsonl",))

Protocol = Annotated[str, Argument("PROTOCOL", PROTOCOL, systems_beginning, "module")]
Seeds = Annotated[One, option("--seeds", "-n", metavar="N", help=SEEDS)]
Seed = Annotated[int, option("--seed", metavar="N", help=SEED, least=0, most=SEED_MAX)]
Faults = Annotated[str, option("--faults", metavar="PROFILE", help=FAULTS, offers=faults_beginning)]
Seconds = Annotated[int, option("--seconds", metavar="S", help=SECONDS, least=1, most=SECONDS_MAX)]
Stretch = Annotated[int, option("--stretch", metavar="N", help=STRETCH, least=1, most=1_000_000)]
Replicas = Annotated[
    int | None, option("--replicas", metavar="N", help=REPLICAS, panel=CLUSTER, least=1, most=MEMBERS_MAX)
]
Clients = Annotated[int, option("--clients", metavar="N", help=CLIENTS, panel=CLUSTER, least=0, most=MEMBERS_MAX)]
Replay = Annotated[One, option("--replay", metavar="FILE", help=REPLAY, reads="file")]
First = Annotated[bool, flag("--first", help=FIRST)]
AsItIs = Annotated[bool, flag("--as-it-is", help=AS_IT_IS)]
Out = Annotated[One, option("--out", "-o", metavar="DIR", help=OUT, panel=OUTPUT, writes=RUNS)]
Recorded = Annotated[One, option("--record", metavar="DIR", help=RECORD, panel=OUTPUT, writes=TRACES)]
Json = Annotated[One, option("--json", metavar="FILE", help=JSON, panel=OUTPUT, writes=Writes())]
Jobs = Annotated[int | None, option("--jobs", "-j", metavar="N", help=JOBS, least=1, most=JOBS_MAX)]
Quiet = Annotated[bool, flag("--quiet", "-q", help=QUIET, panel=OUTPUT)]


@guarded
def simulate_impl(
    protocol: Protocol,
    seeds: Seeds = None,
    seed: Seed = 0,
    faults: Faults = "promised",
    seconds: Seconds = 60,
    stretch: Stretch = 1,
    replay: Replay = None,
    first: First = False,
    as_it_is: AsItIs = False,
    jobs: Jobs = None,
    replicas: Replicas = None,
    clients: Clients = 2,
    settings: SettingOptions = None,
    out: Out = None,
    record: Recorded = None,
    json: Json = None,
    quiet: Quiet = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Run the reference implementation of a protocol under faults, from many seeds, in virtual time."""
    from hacheck.cli.options import parse_count, parse_settings
    from hacheck.cli.running.simulation import Request, replay_run, simulate_seeds

    if replay is not None and seeds is not None:
        raise BadInput("--replay is one run: it goes without --seeds", "leave one of them out")
    request = Request(
        protocol=protocol,
        seeds=100 if seeds is None else parse_count("--seeds", seeds),
        seed=seed,
        faults=faults,
        seconds=seconds,
        stretch=stretch,
        replicas=replicas,
        clients=clients,
        settings=parse_settings(settings or ()),
        first=first,
        reduce=not as_it_is,
        jobs=jobs,
        out=out,
        record=record,
        json=json,
        quiet=quiet,
        no_color=no_color,
    )
    return simulate_seeds(request) if replay is None else replay_run(request, replay)
