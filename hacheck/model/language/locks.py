"""Locks: what the lock service says, and what each node believes.

The two part ways: a lock may be taken away silently (`lose`), freed only some time after its holder crashed (`freed
late`), run out (`lease`), or be given back across a link that is cut, which the service does not hear of. A node learns
of a loss by `on lost`, if the spec has it.
"""

from __future__ import annotations

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import clocks
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.context import Context, Scope
from hacheck.model.language.diagnostics import error, near
from hacheck.model.language.expressions import elaborate
from hacheck.model.language.function_calls import changing, is_connected, is_running
from hacheck.model.language.messages import kind_of
from hacheck.model.language.resolve_types import number
from hacheck.model.rewrite import conjunction, disjunction
from hacheck.model.typing import type_of


def declare(context: Context, written: d.LockDeclaration) -> None:
    """The state of a lock. Errors: `HA127` a host that is not one node, a lease without a clock."""
    context.declare(written.name.text, written.name.span)
    holder = kind_of(context, written.holder)
    if written.host is not None and kind_of(context, written.host).size != 1:
        raise error("HA127", "a lock is on one node", written.host.span, "declare that node without `[…]`")
    context.locks[written.name.text] = written
    name = written.name.text
    one = ty.Option(holder)
    context.variables[f"lock.{name}.holder"] = ir.StateVariable(f"lock.{name}.holder", one, None, None, "lock")
    beliefs = ty.Map(holder, ty.Bool())
    believed = f"lock.{name}.believed"
    context.variables[believed] = ir.StateVariable(believed, beliefs, ty.default(beliefs), None, "lock")
    if written.lease is None:
        return
    if holder.name not in context.clocks:
        hint = f"declare `clock {holder.name} up to …`"
        raise error("HA127", f"a lease runs on clocks, and {holder.name}s have none", written.span, hint)
    length = number(context, written.lease, "the length of a lease")
    if length < 1:
        raise error("HA111", f"a lease of {length} ticks is never held", written.span)
    last = clocks.last(context, holder.name) + length
    for part, kind in (("until", ty.Range(0, last)), ("mine", ty.Map(holder, ty.Range(0, last)))):
        full = f"lock.{name}.{part}"
        context.variables[full] = ir.StateVariable(full, kind, ty.default(kind), None, "lock")


def find(context: Context, name: t.Name) -> d.LockDeclaration:
    """The lock of this name. Errors: `HA103` when there is none."""
    lock = context.locks.get(name.text)
    if lock is None:
        raise error("HA103", f"there is no lock `{name.text}`", name.span, near(name.text, context.locks))
    return lock


def holder_of(context: Context, lock: d.LockDeclaration) -> ir.Expression:
    """Who holds the lock, by the lock service."""
    return context.variable(f"lock.{lock.name.text}.holder")


def believed_by(context: Context, lock: d.LockDeclaration, node: ir.Expression) -> ir.Expression:
    """Whether a node believes that it holds the lock; of a lease, by its own clock."""
    belief = ir.Index(context.variable(f"lock.{lock.name.text}.believed"), node)
    if lock.lease is None:
        return belief
    mine = ir.Index(context.variable(f"lock.{lock.name.text}.mine"), node)
    return conjunction(belief, ir.Binary("<", clocks.reading(context, lock.holder.text, node), mine))


def held_for(context: Context, lock: d.LockDeclaration, node: ir.Expression) -> ir.Expression:
    """Whether the lock service holds the lock for a node's process.

    Where it may hold it for a process that has ended, what the node does not believe to hold is nothing of its own.
    """
    mine = ir.Binary("==", holder_of(context, lock), ir.Unary("some", node))
    if lock.freed_late or lock.lease is not None:
        return conjunction(mine, ir.Index(context.variable(f"lock.{lock.name.text}.believed"), node))
    return mine


def freed(context: Context, lock: d.LockDeclaration) -> tuple[ir.Statement, ...]:
    """The lock service holds the lock for nobody any more."""
    holder = context.variable(f"lock.{lock.name.text}.holder")
    free = ir.Assign(ir.Target(holder), ir.Constant(None, holder.type))
    if lock.lease is None:
        return (free,)
    until = ir.Target(context.variable(f"lock.{lock.name.text}.until"))
    return (free, ir.Assign(until, ir.Constant(0, ty.Range(0, 0))))


def run_out(context: Context) -> tuple[ir.Statement, ...]:
    """After a tick: leases that are over are held by nobody, as the service sees it."""
    made: list[ir.Statement] = []
    for lock in context.locks.values():
        if lock.lease is None:
            continue
        holder = holder_of(context, lock)
        over = ir.Binary("<=", context.variable(f"lock.{lock.name.text}.until"), clocks.now(context))
        held = ir.Binary("!=", holder, ir.Constant(None, type_of(holder)))
        made.append(ir.If(ir.Binary("and", held, over), freed(context, lock), ()))
    return tuple(made)


def service_runs(scope: Scope, lock: d.LockDeclaration) -> ir.Expression:
    """Whether the lock service does anything at all."""
    if lock.host is None:
        return ir.TRUE
    kind = scope.context.nodes[lock.host.text]
    return is_running(scope, ir.Constant(1, kind), kind)


def service_reached(scope: Scope, lock: d.LockDeclaration, node: ir.Expression) -> ir.Expression:
    """Whether the node can talk to the lock service."""
    if lock.host is None:
        return ir.TRUE
    host = ir.Constant(1, scope.context.nodes[lock.host.text])
    linked = is_connected(scope, node, host), is_connected(scope, host, node)
    return conjunction(service_runs(scope, lock), *linked)


def acting(lock: d.LockDeclaration, scope: Scope, written: t.Name) -> ir.Expression:
    """The node that acts on a lock. Errors: `HA122` when this kind of node does not hold it."""
    if scope.actor is None or scope.actor_kind is None or scope.actor_kind.name != lock.holder.text:
        raise error("HA122", f"only a {lock.holder.text} holds `{lock.name.text}`", written.span)
    return scope.actor


def acquire(written: t.Name, scope: Scope) -> tuple[ir.Expression, tuple[ir.Statement, ...]]:
    """Whether the acting node gets the lock now, and what getting it does."""
    context = scope.context
    lock = find(context, written)
    node = acting(lock, scope, written)
    holder = holder_of(context, lock)
    kind = context.nodes[lock.holder.text]
    nobody, me = ir.Constant(None, ty.Option(kind)), ir.Unary("some", node)
    name = lock.name.text
    free = disjunction(ir.Binary("==", holder, nobody), held_for(context, lock, node))
    taken: list[ir.Statement] = [
        ir.Assign(ir.Target(context.variable(f"lock.{name}.holder")), me),
        ir.Assign(ir.Target(context.variable(f"lock.{name}.believed"), (node,)), ir.TRUE),
    ]
    if lock.lease is not None:
        until = context.variable(f"lock.{name}.until")
        length = number(context, lock.lease, "the length of a lease")
        ticks = ir.Constant(length, ty.Range(length, length))
        taken.append(ir.Assign(ir.Target(until), ir.Binary("+", clocks.now(context), ticks)))
        own = ir.Binary("+", clocks.reading(context, lock.holder.text, node), ticks)
        taken.append(ir.Assign(ir.Target(context.variable(f"lock.{name}.mine"), (node,)), own))
    return conjunction(service_reached(scope, lock, node), free), tuple(taken)


def release(written: t.Name, scope: Scope) -> tuple[ir.Statement, ...]:
    """The acting node gives the lock back, if it reaches the service."""
    context = scope.context
    lock = find(context, written)
    node = acting(lock, scope, written)
    mine = conjunction(service_reached(scope, lock, node), held_for(context, lock, node))
    return (
        ir.If(mine, freed(context, lock), ()),
        ir.Assign(ir.Target(context.variable(f"lock.{lock.name.text}.believed"), (node,)), ir.FALSE),
    )


def lost(lock: d.LockDeclaration, scope: Scope, node: ir.Expression) -> tuple[ir.Expression, ir.Statement]:
    """When a node can find out that it no longer holds the lock, and that it then knows."""
    context = scope.context
    belief = ir.Index(context.variable(f"lock.{lock.name.text}.believed"), node)
    gone = ir.Binary("!=", holder_of(context, lock), ir.Unary("some", node))
    target = ir.Target(context.variable(f"lock.{lock.name.text}.believed"), (node,))
    return conjunction(belief, gone, service_reached(scope, lock, node)), ir.Assign(target, ir.FALSE)


def on_crash(context: Context, lock: d.LockDeclaration, node: ir.Expression) -> tuple[ir.Statement, ...]:
    """What the crash of a node does to a lock it may hold."""
    name = lock.name.text
    made: list[ir.Statement] = [ir.Assign(ir.Target(context.variable(f"lock.{name}.believed"), (node,)), ir.FALSE)]
    if lock.lease is not None:
        zero = ir.Constant(0, ty.Range(0, 0))
        made.append(ir.Assign(ir.Target(context.variable(f"lock.{name}.mine"), (node,)), zero))
    elif not lock.freed_late:
        made.append(ir.If(held_for(context, lock, node), freed(context, lock), ()))
    return tuple(made)


def late_release(context: Context, lock: d.LockDeclaration) -> ir.Action:
    """The service notices that the holder's process has ended, or gave the lock back without its hearing of it."""
    kind = context.nodes[lock.holder.text]
    node = ir.Local("n", kind)
    held = ir.Binary("==", holder_of(context, lock), ir.Unary("some", node))
    belief = ir.Index(context.variable(f"lock.{lock.name.text}.believed"), node)
    guard = conjunction(held, ir.Unary("not", belief))
    body = freed(context, lock)
    name = f"free {lock.name.text}"
    text = f"the lock service frees {lock.name.text}, whose holder is gone"
    return ir.Action(name, (("n", kind),), guard, body, "repair", None, None, "free", text, "", 0)


def function(written: t.Apply, scope: Scope) -> ir.Expression:
    """`free(L)`, `holder(L)`, `holds(L, n)`."""
    changing(written, scope)
    word = written.name.text
    wanted = 2 if word == "holds" else 1
    if len(written.arguments) != wanted or not isinstance(written.arguments[0].value, t.Name):
        raise error("HA108", f"`{word}` takes a lock{' and a node' if wanted == 2 else ''}", written.span)
    lock = find(scope.context, written.arguments[0].value)
    if word == "holds":
        node = elaborate(written.arguments[1].value, scope, scope.context.nodes[lock.holder.text])
        if scope.sight == "node" and node != scope.actor:
            raise error("HA120", "a node knows only whether it holds a lock itself", written.span)
        return believed_by(scope.context, lock, node)
    if scope.sight == "node":
        hint = f"try it: `acquire {lock.name.text} then … else …`"
        raise error("HA120", f"no node can know `{word}({lock.name.text})`", written.span, hint)
    holder = holder_of(scope.context, lock)
    kind = scope.context.nodes[lock.holder.text]
    return holder if word == "holder" else ir.Binary("==", holder, ir.Constant(None, ty.Option(kind)))
