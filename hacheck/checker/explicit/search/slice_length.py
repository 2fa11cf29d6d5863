"""How much work makes a slice: short enough to obey limits, long enough to cost nothing."""

from __future__ import annotations

import time

SLICE_SECONDS = 0.05
_MOST = 2**20


class Pace:
    """The amount of work for the next slice, in whatever unit."""

    __slots__ = ("_begun", "amount", "seconds")

    def __init__(self, seconds: float = SLICE_SECONDS, amount: int = 1) -> None:
        """`seconds`: how long a slice should take; `amount`: the first."""
        self.seconds, self.amount = seconds, amount
        self._begun = 0.0

    def begin(self) -> None:
        """Begins a slice."""
        self._begun = time.perf_counter()

    def end(self) -> None:
        """Ends it: the next will have more to do, or less, if it took a time that is far from what it should."""
        seconds = time.perf_counter() - self._begun
        if seconds < self.seconds / 2:
            self.amount = min(self.amount * 2, _MOST)
        elif seconds > self.seconds * 2:
            self.amount = max(self.amount // 2, 1)
