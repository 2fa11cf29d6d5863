"""The step conditions that a step may satisfy, with what is known of the step put in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct, field

from hacheck.compile.lowering.blocks import Emit, Lowered
from hacheck.compile.lowering.expression_nodes import Node, reachable
from hacheck.compile.lowering.substitution import replaced

Watched: TypeAlias = tuple[tuple[int, Node], ...]
"""Conditions with their numbers."""


class _Watch(Struct, frozen=True):
    """A step condition, the slots it reads after the step, and what it comes to where those are written."""

    condition: Node
    slots: frozenset[int]
    known: dict[tuple[tuple[int, int | None], ...], Node] = field(default_factory=dict)


class Watches:
    """Step conditions, by number. Cost: each is worked out once for each way in which steps write what it reads."""

    def __init__(self, lowered: Lowered, conditions: Sequence[Node]) -> None:
        self._graph, self._slots = lowered.graph, lowered.layout.slots
        self._watches = tuple(
            _Watch(condition, frozenset(node.number for node in reachable([condition]) if node.operator == "after"))
            for condition in conditions
        )

    def of(self, emit: Emit) -> Watched:
        """The conditions that the step may satisfy, each with its number."""
        found = []
        for number, watch in enumerate(self._watches):
            written = tuple(
                (update.slot, update.value.number if update.value.is_const else None)
                for update in emit.updates
                if update.slot in watch.slots
            )
            if written not in watch.known:
                watch.known[written] = self._worked_out(watch, dict(written))
            if watch.known[written] is not self._graph.zero:
                found.append((number, watch.known[written]))
        return tuple(found)

    def _worked_out(self, watch: _Watch, written: dict[int, int | None]) -> Node:
        def after(leaf: Node) -> Node:
            if leaf.operator != "after":
                return leaf
            if leaf.number not in written:
                return self._graph.slot(leaf.number, self._slots[leaf.number].high)
            content = written[leaf.number]
            return leaf if content is None else self._graph.const(content)

        return replaced(self._graph, watch.condition, after)
