"""What can happen to links: cut both ways or one, a node isolated, all nodes split in two, with or without a bridge."""

from __future__ import annotations

from itertools import product

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language.context import Context
from hacheck.model.language.diagnostics import error
from hacheck.model.language.fault_steps import ZERO, Fault, step
from hacheck.model.rewrite import conjunction, disjunction

SPLIT_MAX = 16
"""Nodes of a kind that may be split in two: each of some 2^(N-1) ways is a step of its own."""


def set_cut(
    context: Context, start: ir.Expression, end: ir.Expression, kinds: tuple[str, str], value: bool
) -> ir.Statement:
    """One direction of one link cut or healed."""
    target = ir.Target(context.variable(f"cut.{kinds[0]}.{kinds[1]}"), (start, end))
    return ir.Assign(target, ir.TRUE if value else ir.FALSE)


def _is_cut(context: Context, start: ir.Expression, end: ir.Expression, kinds: tuple[str, str]) -> ir.Expression:
    return ir.Index(ir.Index(context.variable(f"cut.{kinds[0]}.{kinds[1]}"), start), end)


def cut(context: Context, fault: Fault) -> list[ir.Action]:
    first, second = fault.names
    kinds, back = (first, second), (second, first)
    a, b = ir.Local("a", context.nodes[first]), ir.Local("b", context.nodes[second])
    one_way = fault.written.kind == "cut one way"
    once: ir.Expression = ir.TRUE
    if first == second:
        once = ir.Binary("!=", a, b) if one_way else ir.Binary("<", a, b)
    cut, cut_back = _is_cut(context, a, b, kinds), _is_cut(context, b, a, back)
    whole = cut if one_way else conjunction(cut, cut_back)
    directions = [(a, b, kinds)] if one_way else [(a, b, kinds), (b, a, back)]
    parameters = (("a", a.type), ("b", b.type))
    joint = "->" if one_way else "-"
    text = f"the link {first} {joint} {second} is cut"
    body = tuple(set_cut(context, *ends, True) for ends in directions)
    made = [
        step(
            f"cut {first} {joint} {second}",
            parameters,
            conjunction(once, ir.Unary("not", whole)),
            body,
            "fault",
            "cut",
            text,
        )
    ]
    if not fault.written.for_good:
        healed = tuple(set_cut(context, *ends, False) for ends in directions)
        either = cut if one_way else ir.Binary("or", cut, cut_back)
        text = f"the link {first} {joint} {second} works again"
        made.append(
            step(
                f"heal {first} {joint} {second}", parameters, conjunction(once, either), healed, "repair", "heal", text
            )
        )
    return made


def _links_of(context: Context, kind: ty.Node) -> list[tuple[ty.Node, bool]]:
    return [
        (context.nodes[other], other == kind.name) for first, other in sorted(context.cutting) if first == kind.name
    ]


def _both_directions(
    node: ir.Expression, other: ir.Expression, kind: ty.Node, of: ty.Node
) -> tuple[tuple[ir.Expression, ir.Expression, tuple[str, str]], ...]:
    return (node, other, (kind.name, of.name)), (other, node, (of.name, kind.name))


def isolate(context: Context, fault: Fault) -> list[ir.Action]:
    kind = context.nodes[fault.names[0]]
    node = ir.Local("n", kind)
    some_open: ir.Expression = ir.FALSE
    body: list[ir.Statement] = []
    for other, same in _links_of(context, kind):
        m = ir.Local(context.fresh_name("m"), other)
        directions = _both_directions(node, m, kind, other)
        domain = ir.Domain(other, None, ir.Binary("!=", m, node) if same else None)
        body.append(ir.ForEach(m.name, domain, tuple(set_cut(context, *ends, True) for ends in directions)))
        unique = ir.Local(context.fresh_name("m"), other)
        check = ir.Domain(other, None, ir.Binary("!=", unique, node) if same else None)
        out, back = (_is_cut(context, *ends) for ends in _both_directions(node, unique, kind, other))
        open_here = ir.Quantified("some", unique.name, check, ir.Unary("not", ir.Binary("and", out, back)))
        some_open = open_here if some_open == ir.FALSE else ir.Binary("or", some_open, open_here)
    text = f"a {kind.name} is cut off from everything"
    return [step(f"isolate {kind.name}", (("n", kind),), some_open, tuple(body), "fault", "isolate", text)]


def partition(context: Context, fault: Fault) -> list[ir.Action]:
    """One side is the set that holds the first node (but for the bridge), so that each split is there once."""
    if len(fault.names) > 1:
        return [split_together(context, fault)]
    kind = context.nodes[fault.names[0]]
    if kind.size > SPLIT_MAX:
        message = f"{kind.size} {kind.name}s are split in too many ways; {SPLIT_MAX} can be"
        raise error("HA112", message, fault.written.span, "cut single links, or isolate a node")
    side = ir.Local("side", ty.Set(kind))
    bridges = fault.written.kind == "bridge"
    bridge = ir.Local("over", kind)
    first = ir.Local(context.fresh_name("first"), kind)
    domain = ir.Domain(kind, None, ir.Binary("!=", first, bridge) if bridges else None)
    leader = ir.Extreme("min", first.name, domain, ZERO)
    smallest = kind.size - (1 if bridges else 0)
    proper = ir.Binary("<", ir.Unary("size", side), ir.Constant(smallest, ty.Range(smallest, smallest)))
    guard = conjunction(ir.Binary("in", leader, side), proper)
    if bridges:
        guard = conjunction(ir.Unary("not", ir.Binary("in", bridge, side)), guard)
    a, b = ir.Local(context.fresh_name("a"), kind), ir.Local(context.fresh_name("b"), kind)
    outside: ir.Expression = ir.Unary("not", ir.Binary("in", b, side))
    if bridges:
        outside = conjunction(outside, ir.Binary("!=", b, bridge))
    directions = _both_directions(a, b, kind, kind)
    inner = ir.ForEach(
        b.name, ir.Domain(kind, None, outside), tuple(set_cut(context, *ends, True) for ends in directions)
    )
    both_cut = conjunction(*(_is_cut(context, *ends) for ends in directions))
    open_from = ir.Quantified("some", b.name, ir.Domain(kind, None, outside), ir.Unary("not", both_cut))
    guard = conjunction(guard, ir.Quantified("some", a.name, ir.Domain(kind, side, None), open_from))
    body = (ir.ForEach(a.name, ir.Domain(kind, side, None), (inner,)),)
    parameters: tuple[tuple[str, ty.Type], ...] = (("side", side.type),)
    if bridges:
        parameters = (("over", kind), *parameters)
    word = fault.written.kind
    text = f"{kind.name}s are split in two" + (", and one still reaches both sides" if bridges else "")
    return [step(f"{word} {kind.name}", parameters, guard, body, "fault", word, text)]


def split_together(context: Context, fault: Fault) -> ir.Action:
    """Nodes of several kinds split in two: one side is a set of each kind, with the first node of the first one."""
    kinds = [context.nodes[name] for name in fault.names]
    total = sum(kind.size for kind in kinds)
    if total > SPLIT_MAX:
        message = f"{total} nodes are split in too many ways; {SPLIT_MAX} can be"
        raise error("HA112", message, fault.written.span, "cut single links, or isolate a node")
    sides = {kind: ir.Local(f"side_{kind.name}", ty.Set(kind)) for kind in kinds}
    first = ir.Local(context.fresh_name("first"), kinds[0])
    leader = ir.Extreme("min", first.name, ir.Domain(kinds[0], None, None), ZERO)
    others: list[ir.Expression] = []
    for kind in kinds:
        n = ir.Local(context.fresh_name("n"), kind)
        outside = ir.Unary("not", ir.Binary("in", n, sides[kind]))
        others.append(ir.Quantified("some", n.name, ir.Domain(kind, None, None), outside))
    some_open: list[ir.Expression] = []
    body: list[ir.Statement] = []
    for kind, other in product(kinds, kinds):
        if (kind.name, other.name) not in context.cutting:
            continue
        a, b = ir.Local(context.fresh_name("a"), kind), ir.Local(context.fresh_name("b"), other)
        here = ir.Domain(kind, sides[kind], None)
        there = ir.Domain(other, None, ir.Unary("not", ir.Binary("in", b, sides[other])))
        directions = _both_directions(a, b, kind, other)
        inner = ir.ForEach(b.name, there, tuple(set_cut(context, *ends, True) for ends in directions))
        body.append(ir.ForEach(a.name, here, (inner,)))
        c, e = ir.Local(context.fresh_name("a"), kind), ir.Local(context.fresh_name("b"), other)
        beyond = ir.Domain(other, None, ir.Unary("not", ir.Binary("in", e, sides[other])))
        both_cut = conjunction(*(_is_cut(context, *ends) for ends in _both_directions(c, e, kind, other)))
        open_from = ir.Quantified("some", e.name, beyond, ir.Unary("not", both_cut))
        some_open.append(ir.Quantified("some", c.name, ir.Domain(kind, sides[kind], None), open_from))
    guard = conjunction(ir.Binary("in", leader, sides[kinds[0]]), disjunction(*others), disjunction(*some_open))
    parameters = tuple((side.name, side.type) for side in sides.values())
    text = f"{' and '.join(f'{kind.name}s' for kind in kinds)} are split in two"
    return step(fault.title, parameters, guard, tuple(body), "fault", "partition", text)


def heal_all(context: Context) -> ir.Action:
    some: ir.Expression = ir.FALSE
    body: list[ir.Statement] = []
    for first, second in sorted(context.cutting):
        a, b = (
            ir.Local(context.fresh_name("a"), context.nodes[first]),
            ir.Local(context.fresh_name("b"), context.nodes[second]),
        )
        cut = _is_cut(context, a, b, (first, second))
        inside = ir.Quantified("some", b.name, ir.Domain(b.type, None, None), cut)
        found = ir.Quantified("some", a.name, ir.Domain(a.type, None, None), inside)
        some = found if some == ir.FALSE else ir.Binary("or", some, found)
        c, e = ir.Local(context.fresh_name("a"), a.type), ir.Local(context.fresh_name("b"), b.type)
        healed = ir.ForEach(e.name, ir.Domain(e.type, None, None), (set_cut(context, c, e, (first, second), False),))
        body.append(ir.ForEach(c.name, ir.Domain(c.type, None, None), (healed,)))
    return step("heal all links", (), some, tuple(body), "repair", "heal", "all links work again")
