"""A process's own clock: off by some time, fast or slow, and never going back."""

from __future__ import annotations

EVEN = 1_000_000
"""The right rate, in millionths."""


class Clock:
    """Local time as a function of true time, both in whole microseconds.

    `even`: the rate is right, and local time is true time plus `ahead`.
    """

    __slots__ = ("_local", "_rate", "_true", "ahead", "even")

    def __init__(self, ahead: int) -> None:
        self._true, self._local, self._rate = 0, ahead, EVEN
        self.ahead, self.even = ahead, True

    def local(self, true_us: int) -> int:
        """What it shows."""
        return self._local + (true_us - self._true) * self._rate // EVEN

    def true(self, local_us: int) -> int:
        """The first moment at which it shows so much or more."""
        return self._true - (self._local - local_us) * EVEN // self._rate

    def change(self, true_us: int, rate: int) -> None:
        """From now on it runs at this rate, in millionths of the right one."""
        assert rate > 0, "clocks do not stand still or go back"
        self._local, self._true, self._rate = self.local(true_us), true_us, rate
        self.even, self.ahead = rate == EVEN, self._local - true_us

    def jump(self, true_us: int, by_us: int) -> None:
        """It shows so much more at once."""
        assert by_us >= 0, "clocks do not go back"
        self.change(true_us, self._rate)
        self._local += by_us
        self.ahead += by_us
