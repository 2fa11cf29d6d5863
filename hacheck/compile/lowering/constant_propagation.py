"""What is known of a lowered system only as a whole: slots that never change, and where slots are best kept.

A slot that no instance ever gives another content than it has in all initial states is a constant. Putting it in may
make conditions constant, instances impossible, and so further slots constant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from hacheck.compile.lowering.blocks import (
    Block,
    Branch,
    Emit,
    Instance,
    Lowered,
    Merge,
    SetTemp,
    Statement,
    Stopped,
    Update,
)
from hacheck.compile.lowering.control_path import branch
from hacheck.compile.lowering.expression_nodes import Node, reachable
from hacheck.compile.lowering.layout import Layout, arranged, held
from hacheck.compile.lowering.substitution import rebuilt
from hacheck.model.runs import State

Rewrite = Callable[[Node], Node]


def propagate_constants(lowered: Lowered, initial: Sequence[State]) -> Lowered:
    """The system with its constant slots put in, and its slots in the order of how often guards test them."""
    start = held(lowered.layout, initial) if initial else [set[int]() for _ in lowered.layout.slots]
    while True:
        changed = _changed(lowered, start)
        fixed = {
            slot: next(iter(found))
            for slot, found in enumerate(start)
            if len(found) == 1 and slot not in changed and lowered.layout.slots[slot].fixed is None
        }
        if not fixed:
            break
        lowered = _with_fixed(lowered, fixed)
    heat: Counter[int] = Counter()
    for instance in lowered.instances:
        heat.update(node.number for node in reachable(instance.guard) if node.operator == "slot")
    order = sorted(range(len(lowered.layout.slots)), key=lambda slot: (-heat[slot], slot))
    return replace(lowered, layout=arranged(lowered.layout, order))


def _changed(lowered: Lowered, start: list[set[int]]) -> set[int]:
    """The slots that some update gives other content than they have in every initial state."""
    changed: set[int] = set()
    waiting = [instance.block for instance in lowered.instances]
    while waiting:
        for statement in waiting.pop():
            match statement:
                case Emit(updates) | Merge(_, updates):
                    for update in updates:
                        if update.slot not in changed and not _keeps(update, start[update.slot]):
                            changed.add(update.slot)
                case Branch(_, then, otherwise):
                    waiting += (then, otherwise)
                case SetTemp() | Stopped():
                    pass
    return changed


def _keeps(update: Update, start: set[int]) -> bool:
    """Whether an update leaves a slot as it is, or gives it what it has in every initial state."""
    value = update.value
    if value.operator == "slot":
        return value.number == update.slot
    return value.is_const and start == {value.number}


def _with_fixed(lowered: Lowered, fixed: dict[int, int]) -> Lowered:
    graph = lowered.graph
    done: dict[Node, Node] = {}

    def rewrite(root: Node) -> Node:
        found = done.get(root)
        if found is not None:
            return found
        if root.operator in ("slot", "part") and _slot_of(root) in fixed:
            new = graph.const(fixed[_slot_of(root)])
        else:
            operands = tuple([rewrite(operand) for operand in root.operands])
            new = root if operands == root.operands else rebuilt(graph, root, operands)
        done[root] = new
        return new

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
    result: list[Statement] = []
    for statement in block:
        match statement:
            case Emit(updates):
                result.append(Emit(_changing(updates, fixed, rewrite)))
            case Merge(merge, parts):
                result.append(Merge(merge, _changing(parts, fixed, rewrite)))
            case SetTemp(temp, value):
                result.append(SetTemp(temp, rewrite(value)))
            case Branch(condition, then, otherwise):
                sides = _block(then, fixed, rewrite), _block(otherwise, fixed, rewrite)
                if any(sides):
                    result += branch(rewrite(condition), *sides)
            case Stopped():
                result.append(statement)
    return tuple(result)


def _changing(updates: tuple[Update, ...], fixed: dict[int, int], rewrite: Rewrite) -> tuple[Update, ...]:
    kept = []
    for update in updates:
        if update.slot not in fixed:
            value = rewrite(update.value)
            kept.append(update if value is update.value else Update(update.slot, value, update.was))
    return tuple(kept)
