"""What an expression can see while it is lowered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from hacheck.model.lowering.facts import Facts, assume, simplify
from hacheck.model.lowering.graph import Graph
from hacheck.model.lowering.layout import Place
from hacheck.model.lowering.nodes import Node
from hacheck.model.lowering.operations import Check
from hacheck.model.lowering.values import Sym
from hacheck.model.types import Type


@dataclass(frozen=True, slots=True)
class Scope:
    """The state, the locals and what is known where an expression stands.

    `fetch` gives a slot's content now, `fetch_old` before the step. `reached`: the condition, within the statement,
    under which control gets here. `checks` and `drawn` (identities given by `Fresh` in this statement: pool, identity,
    whether it was drawn) are shared by all scopes of a statement and grow in the order of evaluation.
    """

    graph: Graph
    places: Mapping[str, Place]
    fetch: Callable[[int], Node]
    fetch_old: Callable[[int], Node]
    locals: Mapping[str, tuple[Type, Sym]]
    facts: Facts
    reached: Node
    checks: list[Check] = field(default_factory=list)
    drawn: list[tuple[str, Node, Node]] = field(default_factory=list)

    def bind(self, name: str, kind: Type, value: Sym) -> Scope:
        """With one more local."""
        return self.changed({**self.locals, name: (kind, value)}, self.facts, self.reached)

    def where(self, condition: Node) -> Scope | None:
        """As seen where the condition holds; `None` when it cannot."""
        facts = assume(self.graph, self.facts, condition)
        if facts is None or condition is self.graph.zero:
            return None
        return self.changed(self.locals, facts, self.graph.and_(self.reached, condition))

    def changed(self, locals: Mapping[str, tuple[Type, Sym]], facts: Facts, reached: Node) -> Scope:
        """With other locals and knowledge. (`dataclasses.replace` is too slow for what is done this often.)"""
        return Scope(
            self.graph,
            self.places,
            self.fetch,
            self.fetch_old,
            locals,
            facts,
            reached,
            self.checks,
            self.drawn,
        )

    def known(self, node: Node) -> Node:
        """The node, or a simpler one that equals it here."""
        return simplify(self.graph, self.facts, node)

    def demand(self, check: Check) -> None:
        """Notes what may go wrong here."""
        condition = self.graph.and_(self.reached, self.known(check.condition))
        if condition is not self.graph.zero:
            self.checks.append(Check(condition, check.kind, check.text))

    def slot(self, index: int) -> Node:
        """A slot's content now, a constant where the facts fix it."""
        return self.known(self.fetch(index))
