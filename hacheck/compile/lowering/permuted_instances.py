"""Whether exchanging two members maps the lowered instances of an action onto themselves.

The text of an action may order members where nothing comes of it: a link between two nodes is cut once, for `a < b`,
and the two are cut off from each other in both. Lowered, the instance for the exchanged pair is another spelling of one
that is there. Instances are compared in a normal form, without regard to the order of operands, tests and updates;
where that is not enough to see that they are equal, they are taken to differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Literal, TypeAlias

from hacheck.compile.lowering.blocks import Block, Branch, Emit, Instance, Lowered, Stopped, Update
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.permuted_slots import Crossing, Exchange, Renaming

Role: TypeAlias = Literal["number", "member", "set"]
"""What a value is to the exchange: a number it leaves alone, a member or a set of members."""

_COMMUTATIVE = frozenset({"and", "or", "add", "mul", "eq", "ne", "bitand", "bitor"})


class _Unclear(Exception):
    """The value is used in a way that is not looked into here."""


def maps_onto_itself(lowered: Lowered, action: int, taken: Sequence[Exchange]) -> bool:
    """Whether each of the exchanges maps the instances of an action onto themselves. `False` also where it is not
    clear. Cost: the size of the instances for each exchange."""
    instances = [instance for instance in lowered.instances if instance.action == action]
    try:
        return all(_same(instances, one) for one in taken)
    except _Unclear:
        return False


def _same(instances: Sequence[Instance], taken: Exchange) -> bool:
    as_they_are, moved = _Normal(taken, moves=False), _Normal(taken, moves=True)
    return Counter(map(as_they_are.instance, instances)) == Counter(map(moved.instance, instances))


class _Normal:
    """Normal forms of instances, as they are or after the exchange."""

    def __init__(self, taken: Exchange, moves: bool) -> None:
        self.moves = moves
        self.goes = {slot: target for pair in taken.moved for slot, target in (pair, pair[::-1])}
        self.renamings: dict[int, Renaming] = {item.slot: item for item in taken.renamings}
        self.crossings: dict[int, Crossing] = {item.slot: item for item in taken.crossings}
        self.in_bags = {slot for bag in taken.bags for row in bag.items for slot in row}
        self.done: dict[tuple[Node, Role, int, int], Hashable] = {}

    def instance(self, instance: Instance) -> Hashable:
        return frozenset(self.value(test) for test in instance.guard), self.block(instance.block)

    def block(self, block: Block) -> Hashable:
        return frozenset(Counter(self.statement(statement) for statement in block).items())

    def statement(self, statement: object) -> Hashable:
        match statement:
            case Branch(condition, then, otherwise):
                return self.value(condition), self.block(then), self.block(otherwise)
            case Emit(updates):
                return "step", frozenset(self.update(update) for update in updates)
            case Stopped("bound", text):
                return "bound", text
            case Stopped():
                return "error"
            case _:
                raise _Unclear

    def update(self, update: Update) -> Hashable:
        role = self.role(update.slot)
        return self.slot(update.slot), self.value(update.value, role, self.example(update.slot))

    def role(self, slot: int) -> Role:
        if slot in self.in_bags:
            raise _Unclear
        return "member" if slot in self.renamings else "set" if slot in self.crossings else "number"

    def example(self, slot: int) -> Renaming | Crossing | None:
        """How contents of such a slot change."""
        return self.renamings.get(slot) or self.crossings.get(slot)

    def slot(self, slot: int) -> int:
        return self.goes.get(slot, slot) if self.moves else slot

    def value(self, node: Node, role: Role = "number", like: Renaming | Crossing | None = None) -> Hashable:
        """The normal form of an expression whose value has a role; `like` says what becomes of constants in it."""
        if node.operator == "const":
            return self.const(node.number, like)
        key = (node, role, -1, -1) if like is None else (node, role, like.first, like.second)
        if key not in self.done:
            self.done[key] = self.compound(node, role, like)
        return self.done[key]

    def const(self, number: int, like: Renaming | Crossing | None) -> Hashable:
        if isinstance(like, Renaming) and like.presence:
            raise _Unclear  # 0 may be a member here, or nothing
        if not self.moves or like is None:
            return number
        if isinstance(like, Renaming):
            return {like.first: like.second, like.second: like.first}.get(number, number)
        differ = (number >> like.first & 1) != (number >> like.second & 1)
        return number ^ (1 << like.first | 1 << like.second) if differ else number

    def compound(self, node: Node, role: Role, like: Renaming | Crossing | None) -> Hashable:
        operands = node.operands
        match node.operator:
            case "slot":
                if self.role(node.number) != role or not self.interchangeable(node.number, like):
                    raise _Unclear
                return "slot", self.slot(node.number)
            case "select":
                sides = (self.value(operand, role, like) for operand in operands[1:])
                return "select", self.value(operands[0]), *sides
            case "bitand" | "bitor" | "bitminus" if role == "set":
                ordered = tuple(self.value(operand, role, like) for operand in operands)
                return node.operator, ordered if node.operator == "bitminus" else frozenset(Counter(ordered).items())
            case _ if role != "number":
                raise _Unclear  # a member may be the number of a truth value, which is then no truth value
            case "eq" | "ne":
                found, side = self.found(operands)
                return node.operator, frozenset(self.value(operand, found, side) for operand in operands)
            case "bit" if operands[0].operator == "slot" and operands[0].number in self.crossings:
                return self.bit(operands[0].number, operands[1])
            case "popcount":
                found, side = self.found(operands)
                return "popcount", self.value(operands[0], found, side)
            case "temp" | "part" | "after":
                raise _Unclear
            case operator:
                parts = tuple(self.value(operand) for operand in operands)
                return operator, frozenset(Counter(parts).items()) if operator in _COMMUTATIVE else parts

    def interchangeable(self, slot: int, like: Renaming | Crossing | None) -> bool:
        """Whether contents of a slot change as those of another."""
        own = self.example(slot)
        if own is None or like is None:
            return own is None and like is None
        return type(own) is type(like) and (own.first, own.second) == (like.first, like.second)

    def found(self, operands: Sequence[Node]) -> tuple[Role, Renaming | Crossing | None]:
        """What values that are compared, or counted, are."""
        for operand in operands:
            if operand.operator == "slot":
                return self.role(operand.number), self.example(operand.number)
        return "number", None

    def bit(self, slot: int, place: Node) -> Hashable:
        """Whether a set has a member that is known."""
        if not place.is_const or slot in self.in_bags:
            raise _Unclear
        cross, number = self.crossings[slot], place.number
        if self.moves:
            number = {cross.first: cross.second, cross.second: cross.first}.get(number, number)
        return "bit", self.slot(slot), number
