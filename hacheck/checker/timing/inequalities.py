"""The fewest linear inequalities with small whole coefficients that separate safe points from others, found by Z3.

They say what was explored and no more: of every point that was tried, whether it is safe. That the same inequalities
hold beyond is likely where they are few, and not shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from hacheck.checker.symbolic.z3_library import Formula, z3_module
from hacheck.checker.timing.time_constants import Point

COEFFICIENT_MAX = 3
INEQUALITIES_MAX = 4
SECONDS_MAX = 20.0
"""For each number of inequalities that is tried."""


class Inequality(Struct, frozen=True):
    """The sum of `coefficients` times the constants is at most `bound`."""

    coefficients: tuple[int, ...]
    bound: int

    def holds(self, point: Point) -> bool:
        """Whether it holds of a point."""
        return sum(a * x for a, x in zip(self.coefficients, point, strict=True)) <= self.bound

    def text(self, names: Sequence[str]) -> str:
        """`pause + drift <= margin + 2`: what is subtracted stands on the other side."""
        left = [_term(a, name) for a, name in zip(self.coefficients, names, strict=True) if a > 0]
        right = [_term(-a, name) for a, name in zip(self.coefficients, names, strict=True) if a < 0]
        if self.bound > 0 or (self.bound == 0 and not right):
            right.append(str(self.bound))
        elif self.bound < 0:
            left.append(str(-self.bound))
        return f"{' + '.join(left) or '0'} <= {' + '.join(right) or '0'}"


def _term(coefficient: int, name: str) -> str:
    return name if coefficient == 1 else f"{coefficient} {name}"


def region(
    safe: Sequence[Point], unsafe: Sequence[Point], seconds_max: float = SECONDS_MAX
) -> tuple[Inequality, ...] | None:
    """Inequalities that hold together of every safe point and of no unsafe one: as few as can be, and among those the
    ones with the smallest coefficients. `None`: none were found, since the region has another form or time was over."""
    if not unsafe:
        return ()
    if not safe:
        return None
    for count in range(1, INEQUALITIES_MAX + 1):
        found = _separating(safe, unsafe, count, seconds_max)
        if found is not None:
            return found
    return None


def _separating(
    safe: Sequence[Point], unsafe: Sequence[Point], count: int, seconds_max: float
) -> tuple[Inequality, ...] | None:
    z3 = z3_module()
    size = len(unsafe[0])
    limit = COEFFICIENT_MAX * sum(max(abs(x) for x in column) for column in zip(*safe, *unsafe, strict=True))
    solver = z3.Optimize()
    solver.set("timeout", round(seconds_max * 1000))
    rows = [[z3.Int(f"a{row}_{place}") for place in range(size)] for row in range(count)]
    bounds = [z3.Int(f"b{row}") for row in range(count)]
    for row, bound in zip(rows, bounds, strict=True):
        solver.add(bound >= -limit, bound <= limit, *(z3.And(a >= -COEFFICIENT_MAX, a <= COEFFICIENT_MAX) for a in row))
    sums = {
        point: [z3.Sum([a * x for a, x in zip(row, point, strict=True)]) for row in rows] for point in (*safe, *unsafe)
    }
    for point in safe:
        solver.add(*(left <= bound for left, bound in zip(sums[point], bounds, strict=True)))
    for point in unsafe:
        solver.add(z3.Or([left > bound for left, bound in zip(sums[point], bounds, strict=True)]))
    solver.minimize(z3.Sum([z3.If(a >= 0, a, -a) for row in rows for a in row]))
    solver.minimize(z3.Sum([z3.If(bound >= 0, bound, -bound) for bound in bounds]))
    if solver.check() != z3.sat:
        return None
    model = solver.model()

    def number(term: Formula) -> int:
        return int(model.eval(term, model_completion=True).as_long())

    found = [Inequality(tuple(number(a) for a in row), number(bound)) for row, bound in zip(rows, bounds, strict=True)]
    return tuple(sorted(found, key=lambda one: (one.coefficients, one.bound), reverse=True))
