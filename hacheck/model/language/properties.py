"""The properties of a system."""

from __future__ import annotations

from typing import Any

from hacheck.model import ir
from hacheck.model.language import declarations as d
from hacheck.model.language.context import Context, Scope
from hacheck.model.language.diagnostics import error, near
from hacheck.model.language.expressions import boolean
from hacheck.model.language.messages import kind_of

KINDS: dict[str, Any] = {"step_invariant": "step", "deadlock_free": "deadlock"}
FAULT_HANDLERS = ("restart", "resume", "heal", "free", "tick")
"""What the environment does that a property may assume to happen."""


def build(context: Context, written: d.PropertyDeclaration) -> ir.Property:
    """One property. Errors: `HA103` a fairness of a handler that is not there."""
    scope = Scope(context, old=written.kind == "step_invariant")
    goal: ir.Expression = ir.FALSE
    if written.goal is not None:
        goal = context.fold(boolean(written.goal, scope))
    premise = None if written.premise is None else context.fold(boolean(written.premise, scope))
    assumed = fairness(context, written)
    kind = KINDS.get(written.kind, written.kind)
    name, text, source = written.name.text, written.text, written.source
    return ir.Property(name, kind, goal, premise, assumed, text, source, written.span.line)


def fairness(context: Context, written: d.PropertyDeclaration) -> tuple[ir.Fairness, ...]:
    """What a property assumes, each handler once; what is strongly fair is fair anyhow.

    Errors: `HA103` a handler that is not there, which may depend on what faults there are.
    """
    fair_handlers: dict[str, bool] = {}
    for fair in written.fairness:
        for handler in _all_but(context, fair) if fair.everything else [_handler(context, name) for name in fair.names]:
            fair_handlers[handler] = fair.strong or fair_handlers.get(handler, False)
    return tuple(ir.Fairness(handler, strong) for handler, strong in fair_handlers.items())


def _all_but(context: Context, fair: d.Fair) -> list[str]:
    """The handlers of nodes, or of one kind of node, that `fair all` means."""
    kind = None if fair.kind is None else kind_of(context, fair.kind)
    every = [name for name, owner in context.handlers.items() if owner is not None and kind in (None, owner)]
    for name in fair.names:
        if name.text not in every:
            whose = "node" if kind is None else kind.name
            message = f"`all` has no handler `{name.text}` to leave out: no {whose} has one"
            alone = f"write `fair {name.text}` as a clause of its own" if name.text in FAULT_HANDLERS else None
            raise error("HA103", message, name.span, alone or near(name.text, every))
    without = {name.text for name in fair.names}
    happening = {action.handler for action in context.actions}
    return [name for name in every if name in happening and name not in without]


def _handler(context: Context, name: Any) -> str:
    word = str(name.text)
    known = {action.handler for action in context.actions}
    if word not in context.handlers and word not in known and word not in FAULT_HANDLERS:
        hint = "write `fair all` as a clause of its own" if word == "all" else near(word, known)
        raise error("HA103", f"there is no action or handler `{word}`", name.span, hint)
    return word
