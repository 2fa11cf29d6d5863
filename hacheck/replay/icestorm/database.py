"""What a replica of IceStorm has on disk, read with `icestormdb` while it runs or after it ended.

`queries` shows the topics of a replica that serves, from its memory; the database has them in any state, and the
stamp of the last update, which no query returns. **Source**: Real IceStorm HA, section 4; `icestormdb --help`.
"""

from __future__ import annotations

import re
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from msgspec import Struct

PROGRAM = "icestormdb"
READ_SECONDS_MAX = 6.0
TITLE = b"\x08IceStorm"
DATA = "data.mdb"
TICK_NS = 20_000_000
"""A file of which this much passed since its last change shows the next one in its time."""

LLU = struct.Struct("<qq")
TOPIC = re.compile(r"TOPIC\([^)]*topic\.([^)]*)\) ID\(\)")
"""A line of `--debug` for the record with which a topic begins; those of subscribers have their identity."""


class Stored(Struct, frozen=True):
    """The content of one database. `generation`, `iteration`: of the last update."""

    topics: tuple[str, ...]
    generation: int
    iteration: int


def stored(folder: Path) -> Stored | None:
    """What the database in a folder holds; `None`, where it cannot be read now. Cost: a process, some 20 ms."""
    with tempfile.TemporaryDirectory() as place:
        exported = Path(place) / "exported"
        words = [PROGRAM, "--export", str(exported), "--dbpath", str(folder), "--debug"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=READ_SECONDS_MAX, check=False)
            return None if done.returncode else read_export(exported.read_bytes(), done.stdout)
        except (subprocess.TimeoutExpired, OSError):
            return None


class Disks:
    """Databases that are read again only when their files have changed since."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[int, Stored]] = {}

    def stored(self, folder: Path) -> Stored | None:
        """As `stored`."""
        try:
            changed = (folder / DATA).stat().st_mtime_ns
        except OSError:
            return None
        if folder in self._known and self._known[folder][0] == changed:
            return self._known[folder][1]
        began = time.time_ns()
        found = stored(folder)
        if found is not None and changed < began - TICK_NS:  # another write may have the same time
            self._known[folder] = (changed, found)
        return found


def read_export(content: bytes, listing: str) -> Stored | None:
    """An exported file with what `--debug` listed. The file begins with its title, its version and a dictionary whose
    one entry is the stamp of the last update; `None`, where it does not."""
    at = len(TITLE) + 4
    if not content.startswith(TITLE) or content[at : at + 1] != b"\x01":
        return None
    begin = at + 2 + content[at + 1]
    if len(content) < begin + LLU.size:
        return None
    generation, iteration = LLU.unpack_from(content, begin)
    return Stored(tuple(sorted(TOPIC.findall(listing))), generation, iteration)
