"""Pins as data: what the checks of a shipped spec find, and how each of them is explored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PORTABLE_MAX = 100_000
"""States that the portable engine explores within seconds."""
EVERYDAY_MAX = 150
"""States of the checks that are explored each time."""


@dataclass(frozen=True, slots=True)
class Found:
    """What exploring a check finds.

    `counts`: states, transitions, depth. `violated`: by property the steps of a shortest run, a loop included; `None`
    for a `reachable` one that nothing reaches. `reached`: the same for those reached. `holds`: the names of all others.
    """

    counts: tuple[int, int, int]
    violated: Mapping[str, int | None] = field(default_factory=dict)
    reached: Mapping[str, int] = field(default_factory=dict)
    holds: str = ""

    @property
    def told(self) -> dict[str, str]:
        """By property what is found of it, in words."""
        broken = {name: f"violated{length(steps)}" for name, steps in self.violated.items()}
        met = {name: f"reached{length(steps)}" for name, steps in self.reached.items()}
        return {**broken, **met, **dict.fromkeys(self.holds.split(), "holds")}

    @property
    def named(self) -> list[str]:
        """The properties it speaks of, each as often as it does."""
        return [*self.violated, *self.reached, *self.holds.split()]

    @property
    def unreached(self) -> set[str]:
        """The `reachable` properties that nothing reaches."""
        return {name for name, steps in self.violated.items() if steps is None}


@dataclass(frozen=True, slots=True)
class Table:
    """What the checks of a shipped spec find, in the order of the spec; checks that run by request are left out.

    A check is explored in full, every state of it, and once more with reductions. `portable_max`: up to so many states
    the portable engine explores it in full, above them compiled code. `only_reduced`: the checks explored with
    reductions only, since they are large. `once_more`: of all others those explored with reductions, too; `None` for
    each of them. `unreached`: the `reachable` properties that some check does not reach, and why.
    """

    spec: str
    pinned: Mapping[str, Found]
    portable_max: int = PORTABLE_MAX
    only_reduced: tuple[str, ...] = ()
    once_more: tuple[str, ...] | None = None
    unreached: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_full(self) -> list[str]:
        """The checks of which every state is explored."""
        return [name for name in self.pinned if name not in self.only_reduced]

    @property
    def everyday(self) -> list[str]:
        """The checks that are explored each time, the others by night: `default`, and what takes less than a second."""
        return [name for name, found in self.pinned.items() if name == "default" or found.counts[0] <= EVERYDAY_MAX]

    @property
    def with_reductions(self) -> list[str]:
        """The checks explored with reductions."""
        again = self.in_full if self.once_more is None else self.once_more
        return [*self.only_reduced, *again]


def length(steps: int | None) -> str:
    """The length of a run in words, none for no run."""
    return "" if steps is None else f" in {steps} steps"
