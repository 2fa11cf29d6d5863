"""What is known on a path where conditions hold is so: beside plain numbers, for every content of the slots."""

from __future__ import annotations

import numpy as np
import pytest

from hacheck.checker.symbolic.reachable_states import evaluated
from hacheck.compile.lowering.path_conditions import Facts, assume, simplify
from tests.nightly import first_of
from tests.properties.test_graph import COLUMNS, Trees


@pytest.mark.parametrize("first", first_of(range(0, 4_000, 400)))
def test_facts_hold_where_the_conditions_do(first: int) -> None:
    for seed in range(first, first + 400):
        trees = Trees(seed)
        facts: Facts = {}
        path = np.ones(len(COLUMNS[0]), bool)
        for _ in range(3):
            condition, holds = trees.condition(3)
            (simplified,) = evaluated((simplify(trees.graph, facts, condition),), COLUMNS)
            assert (np.broadcast_to(simplified, path.shape) == holds)[path].all(), f"seed {seed}: {condition}"
            path &= holds != 0
            found = assume(trees.graph, facts, condition)
            if found is None:
                assert not path.any(), f"seed {seed}: {condition} can hold"
                break
            facts = found
            for node, (low, high) in facts.items():
                (values,) = evaluated((node,), COLUMNS)
                inside = np.broadcast_to((low <= values) & (values <= high), path.shape)
                assert inside[path].all(), f"seed {seed}: {node} is not in {low}..{high}"
