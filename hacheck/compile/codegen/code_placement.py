"""Where in a block a costly expression is best computed, so that it is written once.

One that several statements need is computed just before the first statement that has all of them in it or behind it.
Others are computed where they are needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import TypeAlias

from msgspec import Struct

from hacheck.compile.codegen.module import Module
from hacheck.compile.lowering.blocks import Block, Branch, Emit, Merge, SetTemp
from hacheck.compile.lowering.expression_nodes import Node

_COSTLY = 6  # instructions from which on an expression is not written twice

Placed: TypeAlias = dict[tuple[int, int], list[Node]]
"""By the identity of a block and the index of a statement in it: what to compute before that, operands first."""


class _Position(Struct, frozen=True, eq=False):
    """A statement: its block, its index there, and the branch that the block is a side of."""

    block: Block
    index: int
    depth: int
    outer: _Position | None


def placed(module: Module, block: Block) -> Placed:
    """What is to be computed where. Cost: proportional to the block and to the costly expressions in it."""
    needed: dict[Node, _Position] = {}
    shared: set[Node] = set()
    waiting: list[tuple[int, Node]] = []

    def need(node: Node, position: _Position) -> None:
        if module.cost(node) < _COSTLY:
            return
        before = needed.get(node)
        if before is None:
            needed[node] = position
            heappush(waiting, (-node.key, node))
        elif before is not position:
            needed[node] = _meeting(before, position)
            shared.add(node)

    stands: Counter[int] = Counter()
    for node, position in _uses(block, stands):
        need(node, position)
    result: Placed = {}
    while waiting:
        _, node = heappop(waiting)
        position = needed[node]
        if node in shared:
            result.setdefault((id(position.block), position.index), []).append(node)
        for operand in node.operands:
            need(operand, position)
    return {key: nodes[::-1] for key, nodes in result.items() if stands[key[0]] == 1}


def _uses(whole: Block, stands: Counter[int]) -> Iterator[tuple[Node, _Position]]:
    """The expressions that statements need. Counts in `stands` how often each block stands somewhere, by its identity:
    one that does more than once has no place of its own."""
    waiting: list[tuple[Block, _Position | None, int]] = [(whole, None, 0)]
    while waiting:
        block, outer, depth = waiting.pop()
        stands[id(block)] += 1
        for index, statement in enumerate(block):
            here = _Position(block, index, depth, outer)
            match statement:
                case Branch(condition, then, otherwise):
                    yield condition, here
                    waiting += ((then, here, depth + 1), (otherwise, here, depth + 1))
                case SetTemp(_, node):
                    yield node, here
                case Emit(updates) | Merge(_, updates):
                    for update in updates:
                        yield update.value, here
                case _:
                    pass


def _meeting(one: _Position, other: _Position) -> _Position:
    """The last statement before which what two need can be computed."""
    while one.block is not other.block:
        if one.depth >= other.depth:
            assert one.outer is not None, "all blocks are in one"
            one = one.outer
        else:
            assert other.outer is not None, "all blocks are in one"
            other = other.outer
    return one if one.index <= other.index else other
