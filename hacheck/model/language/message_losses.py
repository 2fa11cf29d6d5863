"""What can happen to messages, requests, answers and locks: they are lost; messages come twice.

Of a `fifo` link it matters which of several equal messages is lost, and where a copy comes to stand, so places in the
queue are chosen there, not messages.
"""

from __future__ import annotations

from typing import TypeAlias

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import locks, messages, operations
from hacheck.model.language.context import Context
from hacheck.model.language.diagnostics import error, near
from hacheck.model.language.fault_steps import ONE, ZERO, Fault, Made, step
from hacheck.model.language.messages import kind_of
from hacheck.model.rewrite import conjunction
from hacheck.model.typing import type_of


def lose(context: Context, fault: Fault) -> list[ir.Action]:
    name = fault.written.names[0]
    if name.text in context.messages:
        return [_lose_message(context, name.text)]
    if name.text in context.operations:
        return _lose_call(context, operations.find(context, name))
    if name.text in context.locks:
        lock = context.locks[name.text]
        holder = locks.holder_of(context, lock)
        held = ir.Binary("!=", holder, ir.Constant(None, type_of(holder)))
        body = locks.freed(context, lock)
        text = f"{name.text} is lost, and its holder does not learn it"
        return [step(f"lose {name.text}", (), held, body, "fault", "lose", text)]
    known = [*context.messages, *context.operations, *context.locks]
    raise error("HA103", f"there is no message, operation or lock `{name.text}`", name.span, near(name.text, known))


def _link(context: Context, message: str) -> tuple[ir.Local, ir.Local, tuple[tuple[str, ty.Type], ...]]:
    declared = context.messages[message]
    sender, receiver = kind_of(context, declared.sender), kind_of(context, declared.receiver)
    return ir.Local("from", sender), ir.Local("to", receiver), (("from", sender), ("to", receiver))


def _lose_message(context: Context, message: str) -> ir.Action:
    start, end, parameters = _link(context, message)
    slot, payload = messages.slot_type(context, message)
    current = messages.slot_of(context, message, start, end)
    target = messages.slot_target(context, message, start, end)
    there = ir.Binary("!=", current, ir.Constant(ty.default(slot), slot))
    body: Made = (ir.Assign(target, ir.Constant(None, slot)),)
    if isinstance(slot, ty.Sequence):
        body = _without_one(context, slot, current, target)
    elif isinstance(slot, ty.Bag):
        one = ir.Local("lost", payload)
        body = (
            ir.Choose("lost", ir.Domain(payload, current, None)),
            ir.Assign(target, ir.Binary("without", current, one)),
        )
    text = f"{message} is lost on its way"
    return step(f"lose {message}", parameters, there, body, "fault", "lose", text)


def _lose_call(context: Context, operation: operations.Operation) -> list[ir.Action]:
    if operations.is_atomic(context, operation.name):
        return []
    caller, callee = ir.Local("from", operation.caller), ir.Local("to", operation.callee)
    parameters = (("from", operation.caller), ("to", operation.callee))
    made = []
    for part, empty in (("request", operation.no_request), ("answer", operation.no_answer)):
        there = ir.Binary("!=", operation.at(context, part, caller, callee), empty)
        body = (operation.write(context, part, caller, callee, empty),)
        text = f"the {part} of {operation.name} is lost on its way"
        made.append(step(f"lose {part} of {operation.name}", parameters, there, body, "fault", "lose", text))
    return made


def duplicate(context: Context, fault: Fault) -> list[ir.Action]:
    name = fault.written.names[0]
    if name.text not in context.messages:
        hint = near(name.text, context.messages)
        raise error("HA103", f"there is no message `{name.text}`", name.span, hint)
    start, end, parameters = _link(context, name.text)
    slot, payload = messages.slot_type(context, name.text)
    if isinstance(slot, ty.Option):
        hint = "give the message `up to 2` or more"
        raise error("HA127", f"a link that holds one {name.text} cannot hold it twice", name.span, hint)
    current = messages.slot_of(context, name.text, start, end)
    target = messages.slot_target(context, name.text, start, end)
    there = ir.Binary("!=", current, ir.Constant((), slot))
    one = ir.Local("again", payload)
    more = ir.Assign(target, ir.Binary("with", current, one))
    body: Made = (ir.Choose("again", ir.Domain(payload, current, None)), more)
    if isinstance(slot, ty.Sequence):
        full = ir.Binary("==", ir.Unary("size", current), _number(slot.capacity))
        cut = ir.If(full, (ir.Stop(f"capacity of {messages.channel_name(name.text)}"),), ())
        body = (cut, *_with_a_copy(context, slot, current, target))
    text = f"{name.text} is delivered once more"
    return [step(f"duplicate {name.text}", parameters, there, body, "fault", "duplicate", text)]


# ---- places in a queue ----


def _number(value: int) -> ir.Expression:
    return ir.Constant(value, ty.Range(value, value))


def _place(name: str, start: ir.Expression, queue: ir.Expression, slot: ty.Sequence) -> tuple[ir.Local, ir.Statement]:
    """One of a queue's places, from `start` on, and its choice."""
    place = ir.Local(name, ty.Range(1, slot.capacity))
    inside = conjunction(ir.Binary("<=", start, place), ir.Binary("<=", place, ir.Unary("size", queue)))
    return place, ir.Choose(name, ir.Domain(place.type, None, inside))


def _without_one(context: Context, slot: ty.Sequence, queue: ir.Expression, target: ir.Target) -> Made:
    """The queue loses any one of its messages."""
    place, chosen = _place("lost", ONE, queue, slot)
    new, at, message = _walked(context, slot)
    keep = ir.Assign(ir.Target(new), ir.Binary("append", new, message))
    turn = (ir.If(ir.Binary("!=", at, place), (keep,), ()),)
    return (chosen, *_rebuilt(slot, queue, target, (new, at, message), turn))


def _with_a_copy(context: Context, slot: ty.Sequence, queue: ir.Expression, target: ir.Target) -> Made:
    """A copy of any one message comes to stand at any place behind it: just there, as where the network delivers it
    twice, or behind others, as where its sender repeats it."""
    place, chosen = _place("again", ONE, queue, slot)
    behind, chosen_behind = _place("behind", place, queue, slot)
    new, at, message = _walked(context, slot)
    copy = ir.Local(context.fresh_name("copy"), slot.element)
    first = ir.Let(copy.name, copy.type, ir.Index(queue, place))
    turn = (
        ir.Assign(ir.Target(new), ir.Binary("append", new, message)),
        ir.If(ir.Binary("==", at, behind), (ir.Assign(ir.Target(new), ir.Binary("append", new, copy)),), ()),
    )
    return (chosen, chosen_behind, first, *_rebuilt(slot, queue, target, (new, at, message), turn))


Walked: TypeAlias = tuple[ir.Local, ir.Local, ir.Local]
"""While a queue is gone through: what has been made of it, the place of the message at hand, and that message."""


def _walked(context: Context, slot: ty.Sequence) -> Walked:
    new, at = ir.Local(context.fresh_name("new"), slot), ir.Local(context.fresh_name("at"), ty.Range(0, slot.capacity))
    return new, at, ir.Local(context.fresh_name("message"), slot.element)


def _rebuilt(slot: ty.Sequence, queue: ir.Expression, target: ir.Target, walked: Walked, turn: Made) -> Made:
    """The queue becomes what the turns make of it, one for each of its messages."""
    new, at, message = walked
    count = ir.Assign(ir.Target(at), ir.Binary("+", at, ONE))
    return (
        ir.Let(new.name, slot, ir.Constant((), slot)),
        ir.Let(at.name, at.type, ZERO),
        ir.ForEach(message.name, ir.Domain(slot.element, queue, None), (count, *turn)),
        ir.Assign(target, new),
    )
