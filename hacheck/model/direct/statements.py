"""From the statements of a file to programs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from hacheck.model.data import replace
from hacheck.model.direct.assignments import assignment, synced
from hacheck.model.direct.calls import Calls, CallSite
from hacheck.model.direct.domains import is_sequence, stored
from hacheck.model.direct.expressions import Expressions, Scope
from hacheck.model.direct.interfaces import UnsupportedError
from hacheck.model.direct.layout import Unsettled
from hacheck.model.direct.locks import Locks
from hacheck.model.direct.machine import Blocked, Closure, Effect, Halted, Machine
from hacheck.model.direct.messages import Messages
from hacheck.model.direct.nodes import Nodes
from hacheck.model.direct.order import elements
from hacheck.model.direct.program import (
    Do,
    End,
    Instruction,
    Jump,
    Listed,
    Point,
    Program,
    Turn,
    Unless,
    distinct,
    linked,
)
from hacheck.model.direct.settled import settled
from hacheck.model.direct.values import Node
from hacheck.model.language import tree as t


class Statements:
    """What statements need to know of the file."""

    def __init__(self, expressions: Expressions, nodes: Nodes, messages: Messages, locks: Locks, calls: Calls) -> None:
        self.expressions = expressions
        self.layout = expressions.layout
        self.nodes = nodes
        self.messages = messages
        self.locks = locks
        self.calls = calls

    def program(self, body: t.Body, scope: Scope, serves: str | None = None) -> Program:
        """The program of a handler; `serves`: the operation that it answers."""
        return _Writer(self, serves).program(body, scope)


class _Writer:
    """Writes one program. `prefix`: of the locals, the procedure they are of."""

    def __init__(self, known: Statements, serves: str | None) -> None:
        self.known = known
        self.expressions = known.expressions
        self.layout = known.layout
        self.serves = serves
        self.code: list[Instruction] = []
        self.prefix = ""
        self.labels: dict[int, int] = {}
        self.points = count(1)
        self._numbers = count(-2, -1)
        self._names: set[str] = set()

    END = -1
    """The label of the end; labels are negative until the code is written."""

    def program(self, body: t.Body, scope: Scope) -> Program:
        self.body(body, scope)
        self.labels[self.END] = len(self.code)
        self.code.append(End())
        return linked([self._resolved(one) for one in self.code])

    def _resolved(self, one: Instruction) -> Instruction:
        match one:
            case Jump(target) | Unless(_, target):
                return replace(one, target=self.labels[target])
            case Turn(end=end):
                return replace(one, end=self.labels[end])
            case _:
                return one

    def label(self) -> int:
        """A new one, which stands nowhere yet."""
        return next(self._numbers)

    def here(self, label: int) -> None:
        """What follows has this label."""
        self.labels[label] = len(self.code)

    def of(self, written: t.Expression, scope: Scope) -> Closure:
        return self.expressions.of(written, scope)

    def do(self, effect: Effect) -> None:
        self.code.append(Do(effect))

    # ---- bodies ----

    def body(self, body: t.Body, scope: Scope) -> None:
        """The statements in order; each sees the names that those before it have made."""
        for one in body:
            scope = self.statement(one, scope)

    def statement(self, one: t.Statement, scope: Scope) -> Scope:
        """One statement; the names that those after it see."""
        match one:
            case t.If():
                self._if(one, scope)
            case t.While():
                self._while(one, scope)
            case t.For():
                self._for(one, scope)
            case t.Let():
                return self._let(one, scope)
            case t.Choose():
                return self._choose(one, scope)
            case t.Perform():
                self._perform(one, scope)
            case t.Call():
                return self._call(one, scope)
            case t.StepPoint(name, holding, when):
                self._point(name.text, scope, holding, when)
            case t.Acquire():
                self._acquire(one, scope)
            case t.Finish():
                self.code.append(Jump(self.END))
            case t.Log():
                pass
            case _:
                self._simple(one, scope)
        return scope

    def _simple(self, one: t.Statement, scope: Scope) -> None:
        match one:
            case t.Assign(place, value):
                self.do(assignment(self.expressions, place, self.of(value, scope), scope))
            case t.Require(condition):
                self.do(_required(self.of(condition, scope)))
            case t.Send():
                self.do(self._sent(one, scope))
            case t.Answer(value):
                self.do(self._answered(self.of(value, scope)))
            case t.Release(lock):
                self.do(lambda m: self.known.locks.release(m, lock.text))
            case t.Sync(place):
                self.do(synced(self.expressions, place, scope))
            case t.Halt():
                self.do(self._halt)
                self.code.append(Jump(self.END))
            case _:
                raise AssertionError(one)

    # ---- flow ----

    def _branch(self, condition: t.Expression, scope: Scope, otherwise: int) -> bool | None:
        """Jumps where the condition does not hold; what it is, where the settings decide it."""
        try:
            return bool(settled(self.expressions, condition, scope))
        except Unsettled:
            self.code.append(Unless(self.of(condition, scope), otherwise))
            return None

    def _if(self, one: t.If, scope: Scope) -> None:
        otherwise, end = self.label(), self.label()
        decided = self._branch(one.condition, scope, otherwise)
        if decided is not False:
            self.body(one.then, scope)
        if decided is None:
            self.code.append(Jump(end))
        self.here(otherwise)
        if decided is not True:
            self.body(one.otherwise, scope)
        self.here(end)

    def _while(self, one: t.While, scope: Scope) -> None:
        begin, end = self.label(), self.label()
        self.here(begin)
        if self._branch(one.condition, scope, end) is not False:
            self.body(one.body, scope)
            self.code.append(Jump(begin))
        self.here(end)

    def _for(self, one: t.For, scope: Scope) -> None:
        key = self.prefix + one.binder.name.text
        rest = f"rest of {key}"
        walk, _ = self.expressions.filtered((one.binder,), one.where, scope)
        begin, end = self.label(), self.label()
        listed = self._is_listed(one.binder, scope)

        def elements_of(m: Machine) -> None:
            m.env[rest] = (Listed if listed(m) else tuple)(walk(m))

        self.do(elements_of)
        self.here(begin)
        at = len(self.code)
        self.code.append(Turn(rest, key, False, end))
        inner = scope.having_local(one.binder.name.text, key).having_local(rest, rest)
        self.body(one.body, inner)
        self.code.append(Jump(begin))
        stops = any(isinstance(written, Point) for written in self.code[at:])
        self.code[at] = Turn(rest, key, stops, end)
        self.here(end)

    def _is_listed(self, binder: t.Binder, scope: Scope) -> Callable[[Machine], bool]:
        if binder.within is None:
            return lambda m: False
        within = self.of(binder.within, scope)
        return lambda m: is_sequence(within(m))

    def _acquire(self, one: t.Acquire, scope: Scope) -> None:
        otherwise, end, lock = self.label(), self.label(), one.lock.text
        self.code.append(Unless(lambda m: self.known.locks.acquire(m, lock), otherwise))
        self.body(one.then, scope)
        self.code.append(Jump(end))
        self.here(otherwise)
        self.body(one.otherwise, scope)
        self.here(end)

    def _point(
        self, name: str, scope: Scope, holding: bool, when: t.Expression | None, call: CallSite | None = None
    ) -> None:
        number = 2
        unique = name
        while unique in self._names:
            unique, number = f"{name}#{number}", number + 1
        self._names.add(unique)
        kept = dict.fromkeys(scope.keys.values())
        if call is not None:
            kept[call.targets] = None
        self.code.append(Point(unique, holding, None if when is None else self.of(when, scope), tuple(kept), call))

    def _halt(self, m: Machine) -> None:
        if m.node is None:
            raise UnsupportedError("`halt` on no node")
        self.known.nodes.crash(m, m.node)
        raise Halted

    # ---- names ----

    def _let(self, one: t.Let, scope: Scope) -> Scope:
        key = self.prefix + one.name.text
        value = self.of(one.value, scope)
        domain = None if one.type is None else self.layout.domains.of(one.type)

        def bind(m: Machine) -> None:
            made = value(m)
            m.env[key] = made if domain is None else stored(domain, made, key)

        self.do(bind)
        inner = scope.having_local(one.name.text, key)
        return inner if domain is None else inner.typed(key, domain)

    def _choose(self, one: t.Choose, scope: Scope) -> Scope:
        key = self.prefix + one.binder.name.text
        walk, _ = self.expressions.filtered((one.binder,), one.where, scope)

        def choose(m: Machine) -> None:
            m.env[key] = m.pick(distinct(list(walk(m))))

        self.do(choose)
        return scope.having_local(one.binder.name.text, key)

    def _perform(self, one: t.Perform, scope: Scope) -> None:
        name = one.procedure.text
        if name not in self.layout.procedures:
            raise UnsupportedError(f"there is no procedure `{name}`")
        procedure = self.layout.procedures[name]
        functions = self.expressions.functions
        given = functions.bound([parameter.name.text for parameter in procedure.parameters], one.arguments, scope)
        inner = self.expressions.nothing
        # What the caller keeps is kept at the points of the procedure, too.
        for key in scope.keys.values():
            inner = inner.having_local(f"{key} of the caller", key)
        for parameter, _ in given:
            inner = inner.having_local(parameter, f"{name}.{parameter}")

        def take(m: Machine) -> None:
            values = [argument(m) for _, argument in given]
            m.env.update({f"{name}.{parameter}": value for (parameter, _), value in zip(given, values, strict=True)})

        self.do(take)
        prefix, self.prefix = self.prefix, f"{name}."
        self.body(procedure.body, inner)
        self.prefix = prefix

    # ---- messages and calls ----

    def _sent(self, one: t.Send, scope: Scope) -> Effect:
        name = one.message.text
        parameters = self.layout.messages[name].parameters
        message = self.expressions.functions.arguments(name, parameters, one.arguments, scope)
        to, place = self.of(one.to, scope), self.layout.place_of_word

        def send(m: Machine) -> None:
            made, target = message(m), to(m)
            self.known.messages.send(m, name, made, elements(target, place) if one.to_each else [target])

        return send

    def _answered(self, value: Closure) -> Effect:
        operation = self.serves
        if operation is None:
            raise UnsupportedError("`answer` where nothing is served")
        return lambda m: self.known.calls.answer(m, operation, value(m))

    def _call(self, one: t.Call, scope: Scope) -> Scope:
        name = one.operation.text
        operation = self.layout.operations[name]
        request = self.expressions.functions.arguments(name, operation.parameters, one.arguments, scope)
        at, place = self.of(one.at, scope), self.layout.place_of_word
        result = None if one.result is None else self.prefix + one.result.text
        calls = self.known.calls

        def targets(m: Machine) -> list[Node]:
            target = at(m)
            return list(elements(target, place)) if one.at_each else [target]

        if operation.atomic_when is not None and settled(self.expressions, operation.atomic_when):

            def at_once(m: Machine) -> None:
                answer = calls.call_at_once(m, name, request(m), targets(m), one.at_each)
                if result is not None:
                    m.env[result] = answer

            self.do(at_once)
        else:
            site = CallSite(name, one.at_each, f"asked by {name}", result)

            def ask(m: Machine) -> None:
                made, callees = request(m), targets(m)
                calls.ask(m, name, made, callees)
                m.env[site.targets] = tuple(callees)

            self.do(ask)
            self._point(name, scope, False, None, site)
        return scope if one.result is None or result is None else scope.having_local(one.result.text, result)


def _required(condition: Closure) -> Effect:
    def require(m: Machine) -> None:
        if not condition(m):
            raise Blocked

    return require
