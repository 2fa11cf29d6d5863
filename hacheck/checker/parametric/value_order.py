"""Which of two values comes first."""

from __future__ import annotations

from itertools import combinations

from hacheck.checker.parametric.encoding_context import NUMBER, Unsupported, World
from hacheck.checker.parametric.first_order_logic import FALSE, Term, conjunction, disjunction
from hacheck.checker.parametric.given_values import constant
from hacheck.checker.parametric.value_encoding import Fields, SymbolicValue, equal, term
from hacheck.model.types import Enum, Node, Range, Record, Type, values


def before(world: World, kind: Type, left: SymbolicValue, right: SymbolicValue) -> Term:
    """Whether one value comes before another in the order of their type."""
    match kind:
        case Range():
            return world.less(NUMBER, term(left), term(right))
        case Node(name, _, _) if name in world.signature.open_kinds:
            return world.less(world.signature.sort(kind), term(left), term(right))
        case Enum() | Node():
            members = [constant(world, kind, one) for one in values(kind)]
            pairs = combinations(members, 2)
            return disjunction(
                *(conjunction(equal(world, kind, left, low), equal(world, kind, right, high)) for low, high in pairs)
            )
        case Record(_, fields):
            assert isinstance(left, Fields), f"{left} is no record"
            assert isinstance(right, Fields), f"{right} is no record"
            result: Term = FALSE
            for name, part in reversed(fields):
                one, other = left.item(name), right.item(name)
                same = equal(world, part, one, other)
                result = disjunction(before(world, part, one, other), conjunction(same, result))
            return result
        case _:
            raise Unsupported(f"an order of {type(kind).__name__.lower()} values")
