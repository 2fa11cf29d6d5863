"""Builds the scalar expressions of the lowered form: hash-consed, folded as they are built.

Equal expressions are the same object, so a later pass may compare nodes by identity and print a shared one once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from hacheck.compile.lowering.expression_nodes import Node, Operator

_Key: TypeAlias = tuple[str, tuple[Node, ...], int, int]


class Graph:
    """Builds nodes, each distinct expression once. Constants, the most frequent, have a table of their own."""

    def __init__(self) -> None:
        self._table: dict[_Key, Node] = {}
        self._consts: dict[int, Node] = {}
        self._opposites: dict[Node, Node] = {}
        self.zero = self.const(0)
        self.one = self.const(1)

    def make(
        self,
        operator: Operator,
        operands: tuple[Node, ...],
        low: int,
        high: int,
        number: int = 0,
        detail: int = 0,
    ) -> Node:
        """The node with these parts, without folding. Two nodes that differ in their interval only are one."""
        is_const = operator == "const"
        if low == high and not is_const:
            return self.const(low)
        key = (operator, operands, number, detail)
        node = self._table.get(key)
        if node is None:
            is_truth = low >= 0 and high <= 1
            node = Node(operator, operands, number, detail, low, high, len(self._table), is_const, is_truth)
            self._table[key] = node
        return node

    # ---- leaves ----

    def const(self, number: int) -> Node:
        """A number."""
        node = self._consts.get(number)
        if node is None:
            node = self._consts[number] = self.make("const", (), number, number, number)
        return node

    def slot(self, index: int, high: int) -> Node:
        """What a slot holds before the step."""
        return self.make("slot", (), 0, high, index)

    def after(self, index: int, high: int) -> Node:
        """What a slot holds after the step."""
        return self.make("after", (), 0, high, index)

    def temp(self, index: int, low: int, high: int) -> Node:
        """A temporary's value."""
        return self.make("temp", (), low, high, index)

    def part(self, merge: int, slot: int, low: int, high: int) -> Node:
        """What a merge gave a slot."""
        return self.make("part", (), low, high, merge, slot)

    # ---- arithmetic ----

    def add(self, left: Node, right: Node) -> Node:
        """Sum; a constant goes to the right."""
        if left.is_const:
            left, right = right, left
        if right.is_const:
            if left.is_const:
                return self.const(left.number + right.number)
            if right.number == 0:
                return left
            if left.operator == "add" and left.operands[1].is_const:
                return self.add(left.operands[0], self.const(left.operands[1].number + right.number))
        return self.make("add", (left, right), left.low + right.low, left.high + right.high)

    def plus(self, left: Node, number: int) -> Node:
        """Sum with a number."""
        return self.add(left, self.const(number)) if number else left

    def sub(self, left: Node, right: Node) -> Node:
        """Difference."""
        if right.is_const:
            return self.plus(left, -right.number)
        (left_base, left_more), (right_base, right_more) = _shifted(left), _shifted(right)
        if left_base is right_base:
            return self.const(left_more - right_more)
        return self.make("sub", (left, right), left.low - right.high, left.high - right.low)

    def mul(self, left: Node, right: Node) -> Node:
        """Product."""
        if left.is_const:
            left, right = right, left
        if right.is_const and right.number == 1:
            return left
        corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
        return self.make("mul", (left, right), min(corners), max(corners))

    def total(self, items: Iterable[Node]) -> Node:
        """Sum of any number of nodes."""
        result = self.zero
        for item in items:
            result = self.add(result, item)
        return result

    # ---- comparison ----

    def eq(self, left: Node, right: Node) -> Node:
        """Whether two numbers are equal."""
        if left is right:
            return self.one
        if left.high < right.low or right.high < left.low:
            return self.zero
        if left.is_const:
            left, right = right, left
        if not right.is_const:
            if _shifted(left)[0] is _shifted(right)[0]:
                return self.zero  # else they were one node
            if left.key > right.key:
                left, right = right, left
            return self.make("eq", (left, right), 0, 1)
        number = right.number
        if left.is_truth:
            return left if number else self.not_(left)
        if left.operator == "add" and left.operands[1].is_const:
            return self.eq(left.operands[0], self.const(number - left.operands[1].number))
        if left.operator == "select" and (left.operands[1].is_const or left.operands[2].is_const):
            condition, then, otherwise = left.operands
            return self.select(condition, self.eq(then, right), self.eq(otherwise, right))
        return self.make("eq", (left, right), 0, 1)

    def ne(self, left: Node, right: Node) -> Node:
        """Whether two numbers differ."""
        return self.not_(self.eq(left, right))

    def lt(self, left: Node, right: Node) -> Node:
        """Whether the left number is smaller; comparisons with a range's ends become (in)equalities."""
        if left is right or left.low >= right.high:
            return self.zero
        if left.high < right.low:
            return self.one
        if right.is_const:
            if left.operator == "add" and left.operands[1].is_const:
                return self.lt(left.operands[0], self.const(right.number - left.operands[1].number))
            if right.number == left.low + 1:
                return self.eq(left, self.const(left.low))
            if right.number == left.high:
                return self.ne(left, right)
        elif left.is_const:
            if right.operator == "add" and right.operands[1].is_const:
                return self.lt(self.const(left.number - right.operands[1].number), right.operands[0])
            if left.number == right.low:
                return self.ne(right, left)
            if left.number == right.high - 1:
                return self.eq(right, self.const(right.high))
        (left_base, left_more), (right_base, right_more) = _shifted(left), _shifted(right)
        if left_base is right_base:
            return self.const(int(left_more < right_more))
        return self.make("lt", (left, right), 0, 1)

    def le(self, left: Node, right: Node) -> Node:
        """Whether the left number is not greater."""
        return self.not_(self.lt(right, left))

    # ---- truth ----

    def not_(self, node: Node) -> Node:
        """The opposite."""
        found = self._opposites.get(node)
        if found is None:
            found = self._opposites[node] = self._opposite(node)
        return found

    def _opposite(self, node: Node) -> Node:
        match node.operator:
            case "const":
                return self.zero if node.number else self.one
            case "not":
                return node.operands[0]
            case "eq":
                return self.make("ne", node.operands, 0, 1)
            case "ne":
                return self.make("eq", node.operands, 0, 1)
            case "lt":
                return self.make("le", (node.operands[1], node.operands[0]), 0, 1)
            case "le":
                return self.make("lt", (node.operands[1], node.operands[0]), 0, 1)
            case _:
                return self.make("not", (node,), 0, 1)

    def all_of(self, items: Iterable[Node]) -> Node:
        """Whether all hold: flattened, without repetition, contradictions found."""
        return self._junction("and", items)

    def any_of(self, items: Iterable[Node]) -> Node:
        """Whether one holds at least."""
        return self._junction("or", items)

    def and_(self, *items: Node) -> Node:
        """Whether all hold."""
        return self._junction("and", items)

    def or_(self, *items: Node) -> Node:
        """Whether one holds at least."""
        return self._junction("or", items)

    def _junction(self, operator: Literal["and", "or"], items: Iterable[Node]) -> Node:
        neutral, decisive = (self.one, self.zero) if operator == "and" else (self.zero, self.one)
        kept: dict[Node, None] = {}
        for item in items:
            for part in item.operands if item.operator == operator else (item,):
                if part is decisive or (kept and self.not_(part) in kept):
                    return decisive
                if part is not neutral:
                    kept[part] = None
        if len(kept) > 1 and not _consistent(operator, kept):
            return decisive
        if not kept:
            return neutral
        if len(kept) == 1:
            return next(iter(kept))
        return self.make(operator, tuple(kept), 0, 1)

    def implies(self, left: Node, right: Node) -> Node:
        """Whether the right holds if the left does."""
        return self.or_(self.not_(left), right)

    # ---- choice ----

    def select(self, condition: Node, then: Node, otherwise: Node) -> Node:
        """One of two values; of truth values it becomes `and`, `or`."""
        if condition.is_const:
            return then if condition.number else otherwise
        if then is otherwise:
            return then
        if condition.operator in ("not", "ne", "le"):
            return self.select(self.not_(condition), otherwise, then)
        if then.is_truth and otherwise.is_truth and (then.is_const or otherwise.is_const):
            if then is self.one:
                return self.or_(condition, otherwise)
            if then is self.zero:
                return self.and_(self.not_(condition), otherwise)
            if otherwise is self.one:
                return self.or_(self.not_(condition), then)
            return self.and_(condition, then)
        if condition.operator == "eq":
            left, right = condition.operands
            if (then is right and otherwise is left) or (then is left and otherwise is right):
                return otherwise
        low, high = min(then.low, otherwise.low), max(then.high, otherwise.high)
        return self.make("select", (condition, then, otherwise), low, high)

    def pick(self, index: Node, options: tuple[Node, ...]) -> Node:
        """The option at an index from 0; what an index outside picks is not said (but is one of the options)."""
        if index.is_const:
            return options[min(max(index.number, 0), len(options) - 1)]
        if all(option is options[0] for option in options):
            return options[0]
        if len(options) == 2:
            return self.select(self.eq(index, self.zero), *options)
        low, high = min(option.low for option in options), max(option.high for option in options)
        return self.make("pick", (index, *options), low, high)

    # ---- bits; operands are never negative ----

    def bitand(self, left: Node, right: Node) -> Node:
        """The bits of both."""
        if left.is_const:
            left, right = right, left
        if left is right:
            return left
        if right.is_const:
            if left.is_const:
                return self.const(left.number & right.number)
            if right.number == 0:
                return right
            if ((1 << left.high.bit_length()) - 1) & ~right.number == 0:
                return left
        return self.make("bitand", (left, right), 0, min(left.high, right.high))

    def bitor(self, left: Node, right: Node) -> Node:
        """The bits of either."""
        if left.is_const:
            left, right = right, left
        if left is right:
            return left
        if right.is_const:
            if left.is_const:
                return self.const(left.number | right.number)
            if right.number == 0:
                return left
        return self.make("bitor", (left, right), max(left.low, right.low), _filled(left.high | right.high))

    def bitminus(self, left: Node, right: Node) -> Node:
        """The bits of the left that the right lacks."""
        if left is right:
            return self.zero
        if right.is_const:
            return self.bitand(left, self.const(_filled(left.high) & ~right.number))
        return self.make("bitminus", (left, right), 0, left.high)

    def shl(self, left: Node, right: Node) -> Node:
        """Moved up; the amount is made 0 when negative."""
        right = self.natural(right)
        if right is self.zero or left is self.zero:
            return left
        return self.make("shl", (left, right), left.low << right.low, left.high << right.high)

    def shr(self, left: Node, right: Node) -> Node:
        """Moved down; the amount is made 0 when negative."""
        right = self.natural(right)
        if right is self.zero or left is self.zero:
            return left
        return self.make("shr", (left, right), left.low >> right.high, left.high >> right.low)

    def bit(self, mask: Node, index: Node) -> Node:
        """Whether a bit is set; bits at negative places are not."""
        if index.high < 0:
            return self.zero
        if index.low < 0:
            return self.and_(self.not_(self.lt(index, self.zero)), self.bit(mask, self.natural(index)))
        if index.low >= mask.high.bit_length():
            return self.zero
        if mask.is_const and index.is_const:
            return self.const(mask.number >> index.number & 1)
        if mask.is_truth and index is self.zero:
            return mask
        if index.is_const and mask.operator == "bitor" and mask.operands[1].is_const:
            return self.or_(self.bit(mask.operands[1], index), self.bit(mask.operands[0], index))
        return self.make("bit", (mask, index), 0, 1)

    def popcount(self, node: Node) -> Node:
        """How many bits are set."""
        if node.is_const:
            return self.const(node.number.bit_count())
        if node.is_truth:
            return node
        return self.make("popcount", (node,), 0, node.high.bit_length())

    def lowest(self, node: Node) -> Node:
        """The index of the lowest set bit."""
        if node.is_const:
            return self.const(max((node.number & -node.number).bit_length() - 1, 0))
        return self.make("lowest", (node,), 0, max(node.high.bit_length() - 1, 0))

    def natural(self, node: Node) -> Node:
        """The number, or 0 when it is negative."""
        return node if node.low >= 0 else self.make("natural", (node,), 0, max(node.high, 0))


def _shifted(node: Node) -> tuple[Node, int]:
    """A node as another one and a number added to it."""
    if node.operator == "add" and node.operands[1].is_const:
        return node.operands[0], node.operands[1].number
    return node, 0


def _filled(number: int) -> int:
    return (1 << number.bit_length()) - 1


def _consistent(operator: Literal["and", "or"], kept: dict[Node, None]) -> bool:
    """Drops what another part says already; whether the parts can all hold (for `or`: can all fail)."""
    same: Operator = "eq" if operator == "and" else "ne"
    other: Operator = "ne" if operator == "and" else "eq"
    known: dict[Node, int] = {}
    for part in kept:
        if part.operator == same and part.operands[1].is_const:
            number = part.operands[1].number
            if known.setdefault(part.operands[0], number) != number:
                return False
    if known:
        for part in list(kept):
            if part.operator == other and part.operands[1].is_const and part.operands[0] in known:
                if known[part.operands[0]] == part.operands[1].number:
                    return False
                del kept[part]
    return True
