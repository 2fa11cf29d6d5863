"""Folding what is known before the exploration: settings, sizes, and all that follows from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from hacheck.model import ir
from hacheck.model.evaluation import BoundReached, EvaluationError, Scope, evaluate
from hacheck.model.rewrite import parts, rebuild
from hacheck.model.types import Type, cardinality, holds_identities
from hacheck.model.typing import extent, type_of

WORK_MAX = 20_000
"""How many values bound variables may take together in a part that is evaluated beforehand."""
_NOTHING: frozenset[str] = frozenset()

IsOpen: TypeAlias = Callable[[Type], bool]
"""Whether nobody knows yet how many values a type has, so that nothing may be made of their number."""


def _none_open(_: Type) -> bool:
    return False


def _work(node: Any) -> int:
    """About how many evaluations an expression takes."""
    inner = 1 + sum(_work(part) for part in parts(node))
    match node:
        case (
            ir.Quantified(domain=ir.Domain(kind, within, _))
            | ir.SetOf(domain=ir.Domain(kind, within, _))
            | ir.Extreme(domain=ir.Domain(kind, within, _))
        ):
            return inner * (cardinality(kind) if within is None else extent(type_of(within)))
        case ir.MapOf():
            return inner * cardinality(node.key)
        case _:
            return inner


def fold(expression: Any, is_open: IsOpen = _none_open) -> Any:
    """The same expression with every part that has a known value replaced by it.

    A part whose evaluation is an error of the spec is left alone: it may never be reached.
    """
    return _fold(expression, is_open)[0]


def _fold(node: Any, is_open: IsOpen) -> tuple[Any, frozenset[str] | None]:
    """The folded node, and the locals it needs; `None` when it needs the state, or how many values a type has."""
    match node:
        case ir.Constant():
            return node, None if is_open(node.type) else _NOTHING
        case ir.Local(name, _):
            return node, frozenset((name,))
        case ir.Variable() | ir.Fresh():
            return node, None
    held = parts(node)
    folded = [_fold(part, is_open) for part in held]
    if any(new is not old for (new, _), old in zip(folded, held, strict=True)):
        new_parts = (new for new, _ in folded)
        node = rebuild(node, lambda _: next(new_parts))
    needed = _union([needs for _, needs in folded])
    if isinstance(node, ir.Binary | ir.Unary | ir.Conditional):
        simpler = _simplify(node)
        if simpler is not node:
            known = isinstance(simpler, ir.Constant)
            return simpler, _NOTHING if known else next((needs for new, needs in folded if new is simpler), needed)
    elif isinstance(node, ir.Domain | ir.Target | ir.Shown):
        return node, needed
    elif isinstance(node, ir.Quantified | ir.SetOf | ir.MapOf | ir.Extreme) and needed is not None:
        needed -= {node.variable}
        if is_open(node.key if isinstance(node, ir.MapOf) else node.domain.type):
            needed = None
    elif isinstance(node, ir.Old):
        return node, None
    if not needed and needed is not None and _work(node) <= WORK_MAX:
        try:
            return ir.Constant(evaluate(node, Scope({}, ())), type_of(node)), needed
        except (EvaluationError, BoundReached):
            return node, None
    return node, needed


def _union(needs: list[frozenset[str] | None]) -> frozenset[str] | None:
    if None in needs:
        return None
    found = [needed for needed in needs if needed]
    if not found:
        return _NOTHING
    return found[0] if len(found) == 1 else frozenset().union(*found)


def _simplify(node: Any) -> Any:
    """Laws that hold whatever the open part is; `and` and `or` may drop a part only where it is not evaluated."""
    match node:
        case ir.Binary("and", ir.Constant(left), right):
            return right if left else ir.FALSE
        case ir.Binary("or", ir.Constant(left), right):
            return ir.TRUE if left else right
        case ir.Binary("implies", ir.Constant(left), right):
            return right if left else ir.TRUE
        case ir.Binary("and", left, ir.Constant(True)) | ir.Binary("or", left, ir.Constant(False)):
            return left
        case ir.Binary("implies", _, ir.Constant(True)):
            return ir.TRUE
        case ir.Unary("not", ir.Unary("not", operand)):
            return operand
        case ir.Conditional(ir.Constant(condition), then, otherwise):
            return then if condition else otherwise
        case ir.Conditional(_, then, otherwise) if then == otherwise:
            return then
    return node


def fold_body(body: tuple[Any, ...], is_open: IsOpen = _none_open) -> tuple[Any, ...]:
    """Statements with their expressions folded, and branches that are never taken left out."""
    folded: list[Any] = []
    for statement in body:
        folded.extend(_fold_statement(statement, is_open))
    return tuple(folded)


def enclosed(made: tuple[Any, ...]) -> tuple[Any, ...]:
    """Statements whose locals end with them where one can hold an identity, which is free again after them."""
    binds = (
        (one.type if isinstance(one, ir.Let) else one.domain.type)
        for one in made
        if isinstance(one, ir.Let | ir.Choose)
    )
    return (ir.If(ir.TRUE, made, ()),) if any(map(holds_identities, binds)) else made


def _fold_statement(statement: Any, is_open: IsOpen) -> tuple[Any, ...]:
    match statement:
        case ir.If(condition, then, otherwise):
            known = fold(condition, is_open)
            if isinstance(known, ir.Constant):
                return enclosed(fold_body(then if known.value else otherwise, is_open))
            first, second = fold_body(then, is_open), fold_body(otherwise, is_open)
            return (ir.If(known, first, second),) if first or second else ()
        case ir.ForEach(variable, domain, body):
            inner = fold_body(body, is_open)
            return (ir.ForEach(variable, fold(domain, is_open), inner),) if inner else ()
        case ir.Require(condition):
            known = fold(condition, is_open)
            return () if known == ir.TRUE else (ir.Require(known),)
        case ir.Stop():
            return (statement,)
        case ir.Assign(ir.Target(_, path), ir.Constant()) if all(isinstance(step, str | ir.Local) for step in path):
            return (statement,)  # as most are in handlers of several steps: nothing to be folded
        case _:
            return (rebuild(statement, lambda part: fold(part, is_open)),)
