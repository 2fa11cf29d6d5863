"""`hacheck list`: the protocols that are shipped, with their checks."""

from __future__ import annotations

from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption


@guarded
def list_specs(no_color: NoColorOption = False, debug: DebugOption = False) -> ExitCode:
    """List the shipped protocols and what each of their checks is for."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from hacheck import shipped
    from hacheck.cli.console import output_console
    from hacheck.cli.sources import load_specification

    console = output_console(no_color=no_color)
    for index, name in enumerate(shipped.names()):
        specification = load_specification(name, no_color=no_color, examined=False)  # the tests examine them
        if index:
            console.print()
        console.print(Text.assemble((name, "head"), f"  {specification.description}"))
        table = Table.grid(padding=(0, 2, 0, 0))
        for check in specification.checks:
            said = Text(check.description)
            if check.expect_violated:
                said.append(f"  expects {', '.join(check.expect_violated)} violated", style="quiet")
            if check.by_request:
                said.append("  by request", style="quiet")
            table.add_row(Text("check", style="quiet"), Text(check.name, style="name"), said)
        console.print(Padding(table, (0, 0, 0, 2)))
    return ExitCode.AS_EXPECTED
