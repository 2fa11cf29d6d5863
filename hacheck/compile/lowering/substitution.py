"""Replacing the leaves of an expression."""

from __future__ import annotations

from collections.abc import Callable

from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node, reachable


def replaced(graph: Graph, root: Node, leaf: Callable[[Node], Node]) -> Node:
    """The expression with each leaf (a node without operands) replaced, folded anew. Cost: the expression's size."""
    done: dict[Node, Node] = {}
    for node in reachable([root]):
        if not node.operands:
            done[node] = leaf(node)
            continue
        operands = tuple(done[operand] for operand in node.operands)
        done[node] = node if operands == node.operands else rebuilt(graph, node, operands)
    return done[root]


def rebuilt(graph: Graph, node: Node, operands: tuple[Node, ...]) -> Node:
    """The node with other operands."""
    first = operands[0]
    match node.operator:
        case "and":
            return graph.all_of(operands)
        case "or":
            return graph.any_of(operands)
        case "not":
            return graph.not_(first)
        case "select":
            return graph.select(*operands)
        case "pick":
            return graph.pick(first, operands[1:])
        case "natural":
            return graph.natural(first)
        case "popcount":
            return graph.popcount(first)
        case "lowest":
            return graph.lowest(first)
        case "const" | "slot" | "after" | "temp" | "part":
            raise AssertionError(f"{node.operator} has no operands")
        case _:
            binary = {
                "add": graph.add,
                "sub": graph.sub,
                "mul": graph.mul,
                "eq": graph.eq,
                "ne": graph.ne,
                "lt": graph.lt,
                "le": graph.le,
                "bitand": graph.bitand,
                "bitor": graph.bitor,
                "bitminus": graph.bitminus,
                "shl": graph.shl,
                "shr": graph.shr,
                "bit": graph.bit,
            }
            return binary[node.operator](first, operands[1])
