"""Statements of the lowered form: what one action instance does, as a tree of branches over scalar expressions.

A block's statements run in order. An outcome is an `Emit` (a step), a `Stopped` (a bound reached, or an error of
the spec) or nothing at all (not enabled on that path); one run of a block may have several outcomes, one for each
choice. Expressions read the state before the step, so an outcome needs no undoing before the next one.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node, is_leaf
from hacheck.compile.lowering.layout import Layout
from hacheck.model.ir import System
from hacheck.model.types import Value


class Update(Struct, frozen=True):
    """A slot's new content; `was` is its content before the step where the path to here fixes it."""

    slot: int
    value: Node
    was: int | None

    @property
    def copied(self) -> Node | None:
        """The slot whose content is copied as it is."""
        return self.value if is_leaf(self.value) and self.value.operator != "part" else None

    @property
    def added(self) -> int | None:
        """The number that is added to the slot's own content."""
        if self.value.operator != "add" or not self.value.operands[1].is_const:
            return None
        base, number = self.value.operands
        return number.number if self._is_own(base) else None

    @property
    def joined(self) -> Node | None:
        """The bits that are joined to the slot's own."""
        if self.value.operator != "bitor":
            return None
        left, right = self.value.operands
        if self._is_own(left):
            return right
        return left if self._is_own(right) else None

    def _is_own(self, node: Node) -> bool:
        return node.operator == "slot" and node.number == self.slot


class Emit(Struct, frozen=True):
    """A step: every slot keeps its content but these."""

    updates: tuple[Update, ...]


class Stopped(Struct, frozen=True):
    """An outcome that is no step: the exploration's bound `text`, or the message of an error of the spec."""

    kind: Literal["bound", "error"]
    text: str


class Branch(Struct, frozen=True):
    """One of two blocks; an empty one has no outcome."""

    condition: Node
    then: Block
    otherwise: Block


class SetTemp(Struct, frozen=True):
    """Gives temporary `temp` a value."""

    temp: int
    value: Node


class Merge(Struct, frozen=True):
    """Where branches meet again: gives merge `merge` the content of these slots, which differs between them."""

    merge: int
    parts: tuple[Update, ...]


Statement: TypeAlias = Emit | Stopped | Branch | SetTemp | Merge
Block: TypeAlias = tuple[Statement, ...]


class Instance(Struct, frozen=True):
    """An action with its parameters fixed. `guard` are conditions without which it has no outcome at all, to be
    tested in any order before the block is run."""

    action: int
    arguments: tuple[Value, ...]
    guard: tuple[Node, ...]
    block: Block


class Lowered(Struct, frozen=True):
    """A system ready for code generation."""

    system: System
    layout: Layout
    graph: Graph
    instances: tuple[Instance, ...]


class SearchTarget(Struct, frozen=True):
    """A condition that a search looks for. `key`: under which a hit is kept; no two are equal.

    `state`: to be tested in every state found. `dead`: in the states that have no outcome of a non-blocking action.
    `step`: in every step; it reads slots before (`slot`) and after it (`after`).
    """

    key: str
    wanted: Node
    kind: Literal["state", "dead", "step"]
