"""What is particular to an action, the receipt of a message, the service of a request, the notice of a lost lock."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language import locks, messages, operations
from hacheck.model.language.arguments import taken
from hacheck.model.language.context import Answer, Context, Scope, distinct
from hacheck.model.language.diagnostics import error
from hacheck.model.language.expressions import VALUES_MAX
from hacheck.model.language.function_calls import is_connected
from hacheck.model.language.handlers import Made
from hacheck.model.language.interruption_points import Behaviour, name_of, owner_of
from hacheck.model.language.resolve_types import resolve
from hacheck.model.rewrite import conjunction

CALLER = "the caller"
"""The local that is the caller in a service, whatever other local takes the caller's name; no name looks like it."""


class Head(Struct, frozen=True):
    """What is particular to an action, a receipt, a service or a notice."""

    name: str
    parameters: tuple[tuple[str, ty.Type], ...]
    actor: str | None
    peer: str | None
    kind: ir.ActionKind
    condition: ir.Expression
    before: Made
    bound: tuple[tuple[str, ir.Expression], ...]
    at_end: Callable[[Scope], Made]
    answer: Answer | None = None


def head_of(context: Context, written: Behaviour, multi: bool) -> Head:
    """What the handler's head says."""
    match written:
        case d.ActionDeclaration():
            return _action_head(context, written)
        case d.ReceiveDeclaration(serves=True):
            return _serve_head(context, written, multi)
        case d.ReceiveDeclaration():
            return _receive_head(context, written)
        case d.LostDeclaration():
            return _lost_head(context, written)


def _nothing(scope: Scope) -> Made:
    return ()


def _action_head(context: Context, written: d.ActionDeclaration) -> Head:
    parameters = resolve_parameters(context, written.parameters, "an action's")
    owner = owner_of(context, written)
    actor = next((name for name, kind in parameters if kind == owner), None) if owner else None
    if actor is None and not written.environment:
        hint = "give it a node as its first parameter, or write `environment action`"
        raise error("HA122", f"`{written.name.text}` happens on no node", written.span, hint)
    bound = tuple((name, ir.Local(name, kind)) for name, kind in parameters)
    kind_of_step: ir.ActionKind = "environment" if written.environment else "protocol"
    return Head(written.name.text, tuple(parameters), actor, None, kind_of_step, ir.TRUE, (), bound, _nothing)


def resolve_parameters(context: Context, written: tuple[d.Parameter, ...], whose: str) -> list[tuple[str, ty.Type]]:
    """Parameters that have each of their values, with their types. Errors: `HA112`."""
    distinct(parameter.name for parameter in written)
    parameters: list[tuple[str, ty.Type]] = []
    for parameter in written:
        kind = resolve(context, parameter.type, parameter.name.text)
        if not ty.is_scalar(kind):
            hint = "use `choose` for a part of a collection" if whose == "an action's" else None
            raise error("HA112", f"{whose} parameters are scalars", parameter.type.span, hint)
        if context.values_of(kind) > VALUES_MAX:
            message = f"`{parameter.name.text}` has {ty.cardinality(kind):,} values; {VALUES_MAX:,} are tried at most"
            raise error("HA112", message, parameter.type.span, "make the range smaller")
        parameters.append((parameter.name.text, kind))
    return parameters


def _ends(written: d.ReceiveDeclaration, at: ty.Node, sender: ty.Node) -> tuple[ir.Local, ir.Local]:
    distinct((*written.parameters, written.at, written.sender))
    return ir.Local(written.at.text, at), ir.Local(written.sender.text, sender)


def _receive_head(context: Context, written: d.ReceiveDeclaration) -> Head:
    declared = context.messages[written.name.text]
    sender_kind, kind = messages.kind_of(context, declared.sender), messages.kind_of(context, declared.receiver)
    node, sender = _ends(written, kind, sender_kind)
    there, head, bind, take = messages.receipt(context, written.name.text, sender, node)
    scope = Scope(context)
    _, payload = messages.slot_type(context, written.name.text)
    local = ir.Local(messages.RECEIVED, payload)
    fields = messages.bind_fields(payload, written.parameters, local, written)
    bound = ((node.name, node), (sender.name, sender), *((word, one.expression) for word, one in fields))
    arrives = conjunction(there, is_connected(scope, sender, node))
    assert head is not None
    parameters = ((node.name, kind), (sender.name, sender_kind))
    return Head(
        written.name.text, parameters, node.name, sender.name, "protocol", arrives, (*bind, *take), bound, _nothing
    )


def _serve_head(context: Context, written: d.ReceiveDeclaration, multi: bool) -> Head:
    operation = operations.find(context, written.name)
    node, caller = _ends(written, operation.callee, operation.caller)
    scope = Scope(context)
    request = operation.at(context, "request", caller, node)
    there = conjunction(ir.Binary("!=", request, operation.no_request), is_connected(scope, caller, node))
    local = ir.Local(messages.RECEIVED, operation.request)
    before: list[ir.Statement] = [
        ir.Let(messages.RECEIVED, operation.request, ir.Unary("value", request)),
        operation.write(context, "request", caller, node, operation.no_request),
    ]
    if multi:
        before.append(operation.write(context, "serving", caller, node, ir.TRUE))
    values = {field: ir.Member(local, field) for field, _ in operation.request.fields}
    inner = operations.serve_scope(context, operation, written, node, caller, values, None)
    bound = (*((word, one.expression) for word, one in inner.locals.items()), (CALLER, caller))

    def reply(at: Scope, value: ir.Expression) -> Made:
        to = at.find(CALLER)
        assert to is not None
        made, taken_value = taken(context, "answer", operation.result, value)
        return (*made, *send_back(to.expression, taken_value))

    def send_back(to: ir.Expression, value: ir.Expression) -> Made:
        heard = conjunction(operation.at(context, "waiting", to, node), is_connected(scope, node, to))
        sent = operation.write(context, "answer", to, node, ir.Unary("some", value))
        finished = (operation.write(context, "serving", to, node, ir.FALSE),) if multi else ()
        return (ir.If(heard, (sent,), ()), *finished)

    def end(at: Scope) -> Made:
        to = at.find(CALLER)
        assert to is not None
        if operation.declaration.returns is None:
            return send_back(to.expression, ir.Constant("done", operations.DONE))
        return (operation.write(context, "serving", to.expression, node, ir.FALSE),) if multi else ()

    parameters = ((node.name, operation.callee), (caller.name, operation.caller))
    answer = Answer(operation.result, reply)
    return Head(
        written.name.text, parameters, node.name, caller.name, "protocol", there, tuple(before), bound, end, answer
    )


def _lost_head(context: Context, written: d.LostDeclaration) -> Head:
    lock = locks.find(context, written.lock)
    kind = messages.kind_of(context, lock.holder)
    node = ir.Local(written.at.text, kind)
    condition, noticed = locks.lost(lock, Scope(context), node)
    bound = ((node.name, node),)
    return Head(
        name_of(written), ((node.name, kind),), node.name, None, "protocol", condition, (noticed,), bound, _nothing
    )
