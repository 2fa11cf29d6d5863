"""Draws a simulated run in space and time: a column for each member, a row for each thing that happened."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from rich.text import Text

from hacheck.cli.console import visible
from hacheck.impl.node import Name
from hacheck.impl.simulator.story import StoryLine

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 5
"""How wide a column is."""

NARROW = 24
"""Columns that words need at least to be broken between rows."""

STYLES = {
    "lost": "warn",
    "fault": "fault",
    "healed": "ok",
    "end": "bad",
    "start": "ok",
    "gap": "quiet",
    "input": "quiet",
}


class Glyphs(Struct, frozen=True):
    """What lines and points are drawn with."""

    line: str
    across: str
    right: str
    left: str
    sender: str
    point: str
    lost: str
    up: str
    down: str
    fault: str
    healed: str


UNICODE = Glyphs("│", "─", "▶", "◀", "○", "●", "✗", "┬", "✘", "↯", "✚")
ASCII = Glyphs("|", "-", ">", "<", "o", "O", "x", "+", "X", "!", "*")


def drawn(console: Console, story: Sequence[StoryLine]) -> Iterator[Text]:
    """The rows, with a head. What is too long for a terminal goes on in the next row, beside the lines of those that
    are alive."""
    glyphs = ASCII if console.options.ascii_only else UNICODE
    members = list(dict.fromkeys(name for line in story for name in (line.member, line.other) if name))
    members.sort(key=lambda name: (name.startswith("client"), _natural(name)))
    short = short_names(members)
    head = Text(" " * 14, style="head")
    for name in members:
        head.append(f"{short[name]:^{WIDTH}}")
    names = Text(", ".join(f"{short[name]} {name}" for name in members), style="quiet")
    for number, part in enumerate(_broken(console, names, head.cell_len)):
        row = Text(" " * head.cell_len) if number else head.copy()
        row.append("  ").append(part).rstrip()
        yield row
    alive: set[Name] = set()
    for line in story:
        if line.mark == "start":
            alive.add(line.member)
        row = Text("  ").append(f"{line.at_us / 1e6:>10.6f}  " if line.mark != "gap" else " " * 12, style="quiet")
        style = STYLES.get(line.mark, "")
        row.append(_columns(line, members, alive, glyphs), style=style)
        parts = _broken(console, Text(_words(line, glyphs), style=style), row.cell_len)
        if line.mark == "end":
            alive.discard(line.member)
        for number, part in enumerate(parts):
            if number:
                row = Text(" " * 14).append("".join(_lanes(members, alive, glyphs)))
            row.append("  ").append(part).rstrip()
            yield row


def _broken(console: Console, words: Text, taken: int) -> Sequence[Text]:
    """The words in as many rows as they need beside what takes so many columns of each."""
    room = console.width - taken - 2
    return list(words.wrap(console, room)) if console.is_terminal and room >= NARROW else [words]


def _lanes(members: Sequence[Name], alive: set[Name], glyphs: Glyphs) -> list[str]:
    """A row in which nothing happens to those that are alive."""
    cells = [" "] * (WIDTH * len(members))
    for place, name in enumerate(members):
        if name in alive:
            cells[WIDTH * place + WIDTH // 2] = glyphs.line
    return cells


def _columns(line: StoryLine, members: Sequence[Name], alive: set[Name], glyphs: Glyphs) -> str:
    cells = _lanes(members, alive, glyphs)
    centre = {name: WIDTH * place + WIDTH // 2 for place, name in enumerate(members)}
    if line.mark in ("message", "lost") and line.other in centre and line.member != line.other:
        start, end = centre[line.other], centre[line.member]
        step = 1 if end > start else -1
        for place in range(start + step, end, step):
            cells[place] = glyphs.across
        cells[start] = glyphs.sender
        if line.mark == "lost":
            cells[end - step] = glyphs.lost
        else:
            cells[end - step] = glyphs.right if step > 0 else glyphs.left
            cells[end] = glyphs.point
    elif line.mark in ("fault", "healed"):
        for name in members:
            if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", line.text):
                cells[centre[name]] = glyphs.fault if line.mark == "fault" else glyphs.healed
    elif line.member in centre:
        cells[centre[line.member]] = {"start": glyphs.up, "end": glyphs.down}.get(line.mark, glyphs.point)
    return "".join(cells)


def _words(line: StoryLine, glyphs: Glyphs) -> str:
    text = visible(line.text)
    match line.mark:
        case "gap":
            return f"({text})"
        case "message":
            return text
        case "fault":
            return f"{glyphs.fault} {text}"
        case "healed":
            return f"{glyphs.healed} {text}"
        case "record":
            return f"{line.member}: {text}"
        case "lost":
            return text
    return f"{line.member} {text}"


def _natural(name: Name) -> tuple[str, int]:
    stem, _, number = name.rpartition("-")
    return (stem, int(number)) if number.isdigit() else (name, 0)


def short_names(names: Sequence[Name]) -> dict[Name, str]:
    """A short name for each: `r2` for `replica-2`; as many letters as distinguish them, up to the width of a column."""
    stems = {name: _natural(name) for name in names}
    for letters in range(1, WIDTH - 1):
        short = {
            name: stem[:letters] + (str(number) if name.rpartition("-")[2].isdigit() else "")
            for name, (stem, number) in stems.items()
        }
        if len(set(short.values())) == len(names):
            return short
    return {name: f"#{place}" for place, name in enumerate(names, 1)}
