"""Where a step raises a value of a counter: the sums that what it stores is made of."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from hacheck.model import ir
from hacheck.model.rewrite import parts
from hacheck.model.types import Map, Range
from hacheck.model.typing import BOOLEAN, type_of

_BINDERS = (ir.SetOf, ir.MapOf, ir.Extreme)


class Sums(Struct, frozen=True):
    """Finds the sums of one counter. `plain`: the locals whose type does not show that they hold its values."""

    counter: str
    plain: frozenset[str]

    def is_value(self, expression: ir.Expression) -> bool:
        """Whether an expression's value is one of the counter."""
        match expression:
            case ir.Local(name, kind):
                return name in self.plain or self._is_counter(kind)
            case ir.Conditional(_, then, otherwise):
                return self.is_value(then) or self.is_value(otherwise)
            case ir.Binary("+", left, right):
                return self.is_value(left) or self.is_value(right)
            case _:
                return self._is_counter(type_of(expression))

    def _is_counter(self, kind: object) -> bool:
        return isinstance(kind, Range) and kind.counter == self.counter

    def stored(self, value: ir.Expression) -> Iterator[ir.Binary]:
        """The sums that a value may be made of, wherever in it they stand; those it is only decided by are none."""
        match value:
            case ir.Binary(operator, _, _) if operator in BOOLEAN:
                return
            case ir.Quantified() | ir.Constant() | ir.Variable() | ir.Local():
                return
            case ir.Conditional(_, then, otherwise):
                yield from self.stored(then)
                yield from self.stored(otherwise)
                return
            case ir.Binary("+") if self.is_value(value):
                yield value
            case _:
                pass
        for part in parts(value):
            if isinstance(part, ir.Domain):
                yield from self.in_domain(part)
            else:
                assert not isinstance(part, ir.Target), "a target is no part of a value"
                yield from self.stored(part)  # type: ignore[arg-type]

    def in_domain(self, domain: ir.Domain) -> Iterator[ir.Binary]:
        """The sums that the elements of a domain may be made of."""
        if domain.within is not None:
            yield from self.stored(domain.within)

    def is_bound(self, value: ir.Expression) -> bool:
        """Whether one of these sums stands where it has a value for each element of something."""
        if isinstance(value, _BINDERS):
            return any(True for _ in self.stored(value))
        if isinstance(value, ir.Conditional):
            return self.is_bound(value.then) or self.is_bound(value.otherwise)
        inner = (part for part in parts(value) if not isinstance(part, ir.Domain | ir.Target))
        return any(self.is_bound(part) for part in inner)  # type: ignore[arg-type]


def is_total(expression: ir.Expression) -> bool:
    """Whether an expression has a value wherever it stands in its step."""
    match expression:
        case ir.Variable() | ir.Local() | ir.Constant():
            return True
        case ir.Index(base, key):
            return isinstance(type_of(base), Map) and is_total(base) and is_total(key)
        case ir.Unary(operator, operand):
            return operator in ("not", "some", "size", "majority") and is_total(operand)
        case ir.Member() | ir.Conditional() | ir.Binary() | ir.MakeRecord():
            return all(is_total(part) for part in parts(expression))  # type: ignore[arg-type]
        case _:
            return False
