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


def what_helps(system: System, bounds_reached: tuple[tuple[str, int], ...]) -> str:
    """What may decide a property of infinite runs of which one leaves these bounds. The bounds of calls are the tool's
    own: none can be raised. Where it is not known which bounds were reached, it may be any."""
    words = dict(system.bounds)
    names = [name for name, _ in bounds_reached or system.bounds if not name.startswith("calls of ")]
    ended = "a `when` that keeps runs within it, or `fair`, decides more"
    if not names:
        return f"no bound that was reached can be raised; {ended}"
    meant = " or ".join(f"`{words.get(name, name)}`" for name in names)
    return f"raise the bound {meant}; where runs pass every bound, none is high enough: {ended}"


def unlikely(omission: float) -> str:
    """How likely it is that a search left out a state, because it knows states by a hash."""
    return f"a state was left out with a probability of at most {omission:.1g}"
