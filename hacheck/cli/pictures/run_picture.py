"""A run as a picture: its diagram, the part of the property that it breaks, and its story."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from msgspec import Struct
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.text import Text

from hacheck.checker.run_view.broken_part import Broken, broken_parts
from hacheck.checker.run_view.view_reader import ViewReader
from hacheck.checker.run_view.views import Views
from hacheck.cli.pictures.glyphs import ASCII, UNICODE, Glyphs
from hacheck.cli.pictures.spacetime import Spacetime
from hacheck.model.ir import Property, System
from hacheck.model.runs import Run

STORY_WIDTH = 100
"""So wide at most are sentences."""


class RunPicture(Struct, frozen=True):
    """A view drawn as wide as there is room, in ASCII where there is no more. No line is longer than that."""

    reader: ViewReader

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        glyphs = ASCII if options.ascii_only else UNICODE
        for line in picture_lines(self.reader, options.max_width, glyphs):
            yield from line.render(console, end="")
            yield Segment.line()


def run_picture(system: System, run: Run, about: Property | None) -> RunPicture:
    """The picture of a run. `about`: the property that the run decides."""
    return RunPicture(ViewReader(Views(system, {}).view(run, about).to_json()))


def picture_lines(reader: ViewReader, width: int, glyphs: Glyphs) -> list[Text]:
    """The diagram, the part of the property that is broken, and the story."""
    broken = broken_parts(reader)
    lines = Spacetime(reader, width, glyphs).lines(broken)
    if reader.property is not None and (broken or reader.loop is not None):
        lines += [Text(), *broken_lines(reader, broken, width, glyphs)]
    if reader.view["story"]:
        lines += [Text(), *story_lines([one["text"] for one in reader.view["story"]], width, glyphs)]
    return lines


def broken_lines(reader: ViewReader, broken: Sequence[Broken], width: int, glyphs: Glyphs) -> list[Text]:
    """The bar that names the property, and under it the facts that break it."""
    how = "never comes true" if reader.loop is not None else "BREAKS HERE"
    bar = f"{glyphs.breaks * 3} {reader.property['name']} {how} "
    room = min(width, STORY_WIDTH)
    made = [Text((bar + glyphs.breaks * 3 if len(bar) > room - 3 else bar.ljust(room, glyphs.breaks))[:width], "bad")]
    for one in broken:
        head = f"  {one.instance}: " if one.instance else "  "
        for number, fact in enumerate(one.facts):
            start = head if number == 0 else " " * len(head)
            made += [Text(line, "red") for line in _wrapped(glyphs.text(fact), width, start, " " * (len(head) + 2))]
    return made


def story_lines(sentences: Iterable[str], width: int, glyphs: Glyphs) -> list[Text]:
    """The story as a paragraph."""
    words = glyphs.text(" ".join(sentences))
    return [Text(line) for line in _wrapped(words, min(width, STORY_WIDTH), "", "")]


def _wrapped(words: str, width: int, start: str, rest: str) -> list[str]:
    return textwrap.wrap(words, width, initial_indent=start, subsequent_indent=rest, break_on_hyphens=False)
