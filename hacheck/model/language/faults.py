"""Faults: what the environment may do to nodes, links, messages and locks, how often, and what heals by itself."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language import link_faults, locks, message_losses, node_faults
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.context import Context, Scope
from hacheck.model.language.diagnostics import SpecError, error
from hacheck.model.language.expressions import boolean
from hacheck.model.language.fault_steps import ONE, TOTAL, ZERO, Fault, step
from hacheck.model.language.messages import kind_of
from hacheck.model.language.resolve_types import number
from hacheck.model.rewrite import conjunction
from hacheck.wording import plural

LINKS = ("cut", "cut one way", "isolate", "partition", "bridge")


def survey(context: Context, written: list[d.FaultDeclaration]) -> list[Fault]:
    """The faults that these settings allow; nodes, links and operations they touch are noted in the context.

    Where the system is to be compared with logs, any number of each that may happen at all.
    """
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
    if context.logged:  # a log has as many faults as it has
        found = [replace(fault, limit=None) for fault in found if fault.written.kind != "total"]
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
    _heal_the_same_way(found)
    return found


def _heal_the_same_way(found: list[Fault]) -> None:
    """Errors: `HA127` faults of which some heal and some do not, where afterwards nothing shows which it was."""
    nodes = [fault for fault in found if fault.written.kind in ("crash", "wipe", "blackout")]
    links = [fault for fault in found if fault.written.kind in LINKS]
    for faults in (*([one for one in nodes if one.names == first.names] for first in nodes), links):
        for one in faults[1:]:
            if one.written.for_good != faults[0].written.for_good:
                message = f"`{one.title}` and `{faults[0].title}` must both be `for good`, or neither"
                hint = "what is down or cut keeps no record of the cause"
                first = (faults[0].written.span, "the other one")
                raise error("HA127", message, one.written.span, hint, first)


def _excluded(context: Context, written: d.FaultDeclaration) -> bool:
    """Whether the settings alone rule the fault out. What else its `when` speaks of is not known yet."""
    return written.when is not None and _is_ruled_out(context, written.when)


def _is_ruled_out(context: Context, when: t.Expression) -> bool:
    if isinstance(when, t.Infix) and when.operator == "and":
        return _is_ruled_out(context, when.left) or _is_ruled_out(context, when.right)
    try:
        return bool(context.constant(boolean(when, Scope(context, state=False))) == ir.FALSE)
    except SpecError:
        return False


def condition(context: Context, written: d.FaultDeclaration) -> ir.Expression:
    """When the fault can happen, which may depend on the whole state."""
    return ir.TRUE if written.when is None else context.fold(boolean(written.when, Scope(context)))


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
            kinds = [kind_of(context, name).name for name in one.names]
            for name in one.names[1:]:
                if kinds.count(name.text) > 1:
                    raise error("HA101", f"{name.text} is named twice", name.span, "each kind of node once")
            pairs = product(kinds, kinds)
            context.cutting |= {(a, b) for a, b in pairs if a != b or len(kinds) == 1 or context.nodes[a].size > 1}
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
        if f"{kind}.paused" in context.variables:
            pauses = [fault for fault in found if fault.written.kind == "pause" and fault.names == (kind,)]
            if not pauses:  # the faults themselves are wrong, which was said when they were planned
                continue
            message = f"{kind} has a field `paused`, and can be paused: one word would mean two things"
            raise error("HA101", message, pauses[0].written.span, "call the field something else")
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


# ---- actions ----


def build(context: Context, found: list[Fault], restarts: dict[str, d.RestartDeclaration]) -> list[str]:
    """Add the faults' actions and those that repair them; returns the lines that reports say."""
    found = [replace(fault, condition=condition(context, fault.written)) for fault in found]
    limited = any(fault.written.kind == "total" and fault.limit is not None for fault in found)
    lines: list[str] = []
    for fault in found:
        if fault.written.kind == "total":
            if fault.limit is not None:
                lines.append(f"no more than {plural(fault.limit, 'fault')} in all")
            continue
        makers: dict[str, Callable[[Context, Fault], list[ir.Action]]] = {
            "crash": node_faults.crash,
            "wipe": node_faults.crash,
            "blackout": node_faults.blackout,
            "pause": node_faults.pause,
            "cut": link_faults.cut,
            "cut one way": link_faults.cut,
            "isolate": link_faults.isolate,
            "partition": link_faults.partition,
            "bridge": link_faults.partition,
            "lose": message_losses.lose,
            "duplicate": message_losses.duplicate,
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
        action.description, action.source, fault.written.span.line,
    )  # fmt: skip


# ---- repairs ----


def _repairs(context: Context, found: list[Fault], restarts: dict[str, d.RestartDeclaration]) -> None:
    crashes = ("crash", "wipe", "blackout")
    final = {fault.names[0] for fault in found if fault.written.for_good and fault.written.kind in crashes}
    stopped = {fault.names[0] for fault in found if fault.written.for_good and fault.written.kind == "pause"}
    for name in sorted(context.crashing - final):
        context.actions.append(node_faults.restart(context, context.nodes[name], restarts.get(name)))
    for name in sorted(context.pausing - stopped):
        kind = context.nodes[name]
        node = ir.Local("n", kind)
        paused = context.variable(f"{name}.paused")
        body = (ir.Assign(ir.Target(paused, (node,)), ir.FALSE),)
        text = f"a {name} resumes where it stopped"
        resume = step(f"resume {name}", (("n", kind),), ir.Index(paused, node), body, "repair", "resume", text, "n")
        context.actions.append(resume)
    wide = [fault for fault in found if fault.written.kind in ("isolate", "partition", "bridge")]
    if wide and not all(fault.written.for_good for fault in wide):
        context.actions.append(link_faults.heal_all(context))
    for lock in context.locks.values():
        if lock.freed_late:
            context.actions.append(locks.late_release(context, lock))
