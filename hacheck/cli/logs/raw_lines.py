"""The line of a log as it stands there."""

from __future__ import annotations

from pathlib import Path

from hacheck.traces.findings import Findings
from hacheck.traces.text_blocks import blocks

LENGTH_MAX = 240
"""More of a line is not shown."""


def raw_line(logs: str, file: str, line: int | None) -> str | None:
    """A line of one of the logs at a place, a folder or a single file; `None` where it cannot be read now. Characters
    that steer a terminal are left out."""
    place = Path(logs)
    if line is None or not file:
        return None
    read = blocks(place / file if place.is_dir() else place, file, Findings())
    rows = (row for block in read for number, row in block.lines() if number == line)
    found = next(rows, None)
    if found is None:
        return None
    text = "".join(char if char.isprintable() else " " for char in found.decode("utf-8", "replace")).strip()
    return text if len(text) <= LENGTH_MAX else f"{text[:LENGTH_MAX]} …"
