"""From actions, receipts, services and notices to the model's actions."""

from __future__ import annotations

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import local_liveness, operations, statements, threads
from hacheck.model.language.context import Bound, Context, Scope
from hacheck.model.language.expressions import boolean
from hacheck.model.language.function_calls import is_running
from hacheck.model.language.handler_heads import Head, head_of
from hacheck.model.language.handlers import Handler, Made
from hacheck.model.language.interruption_points import Behaviour, owner_of, points_of, thread_of
from hacheck.model.language.single_steps import one_step
from hacheck.model.language.threads import IDLE
from hacheck.model.rewrite import conjunction


def build(context: Context, written: Behaviour) -> None:
    """Add the handler's actions, and the variables that keep what it remembers between them."""
    points = points_of(context, written)
    head = head_of(context, written, bool(points))
    owner = owner_of(context, written)
    actor = None if head.actor is None else ir.Local(head.actor, dict(head.parameters)[head.actor])
    scope = Scope(context, {}, actor, owner, "all" if owner is None else "node", answer=head.answer)
    described = (written.clauses.text, written.clauses.source, written.span.line)
    if not points:
        _single(context, written, head, scope, described)
        return
    assert owner is not None
    assert actor is not None
    thread = thread_of(written, points)
    assert thread is not None

    def compiled(kept: frozenset[str] | None) -> Handler:
        made = Handler(context, head.name, owner, actor, thread, points, head.bound, head.at_end, kept)
        made.compile(written.body, scope)
        return made

    needed = frozenset().union(*local_liveness.live(compiled(None)).values())
    handler = compiled(needed)
    outliving = local_liveness.outliving(handler)
    if outliving:
        handler = compiled(needed | outliving)
    alive = local_liveness.live(handler)
    for name, kind in handler.frames.items():
        whole = ty.Map(owner, kind)
        context.variables[name] = ir.StateVariable(name, whole, ty.default(whole), owner.name, "frame")
    context.kept.extend(local_liveness.claims(handler, alive))
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
    if not head.before or isinstance(head.before[0], ir.Assign):  # nothing is received
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
    """What was received is bound, then the handler's own terms are evaluated, then it is taken."""
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
    body = local_liveness.settle(handler, point, segment.body, alive)
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
            callees = segment.callees
            context.actions.append(_failure(handler, point, segment.waits_for, callees, scope, here, described))
        made = ir.Action(point, parameters, own, body, head.kind, head.actor, None, head.name, *described)
    context.actions.append(made)


def _failure(
    handler: Handler,
    point: str,
    operation: operations.Operation,
    callees: ir.Expression | None,
    scope: Scope,
    here: ir.Expression,
    described: tuple[str, str, int],
) -> ir.Action:
    """Of a call to several nodes, one fails while the caller goes on waiting for the others."""
    context = handler.context
    callee = ir.Local("callee" if handler.actor.name != "callee" else "at", operation.callee)
    guard = conjunction(
        here,
        *(() if callees is None else (ir.Binary("in", callee, callees),)),
        operation.at(context, "waiting", handler.actor, callee),
        operations.failed(operation, scope, handler.actor, callee),
    )
    body = operations.forget(operation, scope, handler.actor, callee)
    parameters = ((handler.actor.name, handler.kind), (callee.name, operation.callee))
    _, source, line = described
    text = f"a call of {operation.name} fails, and the caller does not know how far it came"
    name = f"{point} fails"
    return ir.Action(
        name, parameters, guard, body, "protocol", handler.actor.name, None, handler.name, text, source, line
    )
