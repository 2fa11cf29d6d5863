"""The commands as typer knows them: help, completion, and what is wrong with a command line."""

from __future__ import annotations

import shutil
from importlib import import_module
from typing import Annotated

import typer

from hacheck.cli.command_line import typed
from hacheck.cli.commands import COMMANDS
from hacheck.cli.epilogs import laid_out
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


_WIDTH = shutil.get_terminal_size().columns - 2  # a column is free on each side

for command in COMMANDS:
    module = import_module(command.module)
    epilog = laid_out(getattr(module, "EPILOG", ""), _WIDTH) or None
    app.command(command.name, epilog=epilog, rich_help_panel=command.panel)(typed(getattr(module, command.function)))
