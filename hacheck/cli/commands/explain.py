"""`hacheck explain`: what an error code means, with a wrong example and a right one; words; and the documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from hacheck.cli.command_line import Argument
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption

if TYPE_CHECKING:
    from rich.console import Console

EPILOG = """
[bold]Examples[/]

  hacheck explain                what can be explained

  hacheck explain HA120          an error

  hacheck explain leads_to       a word of the language: how it is written, what it means

  hacheck explain lasso          a term of reports and documents

  hacheck explain tutorial       a document: also language, testing, conformance, ...
"""

CODE = re.compile(r"(ha)?\d+", re.IGNORECASE)


@guarded
def explain(
    code: Annotated[
        str | None, Argument("[CODE|WORD|PAGE]", "An error, a word of the language, a term or a page; without it: all.")
    ] = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Explain an error code, a word of the language or a term, or print a document."""
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
        console.print(Text("\nwords of the language, and terms of `hacheck explain glossary`, each by its name"))
        return ExitCode.AS_EXPECTED
    if not CODE.fullmatch(code):
        show_page_or_word(console, code)
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


def show_page_or_word(console: Console, name: str) -> None:
    """Prints a document, or what a word means: laid out on a terminal, else as it is. Errors: `BadInput`.

    Of a name that is both, such as `timing`, the document.
    """
    from rich.markdown import Markdown

    from hacheck.cli.options import all_known
    from hacheck.model.language.word_reference import reference, terms, words_of_the_language
    from hacheck.shipped import pages

    known = pages()
    page = name.removeprefix("docs/").removesuffix(".md")
    if page in known:
        text = known[page].read_text(encoding="utf-8")
    elif (word := reference(name)) is not None:
        text = word.markdown()
    else:
        all_known("error code, word or document", (page,), [*known, *words_of_the_language(), *terms()])
        raise AssertionError(f"{name} is known, and nothing is known of it")
    if console.is_terminal:
        console.print(Markdown(text))
    else:
        console.file.write(text)
