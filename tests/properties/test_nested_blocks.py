"""Blocks that are nested more deeply than Python allows levels of indentation are code all the same."""

from __future__ import annotations

import pytest

from hacheck.checker.explicit.portable.python_blocks import Outcomes, print_block
from hacheck.compile.lowering.blocks import Block, Branch, SetTemp, Stopped
from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.layout import Layout, Slot

DEPTH = 130
LEVELS_MAX = 100
"""More levels of indentation Python refuses."""


@pytest.mark.parametrize("deep_side", [0, 1])
def test_deep_block_ends_where_it_should(deep_side: int) -> None:
    graph = Graph()
    number = graph.slot(0, 255)
    block: Block = (Stopped("cut", "inmost"),)
    for depth in reversed(range(DEPTH)):
        here: Block = (Stopped("cut", str(depth)),)
        sides = (block, here) if deep_side == 0 else (here, block)
        holds = graph.lt(graph.const(depth), number)
        test = holds if deep_side == 0 else graph.not_(holds)
        block = (SetTemp(depth, graph.const(0)), Branch(test, *sides))
    outcomes = Outcomes(lambda emit: [], lambda stopped: [f"found.append({stopped.text!r})"])
    lines = print_block(block, Layout((Slot("number", 0, 8, 255),), ()), outcomes)
    assert max(len(line) - len(line.lstrip(" ")) for line in lines) < LEVELS_MAX
    code = compile("\n".join(lines), "blocks", "exec")
    for state in (0, 1, 77, DEPTH - 1, DEPTH):
        found: list[str] = []
        exec(code, {"s": state, "found": found})
        assert found == ["inmost" if state == DEPTH else str(state)]
