"""Calls within one step whose service halts a node: the callee, or the caller itself.

The callee's answer may then be lost although nothing else failed. The caller itself halts where a node calls itself, or
is called back: its step has then ended with its node, and nothing that follows the call happens.
"""

from __future__ import annotations

from hacheck.model import ir
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.context import Context, Scope
from hacheck.model.language.function_calls import is_up
from hacheck.model.language.tree_walk import statements

Made = tuple[ir.Statement, ...]

CALLING = (t.Call, t.Perform, t.If, t.For, t.While, t.Acquire)
"""The statements in which there can be a call."""


def may_halt(written: t.Statement, scope: Scope) -> bool:
    """Whether the acting node may have halted after the statement, by a call that is part of the step."""
    if scope.actor_kind is None or not isinstance(written, CALLING) or not any(scope.context.atomic.values()):
        return False
    return scope.actor_kind.name in _halted(scope.context, written)


def callee_may_halt(written: t.Call, scope: Scope) -> bool:
    """Whether the callee of a call that is part of the step may have halted when its service ends."""
    return scope.context.operations[written.operation.text].callee.text in _halted(scope.context, written)


def if_up(following: Made, scope: Scope) -> Made:
    """What follows a statement that may halt the acting node: it happens only if the node has not halted."""
    if not following:
        return ()
    assert scope.actor is not None
    assert scope.actor_kind is not None
    return (ir.If(is_up(scope, scope.actor, scope.actor_kind), following, ()),)


def _halted(context: Context, written: t.Statement) -> set[str]:
    """The kinds of node that are halted by the services of the calls in a statement, and by what these call."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting: list[t.Body] = [(written,)]
    while waiting:
        for one in statements(waiting.pop()):
            match one:
                case t.Call(t.Name(name)) if name not in seen and context.atomic.get(name) and name in context.serves:
                    seen.add(name)
                    served, owner = context.serves[name].body, context.handlers[name]
                    waiting.append(served)
                    if owner is not None and any(isinstance(inner, t.Halt) for inner in statements(served)):
                        found.add(owner.name)
                case t.Perform(t.Name(name)) if name not in seen and name in context.procedures:
                    seen.add(name)
                    waiting.append(context.procedures[name].body)
                case _:
                    continue
    return found
