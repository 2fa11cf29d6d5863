"""`hacheck verify`: runs the checks of a spec and says what holds, what does not, and how far that
reaches."""

from __future__ import annotations

from typing import Annotated

import typer

from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption, SettingOptions, SpecArgument

LIMITS, OUTPUT = "Limits (each check on its own)", "Output"

EPILOG = """
[bold]Examples[/]

  hacheck verify icestorm                           all checks of a shipped spec

  hacheck verify mine.ha --check default --runs     one check, with every run

  hacheck verify mine.ha --set crashes=2 --time 5m  other settings, at most 5 min

  hacheck verify mine.ha --json - | jq .checks      all that was found, as JSON

[bold]Exit codes[/]

  0 as expected   1 not as expected   2 bad input   3 undecided   4 a bug in hacheck
"""


@guarded
def verify(
    spec: SpecArgument,
    check: Annotated[
        list[str] | None,
        typer.Option("--check", metavar="NAME", help="Run this check only. May be given often."),
    ] = None,
    settings: SettingOptions = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="NAME", help="Decide this property only. May be given often."),
    ] = None,
    wide: Annotated[
        bool, typer.Option("--wide", metavar="", help="Run the checks marked `by request` as well.")
    ] = False,
    engine: Annotated[
        str,
        typer.Option(metavar="NAME", help="Who explores: python (every state) or simulation (random walks)."),
    ] = "python",
    states: Annotated[
        str | None,
        typer.Option(metavar="N", help="Stop at this many states: 5000000, 5M.", rich_help_panel=LIMITS),
    ] = None,
    depth: Annotated[
        str | None, typer.Option(metavar="N", help="Go at most this many steps deep.", rich_help_panel=LIMITS)
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Stop after this long: 90, 5m, 2h.", rich_help_panel=LIMITS),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Stop at this much memory: 8GiB, 500M. By default three quarters of what there is.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    json: Annotated[
        str | None,
        typer.Option(
            "--json",
            metavar="FILE",
            help="Write everything found as JSON (- is stdout).",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    itf: Annotated[
        str | None,
        typer.Option("--itf", metavar="DIR", help="Write every run as ITF JSON into a folder.", rich_help_panel=OUTPUT),
    ] = None,
    runs: Annotated[
        bool,
        typer.Option("--runs", metavar="", help="Tell expected violations step by step, too.", rich_help_panel=OUTPUT),
    ] = False,
    witnesses: Annotated[
        bool,
        typer.Option(
            "--witnesses", metavar="", help="Tell how reachable properties are reached.", rich_help_panel=OUTPUT
        ),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", metavar="", help="Only what is not as expected, and the summary.", rich_help_panel=OUTPUT
        ),
    ] = False,
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
