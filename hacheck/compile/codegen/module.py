"""What all generated functions of a module share: where slots are in words, constants, intrinsics; and its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct, field

from hacheck.compile.codegen.word_layout import WORD_BITS, word_count
from hacheck.compile.lowering.blocks import Lowered
from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node, is_leaf, is_test

FULL: Final = (1 << WORD_BITS) - 1

BEFORE: Final = -1
AFTER: Final = -2
"""Sources of words: the state before the step, the one after it; any other is the number of a merge."""


SMALL_LINES = 4_000
"""Of a module that LLVM may take its time for, since that is little: some hundredths of a second."""

_ATTRIBUTES = "attributes #0 = { noinline nounwind }"
_ATTRIBUTES_IF_LARGE = "attributes #0 = { noinline nounwind optnone }"
"""Of every function. What is printed is as short as LLVM's passes would make it. `optnone` has LLVM choose instructions
fast, not well: a third of the time, a tenth slower code. Registers are given out well all the same."""


_COPIED = "ptr noalias %out, ptr noalias readonly %s"


class Place(Struct, frozen=True):
    """Where a slot is: bits `mask << shift` of word `word`; a wide one has `words` of them, from bit 0 on."""

    word: int
    shift: int
    mask: int
    words: int


class Comparison(Struct, frozen=True):
    """The condition that some bits of a word compare so with a number: `word & mask`, `predicate`, which is one of
    LLVM's, `number`."""

    source: int
    word: int
    mask: int
    predicate: str
    number: int


class MaskTest(Struct, frozen=True):
    """The condition that some bits of a word have a certain content: `word & mask == content`."""

    source: int
    word: int
    mask: int
    content: int

    @property
    def comparison(self) -> Comparison:
        """The condition as LLVM is to make it: of a single bit, whether it is set."""
        if self.content == self.mask and self.mask & self.mask - 1 == 0:
            return Comparison(self.source, self.word, self.mask, "ne", 0)
        return Comparison(self.source, self.word, self.mask, "eq", self.content)


_MIRRORED = {"eq": "eq", "ne": "ne", "ult": "ugt", "ule": "uge"}


class Module(Struct):
    """A module being written. `places`: by slot; `parts`: functions and constants as text."""

    graph: Graph
    words: int
    places: tuple[Place, ...]
    parts: list[str] = field(default_factory=list)
    _intrinsics: dict[str, str] = field(default_factory=dict)
    _copying: list[str] = field(default_factory=list)
    _tables: dict[tuple[int, ...], str] = field(default_factory=dict)
    _fills: dict[tuple[int, int], int] = field(default_factory=dict)
    _tests: dict[Node, MaskTest | None] = field(default_factory=dict)
    _costs: dict[Node, int] = field(default_factory=dict)

    def intrinsic(self, name: str, result: str, arguments: str) -> str:
        """The name of an intrinsic, which is declared."""
        self._intrinsics[name] = f"declare {result} @{name}({arguments})"
        return f"@{name}"

    def copying(self) -> str:
        """The name of a function that copies a state from its second argument to its first, which is in the module."""
        if not self._copying:
            lines = [f"define internal void @copy_state({_COPIED}) #0 {{", "entry:"]
            for number, (first, size) in enumerate(pieces(self.words)):
                kind = f"<{size} x i64>" if size > 1 else "i64"
                lines += [
                    f"  %from{number} = getelementptr i64, ptr %s, i64 {first}",
                    f"  %to{number} = getelementptr i64, ptr %out, i64 {first}",
                    f"  %part{number} = load {kind}, ptr %from{number}, align 8",
                    f"  store {kind} %part{number}, ptr %to{number}, align 8",
                ]
            self._copying.append("\n".join([*lines, "  ret void", "}"]))
        return "@copy_state"

    def table(self, numbers: Sequence[int]) -> str:
        """The name of a table of signed 64-bit constants."""
        key = tuple(numbers)
        if key not in self._tables:
            self._tables[key] = f"@table{len(self._tables)}"
        return self._tables[key]

    def place(self, leaf: Node) -> Place:
        """Where the slot is that a leaf reads."""
        return self.places[leaf.detail if leaf.operator == "part" else leaf.number]

    def fill(self, merge: int, slot: int) -> None:
        """Notes that a merge gives a slot its content."""
        place = self.places[slot]
        key = merge, place.word
        self._fills[key] = self._fills.get(key, 0) | place.mask << place.shift

    def filled(self, source: int, word: int) -> int:
        """The bits of a merge's word that may be set; of a state it is not said."""
        return self._fills.get((source, word), 0)

    def mask_test(self, node: Node) -> MaskTest | None:
        """The node as a test of bits where they are, if it is one."""
        try:
            return self._tests[node]
        except KeyError:
            found = self._tests[node] = self._mask_test(node)
            return found

    def _mask_test(self, node: Node) -> MaskTest | None:
        operator = node.operator
        if is_leaf(node):
            place = self.place(node)
            bits = place.mask << place.shift
            return MaskTest(source_of(node), place.word, bits, bits) if place.mask == 1 else None
        if operator == "eq" and is_test(node):
            place, number = self.place(node.operands[0]), node.operands[1].number
            if place.words > 1 or not 0 <= number <= place.mask:
                return None
            return MaskTest(source_of(node.operands[0]), place.word, place.mask << place.shift, number << place.shift)
        if operator == "bit" and is_test(node):
            place, index = self.place(node.operands[0]), node.operands[1].number
            word, shift = divmod(place.word * WORD_BITS + place.shift + index, WORD_BITS)
            return MaskTest(source_of(node.operands[0]), word, 1 << shift, 1 << shift)
        if operator == "not":
            inner = node.operands[0]
            found = self.mask_test(inner)
            if found is not None and found.mask == found.content and found.mask & found.mask - 1 == 0:
                return MaskTest(found.source, found.word, found.mask, 0)
            if is_leaf(inner) and self.place(inner).words == 1:
                place = self.place(inner)
                return MaskTest(source_of(inner), place.word, place.mask << place.shift, 0)
        return None

    def comparison(self, node: Node) -> Comparison | None:
        """The node as a comparison of bits where they are, if it is one: tests of bits, and of a slot's order."""
        test = self.mask_test(node)
        if test is not None:
            return test.comparison
        if node.operator not in ("eq", "ne", "lt", "le") or not is_test(node):
            return None
        leaf = next(operand for operand in node.operands if is_leaf(operand))
        number = next(operand.number for operand in node.operands if operand.is_const)
        place = self.place(leaf)
        if place.words > 1 or not 0 <= number <= place.mask:
            return None
        predicate = {"lt": "ult", "le": "ule"}.get(node.operator, node.operator)
        if leaf is not node.operands[0]:
            predicate = _MIRRORED[predicate]
        return Comparison(source_of(leaf), place.word, place.mask << place.shift, predicate, number << place.shift)

    def cost(self, node: Node) -> int:
        """Roughly how many instructions the node takes, nothing of it being known."""
        found = self._costs.get(node)
        if found is None:
            found = 1 if is_leaf(node) or is_test(node) else 1 + sum(map(self.cost, node.operands))
            self._costs[node] = found = 0 if node.is_const else found
        return found

    def text(self, unhurried: bool = False) -> str:
        """The module as LLVM IR. `unhurried`: LLVM is to take as long as it takes at the level it is given."""
        tables = (
            f"{name} = private unnamed_addr constant [{len(numbers)} x i64] [{listed('i64', numbers)}]"
            for numbers, name in self._tables.items()
        )
        lines = sum(part.count("\n") for part in self.parts)
        attributes = _ATTRIBUTES if unhurried or lines <= SMALL_LINES else _ATTRIBUTES_IF_LARGE
        return "\n".join([*self._intrinsics.values(), *tables, *self._copying, *self.parts, attributes, ""])


def new_module(lowered: Lowered) -> Module:
    """An empty module for a system whose layout is arranged in words."""
    places = []
    for slot in lowered.layout.slots:
        word, shift = divmod(slot.offset, WORD_BITS)
        places.append(Place(word, shift, (1 << slot.width) - 1, max(1, -(-slot.width // WORD_BITS))))
    return Module(lowered.graph, word_count(lowered.layout), tuple(places))


def pieces(words: int) -> Iterator[tuple[int, int]]:
    """The words of a state in pieces that one instruction copies: the first of each, and how many."""
    first = 0
    while first < words:
        size = 4 if words - first >= 4 else 2 if words - first >= 2 else 1
        yield first, size
        first += size


def source_of(leaf: Node) -> int:
    """What a leaf is read from."""
    return {"slot": BEFORE, "after": AFTER}.get(leaf.operator, leaf.number)


def listed(kind: str, numbers: Iterable[int]) -> str:
    """The elements of a constant array."""
    return ", ".join(f"{kind} {number}" for number in numbers)


def signed(word: int) -> int:
    """The signed number with the bits of a word: constants are written so."""
    word &= FULL
    return word - (1 << WORD_BITS) if word >> WORD_BITS - 1 else word
