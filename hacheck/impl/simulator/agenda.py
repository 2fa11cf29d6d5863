"""What is to happen and when: a queue of events in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappush
from itertools import count
from typing import Any, TypeAlias

Event: TypeAlias = tuple[int, int, Any, Any, Any]
"""When; a number no other event has; then a link, its epoch and a message, or `None`, a function and its argument.

Tuples, because a heap compares them without calling Python, and never beyond the second part.
"""

FIRST = -(1 << 40)
"""Faults have numbers from here on: at one moment they come before everything else, however late they were planned, so
that a run and its replay from a list of faults are the same run."""


class Agenda:
    """Events to come. `now`: the true time, in microseconds since the start."""

    __slots__ = ("events", "now", "number")

    def __init__(self) -> None:
        self.now = 0
        self.events: list[Event] = []
        self.number = count(1).__next__

    def at(self, at_us: int, function: Callable[[Any], None], argument: Any = None) -> None:
        """Calls a function at a time, after what was planned for that time before."""
        heappush(self.events, (at_us, self.number(), None, function, argument))

    def first_at(self, at_us: int, place: int, function: Callable[[Any], None], argument: Any = None) -> None:
        """Calls a function at a time that has not begun, before everything that is no fault. `place`: among faults, a
        number of its own."""
        assert at_us > self.now or self.now == 0, "that moment has begun"
        heappush(self.events, (at_us, FIRST + place, None, function, argument))
