"""`hacheck audit`: what may happen under just these configuration files."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import Argument, Writes, flag, option
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, JsonOption, NoColorOption, SettingOptions

OUTPUT, SCOPE = "Output", "Scope"

EPILOG = """
[bold]Examples[/]

  hacheck audit etc/                                 the files of all nodes, in a folder

  hacheck audit a/broker.xml b/broker.xml            the files themselves

  hacheck audit compose.yml                          what a compose file mounts

  hacheck audit etc/ --show                          what was read, assumed, and not known

  hacheck audit etc/ --product artemis@2.41          with defaults of that version

  hacheck audit etc/ --faults crashes=2              with more faults

  hacheck audit old/ new/                            what a change opens or closes

  hacheck audit --before HEAD~1 etc/                 the same since a revision of git

[bold]Exit codes[/]

  0 nothing is violated   1 something is   2 not readable   3 undecided   4 a bug in hacheck
"""


def products_beginning(incomplete: str) -> list[str]:
    """What a shell offers for a product."""
    from hacheck.audit.reader import shipped_readers

    return [name for name in shipped_readers() if name.startswith(incomplete)]


Many = list[str] | None
One = str | None
PATHS = "Configuration files of all nodes, folders with them, or a compose file that mounts them."
PRODUCT = "The product, with its version if defaults depend on it; by default recognised by its files."
READER = "Read the files as this TOML file says (see docs/audit.md)."
FAULTS = "How many of a kind of fault may happen; --show lists the kinds. Repeatable."
SHOW = "Show what was read, too: each setting with its place, each default, each value that the spec does not know."
BEFORE = "The files as they were: another path, or a git revision. Shows what the change opens and closes."
REPORT = "Write one HTML page: findings, each run as a picture to step through, settings."
SARIF = "Write SARIF: each finding at the settings that make it possible."
ALLOW = "Exit with 0, too, where all that is violated is what no setting of these files prevents."
WATCH = "Audit again each time a file is saved; Ctrl-C ends."
TIME = "Stop exploring, and then looking for a change, after this long: 90, 5m."

Paths = Annotated[list[str], Argument("PATH…", PATHS, reads="file")]
Product = Annotated[One, option("--product", metavar="NAME[@VERSION]", help=PRODUCT, offers=products_beginning)]
ReaderFile = Annotated[One, option("--reader", metavar="FILE", help=READER, reads="file")]
Before = Annotated[One, option("--before", metavar="PATH|REVISION", help=BEFORE)]
Faults = Annotated[Many, option("--faults", metavar="NAME=N", help=FAULTS, panel=SCOPE)]
Time = Annotated[One, option("--time", metavar="TIME", help=TIME, panel=SCOPE)]
Show = Annotated[bool, flag("--show", help=SHOW)]
Report = Annotated[One, option("--report", metavar="FILE", help=REPORT, panel=OUTPUT, writes=Writes())]
Sarif = Annotated[One, option("--sarif", metavar="FILE", help=SARIF, panel=OUTPUT, writes=Writes())]
Allow = Annotated[bool, flag("--allow-unavoidable", help=ALLOW)]
WatchIt = Annotated[bool, flag("--watch", help=WATCH)]


@guarded
def audit(
    paths: Paths,
    product: Product = None,
    reader: ReaderFile = None,
    before: Before = None,
    show: Show = False,
    faults: Faults = None,
    settings: SettingOptions = None,
    time: Time = None,
    json: JsonOption = None,
    report: Report = None,
    sarif: Sarif = None,
    allow_unavoidable: Allow = False,
    watch: WatchIt = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Read configuration files of a highly available system: may it split the brain or lose a write?"""
    from hacheck.cli.auditing.auditing import Request, runner
    from hacheck.cli.options import parse_seconds, parse_settings

    request = Request(
        paths=tuple(paths),
        product=product,
        reader=reader,
        before=before,
        show=show,
        faults=parse_settings(faults or (), "--faults"),
        settings=parse_settings(settings or ()),
        seconds_max=None if time is None else parse_seconds(time),
        json=json,
        report=report,
        sarif=sarif,
        allow_unavoidable=allow_unavoidable,
        no_color=no_color,
    )
    return runner(watched=watch)(request)
