"""`hacheck why`: what the proof of an invariant rests on."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import flag, option
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, MemoryOption, NoColorOption, SettingOptions, SpecArgument

EPILOG = """
[bold]Examples[/]

  hacheck why mine.ha                                every invariant of the default check

  hacheck why mine.ha --property one_leader          this one

[bold]Exit codes[/]

  0 every invariant is proved   1 one is violated   2 bad input
  3 some are not inductive, or a limit was reached   4 a bug in hacheck
"""

Many = list[str] | None
SETTINGS = "Try other settings, too, and report those under which it is proved."


@guarded
def why(
    spec: SpecArgument,
    check: Annotated[str | None, option("--check", metavar="NAME", help="The check whose settings count.")] = None,
    only: Annotated[Many, option("--property", metavar="NAME", help="This invariant only. Repeatable.")] = None,
    settings: SettingOptions = None,
    others: Annotated[bool, flag("--settings", help=SETTINGS)] = False,
    time: Annotated[
        str | None, option("--time", metavar="TIME", help="Stop each proof after this long: 90, 5m.")
    ] = None,
    memory: MemoryOption = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Show why an invariant holds: the lemmas, guards, conditions and limits that its proof needs."""
    from hacheck.checker.engine import Limits
    from hacheck.cli.checking.reasons import Request, why_spec
    from hacheck.cli.options import memory_limit, parse_seconds, parse_settings

    limits = Limits(
        wall_seconds_max=None if time is None else parse_seconds(time),
        memory_bytes_max=memory_limit(memory),
    )
    return why_spec(Request(spec, check, tuple(only or ()), parse_settings(settings or ()), others, limits, no_color))
