"""Which of the things that may be done comes first in a run: priorities that are drawn once and change at few places.

A mistake mostly needs few things in one order, and nothing of the rest in between. Where each step is drawn by itself
such an order is rare; where priorities are drawn, all of one kind comes before all of another one, and two or three
changes of them are enough for most mistakes. Source: Burckhardt, Kothari, Musuvathi and Nagarakatte, "A Randomized
Scheduler with Probabilistic Guarantees of Finding Bugs", sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from hacheck.testing.stimuli import Step

CHANGES_MAX = 3
"""So many changes of priorities a run has at most."""

STEPS = 40
"""Within so many steps they come."""


def stream(step: Step) -> str:
    """What has one priority: a method, with the node that it is about."""
    about = next((value for _, value in step.arguments if isinstance(value, str)), "")
    return f"{step.method} {about}"


class Priorities:
    """Those of a run. `number`: all chance that there is in it."""

    def __init__(self, number: int) -> None:
        self._dice = Random(number)
        self._changes = {self._dice.randrange(STEPS) for _ in range(self._dice.randint(0, CHANGES_MAX))}
        self._of: dict[str, float] = {}
        self._steps = 0

    def first(self, streams: Iterable[str]) -> str:
        """The stream that comes first now; at a change it is the last one from then on, and the next one comes."""
        listed = sorted(set(streams))
        for one in listed:
            if one not in self._of:
                self._of[one] = self._dice.random()
        if self._steps in self._changes:
            highest = max(listed, key=self._of.__getitem__)
            self._of[highest] = min(self._of.values()) - 1
        self._steps += 1
        return max(listed, key=self._of.__getitem__)
