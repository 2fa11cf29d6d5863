"""Settings: the values of params, switches and assumptions, from their defaults, a `check`, or the command line."""

from __future__ import annotations

from collections.abc import Mapping

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.context import Context, Scope, describe
from hacheck.model.language.diagnostics import Span, error, near
from hacheck.model.language.expressions import elaborate
from hacheck.model.language.resolve_types import resolve

Given = Mapping[str, str | t.Expression]
"""Values by name: text from the command line, or an expression from a `check`."""


def declare(context: Context, written: list[d.Setting], given: Given, at: Span) -> None:
    """Make every setting a known constant.

    Errors: `HA140` a value for something that is no setting, `HA141` a value of the wrong type or out of range.
    """
    known = {one.name.text for one in written}
    for name in given:
        if name not in known:
            value = given[name]
            span = at if isinstance(value, str) else value.span
            raise error("HA140", f"there is no setting `{name}`", span, near(name, known) or _listed(known))
    for one in written:
        context.declare(one.name.text, one.name.span)
        context.constants[one.name.text] = _value(context, one, given.get(one.name.text), at)


def _listed(known: set[str]) -> str:
    return f"settings are {', '.join(sorted(known))}" if known else "this spec has no settings"


def _value(context: Context, written: d.Setting, given: str | t.Expression | None, at: Span) -> ir.Constant:
    name = written.name.text
    wanted: ty.Type | None = ty.Bool() if written.kind != "param" else None
    if written.type is not None:
        wanted = resolve(context, written.type, name)
    default = _known(context, written.default, wanted, written.default.span)
    if wanted is None:
        wanted = default.type
    if given is None:
        value = default
    elif isinstance(given, str):
        value = _from_text(name, given, wanted, at)
    else:
        value = _known(context, given, wanted, given.span)
    span = at if isinstance(given, str) else (given or written.default).span
    if written.type is not None and not ty.member(wanted, value.value):
        raise error("HA141", f"`{name}` must be in {describe(wanted)}, not {show_setting(value)}", span)
    if not isinstance(wanted, ty.Range) and value.type != wanted:
        raise error("HA141", f"`{name}` must be {describe(wanted)}", span)
    if isinstance(value.value, int) and not isinstance(value.value, bool):
        return ir.Constant(value.value, ty.Range(value.value, value.value))
    return value


def _known(context: Context, written: t.Expression, wanted: ty.Type | None, span: Span) -> ir.Constant:
    made = context.constant(elaborate(written, Scope(context, state=False), wanted))
    if not isinstance(made, ir.Constant):
        raise error("HA110", "a setting must be known before the exploration", span)
    return made


def _from_text(name: str, text: str, wanted: ty.Type, at: Span) -> ir.Constant:
    match wanted:
        case ty.Bool() if text in ("on", "off", "true", "false"):
            return ir.Constant(text in ("on", "true"), wanted)
        case ty.Bool():
            raise error("HA141", f"`{name}` is on or off, not {text!r}", at)
        case ty.Range():
            digits = text.removeprefix("-").replace("_", "")
            if not digits.isascii() or not digits.isdigit() or len(digits) > 9:
                raise error("HA141", f"`{name}` is a whole number, not {text!r}", at)
            return ir.Constant(int(text), wanted)
        case ty.Enum(_, members) if text in members:
            return ir.Constant(text, wanted)
        case ty.Enum(_, members):
            raise error("HA141", f"`{name}` is one of {', '.join(members)}, not {text!r}", at, near(text, members))
        case _:
            raise error("HA141", f"`{name}` cannot be set", at)


def show_setting(value: ir.Constant) -> str:
    """A setting's value as users write it."""
    if isinstance(value.value, bool):
        return "on" if value.value else "off"
    return str(value.value)
