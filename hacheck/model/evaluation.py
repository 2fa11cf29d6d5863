"""The value of an expression: the definition that every engine must agree with.

Values of expressions are mathematical: `x + 1` may lie outside the range of `x`, and a sequence may be longer
than its variable can hold. Types bound only what is *stored*, which `storing.py` decides.

Operands are evaluated from left to right, all of them, with these exceptions: `and`, `or` and `implies` leave
out a right side that cannot matter, `if` its other side, and `some`, `every` and `none` stop at the first
value that decides. The filter of a domain is evaluated for a value just before the body is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from msgspec import Struct, field

from hacheck.model.ir import (
    Binary,
    Conditional,
    Constant,
    Domain,
    Expression,
    Extreme,
    Fresh,
    Index,
    Local,
    MakeCollection,
    MakeRecord,
    MapOf,
    Member,
    Old,
    Quantified,
    SetOf,
    Unary,
    Variable,
)
from hacheck.model.render import show, show_expression
from hacheck.model.render_expression import as_written
from hacheck.model.rewrite import walk
from hacheck.model.runs import State
from hacheck.model.types import (
    Bag,
    Identity,
    Map,
    Option,
    Record,
    Sequence,
    Set,
    Type,
    Value,
    cardinality,
    member,
    ordinal,
    sort_bag,
    sort_key,
    values,
)
from hacheck.model.typing import type_of


class EvaluationError(Exception):
    """The expression has no value here, or the value may not be stored: an error of the spec, said in
    `message`.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class StartError(EvaluationError):
    """A system cannot begin: an initial value or statement is an error of the spec."""


class BoundReached(Exception):
    """The step would pass the bound of the exploration called `bound`."""

    def __init__(self, bound: str) -> None:
        super().__init__(bound)
        self.bound = bound


class Scope(Struct, frozen=True):
    """What an expression can see.

    `variables`: place and type of each state variable by name. `before`: the state that `Old` reads.
    `locals`: the values in scope by name; `types`: the types of those that hold identities for `Fresh`.
    `drawn`: the identities that `Fresh` has given within the statement being executed.
    """

    variables: Mapping[str, tuple[int, Type]]
    state: State
    before: State | None = None
    locals: Mapping[str, Value] = field(default_factory=dict)
    types: Mapping[str, Type] = field(default_factory=dict)
    drawn: set[tuple[str, int]] = field(default_factory=set)

    def bind(self, name: str, kind: Type, value: Value) -> Scope:
        """The same scope with one more local."""
        return Scope(
            self.variables,
            self.state,
            self.before,
            {**self.locals, name: value},
            {**self.types, name: kind},
            self.drawn,
        )


def evaluate(expression: Expression, scope: Scope) -> Value:
    """The value of the expression.

    Errors: `EvaluationError` where it has none; `BoundReached` when no identity is left to draw.
    """
    match expression:
        case Constant(value, _):
            return value
        case Variable(name, _):
            return scope.state[scope.variables[name][0]]
        case Local(name, _):
            return scope.locals[name]
        case Old(operand):
            assert scope.before is not None, "old(...) outside of a step"
            return evaluate(operand, Scope(scope.variables, scope.before, scope.before, scope.locals, scope.types))
        case Index():
            return _index(expression, scope)
        case Member(base, name):
            record = type_of(base)
            assert isinstance(record, Record), f"field {name} of {record}"
            return evaluate(base, scope)[[field for field, _ in record.fields].index(name)]
        case Unary():
            return _unary(expression, scope)
        case Binary():
            return _binary(expression, scope)
        case Conditional(condition, then, otherwise):
            return evaluate(then if evaluate(condition, scope) else otherwise, scope)
        case Quantified():
            return _quantified(expression, scope)
        case SetOf(variable, domain, item, _):
            return frozenset(evaluate(item, inner) for _, inner in _bindings(variable, domain, scope))
        case MapOf(variable, key, item, _):
            return tuple(evaluate(item, scope.bind(variable, key, name)) for name in values(key))
        case Extreme():
            return _extreme(expression, scope)
        case MakeRecord(_, items):
            return tuple(evaluate(item, scope) for item in items)
        case MakeCollection(kind, items):
            return _collection(kind, tuple(evaluate(item, scope) for item in items))
        case Fresh(kind):
            return _fresh(kind, scope)
        case _:
            assert_never(expression)


def domain_values(variable: str, domain: Domain, scope: Scope) -> tuple[Value, ...]:
    """The values that a bound variable takes, in order. Errors: those of `evaluate`."""
    return tuple(value for value, _ in _bindings(variable, domain, scope))


def _bindings(variable: str, domain: Domain, scope: Scope) -> Iterator[tuple[Value, Scope]]:
    """Each value of the domain, with the scope in which the variable has it."""
    if domain.within is None:
        candidates = tuple(values(domain.type))
    else:
        within = evaluate(domain.within, scope)
        candidates = tuple(sorted(within, key=lambda value: sort_key(domain.type, value)))
        if isinstance(within, tuple):  # a sequence has its own order, and a bag is sorted already
            candidates = within
    for value in candidates:
        inner = scope.bind(variable, domain.type, value)
        if domain.where is None or evaluate(domain.where, inner):
            yield value, inner


def _index(expression: Index, scope: Scope) -> Value:
    base, key = evaluate(expression.base, scope), evaluate(expression.key, scope)
    container = type_of(expression.base)
    if isinstance(container, Map):
        if not member(container.key, key):
            shown = show(type_of(expression.key), key)
            raise _error(f"{show_expression(expression.base)} has no element for {shown}", expression, scope)
        return base[ordinal(container.key, key)]
    if not 1 <= key <= len(base):
        raise _error(f"{show_expression(expression)}: there is no element {key}, {_length(base)}", expression, scope)
    return base[key - 1]


def _error(message: str, expression: Expression, scope: Scope) -> EvaluationError:
    """The error that an expression has no value, with what the locals are that it reads: `… (s = Server 2)`."""
    read = {part.name: part.type for part in walk(expression) if isinstance(part, Local) and part.name in scope.locals}
    known = ", ".join(f"{as_written(name)} = {show(kind, scope.locals[name])}" for name, kind in read.items())
    return EvaluationError(f"{message} ({known})" if known else message)


def _length(sequence: tuple[Value, ...]) -> str:
    return f"the sequence has {len(sequence)} element{'' if len(sequence) == 1 else 's'}"


def _unary(expression: Unary, scope: Scope) -> Value:
    operand = evaluate(expression.operand, scope)
    match expression.operator:
        case "not":
            return not operand
        case "negate":
            return -operand
        case "some":
            return operand
        case "value":
            if operand is None:
                shown = show_expression(expression.operand)
                raise _error(f"{shown} is none where a value is needed", expression, scope)
            return operand
        case "size":
            return len(operand)
        case "first" | "last" | "rest":
            if not operand:
                raise _error(f"{show_expression(expression)}: the sequence is empty", expression, scope)
            return (
                operand[1:] if expression.operator == "rest" else operand[0 if expression.operator == "first" else -1]
            )
        case "majority":
            kind = type_of(expression.operand)
            assert isinstance(kind, Set), f"majority of {kind}"
            return 2 * len(operand) > cardinality(kind.element)
        case _:
            assert_never(expression.operator)


def _binary(expression: Binary, scope: Scope) -> Value:
    left = evaluate(expression.left, scope)
    match expression.operator:  # the right side is evaluated only where the left leaves it open
        case "and":
            return evaluate(expression.right, scope) if left else False
        case "or":
            return True if left else evaluate(expression.right, scope)
        case "implies":
            return evaluate(expression.right, scope) if left else True
        case _:
            return _operate(expression, left, evaluate(expression.right, scope))


def _operate(expression: Binary, left: Value, right: Value) -> Value:
    match expression.operator:
        case "and" | "or" | "implies":
            raise AssertionError("decided before its right side is evaluated")
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<" | "<=":
            kind = type_of(expression.left)
            first, second = sort_key(kind, left), sort_key(kind, right)
            return first < second if expression.operator == "<" else first <= second
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "in":
            return left in right
        case "subset":
            return left <= right
        case "union":
            return left | right
        case "intersect":
            return left & right
        case "minus":
            return left - right
        case "append":
            return (*left, right)
        case "with":
            kind = type_of(expression.left)
            if isinstance(kind, Bag):
                return _collection(kind, (*left, right))
            return left | {right}
        case "without":
            return _without(left, right)
        case _:
            assert_never(expression.operator)


def _without(container: Value, item: Value) -> Value:
    if isinstance(container, frozenset):
        return container - {item}
    if item not in container:
        return container
    place = container.index(item)
    return container[:place] + container[place + 1 :]


def _collection(kind: Type, items: tuple[Value, ...]) -> Value:
    match kind:
        case Set():
            return frozenset(items)
        case Bag(element, _):
            return sort_bag(element, items)
        case Sequence():
            return items
        case _:
            raise AssertionError(f"{kind} is no collection")


def _quantified(expression: Quantified, scope: Scope) -> Value:
    domain = expression.domain
    scopes = (inner for _, inner in _bindings(expression.variable, domain, scope))
    match expression.kind:
        case "some":
            return any(evaluate(expression.body, inner) for inner in scopes)
        case "every":
            return all(evaluate(expression.body, inner) for inner in scopes)
        case "none":
            return not any(evaluate(expression.body, inner) for inner in scopes)
        case "at_most_one" | "exactly_one" | "majority" | "count":
            count = sum(1 for inner in scopes if evaluate(expression.body, inner))
        case _:
            assert_never(expression.kind)
    match expression.kind:
        case "at_most_one":
            return count <= 1
        case "exactly_one":
            return count == 1
        case "majority":
            return 2 * count > cardinality(domain.type)
        case "count":
            return count
        case _:
            assert_never(expression.kind)


def _extreme(expression: Extreme, scope: Scope) -> Value:
    kind = type_of(expression.by)
    best: tuple[Value, Value] | None = None
    for value, inner in _bindings(expression.variable, expression.domain, scope):
        rank = sort_key(kind, evaluate(expression.by, inner))
        better = best is None or (rank > best[1] if expression.kind == "max" else rank < best[1])
        if better:
            best = (value, rank)
    if best is None:
        raise _error(f"{show_expression(expression)}: there is nothing to choose from", expression, scope)
    return best[0]


def _fresh(kind: Identity, scope: Scope) -> int:
    held = {identity for name, identity in scope.drawn if name == kind.name}
    for place, variable_type in scope.variables.values():
        held |= identities(kind, variable_type, scope.state[place])
    for name, local_type in scope.types.items():
        held |= identities(kind, local_type, scope.locals[name])
    for candidate in range(1, kind.size + 1):
        if candidate not in held:
            scope.drawn.add((kind.name, candidate))
            return candidate
    raise BoundReached(kind.name)


def identities(kind: Identity, holder: Type, value: Value) -> set[int]:
    """The identities of one pool that a value holds; the keys of a map are not held."""
    match holder:
        case Identity(name, _):
            return {value} if name == kind.name else set()
        case Option(element):
            return set() if value is None else identities(kind, element, value)
        case Set(element) | Map(_, element) | Sequence(element, _) | Bag(element, _):
            return {found for item in value for found in identities(kind, element, item)}
        case Record(_, fields):
            pairs = zip(fields, value, strict=True)
            return {found for (_, part), item in pairs for found in identities(kind, part, item)}
        case _:
            return set()
