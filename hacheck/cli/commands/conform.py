"""`hacheck conform`: whether logs follow the protocol of a spec, and if not, at which line they leave it."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import Argument, Writes, flag, option
from hacheck.cli.commands.traces import ADAPTER, QUARANTINE, ZONE, adapters_beginning
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import MS_MAX, DebugOption, NoColorOption, SettingOptions, SpecArgument

COMPARING, RUNNING, OUTPUT = "Comparison", "Execution", "Output"

EPILOG = """
[bold]Examples[/]

  hacheck conform icestorm logs/ --adapter icestorm             a folder of logs is one trace

  hacheck conform icestorm logs/ --adapter icestorm --check as_released

  hacheck conform icestorm logs/ --adapter icestorm --report logs.html

  hacheck conform mine.ha night.parquet --property one_leader   was it violated, when, by whom?

  hacheck conform icestorm logs/ --adapter icestorm --switches 120     which switch would explain a deviation?

  hacheck conform mine.ha night.jsonl --skew 20 --out verdicts.parquet

  hacheck conform mine.ha night.jsonl --steps --hide timeout    a line for each step, but for timeouts

  hacheck conform mine.ha s3a://logs/night --engine spark --master spark://host:7077 --out s3a://logs/verdicts

[bold]Exit codes[/]

  0 every trace conforms   1 one deviates, or a property is violated   2 bad input   3 undecided   4 a bug in hacheck
"""

One = str | None
TRACES = (
    "A .jsonl or .parquet file, or a folder of such; with --adapter a log, or a folder of logs; with Spark also "
    "Parquet at a URL, s3a://… or hdfs://…"
)
CHECK = "Compare with the system of this check (settings of the spec's `trace` block override its own)."
STEPS = "Expect one record per step, named after its action. This is the default for specs without `log`."
HIDE = "Steps with these events write no record: a,b,c."
SKEW = "Largest difference of two nodes' clocks, in milliseconds; the lines of one step may lie as far apart."
JUNIT = "Write JUnit XML: a case for each trace, and for each property that it violates."
STATES = "Leave a trace undecided if more states of the model explain it at once: 16000, 1M."
ENGINE = "Where the comparison runs: local (this machine) or spark."
MASTER = "Spark master: spark://…, yarn, sc://… for Spark Connect; by default one on this machine."
CONF = "A setting of Spark's: --conf spark.executor.memory=8g. Repeatable."
ORDER = "What seq means at a URL: total, the order of all records; per_node, the default, of each node's."
ANY_START = "A trace may begin in the middle: in any of the first N states that the model reaches."
PROPERTY = "Also check whether this invariant or step invariant was violated, when and by whom. Repeatable; all."
STRICT = "Exit code 1, too, where a property is possibly violated: some run that explains the whole log breaks it."
WITHIN = "Longest time that this invariant may be broken by the log's clocks, else the trace deviates: one_leader=10s."
NODE = "Map a node name in the log to a node of the model: primary=Server-1. Repeatable."
SWITCHES = "If a trace deviates, search this many seconds for what would explain it: a switch, a fault, a larger skew."
OUT = "Write the verdicts as a table: a .parquet file; with Spark a folder or a URL."
JSON = "Write everything found as JSON (- is stdout)."
REPORT = "Write one HTML page: a time line, the lines of the logs, and what the model says where one leaves it."
RUNS = "Show a shortest run of the model up to the record at which a trace deviates, step by step."
QUIET = "Only traces that do not conform, and the summary."

Place = Annotated[str, Argument("TRACES", TRACES, reads="file")]
AdapterName = Annotated[One, option("--adapter", metavar="NAME", help=ADAPTER, offers=adapters_beginning, reads="file")]
Zone = Annotated[One, option("--time-zone", metavar="ZONE", help=ZONE)]
Check = Annotated[One, option("--check", metavar="NAME", help=CHECK, panel=COMPARING)]
Steps = Annotated[bool, flag("--steps", help=STEPS, panel=COMPARING)]
Hide = Annotated[One, option("--hide", metavar="EVENTS", help=HIDE, panel=COMPARING, reads="listed")]
Skew = Annotated[int, option("--skew", metavar="MS", help=SKEW, panel=COMPARING, least=0, most=MS_MAX)]
States = Annotated[str, option("--states", metavar="N", help=STATES, panel=COMPARING)]
AnyStart = Annotated[One, option("--any-start", metavar="N", help=ANY_START, panel=COMPARING)]
Properties = Annotated[list[str] | None, option("--property", metavar="NAME", help=PROPERTY, panel=COMPARING)]
Strict = Annotated[bool, flag("--strict", help=STRICT, panel=COMPARING)]
Within = Annotated[list[str] | None, option("--within", metavar="NAME=TIME", help=WITHIN, panel=COMPARING)]
Nodes = Annotated[list[str] | None, option("--node", metavar="NAME=NODE", help=NODE, panel=COMPARING)]
Engine = Annotated[str, option("--engine", metavar="NAME", help=ENGINE, panel=RUNNING)]
Master = Annotated[One, option("--master", metavar="URL", help=MASTER, panel=RUNNING)]
Conf = Annotated[list[str] | None, option("--conf", metavar="NAME=VALUE", help=CONF, panel=RUNNING)]
OrderName = Annotated[One, option("--order", metavar="ORDER", help=ORDER, panel=RUNNING)]
Switches = Annotated[int, option("--switches", metavar="SECONDS", help=SWITCHES, panel=COMPARING, least=0, most=86_400)]
Out = Annotated[One, option("--out", "-o", metavar="FILE", help=OUT, panel=OUTPUT, writes=Writes())]
JsonFile = Annotated[One, option("--json", metavar="FILE", help=JSON, panel=OUTPUT, writes=Writes())]
Report = Annotated[One, option("--report", metavar="FILE", help=REPORT, panel=OUTPUT, writes=Writes())]
Junit = Annotated[One, option("--junit", metavar="FILE", help=JUNIT, panel=OUTPUT, writes=Writes())]
Quarantine = Annotated[One, option("--quarantine", metavar="FILE", help=QUARANTINE, panel=OUTPUT, writes=Writes())]
Runs = Annotated[bool, flag("--runs", help=RUNS, panel=OUTPUT)]
Quiet = Annotated[bool, flag("--quiet", "-q", help=QUIET, panel=OUTPUT)]


@guarded
def conform(
    spec: SpecArgument,
    traces: Place,
    adapter: AdapterName = None,
    time_zone: Zone = None,
    check: Check = None,
    settings: SettingOptions = None,
    steps: Steps = False,
    hide: Hide = None,
    skew: Skew = 10,
    states: States = "128k",
    any_start: AnyStart = None,
    only: Properties = None,
    strict: Strict = False,
    within: Within = None,
    nodes: Nodes = None,
    switches: Switches = 0,
    engine: Engine = "local",
    master: Master = None,
    conf: Conf = None,
    order: OrderName = None,
    out: Out = None,
    json: JsonFile = None,
    report: Report = None,
    junit: Junit = None,
    quarantine: Quarantine = None,
    runs: Runs = False,
    quiet: Quiet = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Compare logs with a protocol: whether they follow it, and at which line they leave it."""
    from hacheck.cli.logs.comparison_options import comparison
    from hacheck.cli.logs.conformance import ConformRequest, conform_traces
    from hacheck.cli.logs.conformance_on_spark import spark_options
    from hacheck.cli.options import all_known, parse_count

    all_known("engine", (engine,), ("local", "spark"))
    return conform_traces(
        ConformRequest(
            *(spec, traces, adapter, time_zone),
            comparison=comparison(check, settings, steps, hide, within, nodes),
            skew_ms=skew,
            capacity=parse_count("--states", states),
            any_start=0 if any_start is None else parse_count("--any-start", any_start),
            engine=engine,
            properties=tuple(only or ()),
            strict=strict,
            out=out,
            json=json,
            quarantine=quarantine,
            runs=runs,
            quiet=quiet,
            no_color=no_color,
            report=report,
            junit=junit,
            switches=switches,
            spark=spark_options(engine, traces, master, conf, order),
        )
    )
