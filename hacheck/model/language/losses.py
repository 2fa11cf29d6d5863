"""What can happen to messages, requests, answers and locks: they are lost; messages come twice."""

from __future__ import annotations

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import messages, operations
from hacheck.model.language.context import Context
from hacheck.model.language.diagnostics import error, near
from hacheck.model.language.injection import Fault, Made, step
from hacheck.model.language.messages import kind_of


def lose(context: Context, fault: Fault) -> list[ir.Action]:
    name = fault.written.names[0]
    if name.text in context.messages:
        return [_lose_message(context, name.text)]
    if name.text in context.operations:
        return _lose_call(context, operations.find(context, name))
    if name.text in context.locks:
        holder = context.variable(f"lock.{name.text}.holder")
        held = ir.Binary("!=", holder, ir.Constant(None, holder.type))
        body = (ir.Assign(ir.Target(holder), ir.Constant(None, holder.type)),)
        text = f"{name.text} is lost, and its holder is not told"
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
    if not isinstance(slot, ty.Option):
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
    operator: ir.BinaryOperator = "append" if isinstance(slot, ty.Sequence) else "with"
    body = (ir.Choose("again", ir.Domain(payload, current, None)), ir.Assign(target, ir.Binary(operator, current, one)))
    text = f"{name.text} is delivered once more"
    return [step(f"duplicate {name.text}", parameters, there, body, "fault", "duplicate", text)]
