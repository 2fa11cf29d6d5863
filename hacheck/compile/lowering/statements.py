"""Statements of the model as blocks of the lowered form.

A path is followed through the action's statements. Where it divides, what comes after is lowered once for each
branch, with what the branch has taught (fast code: every outcome ends in few operations), as long as the path's
budget lasts and always across a `Choose`; after that the branches meet again in a merge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, assert_never

from hacheck.compile.lowering.assignments import assign, assign_constants
from hacheck.compile.lowering.blocks import Block, Emit, Stopped, Update
from hacheck.compile.lowering.control_path import (
    End,
    Going,
    Leave,
    Path,
    Turn,
    Work,
    at_end,
    branch,
    checked,
    harmless,
    push,
)
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.expressions import evaluate, truth, with_blanks
from hacheck.compile.lowering.joins import join
from hacheck.compile.lowering.let_binding import let_bound
from hacheck.compile.lowering.operations import type_violations
from hacheck.compile.lowering.path_conditions import simplify
from hacheck.compile.lowering.quantifiers import bindings
from hacheck.compile.lowering.scope import Context
from hacheck.compile.lowering.symbolic_values import normal
from hacheck.model.ir import Assign, Choose, ForEach, If, Let, Log, Require, Statement, Stop


def run(context: Context, path: Path, work: Work) -> Block:
    """The block that does the work from here on. Straight stretches are a loop; only what divides a path recurs."""
    before: Block = ()
    while True:
        after = _step(context, path, work)
        if not isinstance(after, Going):
            return before + after
        path, work = after.path, after.work
        before += after.before


def _step(context: Context, path: Path, work: Work) -> Going | Block:
    """What comes after the first piece of work, or the whole block if the path ends or divides there."""
    assert work is not None, "work ends with an `End`"
    item, rest = work
    match item:
        case Assign():
            known = assign_constants(context, path, work)
            if known is not None:
                return known
            return assign(context, path, item, lambda after: run(context, after, rest), at_end(rest), rest)
        case Leave(names):
            if len(names) == len(path.locals):
                return Going(path, rest)
            return Going(path.binding({name: path.locals[name] for name in names}), rest)
        case End(close):
            return close(path)
        case Let():
            return _let(context, path, item, rest)
        case Choose():
            return _choose(context, path, item, rest)
        case If(condition, then, otherwise):
            scope = path.scope(context)
            tested = truth(condition, scope)
            sides = _left(then, path), _left(otherwise, path)
            if harmless(context, path, scope.checks):
                return divide(context, path, tested, sides, rest)
            return checked(context, path, scope.checks, lambda after: _divided(context, after, tested, sides, rest))
        case ForEach():
            return _loop(context, path, item, rest)
        case Turn(variable, kind, present, value, body):
            leave = Leave(tuple(path.locals))
            inside = path.binding({**path.locals, variable: (kind, value)})
            there = simplify(context.graph, path.facts, present)
            return divide(context, inside, there, ((*body, leave), (leave,)), rest)
        case Require(condition):
            scope = path.scope(context)
            needed = truth(condition, scope)
            if harmless(context, path, scope.checks) and needed is context.graph.one:
                return Going(path, rest)
            return checked(context, path, scope.checks, lambda after: _require(context, after, needed, rest))
        case Stop(bound):
            return (Stopped("bound", bound),)
        case Log():
            return Going(path, rest)
        case _:
            assert_never(item)


def _left(body: tuple[Statement, ...], path: Path) -> tuple[Statement | Leave, ...]:
    """A block of statements, at whose end its own locals are left behind."""
    for statement in body:
        if isinstance(statement, (Let, Choose)):
            return (*body, Leave(tuple(path.locals)))
    return body


def finished(context: Context, path: Path) -> Block:
    """The step that a path has come to."""
    updates = []
    facts, graph = path.facts, context.graph
    for slot, value in sorted(path.slots.items()):
        before = context.slot(slot)
        if value is before:
            continue
        known = facts.get(before)
        low, high = (before.low, before.high) if known is None else known
        was = low if low == high else None
        if not value.is_const:
            value = simplify(graph, facts, value)
            if value is before:
                continue
        if value.is_const and value.number == was:
            continue
        updates.append(Update(slot, value, was))
    return (Emit(tuple(updates)),)


def _require(context: Context, path: Path, needed: Node, rest: Work) -> Block:
    going = path.where(context, needed)
    return () if going is None else branch(needed, run(context, going, rest), ())


def _let(context: Context, path: Path, item: Let, rest: Work) -> Going | Block:
    scope = path.scope(context)
    value = evaluate(item.value, scope)
    for check in type_violations(context.graph, item.type, value, context.graph.one, item.name):
        scope.demand(check)
    fitted = normal(context.graph, item.type, with_blanks(context.graph, item.type, item.value, value))
    before, safe = let_bound(context, item.type, fitted)
    after = path.binding({**path.locals, item.name: (item.type, safe)})
    if harmless(context, after, scope.checks):
        return Going(after, rest, before)
    return checked(context, after, scope.checks, lambda known: before + run(context, known, rest))


def _choose(context: Context, path: Path, item: Choose, rest: Work) -> Block:
    scope = path.scope(context)
    bound = list(bindings(item.name, item.domain, scope, evaluate))

    def go(after: Path) -> Block:
        blocks: Block = ()
        for present, value, _ in bound:
            chosen = after.where(context, present)
            if chosen is not None:
                local = chosen.binding({**path.locals, item.name: (item.domain.type, value)})
                blocks += branch(simplify(context.graph, after.facts, present), run(context, local, rest), ())
        return blocks

    return checked(context, path, scope.checks, go)


def _loop(context: Context, path: Path, item: ForEach, rest: Work) -> Going | Block:
    scope = path.scope(context)
    turns = tuple(
        Turn(item.variable, item.domain.type, present, value, item.body)
        for present, value, _ in bindings(item.variable, item.domain, scope, evaluate)
    )
    if harmless(context, path, scope.checks):
        return Going(path, push(turns, rest))
    return checked(context, path, scope.checks, lambda after: run(context, after, push(turns, rest)))


Sides: TypeAlias = tuple[tuple[Statement | Leave, ...], tuple[Statement | Leave, ...]]


def _divided(context: Context, path: Path, condition: Node, sides: Sides, rest: Work) -> Block:
    after = divide(context, path, simplify(context.graph, path.facts, condition), sides, rest)
    return run(context, after.path, after.work) if isinstance(after, Going) else after


def divide(context: Context, path: Path, condition: Node, sides: Sides, rest: Work) -> Going | Block:
    """One of two ways to go on with the rest; the condition is a constant if what is known decides it."""
    then, otherwise = sides
    first = path.where(context, condition)
    second = path.where(context, context.graph.not_(condition))
    if first is None or condition is context.graph.zero:
        assert second is not None, "a path goes on"
        return Going(second, push(otherwise, rest))
    if second is None or condition.is_const:
        return Going(first, push(then, rest))
    free = at_end(rest) or _ends(then) or _ends(otherwise)
    if not free and not _chooses(then) and not _chooses(otherwise):
        if path.budget < 2:
            return join(context, path, condition, (first, then), (second, otherwise), _runner(context), rest)
        first, second = first.with_budget(path.budget // 2), second.with_budget(path.budget // 2)
    return branch(condition, run(context, first, push(then, rest)), run(context, second, push(otherwise, rest)))


def _runner(context: Context) -> Callable[[Path, Work], Block]:
    return lambda path, work: run(context, path, work)


def _ends(statements: tuple[Statement | Leave, ...]) -> bool:
    """Whether nothing comes after these statements."""
    return any(isinstance(statement, Stop) for statement in statements)


def _chooses(statements: tuple[Statement | Leave, ...]) -> bool:
    """Whether these statements can make a choice."""
    for statement in statements:
        match statement:
            case Choose():
                return True
            case If(_, then, otherwise):
                if _chooses(then) or _chooses(otherwise):
                    return True
            case ForEach(_, _, body):
                if _chooses(body):
                    return True
            case _:
                pass
    return False
