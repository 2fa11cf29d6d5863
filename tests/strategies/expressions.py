"""Random well-typed expressions.

An expression made for a type has that type but for its ranges and capacities. In a model that is not `risky`
it has a value in every state, and one made to be stored fits (a counter may be passed and a capacity
exceeded: those are cuts). In a risky one, now and then neither holds.
"""

from __future__ import annotations

from collections.abc import Callable

import tests.strategies.amounts as amounts
import tests.strategies.conditions as conditions
import tests.strategies.containers as containers
from hacheck.model.ir import (
    Conditional,
    Constant,
    Domain,
    Expression,
    Extreme,
    Index,
    Local,
    MakeCollection,
    MakeRecord,
    MapOf,
    Member,
    Old,
    Quantified,
    Unary,
)
from hacheck.model.types import (
    Bag,
    Bool,
    Enum,
    Identity,
    Map,
    Node,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    default,
    is_scalar,
)
from hacheck.model.typing import type_of
from tests.strategies.choosing import chance, optional, pick, weighted
from tests.strategies.context import Context, number, operation
from tests.strategies.kinds import random_scalar, random_value


def expression(context: Context, kind: Type, depth: int) -> Expression:
    """An expression of a type."""
    chooser = context.chooser
    if isinstance(kind, Range):
        return amounts.fitted(context, kind, depth)
    simple: list[tuple[int, Callable[[], Expression]]] = [
        (3, lambda: Constant(random_value(chooser, kind), kind)),
        (6, lambda: read(context, kind, depth)),
    ]
    if depth <= 0:
        return weighted(chooser, simple)()
    complex_forms = [
        *simple,
        (1, lambda: conditional(context, kind, depth)),
        (9, lambda: operated(context, kind, depth - 1)),
    ]
    return weighted(chooser, complex_forms)()


def conditional(context: Context, kind: Type, depth: int) -> Expression:
    return Conditional(
        conditions.boolean(context, depth - 1),
        expression(context, kind, depth - 1),
        expression(context, kind, depth - 1),
    )


def operated(context: Context, kind: Type, depth: int) -> Expression:
    """An expression with an operation at its top, if the type has any."""
    match kind:
        case Bool():
            return conditions.boolean(context, depth)
        case Range():
            return amounts.fitted(context, kind, depth)
        case Enum() | Node() | Identity():
            return extreme(context, kind, depth)
        case Option(element):
            return Unary("some", expression(context, element, depth))
        case Set():
            return containers.set_of(context, kind, depth)
        case Map(key, value):
            local = Local(context.names.fresh("key"), key)
            return MapOf(local.name, key, expression(context.bind(local), value, depth), value)
        case Record(_, fields):
            if chance(context.chooser, 20):
                return extreme(context, kind, depth)
            return MakeRecord(kind, tuple(expression(context, part, depth) for _, part in fields))
        case Sequence() | Bag():
            return containers.list_of(context, kind, depth)


def read(context: Context, kind: Type, depth: int) -> Expression:
    """A local, a variable or a part of one; a constant where nothing of the type is at hand."""
    roots: list[Expression] = [*context.variables, *context.locals]
    chooser = context.chooser
    for _ in range(5 if roots else 0):
        found = _walk(context, pick(chooser, roots), kind, depth)
        if found is not None:
            return Old(found) if context.old and chance(chooser, 40) else found
    return Constant(random_value(chooser, kind), kind)


def _walk(context: Context, base: Expression, kind: Type, depth: int) -> Expression | None:
    """A part of `base` that has the type, or nothing."""
    here = type_of(base)
    if here == kind:
        return base
    match here:
        case Map(key, _):
            return _walk(context, Index(base, scalar(context, key, depth - 1)), kind, depth)
        case Record(_, fields):
            return _walk(context, Member(base, pick(context.chooser, fields)[0]), kind, depth)
        case Option(element) if element == kind:
            return ensured(context, operation("!=", base, Constant(None, here)), Unary("value", base), default(kind))
        case Sequence(element, _) if element == kind:
            return an_element(context, base, kind)
        case _:
            return None


def an_element(context: Context, base: Expression, kind: Type) -> Expression:
    """One element of a sequence."""
    which = context.chooser.integer(0, 2)
    if which < 2:
        asked: Expression = Unary("first" if which == 0 else "last", base)
        return ensured(context, operation("<", number(0), Unary("size", base)), asked, default(kind))
    position = context.chooser.integer(1, 2)
    there = operation("<=", number(position), Unary("size", base))
    return ensured(context, there, Index(base, number(position)), default(kind))


def ensured(context: Context, condition: Expression, asked: Expression, otherwise: object) -> Expression:
    """What is asked, with another value where there is none, unless the model is risky."""
    if context.dares():
        return asked
    return Conditional(condition, asked, Constant(otherwise, type_of(asked)))


def scalar(context: Context, kind: Type, depth: int) -> Expression:
    """A value of exactly this type, as a map's key has to be; locals first."""
    local = [local for local in context.locals if local.type == kind]
    if local and chance(context.chooser, 88):
        return pick(context.chooser, local)
    if isinstance(kind, Range) and context.dares(20):
        return amounts.whole_number(context, depth)
    if depth > 0 and chance(context.chooser, 30):
        return expression(context, kind, depth - 1)
    return Constant(random_value(context.chooser, kind), kind)


def domain(context: Context, depth: int, kind: Type | None = None, filtered: int = 40) -> tuple[Local, Domain]:
    """A bound variable and what it ranges over: a small type, or the elements of some collection."""
    chooser = context.chooser
    within: Expression | None = None
    collections: list[Expression] = [
        part for root in (*context.variables, *context.locals) for part in collections_in(context, root)
    ]
    if kind is not None:
        collections = [part for part in collections if element_type(part) == kind]
    if collections and (chance(chooser, 45) or (kind is not None and not is_scalar(kind))):
        within = pick(chooser, collections)
        kind = element_type(within)
    elif kind is None:
        kind = weighted(
            chooser,
            [(5, pick(chooser, context.vocabulary.nodes)), (3, random_scalar(chooser, context.vocabulary))],
        )
    local = Local(context.names.fresh("x"), kind)
    where = optional(chooser, filtered, lambda: conditions.boolean(context.bind(local), depth - 1))
    return local, Domain(kind, within, where)


def collections_in(context: Context, root: Expression) -> list[Expression]:
    """The variable or local itself, or one part of it, if that is a collection."""
    kind = type_of(root)
    if isinstance(kind, Map):
        root = Index(root, scalar(context, kind.key, 0))
        kind = kind.value
    return [root] if isinstance(kind, Set | Sequence | Bag) else []


def element_type(collection: Expression) -> Type:
    kind = type_of(collection)
    assert isinstance(kind, Set | Sequence | Bag)
    return kind.element


def extreme(context: Context, kind: Type, depth: int) -> Expression:
    """The greatest or least of a domain, with another value where it may be empty."""
    if not is_scalar(kind) and not any(collections_in(context, root) for root in context.variables):
        return Constant(random_value(context.chooser, kind), kind)
    local, values = domain(context, depth, kind, filtered=30)
    if not is_scalar(kind) and values.within is None:
        return Constant(random_value(context.chooser, kind), kind)
    by = amounts.whole_number(context.bind(local), depth)
    ordered = isinstance(kind, Enum | Range) or (isinstance(kind, Node) and kind.ranked)
    if ordered and chance(context.chooser, 40):
        by = local
    best = Extreme(pick(context.chooser, ("max", "min")), local.name, values, by)
    if values.within is None and values.where is None:
        return best
    again = Local(context.names.fresh("x"), kind)
    known = Quantified("some", again.name, _renamed(values, local, again), Constant(True, Bool()))
    return ensured(context, known, best, default(kind))


def _renamed(values: Domain, old: Local, new: Local) -> Domain:
    """The domain with another name for its variable, which may not be bound twice."""
    if values.where is None:
        return values
    bound = Quantified("some", old.name, Domain(old.type, _single(new), None), values.where)
    return Domain(values.type, values.within, bound)


def _single(local: Local) -> Expression:
    kind = Set(local.type) if is_scalar(local.type) else Sequence(local.type, 1)
    return MakeCollection(kind, (local,))
