"""Runs `hacheck diagram`: explores the model as far as it may, then draws what was found."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from hacheck.atomic_files import replacing
from hacheck.checker.engine import Progress
from hacheck.checker.state_diagram import ModeField, Sightings, diagrams, explore, mode_fields
from hacheck.cli.console import console_for, error_console
from hacheck.cli.diagrams.view import View, view_of
from hacheck.cli.guard import BadInput, ExitCode
from hacheck.cli.json_output import Target, open_target
from hacheck.cli.options import all_known
from hacheck.cli.progress import progress_display
from hacheck.cli.selection import one_system
from hacheck.cli.sources import load_specification
from hacheck.model.ir import System
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.resources import usable_cores

STATES_MAX = 1_000_000
"""How many states are explored where the user says nothing."""


class DiagramRequest(Struct, frozen=True):
    """What the user wants of `diagram`."""

    spec: str
    node: str | None
    check: str | None
    settings: Mapping[str, str]
    format: str
    output: str | None
    static: bool
    states_max: int | None
    seconds_max: float
    no_color: bool
    unseen: bool = False


def draw(request: DiagramRequest) -> ExitCode:
    """Draws the selected diagrams."""
    specification = load_specification(request.spec, no_color=request.no_color, examined=False)
    system = one_system(specification, request.check, request.settings, no_color=request.no_color)
    fields = fields_of(system, request.node)
    target = None if request.output is None else open_target(request.output)
    sightings = None if request.static else explored(system, fields, request)
    drawn = diagrams(system, fields, sightings)
    if request.format == "json":
        from hacheck.api.diagram_document import diagram_document

        document = diagram_document(request.spec, system, drawn, unseen=request.unseen or request.static)
        (target or Target(None)).write(document)
        return ExitCode.AS_EXPECTED
    views = [view_of(diagram, unseen=request.unseen) for diagram in drawn]
    if request.format == "text":
        show_text(views, request, to_file=request.output)
        return ExitCode.AS_EXPECTED
    content = written(request.format, views)
    if target is None or target.path is None:
        sys.stdout.write(content)
    else:
        target.save(content)
        print(f"wrote {target.path}", file=sys.stderr)
    return ExitCode.AS_EXPECTED


def fields_of(system: System, node: str | None) -> tuple[ModeField, ...]:
    """The mode fields to draw. Errors: `BadInput` when there is none."""
    fields = mode_fields(system)
    hint = "write `state` before the field that says what a node is doing: state mode : { passive, active }"
    if not fields:
        raise BadInput(f"{system.name} has no node with a state field to draw", hint)
    if node is None:
        return fields
    all_known("kind of node", (node,), [kind.name for kind in system.nodes])
    fields = tuple(field for field in fields if field.owner == node)
    if not fields:
        raise BadInput(f"{node} has no state field to draw", hint)
    return fields


def explored(system: System, fields: tuple[ModeField, ...], request: DiagramRequest) -> Sightings:
    """What a walk sees, with its progress shown. Ctrl-C ends the walk; what it saw is drawn."""
    errors = error_console(no_color=request.no_color)
    with (
        Interruption().watching() as interruption,
        progress_display(errors, "exploring", quiet=False) as display,
    ):

        def report(states: int, transitions: int, frontier: int, seconds: float) -> bool:
            display.update(Progress(states, transitions, 0, frontier, seconds, 0))
            return not interruption.requested

        states_max = STATES_MAX if request.states_max is None else request.states_max
        at_random = request.states_max is None
        return explore(system, fields, states_max, request.seconds_max, report, usable_cores(), at_random=at_random)


def written(format: str, views: Sequence[View]) -> str:
    """The diagrams in a format for files."""
    from hacheck.cli.diagrams import markup, svg

    writers = {"mermaid": markup.mermaid, "dot": markup.dot, "svg": svg.svg}
    return writers[format](views)


def show_text(views: Sequence[View], request: DiagramRequest, *, to_file: str | None) -> None:
    """The diagrams as text, on the terminal or into a file."""
    from hacheck.cli.diagrams.terminal_diagram import text_diagram

    if to_file is None or to_file == "-":
        console = console_for(sys.stdout, no_color=request.no_color)
        for view in views:
            console.print(text_diagram(console, view))
        return
    with replacing(Path(to_file)) as own, own.open("w", encoding="utf-8") as stream:
        console = console_for(stream, no_color=True, unicode=True)
        for view in views:
            console.print(text_diagram(console, view))
