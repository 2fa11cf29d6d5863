"""The slots of a lowered system arranged in 64-bit words, so that no slot lies across a border.

A slot of up to 64 bits is inside one word. A wider one starts a word and has its words to itself. Offsets go on
counting from bit 0 of the first word: a packed state is the sum of `word[i] << 64 * i`, little end first in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec.structs import replace

from hacheck.compile.lowering.blocks import Lowered
from hacheck.compile.lowering.layout import Layout, Slot

WORD_BITS = 64


def arranged_in_words(lowered: Lowered, apart: Sequence[Collection[int]] = ()) -> Lowered:
    """The same system in words, as few as can be found, in the order of its layout as far as that costs none. `apart`:
    groups of slots that have words of their own behind all others, each group the same as another of the same widths.
    Before them is a word at least, even if no slot has bits: what lies there is a state.
    """
    slots = lowered.layout.slots
    order = sorted((index for index, slot in enumerate(slots) if slot.width), key=lambda index: slots[index].offset)
    grouped = {index for group in apart for index in group}
    placed = list(slots)
    words = _place(placed, [index for index in order if index not in grouped], 0)
    for group in apart:
        words = max(words, 1)
        words = _place(placed, [index for index in group if slots[index].width], words)
    return replace(lowered, layout=Layout(tuple(placed), lowered.layout.places))


def _place(slots: list[Slot], order: Sequence[int], words: int) -> int:
    """Places some slots behind so many words. Returns how many words there are then."""
    narrow = [index for index in order if slots[index].width <= WORD_BITS]
    packings = (
        _first_fit(slots, narrow),
        _first_fit(slots, sorted(narrow, key=lambda index: -slots[index].width)),
    )
    for word in min(packings, key=len):
        offset = WORD_BITS * words
        for index in word:
            slots[index] = replace(slots[index], offset=offset)
            offset += slots[index].width
        words += 1
    for index in order:
        if slots[index].width > WORD_BITS:
            slots[index] = replace(slots[index], offset=WORD_BITS * words)
            words += -(-slots[index].width // WORD_BITS)
    return words


def _first_fit(slots: Sequence[Slot], order: Iterable[int]) -> list[list[int]]:
    """The slots of each word: each slot in the first that has room for it."""
    words: list[list[int]] = []
    room: list[int] = []
    for index in order:
        width = slots[index].width
        place = next((place for place, left in enumerate(room) if left >= width), len(words))
        if place == len(words):
            words.append([])
            room.append(WORD_BITS)
        words[place].append(index)
        room[place] -= width
    return words


def word_count(layout: Layout) -> int:
    """The words of a state, one at least."""
    return max((-(-(slot.offset + slot.width) // WORD_BITS) for slot in layout.slots if slot.width), default=1)


def to_words(packed: int, count: int) -> Iterator[int]:
    """The words of a packed state."""
    for place in range(count):
        yield packed >> WORD_BITS * place & (1 << WORD_BITS) - 1


def from_words(words: Iterable[int]) -> int:
    """The packed state of some words."""
    return sum(word << WORD_BITS * place for place, word in enumerate(words))
