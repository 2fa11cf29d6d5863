"""Values that have passed their checks, kept in temporaries where their expressions would otherwise grow.

An expression knows an interval its value lies in. That of `1 - x * y` is wider than the range it was checked against,
and statement after statement intervals and expressions would grow without end; a temporary has the range's interval
and no parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from hacheck.compile.lowering.blocks import Block, SetTemp
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.scope import Context
from hacheck.compile.lowering.symbolic_values import Mask, Maybe, Scalar, Sym, leaves, part_types, rebuilt
from hacheck.model.types import (
    Bag,
    Bool,
    Enum,
    Identity,
    Map,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    cardinality,
    is_scalar,
)
from hacheck.model.types import Node as NodeType


def let_bound(context: Context, kind: Type, value: Sym) -> tuple[Block, Sym]:
    """What to do after the checks of a value in its type's normal shape, and the value from then on."""
    if isinstance(value, (Scalar, Maybe, Mask)) and _is_simple(value.node):  # a tuple: it is called often
        return (), value
    found = leaves(value)
    if all(_is_simple(node) for node in found):
        return (), value
    prefix: Block = ()
    nodes: list[Node] = []
    for node, interval in zip(found, _intervals(kind), strict=True):
        if interval is None or _is_simple(node) or (interval[0] <= node.low and node.high <= interval[1]):
            nodes.append(node)
            continue
        temp = next(context.temps)
        prefix += (SetTemp(temp, node),)
        nodes.append(context.graph.temp(temp, *interval))
    return prefix, rebuilt(value, iter(nodes)) if prefix else value


def _is_simple(node: Node) -> bool:
    """Whether the node is a number or a slot's content and a constant, which later steps of lowering make use of."""
    return not node.operands or (node.operator == "add" and not node.operands[0].operands and node.operands[1].is_const)


def _intervals(kind: Type) -> Iterator[tuple[int, int] | None]:
    """The interval of each leaf of a type's values, in the order of `leaves`; `None` where there is no need of one."""
    match kind:
        case Range(low, high):
            yield low, high
        case Bool() | Enum() | NodeType() | Identity():
            yield 0, cardinality(kind) - 1
        case Option(element) if is_scalar(element):
            yield 0, cardinality(element)
        case Option(element):
            yield None
            yield from _intervals(element)
        case Set():
            yield None
        case Map() | Record():
            for part in part_types(kind):
                yield from _intervals(part)
        case Sequence(element, capacity) | Bag(element, capacity):
            yield None
            for _ in range(capacity):
                yield from _intervals(element)
