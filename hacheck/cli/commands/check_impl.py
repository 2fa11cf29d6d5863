"""`hacheck check-impl`: runs code under every schedule of a small setting, beside its model."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import Argument, Writes, flag, option
from hacheck.cli.guard import BadInput, ExitCode, guarded
from hacheck.cli.options import MEMBERS_MAX, DebugOption, NoColorOption, SettingOptions, specs_beginning

CLUSTER, LIMITS, OUTPUT = "The cluster", "Limits", "Output"

EPILOG = """
[bold]Examples[/]

  hacheck check-impl icestorm                               the usual order, and up to two deviations from it

  hacheck check-impl fiorano-shared --crashes 1 --deviations 3

  hacheck check-impl icestorm-clients                       IceStorm again, beside the spec of its clients

  hacheck check-impl my.module:system --spec my.ha          code of your own (hacheck explain testing)

  hacheck check-impl icestorm --code bug_stamp_reset_at_start=true

  hacheck check-impl icestorm --disagreements 9 --report page.html    a page with each schedule that disagrees

[bold]Exit codes[/]

  0 the code does what the model does   1 it does not   2 bad input   3 undecided, or interrupted   4 a bug in hacheck
"""

One = str | None
CODE = (
    "A protocol of the reference implementation, [b]icestorm-clients[/], [b]qpid-transactions[/], or MODULE:VALUE for "
    "code of your own."
)
SPEC = "The model: a .ha file or a shipped protocol. By default the one that the code follows."
CHECK = "The check of the spec whose settings count."
OPTION = "Set an option of the code. Repeatable."
NODE = "Map a member of the code to a node of the model: primary=Server-1. Repeatable."
REPLICAS = "Number of replicas; by default the fewest that the protocol needs."
CLIENTS = "Number of clients; by default one, or as many as a shipped spec has."
CRASHES = "Most crashes in a schedule."
CUTS = "Most broken connections in a schedule."
POWER = "Most power failures in a schedule: unsynced writes are lost, and no process is notified."
LOCKS = "Most lost locks in a schedule; no process is notified."
DEVIATIONS = "Explore schedules that differ in up to this many steps from the usual order."
STEPS = "Steps of a schedule; by default 200, or as many as a shipped protocol needs."
TIME = "Stop after this time: 90s, 5m."
SCHEDULES = "Stop after this many schedules: 1000, 10k."
ALL = "Stop at the Nth disagreement, not at the first."
JSON = "Write everything found as JSON (- is stdout)."
FORM = "Write the first disagreement as svg, mermaid, plantuml (drawings), shiviz or json (the view) instead."
FORMATS = ("svg", "mermaid", "plantuml", "shiviz", "json")
OUT = "Where --format writes, instead of standard output."
REPORT = "Write one HTML page with every schedule that disagrees, to step through."
QUIET = "Show only disagreements and the summary."


def compared_beginning(incomplete: str) -> list[str]:
    """What a shell offers for CODE."""
    from hacheck.testing.reference_protocols import FOLLOWED

    return [name for name in FOLLOWED if name.startswith(incomplete)]


Form = Annotated[One, option("--format", metavar="FORM", help=FORM, panel=OUTPUT)]
Out = Annotated[One, option("--out", "-o", metavar="FILE", help=OUT, panel=OUTPUT, writes=Writes())]
Report = Annotated[One, option("--report", metavar="FILE", help=REPORT, panel=OUTPUT, writes=Writes())]
Node = Annotated[list[str] | None, option("--node", metavar="NAME=NODE", help=NODE, panel=CLUSTER)]
Code = Annotated[list[str] | None, option("--code", metavar="NAME=VALUE", help=OPTION, panel=CLUSTER)]

Deviations = Annotated[int, option("--deviations", metavar="N", help=DEVIATIONS, panel=LIMITS, least=0, most=1000)]

Steps = Annotated[int | None, option("--steps", metavar="N", help=STEPS, panel=LIMITS, least=1, most=1_000_000)]

Replicas = Annotated[
    int | None, option("--replicas", metavar="N", help=REPLICAS, panel=CLUSTER, least=1, most=MEMBERS_MAX)
]


@guarded
def check_impl(
    code: Annotated[str, Argument("CODE", CODE, compared_beginning, "module")],
    spec: Annotated[One, option("--spec", metavar="SPEC", help=SPEC, offers=specs_beginning, reads="spec")] = None,
    check: Annotated[One, option("--check", metavar="NAME", help=CHECK)] = None,
    settings: SettingOptions = None,
    options: Code = None,
    nodes: Node = None,
    replicas: Replicas = None,
    clients: Annotated[
        int | None, option("--clients", metavar="N", help=CLIENTS, panel=CLUSTER, least=0, most=MEMBERS_MAX)
    ] = None,
    crashes: Annotated[int, option("--crashes", metavar="N", help=CRASHES, panel=LIMITS, least=0, most=1000)] = 1,
    cuts: Annotated[int, option("--cuts", metavar="N", help=CUTS, panel=LIMITS, least=0, most=1000)] = 0,
    power: Annotated[int, option("--power", metavar="N", help=POWER, panel=LIMITS, least=0, most=1000)] = 0,
    lock_losses: Annotated[int, option("--lock-losses", metavar="N", help=LOCKS, panel=LIMITS, least=0, most=1000)] = 0,
    deviations: Deviations = 2,
    steps: Steps = None,
    time: Annotated[str, option("--time", metavar="T", help=TIME, panel=LIMITS)] = "60s",
    schedules: Annotated[str, option("--schedules", metavar="N", help=SCHEDULES, panel=LIMITS)] = "1M",
    found: Annotated[int, option("--disagreements", metavar="N", help=ALL, panel=LIMITS, least=1, most=1_000_000)] = 1,
    json: Annotated[One, option("--json", metavar="FILE", help=JSON, panel=OUTPUT, writes=Writes())] = None,
    form: Form = None,
    out: Out = None,
    report: Report = None,
    quiet: Annotated[bool, flag("--quiet", "-q", help=QUIET, panel=OUTPUT)] = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Run code under every schedule of a small setting, and compare each step with the model."""
    from hacheck.cli.logs.comparison_options import parse_nodes
    from hacheck.cli.options import parse_count, parse_seconds, parse_settings
    from hacheck.cli.running.schedule_exploration import Request, explore_schedules
    from hacheck.testing.schedules.schedule_search import Limits

    _refuse_drawings(form, out, json)
    return explore_schedules(
        Request(
            code=code,
            spec=spec,
            check=check,
            settings=parse_settings(settings or ()),
            options=parse_settings(options or (), "--code"),
            nodes=parse_nodes(nodes or ()),
            replicas=replicas,
            clients=clients,
            faults={"crash": crashes, "cut": cuts, "power": power, "lock": lock_losses},
            steps=steps,
            limits=Limits(deviations, 0, parse_count("--schedules", schedules), parse_seconds(time), found),
            json=json,
            form=form,
            out=out,
            report=report,
            quiet=quiet,
            no_color=no_color,
        )
    )


def _refuse_drawings(form: str | None, out: str | None, json: str | None) -> None:
    """Errors: `BadInput` where nothing can be drawn as the options say."""
    if form is not None and form not in FORMATS:
        raise BadInput(f"--format {form}: there is no such format", f"there are {', '.join(FORMATS)}")
    if out is not None and form is None:
        raise BadInput("--out goes with --format", "or --report FILE, for a page")
    if form is not None and (out or "-") == "-" and json == "-":
        raise BadInput("--format and --json would both write to standard output", "name a file: --out FILE")
