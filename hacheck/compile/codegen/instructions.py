"""Scalar expressions of the lowered form as LLVM instructions.

A truth value is an `i1`, what fits a signed 64-bit number an `i64`, and what is wider an `iN` of whole words. No
instruction has a flag that could make its result undefined, and shifts by more than the width are avoided, so an
expression may be evaluated wherever the temporaries in it are set. Tests of slots are made in the slot's place, and
several of one word are one test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from hacheck.compile.codegen.function_text import Code
from hacheck.compile.codegen.indexed_choice import picked
from hacheck.compile.codegen.integer_widths import literal, width_of
from hacheck.compile.codegen.module import FULL, Comparison, MaskTest, Module, signed, source_of
from hacheck.compile.codegen.word_layout import WORD_BITS
from hacheck.compile.lowering.expression_nodes import Node, is_leaf, is_test


class Values(Struct):
    """Evaluates nodes where the code stands. `bases`: the address of the state that a source's words are read from,
    where they are in memory."""

    module: Module
    code: Code
    bases: Mapping[int, str] = field(default_factory=dict)

    # ---- a node's value ----

    def value(self, node: Node) -> str:
        """The node's value, in its own type."""
        if node.operator == "const":
            return literal(node.number, width_of(node))
        found = self.code.known.get(node)
        if found is None:
            found = _COMPUTED[node.operator](self, node)
            if node.operator != "temp":
                self.code.learn(node, found)
        return found

    def number(self, node: Node, width: int = WORD_BITS) -> str:
        """The node's value in another type, which must be wide enough for it."""
        if node.operator == "const":
            return literal(node.number, width)
        own = width_of(node)
        if own == width:
            return self.value(node)
        key = (node, width)
        found = self.code.known.get(key)
        if found is None:
            if own == 1 and width == WORD_BITS and is_leaf(node):
                found = self.extracted(node)
            else:
                found = self.converted(self.value(node), own, width, node.low < 0)
            if node.operator != "temp":
                self.code.learn(key, found)
        return found

    def truth(self, node: Node) -> str:
        """Whether the node is not 0. (A truth value may have a wider interval.)"""
        width = width_of(node)
        name = self.value(node)
        return name if width == 1 else self.code.put(f"icmp ne i{width} {name}, 0")

    def converted(self, name: str, own: int, width: int, negative: bool = True) -> str:
        """A value in another type."""
        if own == width:
            return name
        if name in ("true", "false"):
            return str(int(name == "true"))
        if own > width:
            return self.code.put(f"trunc i{own} {name} to i{width}")
        return self.code.put(f"{'sext' if negative and own > 1 else 'zext'} i{own} {name} to i{width}")

    # ---- words ----

    def word(self, source: int, index: int) -> str:
        """A word of a state or of a merge."""
        if source >= 0:
            return self.code.read((source, index))
        key = (source, index)
        found = self.code.known.get(key)
        if found is None:
            address = self.bases[source]
            if index:
                address = self.code.put(f"getelementptr i64, ptr {address}, i64 {index}")
            found = self.code.learn(key, self.code.put(f"load i64, ptr {address}"))
        return found

    def masked(self, word: str, mask: int) -> str:
        """Some bits of a word, in their places."""
        return word if mask == FULL else self.code.put(f"and i64 {word}, {signed(mask)}")

    def extracted(self, leaf: Node) -> str:
        """What a slot holds, as a number of 64 bits, or of more where the slot is wide."""
        place = self.module.place(leaf)
        source = source_of(leaf)
        if place.words == 1 and place.mask != FULL:
            word = self.word(source, place.word)
            shifted = self.code.put(f"lshr i64 {word}, {place.shift}") if place.shift else word
            return shifted if place.shift + place.mask.bit_length() == WORD_BITS else self.masked(shifted, place.mask)
        width = WORD_BITS * place.words if width_of(leaf) <= WORD_BITS else width_of(leaf)
        whole = "0"
        for index in range(place.words):
            part = self.converted(self.word(source, place.word + index), WORD_BITS, width, negative=False)
            if index:
                part = self.code.put(f"shl i{width} {part}, {index * WORD_BITS}")
            whole = self.code.put(f"or i{width} {whole}, {part}") if index else part
        return self.converted(whole, width, max(WORD_BITS, width_of(leaf)))

    # ---- conditions ----

    def tested(self, test: MaskTest) -> str:
        """Whether bits of a word have a content."""
        return self.compared(test.comparison)

    def compared(self, comparison: Comparison) -> str:
        """Whether bits of a word compare so."""
        part = self.masked(self.word(comparison.source, comparison.word), comparison.mask)
        return self.code.put(f"icmp {comparison.predicate} i64 {part}, {signed(comparison.number)}")

    def conjunction(self, parts: Iterable[Node]) -> str:
        """Whether all parts hold; tests of bits of one word are one test."""
        tests: dict[tuple[int, int], tuple[int, int]] = {}
        others: list[Node] = []
        for part in parts:
            found = self.module.mask_test(part)
            if found is None:
                others.append(part)
                continue
            mask, content = tests.get((found.source, found.word), (0, 0))
            if (content ^ found.content) & mask & found.mask:
                return "false"
            tests[found.source, found.word] = mask | found.mask, content | found.content
        names = [self.tested(MaskTest(*key, *test)) for key, test in tests.items()]
        return self._junction("and", [*names, *map(self.truth, others)])

    def disjunction(self, parts: Iterable[Node]) -> str:
        """Whether one part holds; tests whether one of some bits of a word is set, or is not, are one test."""
        some: dict[tuple[int, int], int] = {}
        lacking: dict[tuple[int, int], int] = {}
        others: list[Node] = []
        for part in parts:
            found = self.module.mask_test(part)
            if found is not None and found.mask & found.mask - 1 == 0:
                chosen = some if found.content else lacking
                key = found.source, found.word
                chosen[key] = chosen.get(key, 0) | found.mask
            elif found is None and part.operator == "ne" and is_test(part) and part.operands[1].number == 0:
                place = self.module.place(part.operands[0])
                if place.words > 1:
                    others.append(part)
                    continue
                key = source_of(part.operands[0]), place.word
                some[key] = some.get(key, 0) | place.mask << place.shift
            else:
                others.append(part)
        names = []
        for group, content in ((some, False), (lacking, True)):
            for key, mask in group.items():
                word = self.masked(self.word(*key), mask)
                names.append(self.code.put(f"icmp ne i64 {word}, {signed(mask) if content else 0}"))
        return self._junction("or", [*names, *map(self.truth, others)])

    def _junction(self, operator: str, names: Sequence[str]) -> str:
        result = names[0]
        for name in names[1:]:
            result = self.code.put(f"{operator} i1 {result}, {name}")
        return result


# ---- how each operator is computed ----


def _leaf(values: Values, node: Node) -> str:
    if width_of(node) > 1:
        return values.extracted(node)
    place = values.module.place(node)
    if place.words > 1:
        return values.converted(values.extracted(node), WORD_BITS, 1)
    part = values.masked(values.word(source_of(node), place.word), place.mask << place.shift)
    return values.code.put(f"icmp ne i64 {part}, 0")


def _temp(values: Values, node: Node) -> str:
    kind = values.code.kinds[node.number]
    return values.converted(values.code.read(node.number), int(kind[1:]), width_of(node))


def _arithmetic(values: Values, node: Node) -> str:
    width = max(WORD_BITS, width_of(node), *map(width_of, node.operands))
    left, right = (values.number(operand, width) for operand in node.operands)
    return values.converted(values.code.put(f"{node.operator} i{width} {left}, {right}"), width, width_of(node))


def _natural(values: Values, node: Node) -> str:
    width = max(WORD_BITS, width_of(node.operands[0]))
    inner = values.number(node.operands[0], width)
    positive = values.code.put(f"icmp sgt i{width} {inner}, 0")
    result = values.code.put(f"select i1 {positive}, i{width} {inner}, i{width} 0")
    return values.converted(result, width, width_of(node))


_SIGNED: Final = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle"}


def _compared(values: Values, node: Node) -> str:
    test = values.module.mask_test(node)
    if test is not None:
        return values.tested(test)
    comparison = values.module.comparison(node)
    if comparison is not None and not any(operand in values.code.known for operand in node.operands):
        return values.compared(comparison)
    width = max(map(width_of, node.operands))
    if width == 1 and node.operator in ("lt", "le"):
        width = WORD_BITS
    left, right = (values.number(operand, width) for operand in node.operands)
    return values.code.put(f"icmp {_SIGNED[node.operator]} i{width} {left}, {right}")


def _and(values: Values, node: Node) -> str:
    return values.conjunction(node.operands)


def _or(values: Values, node: Node) -> str:
    return values.disjunction(node.operands)


def _not(values: Values, node: Node) -> str:
    test = values.module.mask_test(node)
    if test is not None:
        return values.tested(test)
    return values.code.put(f"xor i1 {values.truth(node.operands[0])}, true")


def _select(values: Values, node: Node) -> str:
    width = width_of(node)
    condition, then, otherwise = node.operands
    test = values.truth(condition)
    sides = f"i{width} {values.number(then, width)}, i{width} {values.number(otherwise, width)}"
    return values.code.put(f"select i1 {test}, {sides}")


def _bitwise(values: Values, node: Node) -> str:
    width = max(width_of(node), *map(width_of, node.operands))
    left, right = (values.number(operand, width) for operand in node.operands)
    if node.operator == "bitminus":
        right = values.code.put(f"xor i{width} {right}, {literal(-1, width)}")
    operator = "or" if node.operator == "bitor" else "and"
    return values.converted(values.code.put(f"{operator} i{width} {left}, {right}"), width, width_of(node))


def _shifted(values: Values, node: Node) -> str:
    amount = node.operands[1]
    width = max(WORD_BITS, width_of(node), *map(width_of, node.operands))
    name = values.number(node.operands[0], width)
    operator = "shl" if node.operator == "shl" else "lshr"
    result = _shift(values, operator, name, amount, width)
    return values.converted(result, width, width_of(node))


def _shift(values: Values, operator: str, name: str, amount: Node, width: int) -> str:
    """A shift, giving 0 where it is by the width or more."""
    by = values.number(amount, width)
    if amount.high < width:
        return values.code.put(f"{operator} i{width} {name}, {by}")
    fits = values.code.put(f"icmp ult i{width} {by}, {width}")
    safe = values.code.put(f"select i1 {fits}, i{width} {by}, i{width} 0")
    moved = values.code.put(f"{operator} i{width} {name}, {safe}")
    return values.code.put(f"select i1 {fits}, i{width} {moved}, i{width} 0")


def _bit(values: Values, node: Node) -> str:
    test = values.module.mask_test(node)
    if test is not None:
        return values.tested(test)
    width = max(WORD_BITS, *map(width_of, node.operands))
    name = values.number(node.operands[0], width)
    return values.code.put(f"trunc i{width} {_shift(values, 'lshr', name, node.operands[1], width)} to i1")


def _popcount(values: Values, node: Node) -> str:
    operand = node.operands[0]
    width = max(WORD_BITS, width_of(operand))
    counted = values.module.intrinsic(f"llvm.ctpop.i{width}", f"i{width}", f"i{width}")
    if is_leaf(operand) and values.module.place(operand).words == 1 and operand not in values.code.known:
        place = values.module.place(operand)
        name = values.masked(values.word(source_of(operand), place.word), place.mask << place.shift)
        counted, width = values.module.intrinsic("llvm.ctpop.i64", "i64", "i64"), WORD_BITS
    else:
        name = values.number(operand, width)
    return values.converted(values.code.put(f"call i{width} {counted}(i{width} {name})"), width, width_of(node))


def _lowest(values: Values, node: Node) -> str:
    operand = node.operands[0]
    width = max(WORD_BITS, width_of(operand))
    name = values.number(operand, width)
    trailing = values.module.intrinsic(f"llvm.cttz.i{width}", f"i{width}", f"i{width}, i1")
    counted = values.code.put(f"call i{width} {trailing}(i{width} {name}, i1 false)")
    empty = values.code.put(f"icmp eq i{width} {name}, 0")
    result = values.code.put(f"select i1 {empty}, i{width} 0, i{width} {counted}")
    return values.converted(result, width, width_of(node))


_COMPUTED: Final[Mapping[str, Callable[[Values, Node], str]]] = {
    **dict.fromkeys(("slot", "after", "part"), _leaf),
    **dict.fromkeys(("add", "sub", "mul"), _arithmetic),
    **dict.fromkeys(("eq", "ne", "lt", "le"), _compared),
    **dict.fromkeys(("bitand", "bitor", "bitminus"), _bitwise),
    **dict.fromkeys(("shl", "shr"), _shifted),
    "temp": _temp,
    "natural": _natural,
    "and": _and,
    "or": _or,
    "not": _not,
    "select": _select,
    "pick": picked,
    "bit": _bit,
    "popcount": _popcount,
    "lowest": _lowest,
}
