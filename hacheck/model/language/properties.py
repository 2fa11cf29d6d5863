"""The properties of a system."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language.context import Bound, Context, Scope
from hacheck.model.language.diagnostics import Span, error, near
from hacheck.model.language.expressions import boolean
from hacheck.model.language.handler_heads import resolve_parameters
from hacheck.model.language.messages import kind_of
from hacheck.model.render import show
from hacheck.model.symmetry_types import parts_of

KINDS: dict[str, Any] = {"step_invariant": "step", "deadlock_free": "deadlock"}
FAULT_HANDLERS = ("restart", "resume", "heal", "free", "tick")
"""What the environment does that a property may assume to happen."""
INSTANCES_MAX = 100
"""For how many values of its parameters one property may be checked."""


def build(context: Context, written: d.PropertyDeclaration) -> tuple[ir.Property, ...]:
    """One property, or one for each value of its parameters: `answered(Client 1)`. Errors: `HA103` a fairness of a
    handler that is not there; `HA112` parameters that are no scalars, or with too many values."""
    parameters = resolve_parameters(context, written.parameters, "a property's")
    for (name, kind), one in zip(parameters, written.parameters, strict=True):
        _no_counter(name, kind, one.type.span)
    count = math.prod(ty.cardinality(kind) for _, kind in parameters)
    if count > INSTANCES_MAX:
        message = f"`{written.name.text}` has {count:,} instances; at most {INSTANCES_MAX} are checked"
        raise error("HA112", message, written.name.span, "make the ranges smaller, or leave a parameter out")
    assumed = fairness(context, written)
    instances = itertools.product(*(tuple(ty.values(kind)) for _, kind in parameters))
    return tuple(_instance(context, written, dict(parameters), values, assumed) for values in instances)


def _instance(
    context: Context,
    written: d.PropertyDeclaration,
    parameters: Mapping[str, ty.Type],
    values: tuple[ty.Value, ...],
    assumed: tuple[ir.Fairness, ...],
) -> ir.Property:
    given = list(zip(parameters.items(), values, strict=True))
    bound = ((name, Bound(ir.Constant(value, kind))) for (name, kind), value in given)
    scope = Scope(context, old=written.kind == "step_invariant").bind_all(bound)
    goal: ir.Expression = ir.FALSE
    if written.goal is not None:
        goal = context.fold(boolean(written.goal, scope))
    premise = None if written.premise is None else context.fold(boolean(written.premise, scope))
    kind = KINDS.get(written.kind, written.kind)
    name = written.name.text
    if given:
        name += f"({', '.join(show(kind, value) for (_, kind), value in given)})"
    return ir.Property(name, kind, goal, premise, assumed, written.text, written.source, written.span.line)


def fairness(context: Context, written: d.PropertyDeclaration) -> tuple[ir.Fairness, ...]:
    """What a property assumes, each handler once; what is strongly fair is fair anyhow.

    Errors: `HA103` a handler that is not there, which may depend on what faults there are, or a parameter that it does
    not have.
    """
    fair_handlers: dict[str, tuple[bool, tuple[str, ...]]] = {}
    for fair in written.fairness:
        for handler, arguments in _named(context, fair):
            strong, before = fair_handlers.get(handler, (False, ()))
            fair_handlers[handler] = fair.strong or strong, tuple(dict.fromkeys((*before, *arguments)))
    return tuple(ir.Fairness(handler, *how) for handler, how in fair_handlers.items())


def _no_counter(name: str, kind: ty.Type, span: Span) -> None:
    """Errors: `HA112` for values of a counter, of which there is no last one."""
    if any(isinstance(part, ty.Range) and part.counter is not None for part in parts_of(kind)):
        raise error("HA112", f"`{name}` is a counter, which has no end", span, "ask of a node, a word or a range")


def _named(context: Context, fair: d.Fair) -> Iterator[tuple[str, tuple[str, ...]]]:
    if fair.everything:
        yield from ((name, ()) for name in _all_but(context, fair))
        return
    for name, arguments in zip(fair.names, fair.arguments, strict=True):
        handler = _handler(context, name)
        known = dict(one for action in context.actions if action.handler == handler for one in action.parameters)
        for argument in arguments:
            if argument.text not in known and known:
                message = f"`{handler}` has no parameter `{argument.text}`"
                raise error("HA103", message, argument.span, near(argument.text, known))
            if argument.text in known:
                _no_counter(argument.text, known[argument.text], argument.span)
        yield handler, tuple(argument.text for argument in arguments)


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
