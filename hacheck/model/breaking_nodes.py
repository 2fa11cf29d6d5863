"""Which nodes a broken property is about: those whose values make it false."""

from __future__ import annotations

from hacheck.model.evaluation import EvaluationError, Scope, domain_values, evaluate
from hacheck.model.ir import Binary, Expression, Property, Quantified, System, Unary
from hacheck.model.runs import State
from hacheck.model.types import Node, Value

NodeValue = tuple[str, Value]
"""A node: its kind, and its number."""


def breaking_nodes(system: System, prop: Property, state: State) -> tuple[NodeValue, ...]:
    """The nodes that break an invariant in a state, in their order: of `at most one` all that satisfy its condition, of
    `every` and of `majority` those for which it is false, of `no` those for which it is true. None where the property
    holds in that state, has no value there, or is about no single node."""
    places = {variable.name: (place, variable.type) for place, variable in enumerate(system.variables)}
    found: dict[NodeValue, None] = {}
    scope = Scope(places, state)
    try:
        if not evaluate(prop.goal, scope):
            _collect(prop.goal, scope, False, found)
    except EvaluationError:
        return ()
    return tuple(found)


def _collect(condition: Expression, scope: Scope, value: bool, found: dict[NodeValue, None]) -> None:
    """Adds the nodes because of which `condition` is `value`, which it is in `scope`."""
    match condition:
        case Unary("not", operand):
            _collect(operand, scope, not value, found)
        case Binary("and" | "or", left, right):
            for part in (left, right):
                if bool(evaluate(part, scope)) == value:
                    _collect(part, scope, value, found)
        case Binary("implies", left, right):
            if not value:
                _collect(right, scope, value, found)
        case Quantified(kind, variable, domain, body):
            deciding = value if kind == "majority" else kind != "every"
            for bound in domain_values(variable, domain, scope):
                inner = scope.bind(variable, domain.type, bound)
                if bool(evaluate(body, inner)) == deciding:
                    if isinstance(domain.type, Node):
                        found[domain.type.name, bound] = None
                    _collect(body, inner, deciding, found)
        case _:
            return
