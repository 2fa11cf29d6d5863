"""A path through an action while it is lowered, and the statements still to come on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from msgspec import Struct

from hacheck.compile.lowering.blocks import Block, Branch, Stopped
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.operations import Check
from hacheck.compile.lowering.path_conditions import Facts, assume, bounds, simplify
from hacheck.compile.lowering.scope import Context, Scope
from hacheck.compile.lowering.symbolic_values import Sym
from hacheck.model.ir import Statement
from hacheck.model.types import Type


class Path(Struct, frozen=True):
    """What was written (only slots that were), the locals, what is known, and into how many copies the rest of the
    action may still be split for the sake of speed."""

    slots: Mapping[int, Node] = {}
    locals: Mapping[str, tuple[Type, Sym]] = {}
    facts: Facts = {}
    budget: int = 1

    def scope(self, context: Context) -> Scope:
        """What an expression sees here."""
        slots = self.slots

        def fetch(index: int) -> Node:
            found = slots.get(index)
            return context.slot(index) if found is None else found

        return Scope(context.graph, context, fetch, self.locals, self.facts)

    def where(self, context: Context, condition: Node) -> Path | None:
        """The path on which a condition holds, or `None` when it cannot."""
        if condition.is_const:
            return self if condition.number else None
        facts = assume(context.graph, self.facts, condition)
        return None if facts is None else Path(self.slots, self.locals, facts, self.budget)

    def writing(self, slots: Mapping[int, Node]) -> Path:
        """The path with other contents of slots."""
        return Path(slots, self.locals, self.facts, self.budget)

    def binding(self, locals: Mapping[str, tuple[Type, Sym]]) -> Path:
        """The path with other locals."""
        return Path(self.slots, locals, self.facts, self.budget)

    def with_budget(self, budget: int) -> Path:
        """The path with another budget."""
        return Path(self.slots, self.locals, self.facts, budget)

    def interval(self, node: Node) -> tuple[int, int]:
        """Where a node's value lies on this path."""
        return bounds(self.facts, node)


class Turn(Struct, frozen=True):
    """One turn of a loop: the body with the variable bound, where the value is in the domain."""

    variable: str
    type: Type
    present: Node
    item: Sym
    body: tuple[Statement, ...]


class Leave(Struct, frozen=True):
    """The end of a block of statements: only these locals go on."""

    names: tuple[str, ...]


class End(Struct, frozen=True):
    """The end of what is lowered in one go."""

    close: Callable[[Path], Block]


Work: TypeAlias = "tuple[Statement | Turn | Leave | End, Work] | None"
"""What is still to be done, as a linked list, so that branches can share it."""


class Going(Struct, frozen=True):
    """A path that goes on as one, its work, and what is done before."""

    path: Path
    work: Work
    before: Block = ()


def push(statements: tuple[Statement | Turn | Leave | End, ...], rest: Work) -> Work:
    """Work that does the statements first."""
    for statement in reversed(statements):
        rest = (statement, rest)
    return rest


def at_end(work: Work) -> bool:
    """Whether only ends of blocks are left, so that nothing would be copied by splitting here."""
    while work is not None:
        if not isinstance(work[0], (Leave, End)):
            return False
        work = work[1]
    return True


def harmless(context: Context, path: Path, checks: list[Check]) -> bool:
    """Whether no check can end the step here."""
    zero = context.graph.zero
    return all(simplify(context.graph, path.facts, check.condition) is zero for check in checks)


def checked(context: Context, path: Path, checks: list[Check], go: Callable[[Path], Block]) -> Block:
    """A block that ends the step where a check says so and else goes on."""
    stops: list[tuple[Node, Stopped]] = []
    inner: Path | None = path
    for check in checks:
        assert inner is not None, "a path goes on"
        condition = simplify(context.graph, inner.facts, check.condition)
        if condition is context.graph.zero:
            continue
        stops.append((condition, Stopped(check.kind, check.text)))
        inner = inner.where(context, context.graph.not_(condition))
        if inner is None:
            break
    block: Block = () if inner is None else go(inner)
    for condition, stopped in reversed(stops):
        block = branch(condition, (stopped,), block)
    return block


def branch(condition: Node, then: Block, otherwise: Block) -> Block:
    """One of two blocks, folded where the condition is known or makes no difference."""
    if condition.is_const:
        return then if condition.number else otherwise
    if then == otherwise:
        return then
    return (Branch(condition, then, otherwise),)
