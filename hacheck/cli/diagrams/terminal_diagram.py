"""State diagrams for the terminal: a box for each state, and beneath it the ways out of it."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from hacheck.cli.console import symbols
from hacheck.cli.diagrams.view import ANY, Arrow, Label, View
from hacheck.cli.prefixed import Prefixed

STYLES = {"fault": "fault", "repair": "ok", "environment": "", "network": "", "protocol": ""}


class Pen:
    """The characters a diagram is drawn with, in Unicode or, where there is nothing else, in ASCII."""

    def __init__(self, console: Console) -> None:
        plain = console.options.ascii_only
        self.marks = symbols(console)
        self.corners = ("+", "+", "+", "+") if plain else ("╭", "╮", "╰", "╯")
        self.line, self.side, self.stem = ("-", "|", "+") if plain else ("─", "│", "┬")
        self.branch, self.last = ("|-> ", "`-> ") if plain else ("├─▶ ", "╰─▶ ")
        self.dashed, self.dashed_last = ("|.> ", "`.> ") if plain else ("├╌▷ ", "╰╌▷ ")
        self.through = "|   " if plain else "│   "


def text_diagram(console: Console, view: View) -> RenderableType:
    """The diagram at the width of the console."""
    pen = Pen(console)
    parts: list[RenderableType] = [
        Text.assemble((view.title, "head"), (f"   {view.footing}", "quiet")),
        Text(""),
    ]
    width = max((cell_len(arrow.target) for arrow in view.arrows), default=0)
    wide = max((cell_len(label.action) for arrow in view.arrows for label in arrow.labels), default=0)
    for state in view.states:
        arrows = [arrow for arrow in view.arrows if arrow.source == state]
        parts += box(pen, view, state, has_arrows=bool(arrows))
        rows = [(arrow, label) for arrow in arrows for label in arrow.labels]
        for number, (arrow, label) in enumerate(rows):
            again = number > 0 and rows[number - 1][0] is arrow
            parts.append(arrow_line(pen, view, arrow, label, (width, wide), last=number == len(rows) - 1, again=again))
        parts.append(Text(""))
    parts.append(legend(pen, view))
    return Padding(Group(*parts), (0, 0, 0, 1))


def box(pen: Pen, view: View, state: str, *, has_arrows: bool) -> list[RenderableType]:
    """A state in its box, and what is to be said of it."""
    notes = Text("")
    style = "name"
    if state in view.initial:
        notes.append("  starts here", style="ok")
    if state in view.unseen:
        notes.append(f"  {view.absent}", style="warn")
        style = "quiet"
    line = pen.line * (cell_len(state) + 2)
    bottom = pen.stem + line[1:] if has_arrows else line
    one, two, three, four = pen.corners
    return [
        Text(f"{one}{line}{two}", style="quiet"),
        Text.assemble((f"{pen.side} ", "quiet"), (state, style), (f" {pen.side}", "quiet"), notes),
        Text(f"{three}{bottom}{four}", style="quiet"),
    ]


def arrow_line(
    pen: Pen, view: View, arrow: Arrow, label: Label, widths: tuple[int, int], *, last: bool, again: bool
) -> RenderableType:
    """One action that leads out of a state: where to, by what, and when."""
    absent = label.seen is False
    row = Table.grid(padding=(0, 1, 0, 0))
    row.add_column(width=widths[0], no_wrap=True)
    row.add_column(width=1, no_wrap=True)
    row.add_column(width=min(widths[1], 32) + 1, overflow="fold")
    row.add_column()
    mark = {"fault": pen.marks.fault, "repair": pen.marks.repair}.get(label.kind, "")
    style = "quiet" if absent else STYLES[label.kind]
    when = Text(f"when {label.guard}" if label.guard else "", style="quiet")
    if absent:
        when = Text.assemble((view.absent, "warn"), "  " if label.guard else "", when)
    row.add_row(
        Text(arrow.target, style="quiet" if absent or again else "name"),
        Text(mark, style=style),
        Text(label.action, style=style),
        when,
    )
    first = (pen.dashed_last if last else pen.dashed) if absent else (pen.last if last else pen.branch)
    rest = " " * 4 if last else pen.through
    return Prefixed(row, f" {first}", f" {rest}", "quiet")


def legend(pen: Pen, view: View) -> RenderableType:
    """What the marks mean, as far as the diagram has them."""
    labels = [label for arrow in view.arrows for label in arrow.labels]
    line = Text(style="quiet")
    said = [
        (any(label.kind == "fault" for label in labels), f"{pen.marks.fault} fault"),
        (any(label.kind == "repair" for label in labels), f"{pen.marks.repair} repair"),
        (any(label.seen is False for label in labels), f"{pen.dashed.strip()} {view.absent}"),
        (ANY in view.states, f"{ANY}: every other state"),
    ]
    line.append("   ".join(words for shown, words in said if shown))
    return line
