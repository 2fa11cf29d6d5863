"""What the statements of a body do.

A body is executed as a list of possible continuations: a statement turns each continuation into those after
it, and only `Choose` makes more than one. The continuations of a step come in the order of their choices.

An assignment first evaluates its value, then the keys of its target, then asks whether there is such a place
and whether the value may be stored; the first of these that fails decides what becomes of the step.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from msgspec import Struct

from hacheck.model.evaluation import BoundReached, EvaluationError, Scope, domain_values, evaluate
from hacheck.model.ir import Assign, Choose, ForEach, If, Let, Local, Log, Require, Statement, Stop, Variable
from hacheck.model.types import Node, Type, Value
from hacheck.model.typing import type_of
from hacheck.model.value_storage import part_type, refuse, type_violation, written


class Line(Struct, frozen=True):
    """A line that a step writes. `node`: the kind and the id of who writes it, `None` if it is nobody's; `fields`: by
    name, each with the type of what the spec shows."""

    event: str
    node: tuple[str, int] | None
    fields: tuple[tuple[str, Type, Value], ...]


class Going(Struct, frozen=True):
    """A continuation: what holds so far, the choices made, and the lines written."""

    scope: Scope
    choices: tuple[Value, ...]
    lines: tuple[Line, ...] = ()


class Stopped(Struct, frozen=True):
    """The end of a continuation that met a bound, or else an error of the spec."""

    choices: tuple[Value, ...]
    bound: str | None
    message: str


Continuation: TypeAlias = Going | Stopped


def execute(statements: tuple[Statement, ...], start: Continuation) -> list[Continuation]:
    """The continuations after a body, one for each way to choose in it; none where it is not possible."""
    ends = [start]
    for statement in statements:
        ends = [after for end in ends for after in _after(statement, end)]
    return ends


def _after(statement: Statement, before: Continuation) -> list[Continuation]:
    """The continuations after one statement. One that has stopped is unchanged."""
    if isinstance(before, Stopped):
        return [before]
    # what `Fresh` draws is remembered within one statement; after that the state or a local holds it
    seen = before.scope
    scope = Scope(seen.variables, seen.state, seen.before, seen.locals, seen.types, set())
    going = Going(scope, before.choices, before.lines)
    try:
        return _continue(statement, going)
    except EvaluationError as error:
        return [Stopped(before.choices, None, error.message)]
    except BoundReached as reached:
        return [Stopped(before.choices, reached.bound, "")]


def _continue(statement: Statement, going: Going) -> list[Continuation]:
    scope = going.scope
    match statement:
        case Assign():
            return [Going(_assigned(statement, scope), going.choices, going.lines)]
        case Let(name, kind, value):
            result = evaluate(value, scope)
            found = type_violation(kind, result)
            if found is not None:
                raise refuse(name, kind, (), found)
            return [Going(scope.bind(name, kind, result), going.choices, going.lines)]
        case Choose(name, domain):
            return [
                Going(scope.bind(name, domain.type, choice), (*going.choices, choice), going.lines)
                for choice in domain_values(name, domain, scope)
            ]
        case If(condition, then, otherwise):
            block = then if evaluate(condition, scope) else otherwise
            return [_left(end, scope) for end in execute(block, going)]
        case ForEach(variable, domain, body):
            ends: list[Continuation] = [going]
            for value in domain_values(variable, domain, scope):
                ends = [after for end in ends for after in turn(variable, domain.type, value, body, end)]
            return ends
        case Require(condition):
            return [going] if evaluate(condition, scope) else []
        case Stop(bound):
            raise BoundReached(bound)
        case Log():
            return [Going(scope, going.choices, (*going.lines, _written(statement, scope)))]
        case _:
            assert_never(statement)


def _written(line: Log, scope: Scope) -> Line:
    node = None
    if line.node is not None:
        kind = type_of(line.node)
        assert isinstance(kind, Node), f"a line is written by {kind}"
        node = kind.name, evaluate(line.node, scope)
    fields = tuple((one.name, type_of(one.value), evaluate(one.value, scope)) for one in line.fields)
    return Line(line.event, node, fields)


def turn(
    variable: str, kind: Type, value: Value, body: tuple[Statement, ...], before: Continuation
) -> list[Continuation]:
    """One turn of a loop."""
    if isinstance(before, Stopped):
        return [before]
    inside = Going(before.scope.bind(variable, kind, value), before.choices, before.lines)
    return [_left(end, before.scope) for end in execute(body, inside)]


def _left(end: Continuation, outer: Scope) -> Continuation:
    """A continuation that leaves a block: the block's own locals are gone, changes to outer ones stay."""
    if isinstance(end, Stopped):
        return end
    kept = {name: end.scope.locals[name] for name in outer.locals}
    inner = end.scope
    scope = Scope(inner.variables, inner.state, inner.before, kept, outer.types, inner.drawn)
    return Going(scope, end.choices, end.lines)


def _assigned(statement: Assign, scope: Scope) -> Scope:
    """The scope after an assignment. Errors: `EvaluationError`, `BoundReached`."""
    value = evaluate(statement.value, scope)
    root = statement.target.root
    path = tuple(part if isinstance(part, str) else evaluate(part, scope) for part in statement.target.path)
    whole = evaluate(root, scope)
    new = written(root.name, root.type, whole, path, value)
    found = type_violation(part_type(root.type, path), value)
    if found is not None:
        raise refuse(root.name, root.type, path, found)
    match root:
        case Variable(name, _):
            place, _ = scope.variables[name]
            state = (*scope.state[:place], new, *scope.state[place + 1 :])
            return Scope(scope.variables, state, scope.before, scope.locals, scope.types, scope.drawn)
        case Local(name, _):
            kept = {**scope.locals, name: new}
            return Scope(scope.variables, scope.state, scope.before, kept, scope.types, scope.drawn)
        case _:
            assert_never(root)
