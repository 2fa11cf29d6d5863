"""Handlers by name and owner, the points at which they may be interrupted, and the threads these are on."""

from __future__ import annotations

from collections.abc import Collection
from itertools import count

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language import locks, messages, operations
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.context import Context
from hacheck.model.language.diagnostics import Span, error
from hacheck.model.language.threads import IDLE, MAIN
from hacheck.model.language.tree_walk import statements

Behaviour = d.ActionDeclaration | d.ReceiveDeclaration | d.LostDeclaration
"""What becomes actions of its own; a restart becomes part of the repair."""


def name_of(written: Behaviour) -> str:
    """The handler's name: the action's, message's or operation's own, or `lost_LOCK`."""
    return f"lost_{written.lock.text}" if isinstance(written, d.LostDeclaration) else written.name.text


def owner_of(context: Context, written: Behaviour) -> ty.Node | None:
    """The kind of node a handler runs on; `None` for the environment."""
    match written:
        case d.ActionDeclaration(environment=True):
            return None
        case d.ActionDeclaration(parameters=parameters):
            named = (context.types.get(one.type.names[0].text) for one in parameters if one.type.kind == "name")
            return next((kind for kind in named if isinstance(kind, ty.Node)), None)
        case d.ReceiveDeclaration(serves=True):
            return operations.find(context, written.name).callee
        case d.ReceiveDeclaration():
            if written.name.text not in context.messages:
                hint = "declare it: `message NAME(…) from KIND to KIND`"
                raise error("HA103", f"there is no message `{written.name.text}`", written.name.span, hint)
            return messages.kind_of(context, context.messages[written.name.text].receiver)
        case d.LostDeclaration(lock=lock):
            return messages.kind_of(context, locks.find(context, lock).holder)


def points_of(context: Context, written: Behaviour) -> dict[Span, str]:
    """Every place where the handler may be interrupted, with its name `handler.step`."""
    found: dict[Span, str] = {}
    for one in statements(written.body):
        match one:
            case t.StepPoint(name):
                word = name.text
            case t.Call(operation) if operation.text in context.operations:
                if operations.is_atomic(context, operation.text):
                    continue
                word = operation.text
            case _:
                continue
        point = f"{name_of(written)}.{word}"
        if isinstance(one, t.StepPoint) and point in found.values():
            raise error("HA101", f"`{word}` is a step of this handler already", one.span)
        found[one.span] = untaken(point, found.values())
    return found


def passed_at_once(context: Context, written: Behaviour) -> tuple[str, ...]:
    """The points at which the handler would wait if its atomic calls took several steps."""
    found: list[str] = []
    for one in statements(written.body):
        called = one.operation.text if isinstance(one, t.Call) else ""
        if called in context.operations and operations.is_atomic(context, called):
            found.append(untaken(f"{name_of(written)}.{called}", found))
    return tuple(found)


def untaken(word: str, taken: Collection[str]) -> str:
    """The word, numbered from 2 where it is taken."""
    numbered = (f"{word}_{number}" for number in count(2))
    return word if word not in taken else next(one for one in numbered if one not in taken)


def halts(written: Behaviour) -> bool:
    """Whether the handler may stop its node."""
    return any(isinstance(one, t.Halt) for one in statements(written.body))


def thread_of(written: Behaviour, points: dict[Span, str]) -> str | None:
    """The thread the handler needs; a handler of one step that names none needs none."""
    if written.clauses.thread is not None:
        return written.clauses.thread.text
    return MAIN if points else None


def declare_points(context: Context, written: Behaviour) -> None:
    """Make a handler and its points known, before any expression asks for them."""
    name = name_of(written)
    if name in context.handlers:
        raise error("HA101", f"there is a handler `{name}` already", written.span)
    owner = owner_of(context, written)
    context.handlers[name] = owner
    context.at_once[name] = passed_at_once(context, written)
    points = points_of(context, written)
    thread = thread_of(written, points)
    if isinstance(written, d.ReceiveDeclaration) and written.serves:
        context.serving[name] = thread
    if thread is None:
        return
    if owner is None:
        raise error("HA130", "the environment's actions are single steps", written.span, "give it a node parameter")
    if points and f"{owner.name}.{thread}" in context.variables:
        message = f"`{thread}` is a field of {owner.name} already; call the thread something else"
        raise error("HA101", message, written.span if written.clauses.thread is None else written.clauses.thread.span)
    context.threads.setdefault((owner.name, thread), []).extend(points.values())
    for one in statements(written.body):
        if isinstance(one, t.Call) and one.span in points:
            context.callers.setdefault(one.operation.text, set()).add((owner.name, thread))
    held = [points[one.span] for one in statements(written.body) if isinstance(one, t.StepPoint) and one.holding]
    context.holding.setdefault((owner.name, thread), []).extend(held)


def declare_threads(context: Context) -> None:
    """The variable of each node's thread: idle, or the point at which a handler waits."""
    for (owner, thread), points in context.threads.items():
        name = f"{owner}.{thread}"
        if not points:
            continue
        kind = ty.Enum(name, (IDLE, *points))
        whole = ty.Map(context.nodes[owner], kind)
        context.variables[name] = ir.StateVariable(name, whole, ty.default(whole), owner, "frame")
