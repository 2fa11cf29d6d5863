"""Scalar expressions of the lowered form as terms of SMT-LIB 2, over bit vectors and truth values.

A truth value is a `Bool`. A number that is never negative is a bit vector of just as many bits as its interval needs;
one that may be negative has a sign bit more. Operands are widened to the width of the result before anything is done
with them, so nothing wraps round: the interval of an expression holds wherever it is evaluated for a step. (Where it is
not, its value is cut to that width, and nobody reads it.)

**Source**: The SMT-LIB Standard, version 2.6, theories Core and FixedSizeBitVectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from math import comb

from hacheck.compile.lowering.expression_nodes import Node, reachable

_COMBINATIONS_MAX = 40  # above, "at least k of these bits" is a sum
_SIGNS = {"add": "bvadd", "sub": "bvsub", "mul": "bvmul", "bitand": "bvand", "bitor": "bvor"}


def width_of(node: Node) -> int:
    """The bits of a number's bit vector."""
    if node.low >= 0:
        return max(1, node.high.bit_length())
    return 1 + max(node.high.bit_length() if node.high > 0 else 0, (-node.low - 1).bit_length())


def sort_of(low: int, high: int) -> str:
    """The sort of numbers in an interval that begins at 0 or above."""
    return "Bool" if high <= 1 and low >= 0 else f"(_ BitVec {max(1, high.bit_length())})"


def number(value: int, width: int) -> str:
    """A number as a bit vector."""
    return f"(_ bv{value & (1 << width) - 1} {width})"


def negation(text: str) -> str:
    """The opposite of a formula."""
    return text[5:-1] if text.startswith("(not ") else f"(not {text})"


def junction(word: str, parts: Iterable[str]) -> str:
    """`and` or `or` of any number of formulas."""
    listed = list(parts)
    if not listed:
        return "true" if word == "and" else "false"
    return listed[0] if len(listed) == 1 else f"({word} {' '.join(listed)})"


class Terms:
    """Writes terms; what is used more than once is defined once, in `lines`, before it is used.

    `leaf`: the symbol of a slot before or after the step. `definitions`: what temporaries stand for.
    """

    def __init__(self, leaf: Callable[[Node], str], definitions: Mapping[int, Node]) -> None:
        self.leaf = leaf
        self.definitions = definitions
        self.lines: list[str] = []
        self._texts: dict[Node, str] = {}
        self._uses: Counter[Node] = Counter()

    def prepare(self, roots: Iterable[Node]) -> None:
        """Counts who uses what, so that what is shared gets a name. To be called with all roots before `text`."""
        listed = list(roots)
        self._uses.update(listed)
        waiting, seen = listed, set[Node]()
        while waiting:
            inner: list[Node] = []
            for node in reachable(waiting):
                if node in seen:
                    continue
                seen.add(node)
                self._uses.update(node.operands)
                if node.operator == "temp":
                    inner.append(self.definitions[node.number])
            waiting = inner

    def text(self, root: Node) -> str:
        """The term of a node: a formula for a truth value, else a bit vector of `width_of` bits."""
        found = self._texts.get(root)
        if found is not None:
            return found
        for node in reachable([root]):
            if node in self._texts:
                continue
            text = self._made(node)
            if text.startswith("(") and (self._uses[node] > 1 or len(text) > 400) and not text.startswith("(_ bv"):
                text = self._named(text, "Bool" if node.is_truth else f"(_ BitVec {width_of(node)})")
            self._texts[node] = text
        return self._texts[root]

    def _named(self, text: str, sort: str) -> str:
        name = f"d{len(self.lines)}"
        self.lines.append(f"(define-fun {name} () {sort} {text})")
        return name

    def symbol(self, node: Node) -> str:
        """The term of a node in a few characters, for where it is written several times."""
        text = self.text(node)
        if text.startswith("(") and not text.startswith("(_ bv"):
            text = self._named(text, "Bool" if node.is_truth else f"(_ BitVec {width_of(node)})")
            self._texts[node] = text
        return text

    def sized(self, node: Node, width: int) -> str:
        """The number as a bit vector of so many bits: widened by its sign, or its low bits."""
        if node.is_const:
            return number(node.number, width)
        if node.is_truth:
            return f"(ite {self.text(node)} {number(1, width)} {number(0, width)})"
        text, own = self.text(node), width_of(node)
        if own == width:
            return text
        if own > width:
            return f"((_ extract {width - 1} 0) {text})"
        extend = "zero_extend" if node.low >= 0 else "sign_extend"
        return f"((_ {extend} {width - own}) {text})"

    def _made(self, node: Node) -> str:
        operands = node.operands
        match node.operator:
            case "const":
                if node.is_truth:
                    return "true" if node.number else "false"
                return number(node.number, width_of(node))
            case "slot" | "after":
                return self.leaf(node)
            case "temp":
                return self._temporary(node)
            case "and" | "or":
                return junction(node.operator, [self.truth(operand) for operand in operands])
            case "not":
                return negation(self.truth(operands[0]))
            case "eq" | "ne" | "lt" | "le":
                return self._compared(node)
            case "select":
                return self._either(node, self.truth(operands[0]), operands[1], operands[2])
            case "pick":
                return self._picked(node)
            case "bit":
                return self._bit(*operands)
            case "popcount" | "lowest":
                return self._counted(node)
            case _:
                return self._calculated(node)

    def truth(self, node: Node) -> str:
        """Whether a number is not 0."""
        if node.is_truth:
            return self.text(node)
        return f"(not (= {self.text(node)} {number(0, width_of(node))}))"

    def _temporary(self, node: Node) -> str:
        value = self.definitions[node.number]
        if node.is_truth:
            wide = width_of(value)
            return self.text(value) if value.is_truth else f"(= {self.sized(value, wide)} {number(1, wide)})"
        return self.sized(value, width_of(node))

    def _either(self, node: Node, test: str, then: Node, otherwise: Node) -> str:
        if node.is_truth:
            return f"(ite {test} {self.text(then)} {self.text(otherwise)})"
        width = width_of(node)
        return f"(ite {test} {self.sized(then, width)} {self.sized(otherwise, width)})"

    def _compared(self, node: Node) -> str:
        left, right = node.operands
        if left.is_truth and right.is_truth and node.operator in ("eq", "ne"):
            text = f"(= {self.text(left)} {self.text(right)})"
            return text if node.operator == "eq" else negation(text)
        counted = self._at_least(node)
        if counted is not None:
            return counted
        signed = left.low < 0 or right.low < 0
        width = max(width_of(side) + (signed and side.low >= 0) for side in (left, right))
        sides = f"{self.sized(left, width)} {self.sized(right, width)}"
        match node.operator:
            case "eq":
                return f"(= {sides})"
            case "ne":
                return f"(not (= {sides}))"
            case "lt":
                return f"({'bvslt' if signed else 'bvult'} {sides})"
            case _:
                return f"({'bvsle' if signed else 'bvule'} {sides})"

    def _at_least(self, node: Node) -> str | None:
        """A comparison of a number of bits with a constant, as what bits there must be."""
        left, right = node.operands
        if node.operator not in ("lt", "le"):
            return None
        if left.is_const and right.operator == "popcount":
            least = left.number + (node.operator == "lt")
            return self._some(right.operands[0], least)
        if right.is_const and left.operator == "popcount":
            least = right.number + (node.operator == "le")
            text = self._some(left.operands[0], least)
            return None if text is None else negation(text)
        return None

    def _some(self, mask: Node, least: int) -> str | None:
        """Whether at least so many bits are set; nothing where that is long to say."""
        bits = self.bits(mask)
        if least <= 0 or least > len(bits):
            return "true" if least <= 0 else "false"
        if comb(len(bits), least) > _COMBINATIONS_MAX:
            return None
        return junction("or", [junction("and", some) for some in combinations(bits, least)])

    def bits(self, mask: Node) -> list[str]:
        """The bits of a number, the lowest first, as formulas."""
        if mask.is_truth:
            return [self.text(mask)]
        text = self.symbol(mask)
        return [f"(= ((_ extract {place} {place}) {text}) #b1)" for place in range(width_of(mask))]

    def _bit(self, mask: Node, index: Node) -> str:
        bits = self.bits(mask)
        if index.is_const:
            return bits[index.number] if index.number < len(bits) else "false"
        places = range(max(index.low, 0), min(index.high, len(bits) - 1) + 1)
        return junction("or", [f"(and {self._is(index, place)} {bits[place]})" for place in places])

    def _is(self, node: Node, value: int) -> str:
        if node.is_truth:
            return self.symbol(node) if value else negation(self.symbol(node))
        return f"(= {self.symbol(node)} {number(value, width_of(node))})"

    def _picked(self, node: Node) -> str:
        index, *options = node.operands
        low, high = max(index.low, 0), min(index.high, len(options) - 1)
        width = width_of(node)

        def shown(option: Node) -> str:
            return self.text(option) if node.is_truth else self.sized(option, width)

        text = shown(options[high])
        for place in range(high - 1, low - 1, -1):
            text = f"(ite {self._is(index, place)} {shown(options[place])} {text})"
        return text

    def _counted(self, node: Node) -> str:
        width, bits = width_of(node), self.bits(node.operands[0])
        if node.operator == "popcount":
            ones = [f"(ite {bit} {number(1, width)} {number(0, width)})" for bit in bits]
            return f"(bvadd {' '.join(ones)})"
        if node.is_truth:
            return f"(and {negation(bits[0])} {junction('or', bits[1:])})"
        text = number(0, width)
        for place in range(len(bits) - 1, -1, -1):
            text = f"(ite {bits[place]} {number(place, width)} {text})"
        return text

    def _calculated(self, node: Node) -> str:
        """Arithmetic. What comes out is a truth value only where the interval says 0 or 1."""
        width = width_of(node)
        text = self._sum(node, width)
        return f"(= {text} {number(1, width)})" if node.is_truth else text

    def _sum(self, node: Node, width: int) -> str:
        operands = node.operands
        match node.operator:
            case "natural":
                own = width_of(operands[0])
                self.symbol(operands[0])
                text = f"(ite (bvslt {self.sized(operands[0], own)} {number(0, own)}) {number(0, own)} "
                text += f"{self.sized(operands[0], own)})"
                return text if own == width else f"((_ extract {width - 1} 0) {text})"
            case "shr":
                wide = max(width_of(operand) for operand in operands)
                text = f"(bvlshr {self.sized(operands[0], wide)} {self.sized(operands[1], wide)})"
                return text if wide == width else f"((_ extract {width - 1} 0) {text})"
            case "shl":
                return f"(bvshl {self.sized(operands[0], width)} {self.sized(operands[1], width)})"
            case "bitminus":
                return f"(bvand {self.sized(operands[0], width)} (bvnot {self.sized(operands[1], width)}))"
            case "add" | "sub" | "mul" | "bitand" | "bitor":
                sides = " ".join(self.sized(operand, width) for operand in operands)
                return f"({_SIGNS[node.operator]} {sides})"
            case _:
                raise AssertionError(f"{node.operator} is no arithmetic")
