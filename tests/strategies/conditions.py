"""Random conditions."""

from __future__ import annotations

import tests.strategies.amounts as amounts
import tests.strategies.expressions as expressions
from hacheck.model.ir import (
    BinaryOperator,
    Constant,
    Expression,
    Index,
    Member,
    Old,
    Quantified,
    Unary,
)
from hacheck.model.types import (
    Bag,
    Bool,
    Enum,
    Map,
    Node,
    Range,
    Record,
    Sequence,
    Set,
    Type,
)
from hacheck.model.typing import type_of
from tests.strategies.choosing import chance, pick, weighted
from tests.strategies.context import Context, number, operation
from tests.strategies.kinds import random_value


def boolean(context: Context, depth: int) -> Expression:
    """A condition."""
    chooser = context.chooser
    if depth <= 0:
        return weighted(
            chooser, [(3, lambda: comparison(context, 0)), (1, lambda: expressions.read(context, Bool(), 0))]
        )()
    inner = depth - 1
    return weighted(
        chooser,
        [
            (6, lambda: comparison(context, inner)),
            (2, lambda: expressions.read(context, Bool(), inner)),
            (1, lambda: Constant(chance(chooser, 70), Bool())),
            (2, lambda: Unary("not", boolean(context, inner))),
            (3, lambda: operation("and", boolean(context, inner), boolean(context, inner))),
            (3, lambda: operation("or", boolean(context, inner), boolean(context, inner))),
            (2, lambda: operation("implies", boolean(context, inner), boolean(context, inner))),
            (3, lambda: membership(context, inner)),
            (4, lambda: quantified(context, inner)),
            (1, lambda: Unary("majority", expressions.expression(context, Set(_node(context)), inner))),
            (1, lambda: expressions.conditional(context, Bool(), depth)),
        ],
    )()


def _node(context: Context) -> Node:
    return pick(context.chooser, context.vocabulary.nodes)


def comparison(context: Context, depth: int, unequal: bool = True) -> Expression:
    """A part of the state beside a value of its type, so that the answer is seldom the same in all states."""
    chooser = context.chooser
    left = _leaf(context, pick(chooser, (*context.variables, *context.variables, *context.locals)), depth)
    kind = type_of(left)
    if isinstance(kind, Set | Sequence | Bag) and chance(chooser, 80):
        if chance(chooser, 50):
            return operation(pick(chooser, ("<", "<=", "==")), Unary("size", left), number(chooser.integer(0, 3)))
        return operation("in", expressions.expression(context, kind.element, depth - 1), left)
    operators: tuple[BinaryOperator, ...] = ("==", "!=", "<", "<=") if is_ordered(kind) else ("==", "!=")
    right: Expression = Constant(random_value(chooser, kind), kind)
    if isinstance(kind, Range) and chance(chooser, 50):
        right = amounts.whole_number(context, depth - 1)
    elif chance(chooser, 50):
        right = expressions.expression(context, kind, depth - 1)
    if left == right or not unequal:
        right = Constant(random_value(chooser, kind), kind)
    if not unequal:
        return operation("==", left, right)
    if context.old and chance(chooser, 50):
        right = Old(left)
    sides = (left, right) if chance(chooser, 70) else (right, left)
    return operation(pick(chooser, operators), *sides)


def _leaf(context: Context, base: Expression, depth: int) -> Expression:
    """A part of a variable that is no map and seldom a record."""
    kind = type_of(base)
    match kind:
        case Map(key, _):
            return _leaf(context, Index(base, expressions.scalar(context, key, depth - 1)), depth)
        case Record(_, fields) if chance(context.chooser, 70):
            return _leaf(context, Member(base, pick(context.chooser, fields)[0]), depth)
        case Sequence() if chance(context.chooser, 40):
            return _leaf(context, expressions.an_element(context, base, kind.element), depth)
        case _:
            return base


def is_ordered(kind: Type) -> bool:
    """Whether values of the type may be compared with `<`."""
    if isinstance(kind, Record):
        return kind.ordered and _comparable(kind)
    return isinstance(kind, Range | Enum) or (isinstance(kind, Node) and kind.ranked)


def _comparable(kind: Record) -> bool:
    return all(
        isinstance(part, Bool | Range | Enum) or (isinstance(part, Node) and part.ranked) for _, part in kind.fields
    )


def membership(context: Context, depth: int) -> Expression:
    """`in` and `subset`."""
    collections = [
        part for root in (*context.variables, *context.locals) for part in expressions.collections_in(context, root)
    ]
    whole = pick(context.chooser, collections) if collections else None
    if whole is None or chance(context.chooser, 30):
        whole = expressions.expression(context, Set(_node(context)), depth)
    kind = type_of(whole)
    if isinstance(kind, Set) and chance(context.chooser, 40):
        other = expressions.expression(context, kind, depth)
        return operation("subset", *pick(context.chooser, ((whole, other), (other, whole))))
    element = expressions.element_type(whole)
    item = (
        amounts.whole_number(context, depth)
        if isinstance(element, Range)
        else expressions.expression(context, element, depth)
    )
    return operation("in", item, whole)


def quantified(context: Context, depth: int) -> Expression:
    """A condition on how many values satisfy a condition."""
    kind = pick(context.chooser, ("some", "every", "none", "at_most_one", "exactly_one", "majority", "count"))
    local, values = expressions.domain(context, depth, filtered=25)
    if kind == "majority" and not isinstance(values.type, Node):
        kind = "some"
    asked = Quantified(kind, local.name, values, boolean(context.bind(local), depth))
    if kind != "count":
        return asked
    return operation(pick(context.chooser, ("==", "<", "<=")), asked, amounts.whole_number(context, depth - 1))
