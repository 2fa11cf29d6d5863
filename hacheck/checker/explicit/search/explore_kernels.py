"""The loops of the search, in the kernel language: blocks of states expanded, successors looked up, new ones kept.

Threads meet in two numbers, the cursor and the count, and in the slots of the visited set.
"""

from __future__ import annotations

from hacheck.checker.explicit.search import state_kernels
from hacheck.checker.explicit.search.control_words import (
    BLOCK,
    BY,
    CANONICAL,
    CURSOR,
    DONE,
    END,
    EXPAND,
    FILTER,
    HASHES,
    INSPECT,
    LOG,
    LOG_FULL,
    NEXT,
    NOTES,
    OUT,
    OWN_END,
    OWN_NEXT,
    PART_BLOCK,
    PART_END,
    PART_FIRST,
    PART_WORDS,
    PARTS,
    PENDING,
    ROOM,
    SHARES,
    SHIFT,
    SLICE_DONE,
    SLICE_END,
    STATES_STOP,
    TABLE,
    TABLE_FULL,
    TAGS,
    USED,
)
from hacheck.checker.explicit.search.state_kernels import (
    ALONE,
    EXACT,
    LOW,
    NOWHERE,
    hash_states,
    slot_for,
    stands_for,
)
from hacheck.compile.kernels.language import (
    call,
    compare_swap64,
    fetch_add64,
    load32,
    load64,
    load64_acquire,
    load64_relaxed,
    prefetch,
    store32,
    store64,
    store64_relaxed,
)
from hacheck.compile.kernels.packed_states import W, copy, same

# Set when the kernels are compiled, as those of `state_kernels` are:
FILTER_MASK = (1 << 14) - 1  # states seen lately that are kept, less one


def part_of(shared: int, block: int) -> int:
    """The address of the part of the level in which a block is."""
    part = shared + PARTS * 8
    while block >= load64(part, PART_WORDS + PART_BLOCK):
        part += PART_WORDS * 8
    return part


def take_block(thread: int, shared: int) -> int:
    """The next block for this thread, `NOWHERE` if the slice has no more. Several threads set some aside, each its own,
    fewer towards the end: neighbours have successors in common, and who saw them lately can drop them."""
    end = load64(shared, SLICE_END)
    if ALONE:
        block = fetch_add64(shared, CURSOR, 1)
        return block if block < end else NOWHERE
    block = load64(thread, OWN_NEXT)
    if block == load64(thread, OWN_END):
        block = load64_relaxed(shared, CURSOR)
        share = (end - block) // load64(shared, SHARES) + 1 if block < end else 1
        block = fetch_add64(shared, CURSOR, share)
        if block >= end:
            return NOWHERE
        store64(thread, OWN_END, block + share if block + share < end else end)
    store64(thread, OWN_NEXT, block + 1)
    return block


def recent_entry(recent: int, state: int) -> int:
    """Where a state stands among those seen lately. Cheaper than its hash, and as good for that."""
    x = load64(state, 0) * 0x9E3779B97F4A7C15
    for w in range(1, W):
        x = x + load64(state, w) * (0xD6E8FEB86659FD93 + w * 0x3F6443CA32D3C68A)
    return recent + ((x >> 40) & FILTER_MASK) * (W * 8)


def drop_duplicates(thread: int, shared: int, k: int) -> int:
    """Drops those of `k` successors that were seen lately, which are most; hashes the others and has their slots
    fetched. Returns how many are left."""
    out = load64(thread, OUT)
    tags = load64(thread, TAGS)
    hashes = load64(thread, HASHES)
    by = load64(thread, BY)
    recent = load64(thread, FILTER)
    table = load64(shared, TABLE)
    shift = load64(shared, SHIFT)
    i = 0
    while i < k:
        entry = recent_entry(recent, out + i * (W * 8))
        store64(hashes, i, entry)
        prefetch(entry, 0)
        i += 1
    # Which were seen is as good as random: written without a branch that a processor would guess wrong.
    kept = 0
    i = 0
    while i < k:
        state = out + i * (W * 8)
        entry = load64(hashes, i)
        tag = load64(tags, i)
        was_seen = same(entry, state)
        copy(entry, state)
        copy(out + kept * (W * 8), state)
        store32(by, kept, tag)
        kept += 1 - was_seen
        i += 1
    hash_states(out, kept, hashes, table, shift)
    return kept


def insert(thread: int, shared: int, k: int, most: int) -> int:
    """Looks up the `k` successors that wait, and appends to this thread's log those that are new. Returns how many;
    when there are more than `most`, they and what is behind them go on waiting."""
    out = load64(thread, OUT)
    hashes = load64(thread, HASHES)
    by = load64(thread, BY)
    first = load64(thread, NEXT)
    table = load64(shared, TABLE)
    shift = load64(shared, SHIFT)
    log = load64(shared, LOG)
    mask = (1 << (64 - shift)) - 1
    if EXACT:
        i = 0
        while i < k:
            h = load64(hashes, i)
            slot = load64_relaxed(table, h >> shift)
            prefetch(log + ((slot & LOW) - 1) * (W * 8) if slot >> 32 == h >> 32 else hashes, 0)
            i += 1
    found = first
    is_full = 0
    i = load64(thread, DONE)
    while i < k:
        h = load64(hashes, i)
        state = out + i * (W * 8)
        place = h >> shift
        while 1:
            slot = load64_acquire(table, place)
            if slot == 0:
                if found - first >= most:
                    is_full = 1
                    break
                copy(log + found * (W * 8), state)
                if ALONE:
                    store64_relaxed(table, place, slot_for(h, found))
                else:
                    slot = compare_swap64(table, place, 0, slot_for(h, found))
                if slot == 0:
                    store32(by, found - first, load32(by, i))
                    found += 1
                    break
            if stands_for(slot, h, log, state):
                break
            place = (place + 1) & mask
        if is_full:
            break
        i += 1
    store64(thread, NEXT, found)
    store64(thread, PENDING, k if i < k else 0)
    store64(thread, DONE, i if i < k else 0)
    return found - first


def open_recent(thread: int) -> None:
    """Makes ready the states seen lately of a thread, whose memory is all zeros: as it is, the entry of state 0 says
    that it was seen."""
    state = load64(thread, OUT)
    recent = load64(thread, FILTER)
    entry = recent_entry(recent, state)
    while recent_entry(recent, state) == entry:
        store64(state, 0, load64(state, 0) + 1)
    copy(entry, state)


def begin(thread: int, shared: int, n: int) -> int:
    """Takes `n` states that stand where successors of a block do for the initial ones, if there is room for them all.
    Their `TAGS` are the number of instances each. Returns how many are new."""
    canonical = load64(shared, CANONICAL)
    if canonical:
        call(canonical, load64(thread, OUT), n)
    new = insert(thread, shared, drop_duplicates(thread, shared, n), NOWHERE)
    fetch_add64(shared, USED, new)
    call_inspect(thread, shared, new)
    return new


def call_inspect(thread: int, shared: int, new: int) -> None:
    """Asks what is sought of the `new` states that this thread found last."""
    if new:
        states = load64(shared, LOG) + (load64(thread, NEXT) - new) * (W * 8)
        call(load64(shared, INSPECT), states, new, load64(thread, BY), load64(thread, NOTES))


def explore(thread: int, shared: int) -> int:
    """Expands blocks of the level until those of the slice are taken, or something is full: then it goes on where it
    was when called again."""
    expand = load64(shared, EXPAND)
    canonical = load64(shared, CANONICAL)
    log = load64(shared, LOG)
    out = load64(thread, OUT)
    notes = load64(thread, NOTES)
    while 1:
        k = load64(thread, PENDING)
        if k == 0:
            block = take_block(thread, shared)
            if block == NOWHERE:
                return SLICE_DONE
            part = part_of(shared, block)
            first = load64(part, PART_FIRST) + (block - load64(part, PART_BLOCK)) * load64(shared, BLOCK)
            count = load64(part, PART_END) - first
            if count > load64(shared, BLOCK):
                count = load64(shared, BLOCK)
            k = call(expand, log + first * (W * 8), count, out, load64(thread, TAGS), notes)
            if canonical:
                call(canonical, out, k)
            k = drop_duplicates(thread, shared, k)
            store64(thread, PENDING, k)
        used = fetch_add64(shared, USED, k)
        if used + k > load64(shared, ROOM):
            fetch_add64(shared, USED, 0 - k)
            return TABLE_FULL
        if load64(thread, NEXT) + k > load64(thread, END):
            fetch_add64(shared, USED, 0 - k)
            return LOG_FULL
        new = insert(thread, shared, k, load64(shared, STATES_STOP) - used)
        used = fetch_add64(shared, USED, new - k) + new - k
        call_inspect(thread, shared, new)
        if used >= load64(shared, STATES_STOP):
            return SLICE_DONE


_SEARCH = (part_of, take_block, recent_entry, drop_duplicates, insert, open_recent, begin, call_inspect, explore)
KERNELS = (*state_kernels.KERNELS, *_SEARCH)
EXPORTED = {"rehash": 5, "enter": 4, "locate": 4, "open_recent": 1, "begin": 3, "explore": 2}
"""Those that are called from Python, with the number of their arguments."""
