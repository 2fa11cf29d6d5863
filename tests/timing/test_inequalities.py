"""Regions told as inequalities: exactly the safe points, few and small."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hacheck.checker.timing.inequalities import Inequality, region

GRID = list(itertools.product(range(4), range(4), range(3)))


def test_one_inequality_is_found_as_people_would_write_it() -> None:
    safe = [point for point in GRID if point[1] + point[2] <= point[0]]
    found = region(safe, [point for point in GRID if point not in safe])
    assert found == (Inequality((-1, 1, 1), 0),)
    assert found[0].text(["margin", "pause", "drift"]) == "pause + drift <= margin"


def test_two_are_found_where_one_does_not_do() -> None:
    safe = [point for point in GRID if point[0] <= 2 and 2 * point[1] <= point[2] + 1]
    found = region(safe, [point for point in GRID if point not in safe])
    assert found is not None
    assert len(found) == 2
    assert {one.text(["a", "b", "c"]) for one in found} == {"a <= 2", "2 b <= c + 1"}


def test_everything_and_nothing_need_no_inequality() -> None:
    assert region(GRID, []) == ()
    assert region([], GRID) is None


def test_a_region_with_a_hole_has_none() -> None:
    line = [(x,) for x in range(5)]
    assert region([one for one in line if one != (2,)], [(2,)]) is None


@pytest.mark.parametrize(
    ("inequality", "told"),
    [
        (Inequality((1, 0, 0), 3), "a <= 3"),
        (Inequality((0, -2, 0), -3), "3 <= 2 b"),
        (Inequality((-1, 1, 3), -1), "b + 3 c + 1 <= a"),
        (Inequality((1, 1, 0), 0), "a + b <= 0"),
    ],
)
def test_what_is_subtracted_stands_on_the_other_side(inequality: Inequality, told: str) -> None:
    assert inequality.text(["a", "b", "c"]) == told


@given(st.tuples(*[st.integers(-2, 2)] * 3), st.integers(-3, 6))
def test_points_cut_off_by_a_plane_are_told_apart_exactly(coefficients: tuple[int, int, int], bound: int) -> None:
    plane = Inequality(coefficients, bound)
    safe = [point for point in GRID if plane.holds(point)]
    unsafe = [point for point in GRID if not plane.holds(point)]
    found = region(safe, unsafe)
    if safe:
        assert found is not None
        assert len(found) <= 1
        assert all(one.holds(point) for one in found for point in safe)
        assert not any(all(one.holds(point) for one in found) for point in unsafe)
