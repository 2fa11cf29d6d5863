"""The LLVM integer type of each expression: 1, 64, or a larger multiple of 64 bits wide."""

from __future__ import annotations

from hacheck.compile.codegen.word_layout import WORD_BITS
from hacheck.compile.lowering.expression_nodes import Node

_LOW, _HIGH = -(1 << WORD_BITS - 1), (1 << WORD_BITS - 1) - 1


def width_of(node: Node) -> int:
    """The bits of the integer type that a node's value has: 1, 64, or a larger multiple of 64."""
    return width_of_interval(node.low, node.high)


def width_of_interval(low: int, high: int) -> int:
    """The bits of the integer type for the numbers of an interval."""
    if low >= 0 and high <= 1:
        return 1
    if low >= _LOW and high <= _HIGH:
        return WORD_BITS
    bits = 1 + max(high.bit_length(), (~low).bit_length() if low < 0 else 0)
    return WORD_BITS * -(-bits // WORD_BITS)


def literal(number: int, width: int) -> str:
    """A constant of a type."""
    return str(number) if width > 1 else "true" if number & 1 else "false"
