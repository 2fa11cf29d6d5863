"""`hacheck verify`: runs the checks of a spec and says what holds, what does not, and how far that
reaches."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption, SettingOptions, SpecArgument

LIMITS, OUTPUT = "Limits (each check on its own)", "Output"

EPILOG = """
[bold]Examples[/]

  hacheck verify icestorm                           every check of it

  hacheck verify mine.ha --check default --runs     one check, with every run

  hacheck verify mine.ha --set crashes=2 --time 5m  other settings, at most 5 min

  hacheck verify mine.ha --json - | jq .checks      all that was found, as JSON

[bold]Exit codes[/]

  0 as expected   1 not as expected   2 bad input   3 undecided   4 a bug in hacheck
"""


def _text(name: str, metavar: str, help: str, panel: str | None = None) -> Any:
    """An option that takes a text."""
    return typer.Option(name, metavar=metavar, help=help, rich_help_panel=panel)


def _flag(name: str, *more: str, help: str, panel: str | None = None) -> Any:
    """An option that is there or not."""
    return typer.Option(name, *more, metavar="", help=help, rich_help_panel=panel)


Many = list[str] | None
One = str | None
Checks = Annotated[Many, _text("--check", "NAME", "Run this check only. May be given often.")]
Only = Annotated[Many, _text("--property", "NAME", "Decide this property only. May be given often.")]
Wide = Annotated[bool, _flag("--wide", help="Run the checks marked `by request` as well.")]
EngineName = Annotated[
    str, _text("--engine", "NAME", "Who explores: python (every state) or simulation (random walks).")
]
States = Annotated[One, _text("--states", "N", "Stop at this many states: 5000000, 5M.", LIMITS)]
Depth = Annotated[One, _text("--depth", "N", "Go at most this many steps deep.", LIMITS)]
Time = Annotated[One, _text("--time", "TIME", "Stop after this long: 90, 5m, 2h.", LIMITS)]
MEMORY = "Stop at this much memory: 8GiB, 500M. By default three quarters of what there is."
Memory = Annotated[One, _text("--memory", "SIZE", MEMORY, LIMITS)]
JsonFile = Annotated[One, _text("--json", "FILE", "Write everything found as JSON (- is stdout).", OUTPUT)]
ItfFolder = Annotated[One, _text("--itf", "DIR", "Write every run as ITF JSON into a folder.", OUTPUT)]
Runs = Annotated[bool, _flag("--runs", help="Tell expected violations step by step, too.", panel=OUTPUT)]
Witnesses = Annotated[bool, _flag("--witnesses", help="Tell how reachable properties are reached.", panel=OUTPUT)]
QUIET = "Only what is not as expected, and the summary."
Quiet = Annotated[bool, _flag("--quiet", "-q", help=QUIET, panel=OUTPUT)]


@guarded
def verify(
    spec: SpecArgument,
    check: Checks = None,
    settings: SettingOptions = None,
    only: Only = None,
    wide: Wide = False,
    engine: EngineName = "python",
    states: States = None,
    depth: Depth = None,
    time: Time = None,
    memory: Memory = None,
    json: JsonFile = None,
    itf: ItfFolder = None,
    runs: Runs = False,
    witnesses: Witnesses = False,
    quiet: Quiet = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Check a protocol: what holds, what does not and by which run, and how far each answer reaches."""
    from hacheck.cli.options import parse_count, parse_seconds, parse_settings, parse_size
    from hacheck.cli.verifying import Request, verify_spec

    return verify_spec(
        Request(
            spec=spec,
            checks=tuple(check or ()),
            settings=parse_settings(settings or ()),
            properties=tuple(only or ()),
            wide=wide,
            engine=engine,
            states_max=None if states is None else parse_count("--states", states),
            depth_max=None if depth is None else parse_count("--depth", depth),
            seconds_max=None if time is None else parse_seconds(time),
            memory_max=None if memory is None else parse_size(memory),
            json=json,
            itf=itf,
            runs=runs,
            witnesses=witnesses,
            quiet=quiet,
            no_color=no_color,
        )
    )
