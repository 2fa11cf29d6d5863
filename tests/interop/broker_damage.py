"""Logs of a pair of brokers with one deliberate change each, which no run of the protocol can explain.

Each is wrong by what the log itself says: who becomes active says so before, what a server waits for comes after the
wait, and a vote that is lost makes nobody active. **Source**: Broker failover protocols, 2.2 to 2.6, 2.15.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hacheck.replay.artemis.broker_kind import BrokerKind
from hacheck.replay.hornetq.broker_kind import HORNETQ

CODE = re.compile(r"(?:AMQ|HQ)(\d{6}): ")
MISSING = {"replication": "221037", "shared_store": "221033"}
SWAPPED = {"replication": ("221066", "221071"), "shared_store": ("221032", "221033")}
WRONG = {"replication": ("221071", "221070"), "shared_store": ("221035", "221033")}
HORNETQ_SWAPPED = {**SWAPPED, "replication": ("221109", "221024")}
HORNETQ_WRONG = {**WRONG, "replication": ("221024", "221109")}
"""It writes nothing of its votes."""


@dataclass(frozen=True)
class Change:
    """What was done. `line`: where, from 1."""

    kind: str
    broker: str
    line: int


def damaged(source: Path, target: Path, policy: str, kind: str, product: BrokerKind) -> Change | None:
    """A copy of a folder of brokers in which one log is changed; none if no log has such lines."""
    for log in sorted(source.glob(f"*/{product.log}")):
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        place = KINDS[kind](lines, policy, product is HORNETQ)
        if place is None:
            continue
        for other in source.glob(f"*/{product.log}"):
            copy = target / other.relative_to(source)
            copy.parent.mkdir(parents=True)
            shutil.copy(other, copy)
        (target / log.relative_to(source)).write_text("".join(lines), encoding="utf-8")
        return Change(kind, log.parent.parent.name, place + 1)
    return None


def removed(lines: list[str], policy: str, hornetq: bool) -> int | None:
    """A line is missing that another one needs."""
    place = place_of(lines, MISSING[policy])
    if place is not None:
        del lines[place]
    return place


def swapped(lines: list[str], policy: str, hornetq: bool) -> int | None:
    """Two lines in the wrong order, each with the time of the other: the clock is right."""
    first, second = (place_of(lines, code) for code in (HORNETQ_SWAPPED if hornetq else SWAPPED)[policy])
    if first is None or second is None:
        return None
    heads = [CODE.split(lines[place])[0].removesuffix("AMQ").removesuffix("HQ") for place in (first, second)]
    tails = [lines[place][len(head) :] for place, head in zip((first, second), heads, strict=True)]
    lines[first], lines[second] = heads[0] + tails[1], heads[1] + tails[0]
    return first


def wrong(lines: list[str], policy: str, hornetq: bool) -> int | None:
    """A line tells another outcome."""
    old, new = (HORNETQ_WRONG if hornetq else WRONG)[policy]
    place = place_of(lines, old)
    if place is not None:
        lines[place] = lines[place].replace(f"Q{old}: ", f"Q{new}: ")
    return place


def place_of(lines: list[str], code: str) -> int | None:
    """Where the first line with this code is."""
    return next((place for place, line in enumerate(lines) if f"Q{code}: " in line), None)


KINDS: dict[str, Callable[[list[str], str, bool], int | None]] = {
    "removed": removed,
    "swapped": swapped,
    "wrong": wrong,
}
