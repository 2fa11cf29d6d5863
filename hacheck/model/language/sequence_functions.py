"""Parts of sequences: `take`, `drop` and `join`, made of what sequences have anyway, one case for each length."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.context import Scope, type_name
from hacheck.model.language.diagnostics import error
from hacheck.model.language.expressions import elaborate
from hacheck.model.rewrite import walk
from hacheck.model.typing import type_of

LENGTH_MAX = 64
"""The longest sequence that these functions are for: what they are made of grows with the square of it."""


def _given(written: t.Apply, count: int) -> tuple[t.Expression, ...]:
    if len(written.arguments) != count or any(one.label for one in written.arguments):
        message = f"`{written.name.text}` takes {count} arguments, not {len(written.arguments)}"
        raise error("HA108", message, written.span)
    return tuple(one.value for one in written.arguments)


def _sequence(written: t.Apply, argument: t.Expression, scope: Scope, expected: ty.Type | None = None) -> ir.Expression:
    """A sequence, whose evaluation may be repeated. Errors: `HA104` for anything else, `HA110` where it draws,
    `HA111` where it is too long."""
    word = written.name.text
    made = elaborate(argument, scope, expected)
    kind = type_of(made)
    if not isinstance(kind, ty.Sequence):
        raise error("HA104", f"`{word}` needs a sequence, this is {type_name(kind)}", argument.span)
    if kind.capacity > LENGTH_MAX:
        message = f"`{word}` is for sequences of up to {LENGTH_MAX} elements, this is {type_name(kind)}"
        raise error("HA111", message, argument.span)
    if any(isinstance(part, ir.Fresh) for part in walk(made)):
        raise error("HA110", f"`{word}` takes no fresh identity", argument.span, "name it before: `let x = fresh(…)`")
    return made


def _number(value: int) -> ir.Expression:
    return ir.Constant(value, ty.Range(value, value))


def _at_least(least: int, number: ir.Expression) -> ir.Expression:
    return ir.Binary("<=", _number(least), number)


def _parted(written: t.Apply, scope: Scope) -> tuple[ir.Expression, ty.Sequence, ir.Expression]:
    """The sequence, its type, and how many elements there are before the place where it is parted."""
    first, second = _given(written, 2)
    made = _sequence(written, first, scope)
    kind = type_of(made)
    assert isinstance(kind, ty.Sequence)
    number = elaborate(second, scope)
    if not isinstance(type_of(number), ty.Range):
        raise error("HA104", f"this is {type_name(type_of(number))}, where a number is needed", second.span)
    length = ir.Unary("size", made)
    return made, kind, ir.Conditional(ir.Binary("<", number, length), number, length)


def _take(written: t.Apply, scope: Scope) -> ir.Expression:
    """`take(s, n)`: the first n elements, all of them where there are fewer, none where n is below 1."""
    made, kind, number = _parted(written, scope)
    items = [ir.Index(made, _number(place)) for place in range(1, kind.capacity + 1)]
    result: ir.Expression = ir.MakeCollection(kind, ())
    for length in range(1, kind.capacity + 1):
        result = ir.Conditional(_at_least(length, number), ir.MakeCollection(kind, tuple(items[:length])), result)
    return result


def _drop(written: t.Apply, scope: Scope) -> ir.Expression:
    """`drop(s, n)`: what is left without the first n elements."""
    made, kind, number = _parted(written, scope)
    result = left = made
    for length in range(1, kind.capacity + 1):
        left = ir.Unary("rest", left)
        result = ir.Conditional(_at_least(length, number), left, result)
    return result


def _join(written: t.Apply, scope: Scope) -> ir.Expression:
    """`join(s, t)`: the elements of s, then those of t."""
    first, second = _given(written, 2)
    left = _sequence(written, first, scope)
    kind = type_of(left)
    assert isinstance(kind, ty.Sequence)
    right = _sequence(written, second, scope, ty.Sequence(kind.element, LENGTH_MAX) if _is_listed(second) else None)
    other = type_of(right)
    assert isinstance(other, ty.Sequence)
    if other.element != kind.element and not (
        isinstance(other.element, ty.Range) and isinstance(kind.element, ty.Range)
    ):
        message = f"{type_name(kind)} and {type_name(other)} have elements of different types"
        raise error("HA104", message, written.span)
    many = len(second.items) if isinstance(second, t.Brackets) else other.capacity
    if kind.capacity + many > LENGTH_MAX:
        message = f"`join` makes sequences of up to {LENGTH_MAX} elements; these two have up to {kind.capacity + many}"
        raise error("HA111", message, written.span)
    result = joined = left
    for place in range(1, many + 1):
        joined = ir.Binary("append", joined, ir.Index(right, _number(place)))
        result = ir.Conditional(_at_least(place, ir.Unary("size", right)), joined, result)
    return result


def _is_listed(written: t.Expression) -> bool:
    return isinstance(written, t.Brackets)


FUNCTIONS: Mapping[str, Callable[[t.Apply, Scope], ir.Expression]] = {"take": _take, "drop": _drop, "join": _join}
