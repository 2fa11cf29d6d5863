"""The line of a log as it stands there."""

from __future__ import annotations

import gzip
from itertools import islice
from pathlib import Path

LENGTH_MAX = 240
"""More of a line is not shown."""


def raw_line(logs: str, file: str, line: int | None) -> str | None:
    """A line of one of the logs at a place, a folder or a single file; `None` where it cannot be read now. Characters
    that steer a terminal are left out."""
    place = Path(logs)
    path = place / file if place.is_dir() else place
    if line is None or not file or path.suffix in (".zst", ".bz2"):
        return None
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
            found = next(islice(lines, line - 1, line), None)
    except (OSError, EOFError):
        return None
    if found is None:
        return None
    text = "".join(char if char.isprintable() else " " for char in found.decode("utf-8", "replace")).strip()
    return text if len(text) <= LENGTH_MAX else f"{text[:LENGTH_MAX]} …"
