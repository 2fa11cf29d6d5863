"""Calls: requested, served, answered and given up, step by step or all in one.

Of each caller and callee of an operation a `Call` is kept: the request that is under way, whether it is being served,
the answer that is under way, and whether the caller waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from hacheck.model.direct.domains import Domain, stored
from hacheck.model.direct.functions import connected
from hacheck.model.direct.interfaces import BoundFailure, UnsupportedError
from hacheck.model.direct.layout import IDLE, Call, Layout
from hacheck.model.direct.machine import Blocked, Closure, Halted, Machine
from hacheck.model.direct.messages import checked
from hacheck.model.direct.nodes import Nodes
from hacheck.model.direct.values import Map, Node, Record, Value

CALLER, CALLEE = "caller'", "callee'"
"""Where `timeout when` finds the two."""


class Loss(Protocol):
    """A fault that loses requests and answers."""

    def possible(self, m: Machine) -> bool:
        """Whether it can happen now."""

    def count(self, m: Machine) -> None:
        """It happens once more."""


Service = Callable[[Machine, Node, Node, Record], None]
"""Runs the service of a request on a callee for a caller, as a part of the step under way. Errors: `Blocked`."""


class CallSite(Struct, frozen=True):
    """A `call` at which its handler waits. `targets`: the local that has its callees; `result`: where the answer
    goes."""

    operation: str
    each: bool
    targets: str
    result: str | None


class Calls:
    """The operations of a file. `times_out`: of each, when a caller may give up on a callee that would answer;
    `losses`: of each, the faults that lose it; `services`: what serves it; `at_once`: whether that is one step."""

    def __init__(self, layout: Layout, nodes: Nodes, times_out: dict[str, Closure]) -> None:
        self.layout = layout
        self.nodes = nodes
        self.times_out = times_out
        self.at_once = {
            name: one.atomic_when is not None and bool(layout.number(one.atomic_when))
            for name, one in layout.operations.items()
        }
        self.losses: dict[str, Sequence[Loss]] = {}
        self.services: dict[str, Service] = {}
        domains = layout.domains
        self._kinds: dict[str, tuple[Domain, ...]] = {}
        self._returns: dict[str, Domain | None] = {}
        for name, one in layout.operations.items():
            self._kinds[name] = tuple(domains.of(parameter.type) for parameter in one.parameters)
            self._returns[name] = None if one.returns is None else domains.of(one.returns)

    def slot(self, operation: str, caller: Node, callee: Node) -> int:
        """The slot of the `Call`."""
        return self.layout.index["call", operation, caller, callee]

    # ---- the caller's side, in steps ----

    def ask(self, m: Machine, operation: str, request: Record, targets: Sequence[Node]) -> None:
        """The requests are under way; to a node that is down or cut off they are lost at once."""
        caller = self.caller(m, operation)
        request = checked(request, self._kinds[operation])
        for callee in targets:
            slot = self.slot(operation, caller, callee)
            if m.memory[slot] != IDLE:
                raise BoundFailure(f"calls of {operation}")
            there = m.memory[self.layout.index["up", callee]] and connected(self.layout, m, caller, callee)
            m.memory[slot] = Call(request if there else None, waiting=True)

    def caller(self, m: Machine, operation: str) -> Node:
        """The node of the step, which calls. Errors: `UnsupportedError`."""
        if m.node is None:
            raise UnsupportedError(f"`{operation}` is called by no node")
        return m.node

    def hear(self, m: Machine, site: CallSite) -> None:
        """The caller goes on, with the answer or without. Errors: `Blocked` while it waits."""
        caller = self.caller(m, site.operation)
        targets = m.local(site.targets)
        if site.each:
            answers = {callee: self._answer_of(m, site.operation, caller, callee) for callee in targets}
            callees = self.layout.nodes(self.layout.operations[site.operation].callee.text)
            result: Value = Map(callees, tuple(answers.get(callee) for callee in callees))
        else:
            (callee,) = targets
            call: Call = m.memory[self.slot(site.operation, caller, callee)]
            outcomes = [True] if call.answer is not None else []
            if self.may_give_up(m, site.operation, caller, callee):
                outcomes.append(False)
            heard = m.pick(outcomes)
            self._stop_waiting(m, site.operation, caller, callee)
            result = call.answer if heard else None
        if site.result is not None:
            m.env[site.result] = result

    def _answer_of(self, m: Machine, operation: str, caller: Node, callee: Node) -> Value:
        call: Call = m.memory[self.slot(operation, caller, callee)]
        if call.waiting and call.answer is None:
            raise Blocked
        if not call.waiting:
            return None
        self._stop_waiting(m, operation, caller, callee)
        return call.answer

    def give_up(self, m: Machine, operation: str, caller: Node, callee: Node) -> None:
        """One of several callees fails. Errors: `Blocked` if there is no reason."""
        call: Call = m.memory[self.slot(operation, caller, callee)]
        if not call.waiting or not self.may_give_up(m, operation, caller, callee):
            raise Blocked
        self._stop_waiting(m, operation, caller, callee)

    def _stop_waiting(self, m: Machine, operation: str, caller: Node, callee: Node) -> None:
        slot = self.slot(operation, caller, callee)
        m.memory[slot] = m.memory[slot]._replace(waiting=False, answer=None)

    def may_give_up(self, m: Machine, operation: str, caller: Node, callee: Node) -> bool:
        """The callee is down, paused or cut off; the request or the answer is lost; or time is out."""
        call: Call = m.memory[self.slot(operation, caller, callee)]
        lost = call.request is None and not call.serving and call.answer is None
        return lost or not self._answers(m, caller, callee) or self._time_is_out(m, operation, caller, callee)

    def _answers(self, m: Machine, caller: Node, callee: Node) -> bool:
        there = callee == caller or self.nodes.runs(m, callee)
        return there and connected(self.layout, m, caller, callee) and connected(self.layout, m, callee, caller)

    def _time_is_out(self, m: Machine, operation: str, caller: Node, callee: Node) -> bool:
        if operation not in self.times_out:
            return False
        m.env[CALLER], m.env[CALLEE] = caller, callee
        return bool(self.times_out[operation](m))

    # ---- the callee's side ----

    def take(self, m: Machine, operation: str, caller: Node, callee: Node) -> None:
        """The service begins."""
        slot = self.slot(operation, caller, callee)
        m.memory[slot] = m.memory[slot]._replace(request=None, serving=True)

    def answer(self, m: Machine, operation: str, value: Value) -> None:
        """The service answers, once; an answer that nobody waits for, or over a cut link, is lost."""
        kind = self._returns[operation]
        value = True if kind is None else stored(kind, value, f"answer of {operation}")
        if m.reply is not None:
            m.reply[:] = m.reply or [value]
            return
        assert m.node is not None
        caller = self._served(m, operation, m.node)
        if caller is not None:
            slot = self.slot(operation, caller, m.node)
            arrives = m.memory[slot].waiting and connected(self.layout, m, m.node, caller)
            m.memory[slot] = m.memory[slot]._replace(serving=False, answer=value if arrives else None)

    def _served(self, m: Machine, operation: str, callee: Node) -> Node | None:
        callers = self.layout.nodes(self.layout.operations[operation].caller.text)
        return next((one for one in callers if m.memory[self.slot(operation, one, callee)].serving), None)

    def end_service(self, m: Machine, operation: str) -> None:
        """The handler has ended; what returns nothing is answered by that, any other call has failed."""
        if self._returns[operation] is None:
            self.answer(m, operation, True)
        elif m.reply is None:
            assert m.node is not None
            caller = self._served(m, operation, m.node)
            if caller is not None:
                slot = self.slot(operation, caller, m.node)
                m.memory[slot] = m.memory[slot]._replace(serving=False)

    # ---- all in one step ----

    def call_at_once(self, m: Machine, operation: str, request: Record, targets: Sequence[Node], each: bool) -> Value:
        """Request, service and answer as a part of the caller's step; the answer, or `None`."""
        caller = self.caller(m, operation)
        request = checked(request, self._kinds[operation])
        answers: dict[Node, Value] = {}
        for callee in targets:
            answers[callee] = self._at_once(m, operation, request, caller, callee)
            m.outer = (*m.outer, answers[callee])  # what has been answered is held while others answer
        if not each:
            return answers[targets[0]]
        callees = self.layout.nodes(self.layout.operations[operation].callee.text)
        return Map(callees, tuple(answers.get(callee) for callee in callees))

    def _at_once(self, m: Machine, operation: str, request: Record, caller: Node, callee: Node) -> Value:
        asks = connected(self.layout, m, caller, callee)
        there = (callee == caller or self.nodes.runs(m, callee)) and asks
        back = connected(self.layout, m, callee, caller)
        out = self._time_is_out(m, operation, caller, callee)
        losses = [loss for loss in self.losses.get(operation, ()) if loss.possible(m)]
        outcomes: list[tuple[str, Loss | None]] = []
        if there and back:
            outcomes.append(("answered", None))
        if there and (out or not back):
            outcomes.append(("unheard", None))
        if not there or not back or out:
            outcomes.append(("not done", None))
        if there and back and not out:  # what is explained without a loss is not counted as one
            outcomes.extend((outcome, loss) for loss in losses for outcome in ("not done", "unheard"))
        outcome, loss = m.pick(outcomes)
        if loss is not None:
            loss.count(m)
        if outcome == "not done":
            return None
        reply = self._serve(m, operation, request, caller, callee)
        if loss is not None and reply is None:
            raise Blocked  # there is no answer that could be lost
        if not m.memory[self.layout.index["up", caller]]:
            raise Halted
        if reply is not None and outcome == "answered" and not m.memory[self.layout.index["up", callee]]:
            return m.pick([reply, None])  # the service has halted its node after it answered
        return reply if outcome == "answered" else None

    def _serve(self, m: Machine, operation: str, request: Record, caller: Node, callee: Node) -> Value:
        if operation not in self.services or self.nodes.held(m, callee):
            raise Blocked
        kept = m.env, m.node, m.handler, m.outer, m.reply
        m.env, m.node, m.handler, m.outer, m.reply = {}, callee, operation, (*m.outer, m.reply), []
        try:
            self.services[operation](m, callee, caller, request)
        except Halted:
            pass  # the callee's step has ended, the caller's has not
        reply = m.reply
        m.env, m.node, m.handler, m.outer, m.reply = kept
        return reply[0] if reply else None
