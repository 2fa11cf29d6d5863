"""How much work makes a slice: short enough to obey limits and to report progress, long enough to cost nothing."""

from __future__ import annotations

import time
from collections.abc import Callable

SLICE_SECONDS = 0.05
MOST = 2**20


class Pace:
    """The amount of work for the next slice, in whatever unit."""

    __slots__ = ("_begun", "_clock", "_least", "amount", "seconds")

    def __init__(
        self,
        seconds: float = SLICE_SECONDS,
        amount: int = 1,
        least: int = 1,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`seconds`: how long a slice should take; `amount`: the first; `least`: never less than this."""
        self.seconds, self.amount = seconds, amount
        self._least, self._clock, self._begun = least, clock, 0.0

    def begin(self) -> None:
        """Begins a slice."""
        self._begun = self._clock()

    def end(self, *, is_whole: bool = True) -> None:
        """Ends it: the next will have more to do, or less, if it took a time that is far from what it should.
        `is_whole`: it did all of the amount; else how quick it was says nothing."""
        seconds = self._clock() - self._begun
        if seconds > self.seconds * 2:
            self.amount = max(self.amount // 2, self._least)
        elif seconds < self.seconds / 2 and is_whole:
            self.amount = min(self.amount * 2, MOST)
