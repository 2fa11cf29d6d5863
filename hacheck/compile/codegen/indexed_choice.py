"""One of several values by an index: from a constant that holds them all, from a row of slots, or by comparing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hacheck.compile.codegen.integer_widths import width_of
from hacheck.compile.codegen.module import FULL, signed, source_of
from hacheck.compile.codegen.word_layout import WORD_BITS
from hacheck.compile.lowering.expression_nodes import Node, is_leaf

if TYPE_CHECKING:
    from hacheck.compile.codegen.instructions import Values


def picked(values: Values, node: Node) -> str:
    """The value of a `pick`."""
    index, *options = node.operands
    width = width_of(node)
    if width <= WORD_BITS and all(option.is_const for option in options):
        return values.converted(_from_table(values, index, options), WORD_BITS, width)
    if width <= WORD_BITS and all(is_leaf(option) for option in options):
        found = _from_row(values, index, options)
        if found is not None:
            return values.converted(found, WORD_BITS, width)
    kind = max(WORD_BITS, width_of(index))
    chosen = values.number(index, kind)
    result = values.number(options[-1], width)
    for place in range(len(options) - 2, -1, -1):
        here = values.code.put(f"icmp eq i{kind} {chosen}, {place}")
        option = values.number(options[place], width)
        result = values.code.put(f"select i1 {here}, i{width} {option}, i{width} {result}")
    return result


def _inside(values: Values, index: Node, count: int) -> str:
    """An index that is inside, whatever it was before."""
    if width_of(index) > WORD_BITS:
        name = values.converted(values.value(index), width_of(index), WORD_BITS)
    else:
        name = values.number(index)
    if index.low >= 0 and index.high < count:
        return name
    least = values.module.intrinsic("llvm.umin.i64", "i64", "i64, i64")
    return values.code.put(f"call i64 {least}(i64 {name}, i64 {count - 1})")


def _from_table(values: Values, index: Node, options: Sequence[Node]) -> str:
    """One of some constants: from a word that holds them all, or from a table."""
    numbers = [option.number for option in options]
    least = min(numbers)
    bits = (max(numbers) - least).bit_length()
    name = _inside(values, index, len(numbers))
    if bits * len(numbers) > WORD_BITS:
        table = values.module.table(numbers)
        address = values.code.put(f"getelementptr i64, ptr {table}, i64 {name}")
        return values.code.put(f"load i64, ptr {address}")
    packed = sum(number - least << bits * place for place, number in enumerate(numbers))
    amount = values.code.put(f"mul i64 {name}, {bits}") if bits > 1 else name
    shifted = values.code.put(f"lshr i64 {signed(packed)}, {amount}")
    chosen = values.masked(shifted, (1 << bits) - 1)
    return values.code.put(f"add i64 {chosen}, {least}") if least else chosen


def _from_row(values: Values, index: Node, options: Sequence[Node]) -> str | None:
    """One of some slots that lie at equal distances in one word; `None` if they do not."""
    places = [values.module.place(option) for option in options]
    first, step = places[0], places[1].shift - places[0].shift
    for number, (place, option) in enumerate(zip(places, options, strict=True)):
        if (place.word, place.mask, place.words) != (first.word, first.mask, 1) or place.mask == FULL:
            return None
        if place.shift != first.shift + step * number or source_of(option) != source_of(options[0]):
            return None
    amount = values.code.put(f"mul i64 {_inside(values, index, len(options))}, {step}")
    if first.shift:
        amount = values.code.put(f"add i64 {amount}, {first.shift}")
    word = values.word(source_of(options[0]), first.word)
    return values.masked(values.code.put(f"lshr i64 {word}, {amount}"), first.mask)
