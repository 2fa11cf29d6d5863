"""Random sets, sequences and bags."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

import tests.strategies.expressions as expressions
from hacheck.model.ir import (
    BinaryOperator,
    Constant,
    Expression,
    MakeCollection,
    SetOf,
    Unary,
)
from hacheck.model.types import (
    Bag,
    Option,
    Range,
    Sequence,
    Set,
    Type,
)
from tests.strategies.choosing import chance, pick, weighted
from tests.strategies.context import Context, number, operation
from tests.strategies.kinds import random_value


def set_of(context: Context, kind: Set, depth: int) -> Expression:
    chooser = context.chooser

    def items() -> tuple[Expression, ...]:
        return tuple(_held(context, kind.element, depth - 1) for _ in range(chooser.integer(0, 2)))

    def image() -> Expression:
        local, values = expressions.domain(context, depth - 1, filtered=50)
        if local.type == kind.element and chance(chooser, 50):
            return SetOf(local.name, values, local, kind.element)
        return SetOf(local.name, values, _held(context.bind(local), kind.element, depth - 1), kind.element)

    def pair(operator: BinaryOperator) -> Callable[[], Expression]:
        return lambda: operation(
            operator,
            expressions.expression(context, kind, depth - 1),
            expressions.expression(context, kind, depth - 1),
        )

    def one(operator: BinaryOperator) -> Callable[[], Expression]:
        return lambda: operation(
            operator,
            expressions.expression(context, kind, depth - 1),
            expressions.expression(context, kind.element, depth - 1),
        )

    return weighted(
        chooser,
        [
            (2, lambda: MakeCollection(kind, items())),
            (3, image),
            (2, pair("union")),
            (1, pair("intersect")),
            (2, pair("minus")),
            (3, one("with")),
            (2, one("without")),
        ],
    )()


def _held(context: Context, kind: Type, depth: int) -> Expression:
    """A value for a set written out, whose element type has to admit it whatever happens."""
    if isinstance(kind, Range) or (isinstance(kind, Option) and isinstance(kind.element, Range)):
        exact = [local for local in context.locals if local.type == kind]
        return pick(context.chooser, exact) if exact else Constant(random_value(context.chooser, kind), kind)
    return expressions.expression(replace(context, risky=False), kind, depth)


def list_of(context: Context, kind: Sequence | Bag, depth: int) -> Expression:
    chooser = context.chooser
    more: BinaryOperator = "append" if isinstance(kind, Sequence) else "with"

    def item() -> Expression:
        return expressions.expression(context, kind.element, depth - 1)

    def base() -> Expression:
        return expressions.read(context, kind, depth - 1)

    def literal() -> Expression:
        return MakeCollection(kind, tuple(item() for _ in range(chooser.integer(0, kind.capacity))))

    def shorter() -> Expression:
        whole = base()
        if isinstance(kind, Bag):
            return operation("without", whole, item())
        filled = operation("<", number(0), Unary("size", whole))
        return expressions.ensured(context, filled, Unary("rest", whole), ())

    return weighted(
        chooser,
        [
            (2, literal),
            (5, lambda: operation(more, base(), item())),
            (2, lambda: operation("without", base(), item())),
            (3, shorter),
        ],
    )()
