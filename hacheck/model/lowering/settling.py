"""What is known of a lowered system only as a whole: slots that never change, and where slots are best kept.

A slot that no instance ever gives another content than it has in all initial states is a constant. Putting it in may
make conditions constant, instances impossible, and so further slots constant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from hacheck.model.lowering.blocks import (
    Block,
    Branch,
    Emit,
    Instance,
    Lowered,
    Merge,
    SetTemp,
    Stopped,
    Update,
)
from hacheck.model.lowering.layout import Layout, arranged, contents
from hacheck.model.lowering.nodes import Node, reachable
from hacheck.model.lowering.path import branch
from hacheck.model.lowering.rewriting import rebuilt
from hacheck.model.runs import State

Rewrite = Callable[[Node], Node]


def settled(lowered: Lowered, initial: Sequence[State]) -> Lowered:
    """The system with its constant slots put in, and its slots in the order of how often guards test them."""
    start = [contents(lowered.layout, state) for state in initial]
    while True:
        changed = {update.slot for update in _updates(lowered) if not _keeps(lowered, update, start)}
        fixed = {
            slot: column[0]
            for slot, column in enumerate(zip(*start, strict=True))
            if slot not in changed and lowered.layout.slots[slot].fixed is None and len(set(column)) == 1
        }
        if not fixed:
            break
        lowered = _with_fixed(lowered, fixed)
    heat: Counter[int] = Counter()
    for instance in lowered.instances:
        heat.update(node.number for node in reachable(instance.guard) if node.operator == "slot")
    order = sorted(range(len(lowered.layout.slots)), key=lambda slot: (-heat[slot], slot))
    return replace(lowered, layout=arranged(lowered.layout, order))


def _keeps(lowered: Lowered, update: Update, start: list[list[int]]) -> bool:
    """Whether an update gives a slot what it has in every initial state."""
    before = lowered.graph.slot(update.slot, lowered.layout.slots[update.slot].high)
    return update.value is before or all(
        update.value.is_const and update.value.number == row[update.slot] for row in start
    )


def _updates(lowered: Lowered) -> Iterator[Update]:
    for instance in lowered.instances:
        yield from _updates_of(instance.block)


def _updates_of(block: Block) -> Iterator[Update]:
    for statement in block:
        match statement:
            case Emit(updates) | Merge(_, updates):
                yield from updates
            case Branch(_, then, otherwise):
                yield from _updates_of(then)
                yield from _updates_of(otherwise)
            case SetTemp() | Stopped():
                pass


def _with_fixed(lowered: Lowered, fixed: dict[int, int]) -> Lowered:
    graph = lowered.graph
    done: dict[Node, Node] = {}

    def rewrite(root: Node) -> Node:
        for node in reachable([root]):
            if node in done:
                continue
            operands = tuple(done[operand] for operand in node.operands)
            if node.operator in ("slot", "part") and _slot_of(node) in fixed:
                done[node] = graph.const(fixed[_slot_of(node)])
            else:
                done[node] = node if operands == node.operands else rebuilt(graph, node, operands)
        return done[root]

    slots = tuple(
        replace(slot, width=0, fixed=fixed[index]) if index in fixed else slot
        for index, slot in enumerate(lowered.layout.slots)
    )
    layout = Layout(slots, lowered.layout.places)
    rewritten = (_instance(lowered, instance, fixed, rewrite) for instance in lowered.instances)
    return replace(lowered, layout=layout, instances=tuple(instance for instance in rewritten if instance is not None))


def _slot_of(node: Node) -> int:
    return node.detail if node.operator == "part" else node.number


def _instance(lowered: Lowered, instance: Instance, fixed: dict[int, int], rewrite: Rewrite) -> Instance | None:
    guard = lowered.graph.all_of(rewrite(test) for test in instance.guard)
    block = _block(instance.block, fixed, rewrite)
    if guard is lowered.graph.zero or not block:
        return None
    tests = () if guard is lowered.graph.one else guard.operands if guard.operator == "and" else (guard,)
    return replace(instance, guard=tests, block=block)


def _block(block: Block, fixed: dict[int, int], rewrite: Rewrite) -> Block:
    result: Block = ()
    for statement in block:
        match statement:
            case Emit(updates):
                result += (Emit(_kept(updates, fixed, rewrite)),)
            case Merge(merge, parts):
                result += (Merge(merge, _kept(parts, fixed, rewrite)),)
            case SetTemp(temp, value):
                result += (SetTemp(temp, rewrite(value)),)
            case Branch(condition, then, otherwise):
                sides = _block(then, fixed, rewrite), _block(otherwise, fixed, rewrite)
                if any(sides):
                    result += branch(rewrite(condition), *sides)
            case Stopped():
                result += (statement,)
    return result


def _kept(updates: tuple[Update, ...], fixed: dict[int, int], rewrite: Rewrite) -> tuple[Update, ...]:
    return tuple(replace(update, value=rewrite(update.value)) for update in updates if update.slot not in fixed)
