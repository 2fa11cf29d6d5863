"""`hacheck init`: begins a project with a spec, a service under test, a log adapter and a CI workflow that all pass."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from hacheck.cli.command_line import Argument, flag, option
from hacheck.cli.guard import BadInput, ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption

EPILOG = """
[bold]Examples[/]

  hacheck init mypair                          asks what the system is, and writes the folder mypair

  hacheck init mypair --title "Two brokers share a disk." --yes

[bold]Exit codes[/]

  0 written   2 a file is there already, or a name that cannot be one
"""

FOLDER = "The folder to write; made if it is not there. Its last part names the system."
NAME = "What the system is called: lower-case letters, digits and _. By default the name of the folder."
TITLE = "What the system is, in a sentence."
YES = "Ask nothing."
DEFAULT_TITLE = "Two servers and a lock: its holder is active."


@guarded
def init(
    folder: Annotated[str, Argument("FOLDER", FOLDER)],
    name: Annotated[str | None, option("--name", metavar="NAME", help=NAME)] = None,
    title: Annotated[str | None, option("--title", metavar="TEXT", help=TITLE)] = None,
    yes: Annotated[bool, flag("--yes", "-y", help=YES)] = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Begin a project of your own: a spec, a service under test, a log adapter and a CI workflow, all of which pass."""
    from hacheck.atomic_files import replace_text
    from hacheck.cli.console import output_console
    from hacheck.scaffold import written

    place = Path(folder)
    called = checked_name(name or place.absolute().name.lower().replace("-", "_"))
    said = title or prompted_title(yes=yes)
    if any(char in said for char in '"\n'):
        raise BadInput("the title has a quotation mark or a line end in it", "write it without")
    files = dict(written(called, said))
    there = [path for path in files if (place / path).exists()]
    if there:
        raise BadInput(f"{place / there[0]}: is there already", "nothing was written; give another folder")
    try:
        for path, text in files.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            replace_text(place / path, text)
    except OSError as error:
        raise BadInput(f"{error.filename}: cannot be written: {error.strerror}") from None
    console = output_console(no_color=no_color)
    console.print(f"Wrote {len(files)} files into {place}. Now:", markup=False, highlight=False)
    for command, meaning in steps(place, called):
        console.print(f"  {command}", markup=False, highlight=False, soft_wrap=True)
        if meaning:
            console.print(f"      {meaning}", style="quiet", markup=False, highlight=False)
    return ExitCode.AS_EXPECTED


def checked_name(name: str) -> str:
    """The name, if it can be one. Errors: `BadInput`."""
    from hacheck.scaffold import WORD

    if WORD.fullmatch(name):
        return name
    raise BadInput(f"`{name}` cannot name a system", "use lower-case letters, digits and _, for example --name my_pair")


def prompted_title(*, yes: bool) -> str:
    """What the user says that the system is; a sentence to begin with where there is no terminal to ask."""
    if yes or not sys.stdin.isatty():
        return DEFAULT_TITLE
    print(f"What is the system, in a sentence? [{DEFAULT_TITLE}]", file=sys.stderr)
    return sys.stdin.readline().strip() or DEFAULT_TITLE


def steps(place: Path, name: str) -> list[tuple[str, str]]:
    """What to do next, with what each command does."""
    return [
        (f"cd {place}", ""),
        (f"hacheck verify {name}.ha", "the spec comes out as it says"),
        ("pytest", "the service does what the spec allows"),
        (f"hacheck conform {name}.ha logs --adapter {name}.toml --property one_active", "so do its logs"),
    ]
