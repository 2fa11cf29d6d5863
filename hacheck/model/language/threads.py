"""Threads of a node: where its handlers of several steps stand, and when another handler must wait for them."""

from __future__ import annotations

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language.context import Context

IDLE = "idle"
"""Where a thread stands while no handler is under way on it."""
MAIN = "main"
"""The thread of multi-step handlers that name none."""


def stands_at(context: Context, kind: ty.Node, node: ir.Expression, thread: str, point: str) -> ir.Expression:
    """Whether a node's thread is at this point."""
    variable = context.variable(f"{kind.name}.{thread}")
    assert isinstance(variable.type, ty.Map)
    return ir.Binary("==", ir.Index(variable, node), ir.Constant(point, variable.type.value))


def not_held(context: Context, kind: ty.Node, node: ir.Expression, own: str | None) -> list[ir.Expression]:
    """That no handler of another thread than `own` waits at a step that holds the node."""
    return [
        ir.Unary("not", stands_at(context, kind, node, thread, point))
        for (owner, thread), points in context.holding.items()
        for point in points
        if owner == kind.name and thread != own
    ]


def may_begin(context: Context, kind: ty.Node, node: ir.Expression, thread: str | None) -> list[ir.Expression]:
    """That a handler which needs this thread (or none) may begin at a node."""
    parts = not_held(context, kind, node, None)
    if thread is not None and context.threads.get((kind.name, thread)):
        parts.append(stands_at(context, kind, node, thread, IDLE))
    return parts
