"""The loops that look back from the end of a search, in the kernel language: from where a condition was met to the
start, and for all states that meet it.

An *entry* is two words: a state's index and, above it, the fewest faults from there to the end of the run; the entry
of the next state and, above it, the instance of the step. Entries of a level are looked up by state in a table like
the visited set, whose slots hold their numbers instead of indices.
"""

from __future__ import annotations

from hacheck.checker.explicit.search.control_words import (
    BEST,
    BLOCK,
    BY,
    CANONICAL,
    CURSOR,
    END,
    ENTRIES,
    EXPAND,
    HASHES,
    INSPECT,
    IS_FAULT,
    LOG,
    LOG_FULL,
    NEXT,
    NOTES,
    OUT,
    PART_BLOCK,
    PART_END,
    PART_FIRST,
    SHIFT,
    SLICE_DONE,
    SLICE_END,
    TABLE,
    TAGS,
)
from hacheck.checker.explicit.search.explore_kernels import part_of
from hacheck.checker.explicit.search.state_kernels import CORE, LOW, NOWHERE, hash_states
from hacheck.compile.kernels.language import (
    call,
    compare_swap64,
    fetch_add64,
    load8,
    load64,
    store64,
)
from hacheck.compile.kernels.packed_states import W, hash_of, same

STOP = 1 << 31  # in a tag: the outcome is no step

# What is kept of the best step of a state: its faults and 1, or 0; its number among the successors; entry; instance.
BEST_FAULTS, BEST_STEP, BEST_ENTRY, BEST_INSTANCE, BEST_WORDS = 0, 1, 2, 3, 4


def seed(first: int, end: int, shared: int) -> None:
    """Makes some entries known to the table. Threads may do so at once, with other entries."""
    table = load64(shared, TABLE)
    shift = load64(shared, SHIFT)
    log = load64(shared, LOG)
    entries = load64(shared, ENTRIES)
    mask = (1 << (64 - shift)) - 1
    while first < end:
        h = hash_of(log + (load64(entries, first * 2) & LOW) * (W * 8))
        slot = h >> 32 << 32 | (first + 1)
        place = h >> shift
        while compare_swap64(table, place, 0, slot):
            place = (place + 1) & mask
        first += 1


def entry_of(h: int, state: int, shared: int) -> int:
    """The entry of a state, or `NOWHERE`."""
    table = load64(shared, TABLE)
    shift = load64(shared, SHIFT)
    log = load64(shared, LOG)
    entries = load64(shared, ENTRIES)
    mask = (1 << (64 - shift)) - 1
    place = h >> shift
    slot = load64(table, place)
    while slot:
        if slot >> 32 == h >> 32:
            entry = (slot & LOW) - 1
            if same(log + (load64(entries, entry * 2) & LOW) * (W * 8), state):
                return entry
        place = (place + 1) & mask
        slot = load64(table, place)
    return NOWHERE


def is_less(left: int, right: int) -> int:
    """Whether a state is less than another, as a packed number."""
    for w in range(W):
        x = load64(left, W - 1 - w)
        y = load64(right, W - 1 - w)
        if x != y:
            return x < y
    return 0


def best_of(first: int, end: int, shared: int) -> int:
    """Of some entries, at least one, the one with the fewest faults; among those, with the least state."""
    log = load64(shared, LOG)
    entries = load64(shared, ENTRIES)
    best = first
    while first < end:
        word = load64(entries, first * 2)
        known = load64(entries, best * 2)
        if word >> 32 == known >> 32:
            if is_less(log + (word & LOW) * (W * 8), log + (known & LOW) * (W * 8)):
                best = first
        elif word >> 32 < known >> 32:
            best = first
        first += 1
    return best


def consider(best: int, faults: int, step: int, entry: int, instance: int, out: int) -> None:
    """Keeps the step if it is better than the best so far: fewer faults, then a lesser state, then instance."""
    known = load64(best, BEST_FAULTS)
    if known and known < faults + 1:
        return
    if known == faults + 1:
        state = out + step * (W * 8)
        other = out + load64(best, BEST_STEP) * (W * 8)
        if is_less(other, state):
            return
        if not is_less(state, other) and load64(best, BEST_INSTANCE) <= instance:
            return
    store64(best, BEST_FAULTS, faults + 1)
    store64(best, BEST_STEP, step)
    store64(best, BEST_ENTRY, entry)
    store64(best, BEST_INSTANCE, instance)


def lead_back(thread: int, shared: int) -> int:
    """Expands blocks of a level again until those of the slice are taken, and makes an entry for each state with a
    step to one that has an entry in the table. `LOG_FULL`: there may be no room for the entries of a block."""
    expand = load64(shared, EXPAND)
    canonical = load64(shared, CANONICAL)
    log = load64(shared, LOG)
    table = load64(shared, TABLE)
    shift = load64(shared, SHIFT)
    entries = load64(shared, ENTRIES)
    faulty = load64(shared, IS_FAULT)
    out = load64(thread, OUT)
    tags = load64(thread, TAGS)
    hashes = load64(thread, HASHES)
    best = load64(thread, BEST)
    while load64(thread, NEXT) + load64(shared, BLOCK) <= load64(thread, END):
        block = fetch_add64(shared, CURSOR, 1)
        if block >= load64(shared, SLICE_END):
            return SLICE_DONE
        part = part_of(shared, block)
        first = load64(part, PART_FIRST) + (block - load64(part, PART_BLOCK)) * load64(shared, BLOCK)
        count = load64(part, PART_END) - first
        if count > load64(shared, BLOCK):
            count = load64(shared, BLOCK)
        k = call(expand, log + first * (W * 8), count, out, tags, load64(thread, NOTES))
        if canonical:
            call(canonical, out, k)
        i = 0
        while i < count:
            store64(best, i * BEST_WORDS, 0)
            i += 1
        hash_states(out, k, hashes, table, shift)
        i = 0
        while i < k:
            tag = load64(tags, i)
            if not tag & STOP:
                entry = entry_of(load64(hashes, i), out + i * (W * 8), shared)
                if entry != NOWHERE:
                    instance = tag & LOW
                    faults = (load64(entries, entry * 2) >> 32) + load8(faulty, instance)
                    consider(best + (tag >> 32) * (BEST_WORDS * 8), faults, i, entry, instance, out)
            i += 1
        made = load64(thread, NEXT)
        i = 0
        while i < count:
            record = best + i * (BEST_WORDS * 8)
            if load64(record, BEST_FAULTS):
                store64(entries, made * 2, (load64(record, BEST_FAULTS) - 1) << 32 | (first + i))
                store64(entries, made * 2 + 1, load64(record, BEST_INSTANCE) << 32 | load64(record, BEST_ENTRY))
                made += 1
            i += 1
        store64(thread, NEXT, made)
    return LOG_FULL


def meet(first: int, end: int, hit: int, pending: int, bit: int, thread: int, shared: int) -> None:
    """Makes an entry for each state of a range that meets one condition: the notes say so in word `hit`. A condition
    of states is evaluated by setting its bit in word `pending`; for what else is noted, `bit` is 0. States for which
    there is no room are left out."""
    entries = load64(shared, ENTRIES)
    made = load64(thread, NEXT)
    count = load64(shared, BLOCK)
    i = first
    while i < end:
        # Blocks are inspected as a whole; only of one with a hit each state by itself.
        n = end - i
        if n > count:
            n = count
        if not hits_condition(i, n, hit, pending, bit, thread, shared):
            i += n
            continue
        last = i + n
        while i < last:
            if made < load64(thread, END) and hits_condition(i, 1, hit, pending, bit, thread, shared):
                store64(entries, made * 2, i)
                store64(entries, made * 2 + 1, 0)
                made += 1
            i += 1
    store64(thread, NEXT, made)


def hits_condition(first: int, n: int, hit: int, pending: int, bit: int, thread: int, shared: int) -> int:
    """Whether one of `n` states meets the condition. `BY` says of each that it is an initial one: only those are
    inspected."""
    notes = load64(thread, NOTES)
    states = load64(shared, LOG) + first * (W * 8)
    store64(notes, hit, 0)
    if bit:
        store64(notes, pending, bit)
        call(load64(shared, INSPECT), states, n, load64(thread, BY), notes)
    else:
        call(load64(shared, EXPAND), states, n, load64(thread, OUT), load64(thread, TAGS), notes)
    return load64(notes, hit)


def find(first: int, end: int, state: int, log: int) -> int:
    """The index of a state among some, or `NOWHERE`; by looking at each."""
    while first < end:
        if same(log + first * (W * 8), state):
            return first
        first += 1
    return NOWHERE


KERNELS = (*CORE, part_of, seed, entry_of, is_less, best_of, consider, lead_back, meet, hits_condition, find)
EXPORTED = {"seed": 3, "best_of": 3, "lead_back": 2, "meet": 7, "find": 4}
"""Those that are called from Python, with the number of their arguments."""
