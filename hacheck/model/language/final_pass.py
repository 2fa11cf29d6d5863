"""The last pass: a halt becomes what a crash does, what is known is folded, every bound gets its words."""

from __future__ import annotations

from typing import Any

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language.constant_folding import fold_body
from hacheck.model.language.context import Context, Halt
from hacheck.model.language.node_faults import crash_effects
from hacheck.model.rewrite import conjuncts, statements


def finished(context: Context, action: ir.Action) -> ir.Action:
    """The action with each halt made what a crash does, and everything known folded."""
    body = _without_halts(context, action.body)
    body = fold_body(body) if context.folded else body
    guard = context.fold(action.guard)
    if ir.FALSE in conjuncts(guard):
        guard = ir.FALSE  # the settings rule it out, whatever the state
    return ir.Action(
        action.name, action.parameters, guard, body, action.kind, action.actor, action.peer,
        action.handler, action.description, action.source, action.line,
    )  # fmt: skip


def _without_halts(context: Context, body: tuple[Any, ...]) -> tuple[ir.Statement, ...]:
    made: list[ir.Statement] = []
    for statement in body:
        match statement:
            case Halt(_, kind, node):
                made.extend(crash_effects(context, kind, node))
            case ir.If(condition, then, otherwise):
                made.append(ir.If(condition, _without_halts(context, then), _without_halts(context, otherwise)))
            case ir.ForEach(variable, domain, inner):
                made.append(ir.ForEach(variable, domain, _without_halts(context, inner)))
            case _:
                made.append(statement)
    return tuple(made)


def name_bounds(context: Context, actions: tuple[ir.Action, ...]) -> None:
    """Every capacity that can cut a step is said in words, wherever in a value it lies."""
    places = [(one.name, one.name, one.type) for one in context.variables.values()]
    for action in actions:
        lets = (part for part in statements(action.body) if isinstance(part, ir.Let))
        places += [(part.name, f"`{part.name.split('$')[0]}` of {action.name}", part.type) for part in lets]
    for name, words, kind in places:
        size = _held(kind)
        if size:
            context.bounds.setdefault(f"capacity of {name}", f"at most {size} in {words}")


def _held(kind: ty.Type) -> int:
    """The capacity of the largest sequence or bag in a type."""
    match kind:
        case ty.Sequence(element, capacity) | ty.Bag(element, capacity):
            return max(capacity, _held(element))
        case ty.Option(element) | ty.Map(_, element):
            return _held(element)
        case ty.Record(_, fields):
            return max((_held(field) for _, field in fields), default=0)
        case _:
            return 0
