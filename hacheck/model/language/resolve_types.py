"""From types as written to the model's types, with the settings' values put in."""

from __future__ import annotations

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.context import Context, Scope, describe
from hacheck.model.language.diagnostics import Span, error, near
from hacheck.model.language.expressions import boolean, elaborate

SET_ELEMENTS_MAX = 64
CAPACITY_MAX = 256


def number(context: Context, written: t.Expression, what: str) -> int:
    """The value of an expression that must be a known whole number.

    Errors: `HA110` when it is not.
    """
    value = context.constant(elaborate(written, Scope(context, state=False)))
    if not isinstance(value, ir.Constant) or not isinstance(value.type, ty.Range):
        raise error("HA110", f"{what} must be a whole number known before the exploration", written.span)
    return int(value.value)


def resolve(context: Context, written: t.TypeTree, name: str) -> ty.Type:
    """The type. `name` says what it is the type of; an enum or counter written in place is called after it.

    Errors: `HA102` unknown name, `HA111` an empty range, `HA112` a set or map over something that is no scalar.
    """
    match written.kind:
        case "bool":
            return ty.Bool()
        case "name":
            return _named(context, written.names[0])
        case "range":
            low, high = (number(context, limit, "a limit of a range") for limit in written.limits)
            if low > high:
                raise error("HA111", f"the range {low}..{high} is empty", written.span, "write the smaller limit first")
            return ty.Range(low, high)
        case "counter" | "endless":
            high = number(context, written.limits[0], "a counter's bound")
            if high < 0:
                raise error("HA111", f"a counter from 0 up to {high} has no values", written.span)
            context.bounds[name] = f"{name} up to {high}"
            if written.kind == "endless" and name not in context.endless and _holds(context, written.limits[1:]):
                context.endless.append(name)
            return ty.Range(0, high, name)
        case "enum":
            return _enum(context, written, name)
        case "option":
            inner = resolve(context, written.parts[0], name)
            if isinstance(inner, ty.Option):
                raise error("HA112", "an optional type cannot be made optional again", written.span)
            return ty.Option(inner)
        case "set":
            return ty.Set(_scalar(context, written.parts[0], name, "the element type of a set"))
        case "map":
            key = _scalar(context, written.parts[0], name, "the key type of a map")
            return ty.Map(key, resolve(context, written.parts[1], name))
        case "sequence" | "bag":
            element = resolve(context, written.parts[0], name)
            capacity = number(context, written.limits[0], "a capacity")
            if capacity < 1:
                raise error("HA111", f"a {written.kind} of at most {capacity} elements holds nothing", written.span)
            if capacity > CAPACITY_MAX:
                raise error("HA111", f"a {written.kind} holds at most {CAPACITY_MAX} elements", written.span)
            context.bounds[f"capacity of {name}"] = f"at most {capacity} in {name}"
            return ty.Sequence(element, capacity) if written.kind == "sequence" else ty.Bag(element, capacity)


def _holds(context: Context, conditions: tuple[t.Expression, ...]) -> bool:
    """Whether a condition holds under these settings, or there is none. Errors: `HA110` when they do not decide it."""
    for written in conditions:
        known = context.constant(boolean(written, Scope(context, state=False)))
        if not isinstance(known, ir.Constant):
            raise error("HA110", "whether a counter has an end must follow from the settings", written.span)
        if not known.value:
            return False
    return True


def _named(context: Context, name: t.Name) -> ty.Type:
    if name.text in context.types:
        return context.types[name.text]
    hint = (
        near(name.text, context.types) or "types are `bool`, `0..3`, `{a, b}`, `set of T`, `map K to T`, nodes, records"
    )
    raise error("HA102", f"there is no type `{name.text}`", name.span, hint)


def _enum(context: Context, written: t.TypeTree, name: str) -> ty.Type:
    members = tuple(member.text for member in written.names)
    for index, member in enumerate(written.names):
        if member.text in members[:index]:
            raise error("HA101", f"`{member.text}` is listed twice", member.span)
    kind = ty.Enum(name, members)
    context.add_enum(kind)
    return kind


def _scalar(context: Context, written: t.TypeTree, name: str, what: str) -> ty.Type:
    kind = resolve(context, written, name)
    if not ty.is_scalar(kind):
        hint = "sets and maps are over bools, ranges, enums, nodes, identities and options of them"
        raise error("HA112", f"{what} cannot be {describe(kind)}", written.span, hint)
    if context.values_of(kind) > SET_ELEMENTS_MAX:
        message = f"{what} has {ty.cardinality(kind):,} values; {SET_ELEMENTS_MAX} are allowed"
        raise error("HA112", message, written.span, "make the range smaller")
    return kind


def initial_value(context: Context, kind: ty.Type, written: t.Expression | None, span: Span) -> ty.Value:
    """The value a variable starts with: the one written, or its type's first.

    A map may be given one value for all keys. Errors: `HA110` when it is not a known value of the type.
    """
    if written is None:
        return ty.default(kind)
    if isinstance(kind, ty.Map) and not isinstance(written, t.Each):
        return (initial_value(context, kind.value, written, span),) * ty.cardinality(kind.key)
    folded = context.constant(elaborate(written, Scope(context, state=False), kind))
    if not isinstance(folded, ir.Constant):
        raise error("HA110", "an initial value must be known before the exploration", written.span)
    if not ty.member(kind, folded.value):
        raise error("HA113", f"the initial value is not in {describe(kind)}", written.span)
    return folded.value
