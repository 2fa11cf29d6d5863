"""A run in Markdown: its picture, as the terminal shows it, and its story."""

from __future__ import annotations

import re

from hacheck.checker.described_run import initial_lines, read_by
from hacheck.checker.pictures.glyphs import UNICODE
from hacheck.checker.pictures.picture_lines import broken_lines
from hacheck.checker.pictures.spacetime import Spacetime
from hacheck.checker.pictures.styled_line import StyledLine
from hacheck.checker.run_view.broken_part import broken_parts
from hacheck.checker.run_view.view_reader import ViewReader
from hacheck.checker.run_view.views import Views
from hacheck.cli.document.prose import code
from hacheck.model.ir import Property, System
from hacheck.model.runs import Run

WIDTH = 118
"""Columns of a picture: what a page shows without scrolling."""

MARKUP = re.compile(r"[\\*<>\[\]]|(?<!\w)_|_(?!\w)")
"""What Markdown would take for markup in a sentence; names in backquotes are left alone."""


def story(system: System, run: Run, about: Property | None) -> list[str]:
    """What the run begins with, its picture, and its story; where no part of the property is broken in the last state,
    what the property reads there."""
    reader = ViewReader(Views(system, {}).view(run, about).to_json())
    broken = broken_parts(reader)
    begin = [f"{f'{where}: ' if where else ''}{words}" for where, words in initial_lines(system, run)]
    lines = [f"At first: {'; '.join(begin)}.", ""] if begin else []
    picture = Spacetime(reader, WIDTH, UNICODE, described=True).lines(broken)
    if broken:
        picture += [StyledLine(), *broken_lines(reader, broken, WIDTH, UNICODE)]
    lines += ["```text", *(line.plain.rstrip() for line in picture), "```", ""]
    if run.error is not None:
        failed = code(system.actions[run.error.action].name)
        lines += [f"The next step, {failed}, is an error: {run.error.message}.", ""]
    if sentences := [one["text"] for one in reader.view["story"] if one["rule"] != "facts"]:
        lines += [prose(" ".join(sentences)), ""]
    found = [] if about is None or broken else read_by(system, run, about)
    if found:
        lines += ["So: " + "; ".join(f"{code(name)} is {words}" for name, words in found) + ".", ""]
    return lines[:-1]


def prose(sentences: str) -> str:
    """Sentences in which Markdown sees no markup but names in backquotes."""
    parts = sentences.split("`")
    parts[::2] = [MARKUP.sub(lambda found: f"\\{found[0]}", part) for part in parts[::2]]
    return "`".join(parts)
