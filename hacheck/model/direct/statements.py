"""From the statements of a file to programs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from msgspec.structs import replace

from hacheck.model.direct.assignments import assignment, synced
from hacheck.model.direct.calls import Calls, CallSite
from hacheck.model.direct.domains import stored
from hacheck.model.direct.expressions import Expressions, Scope
from hacheck.model.direct.interfaces import UnsupportedError
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
    Point,
    Program,
    Turn,
    Unless,
    distinct,
    linked,
)
from hacheck.model.direct.values import Bag, Node
from hacheck.model.language import syntax_tree as t


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
    """Writes one program. `keys`, `names`: the local or point that a statement makes, by its `id`."""

    def __init__(self, known: Statements, serves: str | None) -> None:
        self.known = known
        self.expressions = known.expressions
        self.layout = known.layout
        self.serves = serves
        self.code: list[Instruction] = []
        self.labels: dict[int, int] = {}
        self.keys: dict[int, str] = {}
        self.names: dict[int, str] = {}
        self._points: dict[str, int] = {}
        self._numbers = count(-2, -1)

    END = -1
    """The label of the end; labels are negative until the code is written."""

    def program(self, body: t.Body, scope: Scope) -> Program:
        self._name_locals("", list(scope.keys), body)
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

    def unique(self, name: str) -> str:
        """The name of a point: `work`, and `work_2` for the next of that name."""
        number = self._points[name] = self._points.get(name, 0) + 1
        return name if number == 1 else f"{name}_{number}"

    def of(self, written: t.Expression, scope: Scope) -> Closure:
        return self.expressions.of(written, scope)

    def do(self, effect: Effect) -> None:
        self.code.append(Do(effect))

    def _name_locals(self, prefix: str, parameters: list[str], body: t.Body) -> None:
        """Numbers the locals and points of one name in the order in which they are written: `v`, `v#2`."""
        numbers = dict.fromkeys(parameters, 1)
        for one in statements_in(body):
            if isinstance(one, t.StepPoint | t.Call):
                self.names[id(one)] = self.unique((one.name if isinstance(one, t.StepPoint) else one.operation).text)
            name = declared_by(one)
            if name is not None:
                number = numbers[name] = numbers.get(name, 0) + 1
                self.keys[id(one)] = prefix + (name if number == 1 else f"{name}#{number}")

    # ---- bodies ----

    def body(self, body: t.Body, scope: Scope) -> None:
        """The statements in order; each sees the names that those before it have made."""
        for one in body:
            scope = self.statement(one, scope)

    def statement(self, one: t.Statement, scope: Scope) -> Scope:
        """One statement; the names that those after it see."""
        begin = len(self.code)
        match one:
            case t.If() | t.While() | t.For() | t.Acquire():
                self._block(one, scope)
                return self._after(begin, (one,), (), scope)
            case t.Let():
                return self._let(one, scope)
            case t.Choose():
                return self._choose(one, scope)
            case t.Perform():
                taken, performed = self._perform(one, scope)
                return self._after(begin, performed, taken, scope)
            case t.Call():
                return self._call(one, scope)
            case t.StepPoint(_, holding, when, only_after):
                conditions = tuple(self.of(each, scope) for each in (when, only_after) if each is not None)
                self._point(self.names[id(one)], scope, holding, conditions)
            case t.Finish():
                self.code.append(Jump(self.END))
            case t.Log():
                pass
            case _:
                self._simple(one, scope)
        return scope

    def _after(self, begin: int, body: t.Body, taken: tuple[str, ...], scope: Scope) -> Scope:
        """The scope after statements that are a block; `taken`: the places of the values that it was given."""
        if not any(isinstance(made, Point) for made in self.code[begin:]):
            return scope
        inside = (self.keys[id(inner)] for inner in statements_in(body) if id(inner) in self.keys)
        return scope.after((*taken, *inside))

    def _block(self, one: t.If | t.While | t.For | t.Acquire, scope: Scope) -> None:
        match one:
            case t.If():
                self._if(one, scope)
            case t.While():
                self._while(one, scope)
            case t.For():
                self._for(one, scope)
            case t.Acquire():
                self._acquire(one, scope)

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

    def _if(self, one: t.If, scope: Scope) -> None:
        otherwise, end = self.label(), self.label()
        self.code.append(Unless(self.of(one.condition, scope), otherwise))
        self.body(one.then, scope)
        self.code.append(Jump(end))
        self.here(otherwise)
        self.body(one.otherwise, scope)
        self.here(end)

    def _while(self, one: t.While, scope: Scope) -> None:
        begin, end = self.label(), self.label()
        self.here(begin)
        self.code.append(Unless(self.of(one.condition, scope), end))
        self.body(one.body, scope)
        self.code.append(Jump(begin))
        self.here(end)

    def _for(self, one: t.For, scope: Scope) -> None:
        key = self.keys[id(one)]
        rest = f"rest of {key}"
        begin, end = self.label(), self.label()
        self.do(self._elements(rest, one, scope))
        self.here(begin)
        at = len(self.code)
        self.code.append(Turn(rest, key, False, end))
        inner = scope.having_local(one.binder.name.text, key).keeping((rest,))
        self.body(one.body, inner)
        self.code.append(Jump(begin))
        stops = any(isinstance(written, Point) for written in self.code[at:])
        self.code[at] = Turn(rest, key, stops, end)
        self.here(end)

    def _elements(self, rest: str, one: t.For, scope: Scope) -> Effect:
        """Takes the elements of a loop when it begins: a set, a sequence or a bag of them."""
        walk, _ = self.expressions.filtered((one.binder,), one.where, scope)
        within = None if one.binder.within is None else self.of(one.binder.within, scope)

        def elements_of(m: Machine) -> None:
            whole = frozenset() if within is None else within(m)
            kind = Bag if isinstance(whole, Bag) else frozenset if isinstance(whole, frozenset) else tuple
            m.env[rest] = kind(walk(m))

        return elements_of

    def _acquire(self, one: t.Acquire, scope: Scope) -> None:
        otherwise, end, lock = self.label(), self.label(), one.lock.text
        self.code.append(Unless(lambda m: self.known.locks.acquire(m, lock), otherwise))
        self.body(one.then, scope)
        self.code.append(Jump(end))
        self.here(otherwise)
        self.body(one.otherwise, scope)
        self.here(end)

    def _point(
        self, name: str, scope: Scope, holding: bool, conditions: tuple[Closure, ...], call: CallSite | None = None
    ) -> None:
        kept = dict.fromkeys(scope.kept)
        if call is not None:
            kept[call.targets] = None
        self.code.append(Point(name, holding, conditions, tuple(kept), call))

    def _halt(self, m: Machine) -> None:
        if m.node is None:
            raise UnsupportedError("`halt` on no node")
        self.known.nodes.crash(m, m.node)
        raise Halted

    # ---- names ----

    def _let(self, one: t.Let, scope: Scope) -> Scope:
        key = self.keys[id(one)]
        value = self.of(one.value, scope)
        domain = None if one.type is None else self.layout.domains.of(one.type)

        def bind(m: Machine) -> None:
            made = value(m)
            m.env[key] = made if domain is None else stored(domain, made, key)

        self.do(bind)
        inner = scope.having_local(one.name.text, key)
        return inner if domain is None else inner.typed(key, domain)

    def _choose(self, one: t.Choose, scope: Scope) -> Scope:
        key = self.keys[id(one)]
        walk, _ = self.expressions.filtered((one.binder,), one.where, scope)

        def choose(m: Machine) -> None:
            m.env[key] = m.pick(distinct(list(walk(m))))

        self.do(choose)
        return scope.having_local(one.binder.name.text, key)

    def _perform(self, one: t.Perform, scope: Scope) -> tuple[tuple[str, ...], t.Body]:
        """Where the procedure finds its arguments, and its statements."""
        name = one.procedure.text
        if name not in self.layout.procedures:
            raise UnsupportedError(f"there is no procedure `{name}`")
        procedure = self.layout.procedures[name]
        functions = self.expressions.functions
        given = functions.bound([parameter.name.text for parameter in procedure.parameters], one.arguments, scope)
        inner = self.expressions.nothing.keeping(scope.kept)
        for parameter, _ in given:
            inner = inner.having_local(parameter, f"{name}.{parameter}")

        kinds = [self.layout.domains.of(parameter.type) for parameter in procedure.parameters]

        def take(m: Machine) -> None:
            values = [argument(m) for _, argument in given]
            for (parameter, _), kind, value in zip(given, kinds, values, strict=True):
                key = f"{name}.{parameter}"
                m.env[key] = stored(kind, value, key)

        self.do(take)
        self._name_locals(f"{name}.", [parameter for parameter, _ in given], procedure.body)
        self.body(procedure.body, inner)
        return tuple(f"{name}.{parameter}" for parameter, _ in given), procedure.body

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
        result = None if one.result is None else self.keys[id(one)]
        calls = self.known.calls

        def targets(m: Machine) -> list[Node]:
            target = at(m)
            return list(elements(target, place)) if one.at_each else [target]

        if self.known.calls.at_once[name]:

            def at_once(m: Machine) -> None:
                made, callees, outer = request(m), targets(m), m.outer
                m.outer = (*outer, *(m.env[key] for key in (*scope.kept, *scope.ended) if key in m.env))
                answer = calls.call_at_once(m, name, made, callees, one.at_each)
                m.outer = outer
                if result is not None:
                    m.env[result] = answer

            self.do(at_once)
        else:
            point = self.names[id(one)]
            site = CallSite(name, one.at_each, f"callees of {point}", result)

            def ask(m: Machine) -> None:
                made, callees = request(m), targets(m)
                calls.ask(m, name, made, callees)
                m.env[site.targets] = frozenset(callees)

            self.do(ask)
            self._point(point, scope, False, (), site)
        return scope if one.result is None or result is None else scope.having_local(one.result.text, result)


def statements_in(body: t.Body) -> Iterator[t.Statement]:
    """All statements of a body, in the order written."""
    for one in body:
        yield one
        match one:
            case t.If(_, then, otherwise) | t.Acquire(_, then, otherwise):
                yield from statements_in((*then, *otherwise))
            case t.For(body=inner) | t.While(body=inner):
                yield from statements_in(inner)


def declared_by(one: t.Statement) -> str | None:
    """The local that a statement makes."""
    match one:
        case t.Let(name) | t.Call(result=t.Name() as name):
            return name.text
        case t.Choose(binder) | t.For(binder):
            return binder.name.text
        case _:
            return None


def _required(condition: Closure) -> Effect:
    def require(m: Machine) -> None:
        if not condition(m):
            raise Blocked

    return require
