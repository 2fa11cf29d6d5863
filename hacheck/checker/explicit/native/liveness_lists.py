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
    STARTS,  # where in SORTED the successors of each source begin, 32 bits; and their end
    SORTED,  # the numbers of successors by source, 32 bits
    MADE,  # the address of the list of each vertex of the batch
    PLACES,  # for each successor its vertex, 64 bits
    HASHES,  # of those that wait
    WAITING,  # 32 bits each: which successors they are
    FOUND,  # 64 bits each: their vertices
    BY,  # constraints of a list that is being made
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
) = range(25)
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


def find_vertices(ground: int, worker: int, k: int) -> None:
    """Writes the vertex of each of `k` successors, and 1, to PLACES."""
    find_waiting(ground, worker, find_recent(ground, worker, k))
    places = load64(worker, PLACES)
    i = 0
    while i < k:
        place = load64(places, i)
        if place & WAITS:
            store64(places, i, load64(load64(worker, FOUND), place ^ WAITS))
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
    """Lists the successors of the first `n` states of BUFFER, finds their vertices and sorts them. Returns how many
    they are."""
    out = load64(worker, OUT)
    tags = load64(worker, TAGS)
    k = call(load64(ground, EXPAND), load64(worker, BUFFER), n, out, tags, load64(worker, NOTES))
    if load64(ground, CANONICAL):
        call(load64(ground, CANONICAL), out, k)
    find_vertices(ground, worker, k)
    sort_by_source(worker, n, k)
    return k


def sort_by_source(worker: int, n: int, k: int) -> None:
    """Writes the numbers of `k` successors of `n` states to SORTED, those of one state together and in their order."""
    tags = load64(worker, TAGS)
    starts = load64(worker, STARTS)
    source = 0
    while source <= n:
        store32(starts, source, 0)
        source += 1
    j = 0
    while j < k:
        source = load64(tags, j) >> 32
        store32(starts, source, load32(starts, source) + 1)
        j += 1
    end = 0
    source = 0
    while source <= n:
        end += load32(starts, source)
        store32(starts, source, end)
        source += 1
    while j:  # from behind: each start goes down from the end of its successors to where they begin
        j -= 1
        source = load64(tags, j) >> 32
        place = load32(starts, source) - 1
        store32(starts, source, place)
        store32(load64(worker, SORTED), place, j)


def write_list(ground: int, worker: int, source: int, list_: int) -> None:
    """Writes the list of a vertex of SOURCES."""
    vertex = load32(load64(worker, SOURCES), source)
    tags = load64(worker, TAGS)
    by = load64(worker, BY)
    enabled = load64(ground, ENABLED) + vertex * (MASKS * 8)
    for w in range(MASKS):
        store64(enabled, w, 0)
    head = 0
    count = 0
    at = load32(load64(worker, STARTS), source)
    end = load32(load64(worker, STARTS), source + 1)
    while at < end:
        j = load32(load64(worker, SORTED), at)
        tag = load64(tags, j)
        constraint = load16(load64(ground, TAKEN_BY), tag & (STOP - 1))
        for w in range(MASKS):
            store64(enabled, w, load64(enabled, w) | bit_in(w, constraint))
        if tag & STOP:
            head = HEAD_CUT
        else:
            target = load64(load64(worker, PLACES), j) - 1
            if (constraint or target != vertex) and load8(load64(ground, FLAGS), target) & IN_DOUBT:
                store32(list_, 1 + count, target)
                if BY_BYTES == 1:
                    store8(by, count, constraint)
                else:
                    store16(by, count, constraint)
                count += 1
        at += 1
    store32(list_, 0, count | head)
    i = 0
    while i < (count * BY_BYTES + 3) // 4:
        store32(list_, 1 + count + i, load32(by, i))
        i += 1


def room_for_list(ground: int, worker: int) -> int:
    """The unit of LISTS at which the next list can be written, or 0."""
    following = load64(worker, NEXT)
    if following + load64(worker, LIST_UNITS) > load64(worker, END):
        chunk = load64(ground, LISTS_CHUNK)
        following = fetch_add64(ground, LISTS_NEXT, chunk)
        if following + chunk > load64(ground, LISTS_END):
            return 0
        store64(worker, NEXT, following)
        store64(worker, END, following + chunk)
    return following


def list_units(list_: int) -> int:
    """The 32-bit units of a list."""
    count = load32(list_, 0) & (HEAD_CUT - 1)
    return 1 + count + (count * BY_BYTES + 3) // 4


def made_again(ground: int, vertex: int) -> int:
    """The address of the list of a vertex that found no room. It stays until another such list is asked for."""
    worker = load64(ground, MAKER)
    slot = vertex & load64(worker, CACHE_MASK)
    list_ = load64(worker, CACHE) + slot * load64(worker, LIST_UNITS) * 4
    if load32(load64(worker, CACHE_KEYS), slot) != vertex + 1:
        store32(load64(worker, CACHE_KEYS), slot, vertex + 1)
        store32(load64(worker, SOURCES), 0, vertex)
        copy(load64(worker, BUFFER), state_of(ground, vertex))
        successors_of(ground, worker, 1)
        write_list(ground, worker, 0, list_)
    return list_


def list_of(ground: int, vertex: int) -> int:
    """The address of a vertex's list. It stays until another one is asked for."""
    start = load64(load64(ground, RECORDS), vertex) >> 32
    if start:
        return load64(ground, LISTS) + start * 4
    return made_again(ground, vertex)
