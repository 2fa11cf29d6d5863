"""Random bodies of actions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from hacheck.model.ir import (
    Assign,
    Binary,
    Choose,
    Conditional,
    Constant,
    Expression,
    ForEach,
    Fresh,
    If,
    Index,
    Let,
    Local,
    MakeRecord,
    Member,
    Require,
    Statement,
    Stop,
    Target,
    Unary,
    Variable,
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
)
from hacheck.model.typing import type_of
from tests.strategies.amounts import whole_number
from tests.strategies.choosing import chance, pick, weighted
from tests.strategies.conditions import boolean
from tests.strategies.context import Context, number, operation
from tests.strategies.expressions import domain, ensured, expression, read, scalar
from tests.strategies.kinds import random_value


@dataclass(frozen=True)
class Body:
    """What a body may write, and the variables that nothing but themselves may read."""

    context: Context
    written: tuple[Variable, ...]
    ghosts: tuple[Variable, ...]


def block(body: Body, length: int, depth: int) -> tuple[Statement, ...]:
    """Up to `length` statements, nested at most `depth` deep; at least one of them writes."""
    statements: list[Statement] = []
    for index in range(length):
        last = index == length - 1
        made, body = _statement(body, depth, assigns=last)
        statements.append(made)
    return tuple(statements)


def _statement(body: Body, depth: int, assigns: bool) -> tuple[Statement, Body]:
    context = body.context
    chooser = context.chooser
    if assigns or chance(chooser, 50):
        return assign(body), body
    forms: list[tuple[int, Callable[[], tuple[Statement, Body]]]] = [
        (4, lambda: _let(body)),
        (3, lambda: _choose(body)),
        (1, lambda: (Require(boolean(context, 1)), body)),
    ]
    if depth > 0:
        forms += [(5, lambda: (_if(body, depth - 1), body)), (4, lambda: (_for(body, depth - 1), body))]
    return weighted(chooser, forms)()


def _inside(body: Body, local: Local, changeable: bool = False) -> Body:
    return Body(body.context.bind(local, changeable), body.written, body.ghosts)


def _let(body: Body) -> tuple[Statement, Body]:
    context = body.context
    chooser = context.chooser
    if chance(chooser, 20):
        identity = pick(chooser, context.vocabulary.identities)
        local = Local(context.names.fresh("new"), identity)
        return Let(local.name, identity, Fresh(identity)), _inside(body, local)
    if chance(chooser, 30):
        value: Expression = whole_number(context, 2)
        kind = type_of(value)
    else:
        kind = pick(chooser, [_part(type_of(variable)) for variable in context.variables] or [Bool()])
        value = expression(context, kind, 2)
    local = Local(context.names.fresh("let"), kind)
    return Let(local.name, kind, value), _inside(body, local, changeable=True)


def _part(kind: Type) -> Type:
    return kind.value if isinstance(kind, Map) else kind


def _choose(body: Body) -> tuple[Statement, Body]:
    local, values = domain(body.context, 1)
    return Choose(local.name, values), _inside(body, local)


def _if(body: Body, depth: int) -> Statement:
    chooser = body.context.chooser
    then = block(body, chooser.integer(1, 2), depth)
    if chance(chooser, 6):
        then = (Stop("patience"),)
    otherwise = block(body, 1, depth) if chance(chooser, 40) else ()
    return If(boolean(body.context, 2), then, otherwise)


def _for(body: Body, depth: int) -> Statement:
    local, values = domain(body.context, 1)
    inside = _inside(body, local)
    return ForEach(local.name, values, block(inside, body.context.chooser.integer(1, 2), depth))


def driver(body: Body, index: int) -> Statement:
    """A small change of the variable of that number, so that every variable moves."""
    return assign(body, body.written[index % len(body.written)])


def assign(body: Body, driven: Variable | None = None) -> Statement:
    """An assignment to a part of a variable or local; often a small change of what is there."""
    context = body.context
    chooser = context.chooser
    local = [root for root in context.changeable if not isinstance(root.type, Bag)]
    root: Variable | Local = pick(chooser, body.written)
    if driven is not None:
        root = driven
    elif local and chance(chooser, 15):
        root = pick(chooser, local)
    if root in body.ghosts:
        context = Context(
            chooser,
            context.vocabulary,
            (*context.variables, *body.ghosts),
            context.names,
            context.risky,
            context.locals,
        )
    path: list[Expression | str] = []
    current: Expression = root
    kind: Type = root.type
    while chance(chooser, 96 if isinstance(kind, Map) else 80):
        match kind:
            case Map(key, element):
                chosen = scalar(context, key, 1)
                path.append(chosen)
                current, kind = Index(current, chosen), element
            case Record(_, fields) if chance(chooser, 60):
                name, kind = pick(chooser, fields)
                path.append(name)
                current = Member(current, name)
            case Sequence(element, _) if context.dares(25):
                path.append(number(1))
                current, kind = Index(current, number(1)), element
            case _:
                break
    value = evolved(context, current, kind) if chance(chooser, 75 if driven is None else 95) else stored(context, kind)
    return Assign(Target(root, tuple(path)), value)


def stored(context: Context, kind: Type) -> Expression:
    """A value to be stored; identities are often drawn fresh."""
    chooser = context.chooser
    match kind:
        case Identity() if chance(chooser, 60):
            return Fresh(kind)
        case Option(Identity() as element) if chance(chooser, 60):
            return Unary("some", Fresh(element))
        case Record(_, fields) if chance(chooser, 40):
            return _record(context, kind, fields)
        case _:
            return expression(context, kind, 2)


def _record(context: Context, kind: Record, fields: tuple[tuple[str, Type], ...]) -> Expression:
    """A record; at most one of its fields draws a fresh identity."""
    items: list[Expression] = []
    drawn = False
    for _, part in fields:
        if isinstance(part, Identity) and not drawn:
            drawn = True
            items.append(Fresh(part))
        else:
            items.append(expression(context, part, 1))
    return MakeRecord(kind, tuple(items))


def evolved(context: Context, current: Expression, kind: Type) -> Expression:
    """A value near the one that is there: the next number, the other answer, one element more or less."""
    chooser = context.chooser
    match kind:
        case Bool():
            return Unary("not", current)
        case Range(low, high, counter):
            return _next(context, current, low, high, counter is not None)
        case Enum(_, members):
            turn: Expression = Constant(members[-1], kind)
            for member, following in pairwise(members):
                here = operation("==", current, Constant(following, kind))
                turn = Conditional(here, Constant(member, kind), turn)
            return turn if chance(chooser, 75) else Constant(pick(chooser, members), kind)
        case Option(element):
            nothing = Constant(None, kind)
            if chance(chooser, 50):
                return Conditional(operation("==", current, nothing), stored(context, kind), nothing)
            return nothing if chance(chooser, 25) else stored(context, kind)
        case Set(element):
            item = scalar(context, element, 1)
            if chance(chooser, 50):
                less, more = operation("without", current, item), operation("with", current, item)
                return Conditional(operation("in", item, current), less, more)
            operator = pick(chooser, ("with", "with", "without"))
            return Binary(operator, current, expression(context, element, 1))
        case Node() | Identity() if chance(chooser, 60):
            return scalar(context, kind, 1)
        case Sequence(element, _):
            if chance(chooser, 35):
                filled = operation("<", number(0), Unary("size", current))
                return ensured(context, filled, Unary("rest", current), default(kind))
            return operation("append", current, expression(context, element, 1))
        case Bag(element, _):
            if chance(chooser, 35):
                return operation("without", current, read(context, element, 1))
            return operation("with", current, expression(context, element, 1))
        case _:
            return stored(context, kind)


def _next(context: Context, current: Expression, low: int, high: int, counter: bool) -> Expression:
    chooser = context.chooser
    more = operation("+", current, number(1))
    if counter or context.dares(40):
        return more
    if chance(chooser, 70):
        return Conditional(operation("<", current, number(high)), more, number(low))
    less = operation("-", current, number(1))
    return Conditional(
        operation("<", number(low), current),
        less,
        Constant(random_value(chooser, Range(low, high)), Range(low, high)),
    )
