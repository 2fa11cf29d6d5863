"""The `hacheck` command: its subcommands, and what stands above them."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from hacheck.cli.commands.diagram import EPILOG as DIAGRAM_EPILOG
from hacheck.cli.commands.diagram import diagram
from hacheck.cli.commands.explain import explain
from hacheck.cli.commands.fmt import EPILOG as FMT_EPILOG
from hacheck.cli.commands.fmt import fmt
from hacheck.cli.commands.inspect import EPILOG as INSPECT_EPILOG
from hacheck.cli.commands.inspect import inspect
from hacheck.cli.commands.list import list_specs
from hacheck.cli.commands.show import EPILOG as SHOW_EPILOG
from hacheck.cli.commands.show import show
from hacheck.cli.commands.simulate import EPILOG as SIMULATE_EPILOG
from hacheck.cli.commands.simulate import simulate
from hacheck.cli.commands.verify import EPILOG as VERIFY_EPILOG
from hacheck.cli.commands.verify import verify
from hacheck.cli.guard import version

app = typer.Typer(
    name="hacheck",
    help="Model checker for highly available systems: can yours split the brain, lose an acknowledged write, "
    "promote a stale copy, or wedge?",
    epilog="Begin with [bold]hacheck verify icestorm[/], or [bold]hacheck list[/] for all that is shipped.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"hacheck {version()}")
        raise typer.Exit


@app.callback()
def _hacheck(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What every command shares."""


ASK, LOOK, WRITE = "Check", "Look", "Write"

app.command("verify", epilog=VERIFY_EPILOG, rich_help_panel=ASK)(verify)
app.command("simulate", epilog=SIMULATE_EPILOG, rich_help_panel=ASK)(simulate)
app.command("show", epilog=SHOW_EPILOG, rich_help_panel=LOOK)(show)
app.command("diagram", epilog=DIAGRAM_EPILOG, rich_help_panel=LOOK)(diagram)
app.command("list", rich_help_panel=LOOK)(list_specs)
app.command("inspect", epilog=INSPECT_EPILOG, rich_help_panel=LOOK)(inspect)
app.command("fmt", epilog=FMT_EPILOG, rich_help_panel=WRITE)(fmt)
app.command("explain", rich_help_panel=WRITE)(explain)


@app.command("version", rich_help_panel=LOOK)
def print_version() -> None:
    """Print the version of hacheck."""
    print(f"hacheck {version()}")


def main() -> None:
    """Runs the command line of this process; ends it with one of the exit codes of `guard.ExitCode`."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us: there is nobody to tell anything
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    try:
        app(prog_name="hacheck")
    except SystemExit as ending:
        # 130 is how the command-line library says Ctrl-C outside a command: nothing was decided.
        if ending.code == 130:
            sys.exit(3)
        raise


if __name__ == "__main__":
    main()
