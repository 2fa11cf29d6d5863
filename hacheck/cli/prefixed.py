"""A renderable with something before each of its lines: a bar, or the branch of a tree."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import StyleType


class Prefixed:
    """Puts `first` before the first line of a renderable and `rest` before the others."""

    def __init__(self, inner: RenderableType, first: str, rest: str, style: StyleType) -> None:
        assert cell_len(first) == cell_len(rest), "the prefixes of a renderable differ in width"
        self._inner = inner
        self._first = first
        self._rest = rest
        self._style = style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Renders the inside a little narrower."""
        style = console.get_style(self._style)
        room = options.update(width=max(1, options.max_width - cell_len(self._first)), height=None)
        for number, line in enumerate(console.render_lines(self._inner, room, pad=False)):
            yield Segment(self._rest if number else self._first, style)
            yield from line
            yield Segment.line()
