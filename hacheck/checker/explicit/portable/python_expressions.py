"""Scalar expressions of the lowered form as Python text over packed states.

The state before a step is `s`, the state after it `n`, temporary 3 is `t3`, and merge 4 is `m4`: the bits it gives, in
the places they have in a state. Tests of slots against constants do not take the slot out of the state but compare it
where it is, and several of them in a conjunction are one test of `s & mask`.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.compile.lowering.expression_nodes import Node, is_leaf, is_test
from hacheck.compile.lowering.layout import Layout, Slot

_TABLE_MAX = 64  # entries of a table that is written out


class Speller(Struct, frozen=True):
    """How nodes are written. `names`: nodes that have a variable already."""

    layout: Layout
    names: Mapping[Node, str] = field(default_factory=dict)

    def naming(self, names: Mapping[Node, str]) -> Speller:
        """With these variables too."""
        return replace(self, names={**self.names, **names})

    def slot(self, node: Node) -> Slot:
        """The slot that a leaf reads."""
        return self.layout.slots[node.detail if node.operator == "part" else node.number]


def word_of(node: Node) -> str:
    """The variable a slot is read from."""
    return {"slot": "s", "after": "n", "part": f"m{node.number}"}[node.operator]


def spelled_operands(node: Node) -> tuple[Node, ...]:
    """The nodes whose values are written where this one is."""
    if is_leaf(node) or is_test(node) or node.operator in ("const", "temp"):
        return ()
    if node.operator == "natural":
        return node.operands * 2
    if node.operator == "pick":
        index, *options = node.operands
        return (index,) if _table(options) else (index, index, *options)
    return node.operands


def _table(options: list[Node]) -> bool:
    return all(option.is_const for option in options)


def mask_test(node: Node, speller: Speller) -> tuple[str, int, int] | None:
    """The node as `word & mask == content`, if it is such a test."""
    if is_leaf(node):
        slot = speller.slot(node)
        return (word_of(node), 1 << slot.offset, 1 << slot.offset) if slot.width == 1 else None
    if node.operator == "not" and is_leaf(node.operands[0]):
        slot = speller.slot(node.operands[0])
        return word_of(node.operands[0]), (1 << slot.width) - 1 << slot.offset, 0
    if node.operator == "eq" and is_test(node):
        slot = speller.slot(node.operands[0])
        number = node.operands[1].number
        return word_of(node.operands[0]), (1 << slot.width) - 1 << slot.offset, number << slot.offset
    if node.operator == "bit" and is_test(node):
        place = 1 << speller.slot(node.operands[0]).offset + node.operands[1].number
        return word_of(node.operands[0]), place, place
    if node.operator == "not" and node.operands[0].operator == "bit" and is_test(node.operands[0]):
        found = mask_test(node.operands[0], speller)
        return None if found is None else (found[0], found[1], 0)
    return None


def spell_mask_test(word: str, mask: int, content: int) -> str:
    """The test of some bits."""
    if content == 0:
        return f"not {word} & {mask}"
    if content == mask and mask & mask - 1 == 0:
        return f"{word} & {mask}"
    return f"{word} & {mask} == {content}"


def condition(node: Node, speller: Speller) -> str:
    """Text that is true in Python where the node is not 0; to be put in parentheses where it becomes part of more."""
    if node in speller.names:
        return speller.names[node]
    found = mask_test(node, speller)
    if found is not None:
        return spell_mask_test(*found)
    operands = node.operands
    match node.operator:
        case "const":
            return str(bool(node.number))
        case "and":
            return conjunction(operands, speller)
        case "or":
            return _disjunction(operands, speller)
        case "not":
            return f"not ({condition(operands[0], speller)})"
        case "ne" if is_test(node):
            return _not_equal(node, speller)
        case "lt" | "le" if is_test(node):
            return _compared_in_place(node, speller)
        case "eq" | "ne" | "lt" | "le":
            sign = {"eq": "==", "ne": "!=", "lt": "<", "le": "<="}[node.operator]
            return f"{value(operands[0], speller)} {sign} {value(operands[1], speller)}"
        case "select":
            test, then, otherwise = (condition(operand, speller) for operand in operands)
            return f"(({then}) if {test} else ({otherwise}))"
        case _:
            return value(node, speller)


def conjunction(parts: tuple[Node, ...], speller: Speller) -> str:
    """All of the parts: tests of bits of one word are one test."""
    masks: dict[str, tuple[int, int]] = {}
    others: list[str] = []
    for part in parts:
        found = None if part in speller.names else mask_test(part, speller)
        if found is None:
            others.append(f"({condition(part, speller)})")
        else:
            word, mask, content = found
            old_mask, old_content = masks.get(word, (0, 0))
            if (old_content ^ content) & old_mask & mask:
                return "False"
            masks[word] = old_mask | mask, old_content | content
    tests = [spell_mask_test(word, mask, content) for word, (mask, content) in masks.items()]
    return " and ".join([f"({test})" if test.startswith("not") else test for test in tests] + others) or "True"


def _disjunction(parts: tuple[Node, ...], speller: Speller) -> str:
    masks: dict[str, int] = {}
    others: list[str] = []
    for part in parts:
        found = None if part in speller.names else mask_test(part, speller)
        if found is not None and found[1] == found[2] and found[1] & found[1] - 1 == 0:
            masks[found[0]] = masks.get(found[0], 0) | found[1]
        elif part.operator == "ne" and is_test(part) and part.operands[1].number == 0:
            slot = speller.slot(part.operands[0])
            word = word_of(part.operands[0])
            masks[word] = masks.get(word, 0) | (1 << slot.width) - 1 << slot.offset
        else:
            others.append(f"({condition(part, speller)})")
    return " or ".join([f"{word} & {mask}" for word, mask in masks.items()] + others)


def _not_equal(node: Node, speller: Speller) -> str:
    leaf, number = node.operands[0], node.operands[1].number
    slot = speller.slot(leaf)
    mask = (1 << slot.width) - 1 << slot.offset
    if number == 0:
        return f"{word_of(leaf)} & {mask}"
    return f"{word_of(leaf)} & {mask} != {number << slot.offset}"


def _compared_in_place(node: Node, speller: Speller) -> str:
    sign = "<" if node.operator == "lt" else "<="
    leaf = node.operands[0] if is_leaf(node.operands[0]) else node.operands[1]
    slot = speller.slot(leaf)
    sides = [
        f"({word_of(leaf)} & {(1 << slot.width) - 1 << slot.offset})"
        if operand is leaf
        else str(operand.number << slot.offset)
        for operand in node.operands
    ]
    return f"{sides[0]} {sign} {sides[1]}"


def value(node: Node, speller: Speller) -> str:
    """Text of the node's number, in parentheses where that matters."""
    if node in speller.names:
        return speller.names[node]
    operands = node.operands
    match node.operator:
        case "const":
            return str(node.number) if node.number >= 0 else f"({node.number})"
        case "slot" | "after" | "part":
            return _extracted(word_of(node), speller.slot(node))
        case "temp":
            return f"t{node.number}"
        case "eq" | "ne" | "lt" | "le":
            text = condition(node, speller)
            return f"({text})" if " == " in text or " <" in text or " != " in text else f"(1 if {text} else 0)"
        case "and" | "or" | "not":
            return f"(1 if {condition(node, speller)} else 0)"
        case "select":
            then, otherwise = value(operands[1], speller), value(operands[2], speller)
            return f"({then} if {condition(operands[0], speller)} else {otherwise})"
        case "pick":
            return _picked(node, speller)
        case "natural":
            inner = value(operands[0], speller)
            return f"({inner} if {inner} > 0 else 0)"
        case "popcount" | "lowest":
            return _counted(node, speller)
        case "bit":
            return f"({value(operands[0], speller)} >> {value(operands[1], speller)} & 1)"
        case "bitminus":
            return f"({value(operands[0], speller)} & ~{value(operands[1], speller)})"
        case "add" if operands[1].is_const and operands[1].number < 0:
            return f"({value(operands[0], speller)} - {-operands[1].number})"
        case _:
            signs = {
                "add": "+",
                "sub": "-",
                "mul": "*",
                "bitand": "&",
                "bitor": "|",
                "shl": "<<",
                "shr": ">>",
            }
            return f"({value(operands[0], speller)} {signs[node.operator]} {value(operands[1], speller)})"


def _extracted(word: str, slot: Slot) -> str:
    shifted = f"{word} >> {slot.offset}" if slot.offset else word
    return f"({shifted} & {(1 << slot.width) - 1})"


def _picked(node: Node, speller: Speller) -> str:
    """One of several: from a table of constants, else by comparing the index."""
    index, *options = node.operands
    chosen = value(index, speller)
    if _table(options):
        return f"({', '.join(str(option.number) for option in options)})[{chosen}]"
    text = value(options[-1], speller)
    for number in range(len(options) - 2, -1, -1):
        text = f"{value(options[number], speller)} if {chosen} == {number} else {text}"
    return f"({text})"


def _counted(node: Node, speller: Speller) -> str:
    inner = value(node.operands[0], speller)
    if node.operands[0].high < _TABLE_MAX:
        numbers = range(1 << node.operands[0].high.bit_length())
        if node.operator == "popcount":
            table = [number.bit_count() for number in numbers]
        else:
            table = [max((number & -number).bit_length() - 1, 0) for number in numbers]
        return f"({', '.join(map(str, table))})[{inner}]"
    if node.operator == "popcount":
        return f"{inner}.bit_count()"
    return f"max(({inner} & -{inner}).bit_length() - 1, 0)"
