"""The manifest of a clustered folder: which files it has, and which traces are in which.

In a clustered folder every trace is whole in one file, and records are sorted by (trace_id, seq) within each file and
from file to file. Who finds the manifest true need not sort, nor, on a cluster of machines, exchange anything.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

NAME = "_manifest.json"
"""The file; names that begin with `_` are no traces."""

KEY = "hacheck.traces.manifest"
VERSION = 1


class Part(Struct, frozen=True):
    """A file of a clustered folder, with its first and its last trace."""

    name: str
    records: int
    traces: int
    first: str
    last: str
    size_bytes: int


def to_json(parts: Sequence[Part], header: object) -> dict[str, object]:
    """The content of a manifest."""
    return {
        KEY: VERSION,
        "schema": header,
        "records": sum(part.records for part in parts),
        "traces": sum(part.traces for part in parts),
        "files": [
            {
                "name": part.name,
                "records": part.records,
                "traces": part.traces,
                "first": part.first,
                "last": part.last,
                "size_bytes": part.size_bytes,
            }
            for part in parts
        ],
    }


def read(folder: Path) -> tuple[Part, ...] | None:
    """The parts that the manifest of a folder names; `None` where there is none that can be understood."""
    try:
        content = json.loads((folder / NAME).read_text(encoding="utf-8"))
        if content[KEY] != VERSION:
            return None
        return tuple(
            Part(
                str(item["name"]),
                int(item["records"]),
                int(item["traces"]),
                str(item["first"]),
                str(item["last"]),
                int(item["size_bytes"]),
            )
            for item in content["files"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def describes(folder: Path, files: Sequence[tuple[str, int]]) -> bool:
    """Whether a folder has a manifest, it names these files, of these sizes, in this order, and no trace is in two."""
    parts = read(folder)
    if not parts or [(part.name, part.size_bytes) for part in parts] != list(files):
        return False
    apart = all(before.last < after.first for before, after in pairwise(parts))
    return apart and all(part.first <= part.last for part in parts)
