"""Messages: what is under way on each link, sending, receiving.

A message under way is part of the state: for each sender and receiver what is under way between them, as an option
(one place), a sequence (`fifo`) or a bag (unordered). Over a connection (the default) a message sent to a node that is
down or cut off is lost at once and its sender does not learn it; `queued` messages wait.
"""

from __future__ import annotations

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.arguments import taken
from hacheck.model.language.constant_folding import enclosed
from hacheck.model.language.context import Bound, Context, Scope, distinct
from hacheck.model.language.diagnostics import Span, error, near
from hacheck.model.language.expressions import elaborate
from hacheck.model.language.function_calls import fill, is_connected, is_up, seeing_all
from hacheck.model.language.resolve_types import CAPACITY_MAX, number, resolve
from hacheck.model.typing import type_of

RECEIVED = "received$0"
"""The local that holds a message while it is treated; no name of a spec looks like it."""


def kind_of(context: Context, name: t.Name) -> ty.Node:
    """The kind of node a name stands for. Errors: `HA102` when there is none."""
    if name.text not in context.nodes:
        raise error("HA102", f"there is no kind of node `{name.text}`", name.span, near(name.text, context.nodes))
    return context.nodes[name.text]


def channel_name(message: str) -> str:
    """The variable that holds what is under way."""
    return f"message.{message}"


def declare(context: Context, written: d.MessageDeclaration) -> None:
    """The state of a message's links."""
    context.declare(written.name.text, written.name.span)
    sender, receiver = kind_of(context, written.sender), kind_of(context, written.receiver)
    name = channel_name(written.name.text)
    payload = ty.Record(written.name.text, fields_of(context, written.parameters, written.name.text))
    capacity = 1 if written.capacity is None else number(context, written.capacity, "the number under way")
    if capacity < 1:
        raise error("HA111", f"a link that holds {capacity} messages holds none", written.span)
    if capacity > CAPACITY_MAX:
        raise error("HA111", f"a link holds at most {CAPACITY_MAX} messages", written.span)
    slot: ty.Type = ty.Option(payload)
    if capacity > 1 and written.order == "fifo":
        slot = ty.Sequence(payload, capacity)
    elif capacity > 1 and written.order == "unordered":
        slot = ty.Bag(payload, capacity)
    elif capacity > 1:
        raise error("HA111", "of a `latest` message only one is under way on a link", written.span)
    if written.order != "latest":
        context.bounds[f"capacity of {name}"] = f"at most {capacity} {written.name.text} under way on each link"
    whole = ty.Map(sender, ty.Map(receiver, slot))
    context.variables[name] = ir.StateVariable(name, whole, ty.default(whole), None, "channel")
    context.messages[written.name.text] = written


def fields_of(context: Context, parameters: tuple[d.Parameter, ...], what: str) -> tuple[tuple[str, ty.Type], ...]:
    """Names and types of a message's or operation's parameters."""
    distinct(parameter.name for parameter in parameters)
    made: list[tuple[str, ty.Type]] = []
    for parameter in parameters:
        made.append((parameter.name.text, resolve(context, parameter.type, f"{what}.{parameter.name.text}")))
    return tuple(made)


def slot_type(context: Context, message: str) -> tuple[ty.Type, ty.Record]:
    """The type of one link's state, and of one message."""
    whole = context.variables[channel_name(message)].type
    assert isinstance(whole, ty.Map)
    assert isinstance(whole.value, ty.Map)
    slot = whole.value.value
    assert isinstance(slot, ty.Option | ty.Sequence | ty.Bag)
    assert isinstance(slot.element, ty.Record)
    return slot, slot.element


def slot_of(context: Context, message: str, sender: ir.Expression, receiver: ir.Expression) -> ir.Expression:
    """What is under way from one node to another."""
    return ir.Index(ir.Index(context.variable(channel_name(message)), sender), receiver)


def slot_target(context: Context, message: str, sender: ir.Expression, receiver: ir.Expression) -> ir.Target:
    """The place an assignment to a link writes."""
    return ir.Target(context.variable(channel_name(message)), (sender, receiver))


def send(written: t.Send, scope: Scope) -> tuple[ir.Statement, ...]:
    """The statements of `send`."""
    context = scope.context
    message = context.messages.get(written.message.text)
    if message is None:
        word = written.message.text
        hint = near(word, context.messages)
        if word in context.operations:
            hint = f"`{word}` is an operation, which is called: `call {word}(…) at …`"
        raise error("HA103", f"there is no message `{written.message.text}`", written.message.span, hint)
    sender, receiver = kind_of(context, message.sender), kind_of(context, message.receiver)
    if scope.actor is None or scope.actor_kind != sender:
        hint = f"who sends is `action NAME(s: {sender.name})`, which no `environment action` is"
        at = written.span
        labels: tuple[tuple[Span, str], ...] = ()
        if scope.used_at:  # a procedure may send; who performs it may not
            at, labels = scope.used_at[0], ((written.span, "sent here"),)
        raise error("HA122", f"only a {sender.name} sends `{message.name.text}`", at, hint, *labels)
    _, payload = slot_type(context, message.name.text)
    sent = ir.MakeRecord(payload, fill(payload.fields, written.arguments, message.name.text, written.span, scope))
    made, value = taken(context, message.name.text, payload, sent)
    if not written.to_each:
        to = elaborate(written.to, scope, receiver)
        unique = context.fresh_name("to")
        place = ir.Local(unique, receiver)
        return enclosed((*made, ir.Let(unique, receiver, to), *_put(scope, message, scope.actor, place, value)))
    unique = context.fresh_name("to")
    place = ir.Local(unique, receiver)
    put = _put(scope, message, scope.actor, place, value)
    return enclosed((*made, _for_each(written.to, scope, receiver, unique, put)))


def _for_each(
    written: t.Expression, scope: Scope, kind: ty.Node, variable: str, body: tuple[ir.Statement, ...]
) -> ir.Statement:
    domain = ir.Domain(kind, elaborate(written, scope, ty.Set(kind)), None)
    return ir.ForEach(variable, domain, body)


def _put(
    scope: Scope, message: d.MessageDeclaration, sender: ir.Expression, to: ir.Expression, value: ir.Expression
) -> tuple[ir.Statement, ...]:
    """One message onto its link, if the link takes it."""
    context, name = scope.context, message.name.text
    slot, _ = slot_type(context, name)
    target, current = slot_target(context, name, sender, to), slot_of(context, name, sender, to)
    placed: tuple[ir.Statement, ...]
    if message.order == "latest":
        placed = (ir.Assign(target, ir.Unary("some", value)),)
    elif isinstance(slot, ty.Option):
        full = ir.Binary("!=", current, ir.Constant(None, slot))
        put = (ir.Assign(target, ir.Unary("some", value)),)
        placed = (ir.If(full, (ir.Stop(f"capacity of {channel_name(name)}"),), put),)
    else:
        operator = "append" if isinstance(slot, ty.Sequence) else "with"
        placed = (ir.Assign(target, ir.Binary(operator, current, value)),)  # type: ignore[arg-type]
    if message.queued:
        return placed
    kind = type_of(to)
    assert isinstance(kind, ty.Node)
    reached = ir.Binary("and", is_connected(scope, sender, to), is_up(scope, to, kind))
    return (ir.If(reached, placed, ()),)


def receipt(
    context: Context, message: str, sender: ir.Expression, receiver: ir.Expression
) -> tuple[ir.Expression, ir.Expression, tuple[ir.Statement, ...], tuple[ir.Statement, ...]]:
    """How a message is taken from its link: whether there is one, the one that would be taken (when the link is not
    a bag), the statements that bind it, and those that remove it.

    The bound message is the local `RECEIVED`.
    """
    slot, payload = slot_type(context, message)
    current = slot_of(context, message, sender, receiver)
    target = slot_target(context, message, sender, receiver)
    local = ir.Local(RECEIVED, payload)
    match slot:
        case ty.Option():
            there: ir.Expression = ir.Binary("!=", current, ir.Constant(None, slot))
            head: ir.Expression = ir.Unary("value", current)
            take: ir.Statement = ir.Assign(target, ir.Constant(None, slot))
        case ty.Sequence():
            there = ir.Binary("!=", current, ir.Constant((), slot))
            head = ir.Unary("first", current)
            take = ir.Assign(target, ir.Unary("rest", current))
        case _:
            there = ir.Binary("!=", current, ir.Constant((), slot))
            take = ir.Assign(target, ir.Binary("without", current, local))
            return there, local, (ir.Choose(RECEIVED, ir.Domain(payload, current, None)),), (take,)
    return there, head, (ir.Let(RECEIVED, payload, head),), (take,)


def bind_fields(
    payload: ty.Record, names: tuple[t.Name, ...], value: ir.Expression, written: d.ReceiveDeclaration
) -> list[tuple[str, Bound]]:
    """The names a handler gives to what it received."""
    if len(names) != len(payload.fields):
        fields = ", ".join(field for field, _ in payload.fields)
        message = f"`{payload.name}` carries {len(payload.fields)} value(s) ({fields}), not {len(names)}"
        raise error("HA108", message, written.span)
    return [(name.text, Bound(ir.Member(value, field))) for name, (field, _) in zip(names, payload.fields, strict=True)]


def under_way(written: t.Apply, scope: Scope) -> ir.Expression:
    """`under_way(message, from, to)`: what is under way on a link: an option, or with `up to N` a bag or sequence."""
    seeing_all(written, scope)
    declared, ends = _message_on_link(written, scope)
    if not ends:
        raise error("HA108", "`under_way` takes a message, its sender and its receiver", written.span)
    return slot_of(scope.context, declared.name.text, ends[0], ends[1])


def in_flight(written: t.Apply, scope: Scope) -> ir.Expression:
    """`in_flight(message)` or `in_flight(message, from, to)`: whether any is under way."""
    seeing_all(written, scope)
    context = scope.context
    declared, ends = _message_on_link(written, scope)
    slot, _ = slot_type(context, declared.name.text)
    empty = ir.Constant(ty.default(slot), slot)
    if ends:
        return ir.Binary("!=", slot_of(context, declared.name.text, ends[0], ends[1]), empty)
    kinds = kind_of(context, declared.sender), kind_of(context, declared.receiver)
    names = context.fresh_name("from"), context.fresh_name("to")
    places = [ir.Local(name, kind) for name, kind in zip(names, kinds, strict=True)]
    body: ir.Expression = ir.Binary("!=", slot_of(context, declared.name.text, places[0], places[1]), empty)
    for name, kind in reversed(list(zip(names, kinds, strict=True))):
        body = ir.Quantified("some", name, ir.Domain(kind, None, None), body)
    return body


def _message_on_link(written: t.Apply, scope: Scope) -> tuple[d.MessageDeclaration, list[ir.Expression]]:
    """The message that a function is about, and its sender and receiver where they are given. Errors: `HA108`."""
    context = scope.context
    word, *ends = written.arguments or (t.Argument(None, written.name),)
    first = word.value
    if not isinstance(first, t.Name) or first.text not in context.messages or len(ends) not in (0, 2):
        hint = near(first.text, context.messages) if isinstance(first, t.Name) else None
        message = f"`{written.name.text}` takes a message, or a message, its sender and its receiver"
        raise error("HA108", message, written.span, hint)
    declared = context.messages[first.text]
    kinds = kind_of(context, declared.sender), kind_of(context, declared.receiver)
    given = zip(ends, kinds, strict=False)  # both ends, or none
    return declared, [elaborate(end.value, scope, kind) for end, kind in given]
