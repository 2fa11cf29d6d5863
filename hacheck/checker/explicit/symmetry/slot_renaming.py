"""Slots read, moved and renamed in the words of a state, as text of the kernel language.

The words of a state are the locals `s0`, `s1`, and so on; `t` and `u` are free for use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from hacheck.compile.codegen.word_layout import WORD_BITS, word_count
from hacheck.compile.lowering.layout import Layout
from hacheck.compile.lowering.permuted_slots import Exchange, Presence, Renaming, Resorting

Lines = list[str]
_FULL = (1 << WORD_BITS) - 1


class Bits(Struct, frozen=True):
    """Some bits of one word."""

    word: int
    shift: int
    width: int


def indented(lines: Iterable[str], depth: int = 1) -> Lines:
    """The lines one block further in."""
    return [f"{'    ' * depth}{line}" for line in lines]


class Words(Struct, frozen=True):
    """The words of a layout in which no slot of up to 64 bits lies across a border of words."""

    layout: Layout

    @property
    def names(self) -> list[str]:
        """The locals that hold a state."""
        return [f"s{word}" for word in range(word_count(self.layout))]

    def bits(self, slot: int) -> list[Bits]:
        """Where a slot is: in one word, or if it is wide in several, the lowest bits first."""
        found, width = self.layout.slots[slot], self.layout.slots[slot].width
        word, shift = divmod(found.offset, WORD_BITS)
        if width > WORD_BITS:
            assert shift == 0, f"{found.name} is wide and does not begin a word"
            whole = range(-(-width // WORD_BITS))
            return [Bits(word + part, 0, min(WORD_BITS, width - part * WORD_BITS)) for part in whole]
        assert shift + width <= WORD_BITS, f"{found.name} lies across two words"
        return [Bits(word, shift, width)]

    def contents(self, slot: int) -> list[str]:
        """What a slot holds, as one expression for each of its parts."""
        fixed = self.layout.slots[slot].fixed
        if fixed is not None:
            count = max(-(-fixed.bit_length() // WORD_BITS), 1)
            return [str(fixed >> part * WORD_BITS & _FULL) for part in range(count)]
        return [_read(part) for part in self.bits(slot)]

    def content(self, slot: int) -> str:
        """What a slot of up to 64 bits holds."""
        parts = self.contents(slot)
        assert len(parts) == 1, f"{self.layout.slots[slot].name} is wide"
        return parts[0]

    def bit(self, slot: int, place: int) -> str:
        """Whether a bit of a slot is set, as 0 or 1."""
        fixed = self.layout.slots[slot].fixed
        if fixed is not None:
            return str(fixed >> place & 1)
        word, shift = divmod(self.layout.slots[slot].offset + place, WORD_BITS)
        return _read(Bits(word, shift, 1))

    def present(self, presence: Sequence[Presence]) -> list[str]:
        """The comparisons, each in brackets, that say whether a part of the state is there."""
        return [f"({self.content(one.slot)} >= {one.least})" for one in presence]


def _read(part: Bits) -> str:
    word, shift, width = part.word, part.shift, part.width
    moved = f"s{word} >> {shift}" if shift else f"s{word}"
    if shift + width == WORD_BITS:
        return f"({moved})" if shift else moved
    return f"({moved} & {(1 << width) - 1})"


# ---- contents that change places ----


class _Swaps:
    """Pairs of bits to be exchanged, those at the same distance together."""

    def __init__(self) -> None:
        self.masks: dict[tuple[int, int, int], int] = {}

    def add(self, first: Bits, second: Bits) -> None:
        low, high = sorted((first, second), key=lambda part: (part.word, part.shift))
        key = low.word, high.word, high.shift - low.shift
        self.masks[key] = self.masks.get(key, 0) | ((1 << low.width) - 1) << low.shift

    def lines(self) -> Iterator[str]:
        for (low, high, distance), mask in self.masks.items():
            turned = f"s{high} >> {distance}" if distance >= 0 else f"s{high} << {-distance}"
            back = f"t << {distance}" if distance >= 0 else f"t >> {-distance}"
            yield f"t = ({turned} ^ s{low}) & {mask}" if distance else f"t = (s{high} ^ s{low}) & {mask}"
            if low == high:
                yield f"s{low} = s{low} ^ t ^ {back}"
            else:
                yield f"s{low} = s{low} ^ t"
                yield f"s{high} = s{high} ^ ({back})" if distance else f"s{high} = s{high} ^ t"


def swap_lines(words: Words, pairs: Iterable[tuple[int, int]]) -> Lines:
    """The lines that exchange the contents of pairs of slots; a slot is in one pair at most."""
    swaps = _Swaps()
    for first, second in pairs:
        for part, other in zip(words.bits(first), words.bits(second), strict=True):
            swaps.add(part, other)
    return list(swaps.lines())


def exchange_lines(words: Words, taken: Exchange) -> Lines:
    """The lines that exchange two members of a kind."""
    lines = swap_lines(words, taken.moved)
    crossed = _Swaps()
    for cross in taken.crossings:
        offset = words.layout.slots[cross.slot].offset
        ends = (divmod(offset + place, WORD_BITS) for place in (cross.first, cross.second))
        crossed.add(*(Bits(word, shift, 1) for word, shift in ends))
    lines += crossed.lines()
    for item in taken.renamings:
        lines += _renaming_lines(words, item)
    for bag in taken.bags:
        lines += sorting_lines(words, bag)
    return lines


def _renaming_lines(words: Words, item: Renaming) -> Lines:
    """One content becomes the other."""
    (part,) = words.bits(item.slot)
    turned = item.first ^ item.second
    lines = [f"t = {_read(part)}"]
    if turned.bit_count() == 1:  # both differ from all others in their other bits
        tests = [f"(t & {(1 << part.width) - 1 & ~turned} == {item.first & item.second})"]
    else:
        tests = [f"((t == {item.first}) | (t == {item.second}))"]
    tests += words.present(item.presence)
    return [*lines, f"s{part.word} = s{part.word} ^ ({' & '.join(tests)}) * {turned << part.shift}"]


def sorting_lines(words: Words, bag: Resorting) -> Lines:
    """The lines that sort a bag's elements, of which only the first so many are there."""
    lines: Lines = []
    for last in range(len(bag.items) - 1, 0, -1):
        for place in range(last):
            swap = swap_lines(words, zip(bag.items[place], bag.items[place + 1], strict=True))
            wrong = greater(words, bag.items[place], bag.items[place + 1])
            here = f"if {words.content(bag.length)} > {place + 1}:"
            lines += [here, *indented([f"if {wrong}:", *indented(swap)])]
    return lines


def greater(words: Words, first: Sequence[int], second: Sequence[int]) -> str:
    """Whether the contents of some slots, the one that counts most first, are greater than those of others."""
    ours = [part for slot in first for part in _falling(words, slot)]
    theirs = [part for slot in second for part in _falling(words, slot)]
    groups: list[tuple[str, str]] = []
    room = 0
    for (mine, width), (other, _) in zip(ours, theirs, strict=True):
        if groups and width <= room:
            left, right = groups[-1]
            groups[-1] = f"({left}) << {width} | {mine}", f"({right}) << {width} | {other}"
            room -= width
        else:
            groups.append((mine, other))
            room = WORD_BITS - width
    text = ""
    for left, right in reversed(groups):
        tail = f" or ({left}) == ({right}) and ({text})" if text else ""
        text = f"({left}) > ({right}){tail}"
    return text


def _falling(words: Words, slot: int) -> list[tuple[str, int]]:
    """The parts of a slot, the highest bits first, with their widths."""
    return [(_read(part), part.width) for part in reversed(words.bits(slot))]
