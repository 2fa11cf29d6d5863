"""What an expression can see while it is lowered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct, field

from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.layout import Layout, Place
from hacheck.compile.lowering.operations import Check
from hacheck.compile.lowering.path_conditions import Facts, assume, simplify
from hacheck.compile.lowering.symbolic_values import Sym
from hacheck.model.types import Type


class Context(Struct, frozen=True):
    """What everything lowered shares. `temps` numbers temporaries and merges.

    Computed once and looked up again and again: `slots`, the contents of slots before the step; `constants`, the values
    of constant expressions, by the identity of these (the system holds them); `writes`, what assigning a constant sets,
    by the identity of the assignment and the keys in it; `parts`, what an index into a variable leads to, by the
    identity of the expression and the key. `None`: nowhere without a check.
    """

    graph: Graph
    layout: Layout
    places: Mapping[str, Place]
    temps: Iterator[int]
    slots: dict[int, Node] = field(default_factory=dict)
    constants: dict[int, Sym] = field(default_factory=dict)
    writes: dict[tuple[int, ...], Mapping[int, Node] | None] = field(default_factory=dict)
    parts: dict[tuple[int, int], tuple[Type, Place] | None] = field(default_factory=dict)

    def slot(self, index: int) -> Node:
        """A slot's content before the step."""
        found = self.slots.get(index)
        if found is None:
            slot = self.layout.slots[index]
            found = self.graph.slot(index, slot.high) if slot.fixed is None else self.graph.const(slot.fixed)
            self.slots[index] = found
        return found

    def after(self, index: int) -> Node:
        """A slot's content after the step."""
        slot = self.layout.slots[index]
        return self.graph.after(index, slot.high) if slot.fixed is None else self.graph.const(slot.fixed)


class Scope(Struct, frozen=True):
    """The state, the locals and what is known where an expression stands.

    `fetch` gives a slot's content now. `passed`: the conditions, within the statement, under which control gets here.
    `checks` and `drawn` (identities given by `Fresh` in this statement: pool, identity, whether it was drawn) are
    shared by all scopes of a statement and grow in the order of evaluation.
    """

    graph: Graph
    context: Context
    fetch: Callable[[int], Node]
    locals: Mapping[str, tuple[Type, Sym]]
    facts: Facts
    passed: tuple[Node, ...] = ()
    checks: list[Check] = []
    drawn: list[tuple[str, Node, Node]] = []

    def bind(self, name: str, kind: Type, value: Sym) -> Scope:
        """With one more local."""
        return self.changed({**self.locals, name: (kind, value)}, self.facts, self.passed)

    def where(self, condition: Node) -> Scope | None:
        """As seen where the condition holds; `None` when it cannot."""
        if condition.is_const:
            return self if condition.number else None
        facts = assume(self.graph, self.facts, condition)
        if facts is None:
            return None
        return self.changed(self.locals, facts, (*self.passed, condition))

    def changed(self, locals: Mapping[str, tuple[Type, Sym]], facts: Facts, passed: tuple[Node, ...]) -> Scope:
        """With other locals and knowledge. (`dataclasses.replace` is too slow for what is done this often.)"""
        return Scope(self.graph, self.context, self.fetch, locals, facts, passed, self.checks, self.drawn)

    def before(self) -> Scope:
        """Over the state before the step, where this statement has drawn no identity."""
        graph, context = self.graph, self.context
        return Scope(graph, context, context.slot, self.locals, self.facts, self.passed, self.checks)

    @property
    def reached(self) -> Node:
        """The condition, within the statement, under which control gets here."""
        return self.graph.all_of(self.passed)

    def known(self, node: Node) -> Node:
        """The node, or a simpler one that equals it here."""
        return node if node.is_const else simplify(self.graph, self.facts, node)

    def demand(self, check: Check) -> None:
        """Notes what may go wrong here."""
        known = self.known(check.condition)
        condition = known if known is self.graph.zero else self.graph.and_(self.reached, known)
        if condition is not self.graph.zero:
            self.checks.append(Check(condition, check.kind, check.text))

    def slot(self, index: int) -> Node:
        """A slot's content now, a constant where the facts fix it."""
        return self.known(self.fetch(index))
