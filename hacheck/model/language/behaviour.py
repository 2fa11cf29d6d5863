"""From actions, receipts, services and notices to the model's actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language import liveness, locks, messages, operations, statements, threads
from hacheck.model.language import tree as t
from hacheck.model.language.context import Answer, Bound, Context, Scope
from hacheck.model.language.diagnostics import Span, error
from hacheck.model.language.expressions import boolean
from hacheck.model.language.functions import is_connected, is_running
from hacheck.model.language.handlers import Handler, Made
from hacheck.model.language.operations import conjunction
from hacheck.model.language.resolve_types import resolve
from hacheck.model.language.single_steps import one_step
from hacheck.model.language.threads import IDLE, MAIN

Behaviour = d.ActionDeclaration | d.ReceiveDeclaration | d.LostDeclaration


@dataclass(frozen=True, slots=True)
class Head:
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


# ---- where handlers wait ----


def name_of(written: Behaviour) -> str:
    """The handler's name: the action's, message's or operation's own, or `lost_LOCK`."""
    return f"lost_{written.lock.text}" if isinstance(written, d.LostDeclaration) else written.name.text


def owner_of(context: Context, written: Behaviour) -> ty.Node | None:
    """The kind of node a handler runs on; `None` for the environment."""
    match written:
        case d.ActionDeclaration(environment=True):
            return None
        case d.ActionDeclaration(parameters=parameters):
            named = (context.types.get(one.type.names[0].text) for one in parameters if one.type.kind == "name")
            return next((kind for kind in named if isinstance(kind, ty.Node)), None)
        case d.ReceiveDeclaration(serves=True):
            return operations.find(context, written.name).callee
        case d.ReceiveDeclaration():
            if written.name.text not in context.messages:
                hint = "declare it: `message NAME(…) from KIND to KIND`"
                raise error("HA103", f"there is no message `{written.name.text}`", written.name.span, hint)
            return messages.kind_of(context, context.messages[written.name.text].receiver)
        case d.LostDeclaration(lock=lock):
            return messages.kind_of(context, locks.find(context, lock).holder)


def points_of(context: Context, written: Behaviour) -> dict[Span, str]:
    """Every place where the handler may be interrupted, with its name `handler.step`."""
    found: dict[Span, str] = {}
    for one in _walk(written.body):
        match one:
            case t.StepPoint(name):
                word = name.text
            case t.Call(operation) if operation.text in context.operations:
                if operations.is_atomic(context, operation.text):
                    continue
                word = operation.text
            case _:
                continue
        taken = set(found.values())
        candidates = [f"{name_of(written)}.{word}", *(f"{name_of(written)}.{word}_{n}" for n in range(2, 100))]
        if isinstance(one, t.StepPoint) and candidates[0] in taken:
            raise error("HA101", f"`{word}` is a step of this handler already", one.span)
        found[one.span] = next(candidate for candidate in candidates if candidate not in taken)
    return found


def _walk(body: t.Body) -> Iterator[t.Statement]:
    for one in body:
        yield one
        match one:
            case t.If(_, then, otherwise) | t.Acquire(_, then, otherwise):
                yield from _walk(then)
                yield from _walk(otherwise)
            case t.For(_, _, inner) | t.While(_, inner):
                yield from _walk(inner)
            case _:
                continue


def halts(written: Behaviour) -> bool:
    """Whether the handler may stop its node."""
    return any(isinstance(one, t.Halt) for one in _walk(written.body))


def thread_of(written: Behaviour, points: dict[Span, str]) -> str | None:
    """The thread the handler needs; a handler of one step that names none needs none."""
    if written.clauses.thread is not None:
        return written.clauses.thread.text
    return MAIN if points else None


def declare_points(context: Context, written: Behaviour) -> None:
    """Make a handler and its points known, before any expression asks for them."""
    name = name_of(written)
    if name in context.handlers:
        raise error("HA101", f"there is a handler `{name}` already", written.span)
    owner = owner_of(context, written)
    context.handlers[name] = owner
    points = points_of(context, written)
    thread = thread_of(written, points)
    if isinstance(written, d.ReceiveDeclaration) and written.serves:
        context.serving[name] = thread
    if thread is None:
        return
    if owner is None:
        raise error("HA130", "the environment's actions are single steps", written.span, "give it a node parameter")
    context.threads.setdefault((owner.name, thread), []).extend(points.values())
    for one in _walk(written.body):
        if isinstance(one, t.Call) and one.span in points:
            context.callers.setdefault(one.operation.text, set()).add((owner.name, thread))
    held = [points[one.span] for one in _walk(written.body) if isinstance(one, t.StepPoint) and one.holding]
    context.holding.setdefault((owner.name, thread), []).extend(held)


def declare_threads(context: Context) -> None:
    """The variable of each node's thread: idle, or the point at which a handler waits."""
    for (owner, thread), points in context.threads.items():
        name = f"{owner}.{thread}"
        if not points:
            continue
        if name in context.variables:
            message = f"`{thread}` is a field of {owner} already; call the thread something else"
            raise error("HA101", message, Span(context.path, 0, 0))
        kind = ty.Enum(name, (IDLE, *points))
        whole = ty.Map(context.nodes[owner], kind)
        context.variables[name] = ir.StateVariable(name, whole, ty.default(whole), owner, "frame")


# ---- heads ----


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
    parameters: list[tuple[str, ty.Type]] = []
    for parameter in written.parameters:
        kind = resolve(context, parameter.type, parameter.name.text)
        if not ty.is_scalar(kind):
            hint = "use `choose` for a part of a collection"
            raise error("HA112", "an action's parameters are scalars", parameter.type.span, hint)
        if parameter.name.text in dict(parameters):
            raise error("HA101", f"`{parameter.name.text}` is declared twice", parameter.name.span)
        parameters.append((parameter.name.text, kind))
    owner = owner_of(context, written)
    actor = next((name for name, kind in parameters if kind == owner), None) if owner else None
    if actor is None and not written.environment:
        hint = "give it a node as its first parameter, or write `environment action`"
        raise error("HA122", f"`{written.name.text}` happens on no node", written.span, hint)
    bound = tuple((name, ir.Local(name, kind)) for name, kind in parameters)
    kind_of_step: ir.ActionKind = "environment" if written.environment else "protocol"
    return Head(written.name.text, tuple(parameters), actor, None, kind_of_step, ir.TRUE, (), bound, _nothing)


def _ends(written: d.ReceiveDeclaration, at: ty.Node, sender: ty.Node) -> tuple[ir.Local, ir.Local]:
    if written.at.text == written.sender.text:
        raise error("HA101", f"`{written.at.text}` is declared twice", written.sender.span)
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
    bound = tuple((word, one.expression) for word, one in inner.locals)

    def reply(at: Scope, value: ir.Expression) -> Made:
        to = at.find(written.sender.text)
        assert to is not None
        return send_back(to.expression, value)

    def send_back(to: ir.Expression, value: ir.Expression) -> Made:
        heard = conjunction(operation.at(context, "waiting", to, node), is_connected(scope, node, to))
        sent = operation.write(context, "answer", to, node, ir.Unary("some", value))
        finished = (operation.write(context, "serving", to, node, ir.FALSE),) if multi else ()
        return (ir.If(heard, (sent,), ()), *finished)

    def end(at: Scope) -> Made:
        to = at.find(written.sender.text)
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


# ---- actions ----


def build(context: Context, written: Behaviour) -> None:
    """Add the handler's actions, and the variables that keep what it remembers between them."""
    points = points_of(context, written)
    head = head_of(context, written, bool(points))
    owner = owner_of(context, written)
    actor = None if head.actor is None else ir.Local(head.actor, dict(head.parameters)[head.actor])
    scope = Scope(context, (), actor, owner, "all" if owner is None else "node", answer=head.answer)
    described = (written.clauses.text, written.clauses.source, written.span.start)
    if not points:
        _single(context, written, head, scope, described)
        return
    assert owner is not None
    assert actor is not None
    thread = thread_of(written, points)
    assert thread is not None
    needed: frozenset[str] | None = None
    for _ in range(2):
        handler = Handler(context, head.name, owner, actor, thread, points, head.bound, head.at_end, needed)
        handler.compile(written.body, scope)
        alive = liveness.live(handler)
        needed = frozenset().union(*alive.values())
    for name, kind in handler.frames.items():
        whole = ty.Map(owner, kind)
        context.variables[name] = ir.StateVariable(name, whole, ty.default(whole), owner.name, "frame")
    for point in handler.segments:
        _segment(context, written, head, scope, handler, point, alive, described)


def _guard(context: Context, written: Behaviour, head: Head, scope: Scope, thread: str | None) -> ir.Expression:
    """When the handler may begin: its node runs, its thread is free, no other handler holds the node, its own terms."""
    if scope.actor is None:
        return ir.TRUE
    assert scope.actor_kind is not None
    parts = [is_running(scope, scope.actor, scope.actor_kind)]
    parts.extend(threads.may_begin(context, scope.actor_kind, scope.actor, thread))
    parts.append(head.condition)
    return conjunction(*parts)


def _bind_head(head: Head, scope: Scope) -> Scope:
    return scope.bind_all((word, Bound(value)) for word, value in head.bound)


def _conditions(context: Context, written: Behaviour, head: Head, scope: Scope) -> tuple[ir.Expression, Made]:
    """The handler's own terms, as part of the guard or, where they may speak of what was received, after receiving."""
    inner = _bind_head(head, scope)
    terms = [boolean(condition, inner) for condition in written.clauses.when]
    terms += [boolean(condition, inner.seeing("all")) for condition in written.clauses.only_after]
    made = conjunction(*terms)
    if made == ir.TRUE:
        return ir.TRUE, ()
    if not head.before:
        return made, ()
    return ir.TRUE, (ir.Require(made),)


def _single(context: Context, written: Behaviour, head: Head, scope: Scope, described: tuple[str, str, int]) -> None:
    thread = thread_of(written, {})
    when, required = _conditions(context, written, head, scope)
    guard = conjunction(_guard(context, written, head, scope, thread), when)
    inner = _bind_head(head, scope)
    handler_body = _finishing(context, written, head, inner)
    body = (*_split(head.before, required), *handler_body)
    context.actions.append(
        ir.Action(head.name, head.parameters, guard, body, head.kind, head.actor, head.peer, head.name, *described)
    )


def _split(before: Made, required: Made) -> Made:
    """What was received is bound, then the handler's own terms are asked, then it is taken."""
    return (*before[:1], *required, *before[1:])


def _finishing(context: Context, written: Behaviour, head: Head, scope: Scope) -> Made:
    if scope.actor is None:
        return statements.body(written.body, scope)
    return one_step(context, head.name, written.body, scope, head.at_end)


def _segment(
    context: Context,
    written: Behaviour,
    head: Head,
    scope: Scope,
    handler: Handler,
    point: str,
    alive: dict[str, frozenset[str]],
    described: tuple[str, str, int],
) -> None:
    segment = handler.segments[point]
    body = liveness.settle(handler, point, segment.body, alive)
    if point == IDLE:
        when, required = _conditions(context, written, head, scope)
        guard = conjunction(_guard(context, written, head, scope, handler.thread), when)
        made = ir.Action(
            head.name,
            head.parameters,
            guard,
            (*_split(head.before, required), *body),
            head.kind,
            head.actor,
            head.peer,
            head.name,
            *described,
        )
    else:
        assert scope.actor is not None
        assert scope.actor_kind is not None
        here = conjunction(
            is_running(scope, scope.actor, scope.actor_kind),
            threads.stands_at(context, handler.kind, handler.actor, handler.thread, point),
            *threads.not_held(context, handler.kind, handler.actor, handler.thread),
        )
        own = conjunction(here, segment.condition)
        parameters = ((handler.actor.name, handler.kind),)
        if segment.waits_for is not None:
            context.actions.append(_failure(handler, point, segment.waits_for, scope, here, described))
        made = ir.Action(point, parameters, own, body, head.kind, head.actor, None, head.name, *described)
    context.actions.append(made)


def _failure(
    handler: Handler,
    point: str,
    operation: operations.Operation,
    scope: Scope,
    here: ir.Expression,
    described: tuple[str, str, int],
) -> ir.Action:
    """Of a call to several nodes, one fails while the caller goes on waiting for the others."""
    context = handler.context
    callee = ir.Local("callee" if handler.actor.name != "callee" else "at", operation.callee)
    guard = conjunction(
        here,
        operation.at(context, "waiting", handler.actor, callee),
        operations.failed(operation, scope, handler.actor, callee),
    )
    body = operations.forget(operation, scope, handler.actor, callee)
    parameters = ((handler.actor.name, handler.kind), (callee.name, operation.callee))
    _, source, line = described
    text = f"a call of {operation.name} fails, and the caller cannot tell how far it came"
    name = f"{point} fails"
    return ir.Action(
        name, parameters, guard, body, "protocol", handler.actor.name, None, handler.name, text, source, line
    )
