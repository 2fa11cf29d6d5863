"""A loop inside a fair set does all that fairness asks for, and no loop is longer than that needs."""

from __future__ import annotations

import random
from array import array

import pytest

from hacheck.checker.explicit.fairness import Constraints
from hacheck.checker.explicit.portable.fair_sets import FairSet
from hacheck.checker.explicit.portable.shortest_lasso import Walk, fair_loop
from hacheck.checker.explicit.portable.strong_components import Edges, components

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


def test_components_are_the_sets_of_which_each_vertex_leads_to_each() -> None:
    for seed in range(300):
        chance = random.Random(seed)
        count = chance.randint(1, 9)
        following = [[n for n in range(count) if chance.random() < 0.25] for _ in range(count)]
        starts = [sum(map(len, following[:n])) for n in range(count + 1)]
        targets = [target for some in following for target in some]
        edges = Edges(array("Q", starts), array("I", targets), array("I", [0] * len(targets)))
        part = array("Q", [MARK if chance.random() < 0.8 else 0 for _ in range(count)])
        inside = [n for n in range(count) if part[n] == MARK]
        reached = {n: {n} for n in inside}
        for _ in inside:
            for n in inside:
                reached[n] |= {far for near in following[n] if part[near] == MARK for far in reached[near]}
        wanted = {frozenset(far for far in reached[n] if n in reached[far]) for n in inside}
        found = components(edges, inside, part, MARK)
        assert sorted(map(sorted, found)) == sorted(map(sorted, wanted)), f"seed {seed}"
