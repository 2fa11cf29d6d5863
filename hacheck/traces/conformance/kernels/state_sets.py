"""Sets of candidates, in the kernel language.

A candidate is a state of the observed system: `W` words that say what is so, then `RECORDS` words that say what the
next records are. All candidates that have taken the same records are a set; those at the next few positions are
`RING` sets in turn, since one step may take several records.
"""

from __future__ import annotations

from hacheck.compile.kernels.language import load64, store64
from hacheck.compile.kernels.packed_states import W, hash_of, same
from hacheck.traces.conformance.kernels.control import (
    CAPACITY,
    COUNT,
    ENTRIES,
    INDEXED,
    RECORD_ADDRESS,
    SET_WORDS,
    SETS,
    STAMP,
    TABLE,
    TABLE_SHIFT,
)

# Set when the kernels are compiled:
RECORDS = 1  # words of the records that a candidate sees
RECORD = 1  # words of one record
RING = 2  # positions that have sets

FEW = 12  # candidates are compared one by one before there is a table
INDEX_BITS = 24
INDEX_MASK = (1 << INDEX_BITS) - 1


def set_at(control: int, position: int) -> int:
    """The set of a position."""
    return control + (SETS + position % RING * SET_WORDS) * 8


def entry(chosen: int, index: int) -> int:
    """Where a candidate of a set is."""
    return load64(chosen, ENTRIES) + index * ((W + RECORDS) * 8)


def index_all(control: int, chosen: int, count: int) -> None:
    """Makes the table of a set know all its candidates."""
    table = load64(chosen, TABLE)
    stamp = load64(chosen, STAMP)
    shift = load64(control, TABLE_SHIFT)
    mask = (1 << (64 - shift)) - 1
    i = load64(chosen, INDEXED)
    while i < count:
        place = hash_of(entry(chosen, i)) >> shift
        while load64(table, place) >> INDEX_BITS == stamp:
            place = (place + 1) & mask
        store64(table, place, stamp << INDEX_BITS | i)
        i += 1
    store64(chosen, INDEXED, count)


def has(control: int, chosen: int, count: int, state: int) -> int:
    """Whether a set has a state."""
    if count < FEW:
        i = 0
        while i < count:
            if same(entry(chosen, i), state):
                return 1
            i += 1
        return 0
    index_all(control, chosen, count)
    table = load64(chosen, TABLE)
    stamp = load64(chosen, STAMP)
    shift = load64(control, TABLE_SHIFT)
    mask = (1 << (64 - shift)) - 1
    place = hash_of(state) >> shift
    slot = load64(table, place)
    while slot >> INDEX_BITS == stamp:
        if same(entry(chosen, slot & INDEX_MASK), state):
            return 1
        place = (place + 1) & mask
        slot = load64(table, place)
    return 0


def add(control: int, position: int, state: int) -> int:
    """Puts a state into the set of a position, if it is not there. Returns 0 if there is no room."""
    chosen = set_at(control, position)
    count = load64(chosen, COUNT)
    if has(control, chosen, count, state):
        return 1
    if count == load64(control, CAPACITY):
        return 0
    to = entry(chosen, count)
    for w in range(W):
        store64(to, w, load64(state, w))
    record = load64(control, RECORD_ADDRESS) + position * (RECORD * 8)
    for w in range(RECORDS):
        store64(to, W + w, load64(record, w))
    store64(chosen, COUNT, count + 1)
    return 1


def empty(chosen: int) -> None:
    """Takes every candidate out of a set."""
    store64(chosen, COUNT, 0)
    if load64(chosen, INDEXED):
        store64(chosen, INDEXED, 0)
        store64(chosen, STAMP, load64(chosen, STAMP) + 1)


KERNELS = (set_at, entry, index_all, has, add, empty)
