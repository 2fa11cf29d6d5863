"""Which expressions of a block get a variable, and where it is set.

An expression that is written more than once is computed once, just before the first statement of the innermost block
that all its uses are in. One that is written once stays where it is used, so that nothing is computed in vain.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, assert_never

from hacheck.checker.explicit.portable.python_expressions import spelled_operands
from hacheck.compile.lowering.blocks import Block, Branch, Emit, Merge, SetTemp, Stopped, Update
from hacheck.compile.lowering.expression_nodes import Node, is_leaf, is_test, reachable

Position: TypeAlias = tuple[int, ...]
"""The way to a statement: its index in the block, then 0 or 1 for a branch and an index there, and so on."""

_NESTING_MAX = 24


def written_nodes(update: Update) -> tuple[Node, ...]:
    """The nodes that an update's text spells."""
    if update.value.is_const or update.added is not None or update.copied is not None:
        return ()
    if update.value.operator == "part":
        return ()
    joined = update.joined
    if joined is not None:
        return () if joined.is_const else (joined,)
    return (update.value,)


def _uses(block: Block, at: Position) -> Iterator[tuple[Position, Node]]:
    for index, statement in enumerate(block):
        here = (*at, index)
        match statement:
            case Branch(condition, then, otherwise):
                yield here, condition
                yield from _uses(then, (*here, 0))
                yield from _uses(otherwise, (*here, 1))
            case SetTemp(_, node):
                yield here, node
            case Emit(updates) | Merge(_, updates):
                for update in updates:
                    for node in written_nodes(update):
                        yield here, node
            case Stopped():
                pass
            case _:
                assert_never(statement)


def place(block: Block) -> dict[Position, list[Node]]:
    """The nodes to be given a variable just before each statement, operands first."""
    used: dict[Node, list[Position]] = {}
    for position, node in _uses(block, ()):
        used.setdefault(node, []).append(position)
    nesting: dict[Node, int] = {}
    placed: dict[Position, list[Node]] = {}
    for node in reachable(used):
        inner = max((nesting[operand] for operand in spelled_operands(node)), default=0)
        nesting[node] = 0 if inner >= _NESTING_MAX else inner + 1
    for node in sorted(nesting, key=lambda node: -node.key):
        positions = used.get(node, [])
        if not positions:
            continue
        position = _meeting(positions)
        one_bit = is_leaf(node) and node.is_truth
        costly = not (node.is_const or node.operator == "temp" or is_test(node) or one_bit)
        named = costly and (len(positions) > 1 or nesting[node] == 0)
        if named:
            placed.setdefault(position, []).append(node)
        for _ in range(1 if named or len(positions) == 1 else 2):
            for operand in spelled_operands(node):
                used.setdefault(operand, []).append(position)
    return {position: nodes[::-1] for position, nodes in placed.items()}


def _meeting(positions: list[Position]) -> Position:
    """The last position from which all of these can be reached."""
    first, last = min(positions), max(positions)
    shared = 0
    while shared < min(len(first), len(last)) and first[shared] == last[shared]:
        shared += 1
    if shared % 2 == 0 and shared < len(first):  # they part at an index: before the earlier statement of that block
        return first[: shared + 1]
    return first[:shared]
