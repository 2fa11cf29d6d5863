"""Quantifiers and the expressions that build collections, unrolled over their domains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.operations import (
    Check,
    append,
    combine,
    insert,
    less,
    reaches,
    retyped,
    single,
)
from hacheck.compile.lowering.scope import Scope
from hacheck.compile.lowering.symbolic_values import (
    Items,
    Mask,
    Maybe,
    Parts,
    Scalar,
    Sym,
    blank,
    choose,
    constant,
    lowest,
)
from hacheck.model.ir import TRUE, Domain, Expression, Extreme, MakeCollection, MapOf, Quantified, SetOf
from hacheck.model.types import Bag, Option, Sequence, Set, Type, cardinality, values
from hacheck.model.typing import type_of

Evaluate: TypeAlias = Callable[[Expression, Scope], Sym]


def truth_of(value: Sym) -> Node:
    """A truth value's node."""
    assert isinstance(value, Scalar), f"{value} is no truth value"
    return value.node


def candidates(domain: Domain, scope: Scope, evaluate: Evaluate) -> Iterator[tuple[Node, Sym]]:
    """What a domain's `within` may give, in order: whether it does, and the value."""
    graph = scope.graph
    if domain.within is None:
        for value in values(domain.type):
            yield graph.one, constant(graph, domain.type, value)
        return
    within = evaluate(domain.within, scope)
    if isinstance(within, Items):
        for index, item in enumerate(within.items):
            yield scope.known(reaches(graph, index, within.length)), item
        return
    assert isinstance(within, Mask), f"elements of {within}"
    for bit in range(within.node.high.bit_length()):
        number = graph.const(bit)
        item = Maybe(number, within.base) if within.optional else Scalar(graph.plus(number, within.base))
        yield scope.known(graph.bit(within.node, number)), item


Binding: TypeAlias = tuple[Node, Sym, Scope]


def bind(variable: str, domain: Domain, scope: Scope, present: Node, item: Sym, evaluate: Evaluate) -> Binding | None:
    """One value of a domain: whether it is there and passes the filter, the value, and what its body sees."""
    inner = scope.where(present)
    if inner is None:
        return None
    inner = inner.bind(variable, domain.type, item)
    if domain.where is None:
        return present, item, inner
    passes = inner.known(truth_of(evaluate(domain.where, inner)))
    body = inner.where(passes)
    return None if body is None else (scope.graph.and_(present, passes), item, body)


def bindings(variable: str, domain: Domain, scope: Scope, evaluate: Evaluate) -> Iterator[Binding]:
    """Each value of a domain in order; a filter is evaluated when its turn comes."""
    for present, item in candidates(domain, scope, evaluate):
        bound = bind(variable, domain, scope, present, item, evaluate)
        if bound is not None:
            yield bound


def quantified(expression: Quantified, scope: Scope, evaluate: Evaluate) -> Sym:
    """How many values of the domain satisfy the body."""
    graph = scope.graph
    if expression.kind in ("some", "every", "none"):
        return Scalar(_some_or_every(expression, scope, evaluate))
    count = _count(expression, scope, evaluate)
    match expression.kind:
        case "at_most_one":
            return Scalar(graph.lt(count, graph.const(2)))
        case "exactly_one":
            return Scalar(graph.eq(count, graph.one))
        case "majority":
            half = cardinality(expression.domain.type) // 2
            return Scalar(graph.lt(graph.const(half), count))
        case _:
            return Scalar(count)


def _some_or_every(expression: Quantified, scope: Scope, evaluate: Evaluate) -> Node:
    """Stops at the first value that decides; `none` is the opposite of `some`."""
    graph = scope.graph
    wanted = expression.kind != "every"
    found: list[Node] = []
    going: Scope | None = scope
    for present, item in candidates(expression.domain, scope, evaluate):
        if going is None:
            break
        bound = bind(expression.variable, expression.domain, going, present, item, evaluate)
        if bound is None:
            continue
        here, _, inner = bound
        body = inner.known(truth_of(evaluate(expression.body, inner)))
        decides = graph.and_(here, body if wanted else graph.not_(body))
        found.append(decides)
        going = going.where(graph.not_(decides))
    some = graph.any_of(found)
    return some if expression.kind == "some" else graph.not_(some)


def _count(expression: Quantified, scope: Scope, evaluate: Evaluate) -> Node:
    graph, domain = scope.graph, expression.domain
    if expression.body == TRUE and domain.where is None and domain.within is not None:
        within = evaluate(domain.within, scope)
        if isinstance(within, Mask):
            return graph.popcount(within.node)
        assert isinstance(within, Items), f"elements of {within}"
        return within.length
    counted: list[Node] = []
    for present, _, inner in bindings(expression.variable, domain, scope, evaluate):
        body = inner.known(truth_of(evaluate(expression.body, inner)))
        counted.append(graph.and_(present, body))
    return graph.total(counted)


def set_of(expression: SetOf, scope: Scope, evaluate: Evaluate) -> Sym:
    """The set of the items."""
    graph, element = scope.graph, expression.element
    result = Mask(graph.zero, lowest(element), isinstance(element, Option))
    for present, _, inner in bindings(expression.variable, expression.domain, scope, evaluate):
        item = evaluate(expression.item, inner)
        result = combine(graph, "union", result, single(graph, element, item, present))
    return result


def map_of(expression: MapOf, scope: Scope, evaluate: Evaluate) -> Sym:
    """One item for each key."""
    source, items = type_of(expression.item), []
    for key in values(expression.key):
        inner = scope.bind(expression.variable, expression.key, constant(scope.graph, expression.key, key))
        items.append(retyped(scope.graph, source, expression.value, evaluate(expression.item, inner)))
    return Parts(tuple(items))


def extreme(expression: Extreme, scope: Scope, evaluate: Evaluate) -> Sym:
    """The first value of the domain than which none is better."""
    graph = scope.graph
    best: tuple[Node, Sym, Sym] | None = None  # whether there is one, the value, its rank
    rank_type = type_of(expression.by)
    for present, item, inner in bindings(expression.variable, expression.domain, scope, evaluate):
        rank = evaluate(expression.by, inner)
        if best is None:
            best = present, item, rank
            continue
        found, chosen, top = best
        wins = less(graph, top, rank) if expression.kind == "max" else less(graph, rank, top)
        better = graph.and_(present, graph.or_(graph.not_(found), wins))
        best = (
            graph.or_(found, present),
            choose(graph, expression.domain.type, better, item, chosen),
            choose(graph, rank_type, better, rank, top),
        )
    nothing = graph.zero if best is None else best[0]
    scope.demand(Check(graph.not_(nothing), "error", "there is nothing to choose from"))
    return blank(graph, expression.domain.type) if best is None else best[1]


def make_collection(expression: MakeCollection, scope: Scope, evaluate: Evaluate) -> Sym:
    """A set, sequence or bag from its elements, each evaluated in turn."""
    items = [(type_of(item), evaluate(item, scope)) for item in expression.items]
    return collect(scope.graph, expression.type, items)


def collect(graph: Graph, kind: Type, items: list[tuple[Type, Sym]]) -> Sym:
    """A collection from elements that are known one by one."""
    match kind:
        case Set(element):
            mask = Mask(graph.zero, lowest(element), isinstance(element, Option))
            for _, item in items:
                mask = combine(graph, "union", mask, single(graph, element, item, graph.one))
            return mask
        case Sequence(element, _) | Bag(element, _):
            series = Items(graph.zero, ())
            grow = insert if isinstance(kind, Bag) else append
            for source, item in items:
                series = grow(graph, element, series, retyped(graph, source, element, item))
            return series
        case _:
            raise AssertionError(f"{kind} is no collection")
