"""Until when a log reaches, and how fine its stamps are: read from the beginning and the end of its files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from hacheck.traces.adapters.logs import LogDataset, LogFile
from hacheck.traces.adapters.time_stamps import Clock
from hacheck.traces.text_blocks import PACKED

SAMPLE_BYTES = 64 << 10
"""So much is read of the beginning of a file, and of its end."""

SECOND = 1_000_000_000
STAMPS_MIN = 3
"""From so few stamps nobody can say how fine they are."""


class Extent(Struct, frozen=True):
    """What the stamps of a file show. `last`: the time of the last line of any kind; `stamps`: how many were read;
    `whole_seconds`: none of them has a part of a second."""

    last: int
    stamps: int
    whole_seconds: bool


def extent_of(log: LogFile, zone: str | None) -> Extent | None:
    """The extent of a text log; `None` where no stamp can be read, for JSON lines and for compressed files."""
    rule = log.adapter.line
    if rule.head is None or log.file.path.suffix in PACKED:
        return None
    begin, end = _sampled(log.file.path)
    clock = Clock(rule.times, zone or rule.zone, written=log.file.path.stat().st_mtime_ns)
    times = _times(begin, rule.head, clock) + _times(end, rule.head, clock)
    if not times:
        return None
    return Extent(max(times), len(times), all(time % SECOND == 0 for time in times))


def needed_skew_ns(dataset: LogDataset) -> int:
    """By how much stamps of different nodes may differ because they are cut off to whole seconds: a second if those of
    some node are, else 0."""
    found = [extent_of(log, dataset.zone) for log in dataset.logs if log.adapter is dataset.adapter]
    coarse = any(one is not None and one.whole_seconds and one.stamps >= STAMPS_MIN for one in found)
    return SECOND if coarse else 0


def _sampled(path: Path) -> tuple[list[bytes], list[bytes]]:
    """The first lines of a file, and its last ones; a line that is cut by that is left out."""
    try:
        with path.open("rb") as file:
            begin = file.read(SAMPLE_BYTES)
            size = file.seek(0, 2)
            file.seek(max(len(begin), size - SAMPLE_BYTES))
            end = file.read()
    except OSError:
        return [], []
    return begin.split(b"\n"), end.split(b"\n")


def _times(lines: Iterable[bytes], head: re.Pattern[str], clock: Clock) -> list[int]:
    matches = (head.match(line.decode("utf-8", errors="backslashreplace")) for line in lines)
    times = (clock.read(match["time"]) for match in matches if match is not None)
    return [time for time in times if time is not None]
