"""Handlers: where each may begin, how it goes on from its points, and what it leaves when it ends."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from hacheck.model.direct.calls import Calls
from hacheck.model.direct.domains import Domain, all_of
from hacheck.model.direct.expressions import NOTHING, Scope
from hacheck.model.direct.interfaces import UnsupportedError
from hacheck.model.direct.layout import Layout
from hacheck.model.direct.locks import Locks
from hacheck.model.direct.machine import Blocked, Closure, Effect, Frame, Halted, Machine
from hacheck.model.direct.messages import Messages
from hacheck.model.direct.nodes import Nodes
from hacheck.model.direct.order import Order
from hacheck.model.direct.program import Program, run
from hacheck.model.direct.statements import Statements, statements_in
from hacheck.model.direct.values import Node, Record, Value
from hacheck.model.language import declarations as d
from hacheck.model.language import syntax_tree as t

Role: TypeAlias = Literal["action", "receive", "serve", "lost", "restart"]
Handled: TypeAlias = d.ActionDeclaration | d.ReceiveDeclaration | d.LostDeclaration | d.RestartDeclaration


class Move(NamedTuple):
    """A step that may be possible: what it is called, and what it does; that ends in `Blocked` where it is not."""

    name: str
    arguments: Mapping[str, Value]
    effect: Effect
    fault: bool = False


class Handler(Struct, frozen=True):
    """A handler under these settings. `kind`: of the nodes it happens on, none for the environment's. `names`: its
    parameters with their types; the first one is the node. `conditions`: what must hold when it begins. `thread`: the
    one it needs, which is none if it takes a single step and names none. `stops`: whether its text has points."""

    name: str
    role: Role
    kind: str | None
    names: tuple[tuple[str, Domain], ...]
    values: tuple[str, ...]
    conditions: tuple[Closure, ...]
    program: Program
    thread: str | None
    stops: bool

    @property
    def at(self) -> str:
        """The name of the node that it happens on."""
        return self.names[0][0]


class Handlers:
    """The handlers of a file, and the steps that they can take."""

    def __init__(
        self,
        layout: Layout,
        statements: Statements,
        order: Order,
    ) -> None:
        self.layout = layout
        self.statements = statements
        self.nodes: Nodes = statements.nodes
        self.messages: Messages = statements.messages
        self.locks: Locks = statements.locks
        self.calls: Calls = statements.calls
        self.order = order
        self.all: tuple[Handler, ...] = ()
        self.by_name: dict[str, Handler] = {}
        self._declared = [one for one in layout.declarations if isinstance(one, Handled)]
        self._settle()

    # ---- made once ----

    def _settle(self) -> None:
        """What stops by its text is under way in between, and needs a thread for it."""
        stopping = [one for one in self._declared if self._may_stop(one.body)]
        functions = self.statements.expressions.functions
        functions.running_at = {self._name(one): self._place(one) for one in stopping}
        self.all = tuple(self._made(one) for one in self._declared)
        self.by_name = {one.name: one for one in self.all}
        for one in self.all:
            if one.role == "serve":
                self.calls.services[one.name] = self._service(one)

    def _name(self, one: Handled) -> str:
        match one:
            case d.LostDeclaration(lock=lock):
                return f"lost_{lock.text}"
            case d.RestartDeclaration(kind=kind):
                return f"restart {kind.text}"
            case _:
                return one.name.text

    def _place(self, one: Handled) -> tuple[str, str]:
        kind = self._kind(one)
        return kind or "", one.clauses.thread.text if one.clauses.thread else "main"

    def _kind(self, one: Handled) -> str | None:
        match one:
            case d.ActionDeclaration(environment=True):
                return None
            case d.ActionDeclaration(parameters=parameters):
                return self.layout.domains.of(parameters[0].type).name
            case d.ReceiveDeclaration(name=name, serves=True):
                return self.layout.operations[name.text].callee.text
            case d.ReceiveDeclaration(name=name):
                return self.layout.messages[name.text].receiver.text
            case d.LostDeclaration(lock=lock):
                return self.layout.locks[lock.text].holder.text
            case d.RestartDeclaration(kind=kind):
                return kind.text

    def _made(self, one: Handled) -> Handler:
        domains = self.layout.domains
        kind, name = self._kind(one), self._name(one)
        values: tuple[str, ...] = ()
        match one:
            case d.ActionDeclaration(parameters=parameters):
                role: Role = "action"
                names = tuple((each.name.text, domains.of(each.type)) for each in parameters)
            case d.ReceiveDeclaration(serves=serves):
                role = "serve" if serves else "receive"
                other = self._sender(name, serves)
                names = ((one.at.text, domains.named(kind or "")), (one.sender.text, domains.named(other)))
                values = tuple(each.text for each in one.parameters)
            case _:
                role = "lost" if isinstance(one, d.LostDeclaration) else "restart"
                names = ((one.at.text, domains.named(kind or "")),)
        scope = NOTHING
        for parameter in (*(each for each, _ in names), *values):
            scope = scope.having_local(parameter, parameter)
        program = self.statements.program(one.body, scope, name if role == "serve" else None)
        stops = name in (self.statements.expressions.functions.running_at or ())
        if stops and (kind is None or role == "restart"):
            raise UnsupportedError(f"`{name}` has points, but no thread")
        thread = self._place(one)[1] if stops or one.clauses.thread is not None else None
        return Handler(name, role, kind, names, values, self._conditions(one.clauses, scope), program, thread, stops)

    def _sender(self, name: str, serves: bool) -> str:
        return self.layout.operations[name].caller.text if serves else self.layout.messages[name].sender.text

    def _conditions(self, clauses: d.Clauses, scope: Scope) -> tuple[Closure, ...]:
        return tuple(self.statements.expressions.of(one, scope) for one in (*clauses.when, *clauses.only_after))

    def _may_stop(self, body: t.Body) -> bool:
        """Whether there is a point anywhere in a body or in the procedures that it performs."""
        waiting, seen = [body], set()
        while waiting:
            for one in statements_in(waiting.pop()):
                match one:
                    case t.StepPoint():
                        return True
                    case t.Call(operation) if not self.calls.at_once[operation.text]:
                        return True
                    case t.Perform(procedure) if procedure.text not in seen:
                        seen.add(procedure.text)
                        waiting.append(self.layout.procedures[procedure.text].body)
        return False

    # ---- steps that begin ----

    def moves(self, memory: tuple[Value, ...]) -> Iterator[Move]:
        """What handlers may do next."""
        for handler in self.all:
            match handler.role:
                case "action":
                    yield from self._actions(handler)
                case "receive":
                    yield from self._receipts(handler, memory)
                case "serve":
                    yield from self._services(handler, memory)
                case "lost":
                    yield from self._losses(handler)
        for node in self.layout.everybody():
            for thread in self.layout.threads:
                frame: Frame | None = memory[self.layout.index["frame", node, thread]]
                if frame is not None:
                    yield from self._continuations(node, thread, frame)

    def _actions(self, handler: Handler) -> Iterator[Move]:
        for values in itertools.product(*(all_of(domain) for _, domain in handler.names)):
            env = {name: value for (name, _), value in zip(handler.names, values, strict=True)}
            yield Move(handler.name, env, self._beginning(handler, env, lambda m: None))

    def _beginning(self, handler: Handler, env: Mapping[str, Value], first: Effect) -> Effect:
        """Begins a handler with these parameters; `first` is what happens before its statements."""
        node: Node | None = None if handler.kind is None else env[handler.at]

        def begin(m: Machine) -> None:
            m.node, m.handler = node, handler.name
            m.env.update(env)
            if node is not None and not self._may_begin(m, handler, node):
                raise Blocked
            if not all(condition(m) for condition in handler.conditions):
                raise Blocked
            first(m)
            self._proceed(m, handler, 0)

        return begin

    def _may_begin(self, m: Machine, handler: Handler, node: Node) -> bool:
        """Whether the node runs, nothing keeps its handlers out, and the thread is free."""
        if not self.nodes.runs(m, node) or self.nodes.held(m, node):
            return False
        return handler.thread is None or m.memory[self.layout.index["frame", node, handler.thread]] is None

    def _receipts(self, handler: Handler, memory: tuple[Value, ...]) -> Iterator[Move]:
        (at, receivers), (sender, senders) = handler.names
        for a, b in itertools.product(all_of(senders), all_of(receivers)):
            slot = self.layout.index["link", handler.name, a, b]
            for message in self.messages.next(handler.name, memory[slot]):
                env = {at: b, sender: a, **dict(zip(handler.values, message.parts, strict=True))}
                effect = self._beginning(handler, env, self._received(slot, message, a, b))
                yield Move(handler.name, {at: b, sender: a}, effect)

    def _received(self, slot: int, message: Record, a: Node, b: Node) -> Effect:
        def received(m: Machine) -> None:
            if not self.nodes.connected(m, a, b):
                raise Blocked
            link = m.memory[slot]
            m.memory[slot] = self.messages.without(link, list(link).index(message))

        return received

    def _services(self, handler: Handler, memory: tuple[Value, ...]) -> Iterator[Move]:
        (at, callees), (sender, callers) = handler.names
        for a, b in itertools.product(all_of(callers), all_of(callees)):
            request = memory[self.calls.slot(handler.name, a, b)].request
            if request is not None:
                env = {at: b, sender: a, **dict(zip(handler.values, request.parts, strict=True))}
                yield Move(handler.name, {at: b, sender: a}, self._beginning(handler, env, self._taken(handler, a, b)))

    def _taken(self, handler: Handler, a: Node, b: Node) -> Effect:
        def taken(m: Machine) -> None:
            if not self.nodes.connected(m, a, b):
                raise Blocked
            self.calls.take(m, handler.name, a, b)

        return taken

    def _losses(self, handler: Handler) -> Iterator[Move]:
        lock = handler.name.removeprefix("lost_")
        for node in all_of(handler.names[0][1]):

            def noticed(m: Machine, node: Node = node) -> None:
                if not self.locks.is_lost(m, lock, node):
                    raise Blocked
                self.locks.notice(m, lock, node)

            env = {handler.at: node}
            yield Move(handler.name, env, self._beginning(handler, env, noticed))

    def restart(self, kind: str, node: Node) -> Move:
        """A node that is down comes up again, and does what the file says that it does then."""
        handler = self.by_name.get(f"restart {kind}")
        env = {"n" if handler is None else handler.at: node}

        def restarted(m: Machine) -> None:
            slot = self.layout.index["up", node]
            if m.memory[slot]:
                raise Blocked
            m.node, m.handler = node, f"restart {kind}"
            m.env.update(env)
            if handler is not None and not all(condition(m) for condition in handler.conditions):
                raise Blocked
            m.memory[slot] = True
            if handler is not None:
                self._proceed(m, handler, 0)

        return Move(f"restart {kind}", env, restarted)

    # ---- steps that go on ----

    def _continuations(self, node: Node, thread: str, frame: Frame) -> Iterator[Move]:
        handler = self.by_name[frame.handler]
        point = handler.program.point(frame.point)
        name, arguments = f"{frame.handler}.{frame.point}", {handler.at: node}
        yield Move(name, arguments, lambda m: self._go_on(m, handler, node, frame))
        if point.call is not None and point.call.each:
            site = point.call
            for callee in self.layout.nodes(self.layout.operations[site.operation].callee.text):

                def give_up(m: Machine, callee: Node = callee) -> None:
                    self._enter(m, handler, node, frame)
                    if callee not in m.local(site.targets):
                        raise Blocked
                    self.calls.give_up(m, site.operation, node, callee)

                yield Move(f"{name} fails", {**arguments, "callee": callee}, give_up)

    def _enter(self, m: Machine, handler: Handler, node: Node, frame: Frame) -> None:
        """Is at a point again. Errors: `Blocked` where the handler cannot go on."""
        assert handler.thread is not None
        m.node, m.handler = node, handler.name
        m.leaving = self.layout.index["frame", node, handler.thread]
        if not self.nodes.runs(m, node) or self.nodes.held(m, node):
            raise Blocked
        m.env.update(zip(handler.program.point(frame.point).locals, frame.values, strict=True))

    def _go_on(self, m: Machine, handler: Handler, node: Node, frame: Frame) -> None:
        self._enter(m, handler, node, frame)
        point = handler.program.point(frame.point)
        if not all(condition(m) for condition in point.conditions):
            raise Blocked
        if point.call is not None:
            self.calls.hear(m, point.call)
        self._proceed(m, handler, handler.program.points[frame.point] + 1)

    def _proceed(self, m: Machine, handler: Handler, begin: int) -> None:
        """Runs to the next point or the end, and leaves the handler there."""
        try:
            point = run(m, handler.program, begin, self.order)
        except Halted:
            return
        if handler.stops:
            frame = None
            if point is not None:
                values = tuple(m.env[key] for key in point.locals)
                frame = Frame(handler.name, point.name, point.holding, values)
            m.memory[self.layout.index["frame", m.node, handler.thread]] = frame
        if point is None and handler.role == "serve":
            self.calls.end_service(m, handler.name)

    # ---- services that are part of a step ----

    def _service(self, handler: Handler) -> Callable[[Machine, Node, Node, Record], None]:
        def serve(m: Machine, callee: Node, caller: Node, request: Record) -> None:
            needed = handler.thread is not None and callee != caller
            if needed and m.memory[self.layout.index["frame", callee, handler.thread]] is not None:
                raise Blocked
            m.env.update({handler.at: callee, handler.names[1][0]: caller})
            m.env.update(zip(handler.values, request.parts, strict=True))
            if not all(condition(m) for condition in handler.conditions):
                raise Blocked
            run(m, handler.program, 0, self.order, through=True)
            self.calls.end_service(m, handler.name)

        return serve
