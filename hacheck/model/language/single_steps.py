"""Bodies of one step, in which `finish` and `halt` end the step early."""

from __future__ import annotations

from collections.abc import Callable

from hacheck.model import ir
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.context import Context, Scope
from hacheck.model.language.handlers import GoTo, Handler, Made
from hacheck.model.language.threads import MAIN


def one_step(
    context: Context,
    name: str,
    body: t.Body,
    scope: Scope,
    at_end: Callable[[Scope], Made],
    at_once: bool = False,
) -> Made:
    """The model's statements of a body that is one step.

    `at_end`: what its regular end does. `at_once`: its `step`s are passed without interruption; only their `when` is
    evaluated. Errors: `HA130` where the step would have to end in the middle.
    """
    assert isinstance(scope.actor, ir.Local)
    assert scope.actor_kind is not None
    handler = Handler(context, name, scope.actor_kind, scope.actor, MAIN, {}, (), at_end, frozenset(), at_once)
    handler.end_scope = scope
    return _without_ends(handler.sequence(body, scope, None))


def _without_ends(body: Made) -> Made:
    """A body of one step: its ends need nothing."""
    made: list[ir.Statement] = []
    for statement in body:
        match statement:
            case GoTo():
                continue
            case ir.If(condition, then, otherwise):
                made.append(ir.If(condition, _without_ends(then), _without_ends(otherwise)))
            case _:
                made.append(statement)
    return tuple(made)
