"""`hacheck fmt`: writes specs in the one layout everybody uses."""

from __future__ import annotations

import difflib
import os
import sys
from pathlib import Path
from typing import Annotated

from hacheck.cli.command_line import Argument, flag
from hacheck.cli.guard import BadInput, ExitCode, Reported, guarded
from hacheck.cli.options import DebugOption, NoColorOption

EPILOG = """
[bold]Examples[/]

  hacheck fmt spec/*.ha                rewrite in place

  hacheck fmt --check --diff mine.ha   change nothing, show what would change

  hacheck fmt --upgrade mine.ha        write the words of today for those of an older version

  hacheck fmt - < mine.ha              from standard input to standard output
"""


@guarded
def fmt(
    specs: Annotated[list[str], Argument("SPEC...", "Files to format; - is standard input.")],
    check: Annotated[bool, flag("--check", help="Change nothing; exit 1 if something would change.")] = False,
    diff: Annotated[bool, flag("--diff", help="Show what changes, and change nothing.")] = False,
    upgrade: Annotated[bool, flag("--upgrade", help="Replace words of older versions, and nothing else.")] = False,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Format specs: rewrite them in the standard layout."""
    changed = 0
    failed = False
    for spec in specs:
        try:
            changed += format_one(spec, check=check, diff=diff, upgrade=upgrade, no_color=no_color)
        except Reported:
            failed = True
    if failed:
        return ExitCode.BAD_INPUT
    return ExitCode.NOT_AS_EXPECTED if check and changed else ExitCode.AS_EXPECTED


def format_one(spec: str, *, check: bool, diff: bool, upgrade: bool, no_color: bool) -> bool:
    """Formats or upgrades one file, or says how it would; returns whether there is anything to change."""
    from hacheck.cli.sources import find_spec, read_spec, show_findings
    from hacheck.model.language.format import format_text
    from hacheck.model.language.old_words import upgraded
    from hacheck.model.language.parse import parse

    if spec != "-" and not os.path.exists(spec):  # which is false of a name that is too long
        find_spec(spec)  # says what is wrong, unless it is a shipped spec
        raise BadInput(f"`{spec}` is a shipped spec, which is not yours to rewrite", "give the path of a file")
    text, name = read_spec(spec)
    readable = upgraded(text) if upgrade else text
    _, mistakes = parse(readable, name)
    if any(item.severity == "error" for item in mistakes):
        show_findings(mistakes, {name: readable}, no_color)
        raise Reported(ExitCode.BAD_INPUT)
    formatted = readable if upgrade else format_text(text)
    changed, done = formatted != text, "upgraded" if upgrade else "formatted"
    if diff and changed:
        sys.stdout.writelines(
            difflib.unified_diff(text.splitlines(True), formatted.splitlines(True), name, f"{name} ({done})")
        )
    if spec == "-" and not check and not diff:
        sys.stdout.write(formatted)
    elif changed and check and not diff:
        print(f"would change {name}")
    elif changed and not check and not diff:
        write(Path(name), formatted)
        print(f"{done} {name}")
    return changed


def write(path: Path, text: str) -> None:
    """Replaces a file's text. Errors: `BadInput`."""
    from hacheck.atomic_files import replace_text

    try:
        replace_text(path, text)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None
