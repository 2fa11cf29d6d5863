"""Fresh identities: the least one that nothing holds."""

from __future__ import annotations

from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.operations import Check, reaches
from hacheck.compile.lowering.scope import Scope
from hacheck.compile.lowering.symbolic_values import (
    Items,
    Mask,
    Maybe,
    Parts,
    Perhaps,
    Scalar,
    Sym,
    element_type,
    part_types,
    read,
)
from hacheck.model.ir import Fresh
from hacheck.model.types import Bag, Bool, Enum, Identity, Map, Option, Range, Record, Sequence, Set, Type
from hacheck.model.types import Node as NodeType


def fresh(expression: Fresh, scope: Scope) -> Sym:
    """The identity drawn; the step reaches a bound where none is left. It is remembered for the rest of the
    statement."""
    graph, kind = scope.graph, expression.type
    held = graph.zero
    for place in scope.context.places.values():
        if may_hold(kind, place.type):
            held = graph.bitor(held, _held(graph, kind, place.type, read(graph, place, scope.slot)))
    for holder, value in scope.locals.values():
        if may_hold(kind, holder):
            held = graph.bitor(held, _held(graph, kind, holder, value))
    for name, identity, drawn in scope.drawn:
        if name == kind.name:
            held = graph.bitor(held, graph.select(drawn, graph.shl(graph.one, identity), graph.zero))
    pool = graph.const((1 << kind.size) - 1)
    scope.demand(Check(graph.eq(held, pool), "bound", kind.name))
    result = graph.lowest(graph.bitminus(pool, held))
    scope.drawn.append((kind.name, result, scope.reached))
    return Scalar(result)


def may_hold(kind: Identity, holder: Type) -> bool:
    """Whether a value of a type can hold identities of a pool; the keys of a map are not held."""
    match holder:
        case Identity(name, _):
            return name == kind.name
        case Option(element) | Set(element) | Map(_, element) | Sequence(element, _) | Bag(element, _):
            return may_hold(kind, element)
        case Record(_, fields):
            return any(may_hold(kind, part) for _, part in fields)
        case Bool() | Range() | Enum() | NodeType():
            return False


def _held(graph: Graph, kind: Identity, holder: Type, value: Sym) -> Node:
    """A mask of the identities that a value holds."""
    if not may_hold(kind, holder):
        return graph.zero
    match value:
        case Scalar(node):
            return graph.shl(graph.one, node)
        case Maybe(node, _):
            return graph.shr(graph.shl(graph.one, node), graph.one)
        case Mask(node, _, optional):
            return graph.shr(node, graph.one) if optional else node
        case Perhaps(flag, inner):
            assert isinstance(holder, Option), f"an option as {holder}"
            return graph.select(flag, _held(graph, kind, holder.element, inner), graph.zero)
        case Parts(items):
            held = graph.zero
            for part, item in zip(part_types(holder), items, strict=True):
                held = graph.bitor(held, _held(graph, kind, part, item))
            return held
        case Items(length, items):
            held, element = graph.zero, element_type(holder)
            for index, item in enumerate(items):
                inside = _held(graph, kind, element, item)
                held = graph.bitor(held, graph.select(reaches(graph, index, length), inside, graph.zero))
            return held
