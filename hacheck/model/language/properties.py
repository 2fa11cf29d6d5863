"""What is asked of a system, and what its logs show."""

from __future__ import annotations

from typing import Any

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language.context import Bound, Context, Scope
from hacheck.model.language.diagnostics import error, near
from hacheck.model.language.expressions import boolean, elaborate
from hacheck.model.language.folding import fold
from hacheck.model.language.messages import kind_of
from hacheck.model.typing import type_of

KINDS: dict[str, Any] = {"transition": "step", "deadlock_free": "deadlock"}
FAULT_HANDLERS = ("restart", "resume", "heal", "free", "tick")
"""What the environment does that a property may assume to happen."""


def build(context: Context, written: d.PropertyDeclaration) -> ir.Property:
    """One property. Errors: `HA103` a fairness of a handler that is not there."""
    scope = Scope(context, old=written.kind == "transition")
    goal: ir.Expression = ir.FALSE
    if written.goal is not None:
        goal = fold(boolean(written.goal, scope))
    premise = None if written.premise is None else fold(boolean(written.premise, scope))
    assumed = fairness(context, written)
    kind = KINDS.get(written.kind, written.kind)
    name, text, source = written.name.text, written.text, written.source
    return ir.Property(name, kind, goal, premise, assumed, text, source, written.span.line)


def fairness(context: Context, written: d.PropertyDeclaration) -> tuple[ir.Fairness, ...]:
    """What a property assumes, each handler once; what is strongly fair is fair anyhow.

    Errors: `HA103` a handler that is not there, which may depend on what faults there are.
    """
    asked: dict[str, bool] = {}
    for fair in written.fairness:
        for handler in _all_but(context, fair) if fair.everything else [_handler(context, name) for name in fair.names]:
            asked[handler] = fair.strong or asked.get(handler, False)
    return tuple(ir.Fairness(handler, strong) for handler, strong in asked.items())


def _all_but(context: Context, fair: d.Fair) -> list[str]:
    """The handlers of nodes, or of one kind of node, that `fair all` means."""
    kind = None if fair.kind is None else kind_of(context, fair.kind)
    every = [name for name, owner in context.handlers.items() if owner is not None and kind in (None, owner)]
    for name in fair.names:
        if name.text not in every:
            whose = "node" if kind is None else kind.name
            message = f"`all` has no handler `{name.text}` to leave out: no {whose} has one"
            raise error("HA103", message, name.span, near(name.text, every))
    without = {name.text for name in fair.names}
    happening = {action.handler for action in context.actions}
    return [name for name in every if name in happening and name not in without]


def _handler(context: Context, name: Any) -> str:
    word = str(name.text)
    known = {action.handler for action in context.actions}
    if word not in context.handlers and word not in known and word not in FAULT_HANDLERS:
        raise error("HA103", f"there is no action or handler `{word}`", name.span, near(word, known))
    return word


def observation(context: Context, written: d.ObserveDeclaration) -> ir.Observation:
    """What one log event shows. In it `n` is the node the step happens on.

    Errors: `HA103` a handler that is not there, `HA128` handlers of different kinds of node.
    """
    owners = []
    for name in written.handlers:
        if name.text not in context.handlers:
            hint = near(name.text, context.handlers)
            raise error("HA103", f"there is no action or handler `{name.text}`", name.span, hint)
        owners.append(context.handlers[name.text])
    if any(owner != owners[0] for owner in owners):
        raise error("HA128", "these handlers run on different kinds of node", written.span, "observe them separately")
    scope = Scope(context, old=True)
    if owners[0] is not None:
        scope = scope.bind("n", Bound(ir.Local("n", owners[0])))
    condition = ir.TRUE if written.when is None else fold(boolean(written.when, scope))
    fields = []
    for name, value in written.shows:
        made = fold(elaborate(value, scope))
        if not ty.is_scalar(type_of(made)) and not isinstance(type_of(made), ty.Record | ty.Set):
            raise error("HA112", f"`{name.text}` cannot be shown as one value of a log line", name.span)
        fields.append((name.text, made))
    handlers = tuple(name.text for name in written.handlers)
    return ir.Observation(written.event.text, handlers, condition, tuple(fields), written.span.line)
