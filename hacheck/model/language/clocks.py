"""Clocks: whole ticks of true time, and each node's own clock within a stated skew of it.

`time()` is true time, which no node can read; `clock(n)` is what a node's clock shows. Without a skew they are equal.
Ticks happen at any moment, also while a node is paused or down; the exploration stops at the clock's last tick.
"""

from __future__ import annotations

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.context import Context, Scope
from hacheck.model.language.diagnostics import error
from hacheck.model.language.expressions import elaborate
from hacheck.model.language.function_calls import changing
from hacheck.model.language.messages import kind_of
from hacheck.model.language.resolve_types import number
from hacheck.model.typing import type_of

TIME = "time"


def declare(context: Context, written: d.ClockDeclaration) -> None:
    """The state of a kind of node's clocks. All kinds share true time, which the first declaration bounds."""
    kind = kind_of(context, written.kind)
    if kind.name in context.clocks:
        raise error("HA101", f"{kind.name}s have a clock already", written.span)
    limit = number(context, written.limit, "the last tick")
    if limit < 1:
        raise error("HA111", f"a clock that stops at {limit} never ticks", written.span)
    if skew(context, kind.name, written) < 0:
        raise error("HA111", "a clock cannot be off by fewer than 0 ticks", written.span)
    if TIME in context.variables:
        bound = context.variables[TIME].type
        assert isinstance(bound, ty.Range)
        if bound.high != limit:
            message = f"all clocks tick with true time, which ends at {bound.high}, not at {limit}"
            first = next(iter(context.clocks.values())).span
            raise error("HA111", message, written.span, f"write `up to {bound.high}`", (first, "first bounded here"))
    else:
        context.variables[TIME] = ir.StateVariable(TIME, ty.Range(0, limit, TIME), 0, None, "clock")
        context.bounds[TIME] = f"up to {limit} ticks"
    context.clocks[kind.name] = written
    if skew(context, kind.name):
        name = f"clock.{kind.name}"
        whole = ty.Map(kind, ty.Range(0, last(context, kind.name)))
        context.variables[name] = ir.StateVariable(name, whole, ty.default(whole), None, "clock")


def skew(context: Context, kind: str, declared: d.ClockDeclaration | None = None) -> int:
    """How many ticks a node's clock may be ahead of or behind true time."""
    written = (declared or context.clocks[kind]).skew
    return 0 if written is None else number(context, written, "a skew")


def last(context: Context, kind: str) -> int:
    """The greatest reading of a clock."""
    declared = context.variables[TIME].type
    assert isinstance(declared, ty.Range)
    return declared.high + skew(context, kind)


def now(context: Context) -> ir.Expression:
    """True time."""
    return context.variable(TIME)


def reading(context: Context, kind: str, node: ir.Expression) -> ir.Expression:
    """What a node's clock shows."""
    if not skew(context, kind):
        return now(context)
    return ir.Index(context.variable(f"clock.{kind}"), node)


def actions(context: Context, at_tick: tuple[ir.Statement, ...]) -> list[ir.Action]:
    """The ticks: of true time, with what else happens then, and of each node's clock as far as the skew allows."""
    if TIME not in context.variables:
        return []
    one = ir.Constant(1, ty.Range(1, 1))
    guard: ir.Expression = ir.TRUE
    made: list[ir.Action] = []
    for name, written in context.clocks.items():
        allowed = skew(context, name)
        if not allowed:
            continue
        kind = context.nodes[name]
        most = ir.Constant(allowed, ty.Range(allowed, allowed))
        node = ir.Local(context.fresh_name("n"), kind)
        behind = ir.Binary("-", ir.Binary("+", now(context), one), reading(context, name, node))
        all_follow = ir.Quantified("every", node.name, ir.Domain(kind, None, None), ir.Binary("<=", behind, most))
        guard = all_follow if guard == ir.TRUE else ir.Binary("and", guard, all_follow)
        made.append(_own_tick(context, kind, most, written))
    later = ir.Assign(ir.Target(ir.Variable(TIME, context.variables[TIME].type)), ir.Binary("+", now(context), one))
    body = (later, *at_tick)
    made.insert(0, ir.Action("tick", (), guard, body, "environment", None, None, "tick", "time passes", "", 0))
    return made


def _own_tick(context: Context, kind: ty.Node, most: ir.Expression, written: d.ClockDeclaration) -> ir.Action:
    one = ir.Constant(1, ty.Range(1, 1))
    node = ir.Local("n", kind)
    own = reading(context, kind.name, node)
    later = ir.Binary("+", own, one)
    guard = ir.Binary("<=", ir.Binary("-", later, now(context)), most)
    body = (ir.Assign(ir.Target(context.variable(f"clock.{kind.name}"), (node,)), later),)
    text = "a node's clock goes on"
    name = f"clock of {kind.name}"
    return ir.Action(name, (("n", kind),), guard, body, "environment", None, None, "tick", text, "", written.span.line)


def function(written: t.Apply, scope: Scope) -> ir.Expression:
    """`time()` and `clock(n)`."""
    changing(written, scope)
    context = scope.context
    if written.name.text == "time":
        if written.arguments or TIME not in context.variables:
            raise error("HA108", "`time()` takes nothing, and needs a `clock`", written.span)
        if scope.sight == "node":
            raise error("HA120", "no node can know true time", written.span, "use `clock(n)`, its own clock")
        return now(context)
    if len(written.arguments) != 1:
        raise error("HA108", "`clock` takes a node", written.span)
    node = elaborate(written.arguments[0].value, scope)
    kind = type_of(node)
    if not isinstance(kind, ty.Node) or kind.name not in context.clocks:
        raise error("HA104", "this has no clock", written.span, "declare one: `clock KIND up to …`")
    if scope.sight == "node" and node != scope.actor:
        raise error("HA120", "a node reads only its own clock", written.span)
    return reading(context, kind.name, node)
