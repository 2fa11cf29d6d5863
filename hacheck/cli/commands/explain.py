"""`hacheck explain`: what an error code means, with a wrong example and a right one; and the documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from hacheck.cli.declaring import Argument
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption

if TYPE_CHECKING:
    from rich.console import Console

EPILOG = """
[bold]Examples[/]

  hacheck explain                what can be explained

  hacheck explain HA120          an error

  hacheck explain tutorial       a document: also language, testing, conformance, ...
"""

CODE = re.compile(r"(ha)?\d+", re.IGNORECASE)


@guarded
def explain(
    code: Annotated[
        str | None, Argument("[CODE|PAGE]", "An error such as HA103, or a page such as language; without it: all.")
    ] = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Explain an error code, print a document, or list all of them."""
    from rich.table import Table
    from rich.text import Text

    from hacheck.cli.console import output_console
    from hacheck.cli.options import all_known
    from hacheck.model.language.codes import CODES
    from hacheck.shipped import pages

    console = output_console(no_color=no_color)
    if code is None:
        table = Table.grid(padding=(0, 2, 0, 0))
        for info in sorted(CODES.values(), key=lambda info: info.code):
            table.add_row(Text(info.code, style="name"), Text(info.headline))
        console.print(table)
        names = [name for name in pages() if "/" not in name]
        console.print(Text(f"\ndocuments: {', '.join(names)}; and in decisions/ and protocols/"))
        return ExitCode.AS_EXPECTED
    if not CODE.fullmatch(code):
        show_page(console, code)
        return ExitCode.AS_EXPECTED
    wanted = code.upper() if code.upper().startswith("HA") else f"HA{code:0>3}"
    all_known("error code", (wanted,), CODES)
    info = CODES[wanted]
    console.print(Text.assemble((info.code, "bad"), f": {info.headline}\n", style="bold"))
    for number, paragraph in enumerate(info.explanation.strip().split("\n\n")):
        console.print(Text(("\n" if number else "") + " ".join(paragraph.split())))
    for heading, example, style in (
        ("wrong", info.example_wrong, "bad"),
        ("right", info.example_right, "ok"),
    ):
        if example:
            console.print(Text(f"\n{heading}:", style=style))
            for line in example.strip("\n").splitlines():
                console.print(Text(f"  {line}"), soft_wrap=True)
    return ExitCode.AS_EXPECTED


def show_page(console: Console, page: str) -> None:
    """Prints a document: laid out on a terminal, else as it is. Errors: `BadInput`."""
    from rich.markdown import Markdown

    from hacheck.cli.options import all_known
    from hacheck.shipped import pages

    known = pages()
    name = page.removeprefix("docs/").removesuffix(".md")
    all_known("error code or document", (name,), known)
    text = known[name].read_text(encoding="utf-8")
    if console.is_terminal:
        console.print(Markdown(text))
    else:
        console.file.write(text)
