"""A loop inside a fair set does all that fairness asks for, and no loop is longer than that needs."""

from __future__ import annotations

from array import array

import pytest

from hacheck.checker.explicit.fairness import Constraints
from hacheck.checker.explicit.portable.fair_sets import FairSet
from hacheck.checker.explicit.portable.shortest_lasso import Walk, fair_loop
from hacheck.checker.explicit.portable.strong_components import Edges

MARK = 7
THERE_AND_BACK = Edges(array("Q", [0, 1, 2]), array("I", [1, 0]), array("I", [0, 0]))
WITH_A_STAY = Edges(array("Q", [0, 1, 3]), array("I", [1, 0, 1]), array("I", [0, 0, 1]))
ALONE = Edges(array("Q", [0, 0, 0]), array("I"), array("I"))


@pytest.mark.parametrize(
    ("edges", "enabled", "strong", "expected"),
    [
        pytest.param(THERE_AND_BACK, [1, 0], 0, Walk([0, 1, 0], [0, 0]), id="a weak one is disabled on the way"),
        pytest.param(THERE_AND_BACK, [1, 0], 2, Walk([0, 1, 0], [0, 0]), id="beside a strong one, too"),
        pytest.param(WITH_A_STAY, [1, 1], 0, Walk([0, 1, 1, 0], [0, 1, 0]), id="a weak one is enabled everywhere"),
        pytest.param(WITH_A_STAY, [1, 0], 1, Walk([0, 1, 1, 0], [0, 1, 0]), id="a strong one is taken once"),
        pytest.param(ALONE, [0, 0], 0, Walk([0], []), id="nothing is enabled, and the run stays"),
    ],
)
def test_loop_is_fair_and_short(edges: Edges, enabled: list[int], strong: int, expected: Walk) -> None:
    part = array("Q", [MARK, MARK])
    loop = fair_loop(edges, enabled, part, 0, FairSet([0, 1], MARK), Constraints(2, strong, (0, 1)))
    assert loop == expected
