"""Random numbers."""

from __future__ import annotations

from collections.abc import Callable

import tests.strategies.conditions as conditions
import tests.strategies.expressions as expressions
from hacheck.model.ir import (
    Conditional,
    Domain,
    Expression,
    Local,
    Quantified,
    Unary,
)
from hacheck.model.types import (
    Map,
    Range,
)
from hacheck.model.typing import type_of
from tests.strategies.choosing import chance, pick, weighted
from tests.strategies.context import Context, number, operation


def whole_number(context: Context, depth: int) -> Expression:
    """A number in whatever interval."""
    chooser = context.chooser
    ranges = [*context.vocabulary.counters, *(kind for kind in _ranges(context))]
    if depth <= 0:
        simple = [
            (2, lambda: number(chooser.integer(0, 3))),
            (5, lambda: expressions.read(context, pick(chooser, ranges), 0)),
        ]
        return weighted(chooser, simple)()
    inner = depth - 1
    local: Callable[[], tuple[Local, Domain]] = lambda: expressions.domain(context, inner, filtered=25)  # noqa: E731

    def count() -> Expression:
        bound, values = local()
        return Quantified("count", bound.name, values, conditions.boolean(context.bind(bound), inner))

    def size() -> Expression:
        roots = [part for root in context.variables for part in expressions.collections_in(context, root)]
        return Unary("size", pick(chooser, roots)) if roots else number(1)

    return weighted(
        chooser,
        [
            (4, lambda: expressions.read(context, pick(chooser, ranges), inner)),
            (1, lambda: number(chooser.integer(-1, 3))),
            (3, lambda: operation("+", whole_number(context, inner), number(1))),
            (2, lambda: operation("-", whole_number(context, inner), number(1))),
            (1, lambda: operation("+", whole_number(context, inner), whole_number(context, inner))),
            (1, lambda: operation("-", whole_number(context, inner), whole_number(context, inner))),
            (1, lambda: operation("*", whole_number(context, inner), whole_number(context, inner))),
            (1, lambda: Unary("negate", whole_number(context, inner))),
            (1, lambda: expressions.extreme(context, pick(chooser, ranges), inner)),
            (2, count),
            (2, size),
        ],
    )()


def _ranges(context: Context) -> list[Range]:
    kinds = [type_of(root) for root in (*context.variables, *context.locals)]
    parts = [kind.value if isinstance(kind, Map) else kind for kind in kinds]
    return [kind for kind in parts if isinstance(kind, Range)]


def fitted(context: Context, kind: Range, depth: int) -> Expression:
    """A number that lies in a range; past a counter's end it may go, and anywhere in a risky model."""
    found = whole_number(context, depth)
    interval = type_of(found)
    assert isinstance(interval, Range)
    low, high = number(kind.low), number(kind.high)
    if context.dares(15):
        return found
    if interval.low < kind.low:
        found = Conditional(operation("<=", low, found), found, low)
    may_pass = kind.counter is not None and chance(context.chooser, 50)
    if interval.high > kind.high and not may_pass:
        found = Conditional(operation("<=", found, high), found, pick(context.chooser, (low, high)))
    interval = type_of(found)
    assert isinstance(interval, Range)
    return found
