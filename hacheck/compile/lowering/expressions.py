"""Expressions of the model as symbolic values, with the checks that evaluating them implies.

Whatever the interpreter would evaluate is evaluated here in the same order, and each place where it could fail leaves
a `Check` whose condition says when control gets there and it does fail. The nodes themselves never fail, so a check
has only to be tested before the value is used.
"""

from __future__ import annotations

from typing import assert_never

from hacheck.compile.lowering.access_paths import Cursor, at, enter, field_of, finish, part, pick, position
from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.fresh_identities import fresh
from hacheck.compile.lowering.layout import Group
from hacheck.compile.lowering.operations import (
    Check,
    append,
    combine,
    contains,
    equal,
    insert,
    less,
    remove_at,
    retyped,
    single,
    size_of,
    without,
)
from hacheck.compile.lowering.path_conditions import simplify
from hacheck.compile.lowering.quantifiers import extreme, make_collection, map_of, quantified, set_of, truth_of
from hacheck.compile.lowering.scope import Scope
from hacheck.compile.lowering.symbolic_values import (
    Items,
    Mask,
    Maybe,
    Parts,
    Perhaps,
    Scalar,
    Sym,
    blank,
    choose,
    constant,
    element_type,
    lowest,
    part_types,
)
from hacheck.model.ir import (
    Binary,
    Conditional,
    Constant,
    Expression,
    Extreme,
    Fresh,
    Index,
    Local,
    MakeCollection,
    MakeRecord,
    MapOf,
    Member,
    Old,
    Quantified,
    SetOf,
    Unary,
    Variable,
)
from hacheck.model.types import Map, Sequence, Set, Type, cardinality
from hacheck.model.typing import type_of


def truth(expression: Expression, scope: Scope) -> Node:
    """A condition, a constant where what is known decides it."""
    if isinstance(expression, Binary) and expression.operator in ("and", "or", "implies"):
        return _short_circuit(expression, scope)  # of parts that are known as well as they can be
    return scope.known(truth_of(evaluate(expression, scope)))


def evaluate(expression: Expression, scope: Scope) -> Sym:
    """The value of an expression; its checks go to the scope."""
    match expression:  # the most frequent first
        case Local():
            return _known(scope, scope.locals[expression.name][1])
        case Constant():
            return _constant(expression, scope)
        case Index() | Variable() | Member():
            return finish(scope, *_cursor(expression, scope))
        case Binary():
            return _binary(expression, scope)
        case Unary():
            return _unary(expression, scope)
        case Old(operand):
            return evaluate(operand, scope.before())
        case Conditional():
            return _conditional(expression, scope)
        case Quantified():
            return quantified(expression, scope, evaluate)
        case SetOf():
            return set_of(expression, scope, evaluate)
        case MapOf():
            return map_of(expression, scope, evaluate)
        case Extreme():
            return extreme(expression, scope, evaluate)
        case MakeRecord(kind, items):
            pairs = zip(part_types(kind), items, strict=True)
            return Parts(tuple(evaluate_as(part, item, scope) for part, item in pairs))
        case MakeCollection():
            return make_collection(expression, scope, evaluate)
        case Fresh():
            return fresh(expression, scope)
        case _:
            assert_never(expression)


def _constant(expression: Constant, scope: Scope) -> Sym:
    known = scope.context.constants
    found = known.get(id(expression))
    if found is None:
        found = known[id(expression)] = constant(scope.graph, expression.type, expression.value)
    return found


def evaluate_as(kind: Type, expression: Expression, scope: Scope) -> Sym:
    """The value with the blanks of a type that may be wider or narrower than the expression's own."""
    return with_blanks(scope.graph, kind, expression, evaluate(expression, scope))


def with_blanks(graph: Graph, kind: Type, expression: Expression, value: Sym) -> Sym:
    """An expression's value with the blanks of a type; one that is no composite has none."""
    if isinstance(value, (Scalar, Maybe, Mask)):  # a tuple: unions are too slow for what is done this often
        return value
    return retyped(graph, type_of(expression), kind, value)


def _known(scope: Scope, value: Sym) -> Sym:
    """A local scalar, a constant where the facts fix it."""
    if not isinstance(value, (Scalar, Maybe)):  # a tuple, as above
        return value
    node = value.node
    if node.is_const:
        return value
    known = simplify(scope.graph, scope.facts, node)
    if known is node:
        return value
    return Scalar(known) if isinstance(value, Scalar) else Maybe(known, value.base)


def _cursor(expression: Expression, scope: Scope) -> tuple[Type, Cursor]:
    """Where keys and field names lead, not yet read, and the type there."""
    match expression:
        case Variable(name, kind):
            return kind, scope.context.places[name]
        case Index(base, key):
            if isinstance(base, Variable) and isinstance(key, Local):
                value = _known(scope, scope.locals[key.name][1])
                if isinstance(value, Scalar) and value.node.is_const:
                    there = _part_of_variable(expression, base, value, scope)
                    if there is not None:
                        return there
            kind, cursor = _cursor(base, scope)
            value = evaluate(key, scope)
            known = part(kind, cursor, value)
            if known is not None:
                return known
            index = position(scope, kind, cursor, value)
            assert isinstance(kind, Map | Sequence), f"index into {kind}"
            return kind.value if isinstance(kind, Map) else kind.element, at(scope, kind, cursor, index)
        case Member(base, name):
            kind, cursor = _cursor(base, scope)
            place, inner = field_of(kind, name)
            return inner, enter(cursor, place)
        case _:
            return type_of(expression), evaluate(expression, scope)


def _part_of_variable(expression: Index, base: Variable, key: Scalar, scope: Scope) -> tuple[Type, Cursor] | None:
    """What a known key leads to, if it leads anywhere: found once for each key."""
    context = scope.context
    part = id(expression), key.node.number
    if part not in context.parts:
        whole, index = context.places[base.name], key.node.number
        context.parts[part] = None
        if isinstance(base.type, Map) and isinstance(whole, Group):
            index -= lowest(base.type.key)
            if 0 <= index < len(whole.items):
                context.parts[part] = base.type.value, whole.items[index]
    return context.parts[part]


def _conditional(expression: Conditional, scope: Scope) -> Sym:
    condition = truth(expression.condition, scope)
    kind = type_of(expression)
    first, second = scope.where(condition), scope.where(scope.graph.not_(condition))
    if first is None:
        assert second is not None, "one side of a condition is possible"
        return evaluate_as(kind, expression.otherwise, second)
    then = evaluate_as(kind, expression.then, first)
    if second is None:
        return then
    return choose(scope.graph, kind, condition, then, evaluate_as(kind, expression.otherwise, second))


def _unary(expression: Unary, scope: Scope) -> Sym:
    graph = scope.graph
    operand = evaluate(expression.operand, scope)
    match expression.operator:
        case "not":
            return Scalar(graph.not_(truth_of(operand)))
        case "negate":
            return Scalar(graph.sub(graph.zero, truth_of(operand)))
        case "some":
            return _some(scope, operand)
        case "value":
            return _value(scope, operand)
        case "size":
            return Scalar(size_of(graph, operand))
        case "first" | "last" | "rest":
            return _end(scope, expression.operator, type_of(expression.operand), operand)
        case "majority":
            kind = type_of(expression.operand)
            assert isinstance(kind, Set), f"majority of {kind}"
            half = graph.const(cardinality(kind.element) // 2)
            return Scalar(graph.lt(half, size_of(graph, operand)))
        case _:
            assert_never(expression.operator)


def _some(scope: Scope, operand: Sym) -> Sym:
    if not isinstance(operand, Scalar):
        return Perhaps(scope.graph.one, operand)
    base = operand.node.low
    return Maybe(scope.graph.plus(operand.node, 1 - base), base)


def _value(scope: Scope, operand: Sym) -> Sym:
    graph = scope.graph
    if isinstance(operand, Perhaps):
        scope.demand(Check(graph.not_(operand.flag), "error", "none where a value is needed"))
        return operand.inner
    assert isinstance(operand, Maybe), f"value of {operand}"
    scope.demand(Check(graph.eq(operand.node, graph.zero), "error", "none where a value is needed"))
    return Scalar(graph.plus(operand.node, operand.base - 1))


def _end(scope: Scope, operator: str, kind: Type, operand: Sym) -> Sym:
    """The first or last element of a sequence, or the rest of it."""
    graph = scope.graph
    assert isinstance(kind, Sequence), f"{operator} of {kind}"
    assert isinstance(operand, Items), f"{operator} of {operand}"
    scope.demand(Check(graph.eq(operand.length, graph.zero), "error", "the sequence is empty"))
    if not operand.items:
        return Items(graph.zero, ()) if operator == "rest" else blank(graph, kind.element)
    if operator == "first":
        return operand.items[0]
    if operator == "last":
        return pick(graph, kind.element, graph.natural(graph.plus(operand.length, -1)), operand.items)
    return remove_at(graph, kind.element, operand, [graph.one] * len(operand.items), graph.one)


def _binary(expression: Binary, scope: Scope) -> Sym:
    graph = scope.graph
    if expression.operator in ("and", "or", "implies"):
        return Scalar(_short_circuit(expression, scope))
    left, right = evaluate(expression.left, scope), evaluate(expression.right, scope)
    match expression.operator:
        case "==":
            return Scalar(equal(graph, left, right))
        case "!=":
            return Scalar(graph.not_(equal(graph, left, right)))
        case "<":
            return Scalar(less(graph, left, right))
        case "<=":
            return Scalar(graph.not_(less(graph, right, left)))
        case "+":
            return Scalar(graph.add(truth_of(left), truth_of(right)))
        case "-":
            return Scalar(graph.sub(truth_of(left), truth_of(right)))
        case "*":
            return Scalar(graph.mul(truth_of(left), truth_of(right)))
        case "in":
            return Scalar(contains(graph, right, left))
        case "subset":
            assert isinstance(left, Mask), f"{left} is no set"
            assert isinstance(right, Mask), f"{right} is no set"
            return Scalar(graph.eq(combine(graph, "minus", left, right).node, graph.zero))
        case "union" | "intersect" | "minus":
            assert isinstance(left, Mask), f"{left} is no set"
            assert isinstance(right, Mask), f"{right} is no set"
            return combine(graph, expression.operator, left, right)
        case _:
            return _with_or_without(expression, scope, left, right)


def _with_or_without(expression: Binary, scope: Scope, left: Sym, right: Sym) -> Sym:
    graph = scope.graph
    element = element_type(type_of(expression.left))
    if isinstance(left, Mask):
        operator = "union" if expression.operator == "with" else "minus"
        return combine(graph, operator, left, single(graph, element, right, graph.one))  # type: ignore[arg-type]
    assert isinstance(left, Items), f"{left} is no collection"
    if expression.operator == "without":
        return without(graph, element, left, right)
    item = retyped(graph, type_of(expression.right), element, right)
    return (append if expression.operator == "append" else insert)(graph, element, left, item)


def _short_circuit(expression: Binary, scope: Scope) -> Node:
    """A part is evaluated only where those before it leave the result open."""
    graph = scope.graph
    if expression.operator == "implies":
        first = graph.not_(truth(expression.left, scope))
        return _junction([first], [expression.right], "or", scope)
    parts: list[Expression] = []
    left: Expression = expression
    while isinstance(left, Binary) and left.operator == expression.operator:
        parts.append(left.right)
        left = left.left
    return _junction([truth(left, scope)], list(reversed(parts)), expression.operator, scope)


def _junction(found: list[Node], rest: list[Expression], operator: str, scope: Scope) -> Node:
    graph, conjunction = scope.graph, operator == "and"
    for expression in rest:
        going = scope.where(found[-1] if conjunction else graph.not_(found[-1]))
        if going is None:
            return graph.zero if conjunction else graph.one
        scope = going
        found.append(truth(expression, scope))
    return graph.all_of(found) if conjunction else graph.any_of(found)
