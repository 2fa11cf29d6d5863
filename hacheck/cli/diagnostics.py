"""Shows diagnostics as a compiler does: code, message, place, the source with carets and labels beneath, a
hint.

Source text is somebody else's: unprintable characters are escaped, tabs have a width, wide characters take
two columns, and of a line of any length only the part around the span is shown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from hacheck.cli.console import shown, visible
from hacheck.wording import plural

if TYPE_CHECKING:
    from hacheck.model.language.diagnostics import Diagnostic, Span

SHOWN_MAX = 50
"""How many diagnostics are shown; the rest are counted."""

TAB_WIDTH = 4


class SourceText:
    """A text with its line starts, so that finding the line of an offset is cheap."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        position = text.find("\n")
        while position != -1:
            self.starts.append(position + 1)
            position = text.find("\n", position + 1)

    def line_of(self, offset: int) -> int:
        """The line of an offset, from 0."""
        return bisect_right(self.starts, max(0, min(offset, len(self.text)))) - 1

    def bounds(self, line: int) -> tuple[int, int]:
        """The offsets at which a line's characters begin and end, its line end left out."""
        start = self.starts[line]
        end = self.starts[line + 1] - 1 if line + 1 < len(self.starts) else len(self.text)
        return start, end - 1 if end > start and self.text[end - 1] == "\r" else end

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        line = self.line_of(offset)
        return line + 1, max(0, min(offset, len(self.text)) - self.starts[line]) + 1


class Mark(Struct, frozen=True):
    """A part of one line to underline, from offset `start` to `end`; `text` is said beside it."""

    start: int
    end: int
    text: str
    primary: bool


def show_diagnostics(console: Console, diagnostics: Iterable[Diagnostic], texts: Mapping[str, str]) -> None:
    """Prints the diagnostics, errors before warnings and each in the order of the source, then how many there
    are.

    `texts`: the source of each path a span may name; of a path that is missing only the place is shown.
    """
    found = sorted(diagnostics, key=lambda item: (item.severity != "error", item.span.path, item.span.start))
    sources = {path: SourceText(text) for path, text in texts.items()}
    for diagnostic in found[:SHOWN_MAX]:
        console.print(render(diagnostic, sources, console.width), soft_wrap=True)
        console.print()
    if len(found) > SHOWN_MAX:
        console.print(f"… and {len(found) - SHOWN_MAX:,} more\n", style="quiet")
    errors = sum(item.severity == "error" for item in found)
    warnings = len(found) - errors
    parts = [plural(errors, "error")] if errors else []
    parts += [plural(warnings, "warning")] if warnings else []
    line = Text(", ".join(parts), style="bad" if errors else "warn")
    if found and found[0].code:
        line.append(f"   hacheck explain {found[0].code}", style="quiet")
    console.print(line)


def render(diagnostic: Diagnostic, sources: Mapping[str, SourceText], width: int) -> Text:
    """One diagnostic as text of at most about `width` columns."""
    style = "bad" if diagnostic.severity == "error" else "warn"
    text = Text()
    text.append(diagnostic.severity, style=style)
    if diagnostic.code:
        text.append(f"[{diagnostic.code}]", style=style)
    text.append(f": {visible(diagnostic.message)}\n", style="bold")
    groups = _by_path(diagnostic)
    gutter = max((_digits(sources.get(path), spans) for path, spans in groups), default=1)
    for index, (path, spans) in enumerate(groups):
        _section(text, sources.get(path), path, spans, gutter, width, style, first=index == 0)
    if diagnostic.hint:
        for index, line in enumerate(visible(diagnostic.hint).split("\n")):
            text.append(" " * (gutter + 1))
            text.append("= hint: " if index == 0 else "        ", style="cyan")
            text.append(line + "\n")
    text.rstrip()
    return text


def _by_path(diagnostic: Diagnostic) -> list[tuple[str, list[tuple[Span, str, bool]]]]:
    """The spans by file, that of the primary span first."""
    groups: dict[str, list[tuple[Span, str, bool]]] = {diagnostic.span.path: [(diagnostic.span, "", True)]}
    for span, label in diagnostic.labels:
        same = span == diagnostic.span
        if same:  # the label says something about the primary span itself
            groups[span.path][0] = (span, label, True)
        else:
            groups.setdefault(span.path, []).append((span, label, False))
    return list(groups.items())


def _digits(source: SourceText | None, spans: list[tuple[Span, str, bool]]) -> int:
    if source is None:
        return 1
    return len(str(max(source.line_of(span.end) for span, _, _ in spans) + 1))


def _section(
    text: Text,
    source: SourceText | None,
    path: str,
    spans: list[tuple[Span, str, bool]],
    gutter: int,
    width: int,
    style: str,
    *,
    first: bool,
) -> None:
    """One file's part of a diagnostic: the place, then its lines."""
    arrow = "-->" if first else ":::"
    if source is None:
        text.append(f"{' ' * gutter}{arrow} ", style="cyan").append(f"{visible(path)}\n")
        return
    line, column = source.place(spans[0][0].start)
    text.append(f"{' ' * gutter}{arrow} ", style="cyan").append(f"{visible(path)}:{line}:{column}\n")
    if not source.text:
        return
    marks = _marks(source, spans)
    bar = " " * (gutter + 1) + "|"
    text.append(bar + "\n", style="cyan")
    previous: int | None = None
    for number in sorted(marks):
        if previous is not None and number == previous + 2:
            _source_line(text, source, previous + 1, [], gutter, width, style)
        elif previous is not None and number > previous + 1:
            text.append("...\n", style="cyan")
        _source_line(text, source, number, marks[number], gutter, width, style)
        previous = number


def _marks(source: SourceText, spans: list[tuple[Span, str, bool]]) -> dict[int, list[Mark]]:
    """What to underline on which line; a span of several lines is underlined on its first and its last."""
    marks: dict[int, list[Mark]] = {}
    for span, label, primary in spans:
        first = source.line_of(span.start)
        last = source.line_of(max(span.start, span.end - 1))
        if first == last:
            marks.setdefault(first, []).append(Mark(span.start, span.end, label, primary))
            continue
        start, end = source.bounds(last)
        lead = len(source.text[start:end]) - len(source.text[start:end].lstrip())
        marks.setdefault(first, []).append(Mark(span.start, source.bounds(first)[1], "", primary))
        marks.setdefault(last, []).append(Mark(start + lead, min(span.end, end), label, primary))
    return marks


def _source_line(
    text: Text, source: SourceText, number: int, marks: list[Mark], gutter: int, width: int, style: str
) -> None:
    """A line of source and beneath it one line of carets for each mark, the rightmost first."""
    start, end = source.bounds(number)
    focus = min(marks, key=lambda mark: not mark.primary, default=Mark(start, start, "", True))
    window = Window(source.text, start, end, focus, max(20, width - gutter - 4))
    line = window.text.rstrip()
    text.append(f"{number + 1:>{gutter}} |", style="cyan").append(f" {line}\n" if line else "\n")
    for mark in sorted(marks, key=lambda mark: (not mark.primary, -mark.start)):
        column, length = window.columns(mark)
        color = style if mark.primary else "cyan"
        text.append(" " * (gutter + 1) + "| ", style="cyan").append(" " * column)
        text.append(("^" if mark.primary else "-") * length, style=color)
        if mark.text:
            text.append(f" {visible(mark.text)}", style=color)
        text.append("\n")


class Window:
    """The part of a line that fits `room` columns, moved so that the focused mark is in it.

    `text` is what is printed; `columns` says where in it a mark lies. Cost: proportional to `room`.
    """

    def __init__(self, source: str, start: int, end: int, focus: Mark, room: int) -> None:
        self._first = start if focus.start - start < room * 2 // 3 else focus.start - room // 3
        self._last = min(end, self._first + room + 1)
        pieces = ["…"] if self._first > start else []
        self._offsets = []  # the column of each source character from `_first` on
        column = len(pieces)
        for index in range(self._first, self._last):
            char = source[index]
            piece = " " * (TAB_WIDTH - column % TAB_WIDTH) if char == "\t" else shown(char)
            if column + cell_len(piece) > room - (index + 1 < end):
                self._last = index
                break
            self._offsets.append(column)
            pieces.append(piece)
            column += cell_len(piece)
        self._end = column
        if self._last < end:
            pieces.append("…")
        self.text = "".join(pieces)

    def columns(self, mark: Mark) -> tuple[int, int]:
        """Where the mark begins and how many columns it takes, at least one."""
        begin = self._column(mark.start)
        return begin, max(1, self._column(mark.end) - begin)

    def _column(self, offset: int) -> int:
        index = offset - self._first
        if index < 0:
            return 0
        return self._offsets[index] if index < len(self._offsets) else self._end
