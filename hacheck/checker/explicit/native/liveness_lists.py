"""Lists of the steps between states, in the kernel language: successors made by the generated `expand`, each looked up
in the visited set of the search.

A list that finds no room is made again each time it is asked for.
"""

from __future__ import annotations

from hacheck.checker.explicit.native.control import SHIFT, TABLE
from hacheck.checker.explicit.native.kernel_language import (
    call,
    fetch_add64,
    load8,
    load16,
    load32,
    load64,
    prefetch,
    store8,
    store16,
    store32,
    store64,
)
from hacheck.checker.explicit.native.kernels import W, copy, hash_of, same, stands_for
from hacheck.checker.explicit.native.liveness_fields import (
    BY_BYTES,
    CANONICAL,
    ENABLED,
    EXPAND,
    FLAGS,
    HEAD_CUT,
    IN_DOUBT,
    LISTS,
    LISTS_CHUNK,
    LISTS_END,
    LISTS_NEXT,
    LOW,
    MAKER,
    MASKS,
    RECORDS,
    SHARED,
    SPANS,
    STATES,
    TAKEN_BY,
)

BATCH = 64
"""States that are expanded at once."""
RECENT_MASK = (1 << 13) - 1
"""How many of the states that were looked up lately are kept, less one."""
WAITS = 1 << 63
"""On a place among those that are still to be looked up."""
STOP = 1 << 31
"""In a tag: an outcome that is no step."""

(
    BUFFER,  # BATCH states
    OUT,  # their successors
    TAGS,
    NOTES,
    SOURCES,  # 32-bit vertices whose lists are being made
    ABLE,  # for each source MASKS words: the constraints that are enabled there
    HEADS,  # for each source, 32 bits: what its list begins with
    FILLED,  # for each source, 32 bits: how many steps are in its list
    MADE,  # for each source the address of its list
    LISTED,  # for each vertex of a batch the address of its list
    PLACES,  # for each successor its vertex and 1, or 0 if it is not listed; 64 bits
    HASHES,  # of those that wait
    WAITING,  # 32 bits each: which successors they are
    FOUND,  # 64 bits each: their vertices, and 1
    RECENT,  # states looked up lately, each with its vertex and 1, or 0
    CLAIMED,  # 32-bit vertices reached in a batch
    SPARE,  # where lists are made that find no room: LIST_UNITS for each vertex of a batch
    LIST_UNITS,  # of the longest list
    CACHE,  # lists that found no room and were made again: LIST_UNITS for each
    CACHE_KEYS,  # 32 bits each: whose they are, and 1
    CACHE_MASK,  # how many they are, less one
    NEXT,  # the units of LISTS that this thread has for its own
    END,
    CUT_SEEN,  # whether a bound cut a step of a vertex that was reached
    LOST,  # whether a successor is missing among the states, which is our mistake
    WORKER_WORDS,
) = range(26)
"""Fields of `worker`, the array of 64-bit words that each thread has for its own: addresses, where nothing else is
said."""


# ---- vertices and states -------------------------------------------------------------------------------------------


def state_of(ground: int, vertex: int) -> int:
    """The address of a vertex's state."""
    span = load64(ground, SPANS)
    while load64(span, 3) <= vertex:
        span += 16
    return load64(ground, STATES) + (vertex - load64(span, 1) + load64(span, 0)) * (W * 8)


def vertex_of(ground: int, index: int) -> int:
    """The vertex of a state by its index in the search's log."""
    span = load64(ground, SPANS)
    while load64(span, 2) <= index:
        span += 16
    return index - load64(span, 0) + load64(span, 1)


def find_recent(ground: int, worker: int, k: int) -> int:
    """Finds those of `k` successors that were looked up lately, which is most, and has the slots of the others fetched.
    Returns how many have to wait for theirs."""
    tags = load64(worker, TAGS)
    places = load64(worker, PLACES)
    hashes = load64(worker, HASHES)
    table = load64(load64(ground, SHARED), TABLE)
    shift = load64(load64(ground, SHARED), SHIFT)
    waiting = 0
    i = 0
    while i < k:
        if load64(tags, i) & STOP:
            store64(places, i, 0)
        else:
            state = load64(worker, OUT) + i * (W * 8)
            h = hash_of(state)
            entry = load64(worker, RECENT) + (h & RECENT_MASK) * (W * 8 + 8)
            known = load64(entry, W)
            if known and same(entry, state):
                store64(places, i, known)
            else:
                copy(entry, state)
                store64(entry, W, WAITS | waiting)
                store64(places, i, WAITS | waiting)
                store64(hashes, waiting, h)
                store32(load64(worker, WAITING), waiting, i)
                prefetch(table, h >> shift)
                waiting += 1
        i += 1
    return waiting


def find_waiting(ground: int, worker: int, waiting: int) -> None:
    """Looks up the successors that wait."""
    hashes = load64(worker, HASHES)
    table = load64(load64(ground, SHARED), TABLE)
    shift = load64(load64(ground, SHARED), SHIFT)
    mask = (1 << (64 - shift)) - 1
    states = load64(ground, STATES)
    i = 0
    while i < waiting:
        h = load64(hashes, i)
        slot = load64(table, h >> shift)
        if slot >> 32 == h >> 32:
            prefetch(states + ((slot & LOW) - 1) * (W * 8), 0)
        i += 1
    i = 0
    while i < waiting:
        h = load64(hashes, i)
        state = load64(worker, OUT) + load32(load64(worker, WAITING), i) * (W * 8)
        place = h >> shift
        slot = load64(table, place)
        while slot and not stands_for(slot, h, states, state):
            place = (place + 1) & mask
            slot = load64(table, place)
        vertex = 0
        if slot:
            vertex = vertex_of(ground, (slot & LOW) - 1)
        else:
            store64(worker, LOST, 1)
        prefetch(load64(ground, FLAGS) + vertex, 0)
        prefetch(load64(ground, RECORDS), vertex)
        store64(load64(worker, FOUND), i, vertex + 1)
        entry = load64(worker, RECENT) + (h & RECENT_MASK) * (W * 8 + 8)
        if load64(entry, W) == WAITS | i:
            store64(entry, W, vertex + 1)
        i += 1


# ---- lists ---------------------------------------------------------------------------------------------------------


def bit_in(word: int, constraint: int) -> int:
    """The word `word` of the set of one constraint, or of none for 0."""
    return 1 << ((constraint - 1) & 63) if constraint and (constraint - 1) >> 6 == word else 0


def taken_by(list_: int, count: int, step: int) -> int:
    """The constraint that a step of a list takes, from 1, or 0."""
    if BY_BYTES == 1:
        return load8(list_ + 4 + count * 4, step)
    return load16(list_ + 4 + count * 4, step)


def successors_of(ground: int, worker: int, n: int) -> int:
    """Lists the successors of the first `n` states of BUFFER and looks them up. Returns how many they are."""
    out = load64(worker, OUT)
    tags = load64(worker, TAGS)
    k = call(load64(ground, EXPAND), load64(worker, BUFFER), n, out, tags, load64(worker, NOTES))
    if load64(ground, CANONICAL):
        call(load64(ground, CANONICAL), out, k)
    find_waiting(ground, worker, find_recent(ground, worker, k))
    return k


def choose_steps(ground: int, worker: int, n: int, k: int) -> None:
    """Finds out which of `k` successors of `n` sources are to be listed, and what else is known of the sources."""
    tags = load64(worker, TAGS)
    places = load64(worker, PLACES)
    heads = load64(worker, HEADS)
    able = load64(worker, ABLE)
    sources = load64(worker, SOURCES)
    found = load64(worker, FOUND)
    flags = load64(ground, FLAGS)
    taken = load64(ground, TAKEN_BY)
    i = 0
    while i < n:
        store32(heads, i, 0)
        for w in range(MASKS):
            store64(able, i * MASKS + w, 0)
        i += 1
    j = 0
    while j < k:
        tag = load64(tags, j)
        source = tag >> 32
        constraint = load16(taken, tag & (STOP - 1))
        if constraint:
            word = source * MASKS + ((constraint - 1) >> 6)
            store64(able, word, load64(able, word) | 1 << ((constraint - 1) & 63))
        if tag & STOP:
            store64(places, j, 0)
            store32(heads, source, load32(heads, source) | HEAD_CUT)
        else:
            place = load64(places, j)
            if place & WAITS:
                place = load64(found, place ^ WAITS)
            listed = 0
            if (constraint or place - 1 != load32(sources, source)) and load8(flags, place - 1) & IN_DOUBT:
                listed = place
                store32(heads, source, load32(heads, source) + 1)
            store64(places, j, listed)
        j += 1


def write_lists(ground: int, worker: int, n: int, k: int) -> None:
    """Writes the lists of `n` sources to where MADE says, from the successors that were chosen."""
    tags = load64(worker, TAGS)
    places = load64(worker, PLACES)
    heads = load64(worker, HEADS)
    filled = load64(worker, FILLED)
    made = load64(worker, MADE)
    taken = load64(ground, TAKEN_BY)
    i = 0
    while i < n:
        store32(filled, i, 0)
        store32(load64(made, i), 0, load32(heads, i))
        enabled = load64(ground, ENABLED) + load32(load64(worker, SOURCES), i) * (MASKS * 8)
        for w in range(MASKS):
            store64(enabled, w, load64(load64(worker, ABLE), i * MASKS + w))
        i += 1
    j = 0
    while j < k:
        place = load64(places, j)
        if place:
            tag = load64(tags, j)
            source = tag >> 32
            step = load32(filled, source)
            list_ = load64(made, source)
            store32(list_, 1 + step, place - 1)
            by = list_ + 4 + (load32(heads, source) & (HEAD_CUT - 1)) * 4
            if BY_BYTES == 1:
                store8(by, step, load16(taken, tag & (STOP - 1)))
            else:
                store16(by, step, load16(taken, tag & (STOP - 1)))
            store32(filled, source, step + 1)
        j += 1


def list_units(count: int) -> int:
    """The 32-bit units of a list of so many steps."""
    return 1 + count + (count * BY_BYTES + 3) // 4


def room_for_list(ground: int, worker: int, units: int) -> int:
    """The unit of LISTS from which on there is room for a list, or 0."""
    start = load64(worker, NEXT)
    if start + units > load64(worker, END):
        chunk = load64(ground, LISTS_CHUNK)
        start = fetch_add64(ground, LISTS_NEXT, chunk)
        if start + chunk > load64(ground, LISTS_END):
            return 0
        store64(worker, END, start + chunk)
    store64(worker, NEXT, start + units)
    return start


def made_again(ground: int, vertex: int) -> int:
    """The address of the list of a vertex that found no room. It stays until another such list is asked for."""
    worker = load64(ground, MAKER)
    slot = vertex & load64(worker, CACHE_MASK)
    list_ = load64(worker, CACHE) + slot * load64(worker, LIST_UNITS) * 4
    if load32(load64(worker, CACHE_KEYS), slot) != vertex + 1:
        store32(load64(worker, CACHE_KEYS), slot, vertex + 1)
        store32(load64(worker, SOURCES), 0, vertex)
        copy(load64(worker, BUFFER), state_of(ground, vertex))
        store64(load64(worker, MADE), 0, list_)
        k = successors_of(ground, worker, 1)
        choose_steps(ground, worker, 1, k)
        write_lists(ground, worker, 1, k)
    return list_


def list_of(ground: int, vertex: int) -> int:
    """The address of a vertex's list. It stays until another one is asked for."""
    start = load64(load64(ground, RECORDS), vertex) >> 32
    if start:
        return load64(ground, LISTS) + start * 4
    return made_again(ground, vertex)
