"""`hacheck diagram`: the state diagram of each kind of node, with what exploration says about every edge."""

from __future__ import annotations

import sys
from typing import Annotated

from hacheck.cli.command_line import Writes, flag, option
from hacheck.cli.guard import BadInput, ExitCode, guarded
from hacheck.cli.options import DebugOption, NoColorOption, SettingOptions, SpecArgument

FORMATS = ("text", "mermaid", "dot", "svg", "json")

EPILOG = """
[bold]Examples[/]

  hacheck diagram icestorm                         in the terminal

  hacheck diagram icestorm --format svg --out icestorm.svg

  hacheck diagram icestorm --format json             edges with their conditions, as data

  hacheck diagram mine.ha --node A --format mermaid  to paste into a README
"""

STATES = "End at this many states; without it: at 1M, and then random runs for what lies deeper."
UNSEEN = "With the edges that the text allows and exploration did not see."


@guarded
def diagram(
    spec: SpecArgument,
    node: Annotated[
        str | None, option("--node", metavar="NAME", help="Only this kind of node; by default all.")
    ] = None,
    check: Annotated[str | None, option("--check", metavar="NAME", help="The check whose settings count.")] = None,
    settings: SettingOptions = None,
    format: Annotated[str, option("--format", metavar="FORMAT", help="text, mermaid, dot, svg or json.")] = "text",
    output: Annotated[
        str | None, option("--out", "-o", metavar="FILE", help="Write to this file instead.", writes=Writes())
    ] = None,
    static: Annotated[bool, flag("--static", help="Use the text of the spec alone, without exploring it.")] = False,
    unseen: Annotated[bool, flag("--unseen", help=UNSEEN)] = False,
    states: Annotated[str | None, option("--states", metavar="N", help=STATES)] = None,
    time: Annotated[str, option("--time", metavar="TIME", help="Explore at most this long: 30, 2m.")] = "20",
    no_color: NoColorOption = False,
    debug: DebugOption = False,
) -> ExitCode:
    """Draw the state diagram of each kind of node: its states, the actions between them, and their conditions."""
    from hacheck.cli.diagrams.explored_diagram import DiagramRequest, draw
    from hacheck.cli.options import all_known, parse_count, parse_seconds, parse_settings

    all_known("format", (format,), FORMATS)
    if output is None and format == "svg" and sys.stdout.isatty():
        raise BadInput("an SVG is no text for a terminal", "add --out diagram.svg, or > diagram.svg")
    return draw(
        DiagramRequest(
            spec=spec,
            node=node,
            check=check,
            settings=parse_settings(settings or ()),
            format=format,
            output=output,
            static=static,
            states_max=None if states is None else parse_count("--states", states),
            seconds_max=parse_seconds(time),
            no_color=no_color,
            unseen=unseen,
        )
    )
