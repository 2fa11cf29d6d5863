"""`hacheck sweep`: the checks of a spec under many settings, here or on Spark: where does each property hold?"""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import Writes, flag, option
from hacheck.cli.guard import BadInput, ExitCode, guarded
from hacheck.cli.options import DebugOption, JsonOption, NoColorOption, SettingOptions, SpecArgument

RUNNING, LIMITS, OUTPUT = "Execution", "Limits (each task on its own)", "Output"

EPILOG = """
[bold]Examples[/]

  hacheck sweep icestorm --check default --vary crashes=0..2 --vary replicas=3,4 --out crashes

  hacheck sweep mine.ha --vary lease_is_checked=on,off --vary pauses=0..3 --out pauses

  hacheck sweep mine.ha --vary clients=1..4 --time 5m --out night    again: goes on where it was

  hacheck sweep mine.ha --vary clients=1..4 --engine spark --master spark://host:7077 --out night

[bold]Exit codes[/]

  0 every task has its verdict, whatever it is   2 bad input   3 some have none   4 a bug in hacheck
"""


def engines_beginning(incomplete: str) -> list[str]:
    """What a shell offers for --engine."""
    return [name for name in ENGINES if name.startswith(incomplete)]


ENGINES = ("local", "spark")
Many = list[str] | None
One = str | None
VARY = "Values of a setting: crashes=0,1,2, crashes=0..2 or leased=on,off. Repeatable: every combination is a task."
CHECK = "Run this check only. Repeatable. By default all that need no request."
ALL = "Run every task, also where a smaller budget of faults violates a property already: then every length is exact."
ENGINE = "Where the tasks run: local (this machine) or spark. Each is explored by the native engine."
MASTER = "Spark master: spark://…, yarn, sc://… for Spark Connect; by default one on this machine."
CONF = "A setting of Spark's: --conf spark.executor.memory=8g. Repeatable."
JOBS = "How many tasks run at once; by default one for each core, on Spark one for each core of the executors."
THREADS = "How many threads explore a task; by default this machine's cores are shared among the tasks, on Spark 1."
MEMORY = "Stop at this much memory: 8GiB, 500M. By default all tasks of a machine share half of what is free."
OUT = "Folder for the tasks that are done, the table (sweep.parquet) and the picture (sweep.svg, sweep.html)."
QUIET = "No progress, and of the picture only the summary."
States = Annotated[One, option("--states", metavar="N", help="Stop at this many states: 5000000, 5M.", panel=LIMITS)]
Time = Annotated[One, option("--time", metavar="TIME", help="Stop after this long: 90, 5m, 2h.", panel=LIMITS)]
KEPT = Writes(within=("sweep.parquet", "sweep.svg", "sweep.html", "tasks.jsonl"))


@guarded
def sweep(
    spec: SpecArgument,
    vary: Annotated[Many, option("--vary", metavar="NAME=VALUES", help=VARY)] = None,
    check: Annotated[Many, option("--check", metavar="NAME", help=CHECK)] = None,
    wide: Annotated[bool, flag("--wide", help="Run the checks marked `by request` as well.")] = False,
    only: Annotated[Many, option("--property", metavar="NAME", help="Decide this property only. Repeatable.")] = None,
    settings: SettingOptions = None,
    explore_all: Annotated[bool, flag("--explore-all", help=ALL)] = False,
    engine: Annotated[
        str, option("--engine", metavar="NAME", help=ENGINE, panel=RUNNING, offers=engines_beginning)
    ] = "local",
    master: Annotated[One, option("--master", metavar="URL", help=MASTER, panel=RUNNING)] = None,
    conf: Annotated[Many, option("--conf", metavar="NAME=VALUE", help=CONF, panel=RUNNING)] = None,
    jobs: Annotated[One, option("--jobs", metavar="N", help=JOBS, panel=RUNNING)] = None,
    threads: Annotated[One, option("--threads", metavar="N", help=THREADS, panel=RUNNING)] = None,
    states: States = None,
    depth: Annotated[One, option("--depth", metavar="N", help="Go at most this many steps deep.", panel=LIMITS)] = None,
    time: Time = None,
    memory: Annotated[One, option("--memory", metavar="SIZE", help=MEMORY, panel=LIMITS)] = None,
    out: Annotated[One, option("--out", "-o", metavar="DIR", help=OUT, panel=OUTPUT, writes=KEPT)] = None,
    json: JsonOption = None,
    quiet: Annotated[bool, flag("--quiet", "-q", help=QUIET, panel=OUTPUT)] = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Check a protocol under many settings: a table and a picture of where each property holds, and where not."""
    from hacheck.checker.engine import Limits
    from hacheck.cli.options import all_known, parse_count, parse_jobs, parse_limits, parse_settings
    from hacheck.cli.sweeping.sweep import SweepRequest, sweep_spec

    all_known("engine", (engine,), ENGINES)
    if engine != "spark" and (master is not None or conf):
        raise BadInput(f"{'--conf' if master is None else '--master'} needs Spark", "add --engine spark")
    if out is None:
        raise BadInput("where are the results to be kept?", "add --out DIR; the same command again goes on from there")
    limits = parse_limits(states, depth, time, memory)
    return sweep_spec(
        SweepRequest(
            spec=spec,
            vary=tuple(vary or ()),
            checks=tuple(check or ()),
            wide=wide,
            properties=tuple(only or ()),
            settings=parse_settings(settings or ()),
            explore_all=explore_all,
            engine=engine,
            master=master,
            conf=parse_settings(conf or (), "--conf"),
            jobs=parse_jobs(jobs),
            threads=None if threads is None else parse_count("--threads", threads),
            limits=Limits(limits["states_max"], limits["seconds_max"], limits["memory_max"], limits["depth_max"]),
            out=out,
            json=json,
            quiet=quiet,
            no_color=no_color,
        )
    )
