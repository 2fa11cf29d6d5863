"""The visited set, in the kernel language.

A state is `W` words. Its index counts states of the log: state `i` is at `LOG + i * W * 8`. A slot of the visited set
is 0 or `tag << 32 | index + 1`, the tag being the upper half of the state's hash; or, if `EXACT` is 0, the hash itself.
A state's place is the top bits of its hash; where that is taken, one of the next places.

A slot is written once, by compare-and-swap where several threads write, after the state it stands for; so who reads
the slot can read the state.
"""

from __future__ import annotations

from hacheck.checker.explicit.search.control_words import (
    LOG,
    SHIFT,
    TABLE,
)
from hacheck.compile.kernels import packed_states
from hacheck.compile.kernels.language import (
    compare_swap64,
    load64,
    load64_relaxed,
    prefetch,
    store64,
)
from hacheck.compile.kernels.packed_states import W, hash_of, same

# Set when the kernels are compiled, as those of `packed_states` are:
ALONE = 0  # whether one thread works on its own
EXACT = 1  # whether slots hold indices, or else fingerprints

LOW = (1 << 32) - 1
NOWHERE = (1 << 64) - 1


def mark_of(h: int) -> int:
    """What a slot holds of a hash: its upper half; all of it where it stands for the state, and then never 0."""
    if EXACT:
        return h >> 32 << 32
    return h if h else 1


def slot_for(h: int, index: int) -> int:
    """The slot of a state with this hash and index."""
    if EXACT:
        return mark_of(h) | (index + 1)
    return mark_of(h)


def stands_for(slot: int, h: int, log: int, state: int) -> int:
    """Whether a slot is that of a state with this hash."""
    if EXACT:
        if slot >> 32 != h >> 32:
            return 0
        return same(log + ((slot & LOW) - 1) * (W * 8), state)
    return slot == mark_of(h)


def hash_states(states: int, n: int, hashes: int, table: int, shift: int) -> None:
    """Writes the hash of each of `n` states, and has memory fetch the slots where they are looked up next."""
    i = 0
    while i < n:
        h = hash_of(states + i * (W * 8))
        store64(hashes, i, h)
        prefetch(table, h >> shift)
        i += 1


def rehash(old: int, first: int, end: int, table: int, shift: int) -> None:
    """Brings what is in some slots of a table into a larger one. Threads may do so at once, with other slots."""
    mask = (1 << (64 - shift)) - 1
    while first < end:
        slot = load64(old, first)
        if slot:
            place = slot >> shift
            if ALONE:
                while load64(table, place):
                    place = (place + 1) & mask
                store64(table, place, slot)
            else:
                while compare_swap64(table, place, 0, slot):
                    place = (place + 1) & mask
                    while load64_relaxed(table, place):
                        place = (place + 1) & mask
        first += 1


def enter(first: int, end: int, shared: int, hashes: int) -> None:
    """Takes states of the log into the visited set, none of which are in it. `hashes`: address of room for 256."""
    table = load64(shared, TABLE)
    shift = load64(shared, SHIFT)
    log = load64(shared, LOG)
    mask = (1 << (64 - shift)) - 1
    while first < end:
        count = end - first if end - first < 256 else 256
        hash_states(log + first * (W * 8), count, hashes, table, shift)
        i = 0
        while i < count:
            h = load64(hashes, i)
            place = h >> shift
            while compare_swap64(table, place, 0, slot_for(h, first + i)):
                place = (place + 1) & mask
            i += 1
        first += count


def locate(states: int, n: int, indices: int, shared: int) -> None:
    """Writes the index of each of `n` states, `NOWHERE` for one that is not in the log (`EXACT` tables only). Nothing
    is explored meanwhile."""
    table = load64(shared, TABLE)
    shift = load64(shared, SHIFT)
    log = load64(shared, LOG)
    mask = (1 << (64 - shift)) - 1
    hash_states(states, n, indices, table, shift)
    i = 0
    while i < n:
        h = load64(indices, i)
        slot = load64(table, h >> shift)
        if slot >> 32 == h >> 32:
            prefetch(log + ((slot & LOW) - 1) * (W * 8), 0)
        i += 1
    i = 0
    while i < n:
        h = load64(indices, i)
        place = h >> shift
        slot = load64(table, place)
        while slot and not stands_for(slot, h, log, states + i * (W * 8)):
            place = (place + 1) & mask
            slot = load64(table, place)
        store64(indices, i, (slot & LOW) - 1 if slot else NOWHERE)
        i += 1


CORE = (*packed_states.KERNELS, hash_states, mark_of, slot_for, stands_for)
"""What other kernels build on."""

KERNELS = (*CORE, rehash, enter, locate)
