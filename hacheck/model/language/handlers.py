"""Handlers of several steps: one action for each stretch between two points at which the handler may be interrupted.

Between its steps a handler's place is kept in a variable of its node and thread, and those of its locals that a later
step reads are kept in variables of the node. A local that no later step reads is not kept, so that it does not make
states differ.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec import Struct, field

from hacheck.model import ir
from hacheck.model import types as ty
from hacheck.model.language import locks, operations, statements
from hacheck.model.language import syntax_tree as t
from hacheck.model.language.context import Bound, Context, Scope
from hacheck.model.language.diagnostics import Span, SpecError, error
from hacheck.model.language.expressions import boolean, elaborate
from hacheck.model.language.halting_calls import if_up, may_halt
from hacheck.model.language.interruption_points import untaken
from hacheck.model.language.local_storage import frame
from hacheck.model.language.loops import always_ends_step, ends_step, unrolled
from hacheck.model.language.threads import IDLE
from hacheck.model.rewrite import conjunction, disjunction, walk
from hacheck.model.typing import type_of

Made = tuple[ir.Statement, ...]


class GoTo(ir.Stop, frozen=True):
    """The step ends here; the handler goes on at `point`, or has ended. Replaced once it is known what to keep.

    Like any `Stop` it has nothing after it.
    """

    point: str | None


class After(Struct, frozen=True):
    """What follows the block being compiled."""

    statements: t.Body
    scope: Scope
    then: After | None


class Segment(Struct, frozen=True):
    """One stretch of a handler: when it may begin, and what it does."""

    condition: ir.Expression
    body: Made
    holding: bool
    waits_for: operations.Operation | None = None
    """The operation that was called at several nodes: each of these calls may fail by itself."""
    callees: ir.Expression | None = None
    """The callees, where another thread of the caller may wait for the same operation at others."""


class Handler(Struct):
    """A handler being compiled. `initial` are the locals its head binds: parameters and what was received."""

    context: Context
    name: str
    kind: ty.Node
    actor: ir.Local
    thread: str
    points: dict[Span, str]
    initial: tuple[tuple[str, ir.Expression], ...]
    at_end: Callable[[Scope], Made]
    kept: frozenset[str] | None = None
    """Locals to keep between steps; `None` keeps all (to find out which are needed)."""
    at_once: bool = False
    """Whether its steps follow each other without interruption, as in the service of an atomic call."""
    names: dict[Span, str] = field(default_factory=dict)
    words: dict[Span, str] = field(default_factory=dict)
    frames: dict[str, ty.Type] = field(default_factory=dict)
    segments: dict[str, Segment] = field(default_factory=dict)
    waiting: list[tuple[str, t.Body, Scope, After | None, t.StepPoint | t.Call]] = field(default_factory=list)
    end_scope: Scope | None = None
    passing: dict[str, str] = field(default_factory=dict)
    """For each `var` that is not kept, by its name in the model: the variable that would keep it."""

    # ---- locals ----

    def frame_name(self, word: str, span: Span) -> str:
        """The variable that keeps a local declared at this place."""
        if span not in self.names:
            self.names[span] = untaken(word, self.names.values())
            self.words[span] = word
        return f"{self.kind.name}.{self.name}.{self.names[span]}"

    def keep(
        self, word: str, span: Span, value: ir.Expression, kind: ty.Type, changeable: bool
    ) -> tuple[Made, Bound] | None:
        """Store a local in its node, if a later step needs it."""
        name = self.frame_name(word, span)
        if self.kept is not None and name not in self.kept:
            return None
        kept = frame(name, self.kind, kind, changeable)
        self.frames[name] = kept.stored
        return (kept.write(self.actor, value),), kept.bound(self.actor, changeable)

    def plain(self, written: t.Statement, scope: Scope) -> tuple[Made, Made, Scope]:
        """A statement in which no step ends, how what it found is kept, and the scope after it."""
        if isinstance(written, t.Let):
            value, kind = statements.let_type(written, scope)
            stored = self.keep(written.name.text, written.name.span, value, kind, written.changeable)
            if stored is not None:
                return (), stored[0], scope.bind(written.name.text, stored[1])
        made, inner = statements.simple(written, scope)
        if isinstance(written, t.Let) and written.changeable:
            bound = inner.find(written.name.text)
            assert bound is not None
            assert bound.target is not None
            self.passing[bound.target.root.name] = self.frame_name(written.name.text, written.name.span)
        named = written.binder.name if isinstance(written, t.Choose) else getattr(written, "result", None)
        if isinstance(written, t.Choose | t.Call) and named is not None:
            bound = inner.find(named.text)
            assert bound is not None
            kind = type_of(bound.expression)
            stored = self.keep(named.text, named.span, bound.expression, kind, False)
            if stored is not None:
                return made, stored[0], inner.bind(named.text, stored[1])
        return made, (), inner

    # ---- the flow of control ----

    def sequence(self, written: t.Body, scope: Scope, after: After | None) -> Made:
        """The statements up to the end of the step, on every way there."""
        made: list[ir.Statement] = []
        rest = written
        while rest:
            first, rest = rest[0], rest[1:]
            if isinstance(first, t.Halt):
                return (*made, *statements.halt(first, scope))
            if ends_step(first, self.points):
                return (*made, *self.branch(first, rest, scope, after))
            try:
                more, stored, scope = self.plain(first, scope)
            except SpecError as failure:
                scope = statements.passed_over(first, failure, scope)
                continue
            made.extend(more)
            if may_halt(first, scope):
                return (*made, *if_up((*stored, *self.sequence(rest, scope, after)), scope))
            made.extend(stored)
        if after is None:
            return (*made, *self.end())
        return (*made, *self.sequence(after.statements, after.scope, after.then))

    def branch(self, first: t.Statement, rest: t.Body, scope: Scope, after: After | None) -> Made:
        """A statement in which a step may end, and all that follows it."""
        following = After(rest, scope, after)
        match first:
            case t.If(condition, then, otherwise):
                made = self.sequence(then, scope, following), self.sequence(otherwise, scope, following)
                return (ir.If(boolean(condition, scope), *made),)
            case t.Acquire(lock, then, otherwise):
                free, taken = locks.acquire(lock, scope)
                made = (*taken, *self.sequence(then, scope, following)), self.sequence(otherwise, scope, following)
                return (ir.If(free, *made),)
            case t.While() | t.For() if self.at_once:
                hint = "let the operation be served in single steps, or do not make it `atomic`"
                raise error("HA130", "a loop with steps cannot run as one step", first.span, hint)
            case t.While(condition, inner, span):
                if not always_ends_step(inner, self.points):
                    hint = "put a `step` on every path through its body"
                    raise error("HA130", "each turn of `while` must contain a `step` or a call", span, hint)
                turn = self.sequence(inner, scope, After((first, *rest), scope, after))
                return (ir.If(boolean(condition, scope), turn, self.sequence(rest, scope, after)),)
            case t.For():
                return self.sequence((*unrolled(first, scope), *rest), scope, after)
            case t.StepPoint() if self.at_once:
                terms = tuple(map(ir.Require, step_conditions(first, scope)))
                return (*terms, *self.sequence(rest, scope, after))
            case t.StepPoint():
                return self.wait(first, rest, scope, after)
            case t.Call():
                return (*self.ask(first, scope), *self.wait(first, rest, scope, after))
            case _:
                assert isinstance(first, t.Finish)
                return self.end()

    def wait(self, at: t.StepPoint | t.Call, rest: t.Body, scope: Scope, after: After | None) -> Made:
        """The step ends here; what follows is a segment of its own."""
        if at.span not in self.points:
            hint = "continue in another action, whose guard asks that the node is up"
            raise error("HA130", f"`{self.name}` is one step and cannot wait", at.span, hint)
        point = self.points[at.span]
        if point not in self.segments and all(point != other for other, *_ in self.waiting):
            self.waiting.append((point, rest, scope, after, at))
        return (GoTo("step", point),)

    def end(self) -> Made:
        """The handler has ended."""
        assert self.end_scope is not None
        return (*self.at_end(self.end_scope), GoTo("end", None))

    # ---- calls that take several steps ----

    def ask(self, written: t.Call, scope: Scope) -> Made:
        """The requests of a call go out."""
        operation = operations.find(self.context, written.operation)
        request = ir.Local(self.context.fresh_name("request"), operation.request)
        value = operations.request_of(operation, written, scope)
        made: list[ir.Statement] = [ir.Let(request.name, operation.request, value)]
        callee = ir.Local(self.context.fresh_name("callee"), operation.callee)
        placed = operations.place_request(operation, scope, callee, request)
        if written.at_each:
            callees = elaborate(written.at, scope, ty.Set(operation.callee))
            made.append(ir.ForEach(callee.name, ir.Domain(operation.callee, callees, None), placed))
            if self.called_elsewhere(operation):
                stored = self.keep(f"{operation.name} callees", written.span, callees, ty.Set(operation.callee), False)
                made[1:1] = () if stored is None else stored[0]
        else:
            at = elaborate(written.at, scope, operation.callee)
            made += [ir.Let(callee.name, operation.callee, at), *self.keep_callee(written, at, callee), *placed]
        return tuple(made)

    def called_elsewhere(self, operation: operations.Operation) -> bool:
        """Whether another thread of the node may be waiting for the same operation at the same time."""
        return len(self.context.callers.get(operation.name, ())) > 1

    def keep_callee(self, written: t.Call, at: ir.Expression, callee: ir.Local) -> Made:
        """The callee of a call, unless that cannot change while the caller waits."""
        if not may_change(at, self.frames):
            return ()
        stored = self.keep(f"{written.operation.text} callees", written.span, callee, callee.type, False)
        return () if stored is None else stored[0]

    def callee_of(self, operation: operations.Operation, written: t.Call, scope: Scope) -> ir.Expression:
        """The callee of a call, in the step that takes the answer."""
        at = elaborate(written.at, scope, operation.callee)
        if not may_change(at, self.frames):
            return at
        name = self.frame_name(f"{written.operation.text} callees", written.span)
        return frame(name, self.kind, operation.callee, False).read(self.actor)

    def answered(self, written: t.Call, scope: Scope) -> tuple[ir.Expression, Made, Scope]:
        """When the caller goes on, how it takes what came, and the scope after that."""
        operation = operations.find(self.context, written.operation)
        taking = self._all_answers if written.at_each else self._one_answer
        condition, made, result = taking(operation, written, scope)
        if written.result is None:
            return condition, tuple(one for one in made if not isinstance(one, ir.Let)), scope
        stored = self.keep(written.result.text, written.result.span, result, result.type, False)
        if stored is None:
            return condition, made, scope.bind(written.result.text, Bound(result))
        return condition, (*made, *stored[0]), scope.bind(written.result.text, stored[1])

    def _one_answer(
        self, operation: operations.Operation, written: t.Call, scope: Scope
    ) -> tuple[ir.Expression, Made, ir.Local]:
        callee = self.callee_of(operation, written, scope)
        answer = operation.at(self.context, "answer", self.actor, callee)
        here = ir.Binary("!=", answer, operation.no_answer)
        gave_up = operations.failed(operation, scope, self.actor, callee)
        got = ir.Local(self.context.fresh_name("answered"), ty.Bool())
        either = disjunction(conjunction(got, here), conjunction(ir.Unary("not", got), gave_up))
        result = ir.Local(self.context.fresh_name("answer"), ty.Option(operation.result))
        value = ir.Conditional(got, answer, operation.no_answer)
        made = (
            ir.Choose(got.name, ir.Domain(ty.Bool(), None, either)),
            ir.Let(result.name, result.type, value),
            *operations.forget(operation, scope, self.actor, callee),
        )
        return disjunction(here, gave_up), made, result

    def _all_answers(
        self, operation: operations.Operation, written: t.Call, scope: Scope
    ) -> tuple[ir.Expression, Made, ir.Local]:
        callee = ir.Local(self.context.fresh_name("callee"), operation.callee)
        answer = operation.at(self.context, "answer", self.actor, callee)
        here = ir.Binary("!=", answer, operation.no_answer)
        is_over = disjunction(here, ir.Unary("not", operation.at(self.context, "waiting", self.actor, callee)))
        callees = self._callees_of(operation, written)
        item = answer
        if callees is not None:
            item = ir.Conditional(ir.Binary("in", callee, callees), answer, operation.no_answer)
        everyone = ir.Domain(operation.callee, callees, None)
        whole = ty.Map(operation.callee, ty.Option(operation.result))
        result = ir.Local(self.context.fresh_name("answers"), whole)
        made = (
            ir.Let(result.name, whole, ir.MapOf(callee.name, operation.callee, item, whole.value)),
            ir.ForEach(callee.name, everyone, operations.forget(operation, scope, self.actor, callee)),
        )
        return ir.Quantified("every", callee.name, everyone, is_over), made, result

    def _callees_of(self, operation: operations.Operation, written: t.Call) -> ir.Expression | None:
        """The callees of a call to several nodes; None where all calls that its node waits for are of this one."""
        if not self.called_elsewhere(operation):
            return None
        name = self.frame_name(f"{operation.name} callees", written.span)
        return frame(name, self.kind, ty.Set(operation.callee), False).read(self.actor)

    # ---- all together ----

    def compile(self, written: t.Body, scope: Scope) -> None:
        """Fill `segments`, the first one under the name `IDLE`."""
        made: list[ir.Statement] = []
        bounds: dict[ir.Expression, Bound] = {}
        for word, value in self.initial:
            if value not in bounds:
                known = value == self.actor or not self.points
                stored = None if known else self.keep(word, Span(word, 0, 0), value, type_of(value), False)
                made.extend(() if stored is None else stored[0])
                bounds[value] = Bound(value) if stored is None else stored[1]
            scope = scope.bind(word, bounds[value])
        self.end_scope = scope
        self.segments[IDLE] = Segment(ir.TRUE, (*made, *self.sequence(written, scope, None)), False)
        while self.waiting:
            point, rest, at_scope, after, at = self.waiting.pop(0)
            try:
                self.segments[point] = self._segment(rest, at_scope, after, at)
            except SpecError as failure:
                self.context.collect(failure)
                self.segments[point] = Segment(ir.TRUE, (), False)

    def _segment(self, rest: t.Body, scope: Scope, after: After | None, at: t.StepPoint | t.Call) -> Segment:
        if isinstance(at, t.StepPoint):
            return Segment(conjunction(*step_conditions(at, scope)), self.sequence(rest, scope, after), at.holding)
        condition, made, inner = self.answered(at, scope)
        body = (*made, *self.sequence(rest, inner, after))
        if not at.at_each:
            return Segment(condition, body, False)
        operation = operations.find(self.context, at.operation)
        return Segment(condition, body, False, operation, self._callees_of(operation, at))


def step_conditions(at: t.StepPoint, scope: Scope) -> list[ir.Expression]:
    """What has to hold for a handler to go on after a `step`."""
    found = [] if at.when is None else [boolean(at.when, scope)]
    return found if at.only_after is None else [*found, boolean(at.only_after, scope.seeing("all"))]


def may_change(expression: ir.Expression, frames: Collection[str]) -> bool:
    """Whether the expression reads anything but a handler's own locals."""
    return any(isinstance(part, ir.Variable) and part.name not in frames for part in walk(expression))
