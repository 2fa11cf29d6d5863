"""Nodes are simplified while they are made, and say what the unsimplified ones would: each random tree is computed in
plain numbers beside it, for every content of its slots, and its bounds hold what comes out."""

from __future__ import annotations

import random
from typing import TypeAlias

import numpy as np
import pytest

from hacheck.checker.symbolic.reachable_states import evaluated
from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node
from tests.nightly import first_of

HIGHS = (1, 1, 2, 5, 7)
SIZES = tuple(high + 1 for high in HIGHS)
COLUMNS = dict(enumerate(np.indices(SIZES).reshape(len(SIZES), -1).astype(np.int64)))
"""What each slot holds, in every combination."""

Both: TypeAlias = tuple[Node, "np.ndarray[tuple[int], np.dtype[np.int64]]"]
"""A node, and what it is to be for each content of the slots."""


class Trees:
    """Random trees of one graph."""

    def __init__(self, seed: int) -> None:
        self.chance, self.graph = random.Random(seed), Graph()

    def number(self, depth: int) -> Both:
        """Of no less than zero."""
        if depth == 0 or self.chance.random() < 0.1:
            return self.leaf()
        graph, (one, first), (other, second) = self.graph, self.number(depth - 1), self.number(depth - 1)
        match self.chance.randrange(9):
            case 0:
                return graph.bitand(one, other), first & second
            case 1:
                return graph.bitor(one, other), first | second
            case 2:
                return graph.bitminus(one, other), first & ~second
            case 3 if one.high + other.high < 1 << 10:
                return graph.add(one, other), first + second
            case 4:
                return graph.natural(graph.sub(one, other)), np.maximum(first - second, 0)
            case 5:
                condition, holds = self.condition(depth - 1)
                return graph.select(condition, one, other), np.where(holds != 0, first, second)
            case 6 if one.high < 1 << 10:
                return graph.popcount(one), np.bitwise_count(first).astype(np.int64)
            case 7 if one.high * other.high < 1 << 10:
                return graph.mul(one, other), first * second
            case _:
                condition, holds = self.condition(depth - 1)
                return condition, holds

    def leaf(self) -> Both:
        """A slot, or a number."""
        if self.chance.random() < 0.3:
            number = self.chance.choice((0, 1, 1, 2, 3, 4, 6, 7, 8))
            return self.graph.const(number), np.full(len(COLUMNS[0]), number, np.int64)
        slot = self.chance.randrange(len(HIGHS))
        return self.graph.slot(slot, HIGHS[slot]), COLUMNS[slot]

    def condition(self, depth: int) -> Both:
        """One that holds or does not."""
        graph, chance = self.graph, self.chance
        if depth > 0 and chance.random() < 0.5:
            parts = [self.condition(depth - 1) for _ in range(chance.randint(1, 3))]
            nodes, values = [node for node, _ in parts], np.stack([value for _, value in parts])
            match chance.randrange(3):
                case 0:
                    return graph.and_(*nodes), values.min(axis=0)
                case 1:
                    return graph.or_(*nodes), values.max(axis=0)
                case _:
                    return graph.not_(nodes[0]), 1 - values[0]
        (one, first), (other, second) = self.number(depth - 1 if depth > 0 else 0), self.leaf()
        kind = chance.randrange(4)
        if kind == 0:
            return graph.eq(one, other), (first == second).astype(np.int64)
        if kind == 1:
            return graph.ne(one, other), (first != second).astype(np.int64)
        if kind == 2:
            return graph.lt(one, other), (first < second).astype(np.int64)
        return graph.le(one, other), (first <= second).astype(np.int64)


@pytest.mark.parametrize("first", first_of(range(0, 20_000, 1_000)))
def test_a_simplified_node_says_what_it_was_made_of(first: int) -> None:
    for seed in range(first, first + 1_000):
        node, wanted = Trees(seed).number(3)
        (found,) = evaluated((node,), COLUMNS)
        found = np.broadcast_to(found, wanted.shape)
        assert (found == wanted).all(), f"seed {seed}: {node}"
        assert node.low <= np.min(wanted), f"seed {seed}: {node}"
        assert node.high >= np.max(wanted), f"seed {seed}: {node}"


def test_a_slot_that_is_one_number_and_not_another_may_hold_the_number_of_a_slot() -> None:
    graph = Graph()
    for index, high in enumerate(HIGHS):
        slot = graph.slot(index, high)
        for number in range(high + 1):
            for other in range(high + 1):
                same, different = graph.eq(slot, graph.const(number)), graph.ne(slot, graph.const(other))
                parts = (graph.and_(same, different), graph.or_(graph.not_(same), graph.not_(different)))
                both, neither = evaluated(parts, COLUMNS)
                wanted = (COLUMNS[index] == number) & (COLUMNS[index] != other)
                assert (both == wanted).all(), f"slot {index} is {number} and not {other}"
                assert (neither == ~wanted).all(), f"slot {index} is not {number} or is {other}"


@pytest.mark.parametrize("more", range(-3, 4))
@pytest.mark.parametrize("other", range(-3, 4))
def test_what_differs_from_one_number_by_constants_is_compared_while_it_is_made(more: int, other: int) -> None:
    graph = Graph()
    number = graph.slot(0, 7)
    left, right = graph.plus(number, more), graph.plus(number, other)
    assert graph.eq(left, right) is graph.const(int(more == other))
    assert graph.lt(left, right) is graph.const(int(more < other))
    assert graph.le(left, right) is graph.const(int(more <= other))
    assert graph.sub(left, right) is graph.const(more - other)
