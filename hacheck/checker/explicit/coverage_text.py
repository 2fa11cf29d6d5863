"""What an answer of an explicit engine covers, in words."""

from __future__ import annotations

from collections.abc import Sequence

from hacheck.model.ir import System

EVERY_STATE = "every reachable state"


def bound_counts(bounds_reached: Sequence[int], bounds: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """The bounds that were reached, with the number of steps beyond each, the most first."""
    counted = [(name, count) for name, count in zip(bounds, bounds_reached, strict=True) if count]
    return tuple(sorted(counted, key=lambda pair: (-pair[1], pair[0])))


def covered(system: System, bounds_reached: tuple[tuple[str, int], ...], what: str = EVERY_STATE) -> str:
    """The scope of a finished search: everything, or everything within the bounds that were reached."""
    if not bounds_reached:
        return what
    words = dict(system.bounds)
    parts = [f"{words.get(name, name)} ({count:,} step{'s' * (count != 1)} beyond)" for name, count in bounds_reached]
    return f"{what} within: {'; '.join(parts)}"


def stopped_short(size: int, depth: int, reason: str) -> str:
    """The scope of a search that ended early."""
    return f"{size:,} state{'s' * (size != 1)} to depth {depth} explored; stopped because {reason}"


def unlikely(omission: float) -> str:
    """How likely it is that a search left out a state, because it knows states by a hash."""
    return f"a state was left out with a probability of at most {omission:.1g}"
