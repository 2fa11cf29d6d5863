"""`hacheck explain`: what an error code means, with a wrong example and a right one."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.declaring import Argument
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption


@guarded
def explain(
    code: Annotated[str | None, Argument("[CODE]", "A code such as HA103; without it: all.")] = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Explain an error code, or list all of them."""
    from rich.table import Table
    from rich.text import Text

    from hacheck.cli.console import output_console
    from hacheck.cli.options import all_known
    from hacheck.model.language.codes import CODES

    console = output_console(no_color=no_color)
    if code is None:
        table = Table.grid(padding=(0, 2, 0, 0))
        for info in sorted(CODES.values(), key=lambda info: info.code):
            table.add_row(Text(info.code, style="name"), Text(info.headline))
        console.print(table)
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
