"""`hacheck doc`: a page about a protocol, made from its spec and from verifying it."""

from __future__ import annotations

from typing import Annotated

from hacheck.cli.command_line import Writes, flag, option
from hacheck.cli.guard import ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption, SpecArgument

EPILOG = """
[bold]Examples[/]

  hacheck doc icestorm --out icestorm.md            the page, and icestorm.svg beside it

  hacheck doc mine.ha --static                      without verifying, on standard output

  hacheck doc mine.ha --out mine.md --check         exit 1 if the page is out of date
"""

OUT = "Write the page into a file, its diagram beside it."


@guarded
def doc(
    spec: SpecArgument,
    out: Annotated[str | None, option("--out", "-o", metavar="FILE", help=OUT, writes=Writes(beside=".svg"))] = None,
    check: Annotated[bool, flag("--check", help="Change nothing; exit 1 if the page is out of date.")] = False,
    static: Annotated[bool, flag("--static", help="Use the text of the spec alone: run no check.")] = False,
    states: Annotated[str | None, option("--states", metavar="N", help="Stop each check at this many states.")] = None,
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Write a page about a protocol: its rules and their sources, its states, what holds, and what does not."""
    from pathlib import Path

    from hacheck.cli.checking.request import Request
    from hacheck.cli.document.protocol_page import DocumentRequest, document
    from hacheck.cli.engines import Exploring
    from hacheck.cli.options import parse_count

    verify = None
    if not static:
        states_max = None if states is None else parse_count("--states", states)
        exploring = Exploring(exhaustive=True)  # the page has numbers of states, and says what never happens
        verify = Request(spec, states_max=states_max, exploring=exploring, no_color=no_color)
    return document(DocumentRequest(spec, None if out is None else Path(out), check, verify, no_color))
