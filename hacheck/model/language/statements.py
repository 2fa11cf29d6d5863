"""From statements as written to the model's statements, where no step ends inside them."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import locks, log_lines, messages, operations
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.arguments import taken
from hacheck.model.language.collection_syntax import METHODS, OF_SEQUENCES
from hacheck.model.language.constant_folding import enclosed
from hacheck.model.language.context import Bound, Halt, Lines, Scope, describe
from hacheck.model.language.diagnostics import SpecError, error, near
from hacheck.model.language.expressions import bind, boolean, elaborate, node_field, variable
from hacheck.model.language.foreign_syntax import NAMES
from hacheck.model.language.function_calls import fill
from hacheck.model.language.halting_calls import if_up, may_halt
from hacheck.model.language.resolve_types import resolve
from hacheck.model.typing import type_of

Made = tuple[ir.Statement, ...]


def body(written: t.Body, scope: Scope) -> Made:
    """A block; what it declares is forgotten at its end. Every faulty statement is reported, not only the first."""
    made: list[ir.Statement] = []
    for index, statement in enumerate(written):
        try:
            more, scope = simple(statement, scope)
            made.extend(more)
        except SpecError as failure:
            scope = passed_over(statement, failure, scope)
        if may_halt(statement, scope):
            return (*made, *if_up(body(written[index + 1 :], scope), scope))
    return tuple(made)


def passed_over(statement: t.Statement, failure: SpecError, scope: Scope) -> Scope:
    """A faulty statement is reported, and the block goes on without it; what uses a name that it declares is faulty
    for the same reason and not reported again.
    """
    scope.context.collect(failure)
    match statement:
        case t.Let(name=name) | t.Choose(t.Binder(name=name)) | t.Call(result=t.Name() as name):
            return replace(scope, failed=(*scope.failed, (name.text, failure)))
        case _:
            return scope


def simple(written: t.Statement, scope: Scope) -> tuple[Made, Scope]:
    """The model's statements for one as written, and the scope of the statements after it."""
    match written:
        case t.Assign():
            return _assign(written, scope), scope
        case t.If(condition, then, otherwise):
            seen = scope.seeing("all") if assigns_ghosts_only(written, scope) else scope
            return (ir.If(boolean(condition, seen), body(then, scope), body(otherwise, scope)),), scope
        case t.For(binder, where, inner):
            name, domain, within = bind(binder, where, scope)
            turn = body(inner, within)
            return (ir.ForEach(name, domain, if_up(turn, scope) if may_halt(written, scope) else turn),), scope
        case t.Let():
            return _let(written, scope)
        case t.Choose(binder, where):
            name, domain, within = bind(binder, where, scope, whole=True)
            return (ir.Choose(name, domain),), within
        case t.Require(condition):
            return (ir.Require(boolean(condition, scope)),), scope
        case t.Perform():
            return _perform(written, scope), scope
        case t.Send():
            return messages.send(written, scope), scope
        case t.Call():
            return operations.call_atomically(written, scope)
        case t.Answer(value):
            return _answer(written, value, scope), scope
        case t.Acquire(lock, then, otherwise):
            free, taken = locks.acquire(lock, scope)
            return (ir.If(free, (*taken, *body(then, scope)), body(otherwise, scope)),), scope
        case t.Release(lock):
            return locks.release(lock, scope), scope
        case t.Sync(written_place):
            return _sync(written_place, scope), scope
        case t.Log():
            return log_lines.line(written, scope), scope
        case t.Halt(span):
            raise error("HA130", "a node cannot halt inside a `for`", span, "choose in the loop, halt after it")
        case t.While():
            hint = "a loop within one step goes over something: `for x in S do …`"
            raise error("HA130", "each turn of `while` must contain a `step` or a call", written.span, hint)
        case t.StepPoint() | t.Finish():
            raise error("HA130", "a step cannot end inside a `for`, or where there are no steps", written.span)
        case _:
            assert_never(written)


def assigns_ghosts_only(written: t.Statement, scope: Scope) -> bool:
    """Whether a statement does nothing but note history: then what it decides by may be history, too."""
    match written:
        case t.Assign():
            try:
                return place(written.place, scope)[2]
            except SpecError:
                return False
        case t.If(_, then, otherwise):
            return all(assigns_ghosts_only(one, scope) for one in (*then, *otherwise))
    return False


def _assign(written: t.Assign, scope: Scope) -> Made:
    target, kind, ghost = place(written.place, scope)
    wrapped = _is_wrapped(written.place, scope)
    value = elaborate(written.value, scope.seeing("all") if ghost else scope, kind)
    _needs_room(written, target, kind, type_of(value))
    return (ir.Assign(target, ir.Unary("some", value) if wrapped else value),)


def _is_wrapped(written: t.Place, scope: Scope) -> bool:
    """Whether the place is a local kept between steps as an option, so that none of its identities stays held."""
    bound = scope.find(written.root.text)
    if bound is None or bound.target is None or not isinstance(bound.expression, ir.Unary):
        return False
    if written.path:
        hint = "assign the whole local"
        raise error("HA123", f"a part of `{written.root.text}` cannot be assigned between steps", written.span, hint)
    return bound.expression.operator == "value"


def _needs_room(written: t.Assign, target: ir.Target, kind: ty.Type, assigned: ty.Type) -> None:
    """Errors: `HA115` a `var` that can hold nothing but the number it starts with is assigned another one."""
    name = written.place.root.text
    if not isinstance(kind, ty.Range) or kind.low != kind.high or written.place.path or assigned == kind:
        return
    if isinstance(target.root, ir.Local) or scope_of_frame(target):
        hint = f"give it a range: `var {name}: 0..3 = …`"
        raise error("HA115", f"`{name}` can never change: its type is {describe(kind)}", written.span, hint)


def scope_of_frame(target: ir.Target) -> bool:
    """Whether an assignment writes a local that is kept between steps: `KIND.handler.local`."""
    return target.root.name.count(".") == 2


def place(written: t.Place, scope: Scope) -> tuple[ir.Target, ty.Type, bool]:
    """What an assignment writes, its type, and whether it is a ghost.

    Errors: `HA120` a field of another node, `HA123` something that cannot be assigned.
    """
    bound = scope.find(written.root.text)
    path: list[ir.Expression | str] = []
    rest = list(zip(written.path, written.keys, strict=True))
    ghost = False
    if bound is not None and bound.target is not None:
        root, kind = bound.target.root, type_of(bound.expression)
        path.extend(bound.target.path)
    elif bound is not None or written.root.text in scope.context.nodes:
        node = elaborate(written.root, scope)
        owner = type_of(node)
        if not isinstance(owner, ty.Node) or not rest or not isinstance(rest[0][0], t.Name) or rest[0][1]:
            hint = "declare it with `var` if it is to change"
            raise error("HA123", f"`{written.root.text}` cannot be assigned", written.span, hint)
        field = rest.pop(0)[0]
        assert isinstance(field, t.Name)
        ghost = _is_ghost(f"{owner.name}.{field.text}", scope)
        read = node_field(node, owner, field, scope.seeing("all") if ghost else scope)
        assert isinstance(read, ir.Index)
        assert isinstance(read.base, ir.Variable)
        if scope.context.variables[read.base.name].role == "view":
            raise error("HA123", f"`{field.text}` is a view and cannot be assigned", written.span)
        root, kind = read.base, type_of(read)
        path.append(node)
    else:
        root, kind, ghost = _global(written, scope)
    inner, kind = _walk(rest, kind, scope)
    return ir.Target(root, (*path, *inner)), kind, ghost


def _is_ghost(name: str, scope: Scope) -> bool:
    declared = scope.context.variables.get(name)
    return declared is not None and declared.ghost


def _global(written: t.Place, scope: Scope) -> tuple[ir.Variable, ty.Type, bool]:
    word = written.root.text
    context = scope.context
    if word not in context.variables:
        if word in context.constants:
            raise error("HA123", f"`{word}` is a setting; it does not change", written.span)
        hint = NAMES.get(word) or near(word, context.variables)
        raise error("HA103", f"there is no `{word}` to assign", written.root.span, hint)
    ghost = context.variables[word].ghost
    root = variable(scope.seeing("all") if ghost else scope, word, written.root.span)
    assert isinstance(root, ir.Variable)
    return root, root.type, ghost


def _walk(
    rest: list[tuple[t.Name | t.Expression, bool]], kind: ty.Type, scope: Scope
) -> tuple[list[ir.Expression | str], ty.Type]:
    path: list[ir.Expression | str] = []
    for step, is_key in rest:
        if is_key:
            if not isinstance(kind, ty.Map):
                hint = f"a sequence is assigned as a whole; {OF_SEQUENCES}" if isinstance(kind, ty.Sequence) else None
                raise error("HA104", f"{describe(kind)} has no keys to assign", step.span, hint)
            path.append(elaborate(step, scope, kind.key))
            kind = kind.value
        else:
            assert isinstance(step, t.Name)
            if not isinstance(kind, ty.Record) or step.text not in dict(kind.fields):
                raise error("HA103", f"{describe(kind)} has no field `{step.text}`", step.span)
            path.append(step.text)
            kind = dict(kind.fields)[step.text]
    return path, kind


def let_type(written: t.Let, scope: Scope) -> tuple[ir.Expression, ty.Type]:
    """The value and the type of a `let` or `var`."""
    if written.type is not None:
        kind = resolve(scope.context, written.type, written.name.text)
        return elaborate(written.value, scope, kind), kind
    value = elaborate(written.value, scope)
    return value, type_of(value)


def _let(written: t.Let, scope: Scope) -> tuple[Made, Scope]:
    value, kind = let_type(written, scope)
    unique = scope.context.fresh_name(written.name.text)
    local = ir.Local(unique, kind)
    target = ir.Target(local) if written.changeable else None
    return (ir.Let(unique, kind, value),), scope.bind(written.name.text, Bound(local, target))


def _answer(written: t.Answer, value: t.Expression, scope: Scope) -> Made:
    if scope.answer is None:
        raise error("HA124", "`answer` is allowed in `serve` only", written.span)
    return scope.answer.write(scope, elaborate(value, scope, scope.answer.type))


def _perform(written: t.Perform, scope: Scope) -> Made:
    """A procedure's statements. Errors: `HA109` when it performs itself."""
    word, context = written.procedure.text, scope.context
    procedure = context.procedures.get(word)
    if procedure is None:
        hint = near(word, context.procedures)
        if word in METHODS:
            hint = f"write `x := x {METHODS[word]} e`"
        raise error("HA103", f"there is no procedure `{word}`", written.procedure.span, hint)
    if word in scope.expanding:
        raise error("HA109", f"`{word}` calls itself", procedure.span)
    context.expand(written.span)
    fields = tuple((one.name.text, resolve(context, one.type, one.name.text)) for one in procedure.parameters)
    values = fill(fields, written.arguments, word, written.span, scope)
    made: list[ir.Statement] = []
    bounds: dict[str, Bound] = {}
    for (name, kind), value in zip(fields, values, strict=True):
        lets, local = taken(context, name, kind, value, later=True)
        made.extend(lets)
        bounds[name] = Bound(local)
    lines: Lines = "none" if scope.lines == "none" else "named"
    path, used = (*scope.expanding, word), (*scope.used_at, written.span)
    inner = replace(scope, locals=bounds, expanding=path, lines=lines, used_at=used)
    return enclosed((*made, *body(procedure.body, inner)))


def _sync(written: t.Place, scope: Scope) -> Made:
    target, _, _ = place(written, scope)
    name = target.root.name
    if name not in scope.context.synced or len(target.path) != 1:
        hint = "declare the field `synced`; a `durable` one needs no `sync`"
        raise error("HA125", "only a `synced` field is written out by `sync`", written.span, hint)
    stored = scope.context.variable(scope.context.synced[name])
    node = target.path[0]
    assert not isinstance(node, str)
    return (ir.Assign(ir.Target(stored, (node,)), ir.Index(target.root, node)),)


def halt(written: t.Halt, scope: Scope) -> Made:
    """The acting node stops as if it had crashed."""
    if scope.actor is None or scope.actor_kind is None:
        raise error("HA122", "the environment is no node and cannot halt", written.span)
    return (Halt("halt", scope.actor_kind, scope.actor),)
