"""Expressions and blocks of the lowered form as Promela.

A slot is a global variable of as many bits as it needs. Temporaries, merges and shared expressions are hidden
variables, which are no part of Spin's state and are always set before they are read, in the same step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from hacheck.checker.explicit.portable.variable_placement import Position, place
from hacheck.compile.lowering.blocks import Block, Branch, Emit, Merge, SetTemp, Statement, Stopped, Update
from hacheck.compile.lowering.expression_nodes import Node, is_leaf
from hacheck.compile.lowering.layout import Layout, Slot

_INT_MAX = (1 << 31) - 1
_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "bitand": "&",
    "bitor": "|",
    "shl": "<<",
    "shr": ">>",
}


class NotInPromela(Exception):
    """The model needs a number that Promela does not have: all of its arithmetic is on signed 32-bit numbers."""


def names_of(layout: Layout) -> list[str]:
    """A name for each slot: `s_`, then what Promela allows of the slot's own name, no two alike."""
    names: dict[str, None] = {}
    for slot in layout.slots:
        base = "s_" + re.sub(r"\W+", "_", slot.name, flags=re.ASCII).strip("_")
        name, count = base, 1
        while name in names:
            count += 1
            name = f"{base}__{count}"
        names[name] = None
    return list(names)


def slot_declaration(slot: Slot, name: str, start: int) -> str:
    """A slot as a global variable of as many bits as it has: Spin is fastest with the smallest states."""
    _fits(0, slot.high)
    return f"bit {name} = {start};" if slot.width == 1 else f"unsigned {name} : {slot.width} = {start};"


def hidden_declaration(name: str, low: int, high: int) -> str:
    """A variable that is no part of Spin's state, for numbers from `low` to `high`."""
    if low >= 0 and high <= 255:
        return f"hidden byte {name};"
    return f"hidden short {name};" if low >= -(1 << 15) and high < 1 << 15 else f"hidden int {name};"


def _fits(low: int, high: int) -> None:
    if low < -_INT_MAX - 1 or high > _INT_MAX:
        raise NotInPromela(f"{low}..{high} does not fit into Promela's 32 bits")


@dataclass(slots=True)
class Writer:
    """Writes nodes and blocks; `hidden` collects the hidden variables they need, with what these must hold."""

    names: list[str]
    hidden: dict[str, tuple[int, int]] = field(default_factory=dict)
    known: dict[Node, str] = field(default_factory=dict)

    # ---- expressions ----

    def text(self, node: Node) -> str:
        """A node, in parentheses where that matters."""
        if node in self.known:
            return self.known[node]
        _fits(node.low, node.high)
        operands = node.operands
        match node.operator:
            case "const":
                return str(node.number) if node.number >= 0 else f"({node.number})"
            case "slot":
                return self.names[node.number]
            case "temp":
                return f"t{node.number}"
            case "part":
                return f"m{node.number}_{node.detail}"
            case "and" | "or":
                sign = " && " if node.operator == "and" else " || "
                return f"({sign.join(map(self.text, operands))})"
            case "not" if operands[0].is_truth:
                return f"!{self.text(operands[0])}"
            case "not":
                return f"({self.text(operands[0])} == 0)"
            case "select":
                return "({} -> {} : {})".format(*map(self.text, operands))
            case "pick":
                return self.picked(node)
            case "natural":
                inner = self.text(operands[0])
                return f"({inner} > 0 -> {inner} : 0)"
            case "bit":
                return f"(({self.text(operands[0])} >> {self.text(operands[1])}) & 1)"
            case "bitminus":
                return f"({self.text(operands[0])} & ~{self.text(operands[1])})"
            case "popcount" | "lowest":
                return self.counted(node)
            case "after":
                raise AssertionError("a step reads the state before it")
            case _:
                return f"({self.text(operands[0])} {_SIGNS[node.operator]} {self.text(operands[1])})"

    def picked(self, node: Node) -> str:
        """One of several: bits of one number where they fit, else by comparing the index."""
        index, *options = node.operands
        chosen = self.text(index)
        width = max(option.high for option in options).bit_length()
        if all(option.is_const and option.number >= 0 for option in options) and width * len(options) < 32:
            packed = sum(option.number << width * number for number, option in enumerate(options))
            moved = chosen if width == 1 else f"({width} * {chosen})"
            return f"(({packed} >> {moved}) & {(1 << width) - 1})"
        text = self.text(options[-1])
        for number in range(len(options) - 2, -1, -1):
            text = f"({chosen} == {number} -> {self.text(options[number])} : {text})"
        return text

    def counted(self, node: Node) -> str:
        """Bits counted, or the lowest one found, without a loop."""
        inner, width = self.text(node.operands[0]), node.operands[0].high.bit_length()
        if node.operator == "popcount":
            return "({})".format(" + ".join(f"(({inner} >> {bit}) & 1)" for bit in range(width)))
        text = str(width - 1)
        for bit in range(width - 2, -1, -1):
            text = f"({inner} & {1 << bit} -> {bit} : {text})"
        return f"({inner} -> {text} : 0)"

    def conjunction(self, nodes: Iterable[Node]) -> str:
        """All of the nodes."""
        return " && ".join(map(self.text, nodes)) or "true"

    # ---- statements ----

    def block(self, block: Block) -> list[str]:
        """The lines of a block with one outcome on every path."""
        shared = {at: [node for node in nodes if not is_leaf(node)] for at, nodes in place(block).items()}
        return self._block(block, (), shared)

    def _block(self, block: Block, at: Position, placed: dict[Position, list[Node]]) -> list[str]:
        lines: list[str] = []
        before = dict(self.known)
        for index, statement in enumerate(block):
            here = (*at, index)
            for node in placed.get(here, ()):
                lines.append(f"{self._hide(f'x{node.key}', node)} = {self.text(node)};")
                self.known[node] = f"x{node.key}"
            lines += self._statement(statement, here, placed)
        self.known = before
        return lines

    def _statement(self, statement: Statement, here: Position, placed: dict[Position, list[Node]]) -> list[str]:
        match statement:
            case SetTemp(temp, value):
                return [f"{self._hide(f't{temp}', value)} = {self.text(value)};"]
            case Merge(merge, parts):
                return [
                    f"{self._hide(f'm{merge}_{part.slot}', part.value)} = {self.text(part.value)};" for part in parts
                ]
            case Emit(updates):
                return self.assignments(updates)
            case Branch(condition, then, otherwise):
                sides = [self._block(side, (*here, n), placed) for n, side in enumerate((then, otherwise))]
                first, second = (["  " + line for line in side or ["skip"]] for side in sides)
                return ["if", f":: {self.text(condition)} ->", *first, ":: else ->", *second, "fi;"]
            case Stopped():
                raise AssertionError("what is no step is no option")
            case _:
                assert_never(statement)

    def assignments(self, updates: tuple[Update, ...]) -> list[str]:
        """Updates that happen at once, one after the other: each before what it reads is overwritten."""
        waiting = {update.slot: update for update in updates}
        reads = {
            slot: {node.number for node in self._leaves(update.value)} - {slot} for slot, update in waiting.items()
        }
        lines: list[str] = []
        last: list[str] = []
        while waiting:
            free = [slot for slot in waiting if not any(slot in reads[other] for other in waiting if other != slot)]
            for slot in free:
                lines.append(f"{self.names[slot]} = {self.text(waiting.pop(slot).value)};")
            if not free:
                slot, update = next(iter(waiting.items()))
                lines.append(f"{self._hide(f'w{slot}', update.value)} = {self.text(update.value)};")
                last.append(f"{self.names[slot]} = w{slot};")
                del waiting[slot]
        return lines + last

    def _leaves(self, root: Node) -> list[Node]:
        """The slots that a node's text reads."""
        stack, found, seen = [root], [], set()
        while stack:
            node = stack.pop()
            if node in seen or node in self.known:
                continue
            seen.add(node)
            if node.operator == "slot":
                found.append(node)
            stack += node.operands
        return found

    def _hide(self, name: str, node: Node) -> str:
        """Notes a hidden variable for a node's value."""
        low, high = self.hidden.get(name, (node.low, node.high))
        self.hidden[name] = min(low, node.low), max(high, node.high)
        return name
