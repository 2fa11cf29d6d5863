"""Expressions in the style of the language, for guards on diagrams and for messages."""

from __future__ import annotations

import re
from typing import assert_never

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
from hacheck.model.render_value import show
from hacheck.model.types import (
    Bag,
    Bool,
    Enum,
    Identity,
    Map,
    Node,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
)

# How tightly each form binds; an operand that binds no tighter than its place asks is put in brackets.
LOOSE, IMPLIES, OR, AND, NOT, COMPARISON, COLLECTION, SUM, PRODUCT, SIGN, ATOM = range(11)
ANY = -1

PRECEDENCE = {
    "implies": IMPLIES,
    "or": OR,
    "and": AND,
    "==": COMPARISON,
    "!=": COMPARISON,
    "<": COMPARISON,
    "<=": COMPARISON,
    "in": COMPARISON,
    "subset": COMPARISON,
    "union": COLLECTION,
    "intersect": COLLECTION,
    "minus": COLLECTION,
    "with": COLLECTION,
    "without": COLLECTION,
    "+": SUM,
    "-": SUM,
    "*": PRODUCT,
}
QUANTIFIERS = {
    "some": "some",
    "every": "every",
    "none": "no",
    "at_most_one": "at most one",
    "exactly_one": "exactly one",
    "majority": "most",
    "count": "count",
}


def show_expression(expression: Expression) -> str:
    """The expression as a spec would have it: `n.mode == inactive and up(n)`.

    Wrapping into an option is not shown, since a spec need not write it, and locals are called as the spec calls them.
    Cost: the expression's size.
    """
    return as_written(_show(expression, ANY))


def as_written(text: str) -> str:
    """Names of locals as the spec has them, without the numbers that make each unlike any other."""
    return re.sub(r"\$[0-9]+", "", text)


def show_type(kind: Type) -> str:
    """The type as a spec would have it: `0..3`, `Replica`, `set of Replica`, `Stamp?`."""
    match kind:
        case Bool():
            return "bool"
        case Range(low, high):
            return f"{low}..{high}"
        case Enum(name) | Node(name) | Identity(name) | Record(name):
            return name
        case Option(element):
            return f"{show_type(element)}?"
        case Set(element):
            return f"set of {show_type(element)}"
        case Map(key, value):
            return f"map {show_type(key)} to {show_type(value)}"
        case Sequence(element, capacity):
            return f"sequence of {show_type(element)} up to {capacity}"
        case Bag(element, capacity):
            return f"bag of {show_type(element)} up to {capacity}"
        case _:
            assert_never(kind)


def _show(expression: Expression, tight: int) -> str:
    """The text, in brackets unless it binds tighter than `tight`."""
    level, text = _text(expression)
    return text if level > tight or level == ATOM else f"({text})"


def _text(expression: Expression) -> tuple[int, str]:
    match expression:
        case Constant(value, kind):
            negative = isinstance(kind, Range) and value < 0
            return SIGN if negative else ATOM, f"({show(kind, value)})" if isinstance(kind, Map) else show(kind, value)
        case Variable(name) if (lock := _lock_part(name, "holder")) is not None:
            return ATOM, f"holder({lock})"
        case Variable(name) | Local(name):
            return ATOM, name
        case Fresh(kind):
            return ATOM, f"fresh({kind.name})"
        case Index():
            return ATOM, _index(expression)
        case Member(base, field):
            return ATOM, f"{_show(base, SIGN)}.{field}"
        case Old(operand):
            return ATOM, f"old({_show(operand, ANY)})"
        case Unary():
            return _unary(expression)
        case Binary():
            return _binary(expression)
        case Conditional(condition, then, otherwise):
            return LOOSE, (f"if {_show(condition, ANY)} then {_show(then, ANY)} else {_show(otherwise, ANY)}")
        case Extreme("min", variable, Domain(_, None, where), Constant()) if node := _all_but(variable, where):
            return ATOM, f"other({node})"
        case Quantified() | Extreme() | MapOf():
            return LOOSE, _bound(expression)
        case SetOf(variable, Domain(_, None, where), Local(name), _) if name == variable and (
            node := _all_but(variable, where)
        ):
            return ATOM, f"others({node})"
        case SetOf(variable, domain, item, _):
            return ATOM, "{" + f"{_show(item, ANY)} for {_binder(variable, domain)}{_where(domain)}" + "}"
        case MakeRecord(kind, items):
            return ATOM, _record(kind, items)
        case MakeCollection(kind, items):
            inside = ", ".join(_show(item, ANY) for item in items)
            return ATOM, "{" + inside + "}" if isinstance(kind, Set) else f"[{inside}]"
        case _:
            assert_never(expression)


def _all_but(variable: str, where: Expression | None) -> str:
    """The node that all but one are unlike, where that is what a condition says of the bound variable; else nothing."""
    match where:
        case Binary("!=", Local(name), node) if name == variable:
            return _show(node, ANY)
        case _:
            return ""


def _index(expression: Index) -> str:
    """A field of a node reads `n.mode`; whether a node is up reads `up(n)`, whether it holds a lock `holds(L, n)`, what
    its clock shows `clock(n)`."""
    base, key = expression.base, expression.key
    if isinstance(base, Variable) and (lock := _lock_part(base.name, "believed")) is not None:
        return f"holds({lock}, {_show(key, ANY)})"
    if isinstance(base, Variable) and isinstance(base.type, Map) and isinstance(base.type.key, Node):
        prefix = f"{base.type.key.name}."
        if base.name.startswith(prefix):
            field = base.name.removeprefix(prefix)
            if field == "up":
                return f"up({_show(key, ANY)})"
            owner = f"({_show(key, ANY)})" if isinstance(key, Constant) else _show(key, SIGN)
            return f"{owner}.{field}"
        if base.name == f"clock.{base.type.key.name}":
            return f"clock({_show(key, ANY)})"
    return f"{_show(base, SIGN)}[{_show(key, ANY)}]"


def _lock_part(variable: str, part: str) -> str | None:
    """The lock of which a variable is this part, if it is."""
    whole = re.fullmatch(rf"lock\.(.+)\.{part}", variable)
    return None if whole is None else whole[1]


def _unary(expression: Unary) -> tuple[int, str]:
    operand = expression.operand
    match expression.operator:
        case "not":
            return NOT, f"not {_show(operand, AND)}"
        case "negate":
            return SIGN, f"-{_show(operand, SIGN)}"
        case "some":
            return _text(operand)
        case "value" | "size" | "first" | "last" | "rest" | "majority":
            return ATOM, f"{expression.operator}({_show(operand, ANY)})"
        case _:
            assert_never(expression.operator)


def _binary(expression: Binary) -> tuple[int, str]:
    operator, left, right = expression.operator, expression.left, expression.right
    if operator == "append":
        return ATOM, f"append({_show(left, ANY)}, {_show(right, ANY)})"
    level = PRECEDENCE[operator]
    # chains of these need no brackets on the side they lean to; comparisons lean to none
    leans_left = operator in ("or", "and", "+", "-", "*", "union", "intersect", "minus", "with", "without")
    leans_right = operator == "implies"
    first = _show(left, level - 1 if leans_left else level)
    second = _show(right, level - 1 if leans_right else level)
    return level, f"{first} {operator} {second}"


def _bound(expression: Quantified | Extreme | MapOf) -> str:
    match expression:
        case MapOf(variable, key, item, _):
            return f"each {variable}: {show_type(key)} -> {_show(item, ANY)}"
        case Extreme(kind, variable, domain, by):
            return f"{kind} {_binder(variable, domain)}{_where(domain)} by {_show(by, ANY)}"
        case Quantified("every", variable, domain, body):
            return f"every {_binder(variable, domain)}{_where(domain)} satisfies {_show(body, ANY)}"
        case Quantified(kind, variable, domain, body):
            whole = body if domain.where is None else Binary("and", domain.where, body)
            return f"{QUANTIFIERS[kind]} {_binder(variable, domain)} where {_show(whole, ANY)}"
        case _:
            assert_never(expression)


def _binder(variable: str, domain: Domain) -> str:
    if domain.within is None:
        return f"{variable}: {show_type(domain.type)}"
    return f"{variable} in {_show(domain.within, COLLECTION)}"


def _where(domain: Domain) -> str:
    return "" if domain.where is None else f" where {_show(domain.where, ANY)}"


def _record(kind: Type, items: tuple[Expression, ...]) -> str:
    assert isinstance(kind, Record), f"a record of type {kind}"
    parts = (f"{field}: {_show(item, ANY)}" for (field, _), item in zip(kind.fields, items, strict=True))
    return f"{kind.name}({', '.join(parts)})"
