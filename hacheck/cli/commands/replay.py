"""`hacheck replay`: carries a run of a spec out on a real system, and says whether it does what the model says."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import Argument, Writes, flag, option
from hacheck.cli.guard import BadInput, ExitCode, guarded
from hacheck.cli.options import SEED_MAX, DebugOption, NoColorOption, SettingOptions, specs_beginning

WHICH, HOW, OUTPUT = "Which run", "How it is carried out", "Output"

EPILOG = """
[bold]Examples[/]

  hacheck replay icestorm --check as_released --property acknowledged_survives --on icestorm

  hacheck replay found.json --property one_view --on icestorm     a run that verify --json wrote

  hacheck replay icestorm --check as_released --on icestorm --random 10     random runs first

  hacheck replay icestorm --check as_released --property one_view --on icestorm --repeat 20

  hacheck replay --list                                           what runs can be carried out on

[bold]Outcomes[/]

  confirmed: every step came out, and what the run shows was observed. refuted: at a step the product did something
  else. not_carried_out: the product was not brought to do a step. masked: something in between hides what the run
  shows. environment: this machine cannot produce a step.

[bold]Exit codes[/]

  0 confirmed   1 refuted, or masked   2 bad input, or the product is missing   3 not carried out, or environment
  4 a bug in hacheck
"""

One = str | None
RUN = "A spec, or the JSON that verify or simulate wrote."
CHECK = "The check whose settings count, or whose run it is."
PROPERTY = "The property that the run shows: its counterexample, or its witness."
ON = "The product: see --list. module:class names a plug-in of your own."
RANDOM = "Carry out this many random runs of the model instead."
STEPS = "So many steps a random run has."
SEED = "The first seed of random runs; the same seed gives the same run."
REPEAT = "Carry out the run this many times, and count the results."
LINGER = "Watch a run without end for this many seconds."
KEEP = "The folder for recordings, which must be empty or new; by default a temporary one, which is named."
LIST = "List the products, and whether each can be started here."
JSON = "Write everything found as JSON (- is stdout)."


@guarded
def replay(
    run: Annotated[One, Argument("[RUN|SPEC]", RUN, specs_beginning, "run")] = None,
    check: Annotated[One, option("--check", metavar="NAME", help=CHECK, panel=WHICH)] = None,
    only: Annotated[One, option("--property", metavar="NAME", help=PROPERTY, panel=WHICH)] = None,
    settings: SettingOptions = None,
    random: Annotated[
        int | None, option("--random", metavar="N", help=RANDOM, panel=WHICH, least=1, most=100_000)
    ] = None,
    steps: Annotated[int, option("--steps", metavar="N", help=STEPS, panel=WHICH, least=1, most=1000)] = 12,
    seed: Annotated[int, option("--seed", metavar="N", help=SEED, panel=WHICH, least=0, most=SEED_MAX)] = 0,
    on: Annotated[One, option("--on", metavar="PRODUCT", help=ON, panel=HOW)] = None,
    repeat: Annotated[int, option("--repeat", metavar="N", help=REPEAT, panel=HOW, least=1, most=10_000)] = 1,
    linger: Annotated[int, option("--linger", metavar="S", help=LINGER, panel=HOW, least=1, most=3600)] = 20,
    listed: Annotated[bool, flag("--list", help=LIST, panel=HOW)] = False,
    json: Annotated[One, option("--json", metavar="FILE", help=JSON, panel=OUTPUT, writes=Writes())] = None,
    keep: Annotated[One, option("--keep", metavar="DIR", help=KEEP, panel=OUTPUT, writes=Writes(within=("*",)))] = None,
    quiet: Annotated[bool, flag("--quiet", "-q", help="Only the outcome.", panel=OUTPUT)] = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Carry out a run of the model on a real system, step by step, and compare its state after each step."""
    from hacheck.cli.options import parse_settings
    from hacheck.cli.replaying.replay_run import Request, list_products, replay_run

    if listed:
        return list_products(no_color=no_color)
    if run is None:
        raise BadInput("the run is missing: a spec, or the JSON of verify", "`hacheck replay --help` has examples")
    if on is None:
        raise BadInput("--on is missing: the product to carry the run out on", "`hacheck replay --list` shows them")
    if random is not None and repeat > 1:
        raise BadInput("--repeat is for one run, and --random makes several", "leave one of the two out")
    return replay_run(
        Request(
            run=run,
            check=check,
            property=only,
            settings=parse_settings(settings or ()),
            on=on,
            random=random,
            steps=steps,
            seed=seed,
            repeat=repeat,
            linger_seconds=float(linger),
            json=json,
            keep=keep,
            quiet=quiet,
            no_color=no_color,
        )
    )
