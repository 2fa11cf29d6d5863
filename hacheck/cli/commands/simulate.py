"""`hacheck simulate`: one random run of a spec, the same for the same seed."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.declaring import option
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption, SettingOptions, SpecArgument

EPILOG = """
[bold]Examples[/]

  hacheck simulate icestorm --seed 7               30 steps of a random run

  hacheck simulate mine.ha --steps 99 --json r.json  saved for hacheck show
"""


@guarded
def simulate(
    spec: SpecArgument,
    seed: Annotated[int, option("--seed", metavar="N", help="The same seed gives the same run.")] = 0,
    steps: Annotated[int, option("--steps", metavar="N", help="How many steps at most.", least=0)] = 30,
    check: Annotated[str | None, option("--check", metavar="NAME", help="The check whose settings count.")] = None,
    settings: SettingOptions = None,
    json: Annotated[str | None, option("--json", metavar="FILE", help="Write the run as JSON (- is stdout).")] = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Walk through a protocol at random, step by step."""
    from hacheck.cli.options import parse_settings
    from hacheck.cli.saved_runs import simulate_spec

    return simulate_spec(spec, seed, steps, check, parse_settings(settings or ()), json, no_color=no_color)
