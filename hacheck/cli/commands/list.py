"""`hacheck list`: the protocols that are shipped, and the checks of one."""

from __future__ import annotations

from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption, OptionalSpecArgument


@guarded
def list_specs(
    spec: OptionalSpecArgument = None, no_color: NoColorOption = False, debug: DebugOption = False
) -> ExitCode:
    """List the shipped protocols; or, with SPEC, what each of its checks is for."""
    from textwrap import shorten

    from rich.table import Table
    from rich.text import Text

    from hacheck import shipped
    from hacheck.cli.console import output_console
    from hacheck.cli.progress import working
    from hacheck.cli.sources import load_specification

    console = output_console(no_color=no_color)
    table = Table.grid(padding=(0, 2, 0, 0))
    if spec is not None:
        specification = load_specification(spec, no_color=no_color)
        console.print(Text.assemble((specification.name, "head"), f"  {specification.description}"))
        table.add_column(no_wrap=True)
        for check in specification.checks:
            said = Text(check.description)
            if check.expect_violated:
                said.append(f"  expects {', '.join(check.expect_violated)} violated", style="quiet")
            if check.by_request:
                said.append("  by request", style="quiet")
            table.add_row(Text(check.name, style="name"), said)
        console.print(table)
        return ExitCode.AS_EXPECTED
    widest = max(map(len, shipped.names()), default=0)
    room = max(console.width - widest - 3, 20)  # a column between, and one more where `…` is written in ASCII
    table.add_column(no_wrap=True, min_width=widest)
    table.add_column(no_wrap=True)
    with working("reading the shipped specs", no_color=no_color):
        for path in shipped.specs():
            specification = load_specification(str(path), no_color=no_color, examined=False)  # the tests examine them
            table.add_row(Text(path.stem, style="name"), shorten(specification.description, room, placeholder=" …"))
    console.print(table)
    console.print(Text(f"small, well-known protocols: {', '.join(path.stem for path in shipped.examples())}"))
    console.print(Text("hacheck list SPEC lists the checks of one", style="quiet"))
    return ExitCode.AS_EXPECTED
