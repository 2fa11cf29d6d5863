"""A property taken apart: its conjuncts, opened for each node they speak of, and the truth of each in every state.

A part is `{"id", "op", "text"}` with `children` (of `and`, `or`, `implies`, `not`), or with `variable` and `instances`
(of a quantifier, each with its `instance` in words), or with `operands` (what a comparison compares). `Truth` has a
letter for each state by the part's number: 1, 0, or - where it has no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from hacheck.checker.run_view.definition_names import DefinitionNames, words_of
from hacheck.model.evaluation import EvaluationError, Scope, domain_values, evaluate
from hacheck.model.expressions import Binary, Constant, Domain, Expression, Local, Quantified, Unary
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import Property
from hacheck.model.render import show
from hacheck.model.runs import State
from hacheck.model.types import Bool, Value
from hacheck.model.typing import type_of

Part: TypeAlias = dict[str, Any]

PARTS_MAX = 400
"""So many parts at most have a line of their own; what is left is one part."""


class PropertyParts:
    """The parts of one property and what they were in each state that was looked at. `intern`: numbers for words."""

    def __init__(self, interpreter: Interpreter, prop: Property, intern: Any) -> None:
        self.interpreter, self.prop, self.intern = interpreter, prop, intern
        self.truth: list[list[str]] = []
        self.goal: Part | None = None
        self.premise: Part | None = None
        self._names = DefinitionNames((*interpreter.system.definitions, *interpreter.system.promises))

    def look(self, states: Sequence[State]) -> None:
        """Adds the truth of every part in each state, in order."""
        for number, state in enumerate(states):
            before = states[number - 1] if number else state
            scope = Scope(self.interpreter.variables, state, before)
            silent = self.prop.kind == "step" and number == 0
            if self.prop.premise is not None:
                self.premise = self._visit(self.prop.premise, scope, self.premise, silent)[0]
            self.goal = self._visit(self.prop.goal, scope, self.goal, silent)[0]

    # ---- one part in one state ----

    def _visit(self, expression: Expression, scope: Scope, part: Part | None, silent: bool) -> tuple[Part, bool | None]:
        made = part if part is not None else self._new(expression)
        value = None if silent else _value(expression, scope)
        self.truth[made["id"]].append("-" if value is None else "1" if value else "0")
        if "terms" not in made:
            return made, value
        for place, (term, bound) in enumerate(self._terms(made, expression, scope)):
            inner = made["terms"]
            known = inner[place] if place < len(inner) else None
            child, _ = self._visit(term, bound, known, silent)
            if known is None:
                inner.append(child)
        self._operands(made, expression, scope, silent)
        return made, value

    def _new(self, expression: Expression) -> Part:
        part: Part = {"id": len(self.truth), "op": "", "text": self._text(expression)}
        if (name := self._names.of(expression)) is not None:
            part["label"] = words_of(name)
        self.truth.append([])
        if len(self.truth) > PARTS_MAX:
            return part
        part["terms"] = []
        if isinstance(expression, Binary) and expression.operator in ("and", "or", "implies"):
            part["op"] = expression.operator
        elif isinstance(expression, Unary) and expression.operator == "not" and _opens(expression.operand):
            part["op"] = "not"
        elif isinstance(expression, Quantified) and expression.kind != "count" and expression.domain.within is None:
            part |= {"op": expression.kind, "variable": words_of(expression.variable)}
        if not part["op"] and "label" in part and part["label"].endswith(")"):
            part["text"] = words_of(self._names.opened(expression))  # what is compared says more than a name does
        return part

    def _terms(self, part: Part, expression: Expression, scope: Scope) -> list[tuple[Expression, Scope]]:
        match expression:
            case Binary("implies", left, right):
                return [(left, scope), (right, scope)]
            case Binary("and" | "or" as operator) as joined:
                return [(term, scope) for term in self._flat(operator, joined)]
            case Unary("not", operand) if part["op"] == "not":
                return [(operand, scope)]
            case Quantified(_, variable, domain, body) if part["op"]:
                condition = _with_filter(domain, body)
                every = domain_values(variable, Domain(domain.type, None, None), scope)
                part.setdefault("names", [show(domain.type, value) for value in every])
                return [(condition, scope.bind(variable, domain.type, value)) for value in every]
            case _:
                return []

    def _flat(self, operator: str, expression: Binary) -> list[Expression]:
        """The terms of a conjunction or disjunction; what the spec has a name for is one of them."""
        made: list[Expression] = []
        for side in (expression.left, expression.right):
            inner = isinstance(side, Binary) and side.operator == operator and self._names.of(side) is None
            made += self._flat(operator, side) if inner and isinstance(side, Binary) else [side]
        return made

    def _operands(self, part: Part, expression: Expression, scope: Scope, silent: bool) -> None:
        if part["op"]:
            return
        for place, operand in enumerate(_compared(expression)):
            known = part.setdefault("operands", [])
            if place == len(known):
                known.append({"text": self._text(operand), "values": []})
            words = "" if silent else _shown(operand, scope)
            known[place]["values"].append(self.intern(words))

    def _text(self, expression: Expression) -> str:
        """An expression in words, with the names of definitions in place of what they stand for."""
        return words_of(self._names.shown(expression))

    # ---- as data ----

    def to_json(self) -> dict[str, Any]:
        """The tree and the letters, as the page reads them."""
        goal, premise = (None if part is None else _finished(part) for part in (self.goal, self.premise))
        return {"tree": {"goal": goal, "premise": premise}, "truth": ["".join(letters) for letters in self.truth]}


def _finished(part: Part) -> Part:
    made = {key: value for key, value in part.items() if key not in ("terms", "names")}
    terms = [_finished(term) for term in part.get("terms", ())]
    if "names" in part:
        made["instances"] = [{**term, "instance": name} for name, term in zip(part["names"], terms, strict=True)]
    elif terms:
        made["children"] = terms
    return made


def _value(expression: Expression, scope: Scope) -> bool | None:
    try:
        return bool(evaluate(expression, scope))
    except EvaluationError:
        return None


def _shown(expression: Expression, scope: Scope) -> str:
    try:
        value: Value = evaluate(expression, scope)
    except EvaluationError:
        return "no value"
    return show(type_of(expression), value)


def _opens(expression: Expression) -> bool:
    """Whether a negation is worth a line of its own, because what it negates has parts."""
    return isinstance(expression, Quantified) or (
        isinstance(expression, Binary) and expression.operator in ("and", "or", "implies")
    )


def _with_filter(domain: Domain, body: Expression) -> Expression:
    """What is said of each instance: what it must be, and what then."""
    if domain.where is None:
        return body
    if isinstance(body, Constant):
        return domain.where
    return Binary("and", domain.where, body)


def _compared(expression: Expression) -> list[Expression]:
    """What a condition without parts compares: the values that say why it is true or not."""
    match expression:
        case Unary("not" | "majority" | "size", operand):
            return _compared(operand) or ([] if isinstance(operand, Constant) else [operand])
        case Binary(_, left, right):
            return [operand for side in (left, right) for operand in (_compared(side) or [side]) if _speaks(operand)]
        case _:
            return []


def _speaks(expression: Expression) -> bool:
    return not isinstance(expression, Constant | Local)


__all__ = ["Bool", "Part", "PropertyParts"]
