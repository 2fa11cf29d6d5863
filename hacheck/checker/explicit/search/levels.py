"""Levels of the search: the states at the same number of steps from the start, as ranges of indices, and blocks of
them as kernels take them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import TypeAlias

from hacheck.checker.explicit.search.control_words import CURSOR, PART_WORDS, PARTS, SLICE_END

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Indices of states: the first of each range and the one behind its last. A level has one for each thread that found
some of it; none is empty."""

_PIECE = 2**16
_NOWHERE = (1 << 64) - 1


def count(level: Ranges) -> int:
    """How many states there are."""
    return sum(end - first for first, end in level)


def head(level: Ranges, states: int) -> Ranges:
    """The first so many states."""
    kept: list[tuple[int, int]] = []
    for first, end in level:
        taken = min(states, end - first)
        if taken:
            kept.append((first, first + taken))
        states -= taken
    return tuple(kept)


def tail(level: Ranges, states: int) -> Ranges:
    """All but the first so many states."""
    kept: list[tuple[int, int]] = []
    for first, end in level:
        left_out = min(states, end - first)
        if first + left_out < end:
            kept.append((first + left_out, end))
        states -= left_out
    return tuple(kept)


def contains(level: Ranges, index: int) -> bool:
    """Whether a state is one of these."""
    return any(first <= index < end for first, end in level)


def pieces(states: Ranges) -> Iterator[tuple[int, int]]:
    """The same in pieces that take a kernel some milliseconds at most."""
    for first, end in states:
        for start in range(first, end, _PIECE):
            yield start, min(start + _PIECE, end)


def control_words(threads: int) -> int:
    """Words of the control array for levels of so many ranges: one for each thread, and one more where an earlier
    search left off."""
    return PARTS + PART_WORDS * (threads + 2)


def hand_out(shared: array[int], level: Ranges, block: int) -> int:
    """Has the states taken in blocks, none across a range. Returns the number of blocks."""
    taken, place = 0, PARTS
    for first, end in level:
        shared[place], shared[place + 1], shared[place + 2] = taken, first, end
        taken += -(-(end - first) // block)
        place += PART_WORDS
    shared[place] = _NOWHERE
    shared[CURSOR] = shared[SLICE_END] = 0
    return taken


def taken_states(level: Ranges, block: int, blocks: int) -> int:
    """How many states the first so many blocks have."""
    states = 0
    for first, end in level:
        taken = min(blocks, -(-(end - first) // block))
        states += min(taken * block, end - first)
        blocks -= taken
    return states
