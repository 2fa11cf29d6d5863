"""The constants that are varied: settings of a spec that are numbers, each with the interval it is tried in."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from hacheck.model.language import Specification
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.tree_walk import parts

Point = tuple[int, ...]
"""A value of each constant, in their order."""


class NotVaried(Exception):
    """A setting that cannot be varied, or none that can. `reason`: why; `hint`: what to do."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason, self.hint = reason, hint


class Constant(Struct, frozen=True):
    """A setting that is varied from `low` to `high`; `now`: what it is in the check at hand."""

    name: str
    low: int
    high: int
    now: int
    description: str


def time_constants(specification: Specification) -> tuple[str, ...]:
    """The settings that leases and clocks of the spec are made of, in the order of their declaration."""
    read: set[str] = set()
    for one in specification.declarations:
        match one:
            case d.LockDeclaration(lease=lease) if lease is not None:
                read |= _names(lease)
            case d.ClockDeclaration(skew=skew) if skew is not None:
                read |= _names(skew)
            case _:
                pass
    return tuple(one.name for one in specification.parameters if one.kind == "param" and one.name in read)


def _names(expression: t.Expression) -> set[str]:
    return {part.text for part in parts(expression) if isinstance(part, t.Name)}


def constant(
    specification: Specification, name: str, given: tuple[int, int] | None, settings: Mapping[str, str]
) -> Constant:
    """A setting as a constant. `given`: the interval to try, else the one in the spec; `settings`: those of the check
    at hand. Errors: `NotVaried`, for a setting that is no number, or is none of that interval."""
    described = next((one for one in specification.parameters if one.name == name), None)
    if described is None:
        names = ", ".join(one.name for one in specification.parameters)
        raise NotVaried(f"unknown setting `{name}`", f"there are: {names}")
    interval = interval_of(specification, name)
    if interval is None:
        raise NotVaried(f"{name} is not a number with an interval in the spec", "as `param lease = 3 in 1..9`")
    low, high = given or interval
    if low > high:
        raise NotVaried(f"{name}={low}..{high} is empty", f"write {name}={high}..{low}")
    if not interval[0] <= low <= high <= interval[1]:
        raise NotVaried(
            f"{name}={low}..{high} is not within {interval[0]}..{interval[1]}", "that is what the spec allows"
        )
    now = int(settings.get(name, described.default))
    if not low <= now <= high:
        raise NotVaried(f"{name} is {now}, which is not from {low} to {high}", f"--set {name}={low}, or try more of it")
    return Constant(name, low, high, now, described.description)


def interval_of(specification: Specification, name: str) -> tuple[int, int] | None:
    """The interval that the spec gives a setting; `None` for one that is no number."""
    for one in specification.declarations:
        if isinstance(one, d.Setting) and one.name.text == name and one.type is not None and one.type.kind == "range":
            low, high = one.type.limits
            if isinstance(low, t.Number) and isinstance(high, t.Number):
                return low.value, high.value
    return None


def points(constants: Sequence[Constant]) -> Iterator[Point]:
    """Every combination, the nearest to what the constants are now first."""
    now = [one.now for one in constants]
    every = itertools.product(*(range(one.low, one.high + 1) for one in constants))
    return iter(sorted(every, key=lambda point: (sum(abs(a - b) for a, b in zip(point, now, strict=True)), point)))


def count_of(constants: Sequence[Constant]) -> int:
    """How many combinations there are."""
    count = 1
    for one in constants:
        count *= one.high - one.low + 1
    return count
