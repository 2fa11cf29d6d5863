"""What each action instance can do, taken apart: for every outcome the condition and what it changes.

A block of the lowered form is run once with nothing known: a branch is followed both ways, and where branches meet
again, what they gave temporaries and merges is a choice between both. What is left reads slots before the step and
definitions, each made once; no order is left in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias, assert_never

from msgspec import Struct, field

from hacheck.compile.lowering.blocks import Block, Branch, Emit, Lowered, Merge, SetTemp, Stopped
from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.substitution import rebuilt
from hacheck.supervise.recursion_limit import room_for_nesting

Ended: TypeAlias = Literal["step", "bound", "error"]


class Outcome(Struct, frozen=True):
    """One way in which an instance ends. `instance`: by its index in `Lowered.instances`. `condition`: when it can
    end so; conditions of one instance overlap where it chooses. `updates`: of a step what slots then hold; the others
    keep their content. `text`: the bound that is reached, or what is wrong with the spec."""

    instance: int
    ended: Ended
    condition: Node
    updates: tuple[tuple[int, Node], ...] = ()
    text: str = ""


class Behaviour(Struct, frozen=True):
    """The outcomes of every instance, in their order. `definitions`: by temporary what it stands for, each made of
    slots and those before it."""

    lowered: Lowered
    outcomes: tuple[Outcome, ...]
    definitions: Mapping[int, Node]

    @property
    def steps(self) -> tuple[Outcome, ...]:
        """The outcomes that are steps."""
        return tuple(outcome for outcome in self.outcomes if outcome.ended == "step")


def behaviour(lowered: Lowered) -> Behaviour:
    """What a lowered system can do. Cost: proportional to its blocks."""
    definitions: dict[int, Node] = {}
    outcomes: list[Outcome] = []
    highs = [slot.high for slot in lowered.layout.slots]
    with room_for_nesting():
        for number, instance in enumerate(lowered.instances):
            ended = _Runner(lowered.graph, highs, definitions).block(instance.block, _Known())[1]
            guard = lowered.graph.all_of(instance.guard)
            for end in ended:
                condition = lowered.graph.and_(guard, end.condition)
                if condition is not lowered.graph.zero:
                    outcomes.append(Outcome(number, end.ended, condition, tuple(end.updates.items()), end.text))
    return Behaviour(lowered, tuple(outcomes), definitions)


_Place: TypeAlias = "tuple[int, int]"
"""A temporary (its number and -1), or what a merge gives a slot (number and slot)."""


class _Known(Struct, frozen=True):
    """What temporaries and merges hold here; `written`: expressions found with that."""

    values: dict[_Place, Node] = field(default_factory=dict)
    written: dict[Node, Node] = field(default_factory=dict)

    def with_value(self, place: _Place, value: Node) -> _Known:
        return _Known({**self.values, place: value})


class _End(Struct, frozen=True):
    """A way in which a block ends, seen from where the block begins."""

    ended: Ended
    condition: Node
    updates: Mapping[int, Node]
    text: str = ""


class _Runner(Struct, frozen=True):
    graph: Graph
    highs: Sequence[int]
    definitions: dict[int, Node]

    def block(self, block: Block, known: _Known) -> tuple[_Known, list[_End]]:
        """Runs a block: what is known at its end, and how it can end."""
        ends: list[_End] = []
        for statement in block:
            match statement:
                case Emit(updates):
                    new = {update.slot: self.expression(update.value, known) for update in updates}
                    ends.append(_End("step", self.graph.one, new))
                case Stopped(kind, text):
                    ends.append(_End(kind, self.graph.one, {}, text))
                case SetTemp(temp, value):
                    low, high = value.low, value.high
                    known = known.with_value((temp, -1), self.named(self.expression(value, known), low, high))
                case Merge(merge, parts):
                    for part in parts:
                        known = known.with_value((merge, part.slot), self.expression(part.value, known))
                case Branch(condition, then, otherwise):
                    test = self.expression(condition, known)
                    if test is self.graph.zero or test is self.graph.one:  # only what is reached sets what it reads
                        known, taken = self.block(then if test is self.graph.one else otherwise, known)
                        ends += taken
                        continue
                    first, ends_first = self.block(then, known)
                    second, ends_second = self.block(otherwise, known)
                    ends += self.joined_ends(test, ends_first, ends_second)
                    known = self.joined_values(test, first, second)
                case _:
                    assert_never(statement)
        return known, ends

    def joined_ends(self, test: Node, first: list[_End], second: list[_End]) -> list[_End]:
        """The ends of two branches. Only one branch is taken, so a step of one and a step of the other are one step
        that depends on the test; so are two cuts by one bound, and two errors."""
        ends: list[_End] = []
        others = list(second)
        for end in first:
            twin = next((one for one in others if (one.ended, one.text) == (end.ended, end.text)), None)
            if twin is None:
                ends.append(_End(end.ended, self.graph.and_(test, end.condition), end.updates, end.text))
                continue
            others.remove(twin)
            condition = self.graph.select(test, end.condition, twin.condition)
            ends.append(_End(end.ended, condition, self.both(test, end.updates, twin.updates), end.text))
        opposite = self.graph.not_(test)
        ends += (_End(end.ended, self.graph.and_(opposite, end.condition), end.updates, end.text) for end in others)
        return ends

    def both(self, test: Node, first: Mapping[int, Node], second: Mapping[int, Node]) -> dict[int, Node]:
        """What slots hold after one of two steps."""
        updates: dict[int, Node] = {}
        for slot in dict.fromkeys((*first, *second)):
            old = self.graph.slot(slot, self.highs[slot])
            value = self.graph.select(test, first.get(slot, old), second.get(slot, old))
            if value is not old:
                updates[slot] = value
        return updates

    def joined_values(self, test: Node, first: _Known, second: _Known) -> _Known:
        """What is known where two branches meet. What one of them did not set is not read after it."""
        if first.values is second.values:
            return first
        values = dict(first.values)
        for place, other in second.values.items():
            mine = values.get(place)
            if mine is None:
                values[place] = other
            elif mine is not other:
                value = self.graph.select(test, mine, other)
                values[place] = self.named(value, value.low, value.high)
        return _Known(values)

    def named(self, value: Node, low: int, high: int) -> Node:
        """A name for a value that is worth one."""
        plain = not value.operands or (value.operator == "not" and not value.operands[0].operands)
        if plain and value.low >= low and value.high <= high:
            return value
        number = -1 - len(self.definitions)
        self.definitions[number] = value
        return self.graph.temp(number, low, high)

    def expression(self, root: Node, known: _Known) -> Node:
        """An expression with what temporaries and merges hold put in."""
        found = known.written.get(root)
        if found is not None:
            return found
        if root.operator == "temp":
            new = self.narrowed(known.values[root.number, -1], root)
        elif root.operator == "part":
            new = self.narrowed(known.values[root.number, root.detail], root)
        elif not root.operands:
            new = root
        else:
            operands = tuple([self.expression(operand, known) for operand in root.operands])
            new = root if operands == root.operands else rebuilt(self.graph, root, operands)
        known.written[root] = new
        return new

    def narrowed(self, value: Node, reader: Node) -> Node:
        """A value where it is read: there it is known to lie in the reader's interval, or the way here is not taken."""
        if value.low >= reader.low and value.high <= reader.high:
            return value
        return self.named(value, max(value.low, reader.low), min(value.high, reader.high))


def reads(roots: Iterable[Node], definitions: Mapping[int, Node]) -> frozenset[int]:
    """The slots before the step that expressions depend on."""
    found: set[int] = set()
    seen: set[Node] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.operator == "slot":
            found.add(node.number)
        elif node.operator == "temp":
            waiting.append(definitions[node.number])
        waiting += node.operands
    return frozenset(found)
