"""Slots that keep the content of the initial states in every run, found by assuming so of all of them together.

`propagate_constants` drops a slot only if no update can change it by itself. Data that is passed around, from a message
to a node and on to the next message, is changed by updates, and still never becomes anything but what it was: here all
such slots are assumed to be constant at once, and those that some update gives other content are taken out, until none
is left to be taken out. What is left is constant (the greatest fixed point).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hacheck.compile.lowering.blocks import Block, Branch, Emit, Lowered, Merge, SetTemp, Stopped, Update
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.layout import held
from hacheck.compile.lowering.substitution import replaced
from hacheck.model.runs import State


def constant_slots(lowered: Lowered, initial: Sequence[State]) -> dict[int, int]:
    """The content of each slot that never has another. Cost: some passes over all updates."""
    start = held(lowered.layout, initial) if initial else [set[int]() for _ in lowered.layout.slots]
    assumed = {slot: next(iter(found)) for slot, found in enumerate(start) if len(found) == 1}
    updates = [update for instance in lowered.instances for update in _updates(instance.block)]
    while True:
        changed = {update.slot for update in updates if update.slot in assumed and not _keeps(lowered, update, assumed)}
        if not changed:
            return assumed
        assumed = {slot: content for slot, content in assumed.items() if slot not in changed}


def with_constants(lowered: Lowered, root: Node, constants: Mapping[int, int]) -> Node:
    """An expression, before a step or after it, with the content of constant slots put in."""

    def leaf(node: Node) -> Node:
        if node.operator not in ("slot", "after", "part"):
            return node
        slot = node.detail if node.operator == "part" else node.number
        return lowered.graph.const(constants[slot]) if slot in constants else node

    return replaced(lowered.graph, root, leaf)


def _keeps(lowered: Lowered, update: Update, assumed: Mapping[int, int]) -> bool:
    value = with_constants(lowered, update.value, assumed)
    return value.is_const and value.number == assumed[update.slot]


def _updates(block: Block) -> list[Update]:
    found: list[Update] = []
    for statement in block:
        match statement:
            case Emit(updates) | Merge(_, updates):
                found += updates
            case Branch(_, then, otherwise):
                found += (*_updates(then), *_updates(otherwise))
            case SetTemp() | Stopped():
                pass
    return found
