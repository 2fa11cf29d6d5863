"""Whether a property is exercised: the condition that has to be true somewhere for it to say anything."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from hacheck.model.ir import TRUE, Binary, Domain, Expression, Old, Property, Quantified
from hacheck.model.rewrite import walk

PREMISE = "premise:"
"""Before a property's name: the key of what is sought where the property is exercised."""


def premise_of(prop: Property) -> Expression | None:
    """A condition of states without which the property says nothing; `None` where there is no such condition.

    Of `leads_to` it is the left side; of an invariant, a lemma or a step invariant the left side of its outermost
    `implies`, and that a quantifier around it has a value to range over. Of a step invariant it is what its left side
    says of the state after the step: where that is never true, the left side is not.
    """
    if prop.kind == "leads_to":
        return prop.premise
    if prop.kind not in ("invariant", "lemma", "step"):
        return None
    return _premise(prop.goal)


def _premise(goal: Expression) -> Expression | None:
    match goal:
        case Binary("implies", left, _):
            return _of_one_state(left)
        case Quantified("every", variable, domain, body):
            inner, ranged = _premise(body), _ranged(domain)
            if ranged is None or (inner is None and ranged == Domain(domain.type, None, None)):
                return None
            if inner is None:  # the filter is the body: nothing is left to say of the values that it lets through
                return Quantified("some", variable, Domain(ranged.type, ranged.within, None), ranged.where or TRUE)
            return Quantified("some", variable, ranged, inner)
        case _:
            return None


def _ranged(domain: Domain) -> Domain | None:
    """The domain without what its filter says of the state before a step; `None` where its values come from there."""
    if domain.within is not None and _reads_before(domain.within):
        return None
    return Domain(domain.type, domain.within, None if domain.where is None else _of_one_state(domain.where))


def _of_one_state(condition: Expression) -> Expression | None:
    """The part of a conjunction that does not read the state before a step; `None` where that is nothing."""
    kept = [part for part in _conjuncts(condition) if not _reads_before(part)]
    return reduce(lambda left, right: Binary("and", left, right), kept) if kept else None


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    match condition:
        case Binary("and", left, right):
            yield from _conjuncts(left)
            yield from _conjuncts(right)
        case _ if condition != TRUE:
            yield condition


def _reads_before(expression: Expression) -> bool:
    return any(isinstance(part, Old) for part in walk(expression))
