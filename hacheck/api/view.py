"""How a result is shown: as plain text, on a terminal by rich, and in a notebook.

Nothing is imported for it: rich asks a value for `__rich__`, which may return text in its markup, and notebooks ask for
`_repr_html_`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

Tone: TypeAlias = Literal["good", "bad", "open", "plain"]

_TAG = re.compile(r"(\\*)(\[[a-z#/@][^\[]*?\])")
"""What rich takes for markup, with the backslashes before it."""

MARKS: Final = {"good": "✔", "bad": "✘", "open": "?", "plain": " "}
STYLES: Final = {"good": "green", "bad": "bold red", "open": "yellow", "plain": ""}
COLOURS: Final = {"good": "#1a7f37", "bad": "#cf222e", "open": "#9a6700", "plain": "inherit"}


class Row(Struct, frozen=True):
    """A row of a table: its tone, its cells, and a sentence below it, or nothing."""

    tone: Tone
    cells: tuple[str, ...]
    note: str = ""


class View(Struct, frozen=True):
    """What is shown of a result: a title, rows of cells, and lines below."""

    title: str
    rows: tuple[Row, ...] = ()
    lines: tuple[str, ...] = ()

    def text(self) -> str:
        """As plain text, columns aligned."""
        return "\n".join([self.title, *(self._row(row) for row in self.rows), *(f"  {line}" for line in self.lines)])

    def markup(self) -> str:
        """In the markup of rich."""
        body = []
        for row in self.rows:
            style = STYLES[row.tone]
            line = escaped(self._row(row))
            body.append(f"[{style}]{line}[/]" if style else line)
        below = [f"  {escaped(line)}" for line in self.lines]
        return "\n".join([f"[bold]{escaped(self.title)}[/]", *body, *below])

    def html(self) -> str:
        """As a table of HTML."""
        body = []
        for row in self.rows:
            mark = f'<td style="color:{COLOURS[row.tone]}">{MARKS[row.tone].strip()}</td>'
            cells = "".join(f'<td style="text-align:left">{html.escape(cell)}</td>' for cell in row.cells)
            note = f'<td style="text-align:left">{html.escape(row.note)}</td>'
            body.append(f"<tr>{mark}{cells}{note}</tr>")
        below = "".join(f"<div>{html.escape(line)}</div>" for line in self.lines)
        table = f"<table>{''.join(body)}</table>" if body else ""
        return f"<div><b>{html.escape(self.title)}</b>{table}{below}</div>"

    def _row(self, row: Row) -> str:
        widths = column_widths(self.rows)
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row.cells, widths, strict=False))
        note = f"\n      {row.note}" if row.note else ""
        return f"  {MARKS[row.tone]} {cells}".rstrip() + note


def column_widths(rows: Sequence[Row]) -> list[int]:
    """The width of each column."""
    columns = max((len(row.cells) for row in rows), default=0)
    return [max(len(row.cells[place]) for row in rows if place < len(row.cells)) for place in range(columns)]


def escaped(text: str) -> str:
    """Text that the markup of rich shows as it is."""
    shown = _TAG.sub(lambda found: f"{found[1] * 2}\\{found[2]}", text)
    return f"{shown}\\" if shown.endswith("\\") else shown


class Shown(Struct, frozen=True):
    """A result that shows itself: `str`, rich and notebooks have the same content."""

    def view(self) -> View:
        """What is shown."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.view().text()

    def __rich__(self) -> str:
        return self.view().markup()

    def _repr_html_(self) -> str:
        return self.view().html()
