"""Where the generators get their decisions from: Hypothesis, which shrinks them, or a seed, which is fast."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

Item = TypeVar("Item")


class Chooser(Protocol):
    """A source of whole numbers. Small ones should be the simpler choice."""

    def integer(self, low: int, high: int) -> int:
        """A number between two, both included."""
        ...


class Seeded:
    """Decisions from one number."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)


class Drawn:
    """Decisions drawn by Hypothesis."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))


def pick(chooser: Chooser, items: Sequence[Item]) -> Item:
    """One of the items; the first is the simplest."""
    return items[chooser.integer(0, len(items) - 1)] if len(items) > 1 else items[0]


def weighted(chooser: Chooser, items: Sequence[tuple[int, Item]]) -> Item:
    """One of the items, each as often as its weight says."""
    number = chooser.integer(0, sum(weight for weight, _ in items) - 1)
    for weight, item in items:
        if number < weight:
            return item
        number -= weight
    raise AssertionError("the weights add up")


def chance(chooser: Chooser, percent: int) -> bool:
    """Yes, so many times out of a hundred; no is the simpler choice."""
    return chooser.integer(0, 99) >= 100 - percent


def optional(chooser: Chooser, percent: int, make: Callable[[], Any]) -> Any:
    """What `make` makes, so many times out of a hundred, else nothing."""
    return make() if chance(chooser, percent) else None
