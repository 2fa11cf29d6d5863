"""What goes wrong in a run, as data: a run is a seed and a list of these, so it can be written down and run again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from hacheck.impl.node import Name

Direction: TypeAlias = tuple[Name, Name]
"""From whom, to whom. A host of locks or shared disks is named like a process."""


class Kind(Struct, frozen=True):
    """A kind of fault. `amount`: what the number of that name means, if anything."""

    name: str
    meaning: str
    amount: str = ""


KINDS = (
    Kind("crash", "a process ends (kill -9); later it is started again", "1 + how much of its next input is done"),
    Kind("power", "a machine goes down: no process learns of it, and what was not synced may be gone", "as for crash"),
    Kind("wipe", "a process ends, and its disk is lost"),
    Kind("pause", "a process stands still, longer or shorter than time-outs, and continues with what it believed"),
    Kind("cut", "nothing gets through in some directions; what was sent arrives after the healing"),
    Kind("reset", "connections break while both ends run"),
    Kind("slow", "messages take longer", "how many times as long"),
    Kind("loss", "messages are lost with no connection broken", "how many of a thousand"),
    Kind("duplicate", "messages arrive twice", "how many of a thousand"),
    Kind("reorder", "messages overtake each other", "how many of a thousand"),
    Kind("disk-full", "writes fail: no space is left"),
    Kind("disk-error", "writes fail: input/output errors"),
    Kind("disk-slow", "writes take longer", "how many times as long"),
    Kind("clock-rate", "a clock runs fast or slow", "millionths of the right rate"),
    Kind("clock-jump", "a clock jumps forward", "by how much, in microseconds"),
    Kind("lock-lost", "a lock's host forgets who holds it, and no process learns of it"),
    Kind("lock-told", "a lock's host takes a lock away, and says so"),
    Kind("lock-late", "the locks of a process that ends are let go late", "by how much, in microseconds"),
    Kind("lock-stale", "requests to a host of locks or shared disks fail: stale file handle"),
)

NAMES = tuple(kind.name for kind in KINDS)


class Fault(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Something that goes wrong. It begins at `at_us` of true time and lasts `for_us` (0: it is over at once).

    `members`: who is hit. `links`: which directions, for faults of the network. `hosts`: which locks or shared disks.
    `target`: how those were chosen, in a word, for people. `draw`: decides what is left to chance within the fault.
    """

    kind: str
    at_us: int
    for_us: int = 0
    members: tuple[Name, ...] = ()
    links: tuple[Direction, ...] = ()
    hosts: tuple[Name, ...] = ()
    target: str = ""
    amount: int = 0
    draw: int = 0

    @property
    def label(self) -> str:
        """Kind and target, as reports and `System.survives` name them: `crash/minority`."""
        return f"{self.kind}/{self.target}" if self.target else self.kind


def between(left: Sequence[Name], right: Sequence[Name]) -> tuple[Direction, ...]:
    """Both directions between everybody here and everybody there."""
    return tuple(pair for here in left for there in right for pair in ((here, there), (there, here)))
