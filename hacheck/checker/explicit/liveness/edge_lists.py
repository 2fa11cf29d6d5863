"""Lists of the steps between states, in the kernel language: successors made by the generated `expand`, each looked up
in the visited set of the search.

A list that finds no room is made again each time it is needed.
"""

from __future__ import annotations

from hacheck.checker.explicit.liveness.graph_fields import (
    CANONICAL,
    ENTRY_BYTES,
    EXPAND,
    FLAGS,
    HEAD_BOUND,
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
    TARGET_BITS,
)
from hacheck.checker.explicit.search.control_words import SHIFT, TABLE
from hacheck.checker.explicit.search.state_kernels import stands_for
from hacheck.compile.kernels.language import (
    call,
    fetch_add64,
    load8,
    load16,
    load32,
    load64,
    prefetch,
    store32,
    store64,
    trailing_zeros,
)
from hacheck.compile.kernels.packed_states import W, copy, hash_of, same

RECENT_MASK = (1 << 13) - 1  # set when the kernels are compiled
"""How many of the states that were looked up lately are kept, less one."""
WAITS = 1 << 63
"""On a place among those that are still to be looked up."""
STOP = 1 << 31
"""In a tag: an outcome that is no step."""

(
    BUFFER,  # the states of a batch
    OUT,  # their successors
    TAGS,
    NOTES,
    SOURCES,  # 32-bit vertices whose lists are being made
    MADE,  # their lists, LIST_SIZE entries for each
    ABLE,  # for each source MASKS words: the constraints that are enabled there
    COVERED,  # for each source MASKS words: those that listed steps take
    LISTED,  # for each vertex of a batch the address of its list
    PLACES,  # for each successor its place, 64 bits
    HASHES,  # of those that wait
    WAITING,  # 32 bits each: which successors they are
    FOUND,  # their places
    RECENT,  # states looked up lately, each with its place
    WAITED,  # how many waited last
    CLAIMED,  # 32-bit vertices reached in a batch
    LIST_SIZE,  # entries of the longest list
    CACHE,  # lists that found no room and were made again: LIST_SIZE entries for each
    CACHE_KEYS,  # 32 bits each: whose they are, and 1
    CACHE_MASK,  # how many they are, less one
    NEXT,  # the entries of LISTS that this thread has for its own
    END,
    BOUND_SEEN,  # whether a bound cut a step of a vertex that was reached
    LOST,  # whether a successor is missing among the states, which is our mistake
    WORKER_WORDS,
) = range(25)
"""Fields of `worker`, the array of 64-bit words that each thread has for its own: addresses, where nothing else is
said.

The place of a state that was looked up is its vertex and 1, doubled, and 1 more if it is flagged `IN_DOUBT`."""


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
    out = load64(worker, OUT)
    recent = load64(worker, RECENT)
    successors = load64(worker, WAITING)
    table = load64(load64(ground, SHARED), TABLE)
    shift = load64(load64(ground, SHARED), SHIFT)
    waiting = 0
    i = 0
    while i < k:
        if load64(tags, i) & STOP:
            store64(places, i, 0)
        else:
            state = out + i * (W * 8)
            h = hash_of(state)
            entry = recent + (h & RECENT_MASK) * (W * 8 + 8)
            known = load64(entry, W)
            if known and same(entry, state):
                store64(places, i, known)
            else:
                copy(entry, state)
                store64(entry, W, WAITS | waiting)
                store64(places, i, WAITS | waiting)
                store64(hashes, waiting, h)
                store32(successors, waiting, i)
                prefetch(table, h >> shift)
                waiting += 1
        i += 1
    return waiting


def find_waiting(ground: int, worker: int, waiting: int) -> None:
    """Looks up the successors that wait."""
    hashes = load64(worker, HASHES)
    found = load64(worker, FOUND)
    out = load64(worker, OUT)
    recent = load64(worker, RECENT)
    successors = load64(worker, WAITING)
    flags = load64(ground, FLAGS)
    records = load64(ground, RECORDS)
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
        state = out + load32(successors, i) * (W * 8)
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
        prefetch(flags + vertex, 0)
        prefetch(records, vertex)
        store64(found, i, vertex)
        i += 1
    i = 0
    while i < waiting:
        vertex = load64(found, i)
        place = (vertex + 1) * 2 + (load8(flags, vertex) & IN_DOUBT)
        store64(found, i, place)
        entry = recent + (load64(hashes, i) & RECENT_MASK) * (W * 8 + 8)
        if load64(entry, W) == WAITS | i:
            store64(entry, W, place)
        i += 1
    store64(worker, WAITED, waiting)


# ---- lists ---------------------------------------------------------------------------------------------------------


def entry_at(list_: int, place: int) -> int:
    """An entry of a list."""
    if ENTRY_BYTES == 4:
        return load32(list_, place)
    return load64(list_, place)


def put_entry(list_: int, place: int, entry: int) -> None:
    """Writes an entry of a list."""
    if ENTRY_BYTES == 4:
        store32(list_, place, entry)
    else:
        store64(list_, place, entry)


def bit_in(word: int, constraint: int) -> int:
    """The word `word` of the set of one constraint, or of none for 0."""
    return 1 << ((constraint - 1) & 63) if constraint and (constraint - 1) >> 6 == word else 0


def successors_of(ground: int, worker: int, n: int) -> int:
    """Lists the successors of the first `n` states of BUFFER and looks them up. Returns how many they are."""
    out = load64(worker, OUT)
    tags = load64(worker, TAGS)
    k = call(load64(ground, EXPAND), load64(worker, BUFFER), n, out, tags, load64(worker, NOTES))
    if load64(ground, CANONICAL):
        call(load64(ground, CANONICAL), out, k)
    find_waiting(ground, worker, find_recent(ground, worker, k))
    return k


def made_list(worker: int, source: int) -> int:
    """The address of the list that is made for a source."""
    return load64(worker, MADE) + source * (load64(worker, LIST_SIZE) * ENTRY_BYTES)


def list_steps(ground: int, worker: int, n: int, k: int) -> None:
    """Makes the lists of `n` sources from their `k` successors."""
    tags = load64(worker, TAGS)
    places = load64(worker, PLACES)
    able = load64(worker, ABLE)
    covered = load64(worker, COVERED)
    sources = load64(worker, SOURCES)
    found = load64(worker, FOUND)
    made = load64(worker, MADE)
    size = load64(worker, LIST_SIZE) * ENTRY_BYTES
    taken = load64(ground, TAKEN_BY)
    bits = load64(ground, TARGET_BITS)
    i = 0
    while i < n:
        put_entry(made_list(worker, i), 0, 0)
        for w in range(MASKS):
            store64(able, i * MASKS + w, 0)
            store64(covered, i * MASKS + w, 0)
        i += 1
    j = 0
    while j < k:
        tag = load64(tags, j)
        source = tag >> 32
        list_ = made + source * size
        head = entry_at(list_, 0)
        constraint = load16(taken, tag & (STOP - 1))
        word = source * MASKS + ((constraint - 1) >> 6 if constraint else 0)
        bit = 1 << ((constraint - 1) & 63) if constraint else 0
        store64(able, word, load64(able, word) | bit)
        if tag & STOP:
            put_entry(list_, 0, head | HEAD_BOUND)
            store64(worker, BOUND_SEEN, 1)
        else:
            place = load64(places, j)
            if place & WAITS:
                place = load64(found, place ^ WAITS)
            target = (place >> 1) - 1
            if place & IN_DOUBT and (constraint or target != load32(sources, source)):
                put_entry(list_, (head & (HEAD_BOUND - 1)) + 1, constraint << bits | target)
                put_entry(list_, 0, head + 1)
                store64(covered, word, load64(covered, word) | bit)
        j += 1
    i = 0
    while i < n:
        list_enabled(ground, worker, i)
        i += 1


def list_enabled(ground: int, worker: int, source: int) -> None:
    """Ends the list of a source with the constraints that are enabled there, and that no listed step takes."""
    list_ = made_list(worker, source)
    bits = load64(ground, TARGET_BITS)
    head = entry_at(list_, 0)
    for w in range(MASKS):
        word = source * MASKS + w
        rest = load64(load64(worker, ABLE), word) & ~load64(load64(worker, COVERED), word)
        while rest:
            constraint = trailing_zeros(rest) + 1 + w * 64
            head += 1
            put_entry(list_, head & (HEAD_BOUND - 1), constraint << bits | ((1 << bits) - 1))
            rest = rest & (rest - 1)
    put_entry(list_, 0, head)


def copy_list(to: int, list_: int) -> None:
    """Copies a list."""
    size = (entry_at(list_, 0) & (HEAD_BOUND - 1)) + 1
    place = 0
    while place < size:
        put_entry(to, place, entry_at(list_, place))
        place += 1


def room_for(ground: int, worker: int, size: int) -> int:
    """The entry of LISTS from which on there is room for so many, or 0."""
    start = load64(worker, NEXT)
    if start + size > load64(worker, END):
        chunk = load64(ground, LISTS_CHUNK)
        start = fetch_add64(ground, LISTS_NEXT, chunk)
        if start + chunk > load64(ground, LISTS_END):
            return 0
        store64(worker, END, start + chunk)
    store64(worker, NEXT, start + size)
    return start


def made_again(ground: int, vertex: int) -> int:
    """The address of the list of a vertex that found no room. It stays until another such list is needed."""
    worker = load64(ground, MAKER)
    slot = vertex & load64(worker, CACHE_MASK)
    list_ = load64(worker, CACHE) + slot * load64(worker, LIST_SIZE) * ENTRY_BYTES
    if load32(load64(worker, CACHE_KEYS), slot) != vertex + 1:
        store32(load64(worker, CACHE_KEYS), slot, vertex + 1)
        store32(load64(worker, SOURCES), 0, vertex)
        copy(load64(worker, BUFFER), state_of(ground, vertex))
        list_steps(ground, worker, 1, successors_of(ground, worker, 1))
        copy_list(list_, made_list(worker, 0))
    return list_


def list_of(ground: int, vertex: int) -> int:
    """The address of a vertex's list. It stays until another one is needed."""
    start = load64(load64(ground, RECORDS), vertex) >> 32
    if start:
        return load64(ground, LISTS) + start * ENTRY_BYTES
    return made_again(ground, vertex)


def enabled_word(ground: int, list_: int, word: int) -> int:
    """The word `word` of the constraints that are enabled in the vertex of a list."""
    bits = load64(ground, TARGET_BITS)
    count = entry_at(list_, 0) & (HEAD_BOUND - 1)
    enabled = 0
    place = 1
    while place <= count:
        enabled = enabled | bit_in(word, entry_at(list_, place) >> bits)
        place += 1
    return enabled
