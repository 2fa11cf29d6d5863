"""The type of an expression, derived from its parts; of arithmetic, the interval its result lies in."""

from __future__ import annotations

from typing import assert_never

from hacheck.model.ir import (
    Binary,
    Conditional,
    Constant,
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
from hacheck.model.types import Bag, Bool, Map, Option, Range, Record, Sequence, Set, Type, cardinality

BOOL = Bool()
BOOLEAN = frozenset({"and", "or", "implies", "==", "!=", "<", "<=", "in", "subset"})


def type_of(expression: Expression) -> Type:
    """The type whose values the expression can have. Cost: the expression's size."""
    match expression:
        case Constant(type=kind) | Variable(type=kind) | Local(type=kind) | Fresh(type=kind):
            return kind
        case Index(base, _):
            container = type_of(base)
            assert isinstance(container, Map | Sequence), f"index into {container}"
            return container.value if isinstance(container, Map) else container.element
        case Binary():
            return _type_of_binary(expression)
        case Unary():
            return _type_of_unary(expression)
        case Member(base, field):
            record = type_of(base)
            assert isinstance(record, Record), f"field {field} of {record}"
            return dict(record.fields)[field]
        case MakeRecord(type=kind) | MakeCollection(type=kind):
            return kind
        case Old(operand):
            return type_of(operand)
        case Conditional(_, then, otherwise):
            return join(type_of(then), type_of(otherwise))
        case Quantified("count", _, domain, _):
            return Range(0, cardinality(domain.type) if domain.within is None else extent(type_of(domain.within)))
        case Quantified():
            return BOOL
        case SetOf(element=element):
            return Set(element)
        case MapOf(_, key, _, value):
            return Map(key, value)
        case Extreme(_, _, domain, _):
            return domain.type
        case _:
            assert_never(expression)


def _type_of_unary(expression: Unary) -> Type:
    operand = type_of(expression.operand)
    match expression.operator:
        case "not" | "majority":
            return BOOL
        case "negate":
            assert isinstance(operand, Range), f"negated {operand}"
            return Range(-operand.high, -operand.low)
        case "some":
            return Option(operand)
        case "value":
            assert isinstance(operand, Option), f"value of {operand}"
            return operand.element
        case "size":
            return Range(0, extent(operand))
        case "first" | "last":
            assert isinstance(operand, Sequence), f"element of {operand}"
            return operand.element
        case "rest":
            return operand
        case _:
            assert_never(expression.operator)


def _type_of_binary(expression: Binary) -> Type:
    if expression.operator in BOOLEAN:
        return BOOL
    left, right = type_of(expression.left), type_of(expression.right)
    if expression.operator not in ("+", "-", "*"):
        return _type_of_collection(expression.operator, left, right)
    assert isinstance(left, Range), f"arithmetic on {left}"
    assert isinstance(right, Range), f"arithmetic on {right}"
    match expression.operator:
        case "+":
            return Range(left.low + right.low, left.high + right.high)
        case "-":
            return Range(left.low - right.high, left.high - right.low)
        case _:
            corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
            return Range(min(corners), max(corners))


def _type_of_collection(operator: str, left: Type, right: Type) -> Type:
    """What a collection becomes by one operation: wide enough for its result, which an assignment may then
    refuse.
    """
    match operator, left:
        case "with", Set(element):
            return Set(join(element, right))
        case "with", Bag(element, capacity):
            return Bag(join(element, right), capacity + 1)
        case "append", Sequence(element, capacity):
            return Sequence(join(element, right), capacity + 1)
        case "union", _:
            return join(left, right)
        case _:
            return left


def join(left: Type, right: Type) -> Type:
    """The least type that holds the values of both; they are equal but for their ranges and capacities."""
    if isinstance(left, Range) and isinstance(right, Range):
        counter = left.counter if left.counter == right.counter else None
        return Range(min(left.low, right.low), max(left.high, right.high), counter)
    if isinstance(left, Option) and isinstance(right, Option):
        return Option(join(left.element, right.element))
    if isinstance(left, Set) and isinstance(right, Set):
        return Set(join(left.element, right.element))
    if isinstance(left, Map) and isinstance(right, Map):
        return Map(left.key, join(left.value, right.value))
    if isinstance(left, Sequence) and isinstance(right, Sequence):
        return Sequence(join(left.element, right.element), max(left.capacity, right.capacity))
    if isinstance(left, Bag) and isinstance(right, Bag):
        return Bag(join(left.element, right.element), max(left.capacity, right.capacity))
    return left


def extent(kind: Type) -> int:
    """The most elements a set, sequence or bag of this type can hold."""
    match kind:
        case Set(element):
            return cardinality(element)
        case Sequence(_, capacity) | Bag(_, capacity):
            return capacity
        case _:
            raise AssertionError(f"{kind} holds no elements")
