"""What re-checking a finished search by a second interpreter came to, and who does it, as engines know it."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from hacheck.checker.explicit.search_result import StatePath, Subject


class ShownDifference(Struct, frozen=True):
    """A difference: in which state, reached how, and what the two interpreters say. `path`: the steps that lead there,
    by name; `state`: what is so there, as `name = value`."""

    where: str
    path: tuple[str, ...]
    state: tuple[str, ...]
    first: str
    second: str


class Rechecked(Struct, frozen=True):
    """How many states and steps were computed again, and which came out otherwise.

    `of`: states that the search kept. `everything`: every reachable state was re-checked. `unsupported`: why nothing
    was, if the second interpreter does not know something of the spec.
    """

    states: int
    steps: int
    of: int
    seconds: float
    differences: tuple[ShownDifference, ...] = ()
    everything: bool = False
    unsupported: str = ""


class Visited(Protocol):
    """The states that a search kept, by numbers from 0 in the order of their distance from the start."""

    @property
    def size(self) -> int: ...
    @property
    def complete(self) -> bool:
        """Whether every state was expanded, so that each step leads to a state that was kept."""
        ...

    def packed(self, number: int) -> int:
        """A state."""
        ...

    def contains(self, state: int) -> bool:
        """Whether a packed state was kept."""
        ...

    def path_to(self, targets: list[int]) -> StatePath:
        """A shortest run to a packed state. Cost: up to that of the search that far. Errors: `Cancelled`."""
        ...


class Recheck(Protocol):
    """Re-checks a search that has ended."""

    def __call__(self, subject: Subject, visited: Visited, searched_seconds: float, go_on: GoOn) -> Rechecked:
        """`searched_seconds`: how long the search took; `go_on`: called now and then, with the states re-checked."""
        ...


class GoOn(Protocol):
    """Whether to go on."""

    def __call__(self, states: int) -> bool: ...
