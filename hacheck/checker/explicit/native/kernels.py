"""The loops of the search, in the kernel language: expanding blocks of states, and the visited set.

A state is `W` words. Its index counts states of the log: state `i` is at `LOG + i * W * 8`. A slot of the visited set
is 0 or `tag << 32 | index + 1`, the tag being the upper half of the state's hash; or, if `EXACT` is 0, the hash itself.
A state's place is the top bits of its hash; where that is taken, one of the next places.

Threads meet in two numbers, the cursor and the count, and in the slots. A slot is written once, by compare-and-swap,
after the state it stands for; so who reads the slot can read the state.
"""

from __future__ import annotations

from hacheck.checker.explicit.native.control import (
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
from hacheck.checker.explicit.native.kernel_language import (
    call,
    compare_swap64,
    fetch_add64,
    load32,
    load64,
    load64_acquire,
    load64_relaxed,
    multiply_high,
    prefetch,
    store32,
    store64,
    store64_relaxed,
)

# Set when the kernels are compiled:
W = 1  # words of a state
ALONE = 0  # whether one thread works on its own
EXACT = 1  # whether slots hold indices, or else fingerprints
FILTER_MASK = (1 << 14) - 1  # states seen lately that are kept, less one
HASH_MASK = (1 << 64) - 1  # bits of the hash that are used: all, except in tests that want collisions

LOW = (1 << 32) - 1
NOWHERE = (1 << 64) - 1


# ---- states --------------------------------------------------------------------------------------------------------


def mixed(x: int) -> int:
    """Another number for each number, its bits well spread."""
    x = (x ^ (x >> 32)) * 0x9E3779B97F4A7C15
    x = (x ^ (x >> 29)) * 0xD6E8FEB86659FD93
    return x ^ (x >> 32)


def folded(left: int, right: int) -> int:
    """Both halves of a product in one word."""
    return (left * right) ^ multiply_high(left, right)


def hash_of(state: int) -> int:
    """64 bits that depend on every bit of the state; different ones for different states of one word."""
    h = load64(state, 0)
    for w in range(1, W, 2):
        if w + 1 < W:
            h = folded(h ^ 0xA24BAED4963EE407, load64(state, w) ^ 0x9FB21C651E98DF25) + load64(state, w + 1)
        else:
            h = folded(h ^ 0xA24BAED4963EE407, load64(state, w) ^ 0x9FB21C651E98DF25)
    return mixed(h) & HASH_MASK


def same(left: int, right: int) -> int:
    """Whether two states are equal."""
    difference = load64(left, 0) ^ load64(right, 0)
    for w in range(1, W):
        difference = difference | (load64(left, w) ^ load64(right, w))
    return difference == 0


def copy(to: int, state: int) -> None:
    """Copies a state."""
    for w in range(W):
        store64(to, w, load64(state, w))


# ---- the visited set -----------------------------------------------------------------------------------------------


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


def rehash(old: int, first: int, end: int, table: int, shift: int) -> None:
    """Brings what is in some slots of a table into a larger one. Threads may do so at once, with other slots."""
    mask = (1 << (64 - shift)) - 1
    while first < end:
        slot = load64(old, first)
        if slot:
            place = slot >> shift
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
        i = 0
        while i < count:
            h = hash_of(log + (first + i) * (W * 8))
            store64(hashes, i, h)
            prefetch(table, h >> shift)
            i += 1
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
    i = 0
    while i < n:
        h = hash_of(states + i * (W * 8))
        store64(indices, i, h)
        prefetch(table, h >> shift)
        i += 1
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


# ---- the search ----------------------------------------------------------------------------------------------------


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


def sift(thread: int, shared: int, k: int) -> int:
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
    i = 0
    while i < kept:
        h = hash_of(out + i * (W * 8))
        store64(hashes, i, h)
        prefetch(table, h >> shift)
        i += 1
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
    new = insert(thread, shared, sift(thread, shared, n), NOWHERE)
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
            k = sift(thread, shared, k)
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


CORE = (mixed, folded, hash_of, same, copy, mark_of, slot_for, stands_for)
"""What other kernels build on."""

_SEARCH = (part_of, take_block, recent_entry, sift, insert, open_recent, begin, call_inspect, explore)
KERNELS = (*CORE, rehash, enter, locate, *_SEARCH)
EXPORTED = {"rehash": 5, "enter": 4, "locate": 4, "open_recent": 1, "begin": 3, "explore": 2}
"""Those that are called from Python, with the number of their arguments."""
