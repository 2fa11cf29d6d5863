"""Sets, maps, sequences and bags: literals, comprehensions and the words that join them."""

from __future__ import annotations

from typing import Any, assert_never, cast

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.context import Bound, Scope, describe, type_name
from hacheck.model.language.diagnostics import Span, error
from hacheck.model.language.expressions import VALUES_MAX, accepts, bind, coerce, elaborate
from hacheck.model.typing import join, type_of

COMPARED_WITH_EACH = "compare it with each of them: `x == a or x == b`"


SUMMED_MAX = 64
"""How far apart the least and the greatest of summed numbers are at most: each step between them is a count."""


def elaborate_collection(
    written: t.Best | t.Each | t.Braces | t.Image | t.Brackets, scope: Scope, expected: ty.Type | None
) -> ir.Expression:
    """A collection, or one element picked from one."""
    match written:
        case t.Best():
            return _best(written, scope)
        case t.Each():
            return _each(written, scope, expected)
        case t.Braces():
            return _braces(written, scope, expected)
        case t.Image():
            return _image(written, scope, expected)
        case t.Brackets():
            return _brackets(written, scope, expected)
        case _:
            assert_never(written)


def _best(written: t.Best, scope: Scope) -> ir.Expression:
    variable, domain, inner = bind(written.binder, written.where, scope)
    by = elaborate(written.by, inner)
    kind = type_of(by)
    if written.kind == "sum":
        return _sum(written, variable, domain, by)
    if isinstance(kind, ty.Node) and not kind.ranked:
        raise error("HA121", f"{kind.name}s are symmetric: none of them is the greatest", written.by.span)
    if not isinstance(kind, ty.Range | ty.Enum | ty.Node) and not (isinstance(kind, ty.Record) and kind.ordered):
        raise error("HA104", f"{describe(kind)} has no order", written.by.span)
    return ir.Extreme("max" if written.kind == "max" else "min", variable, domain, by)


def _sum(written: t.Best, variable: str, domain: ir.Domain, by: ir.Expression) -> ir.Expression:
    """The numbers of all elements added: for each number above the least, how many elements have at least that. So it
    names no element, and symmetric ones stay symmetric. Errors: `HA104`, `HA112`."""
    kind = type_of(by)
    if not isinstance(kind, ty.Range):
        raise error("HA104", f"`sum` needs numbers, this is {type_name(kind)}", written.by.span)
    if kind.high - kind.low > SUMMED_MAX:
        message = f"`sum` adds numbers of up to {SUMMED_MAX + 1} values; these have {kind.high - kind.low + 1:,}"
        raise error("HA112", message, written.by.span, "make the range smaller")

    def at_least(number: int) -> ir.Expression:
        condition = ir.Binary("<=", ir.Constant(number, ty.Range(number, number)), by)
        return ir.Quantified("count", variable, domain, condition)

    low = ir.Constant(kind.low, ty.Range(kind.low, kind.low))
    total: ir.Expression = ir.Binary("*", low, at_least(kind.low))  # all of them: `by` has a value, then
    for number in range(kind.low + 1, kind.high + 1):
        total = ir.Binary("+", total, at_least(number))
    return total


def _each(written: t.Each, scope: Scope, expected: ty.Type | None) -> ir.Expression:
    key = scope.context.rules.resolve(scope.context, written.key, written.name.text)
    if not ty.is_scalar(key):
        raise error("HA112", f"the key type of a map cannot be {describe(key)}", written.key.span)
    if scope.context.values_of(key) > VALUES_MAX:
        raise error("HA112", f"a map over {ty.cardinality(key):,} keys is too large", written.key.span)
    unique = scope.context.fresh_name(written.name.text)
    inner = scope.bind(written.name.text, Bound(ir.Local(unique, key)))
    wanted = expected.value if isinstance(expected, ty.Map) and expected.key == key else None
    item = elaborate(written.item, inner, wanted)
    return ir.MapOf(unique, key, item, type_of(item) if wanted is None else wanted)


def _braces(written: t.Braces, scope: Scope, expected: ty.Type | None) -> ir.Expression:
    if isinstance(expected, ty.Set | ty.Bag):
        items = tuple(elaborate(item, scope, expected.element) for item in written.items)
        return ir.MakeCollection(expected, items)
    if not written.items:
        raise error("HA107", "the type of `{}` is not known here", written.span, _empty(expected))
    items = tuple(elaborate(item, scope) for item in written.items)
    element = type_of(items[0])
    for item, tree in zip(items[1:], written.items[1:], strict=True):
        coerce(item, element, tree.span)
        element = join(element, type_of(item))
    return ir.MakeCollection(_set_of(element, scope, written.span), items)


def _empty(expected: ty.Type | None) -> str:
    """How that which is needed where `{}` or `[]` stands is written when it is empty."""
    match expected:
        case ty.Map():
            return f"a map has a value for every key: `each k: {type_name(expected.key)} -> …`"
        case ty.Set() | ty.Bag():
            return f"{type_name(expected)} is needed here: write `{{}}`"
        case ty.Sequence():
            return f"{type_name(expected)} is needed here: write `[]`"
        case ty.Option():
            return f"{type_name(expected)} is needed here: write `none`"
        case None:
            return "compare or assign it"
        case _:
            return f"{type_name(expected)} is needed here, which is never empty"


def _image(written: t.Image, scope: Scope, expected: ty.Type | None) -> ir.Expression:
    variable, domain, inner = bind(written.binder, written.where, scope)
    if written.item is None:
        return ir.SetOf(variable, domain, ir.Local(variable, domain.type), domain.type)
    wanted = expected.element if isinstance(expected, ty.Set) else None
    item = elaborate(written.item, inner, wanted)
    element = type_of(item) if wanted is None else wanted
    return ir.SetOf(variable, domain, item, _set_of(element, scope, written.item.span).element)


def _set_of(element: ty.Type, scope: Scope, span: Span) -> ty.Set:
    """The type of a set that an expression makes. Errors: `HA112`."""
    if not ty.is_scalar(element):
        raise error("HA112", f"a set cannot hold {describe(element)}", span, COMPARED_WITH_EACH)
    if scope.context.values_of(element) > VALUES_MAX:
        message = f"{describe(element)} has {ty.cardinality(element):,} values; a set has {VALUES_MAX:,} at most"
        raise error("HA112", message, span, COMPARED_WITH_EACH)
    return ty.Set(element)


def _brackets(written: t.Brackets, scope: Scope, expected: ty.Type | None) -> ir.Expression:
    if isinstance(expected, ty.Sequence):
        return ir.MakeCollection(expected, tuple(elaborate(item, scope, expected.element) for item in written.items))
    if not written.items:
        raise error("HA107", "the type of `[]` is not known here", written.span, _empty(expected))
    items = tuple(elaborate(item, scope) for item in written.items)
    element = type_of(items[0])
    for item, tree in zip(items[1:], written.items[1:], strict=True):
        coerce(item, element, tree.span)
        element = join(element, type_of(item))
    return ir.MakeCollection(ty.Sequence(element, len(items)), items)


def membership(written: t.Infix, scope: Scope) -> ir.Expression:
    """`x in collection`."""
    if isinstance(written.right, t.Braces):
        item = elaborate(written.left, scope)
        kind = type_of(item)
        whole = _set_of(kind, scope, written.span)
        if isinstance(kind, ty.Range) and written.right.items:
            held = elaborate(written.right, scope)
            holder = type_of(held)
            assert isinstance(holder, ty.Set)
            if isinstance(holder.element, ty.Range):
                whole = _set_of(join(kind, holder.element), scope, written.span)
        return ir.Binary("in", item, elaborate(written.right, scope, whole))
    held = elaborate(written.right, scope)
    holder = type_of(held)
    if not isinstance(holder, ty.Set | ty.Sequence | ty.Bag):
        raise error("HA104", f"{type_name(holder)} has no elements", written.right.span)
    return ir.Binary("in", elaborate(written.left, scope, holder.element), held)


def combine(written: t.Infix, scope: Scope, expected: ty.Type | None) -> ir.Expression:
    """`union`, `intersect`, `minus`, `with`, `without` and `subset`."""
    operator = cast(Any, written.operator)
    leading = None
    if isinstance(written.left, t.Braces | t.Brackets):
        within = operator == "subset" or (expected is None and operator not in ("with", "without"))
        leading = type_of(elaborate(written.right, scope)) if within else expected
    left = elaborate(written.left, scope, leading)
    kind = type_of(left)
    if operator in ("with", "without"):
        if not isinstance(kind, ty.Set | ty.Sequence | ty.Bag):
            raise error(
                "HA104", f"`{operator}` needs a set, sequence or bag, this is {type_name(kind)}", written.left.span
            )
        item = elaborate(written.right, scope, kind.element)
        appends = operator == "with" and isinstance(kind, ty.Sequence)
        return ir.Binary("append" if appends else operator, left, item)
    if not isinstance(kind, ty.Set):
        raise error("HA104", f"`{operator}` needs sets, this is {type_name(kind)}", written.left.span)
    right = elaborate(written.right, scope, kind)
    assert accepts(kind, type_of(right))
    return ir.Binary(operator, left, right)
