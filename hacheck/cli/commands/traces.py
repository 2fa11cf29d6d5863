"""`hacheck traces`: looks at traces and logs, says what is wrong with them, and writes them in another form."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import Argument, Writes, flag, option
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import MS_MAX, DebugOption, JsonOption, NoColorOption

ACTIONS = ("validate", "stats", "convert", "cluster")

CHECKING, WRITING = "What records must satisfy", "convert and cluster"


def actions_beginning(incomplete: str) -> list[str]:
    """What a shell offers for an action."""
    return [name for name in ACTIONS if name.startswith(incomplete)]


def adapters_beginning(incomplete: str) -> list[str]:
    """What a shell offers for an adapter."""
    from hacheck.traces.adapters.adapter_files import shipped_names

    return [name for name in shipped_names() if name.startswith(incomplete)]


EPILOG = """
[bold]What it does[/]

  validate   count records, and show what is wrong, with file and line

  stats      how many traces, how long, which events and nodes

  convert    write the good records as JSON lines or Parquet, from either or from logs

  cluster    write them as a folder of Parquet files in which no trace is split, and a manifest

[bold]Examples[/]

  hacheck traces validate night.jsonl --quarantine bad.jsonl

  hacheck traces validate logs/ --adapter icestorm        counts every line of the logs

  hacheck traces stats night.parquet --json -

  hacheck traces convert logs/ --adapter icestorm --out night.parquet

  hacheck traces convert logs/ --adapter mine.toml --out night.jsonl

  hacheck traces convert logs/ --adapter icestorm --anonymise topic,topics --out to_show.jsonl

  hacheck traces cluster many/ --out clustered/

[bold]Exit codes[/]

  0 no finding   2 bad input, or findings   3 interrupted   4 a bug in hacheck
"""

One = str | None
PLACE = (
    "A .jsonl or .parquet file, or a folder of them; with --adapter a log, or a folder of logs. Also as a file: URL."
)
ADAPTER = "Adapter for raw logs: its name, or a .toml file."
ZONE = "Time zone of the clocks in logs, such as Europe/Berlin; by default that of the adapter."
EVENTS = "Only these events may occur: a,b,c, or @FILE with one on each line."
NODES = "Only these nodes may occur: a,b,c, or @FILE with one on each line."
CLOCK_BACK = "Milliseconds by which a node's clock may go back from one record to the next."
QUARANTINE = "Write every finding, with its line as it is, as JSON lines."
OUT = "Where to write: a .jsonl or .parquet file; for cluster, a new folder."
ANONYMISE = "convert: replace the names of hosts, files, traces, messages and in these fields: a,b,c, or - for none."
KEEP = "convert: these words before the number of a node are not secret, such as kinds of nodes: server,client."
PART = "Records in one file of a clustered folder, about."

Action = Annotated[str, Argument("ACTION", "validate, stats, convert or cluster.", actions_beginning)]
Place = Annotated[str, Argument("PLACE", PLACE, reads="file")]
AdapterName = Annotated[One, option("--adapter", metavar="NAME", help=ADAPTER, offers=adapters_beginning, reads="file")]
Zone = Annotated[One, option("--time-zone", metavar="ZONE", help=ZONE)]
Events = Annotated[One, option("--events", metavar="LIST", help=EVENTS, panel=CHECKING, reads="listed")]
Nodes = Annotated[One, option("--nodes", metavar="LIST", help=NODES, panel=CHECKING, reads="listed")]
ClockBack = Annotated[int, option("--clock-back", metavar="MS", help=CLOCK_BACK, panel=CHECKING, least=0, most=MS_MAX)]
Quarantine = Annotated[One, option("--quarantine", metavar="FILE", help=QUARANTINE, writes=Writes())]
Out = Annotated[One, option("--out", "-o", metavar="PATH", help=OUT, panel=WRITING, writes=Writes())]
PartRecords = Annotated[str, option("--part-records", metavar="N", help=PART, panel=WRITING)]
Anonymise = Annotated[One, option("--anonymise", metavar="FIELDS", help=ANONYMISE, panel=WRITING)]
Keep = Annotated[One, option("--keep", metavar="WORDS", help=KEEP, panel=WRITING)]
Quiet = Annotated[bool, flag("--quiet", "-q", help="Show no progress, and print nothing if there is no finding.")]


@guarded
def traces(
    action: Action,
    place: Place,
    adapter: AdapterName = None,
    time_zone: Zone = None,
    events: Events = None,
    nodes: Nodes = None,
    clock_back: ClockBack = 0,
    quarantine: Quarantine = None,
    out: Out = None,
    part_records: PartRecords = "2M",
    anonymise: Anonymise = None,
    keep: Keep = None,
    json: JsonOption = None,
    quiet: Quiet = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Look at traces: validate them, count, convert them (also from logs), cluster them."""
    from hacheck.cli.options import all_known, parse_count

    all_known("action", (action,), ACTIONS)
    from hacheck.cli.logs.traces import TracesRequest, look

    return look(
        TracesRequest(
            action=action,
            place=place,
            adapter=adapter,
            zone=time_zone,
            events=events,
            nodes=nodes,
            clock_back_ms=clock_back,
            quarantine=quarantine,
            out=out,
            part_records=parse_count("--part-records", part_records),
            anonymised=None if anonymise is None else tuple(filter(None, anonymise.removeprefix("-").split(","))),
            kept=tuple(filter(None, (keep or "").split(","))),
            json=json,
            quiet=quiet,
            no_color=no_color,
        )
    )
