"""The edges of a state diagram that the text of the model allows, found without exploring it.

For each action and each node whose mode it may write, the body is run on that node's mode alone, everything
else being unknown: a condition that cannot be decided is taken both ways. So every edge that exists is found,
and some that do not exist are found as well; a walk through the model shows which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model.ir import (
    Action,
    Assign,
    Binary,
    Choose,
    Conditional,
    Constant,
    Expression,
    ForEach,
    If,
    Index,
    Let,
    Local,
    MakeCollection,
    MapOf,
    Require,
    Statement,
    StateVariable,
    Stop,
    System,
    Unary,
    Variable,
)
from hacheck.model.render import show_expression
from hacheck.model.rewrite import conjuncts
from hacheck.model.types import Enum, Map, Value

DOWN = "(down)"
"""The state of a node that has crashed."""

MACHINERY = frozenset({"status", "frame", "budget", "channel"})
"""Roles of variables that the tool itself keeps; what a guard says of them goes without saying on a
diagram."""


class _Unknown:
    """The value of what cannot be known."""


UNKNOWN = _Unknown()

Known = tuple[Value, Value]
"""The mode (or `UNKNOWN`) and whether the node is up."""

Locals = Mapping[str, Any]


class Subject(Struct, frozen=True):
    """The node whose mode is followed: `key` is how the action writes it, `None` where it writes all nodes at
    once."""

    mode: str
    up: str | None
    key: Expression | None
    members: tuple[str, ...]


def possible_edges(system: System, mode: StateVariable, up: str | None) -> frozenset[tuple[str, str, int]]:
    """From which mode to which other one, by which action, the model may go. Cost: the size of the bodies,
    times the number of modes."""
    kind = mode.type
    assert isinstance(kind, Map), f"the mode {mode.name} is no map"
    assert isinstance(kind.value, Enum), f"the mode {mode.name} is no enum"
    members = kind.value.members
    edges = set()
    for number, action in enumerate(system.actions):
        for key in keys_of(action.body, {mode.name, up}):
            subject = Subject(mode.name, up, key, members)
            for known in starts(members, up, mode):
                source = DOWN if known[1] is False else known[0]
                for target in _targets(subject, action, known):
                    if target != source:
                        edges.add((source, target, number))
    return frozenset(edges)


def starts(members: tuple[str, ...], up: str | None, mode: StateVariable) -> Iterator[Known]:
    for member in members:
        yield (member, True)
    if up is not None:
        for member in members if mode.durable else dict.fromkeys(mode.initial):
            yield (member, False)


def keys_of(body: tuple[Statement, ...], names: set[str | None]) -> list[Expression | None]:
    """The nodes whose mode or status a body writes, as it writes them."""
    found: list[Expression | None] = []
    for statement in body:
        match statement:
            case Assign(target) if isinstance(target.root, Variable) and target.root.name in names:
                key = target.path[0] if target.path else None
                found.append(key if not isinstance(key, str) else None)
            case If(_, then, otherwise):
                found += keys_of(then, names) + keys_of(otherwise, names)
            case ForEach(body=inner):
                found += keys_of(inner, names)
            case _:
                pass
    return list(dict.fromkeys(found))


def _targets(subject: Subject, action: Action, known: Known) -> set[str]:
    """Where a node that begins as `known` may be after the action."""
    if value(action.guard, subject, known, {}) is False:
        return set()
    ends, _ = after_body(action.body, subject, {known}, {})
    targets = set()
    for mode, up in ends:
        if up is False:
            targets.add(DOWN)
        else:
            targets |= set(subject.members) if mode is UNKNOWN else {mode}
    return targets


def after_body(
    body: tuple[Statement, ...], subject: Subject, states: set[Known], locals: Locals
) -> tuple[set[Known], Locals]:
    """The states of the node after a body, from any of some states; and what is known of its locals."""
    for statement in body:
        match statement:
            case Assign(target, expression):
                states = {new for known in states for new in _assigned(statement, subject, known, locals)}
                if isinstance(target.root, Local):
                    locals = {name: item for name, item in locals.items() if name != target.root.name}
            case Let(name, _, expression):
                found = {value(expression, subject, known, locals) for known in states}
                if len(found) == 1 and UNKNOWN not in found:
                    locals = {**locals, name: found.pop()}
            case If(condition, then, otherwise):
                taken = {known for known in states if value(condition, subject, known, locals) is not False}
                other = {known for known in states if value(condition, subject, known, locals) is not True}
                after_then, left = after_body(then, subject, taken, locals)
                after_other, right = after_body(otherwise, subject, other, locals)
                states = after_then | after_other
                locals = {name: item for name, item in left.items() if right.get(name, UNKNOWN) == item}
            case ForEach(body=inner):
                states = states | after_body(inner, subject, states, {})[0]
                locals = {}
            case Require(condition):
                states = {known for known in states if value(condition, subject, known, locals) is not False}
            case Choose() | Stop():
                pass
    return states, locals


def _assigned(statement: Assign, subject: Subject, known: Known, locals: Locals) -> Iterator[Known]:
    """The node's state after an assignment."""
    root, path = statement.target.root, statement.target.path
    mine = isinstance(root, Variable) and (path[:1] == (subject.key,) if path else True)
    if not mine or root.name not in (subject.mode, subject.up):
        yield known
        return
    expression = statement.value
    if not path and isinstance(expression, MapOf):
        expression = expression.item
    for found in _outcomes(expression, subject, known, locals):
        if root.name == subject.mode:
            yield (found, known[1])
        elif found is UNKNOWN:
            yield (known[0], True)
            yield (known[0], False)
        else:
            yield (known[0], found)


def _outcomes(expression: Expression, subject: Subject, known: Known, locals: Locals) -> Iterator[Any]:
    """The values an expression may have; of a conditional that cannot be decided those of both sides."""
    if isinstance(expression, Conditional):
        decided = value(expression.condition, subject, known, locals)
        if decided is not False:
            yield from _outcomes(expression.then, subject, known, locals)
        if decided is not True:
            yield from _outcomes(expression.otherwise, subject, known, locals)
        return
    yield value(expression, subject, known, locals)


def value(expression: Expression, subject: Subject, known: Known, locals: Locals) -> Any:
    """The value of an expression when of the state only one node's mode and status are known, or
    `UNKNOWN`."""

    def of(part: Expression) -> Any:
        return value(part, subject, known, locals)

    match expression:
        case Constant(constant):
            return constant
        case Local(name):
            return locals.get(name, UNKNOWN)
        case Index(Variable(name), key) if key == subject.key and name in (subject.mode, subject.up):
            return known[0] if name == subject.mode else known[1]
        case Unary("not", operand):
            inner = of(operand)
            return UNKNOWN if inner is UNKNOWN else not inner
        case Binary("and", left, right):
            return _decided((of(left), of(right)), by=False)
        case Binary("or", left, right):
            return _decided((of(left), of(right)), by=True)
        case Binary("implies", left, right):
            premise = of(left)
            return _decided((premise if premise is UNKNOWN else not premise, of(right)), by=True)
        case Binary("==" | "!=" | "in" as operator, left, right):
            return _compared(operator, of(left), of(right))
        case MakeCollection(_, items):
            found = [of(item) for item in items]
            return UNKNOWN if UNKNOWN in found else tuple(found)
        case Conditional(condition, then, otherwise):
            chosen = of(condition)
            return UNKNOWN if chosen is UNKNOWN else of(then) if chosen else of(otherwise)
        case _:
            return UNKNOWN


def _decided(parts: tuple[Any, Any], *, by: bool) -> Any:
    """`and` and `or`: decided by one side that is `by`, unknown while a side is unknown."""
    if any(part is by for part in parts):
        return by
    return UNKNOWN if UNKNOWN in parts else not by


def _compared(operator: str, left: Any, right: Any) -> Any:
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if operator == "in":
        return left in right
    return (left == right) == (operator == "==")


def shown_guard(system: System, action: Action, mode: str, up: str | None) -> str:
    """What an action's guard asks beyond the mode itself and what the tool keeps, as it reads in a spec."""
    hidden = {variable.name for variable in system.variables if variable.role in MACHINERY} | {mode}
    if up is not None:
        hidden.add(up)
    guard = map(_without_not, conjuncts(action.guard))
    parts = [show_expression(part) for part in guard if (names := _reads(part)) and not names <= hidden]
    return " and ".join(parts)


def _without_not(expression: Expression) -> Expression:
    if isinstance(expression, Unary) and isinstance(inner := expression.operand, Binary):
        return replace(inner, operator="!=") if (expression.operator, inner.operator) == ("not", "==") else expression
    return expression


def _reads(part: object) -> set[str]:
    """The names of the state variables that an expression reads."""
    if isinstance(part, Variable):
        return {part.name}
    if isinstance(part, tuple):
        return {name for item in part for name in _reads(item)}
    slots = getattr(type(part), "__struct_fields__", ())
    return {name for field in slots for name in _reads(getattr(part, field))}
