"""`hacheck monitor`: checks traces while their records arrive, and resumes where it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from hacheck.cli.command_line import Argument, Writes, flag, option
from hacheck.cli.commands.conform import (
    COMPARING,
    RUNNING,
    AdapterName,
    Check,
    Hide,
    Master,
    Nodes,
    Properties,
    Skew,
    States,
    Steps,
    Within,
    Zone,
)
from hacheck.cli.guard import BadInput, ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption, SettingOptions, SpecArgument

ENDING = "When a trace is over"
ALERTING = "Logs: alerts and metrics"

EPILOG = """
[bold]Examples[/]

  hacheck monitor mine.ha incoming/ --results watch/               Ctrl-C ends it; the same command resumes

  hacheck monitor mine.ha incoming/ --results watch/ --last stopped --idle 5m

  hacheck monitor mine.ha incoming/ --results watch/ --once        check the records that are there, and end

  hacheck monitor icestorm /var/log/ice --adapter icestorm --check as_released --property all --results watch/

  hacheck monitor icestorm /var/log/ice --adapter icestorm --results watch/ --metrics 9108

[bold]Exit codes[/]

  0 no trace deviates   1 one deviates, or a property is violated   2 bad input   3 undecided   4 a bug in hacheck

  of the traces of this run; those of earlier runs are only counted
"""

One = str | None
FOLDER = "Folder in which files of JSON lines arrive or grow; with --adapter, logs."
RESULTS = "Folder for verdicts or alerts, findings and the state of open traces."
PER_NODE = "Each node logs on its own: records of different nodes come in no particular order."
LAST = "A record of one of these events is the last of its trace: a,b,c."
IDLE = "A trace ends when no record of it arrives for this long: 90, 5m, 2h."
ENGINE = "Where the monitor runs: local (this machine; files may grow) or spark (complete files arrive in the folder)."
ONCE = "Check the records that are there, as if no more came, and end."
QUIET = "Show no progress."

DELAY = "Logs: how much later than its time a record may be written: 2, 1m."
WEBHOOK = "Logs: send each alert as JSON to this URL (HTTP POST)."
COMMAND = "Logs: run this command for each alert, with the alert as JSON on its input."
METRICS = "Logs: serve metrics for Prometheus at http://127.0.0.1:PORT/metrics; 0 for any free port."

WRITTEN = Writes(within=("verdicts*", "checkpoint*", "alerts*", "records*"))

Place = Annotated[str, Argument("FOLDER", FOLDER, reads="file")]
Results = Annotated[One, option("--results", "-o", metavar="DIR", help=RESULTS, writes=WRITTEN)]
PerNode = Annotated[bool, flag("--per-node", help=PER_NODE, panel=COMPARING)]
Last = Annotated[One, option("--last", metavar="EVENTS", help=LAST, panel=ENDING, reads="listed")]
Idle = Annotated[str, option("--idle", metavar="TIME", help=IDLE, panel=ENDING)]
Once = Annotated[bool, flag("--once", help=ONCE, panel=ENDING)]
Engine = Annotated[str, option("--engine", metavar="NAME", help=ENGINE, panel=RUNNING)]
Delay = Annotated[str, option("--delay", metavar="TIME", help=DELAY, panel=ALERTING)]
Webhook = Annotated[One, option("--webhook", metavar="URL", help=WEBHOOK, panel=ALERTING)]
AlertCommand = Annotated[One, option("--alert-command", metavar="COMMAND", help=COMMAND, panel=ALERTING)]
Metrics = Annotated[int | None, option("--metrics", metavar="PORT", help=METRICS, panel=ALERTING, least=0, most=65_535)]
Quiet = Annotated[bool, flag("--quiet", "-q", help=QUIET)]


@guarded
def monitor(
    spec: SpecArgument,
    folder: Place,
    results: Results = None,
    adapter: AdapterName = None,
    time_zone: Zone = None,
    check: Check = None,
    settings: SettingOptions = None,
    steps: Steps = False,
    hide: Hide = None,
    properties: Properties = None,
    within: Within = None,
    nodes: Nodes = None,
    per_node: PerNode = False,
    skew: Skew = 10,
    states: States = "128k",
    last: Last = None,
    idle: Idle = "10m",
    once: Once = False,
    delay: Delay = "2",
    webhook: Webhook = None,
    alert_command: AlertCommand = None,
    metrics: Metrics = None,
    engine: Engine = "local",
    master: Master = None,
    quiet: Quiet = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Check traces while their records arrive, until Ctrl-C; started again, it resumes where it stopped."""
    from hacheck.cli.logs.comparison_options import comparison
    from hacheck.cli.logs.trace_monitor import MonitorRequest, logs_followed, monitor_traces
    from hacheck.cli.options import all_known, parse_count, parse_seconds

    all_known("engine", (engine,), ("local", "spark"))
    if results is None:
        raise BadInput("--results is missing", "add --results DIR, a folder for verdicts and open traces")
    refuse_on_other_engine(engine, {"--once": once, "--adapter": adapter is not None}, master)
    logs = logs_followed(adapter, time_zone, parse_seconds(delay, "--delay"), webhook, alert_command, metrics)
    return monitor_traces(
        MonitorRequest(
            spec=spec,
            folder=folder,
            results=results,
            comparison=comparison(check, settings, steps, hide, within, nodes),
            properties=tuple(properties or ()),
            logs=logs,
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


def refuse_on_other_engine(engine: str, local: Mapping[str, bool], master: str | None) -> None:
    """Errors: `BadInput` for an option that the engine does not have. `local`: those that only the local one has."""
    if master is not None and engine != "spark":
        raise BadInput("--master needs Spark", "add --engine spark")
    for name, given in local.items():
        if given and engine == "spark":
            other = "hacheck conform --engine spark checks what is there"
            raise BadInput(f"{name} is not for Spark", other if name == "--once" else "leave out --engine spark")
