"""Blocks of the lowered form as lines of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, assert_never

from msgspec import Struct, field

from hacheck.checker.explicit.portable.python_expressions import Speller, condition, value, word_of
from hacheck.checker.explicit.portable.variable_placement import Position, place
from hacheck.compile.lowering.blocks import Block, Branch, Emit, Merge, SetTemp, Statement, Stopped, Update
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.layout import Layout

Lines: TypeAlias = list[str]

_DEPTH_MAX = 40  # Python refuses more than a hundred levels of indentation


class Outcomes(Struct, frozen=True):
    """What generated code does with a step whose next state is in `n`, and with an outcome that is no step."""

    step: Callable[[Emit], Lines]
    stopped: Callable[[Stopped], Lines]


def indented(lines: Lines, levels: int = 1) -> Lines:
    """The lines further right."""
    return [" " * levels + line for line in lines]


def print_block(block: Block, layout: Layout, outcomes: Outcomes) -> Lines:
    """The lines that run a block in the state `s`."""
    printer = _Printer(layout, outcomes, place(block))
    return printer.block(block, (), Speller(layout), 0)


class _Printer(Struct, frozen=True):
    layout: Layout
    outcomes: Outcomes
    placed: dict[Position, list[Node]]
    heights: dict[int, int] = field(default_factory=dict)

    def block(self, block: Block, at: Position, speller: Speller, depth: int) -> Lines:
        if depth % _DEPTH_MAX == _DEPTH_MAX - 1 and _is_chain(block):
            return ["while True:", *indented([*self.chain(block, at, speller, depth + 1), "break"])]
        lines: Lines = []
        for index, statement in enumerate(block):
            set_before, speller = self.variables((*at, index), speller)
            lines += set_before
            lines += self.statement(statement, (*at, index), speller, depth)
        return lines

    def variables(self, position: Position, speller: Speller) -> tuple[Lines, Speller]:
        """The lines that set the variables of this position, and a speller that uses them."""
        lines: Lines = []
        for node in self.placed.get(position, ()):
            name = f"x{node.key}"
            lines.append(f"{name} = {value(node, speller)}")
            speller = speller.naming({node: name})
        return lines, speller

    def statement(self, statement: Statement, here: Position, speller: Speller, depth: int) -> Lines:
        match statement:
            case Branch():
                return self.branch(statement, here, speller, depth)
            case SetTemp(temp, node):
                return [f"t{temp} = {value(node, speller)}"]
            case Merge(merge, parts):
                return [f"m{merge} = {merged_text(parts, speller)}"]
            case Emit(updates):
                return [f"n = {successor_text(updates, speller)}", *self.outcomes.step(statement)]
            case Stopped():
                return self.outcomes.stopped(statement)
            case _:
                assert_never(statement)

    def branch(self, statement: Branch, here: Position, speller: Speller, depth: int) -> Lines:
        test = condition(statement.condition, speller)
        then = self.block(statement.then, (*here, 0), speller, depth + 1)
        otherwise = self.block(statement.otherwise, (*here, 1), speller, depth + 1)
        if not then:
            return [] if not otherwise else [f"if not ({test}):", *indented(otherwise)]
        lines = [f"if {test}:", *indented(then)]
        if otherwise and otherwise[0].startswith("if ") and len(statement.otherwise) == 1:
            return [*lines, f"el{otherwise[0]}", *otherwise[1:]]
        return [*lines, "else:", *indented(otherwise)] if otherwise else lines

    def chain(self, block: Block, at: Position, speller: Speller, depth: int) -> Lines:
        """A block in a loop that is left at its end: what follows an `if` needs no `else`. That is the side in which
        branches are nested more deeply."""
        lines: Lines = []
        for index, statement in enumerate(block):
            here = (*at, index)
            set_before, speller = self.variables(here, speller)
            lines += set_before
            if index + 1 < len(block) or not isinstance(statement, Branch):
                lines += self.statement(statement, here, speller, depth)
                continue
            test = condition(statement.condition, speller)
            sides = (statement.then, (*here, 0)), (statement.otherwise, (*here, 1))
            if self.height(statement.then) > self.height(statement.otherwise):
                test, sides = f"not ({test})", sides[::-1]
            (first, at_first), (second, at_second) = sides
            lines += [f"if {test}:", *indented([*self.block(first, at_first, speller, depth + 1), "break"])]
            lines += self.chain(second, at_second, speller, depth)
        return lines

    def height(self, block: Block) -> int:
        """How deeply branches are nested in a block."""
        found = self.heights.get(id(block))
        if found is None:
            branches = [one for one in block if isinstance(one, Branch)]
            inside = [side for one in branches for side in (one.then, one.otherwise)]
            found = self.heights[id(block)] = 1 + max(map(self.height, inside)) if inside else 0
        return found


def _is_chain(block: Block) -> bool:
    return bool(block) and isinstance(block[-1], Branch)


# ---- packed contents ----


def _mask(layout: Layout, slot: int) -> int:
    return (1 << layout.slots[slot].width) - 1 << layout.slots[slot].offset


def _shifted(text: str, amount: int) -> str:
    return f"(({text}) << {amount})" if amount > 0 else f"(({text}) >> {-amount})" if amount < 0 else f"({text})"


def _moved(updates: list[tuple[Update, Node]], layout: Layout) -> list[str]:
    """Slots copied from elsewhere: those that move by the same distance move together."""
    groups: dict[tuple[str, int], int] = {}
    for update, source in updates:
        distance = layout.slots[update.slot].offset - layout.slots[source.number].offset
        key = word_of(source), distance
        groups[key] = groups.get(key, 0) | _mask(layout, source.number)
    return [_shifted(f"{word} & {mask}", distance) for (word, distance), mask in groups.items()]


def _terms(updates: tuple[Update, ...], speller: Speller) -> tuple[int, list[str]]:
    """The contents of the slots that are written anew, in their places: a constant and texts."""
    layout, fixed = speller.layout, 0
    moved: list[tuple[Update, Node]] = []
    kept: dict[str, int] = {}
    texts: list[str] = []
    for update in updates:
        offset, source = layout.slots[update.slot].offset, update.copied
        if update.value.is_const:
            fixed += update.value.number << offset
        elif update.value.operator == "part" and update.value.detail == update.slot:
            word = word_of(update.value)
            kept[word] = kept.get(word, 0) | _mask(layout, update.slot)
        elif source is not None and source not in speller.names:
            moved.append((update, source))
        else:
            text = value(update.value, speller)
            texts.append(f"({text} << {offset})" if offset else text)
    return fixed, [*(f"({word} & {mask})" for word, mask in kept.items()), *_moved(moved, layout), *texts]


def successor_text(updates: tuple[Update, ...], speller: Speller) -> str:
    """The next state: what is kept, and what is written."""
    layout, everything = speller.layout, (1 << speller.layout.width) - 1
    joined, delta, added, cleared = 0, 0, [], 0
    fresh: list[Update] = []
    known = all(update.was is not None or update.added is not None for update in updates)
    for update in updates:
        offset, step, more = layout.slots[update.slot].offset, update.added, update.joined
        if step is not None:
            delta += step << offset
        elif more is not None and more.is_const:
            joined |= more.number << offset
        elif more is not None:
            added.append(f"({value(more, speller)} << {offset})")
        elif update.was == 0 or (known and update.was is not None):
            delta -= update.was << offset
            fresh.append(update)
        else:
            cleared |= _mask(layout, update.slot)
            fresh.append(update)
    fixed, texts = _terms(tuple(fresh), speller)
    text = "s"
    if cleared:
        text = f"(s & {everything & ~cleared})"
    for more_text in [*([str(joined)] if joined else []), *added]:
        text = f"({text} | {more_text})"
    delta += fixed
    if delta:
        text = f"{text} + {delta}" if delta > 0 else f"{text} - {-delta}"
    return " + ".join([text, *texts])


def merged_text(parts: tuple[Update, ...], speller: Speller) -> str:
    """The contents of some slots in their places."""
    fixed, texts = _terms(parts, speller)
    return " + ".join([*([str(fixed)] if fixed or not texts else []), *texts])
