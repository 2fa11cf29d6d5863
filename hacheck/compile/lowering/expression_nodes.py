"""Scalar expressions of the lowered form: whole numbers, as nodes of a graph.

Equal expressions are the same object, so a later pass may compare nodes by identity and print a shared one once. A
node is pure and total: it depends on the state before the step (and, in step properties, the one after it) and on
temporaries, and evaluating it never fails. What may fail is a statement of its own in `blocks`.
Every node carries an interval that its value lies in; truth values are 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

Operator = Literal[
    "const",  # number
    "slot",  # slot `number` of the state before the step, as packed
    "after",  # slot `number` of the state after the step, as packed
    "temp",  # temporary `number`
    "part",  # slot `detail` as set by merge `number`
    "add",
    "sub",
    "mul",
    "natural",  # the number, or 0 when it is negative
    "eq",
    "ne",
    "lt",
    "le",
    "and",  # any number of truth values
    "or",
    "not",
    "select",  # condition, value if true, value if false
    "pick",  # index from 0, then the values to pick from
    "bitand",
    "bitor",
    "bitminus",  # the bits of the first that the second lacks
    "shl",
    "shr",
    "bit",  # whether bit (second) of (first) is set
    "popcount",
    "lowest",  # index of the lowest set bit, 0 when there is none
]


class Node(Struct, frozen=True, eq=False, gc=False):
    """One expression; `low` and `high` bound its value, `key` is its place in the order of creation.

    `is_const`: whether the value is known. `is_truth`: whether it is 0 or 1.
    """

    operator: Operator
    operands: tuple[Node, ...]
    number: int
    detail: int
    low: int
    high: int
    key: int
    is_const: bool
    is_truth: bool


def is_leaf(node: Node) -> bool:
    """Whether the node reads a slot."""
    return node.operator in ("slot", "after", "part")


def is_test(node: Node) -> bool:
    """Whether the node compares a slot with a constant: generated code makes one test of it, in the slot's place."""
    if node.operator in ("eq", "ne", "bit"):
        return is_leaf(node.operands[0]) and node.operands[1].is_const
    if node.operator in ("lt", "le"):
        return any(is_leaf(a) and b.is_const for a, b in (node.operands, node.operands[::-1]))
    if node.operator == "not":
        return is_leaf(node.operands[0]) or is_test(node.operands[0])
    return False


def reachable(roots: Iterable[Node]) -> Iterator[Node]:
    """Every node the roots are made of, operands before what uses them, each once."""
    done: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(root, False) for root in roots]
    while stack:
        node, opened = stack.pop()
        if node in done:
            continue
        if opened:
            done.add(node)
            yield node
            continue
        stack.append((node, True))
        stack.extend((operand, False) for operand in node.operands if operand not in done)
