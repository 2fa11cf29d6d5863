"""What the settings alone decide."""

from __future__ import annotations

from hacheck.model.direct.expressions import NOTHING, Expressions, Scope
from hacheck.model.direct.layout import NoState, Unsettled
from hacheck.model.direct.machine import Machine
from hacheck.model.direct.values import Value
from hacheck.model.language import tree as t


class _NoLocals(dict[str, Value]):
    def __missing__(self, key: str) -> Value:
        raise Unsettled


def settled(expressions: Expressions, written: t.Expression, scope: Scope = NOTHING) -> Value:
    """The value of an expression, where the settings decide it; `and`, `or` and `implies` need one side only.

    Errors: `Unsettled` where they do not.
    """
    definitions = expressions.layout.definitions
    match written:
        case t.Prefix("not", operand):
            return not settled(expressions, operand, scope)
        case t.Infix("and", left, right):
            return _either(expressions, left, right, scope, False)
        case t.Infix("or", left, right):
            return _either(expressions, left, right, scope, True)
        case t.Infix("implies", left, right):
            return _either(expressions, t.Prefix("not", left, left.span), right, scope, True)
        case t.Name(text) if text not in scope.read and text in definitions:
            return settled(expressions, definitions[text].value)
        case t.Apply(name) if name.text in definitions:
            definition = definitions[name.text]
            inner = NOTHING
            names = [one.name.text for one in definition.parameters]
            for parameter, argument in expressions.functions.bound(names, written.arguments, scope):
                inner = inner.having(parameter, argument)
            return settled(expressions, definition.value, inner)
        case _:
            machine = Machine(NoState())
            machine.env = _NoLocals()
            return expressions.of(written, scope)(machine)


def _either(expressions: Expressions, left: t.Expression, right: t.Expression, scope: Scope, enough: bool) -> Value:
    """`and` and `or`: one side that is `enough` decides."""
    try:
        first = settled(expressions, left, scope)
    except Unsettled:
        if settled(expressions, right, scope) == enough:
            return enough
        raise
    return enough if first == enough else settled(expressions, right, scope)
