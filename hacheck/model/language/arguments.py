"""Arguments: values of their parameters' types, taken once, where they are written."""

from __future__ import annotations

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language.context import Context
from hacheck.model.rewrite import walk
from hacheck.model.typing import type_of
from hacheck.model.value_storage import type_violation

PARTIAL = ("value", "first", "last", "rest")


def taken(
    context: Context, name: str, kind: ty.Type, value: ir.Expression, later: bool = False
) -> tuple[tuple[ir.Statement, ...], ir.Expression]:
    """Statements that take a value of the type, and what stands for it after them: the expression itself where
    evaluating it later, several times or never comes to the same.

    `later`: the state may have changed by then.
    """
    changes = later and any(isinstance(part, ir.Variable) for part in walk(value))
    if not changes and _has_a_value(value) and fits(kind, value):
        return (), value
    local = context.fresh_local(name, kind)
    return (ir.Let(local.name, kind, value),), local


def _has_a_value(expression: ir.Expression) -> bool:
    """Whether evaluating it is no error of the spec and draws nothing, whatever the state."""
    return not any(_may_fail(part) for part in walk(expression))


def _may_fail(part: object) -> bool:
    match part:
        case ir.Fresh() | ir.Extreme():
            return True
        case ir.Unary(operator):
            return operator in PARTIAL
        case ir.Index(base, key):
            container = type_of(base)
            return not isinstance(container, ty.Map) or not _inside(container.key, type_of(key))
        case _:
            return False


def fits(kind: ty.Type, value: ir.Expression) -> bool:
    """Whether every value of the expression is surely one of the type."""
    match value:
        case ir.Constant(known, _):
            return type_violation(kind, known) is None
        case ir.MakeRecord(ty.Record(_, fields) as made, arguments):
            parts = zip(fields, arguments, strict=True)
            return made == kind and all(fits(wanted, one) for (_, wanted), one in parts)
        case ir.Unary("some", operand):
            return isinstance(kind, ty.Option) and fits(kind.element, operand)
        case ir.Conditional(_, then, otherwise):
            return fits(kind, then) and fits(kind, otherwise)
        case _:
            made_here = ir.MakeRecord | ir.MakeCollection | ir.SetOf | ir.MapOf
            return not any(isinstance(part, made_here) for part in walk(value)) and _inside(kind, type_of(value))


def _inside(wanted: ty.Type, found: ty.Type) -> bool:
    match wanted, found:
        case ty.Range(low, high, _), ty.Range(least, most, _):
            return low <= least and most <= high
        case ty.Option(first), ty.Option(second):
            return _inside(first, second)
        case _:
            return wanted == found
