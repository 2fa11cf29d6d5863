"""What can happen to nodes: crash, wipe, blackout, pause, and what a restart does."""

from __future__ import annotations

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language import locks, messages, operations
from hacheck.model.language.context import Bound, Context, Scope
from hacheck.model.language.expressions import boolean
from hacheck.model.language.fault_steps import Fault, Made, step
from hacheck.model.language.function_calls import is_up
from hacheck.model.language.single_steps import one_step
from hacheck.model.rewrite import conjunction


def crash_effects(context: Context, kind: ty.Node, node: ir.Expression, wipe: bool = False) -> Made:
    """A node's process ends: volatile fields, handlers, what it waits for and what waits for it over connections."""
    made: list[ir.Statement] = []
    for name, declared in context.variables.items():
        if declared.owner != kind.name or declared.ghost or declared.role not in ("field", "frame", "view"):
            continue
        made.extend(_field_after(context, name, declared, node, wipe))
    for name in context.messages:
        message = context.messages[name]
        if message.receiver.text == kind.name and not message.queued:
            made.append(_clear(context, name, node))
    for name in context.operations:
        if f"operation.{name}.request" in context.variables:
            made.extend(_calls_after(context, operations.find(context, context.operations[name].name), kind, node))
    for lock in context.locks.values():
        if lock.holder.text == kind.name:
            made.extend(locks.on_crash(context, lock, node))
    if kind.name in context.crashing:
        made.append(ir.Assign(ir.Target(context.variable(f"{kind.name}.up"), (node,)), ir.FALSE))
    if kind.name in context.pausing:
        made.append(ir.Assign(ir.Target(context.variable(f"{kind.name}.paused"), (node,)), ir.FALSE))
    return tuple(made)


def _field_after(context: Context, name: str, declared: ir.StateVariable, node: ir.Expression, wipe: bool) -> Made:
    target = ir.Target(context.variable(name), (node,))
    if name in context.synced and not wipe:
        return (ir.Assign(target, ir.Index(context.variable(context.synced[name]), node)),)
    if declared.durable and not wipe:
        return ()
    assert isinstance(declared.type, ty.Map)
    values = set(declared.initial)
    if len(values) == 1:
        return (ir.Assign(target, ir.Constant(declared.initial[0], declared.type.value)),)
    return (ir.Assign(target, ir.Index(ir.Constant(declared.initial, declared.type), node)),)


def _clear(context: Context, message: str, node: ir.Expression) -> ir.Statement:
    slot, _ = messages.slot_type(context, message)
    sender = messages.kind_of(context, context.messages[message].sender)
    start = ir.Local(context.fresh_name("from"), sender)
    empty = ir.Assign(messages.slot_target(context, message, start, node), ir.Constant(ty.default(slot), slot))
    return ir.ForEach(start.name, ir.Domain(sender, None, None), (empty,))


def _calls_after(context: Context, operation: operations.Operation, kind: ty.Node, node: ir.Expression) -> Made:
    made: list[ir.Statement] = []
    if operation.caller == kind:
        other = ir.Local(context.fresh_name("callee"), operation.callee)
        gone = operations.forget(operation, Scope(context), node, other)
        made.append(ir.ForEach(other.name, ir.Domain(operation.callee, None, None), gone))
    if operation.callee == kind:
        other = ir.Local(context.fresh_name("caller"), operation.caller)
        dropped = (
            operation.write(context, "request", other, node, operation.no_request),
            operation.write(context, "serving", other, node, ir.FALSE),
        )
        made.append(ir.ForEach(other.name, ir.Domain(operation.caller, None, None), dropped))
    return tuple(made)


def crash(context: Context, fault: Fault) -> list[ir.Action]:
    kind = context.nodes[fault.names[0]]
    node = ir.Local("n", kind)
    wipe = fault.written.kind == "wipe"
    body = crash_effects(context, kind, node, wipe)
    text = "crashes and loses its disk" if wipe else "crashes"
    up = is_up(Scope(context), node, kind)
    word = fault.written.kind
    return [step(f"{word} {kind.name}", (("n", kind),), up, body, "fault", word, f"a {kind.name} {text}", "n")]


def blackout(context: Context, fault: Fault) -> list[ir.Action]:
    kind = context.nodes[fault.names[0]]
    node = ir.Local(context.fresh_name("n"), kind)
    up = is_up(Scope(context), node, kind)
    some_up = ir.Quantified("some", node.name, ir.Domain(kind, None, None), up)
    each = ir.Local(context.fresh_name("n"), kind)
    running = ir.Domain(kind, None, is_up(Scope(context), each, kind))
    body = (ir.ForEach(each.name, running, crash_effects(context, kind, each)),)
    text = f"every {kind.name} crashes at once"
    return [step(f"blackout of {kind.name}", (), some_up, body, "fault", "blackout", text)]


def pause(context: Context, fault: Fault) -> list[ir.Action]:
    kind = context.nodes[fault.names[0]]
    node = ir.Local("n", kind)
    paused = ir.Index(context.variable(f"{kind.name}.paused"), node)
    guard = conjunction(is_up(Scope(context), node, kind), ir.Unary("not", paused))
    body = (ir.Assign(ir.Target(context.variable(f"{kind.name}.paused"), (node,)), ir.TRUE),)
    text = f"a {kind.name} stops for a while and does not know it"
    return [step(f"pause {kind.name}", (("n", kind),), guard, body, "fault", "pause", text, "n")]


def restart(context: Context, kind: ty.Node, hook: d.RestartDeclaration | None) -> ir.Action:
    word = "n" if hook is None else hook.at.text
    node = ir.Local(word, kind)
    up = context.variable(f"{kind.name}.up")
    body: Made = (ir.Assign(ir.Target(up, (node,)), ir.TRUE),)
    text, source, line = f"a {kind.name} starts again", "", 0
    terms: list[ir.Expression] = []
    if hook is not None:
        scope = Scope(context, {word: Bound(node)}, node, kind, "node")
        body = (*body, *one_step(context, "restart", hook.body, scope, lambda _: ()))
        terms += [boolean(one, scope) for one in hook.clauses.when]
        terms += [boolean(one, scope.seeing("all")) for one in hook.clauses.only_after]
        text, source, line = hook.clauses.text or text, hook.clauses.source, hook.span.line
    down = ir.Unary("not", ir.Index(up, node))
    return ir.Action(
        f"restart {kind.name}",
        ((word, kind),),
        conjunction(down, *terms),
        body,
        "repair",
        word,
        None,
        "restart",
        text,
        source,
        line,
    )
