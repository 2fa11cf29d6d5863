"""A run in lines: its diagram, the part of the property that it breaks, and its story."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from hacheck.checker.pictures.glyphs import Glyphs
from hacheck.checker.pictures.spacetime import Spacetime
from hacheck.checker.pictures.styled_line import StyledLine
from hacheck.checker.run_view.broken_part import Broken, broken_parts
from hacheck.checker.run_view.view_reader import ViewReader

SAID_ELSEWHERE = ("facts", "broken promise")
"""Sentences of a story that stand beside a picture anyway."""

STORY_WIDTH = 100
"""So wide at most are sentences."""


def picture_lines(reader: ViewReader, width: int, glyphs: Glyphs) -> list[StyledLine]:
    """The diagram, the part of the property that is broken, and the story, without the facts that stand between and, of
    code, the promise that it broke, which stands below."""
    broken = broken_parts(reader)
    lines = Spacetime(reader, width, glyphs).lines(broken)
    if reader.property is not None and (broken or reader.loop is not None):
        lines += [StyledLine(), *broken_lines(reader, broken, width, glyphs)]
    sentences = [one["text"] for one in reader.view["story"] if one["rule"] not in SAID_ELSEWHERE]
    if sentences:
        lines += [StyledLine(), *story_lines(sentences, width, glyphs)]
    return lines


def broken_lines(reader: ViewReader, broken: Sequence[Broken], width: int, glyphs: Glyphs) -> list[StyledLine]:
    """The bar that names the property, and under it the facts that break it."""
    how = "never comes true" if reader.loop is not None else "BREAKS HERE"
    bar = f"{glyphs.breaks * 3} {reader.property['name']} {how} "
    room = min(width, STORY_WIDTH)
    made = [
        StyledLine((bar + glyphs.breaks * 3 if len(bar) > room - 3 else bar.ljust(room, glyphs.breaks))[:width], "bad")
    ]
    for one in broken:
        head = f"  {one.instance}: " if one.instance else "  "
        for number, fact in enumerate(one.facts):
            start = head if number == 0 else " " * len(head)
            made += [
                StyledLine(line, "red") for line in _wrapped(glyphs.text(fact), width, start, " " * (len(head) + 2))
            ]
    return made


def story_lines(sentences: Iterable[str], width: int, glyphs: Glyphs) -> list[StyledLine]:
    """The story as a paragraph."""
    words = glyphs.text(" ".join(sentences))
    return [StyledLine(line) for line in _wrapped(words, min(width, STORY_WIDTH), "", "")]


def _wrapped(words: str, width: int, start: str, rest: str) -> list[str]:
    return textwrap.wrap(words, width, initial_indent=start, subsequent_indent=rest, break_on_hyphens=False)
