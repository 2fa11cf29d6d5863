"""Logs of IceStorm with one deliberate change each, which no run of the protocol can explain.

Each is wrong by what the log itself says: states of a replica follow one another, and a generation is one more than the
latest that the lines before it show.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

STATE = re.compile(r"transition from (\w+) to (\w+)")
STARTED = re.compile(r"I am node \d+")
COMMENCED = re.compile(r"(replication commencing with .* llu generation: )(\d+)")
COUNTED = re.compile(r"(coordinator for )(\d+)( nodes)")
FAR = 1_000


@dataclass(frozen=True)
class Change:
    """What was done. `line`: where, from 1."""

    kind: str
    replica: str
    line: int


def damaged(source: Path, target: Path, kind: str) -> Change | None:
    """A copy of a folder of logs in which one line is changed; none if no log has such a line."""
    logs = sorted(source.glob("replica-*.log"))
    for log in sorted(logs, key=lambda path: -path.stat().st_size):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        place = next(KINDS[kind](lines), None)
        if place is None:
            continue
        target.mkdir(parents=True)
        for other in logs:
            shutil.copy(other, target / other.name)
        (target / log.name).write_text("".join(lines), encoding="utf-8")
        return Change(kind, log.stem, place + 1)
    return None


def later_generation(lines: list[str]) -> Iterator[int]:
    """The last group that is ready has a generation that nothing before it explains."""
    for place in reversed(range(len(lines))):
        found = COMMENCED.search(lines[place])
        if found:
            lines[place] = COMMENCED.sub(lambda text: f"{text[1]}{int(text[2]) + FAR}", lines[place])
            yield place


def miscounted(lines: list[str]) -> Iterator[int]:
    """A coordinator counts one more than accepted."""
    for place in reversed(range(len(lines))):
        if COUNTED.search(lines[place]):
            lines[place] = COUNTED.sub(lambda text: f"{text[1]}{int(text[2]) + 1}{text[3]}", lines[place])
            yield place


def removed_state(lines: list[str]) -> Iterator[int]:
    """A state is missing: the next one does not begin where the one before ended."""
    for before, after in pairs(lines):
        del lines[before]
        yield after - 1


def swapped_states(lines: list[str]) -> Iterator[int]:
    """Two states in the wrong order, each with the time of the other: the clock is right."""
    for before, after in pairs(lines):
        first, second = STATE.search(lines[before]), STATE.search(lines[after])
        assert first is not None
        assert second is not None
        if first[1] != second[2]:
            lines[before] = lines[before].replace(first[0], second[0])
            lines[after] = lines[after].replace(second[0], first[0])
            yield before


def pairs(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Places of two states of one incarnation that follow one another, beginning in the middle of the log."""
    found = []
    last = None
    for place, line in enumerate(lines):
        if STARTED.search(line):
            last = None
        if STATE.search(line):
            if last is not None:
                found.append((last, place))
            last = place
    yield from found[len(found) // 2 :]
    yield from found[: len(found) // 2]


KINDS: dict[str, Callable[[list[str]], Iterator[int]]] = {
    "generation": later_generation,
    "count": miscounted,
    "removed": removed_state,
    "swapped": swapped_states,
}
