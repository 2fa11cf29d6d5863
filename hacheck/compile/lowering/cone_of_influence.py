"""The part of a lowered system that the properties depend on: the cone of influence.

A slot is needed if a checked condition reads it, if it decides whether and how an outcome happens, or if it goes
into the new content of a slot that is needed. All others are dropped: no update writes them, and a branch whose sides
then do the same is no branch. What is left does step by step what the whole system does, seen through the slots that
are left: the same instances are possible, and the same steps are cut or are errors of the spec.

A step that changes only what is dropped is a step from a state to itself. It still counts as a step, and fairly taken
it is taken; but for a deadlock it would be no way out. Where deadlocks are looked for, slots are kept so that a step
that changes something does so visibly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from hacheck.compile.lowering.blocks import Block, Branch, Emit, Instance, Lowered, Merge, SetTemp, Stopped, Update
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.layout import Cell, Flagged, Group, Layout, Place, Series, arranged, slots_of
from hacheck.model.types import Bag


def relevant(lowered: Lowered, roots: Iterable[Node], unblocking: frozenset[int] | None = None) -> Lowered:
    """The system without the slots that `roots` (conditions over states or steps) do not depend on; the numbers of
    slots stay. A slot that is dropped takes no bits and is said to be always 0, so nothing may read it any more:
    conditions lowered later must read what `roots` read. `unblocking`: the actions by which a state is no deadlock, if
    deadlocks are looked for. Cost: some passes over the lowered form."""
    cone = _Cone(lowered, unblocking)
    cone.need(roots)
    blocks = cone.close()
    slots = lowered.layout.slots
    dropped = [index for index, slot in enumerate(slots) if slot.fixed is None and index not in cone.slots]
    if not dropped:
        return lowered
    left = list(slots)
    for index in dropped:
        left[index] = replace(slots[index], width=0, fixed=0)
    order = sorted(range(len(slots)), key=lambda index: slots[index].offset)
    layout = arranged(Layout(tuple(left), lowered.layout.places), order)
    instances = tuple(replace(instance, block=block) for instance, block in zip(lowered.instances, blocks, strict=True))
    return replace(lowered, layout=layout, instances=instances)


def dropped_slots(before: Lowered, after: Lowered) -> tuple[int, ...]:
    """The slots that `relevant` dropped."""
    pairs = zip(before.layout.slots, after.layout.slots, strict=True)
    return tuple(index for index, (old, new) in enumerate(pairs) if old.fixed is None and new.fixed is not None)


class _Cone:
    """What is needed so far: slots, temporaries (merges among them, for the slots they set)."""

    def __init__(self, lowered: Lowered, unblocking: frozenset[int] | None) -> None:
        self.lowered, self.unblocking = lowered, unblocking
        self.with_it = {slot: more for place in lowered.layout.places for slot, more in _with_it(place, ())}
        self.slots: set[int] = set()
        self.temps: set[int] = set()
        self.seen: set[Node] = set()

    def need(self, roots: Iterable[Node]) -> None:
        """Everything that these expressions read is needed."""
        stack = [root for root in roots if root not in self.seen]
        while stack:
            node = stack.pop()
            if node in self.seen:
                continue
            self.seen.add(node)
            match node.operator:
                case "slot" | "after":
                    self.keep(node.number)
                case "part":
                    self.keep(node.detail)
                case "temp":
                    self.temps.add(node.number)
                case _:
                    stack += node.operands

    def keep(self, slot: int) -> None:
        """A slot is needed, and those without which nobody knows what it holds."""
        if slot not in self.slots:
            self.slots.add(slot)
            for other in self.with_it.get(slot, ()):
                self.keep(other)

    def close(self) -> list[Block]:
        """Needs what is needed for what is needed, until that is all. What is left of each instance's block."""
        instances = self.lowered.instances
        for instance in instances:
            self.need(instance.guard)
        writes = [_writes(instance.block) for instance in instances]
        seen: list[tuple[set[int], set[int]] | None] = [None] * len(instances)
        blocks: list[Block] = [()] * len(instances)
        changed = True
        while changed:
            changed = False
            for number, (instance, (slots, temps)) in enumerate(zip(instances, writes, strict=True)):
                needed = slots & self.slots, temps & self.temps
                if seen[number] != needed:  # what is left of it depends on nothing else
                    seen[number], changed = needed, True
                    blocks[number] = self.instance(instance)
        return blocks

    def instance(self, instance: Instance) -> Block:
        block = self.left_of(instance.block)
        if self.unblocking is not None and instance.action in self.unblocking:
            self.show_changes(instance.block)
        self.need_all(block)
        return block

    def left_of(self, block: Block) -> Block:
        """The block without what is not needed so far."""
        result: Block = ()
        for statement in block:
            match statement:
                case Emit(updates):
                    result += (Emit(self.inside_cone(updates)),)
                case Merge(merge, parts):
                    inside_cone = self.inside_cone(parts)
                    result += (Merge(merge, inside_cone),) if inside_cone else ()
                case SetTemp(temp, _):
                    result += (statement,) if temp in self.temps else ()
                case Branch(condition, then, otherwise):
                    sides = self.left_of(then), self.left_of(otherwise)
                    result += sides[0] if sides[0] == sides[1] else (Branch(condition, *sides),)
                case Stopped():
                    result += (statement,)
        return result

    def inside_cone(self, updates: tuple[Update, ...]) -> tuple[Update, ...]:
        if all(update.slot in self.slots for update in updates):
            return updates
        return tuple(update for update in updates if update.slot in self.slots)

    def need_all(self, block: Block) -> None:
        """What the statements read is needed."""
        for statement in block:
            match statement:
                case Emit(updates) | Merge(_, updates):
                    self.need(update.value for update in updates)
                case SetTemp(_, value):
                    self.need((value,))
                case Branch(condition, then, otherwise):
                    self.need((condition,))
                    self.need_all(then)
                    self.need_all(otherwise)
                case Stopped():
                    pass

    def show_changes(self, block: Block) -> None:
        """Keeps what steps change, where nothing else that they certainly change is kept."""
        for statement in block:
            match statement:
                case Emit(updates):
                    if not any(update.slot in self.slots and certainly_changes(update) for update in updates):
                        for update in updates:
                            self.keep(update.slot)
                case Branch(_, then, otherwise):
                    self.show_changes(then)
                    self.show_changes(otherwise)
                case _:
                    pass


def _with_it(place: Place, above: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """For each slot of a place, which others are kept with it: the flags and lengths that say whether it is there, and
    of a bag everything, because its order is that of whole elements. `above`: those of the places it is in."""
    match place:
        case Cell(_, slot):
            if slot is not None:
                yield slot, above
        case Flagged(_, flag, inner):
            yield flag, above
            yield from _with_it(inner, (*above, flag))
        case Group(_, items):
            for item in items:
                yield from _with_it(item, above)
        case Series(Bag(), _, _):
            slots = tuple(slots_of(place))
            for slot in slots:
                yield slot, (*above, *slots)
        case Series(_, length, items):
            if length is not None:
                yield length, above
                for item in items:
                    yield from _with_it(item, (*above, length))
        case _:
            raise AssertionError(f"no such place: {place}")


def _writes(block: Block) -> tuple[set[int], set[int]]:
    """The slots that a block gives a content, in the state after the step or in a merge; and its temporaries."""
    slots: set[int] = set()
    temps: set[int] = set()
    waiting = [block]
    while waiting:
        for statement in waiting.pop():
            match statement:
                case Emit(updates) | Merge(_, updates):
                    slots.update(update.slot for update in updates)
                case SetTemp(temp, _):
                    temps.add(temp)
                case Branch(_, then, otherwise):
                    waiting += (then, otherwise)
                case Stopped():
                    pass
    return slots, temps


def certainly_changes(update: Update) -> bool:
    """Whether an update gives its slot another content than it had, in every state in which it is made."""
    value = update.value
    if value.is_const:
        return update.was is not None and update.was != value.number
    if value.operator != "add" or not value.operands[1].is_const:
        return False
    return value.operands[0].operator == "slot" and value.operands[0].number == update.slot
