"""`hacheck timing`: for which time constants a spec is safe."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import flag, option
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, JsonOption, NoColorOption, SettingOptions, SpecArgument

EPILOG = """
[bold]Examples[/]

  hacheck timing mine.ha                                  every setting that a lease or a clock is made of

  hacheck timing examples/timing/lease.ha --vary margin --vary pause --vary drift=0..2

  hacheck timing mine.ha --vary lease=2..6 --runs         with the worst schedule, step by step

[bold]Exit codes[/]

  0 safe as the constants are now   1 not safe   2 bad input   3 undecided   4 a bug in hacheck
"""

VARY = "Try this setting at each value of an interval, by default that of the spec. Repeatable."
CHECK = "The check whose settings and properties count; by default the one called default, else the first."
POINTS = "Largest number of combinations; by default 2000."


@guarded
def timing(
    spec: SpecArgument,
    vary: Annotated[list[str] | None, option("--vary", metavar="NAME=LOW..HIGH", help=VARY)] = None,
    check: Annotated[str | None, option("--check", metavar="NAME", help=CHECK)] = None,
    only: Annotated[
        list[str] | None, option("--property", metavar="NAME", help="This property only. Repeatable.")
    ] = None,
    settings: SettingOptions = None,
    points: Annotated[str | None, option("--points", metavar="N", help=POINTS)] = None,
    time: Annotated[str | None, option("--time", metavar="TIME", help="Stop after this long: 90, 5m, 2h.")] = None,
    runs: Annotated[bool, flag("--runs", help="Show the worst schedules step by step.")] = False,
    json: JsonOption = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Find the safe region of time constants, and how far the present ones are from its edge."""
    from hacheck.cli.options import parse_count, parse_seconds, parse_settings
    from hacheck.cli.timing.timing_exploration import Request, time_spec

    return time_spec(
        Request(
            spec=spec,
            vary=tuple(vary or ()),
            check=check,
            properties=tuple(only or ()),
            settings=parse_settings(settings or ()),
            points_max=2000 if points is None else parse_count("--points", points),
            seconds_max=None if time is None else parse_seconds(time),
            runs=runs,
            json=json,
            no_color=no_color,
        )
    )
