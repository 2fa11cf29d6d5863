"""The commands as typer knows them: help, completion, and what is wrong with a command line."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterator
from importlib import import_module
from typing import Annotated

import typer

from hacheck.cli.command_line import typed
from hacheck.cli.commands import COMMANDS
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


# ---- what stands below a command's help --------------------------------------------------------------------------

_COLUMN_ROOM = re.compile(r" {2,}")


def laid_out(text: str, width: int) -> str:
    """The text in lines of at most so many columns, where its words allow it. Parts of a line that stand two spaces or
    more apart stay together: of two, an example and what it does, the second goes below the first; more, such as exit
    codes, fill lines."""
    return "\n".join(line for given in text.split("\n") for line in _lines(given, width))


def _lines(line: str, width: int) -> Iterator[str]:
    if len(line) <= width:
        yield line
        return
    indent = " " * (len(line) - len(line.lstrip()))
    parts = _COLUMN_ROOM.split(line.strip())
    if len(parts) == 2:
        yield indent + parts[0]
        yield from textwrap.wrap(parts[1], width, initial_indent=indent + "    ", subsequent_indent=indent + "    ")
        return
    held = ""
    for part in parts:
        if held and len(indent) + len(held) + 3 + len(part) > width:
            yield indent + held
            held = part
        else:
            held = f"{held}   {part}" if held else part
    yield from textwrap.wrap(held, width, initial_indent=indent, subsequent_indent=indent + "    ")


_WIDTH = shutil.get_terminal_size().columns - 2  # a column is free on each side

for command in COMMANDS:
    module = import_module(command.module)
    epilog = laid_out(getattr(module, "EPILOG", ""), _WIDTH) or None
    app.command(command.name, epilog=epilog, rich_help_panel=command.panel)(typed(getattr(module, command.function)))
