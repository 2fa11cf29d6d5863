"""`hacheck monitor`: checks traces while their records arrive, and resumes where it stopped."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.commands.conform import COMPARING, RUNNING, Check, Hide, Master, Nodes, Skew, States, Steps, Within
from hacheck.cli.declaring import Argument, Writes, flag, option
from hacheck.cli.guard import BadInput, ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption, SettingOptions, SpecArgument

ENDING = "When a trace is over"

EPILOG = """
[bold]Examples[/]

  hacheck monitor mine.ha incoming/ --results watch/               Ctrl-C ends it; the same command resumes

  hacheck monitor mine.ha incoming/ --results watch/ --last stopped --idle 5m

  hacheck monitor mine.ha incoming/ --results watch/ --once        check the records that are there, and end

[bold]Exit codes[/]

  0 no trace deviates   1 one deviates   2 bad input   3 undecided   4 a bug in hacheck

  of the traces of this run; those of earlier runs are only counted
"""

One = str | None
FOLDER = "Folder in which files of JSON lines arrive or grow."
RESULTS = "Folder for verdicts, findings and the state of open traces."
PER_NODE = "Each node logs on its own: records of different nodes come in no particular order."
LAST = "A record of one of these events is the last of its trace: a,b,c."
IDLE = "A trace ends when no record of it arrives for this long: 90, 5m, 2h."
ENGINE = "Where the monitor runs: local (this machine; files may grow) or spark (complete files arrive in the folder)."
ONCE = "Check the records that are there, as if no more came, and end."
QUIET = "Show no progress."

WRITTEN = Writes(within=("verdicts*", "checkpoint*"))

Place = Annotated[str, Argument("FOLDER", FOLDER, reads="file")]
Results = Annotated[One, option("--results", "-o", metavar="DIR", help=RESULTS, writes=WRITTEN)]
PerNode = Annotated[bool, flag("--per-node", help=PER_NODE, panel=COMPARING)]
Last = Annotated[One, option("--last", metavar="EVENTS", help=LAST, panel=ENDING, reads="listed")]
Idle = Annotated[str, option("--idle", metavar="TIME", help=IDLE, panel=ENDING)]
Once = Annotated[bool, flag("--once", help=ONCE, panel=ENDING)]
Engine = Annotated[str, option("--engine", metavar="NAME", help=ENGINE, panel=RUNNING)]
Quiet = Annotated[bool, flag("--quiet", "-q", help=QUIET)]


@guarded
def monitor(
    spec: SpecArgument,
    folder: Place,
    results: Results = None,
    check: Check = None,
    settings: SettingOptions = None,
    steps: Steps = False,
    hide: Hide = None,
    within: Within = None,
    nodes: Nodes = None,
    per_node: PerNode = False,
    skew: Skew = 10,
    states: States = "16k",
    last: Last = None,
    idle: Idle = "10m",
    once: Once = False,
    engine: Engine = "local",
    master: Master = None,
    quiet: Quiet = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Check traces while their records arrive, until Ctrl-C; started again, it resumes where it stopped."""
    from hacheck.cli.logs.comparison import comparison
    from hacheck.cli.logs.monitor import MonitorRequest, monitor_traces
    from hacheck.cli.options import all_known, parse_count, parse_seconds

    all_known("engine", (engine,), ("local", "spark"))
    if results is None:
        raise BadInput("--results is missing", "add --results DIR, a folder for verdicts and open traces")
    if master is not None and engine != "spark":
        raise BadInput("--master needs Spark", "add --engine spark")
    if once and engine == "spark":
        raise BadInput("--once is not for Spark", "hacheck conform --engine spark checks what is there")
    return monitor_traces(
        MonitorRequest(
            spec=spec,
            folder=folder,
            results=results,
            comparison=comparison(check, settings, steps, hide, within, nodes),
            per_node=per_node,
            skew_ms=skew,
            capacity=parse_count("--states", states),
            last=last,
            idle_seconds=parse_seconds(idle, "--idle"),
            once=once,
            engine=engine,
            master=master,
            quiet=quiet,
            no_color=no_color,
        )
    )
