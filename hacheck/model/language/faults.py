"""Faults: what the environment may do to nodes, links, messages and locks, how often, and what heals by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language import locks, messages, operations
from hacheck.model.language.context import Bound, Context, Scope
from hacheck.model.language.diagnostics import SpecError, error, near
from hacheck.model.language.expressions import boolean
from hacheck.model.language.folding import fold
from hacheck.model.language.functions import is_up
from hacheck.model.language.messages import kind_of
from hacheck.model.language.operations import conjunction
from hacheck.model.language.resolve_types import number
from hacheck.model.language.single_steps import one_step

Made = tuple[ir.Statement, ...]
ONE = ir.Constant(1, ty.Range(1, 1))
ZERO = ir.Constant(0, ty.Range(0, 0))
TOTAL = "faults left"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that can happen in this check. `limit` is `None` when it may happen any number of times."""

    written: d.FaultDeclaration
    limit: int | None
    condition: ir.Expression

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name.text for name in self.written.names)

    @property
    def title(self) -> str:
        """What the fault is called in reports: `crash Replica`."""
        word = "cut" if self.written.kind == "cut one way" else self.written.kind
        joint = " -> " if self.written.kind == "cut one way" else " - "
        return f"{word} {joint.join(self.names)}"


def survey(context: Context, written: list[d.FaultDeclaration]) -> list[Fault]:
    """The faults that these settings allow; nodes, links and operations they touch are noted in the context."""
    found: list[Fault] = []
    for one in written:
        limit = None if one.budget is None else number(context, one.budget, "how often a fault may happen")
        if limit is not None and limit < 0:
            raise error("HA111", f"a fault cannot happen {limit} times", one.span)
        if not _excluded(context, one):
            found.append(Fault(one, limit, ir.TRUE))
    if any(fault.written.kind == "total" and fault.limit == 0 for fault in found):
        return []
    found = [fault for fault in found if fault.limit != 0]
    limited = any(fault.written.kind == "total" and fault.limit is not None for fault in found)
    for index, fault in enumerate(found):
        twice = next((other for other in found[:index] if other.title == fault.title), None)
        if twice is not None:
            hint = "one line for each fault; join their conditions with `or`"
            raise error(
                "HA101",
                f"`{fault.title}` is listed twice",
                fault.written.span,
                hint,
                (twice.written.span, "first here"),
            )
        _note(context, fault, limited)
    return found


def _excluded(context: Context, written: d.FaultDeclaration) -> bool:
    """Whether the settings alone rule the fault out. What else its `when` speaks of is not known yet."""
    if written.when is None:
        return False
    try:
        return bool(fold(boolean(written.when, Scope(context, state=False))) == ir.FALSE)
    except SpecError:
        return False


def condition(context: Context, written: d.FaultDeclaration) -> ir.Expression:
    """When the fault can happen, which may depend on the whole state."""
    return ir.TRUE if written.when is None else fold(boolean(written.when, Scope(context)))


def _note(context: Context, fault: Fault, limited: bool) -> None:
    one = fault.written
    match one.kind:
        case "crash" | "wipe" | "blackout":
            context.crashing.add(kind_of(context, one.names[0]).name)
        case "pause":
            context.pausing.add(kind_of(context, one.names[0]).name)
        case "cut" | "cut one way":
            first, second = (kind_of(context, name).name for name in one.names)
            context.cutting |= {(first, second), (second, first)}
        case "isolate":
            kind = kind_of(context, one.names[0]).name
            for other in context.nodes:
                if other != kind or context.nodes[kind].size > 1:
                    context.cutting |= {(kind, other), (other, kind)}
        case "partition" | "bridge":
            kind = kind_of(context, one.names[0]).name
            context.cutting.add((kind, kind))
        case "lose":
            budgets = [f"budget.{fault.title}"] if fault.limit is not None else []
            context.losing[one.names[0].text] = (one, (*budgets, *([TOTAL] if limited else [])))
        case "duplicate" | "total":
            return


def declare(context: Context, found: list[Fault]) -> None:
    """The variables that say who is down, paused or cut off, and what may still happen."""
    for kind in sorted(context.crashing):
        _status(context, f"{kind}.up", ty.Map(context.nodes[kind], ty.Bool()), kind, True)
    for kind in sorted(context.pausing):
        _status(context, f"{kind}.paused", ty.Map(context.nodes[kind], ty.Bool()), kind, False)
    for first, second in sorted(context.cutting):
        whole = ty.Map(context.nodes[first], ty.Map(context.nodes[second], ty.Bool()))
        name = f"cut.{first}.{second}"
        context.variables[name] = ir.StateVariable(name, whole, ty.default(whole), None, "status")
    for fault in found:
        if fault.limit is not None:
            name = TOTAL if fault.written.kind == "total" else f"budget.{fault.title}"
            kind_of_budget = ty.Range(0, fault.limit)
            context.variables[name] = ir.StateVariable(name, kind_of_budget, fault.limit, None, "budget")


def _status(context: Context, name: str, kind: ty.Map, owner: str, value: bool) -> None:
    initial = (value,) * ty.cardinality(kind.key)
    context.variables[name] = ir.StateVariable(name, kind, initial, owner, "status", durable=True)


# ---- what a crash does ----


def crash_effects(context: Context, kind: ty.Node, node: ir.Expression, wipe: bool = False) -> Made:
    """A node's process ends: volatile fields, handlers, what it waits for and what waits for it over connections."""
    made: list[ir.Statement] = []
    for name, declared in context.variables.items():
        if declared.owner != kind.name or declared.ghost or declared.role not in ("field", "frame", "view"):
            continue
        made.extend(_field_after(context, name, declared, node, wipe))
    for name in context.messages:
        message = context.messages[name]
        if message.receiver.text == kind.name and not message.datagram:
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


# ---- actions ----


def build(context: Context, found: list[Fault], restarts: dict[str, d.RestartDeclaration]) -> list[str]:
    """Add the faults' actions and those that repair them; returns the lines that reports say."""
    found = [replace(fault, condition=condition(context, fault.written)) for fault in found]
    limited = any(fault.written.kind == "total" and fault.limit is not None for fault in found)
    lines: list[str] = []
    for fault in found:
        if fault.written.kind == "total":
            lines.append(f"no more than {fault.limit} faults in all")
            continue
        makers: dict[str, Callable[[Context, Fault], list[ir.Action]]] = {
            "crash": _crash,
            "wipe": _crash,
            "blackout": _blackout,
            "pause": _pause,
            "cut": _cut,
            "cut one way": _cut,
            "isolate": _isolate,
            "partition": _partition,
            "bridge": _partition,
            "lose": _lose,
            "duplicate": _duplicate,
        }
        for action in makers[fault.written.kind](context, fault):
            context.actions.append(_budgeted(context, fault, action, limited))
        often = "any number of times" if fault.limit is None else f"up to {fault.limit}"
        lines.append(f"{fault.title}, {often}{', for good' if fault.written.for_good else ''}")
    _repairs(context, found, restarts)
    return lines


def _budgeted(context: Context, fault: Fault, action: ir.Action, limited: bool) -> ir.Action:
    if action.kind != "fault":
        return action
    guard, body = conjunction(fault.condition, action.guard), action.body
    budgets = [f"budget.{fault.title}"] if fault.limit is not None else []
    for budget in (*budgets, *([TOTAL] if limited else [])):
        left = context.variable(budget)
        guard = conjunction(ir.Binary("<", ZERO, left), guard)
        body = (*body, ir.Assign(ir.Target(left), ir.Binary("-", left, ONE)))
    return ir.Action(
        action.name, action.parameters, guard, body, "fault", action.actor, action.peer, action.handler,
        action.description, action.source, fault.written.span.start,
    )  # fmt: skip


def _action(
    name: str, parameters: tuple[tuple[str, ty.Type], ...], guard: ir.Expression, body: Made, kind: ir.ActionKind,
    handler: str, text: str, actor: str | None = None,
) -> ir.Action:  # fmt: skip
    return ir.Action(name, parameters, guard, body, kind, actor, None, handler, text, "", 0)


def _crash(context: Context, fault: Fault) -> list[ir.Action]:
    kind = context.nodes[fault.names[0]]
    node = ir.Local("n", kind)
    wipe = fault.written.kind == "wipe"
    body = crash_effects(context, kind, node, wipe)
    text = "crashes and loses its disk" if wipe else "crashes"
    up = is_up(Scope(context), node, kind)
    word = fault.written.kind
    return [_action(f"{word} {kind.name}", (("n", kind),), up, body, "fault", word, f"a {kind.name} {text}", "n")]


def _blackout(context: Context, fault: Fault) -> list[ir.Action]:
    kind = context.nodes[fault.names[0]]
    node = ir.Local(context.fresh_name("n"), kind)
    up = is_up(Scope(context), node, kind)
    some_up = ir.Quantified("some", node.name, ir.Domain(kind, None, None), up)
    each = ir.Local(context.fresh_name("n"), kind)
    running = ir.Domain(kind, None, is_up(Scope(context), each, kind))
    body = (ir.ForEach(each.name, running, crash_effects(context, kind, each)),)
    text = f"every {kind.name} crashes at once"
    return [_action(f"blackout of {kind.name}", (), some_up, body, "fault", "blackout", text)]


def _pause(context: Context, fault: Fault) -> list[ir.Action]:
    kind = context.nodes[fault.names[0]]
    node = ir.Local("n", kind)
    paused = ir.Index(context.variable(f"{kind.name}.paused"), node)
    guard = conjunction(is_up(Scope(context), node, kind), ir.Unary("not", paused))
    body = (ir.Assign(ir.Target(context.variable(f"{kind.name}.paused"), (node,)), ir.TRUE),)
    text = f"a {kind.name} stops for a while and does not know it"
    return [_action(f"pause {kind.name}", (("n", kind),), guard, body, "fault", "pause", text, "n")]


def set_cut(
    context: Context, start: ir.Expression, end: ir.Expression, kinds: tuple[str, str], value: bool
) -> ir.Statement:
    """One direction of one link cut or healed."""
    target = ir.Target(context.variable(f"cut.{kinds[0]}.{kinds[1]}"), (start, end))
    return ir.Assign(target, ir.TRUE if value else ir.FALSE)


def _is_cut(context: Context, start: ir.Expression, end: ir.Expression, kinds: tuple[str, str]) -> ir.Expression:
    return ir.Index(ir.Index(context.variable(f"cut.{kinds[0]}.{kinds[1]}"), start), end)


def _cut(context: Context, fault: Fault) -> list[ir.Action]:
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
    body = tuple(set_cut(context, *way, True) for way in directions)
    made = [
        _action(
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
        healed = tuple(set_cut(context, *way, False) for way in directions)
        either = cut if one_way else ir.Binary("or", cut, cut_back)
        text = f"the link {first} {joint} {second} works again"
        made.append(
            _action(
                f"heal {first} {joint} {second}", parameters, conjunction(once, either), healed, "repair", "heal", text
            )
        )
    return made


def _links_of(context: Context, kind: ty.Node) -> list[tuple[ty.Node, bool]]:
    return [
        (context.nodes[other], other == kind.name) for first, other in sorted(context.cutting) if first == kind.name
    ]


def _isolate(context: Context, fault: Fault) -> list[ir.Action]:
    kind = context.nodes[fault.names[0]]
    node = ir.Local("n", kind)
    some_open: ir.Expression = ir.FALSE
    body: list[ir.Statement] = []
    for other, same in _links_of(context, kind):
        m = ir.Local(context.fresh_name("m"), other)
        ways = ((node, m, (kind.name, other.name)), (m, node, (other.name, kind.name)))
        domain = ir.Domain(other, None, ir.Binary("!=", m, node) if same else None)
        body.append(ir.ForEach(m.name, domain, tuple(set_cut(context, *way, True) for way in ways)))
        unique = ir.Local(context.fresh_name("m"), other)
        check = ir.Domain(other, None, ir.Binary("!=", unique, node) if same else None)
        open_here = ir.Quantified(
            "some", unique.name, check, ir.Unary("not", _is_cut(context, node, unique, (kind.name, other.name)))
        )
        some_open = open_here if some_open == ir.FALSE else ir.Binary("or", some_open, open_here)
    text = f"a {kind.name} is cut off from everything"
    return [_action(f"isolate {kind.name}", (("n", kind),), some_open, tuple(body), "fault", "isolate", text)]


def _partition(context: Context, fault: Fault) -> list[ir.Action]:
    """One side is the set that holds the first node (but for the bridge), so that each split is told once."""
    kind = context.nodes[fault.names[0]]
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
    ways = ((a, b, (kind.name, kind.name)), (b, a, (kind.name, kind.name)))
    inner = ir.ForEach(b.name, ir.Domain(kind, None, outside), tuple(set_cut(context, *way, True) for way in ways))
    body = (ir.ForEach(a.name, ir.Domain(kind, side, None), (inner,)),)
    parameters: tuple[tuple[str, ty.Type], ...] = (("side", side.type),)
    if bridges:
        parameters = (("over", kind), *parameters)
    word = fault.written.kind
    text = f"{kind.name}s are split in two" + (", and one still reaches both sides" if bridges else "")
    return [_action(f"{word} {kind.name}", parameters, guard, body, "fault", word, text)]


def _lose(context: Context, fault: Fault) -> list[ir.Action]:
    name = fault.written.names[0]
    if name.text in context.messages:
        return [_lose_message(context, name.text)]
    if name.text in context.operations:
        return _lose_call(context, operations.find(context, name))
    if name.text in context.locks:
        holder = context.variable(f"lock.{name.text}.holder")
        held = ir.Binary("!=", holder, ir.Constant(None, holder.type))
        body = (ir.Assign(ir.Target(holder), ir.Constant(None, holder.type)),)
        text = f"{name.text} is lost, and its holder is not told"
        return [_action(f"lose {name.text}", (), held, body, "fault", "lose", text)]
    known = [*context.messages, *context.operations, *context.locks]
    raise error("HA103", f"there is no message, operation or lock `{name.text}`", name.span, near(name.text, known))


def _link(context: Context, message: str) -> tuple[ir.Local, ir.Local, tuple[tuple[str, ty.Type], ...]]:
    declared = context.messages[message]
    sender, receiver = kind_of(context, declared.sender), kind_of(context, declared.receiver)
    return ir.Local("from", sender), ir.Local("to", receiver), (("from", sender), ("to", receiver))


def _lose_message(context: Context, message: str) -> ir.Action:
    start, end, parameters = _link(context, message)
    slot, payload = messages.slot_type(context, message)
    current = messages.slot_of(context, message, start, end)
    target = messages.slot_target(context, message, start, end)
    there = ir.Binary("!=", current, ir.Constant(ty.default(slot), slot))
    body: Made = (ir.Assign(target, ir.Constant(None, slot)),)
    if not isinstance(slot, ty.Option):
        one = ir.Local("lost", payload)
        body = (
            ir.Choose("lost", ir.Domain(payload, current, None)),
            ir.Assign(target, ir.Binary("without", current, one)),
        )
    text = f"{message} is lost on its way"
    return _action(f"lose {message}", parameters, there, body, "fault", "lose", text)


def _lose_call(context: Context, operation: operations.Operation) -> list[ir.Action]:
    if operations.is_atomic(context, operation.name):
        return []
    caller, callee = ir.Local("from", operation.caller), ir.Local("to", operation.callee)
    parameters = (("from", operation.caller), ("to", operation.callee))
    made = []
    for part, empty in (("request", operation.no_request), ("answer", operation.no_answer)):
        there = ir.Binary("!=", operation.at(context, part, caller, callee), empty)
        body = (operation.write(context, part, caller, callee, empty),)
        text = f"the {part} of {operation.name} is lost on its way"
        made.append(_action(f"lose {part} of {operation.name}", parameters, there, body, "fault", "lose", text))
    return made


def _duplicate(context: Context, fault: Fault) -> list[ir.Action]:
    name = fault.written.names[0]
    if name.text not in context.messages:
        hint = near(name.text, context.messages)
        raise error("HA103", f"there is no message `{name.text}`", name.span, hint)
    start, end, parameters = _link(context, name.text)
    slot, payload = messages.slot_type(context, name.text)
    if isinstance(slot, ty.Option):
        hint = "give the message `up to 2` or more"
        raise error("HA127", f"a link that holds one {name.text} cannot hold it twice", name.span, hint)
    current = messages.slot_of(context, name.text, start, end)
    target = messages.slot_target(context, name.text, start, end)
    there = ir.Binary("!=", current, ir.Constant((), slot))
    one = ir.Local("again", payload)
    operator: ir.BinaryOperator = "append" if isinstance(slot, ty.Sequence) else "with"
    body = (ir.Choose("again", ir.Domain(payload, current, None)), ir.Assign(target, ir.Binary(operator, current, one)))
    text = f"{name.text} is delivered once more"
    return [_action(f"duplicate {name.text}", parameters, there, body, "fault", "duplicate", text)]


# ---- repairs ----


def _repairs(context: Context, found: list[Fault], restarts: dict[str, d.RestartDeclaration]) -> None:
    crashes = ("crash", "wipe", "blackout")
    final = {fault.names[0] for fault in found if fault.written.for_good and fault.written.kind in crashes}
    stopped = {fault.names[0] for fault in found if fault.written.for_good and fault.written.kind == "pause"}
    for name in sorted(context.crashing - final):
        context.actions.append(_restart(context, context.nodes[name], restarts.get(name)))
    for name in sorted(context.pausing - stopped):
        kind = context.nodes[name]
        node = ir.Local("n", kind)
        paused = context.variable(f"{name}.paused")
        body = (ir.Assign(ir.Target(paused, (node,)), ir.FALSE),)
        text = f"a {name} goes on where it stopped"
        resume = _action(f"resume {name}", (("n", kind),), ir.Index(paused, node), body, "repair", "resume", text, "n")
        context.actions.append(resume)
    wide = [fault for fault in found if fault.written.kind in ("isolate", "partition", "bridge")]
    if wide and not all(fault.written.for_good for fault in wide):
        context.actions.append(_heal_all(context))
    for lock in context.locks.values():
        if lock.freed_late:
            context.actions.append(locks.late_release(context, lock))


def _restart(context: Context, kind: ty.Node, hook: d.RestartDeclaration | None) -> ir.Action:
    word = "n" if hook is None else hook.at.text
    node = ir.Local(word, kind)
    up = context.variable(f"{kind.name}.up")
    body: Made = (ir.Assign(ir.Target(up, (node,)), ir.TRUE),)
    text, source, line = f"a {kind.name} starts again", "", 0
    terms: list[ir.Expression] = []
    if hook is not None:
        scope = Scope(context, ((word, Bound(node)),), node, kind, "node")
        body = (*body, *one_step(context, "restart", hook.body, scope, lambda _: ()))
        terms += [boolean(one, scope) for one in hook.clauses.when]
        terms += [boolean(one, scope.seeing("all")) for one in hook.clauses.only_after]
        text, source, line = hook.clauses.text or text, hook.clauses.source, hook.span.start
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


def _heal_all(context: Context) -> ir.Action:
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
    return _action("heal all links", (), some, tuple(body), "repair", "heal", "all links work again")
