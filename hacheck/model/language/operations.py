"""Operations: requests that are answered, or fail without the caller knowing how far they came.

A call has three outcomes: done and answered; done, but the answer lost; not done. The caller cannot distinguish the
last two. Split (the default), request, service and answer are separate steps and the caller waits between them; with
`atomic when` they are one step, which has the same three outcomes.

Of each caller and callee the state holds the `request` that is under way, whether the caller is `waiting`, and the
`answer` on the link back to the caller.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.constant_folding import enclosed
from hacheck.model.language.context import Answer, Bound, Context, Scope
from hacheck.model.language.diagnostics import error, near
from hacheck.model.language.expressions import boolean, elaborate
from hacheck.model.language.function_calls import fill, is_connected, is_running, is_up
from hacheck.model.language.halting_calls import callee_may_halt, if_up, may_halt
from hacheck.model.language.messages import fields_of, kind_of
from hacheck.model.language.resolve_types import resolve
from hacheck.model.language.threads import may_begin
from hacheck.model.rewrite import conjunction, disjunction

OUTCOME = ty.Enum("outcome", ("answered", "not done", "answer lost"))
OUTCOME_HALTING = ty.Enum("outcome", (*OUTCOME.members, "callee halted"))
"""Where the service may halt its node: its answer may then be lost without any other failure."""
DONE = ty.Enum("done", ("done",))
"""What an operation that returns nothing answers."""


class Operation(Struct, frozen=True):
    """An operation's types and variables."""

    declaration: d.OperationDeclaration
    caller: ty.Node
    callee: ty.Node
    request: ty.Record
    result: ty.Type

    @property
    def name(self) -> str:
        return self.declaration.name.text

    def variable(self, context: Context, part: str) -> ir.Variable:
        """Of `request`, `waiting`, `answer`, `serving`."""
        return context.variable(f"operation.{self.name}.{part}")

    def at(self, context: Context, part: str, caller: ir.Expression, callee: ir.Expression) -> ir.Expression:
        """One link's part of the state."""
        return ir.Index(ir.Index(self.variable(context, part), caller), callee)

    def write(
        self, context: Context, part: str, caller: ir.Expression, callee: ir.Expression, value: ir.Expression
    ) -> ir.Statement:
        """An assignment to one link's part of the state."""
        return ir.Assign(ir.Target(self.variable(context, part), (caller, callee)), value)

    @property
    def no_request(self) -> ir.Constant:
        return ir.Constant(None, ty.Option(self.request))

    @property
    def no_answer(self) -> ir.Constant:
        return ir.Constant(None, ty.Option(self.result))


def find(context: Context, name: t.Name) -> Operation:
    """The operation of this name. Errors: `HA103` when there is none."""
    declaration = context.operations.get(name.text)
    if declaration is None:
        hint = near(name.text, context.operations)
        if name.text in context.messages:
            hint = f"`{name.text}` is a message, which is sent and not answered: `send {name.text}(…) to …`"
        raise error("HA103", f"there is no operation `{name.text}`", name.span, hint)
    caller, callee = kind_of(context, declaration.caller), kind_of(context, declaration.callee)
    request = ty.Record(name.text, fields_of(context, declaration.parameters, name.text))
    result = DONE if declaration.returns is None else resolve(context, declaration.returns, f"{name.text} result")
    if isinstance(result, ty.Option):
        assert declaration.returns is not None, "what returns nothing has no optional type"
        hint = "return a record with the part that may be none"
        raise error("HA112", "an answer that is none would look like no answer", declaration.returns.span, hint)
    return Operation(declaration, caller, callee, request, result)


def is_atomic(context: Context, name: str) -> bool:
    """Whether the settings make calls of this operation one step. Errors: `HA110` when they do not decide it."""
    if name in context.atomic:
        return context.atomic[name]
    declaration = context.operations[name]
    if declaration.atomic_when is None:
        return False
    known = context.constant(boolean(declaration.atomic_when, Scope(context, state=False)))
    if not isinstance(known, ir.Constant):
        raise error("HA110", "`atomic when` must be decided by the settings", declaration.atomic_when.span)
    context.atomic[name] = bool(known.value)
    return context.atomic[name]


def declare(context: Context, written: d.OperationDeclaration) -> None:
    """The state of an operation's links; none for one that is atomic."""
    context.declare(written.name.text, written.name.span)
    context.operations[written.name.text] = written
    operation = find(context, written.name)
    if is_atomic(context, written.name.text):
        return
    parts: tuple[tuple[str, ty.Type], ...] = (
        ("request", ty.Option(operation.request)),
        ("waiting", ty.Bool()),
        ("answer", ty.Option(operation.result)),
        ("serving", ty.Bool()),
    )
    context.bounds[f"calls of {written.name.text}"] = (
        f"at most 1 request of {written.name.text} under way from a caller to a callee"
    )
    for part, kind in parts:
        whole = ty.Map(operation.caller, ty.Map(operation.callee, kind))
        name = f"operation.{written.name.text}.{part}"
        context.variables[name] = ir.StateVariable(name, whole, ty.default(whole), None, "channel")


def request_of(operation: Operation, written: t.Call, scope: Scope) -> ir.Expression:
    """The request a call sends. Errors: `HA122` when this kind of node does not call the operation."""
    if scope.actor is None or scope.actor_kind != operation.caller:
        raise error("HA122", f"only a {operation.caller.name} calls `{operation.name}`", written.span)
    arguments = fill(operation.request.fields, written.arguments, operation.name, written.span, scope)
    return ir.MakeRecord(operation.request, arguments)


def may_time_out(operation: Operation, scope: Scope, caller: ir.Expression, callee: ir.Expression) -> ir.Expression:
    """Whether the caller may give up although nothing failed: the spec's `timeout when`, in terms of the callee."""
    written = operation.declaration.timeout_when
    if written is None:
        return ir.FALSE
    inner = replace(scope, locals={"caller": Bound(caller), "callee": Bound(callee)}, sight="all")
    return boolean(written, inner)


def reaches(operation: Operation, scope: Scope, caller: ir.Expression, callee: ir.Expression) -> ir.Expression:
    """Whether a request would be served now and its answer come back."""
    return conjunction(
        is_running(scope, callee, operation.callee),
        is_connected(scope, caller, callee),
        is_connected(scope, callee, caller),
    )


# ---- one step ----


def call_atomically(written: t.Call, scope: Scope) -> tuple[tuple[ir.Statement, ...], Scope]:
    """A call within one step: the callee's `serve` is put in here, with the three outcomes.

    Errors: `HA130` when the operation is not atomic: then the call must be a step of its own.
    """
    context = scope.context
    operation = find(context, written.operation)
    if not is_atomic(context, operation.name):
        hint = "a call inside `for` or a single step needs `atomic when`, or write `call … at each …`"
        raise error("HA130", "the caller waits for the answer, which ends the step", written.span, hint)
    request = ir.Local(context.fresh_name("request"), operation.request)
    requested = ir.Let(request.name, operation.request, request_of(operation, written, scope))
    answer_type = ty.Option(operation.result)
    result_name = context.fresh_name(written.result.text if written.result else "answer")
    if written.at_each:
        whole = ty.Map(operation.callee, answer_type)
        results = ir.Local(result_name, whole)
        none = ir.Let(result_name, whole, ir.Constant(ty.default(whole), whole))
        callee = ir.Local(context.fresh_name("callee"), operation.callee)
        domain = ir.Domain(operation.callee, elaborate(written.at, scope, ty.Set(operation.callee)), None)
        body = _outcomes(operation, written, scope, callee, request, ir.Target(results, (callee,)))
        body = if_up(body, scope) if may_halt(written, scope) else body
        called: tuple[ir.Statement, ...] = (ir.ForEach(callee.name, domain, body),)
    else:
        results = ir.Local(result_name, answer_type)
        none = ir.Let(result_name, answer_type, operation.no_answer)
        callee = ir.Local(context.fresh_name("callee"), operation.callee)
        at = ir.Let(callee.name, operation.callee, elaborate(written.at, scope, operation.callee))
        called = (at, *_outcomes(operation, written, scope, callee, request, ir.Target(results)))
    if written.result is None:
        return enclosed((requested, none, *called)), scope
    return (none, *enclosed((requested, *called))), scope.bind(written.result.text, Bound(results))


def _outcomes(
    operation: Operation,
    written: t.Call,
    scope: Scope,
    callee: ir.Expression,
    request: ir.Expression,
    result: ir.Target,
) -> tuple[ir.Statement, ...]:
    assert scope.actor is not None
    context = scope.context
    halting = callee_may_halt(written, scope)
    outcomes = OUTCOME_HALTING if halting else OUTCOME
    outcome = ir.Local(context.fresh_name("outcome"), outcomes)
    answered, not_done, lost, *halted = (ir.Constant(member, outcomes) for member in outcomes.members)
    came = [ir.Binary("==", outcome, one) for one in (answered, *halted)]
    late = may_time_out(operation, scope, scope.actor, callee)
    loss, budgets = _loss(context, operation)
    slow = disjunction(late, loss)
    reached = reaches(operation, scope, scope.actor, callee)
    ready = _may_serve(operation, scope, callee)
    arrives = conjunction(is_running(scope, callee, operation.callee), is_connected(scope, scope.actor, callee), ready)
    allowed = disjunction(
        conjunction(disjunction(*came), reached, ready),
        conjunction(ir.Binary("==", outcome, not_done), disjunction(ir.Unary("not", reached), slow)),
        conjunction(
            ir.Binary("==", outcome, lost),
            arrives,
            disjunction(ir.Unary("not", is_connected(scope, callee, scope.actor)), slow),
        ),
    )
    served, answer = _serve_here(operation, scope, callee, request)
    answers = ir.Binary("!=", answer, operation.no_answer)
    if halting:
        stopped = ir.Unary("not", is_up(scope, callee, operation.callee))
        unheard = conjunction(answers, stopped, is_up(scope, scope.actor, operation.caller))
        served = (*served, ir.If(came[1], (ir.Require(unheard),), ()))
    store = ir.If(ir.Binary("==", outcome, answered), (ir.Assign(result, answer),), ())
    spent: tuple[ir.Statement, ...] = ()
    if budgets:
        failed = ir.Local(context.fresh_name("failed"), ty.Bool())
        paid = conjunction(*map(_not, came), reached, _not(late))
        spent = (
            ir.Let(failed.name, failed.type, paid),
            ir.If(failed, tuple(_spend(context, budget) for budget in budgets), ()),
        )
        served = (*served, ir.If(failed, (ir.Require(answers),), ()))  # no answer, none that could be lost
    return (
        ir.Choose(outcome.name, ir.Domain(outcomes, None, allowed)),
        *spent,
        ir.If(ir.Binary("!=", outcome, not_done), (*served, store), ()),
    )


def _not(condition: ir.Expression) -> ir.Expression:
    return ir.TRUE if condition == ir.FALSE else ir.Unary("not", condition)


def _spend(context: Context, budget: str) -> ir.Statement:
    one = ir.Constant(1, ty.Range(1, 1))
    return ir.Assign(ir.Target(context.variable(budget)), ir.Binary("-", context.variable(budget), one))


def _loss(context: Context, operation: Operation) -> tuple[ir.Expression, tuple[str, ...]]:
    """When the request or the answer may be lost on its way, and the budgets that pay for it."""
    if operation.name not in context.losing:
        return ir.FALSE, ()
    fault, budgets = context.losing[operation.name]
    when = ir.TRUE if fault.when is None else boolean(fault.when, Scope(context))
    left = (ir.Binary("<", ir.Constant(0, ty.Range(0, 0)), context.variable(budget)) for budget in budgets)
    return conjunction(when, *left), budgets


def _may_serve(operation: Operation, scope: Scope, callee: ir.Expression) -> ir.Expression:
    """That no handler of the callee stands in the way of serving now: until then the caller waits."""
    context, caller = scope.context, scope.actor
    assert caller is not None
    free = conjunction(*may_begin(context, operation.callee, callee, context.serving.get(operation.name)))
    if free == ir.TRUE or operation.caller != operation.callee:
        return free
    return disjunction(ir.Binary("==", caller, callee), free)


def _serve_here(
    operation: Operation, scope: Scope, callee: ir.Expression, request: ir.Expression
) -> tuple[tuple[ir.Statement, ...], ir.Expression]:
    """The callee's handler as statements, and its answer: `none` as long as it has given none."""
    context = scope.context
    serve = served_by(context, operation)
    assert scope.actor is not None
    context.expand(serve.span)
    if operation.name in scope.expanding:
        path = " -> ".join((*scope.expanding[scope.expanding.index(operation.name) :], operation.name))
        raise error("HA109", f"serving `{operation.name}` calls itself in one step ({path})", serve.span)
    answer = context.fresh_local("answer", ty.Option(operation.result))

    def reply(_: Scope, value: ir.Expression) -> tuple[ir.Statement, ...]:
        return (ir.Assign(ir.Target(answer), ir.Unary("some", value)),)

    def end(at: Scope) -> tuple[ir.Statement, ...]:
        return reply(at, ir.Constant("done", DONE)) if operation.declaration.returns is None else ()

    fields = [(field, ir.Member(request, field)) for field, _ in operation.request.fields]
    inner = serve_scope(context, operation, serve, callee, scope.actor, dict(fields), Answer(operation.result, reply))
    inner = replace(inner, expanding=(*scope.expanding, operation.name))
    guards = tuple(ir.Require(boolean(condition, inner)) for condition in serve.clauses.when)
    timing = tuple(ir.Require(boolean(condition, inner.seeing("all"))) for condition in serve.clauses.only_after)
    made = (
        ir.Let(answer.name, answer.type, operation.no_answer),
        *guards,
        *timing,
        *context.rules.one_step(context, operation.name, serve.body, inner, end, at_once=True),
    )
    return made, answer


def served_by(context: Context, operation: Operation) -> d.ReceiveDeclaration:
    """Who serves an operation. Errors: `HA126` when nobody does."""
    serve = context.serves.get(operation.name)
    if serve is None:
        hint = f"add `serve {operation.name}(…) at n from m do …`"
        raise error("HA126", f"nothing serves `{operation.name}`", operation.declaration.span, hint)
    return serve


def serve_scope(
    context: Context,
    operation: Operation,
    serve: d.ReceiveDeclaration,
    callee: ir.Expression,
    caller: ir.Expression,
    values: Mapping[str, ir.Expression],
    answer: Answer | None,
) -> Scope:
    """What a `serve` block knows: itself, its caller, the request's values."""
    fields = operation.request.fields
    if len(serve.parameters) != len(fields):
        names = ", ".join(field for field, _ in fields)
        message = f"`{operation.name}` has {len(fields)} parameter(s) ({names}), not {len(serve.parameters)}"
        raise error("HA108", message, serve.span)
    bounds = {serve.at.text: Bound(callee), serve.sender.text: Bound(caller)}
    bounds |= {name.text: Bound(values[field]) for name, (field, _) in zip(serve.parameters, fields, strict=True)}
    return Scope(context, bounds, callee, operation.callee, "node", answer=answer)


# ---- in steps ----


def place_request(
    operation: Operation, scope: Scope, callee: ir.Expression, request: ir.Expression
) -> tuple[ir.Statement, ...]:
    """The request goes out. One still under way from an earlier call is a bound of the exploration."""
    assert scope.actor is not None
    context, caller = scope.context, scope.actor
    under_way = ir.Binary("!=", operation.at(context, "request", caller, callee), operation.no_request)
    serving = operation.at(context, "serving", caller, callee)
    waiting = operation.at(context, "waiting", caller, callee)
    reached = conjunction(is_up(scope, callee, operation.callee), is_connected(scope, caller, callee))
    put = operation.write(context, "request", caller, callee, ir.Unary("some", request))
    return (
        ir.If(disjunction(under_way, serving, waiting), (ir.Stop(f"calls of {operation.name}"),), ()),
        operation.write(context, "waiting", caller, callee, ir.TRUE),
        ir.If(reached, (put,), ()),
    )


def failed(operation: Operation, scope: Scope, caller: ir.Expression, callee: ir.Expression) -> ir.Expression:
    """Whether the caller may give up: the callee down, paused or cut off; request or answer lost; or too slow."""
    context = scope.context
    nothing_left = conjunction(
        ir.Binary("==", operation.at(context, "request", caller, callee), operation.no_request),
        ir.Unary("not", operation.at(context, "serving", caller, callee)),
        ir.Binary("==", operation.at(context, "answer", caller, callee), operation.no_answer),
    )
    return disjunction(
        ir.Unary("not", reaches(operation, scope, caller, callee)),
        may_time_out(operation, scope, caller, callee),
        nothing_left,
    )


def forget(
    operation: Operation, scope: Scope, caller: ir.Expression, callee: ir.Expression
) -> tuple[ir.Statement, ...]:
    """The caller no longer waits; what is under way stays under way."""
    return (
        operation.write(scope.context, "waiting", caller, callee, ir.FALSE),
        operation.write(scope.context, "answer", caller, callee, operation.no_answer),
    )
