"""Chance that depends on a seed, the number of a trace and what it is for: numbers by counting, not by drawing.

The same numbers come out in compiled kernels, in numpy and in plain Python, in whatever order they are drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

STEP = 0x9E3779B97F4A7C15
"""Between the numbers that are mixed: odd, so all are different."""

MASK = (1 << 64) - 1

WALK, TIME, CLOCK, LOST, DAMAGE, NAME = range(6)
"""What numbers are for."""


def mixed(x: int) -> int:
    """Another number for each number, its bits well spread. **Source:** the finaliser of SplitMix64."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def key(seed: int, use: int) -> int:
    """Where the numbers of a seed for one use begin. `seed` may be of any size."""
    word, left = mixed(use + 1), seed
    while True:
        word = mixed((word * STEP + left) & MASK)
        left >>= 64
        if not left:
            return word


def of_trace(start: int, trace: int) -> int:
    """Where the numbers of a trace begin. `start`: those of the seed."""
    return mixed((start + (trace + 1) * STEP) & MASK)


def numbers(start: Any, count: Any) -> Any:
    """The numbers with these counts: arrays (uint64), or one of both a number."""
    x = np.asarray(start, np.uint64) + (np.asarray(count, np.uint64) + np.uint64(1)) * np.uint64(STEP)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def below(number: int, limit: int) -> int:
    """A number below a limit."""
    return number * limit >> 64


class Dice:
    """Numbers of one trace, one after another."""

    def __init__(self, start: int, trace: int) -> None:
        self._start, self._count = of_trace(start, trace), 0

    def below(self, limit: int) -> int:
        """The next number below a limit."""
        self._count += 1
        return below(mixed((self._start + self._count * STEP) & MASK), limit)

    def share(self) -> float:
        """The next number from 0 to 1."""
        return self.below(1 << 53) / (1 << 53)
