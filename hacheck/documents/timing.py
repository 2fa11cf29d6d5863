"""The document of `hacheck timing`."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import field

from hacheck.documents.document import Document, Part
from hacheck.documents.run import Run

Point: TypeAlias = list[int]
"""A value for each constant, in the order of `constants`."""


class VariedConstant(Part, frozen=True, kw_only=True):
    """A constant, the interval in which it was varied, and its value in the spec."""

    name: str
    low: int
    high: int
    now: int
    description: str


class UnsafePoint(Part, frozen=True, kw_only=True):
    """Values under which a property is violated, and the length of the shortest counterexample."""

    point: Point
    steps: int


class OpenPoint(Part, frozen=True, kw_only=True):
    """Values under which a property was not decided, and why."""

    point: Point
    why: str


class RegionInequality(Part, frozen=True, kw_only=True):
    """The sum of `coefficients` times the constants is at most `bound`; `text` is the same for people."""

    coefficients: list[int]
    bound: int
    text: str = field(name="told")


class TimedProperty(Part, frozen=True, kw_only=True):
    """Where one property holds. `bounded`: the points of `safe` that are safe only within a bound of the spec;
    `region`: inequalities that describe exactly the safe points, null where none were found; `room`: the interval in
    which each constant may be changed alone; `run`: a shortest counterexample at `nearest_unsafe`."""

    name: str
    holds_now: bool | None
    safe: list[Point]
    bounded: list[Point]
    unsafe: list[UnsafePoint]
    open: list[OpenPoint]
    region: list[RegionInequality] | None
    room: list[list[int]] | None
    nearest_unsafe: Point | None
    run: Run | None


class TimingDocument(Document, tag="timing", frozen=True, kw_only=True):
    """What `hacheck timing` found: the constants, and for each property the safe points and the others."""

    spec: str
    check: str
    exit_code: int
    constants: list[VariedConstant]
    properties: list[TimedProperty]
