"""What is known on a path: the conditions passed so far, and the intervals they leave to the numbers in them.

Knowing that a guard tested `term < T` removes the check that `term + 1` stays in range; knowing that a slot equals a
constant turns an update of it into an addition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node

Interval: TypeAlias = tuple[int, int]
Facts: TypeAlias = Mapping[Node, Interval]

_DEPTH_MAX = 6


def bounds(facts: Facts, node: Node, depth: int = _DEPTH_MAX) -> Interval:
    """The interval a node lies in where the facts hold."""
    low, high = node.low, node.high
    if node.is_const:
        return low, high
    known = facts.get(node)
    if known is not None:
        low, high = max(low, known[0]), min(high, known[1])
    if low == high or depth == 0 or not node.operands:
        return low, high
    derived = _derived(facts, node, depth - 1)
    return (max(low, derived[0]), min(high, derived[1])) if derived else (low, high)


def _derived(facts: Facts, node: Node, depth: int) -> Interval | None:
    match node.operator:
        case "and" | "or" | "not" | "eq" | "ne" | "lt" | "le":
            truth = _decided(facts, node, depth)
            return None if truth is None else (int(truth), int(truth))
        case "add":
            a, b = (bounds(facts, operand, depth) for operand in node.operands)
            return a[0] + b[0], a[1] + b[1]
        case "sub":
            a, b = (bounds(facts, operand, depth) for operand in node.operands)
            return a[0] - b[1], a[1] - b[0]
        case "select":
            truth = _decided(facts, node.operands[0], depth)
            if truth is not None:
                return bounds(facts, node.operands[1 if truth else 2], depth)
            a, b = (bounds(facts, operand, depth) for operand in node.operands[1:])
            return min(a[0], b[0]), max(a[1], b[1])
        case _:
            return None


def _decided(facts: Facts, node: Node, depth: int) -> bool | None:
    """Whether a truth value is known."""
    if node.is_const:
        return node.number != 0
    known = facts.get(node)
    if known is not None and known[0] == known[1]:
        return known[0] != 0
    if depth == 0:
        return None
    match node.operator:
        case "and" | "or":
            decisive = node.operator == "or"
            every: bool | None = not decisive
            for part in node.operands:
                truth = _decided(facts, part, depth - 1)
                if truth is decisive:
                    return decisive
                if truth is None:
                    every = None
            return every
        case "not":
            inner = _decided(facts, node.operands[0], depth - 1)
            return None if inner is None else not inner
        case "eq" | "ne" | "lt" | "le":
            left, right = node.operands
            return _compared(node.operator, bounds(facts, left, depth - 1), bounds(facts, right, depth - 1))
        case _:
            return None


def _compared(operator: str, left: Interval, right: Interval) -> bool | None:
    if operator in ("eq", "ne"):
        if left[1] < right[0] or right[1] < left[0]:
            return operator == "ne"
        if left[0] == left[1] == right[0] == right[1]:
            return operator == "eq"
        return None
    if operator == "lt":
        return True if left[1] < right[0] else False if left[0] >= right[1] else None
    return True if left[1] <= right[0] else False if left[0] > right[1] else None


def simplify(graph: Graph, facts: Facts, node: Node, depth: int = _DEPTH_MAX) -> Node:
    """A node equal to this one wherever the facts hold, a constant if they fix it."""
    if node.is_const or not facts:
        return node
    known = facts.get(node)
    if known is not None and known[0] == known[1]:
        return graph.const(known[0])
    operands = node.operands
    if not operands:
        return node
    match node.operator:
        case "eq" | "ne" | "lt" | "le":
            left, right = operands
            truth = _compared(node.operator, bounds(facts, left), bounds(facts, right))
            return node if truth is None else graph.const(int(truth))
        case "and" | "or" if depth > 0:
            parts = [simplify(graph, facts, part, depth - 1) for part in operands]
            if all(part is operand for part, operand in zip(parts, operands, strict=True)):
                return node
            return graph.all_of(parts) if node.operator == "and" else graph.any_of(parts)
        case "not" if depth > 0:
            return graph.not_(simplify(graph, facts, operands[0], depth - 1))
        case "add" | "sub" | "select":
            low, high = bounds(facts, node)
            if low == high:
                return graph.const(low)
            if node.operator == "select" and depth > 0:
                condition = simplify(graph, facts, operands[0], depth - 1)
                return node if condition is operands[0] else graph.select(condition, operands[1], operands[2])
            return node
        case _:
            return node


def assume(graph: Graph, facts: Facts, condition: Node) -> Facts | None:
    """The facts where the condition holds too; `None` when it cannot."""
    result = dict(facts)
    return result if _assume(graph, result, condition) else None


def _assume(graph: Graph, facts: dict[Node, Interval], condition: Node) -> bool:
    if _decided(facts, condition, _DEPTH_MAX) is False:
        return False
    facts[condition] = (1, 1)
    opposite = graph.not_(condition)
    if not opposite.is_const:
        facts[opposite] = (0, 0)
    operands = condition.operands
    match condition.operator:
        case "and":
            return all(_assume(graph, facts, part) for part in operands)
        case "or":
            return _assume_one(graph, facts, operands)
        case "not":
            if operands[0].operator == "or":
                return all(_assume(graph, facts, graph.not_(part)) for part in operands[0].operands)
            if operands[0].operator == "and":
                return _assume_one(graph, facts, tuple(graph.not_(part) for part in operands[0].operands))
        case "eq":
            a, b = (bounds(facts, operand) for operand in operands)
            both = max(a[0], b[0]), min(a[1], b[1])
            return all(_narrow(facts, operand, *both) for operand in operands)
        case "ne":
            if operands[1].is_const:
                low, high = bounds(facts, operands[0])
                number = operands[1].number
                return _narrow(facts, operands[0], low + (low == number), high - (high == number))
        case "lt" | "le":
            step = int(condition.operator == "lt")
            a, b = (bounds(facts, operand) for operand in operands)
            return _narrow(facts, operands[0], a[0], min(a[1], b[1] - step)) and _narrow(
                facts, operands[1], max(b[0], a[0] + step), b[1]
            )
        case _:
            pass
    return True


def _assume_one(graph: Graph, facts: dict[Node, Interval], parts: tuple[Node, ...]) -> bool:
    """One of the parts holds: if all others cannot, this one does."""
    open_parts = [part for part in parts if _decided(facts, part, _DEPTH_MAX) is not False]
    if len(open_parts) == 1:
        return _assume(graph, facts, open_parts[0])
    return bool(open_parts)


def _narrow(facts: dict[Node, Interval], node: Node, low: int, high: int) -> bool:
    """Notes that a node lies in an interval; whether that is possible."""
    if low > high:
        return False
    if not node.is_const:
        facts[node] = (low, high)
        if node.operator == "add" and node.operands[1].is_const:
            shift = node.operands[1].number
            inner = bounds(facts, node.operands[0])
            return _narrow(facts, node.operands[0], max(inner[0], low - shift), min(inner[1], high - shift))
    return True
