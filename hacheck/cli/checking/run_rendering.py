"""Renders a run step by step: which step happened on which node, with what, and only what it changed."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hacheck.checker.described_run import StepView, initial_lines, read_by, state_lines, step_views
from hacheck.checker.step_effects import StepEffect
from hacheck.cli.console import Symbols, symbols
from hacheck.cli.prefixed import Prefixed
from hacheck.model.ir import Action, Property, System
from hacheck.model.runs import Run

WIDE = 120
"""From this many columns on, what a step changed stands beside the step instead of beneath."""

INITIALLY = "initially"
"""What is said of the first state of a run."""

STYLES = {"fault": "fault", "repair": "good"}
"""How steps are shown that no protocol takes."""


def full_run(
    console: Console,
    system: System,
    run: Run,
    about: Property | None,
    start: str = INITIALLY,
    places: Callable[[Action], str] | None = None,
) -> RenderableType:
    """Every step with its description and what it changed; of a lasso the part that repeats is marked.

    `about`: the property the run decides; what it reads is shown as it is at the end. `start`: what is said of the
    first state. `places`: where an action is declared, for one that cannot be completed.
    """
    views = step_views(system, run)
    layout = Layout(
        wide=console.width >= WIDE,
        marks=symbols(console),
        node_width=max((len(view.node) for view in views), default=0),
        number_width=max(2, len(str(len(views)))),
    )
    loop = len(views) if run.loop is None else run.loop
    parts: list[RenderableType] = [start_table(layout, system, run, start)]
    parts.append(steps_table(layout, views[:loop]))
    if run.loop is not None:
        parts.append(loop_part(layout, views[loop:], run.loop))
    if run.error is not None:
        parts.append(fault_part(system, run, layout.marks, places))
    if about is not None:
        parts.append(ending(system, run, about, layout))
    return Group(*parts)


OUTSIDE = ", outside "
"""What the error says of a number beyond its range."""

RANGE_HINT = "a larger range admits it; `counter up to N` ends the exploration there instead, and the report says so"


class Layout(Struct, frozen=True):
    """How a run is laid out, so that its parts line up."""

    wide: bool
    marks: Symbols
    node_width: int
    number_width: int

    def table(self) -> Table:
        """An empty table of steps: mark, number, node, step, and, on a wide console, changes."""
        table = Table.grid(padding=(0, 1, 0, 0), expand=self.wide)
        table.add_column(width=1, no_wrap=True)
        table.add_column(justify="right", width=self.number_width, style="quiet", no_wrap=True)
        table.add_column(width=self.node_width, style="node", no_wrap=True)
        table.add_column(ratio=2 if self.wide else None)
        if self.wide:
            table.add_column(ratio=3)
        return table


def start_table(layout: Layout, system: System, run: Run, start: str) -> RenderableType:
    """The first state: of each node what the run goes on to change; of one that is not initial, everything."""
    table = layout.table()
    lines = initial_lines(system, run) if start == INITIALLY else state_lines(system, run.initial)
    body = Text(start, style="quiet")
    values = Text("\n").join(
        Text.assemble((f"{where}  " if where else "", "node"), (words, "quiet")) for where, words in lines
    )
    if layout.wide:
        table.add_row("", "0", "", body, values)
    else:
        table.add_row("", "0", "", Text("\n").join([body, values]) if lines else body)
    return table


def steps_table(layout: Layout, views: list[StepView]) -> RenderableType:
    """Some of the steps of a run."""
    table = layout.table()
    for view in views:
        style = STYLES.get(view.kind, "")
        mark = {"fault": layout.marks.fault, "repair": layout.marks.repair}.get(view.kind, "")
        title = Text.assemble((view.call, style or "action"))
        if view.description:
            title.append("\n").append(view.description, style="quiet")
        changed = changes_text(view, layout.marks)
        number = Text(str(view.number), style=style or "quiet")
        if layout.wide:
            table.add_row(Text(mark, style=style), number, view.node, title, changed)
        else:
            body = Text("\n").join([title, changed]) if changed.plain else title
            table.add_row(Text(mark, style=style), number, view.node, body)
    return table


def changes_text(view: StepView, marks: Symbols) -> Text:
    """What a step changed, a line for each; a node is named where it is not the one the step happens on."""
    return Text("\n").join(change_line(change, view.node, marks) for change in view.changes)


def change_line(effect: StepEffect, actor: str, marks: Symbols) -> Text:
    """`mode  dead → active`, or what happened in words."""
    line = Text()
    if effect.owner and effect.owner != actor:
        line.append(f"{effect.owner} ", style="node")
    line.append(effect.what)
    if effect.before or effect.after:
        line.append("  ").append(effect.before, style="before").append(f" {marks.arrow} ", style="quiet")
        line.append(effect.after, style="after")
    return line


def loop_part(layout: Layout, views: list[StepView], loop: int) -> RenderableType:
    """The part of a lasso that repeats, in a bracket."""
    marks = layout.marks
    if not views:
        return Text(f"{marks.loop_bottom} from here on nothing happens any more", style="loop")
    return Group(
        Text(f"{marks.loop_top} from here on, again and again for ever", style="loop"),
        Prefixed(steps_table(layout, views), marks.loop_side, marks.loop_side, "loop"),
        Text(f"{marks.loop_bottom} back to the state after step {loop}", style="loop"),
    )


def fault_part(
    system: System, run: Run, marks: Symbols, places: Callable[[Action], str] | None = None
) -> RenderableType:
    """The step that cannot be completed, because the spec is wrong, and where it is declared."""
    assert run.error is not None, "a run without a fault has no step that failed"
    action = system.actions[run.error.action]
    source = f" ({action.source})" if action.source else ""
    place = places(action) if places is not None else ""
    return Text.assemble(
        (f"{marks.violated} next, {action.name} ", "bad"),
        (f"cannot be completed: {run.error.message}", "bad"),
        (source, "quiet"),
        (f"\n  {place}" if place else "", "quiet"),
        (f"\n  {RANGE_HINT}" if OUTSIDE in run.error.message else "", "quiet"),
    )


def ending(system: System, run: Run, about: Property, layout: Layout) -> RenderableType:
    """What the property reads, as it is where the run ends."""
    lines = read_by(system, run, about)
    if not lines:
        return Text("")
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=2 + layout.number_width, justify="right")
    table.add_column(overflow="fold")
    table.add_column()
    for index, (name, words) in enumerate(lines):
        table.add_row(Text("so", style="bad") if index == 0 else "", Text(name, style="name"), words)
    return table


def indented(inner: RenderableType, columns: int = 4) -> RenderableType:
    """The renderable moved to the right."""
    return Padding(inner, (0, 0, 0, columns))
