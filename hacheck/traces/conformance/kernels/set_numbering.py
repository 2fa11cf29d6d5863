"""Numbers for states, and for sets of them, in the kernel language.

A state is kept once. A set is a list of elements in any order: it is the same as another if it has as many, and each
of them. That is seen by stamps: what is in the set that is listed now has the current epoch. Nothing rests on hashes.
"""

from __future__ import annotations

from hacheck.compile.kernels.language import load32, load64, prefetch, store32, store64
from hacheck.compile.kernels.packed_states import W, copy, hash_of, mixed, same
from hacheck.traces.conformance.kernels.automaton_fields import (
    AHEAD_SHIFT,
    EPOCH,
    EPOCH_LAST,
    FORGOTTEN,
    HASHES,
    LARGE,
    LIST_CAPACITY,
    LIST_END,
    LISTED,
    LISTED_COUNT,
    LISTED_SUM,
    LISTS,
    LISTS_FIRST,
    M_EDGE,
    MOVE_COUNT,
    MOVE_SHIFT,
    MOVES,
    N_CLOSED,
    N_COUNT,
    N_FIRST,
    N_HASH,
    NODE_CAPACITY,
    NODE_COUNT,
    NODE_SHIFT,
    NODE_TABLE,
    NODE_WORDS,
    NODES,
    NODES_FIRST,
    STAMPS,
    STATE_CAPACITY,
    STATE_COUNT,
    STATE_SHIFT,
    STATE_STEPS,
    STATE_TABLE,
    STATES,
)
from hacheck.traces.conformance.kernels.control import NOWHERE
from hacheck.traces.conformance.kernels.state_sets import RECORDS

# Set when the kernels are compiled:
PLACES = 1  # records that a step may take
MOVE_WORDS = 3  # of a move

LOW = (1 << 32) - 1
STATE_MASK = (1 << AHEAD_SHIFT) - 1


def clear(table: int, words: int) -> None:
    """Makes words 0."""
    i = 0
    while i < words:
        store64(table, i, 0)
        i += 1


def enter_states(known: int, shift: int) -> None:
    """Makes a table of states anew, of so many slots."""
    table = load64(known, STATE_TABLE)
    states = load64(known, STATES)
    mask = (1 << (64 - shift)) - 1
    clear(table, mask + 1)
    i = 0
    while i < load64(known, STATE_COUNT):
        h = hash_of(states + i * (W * 8))
        place = h >> shift
        while load64(table, place):
            place = (place + 1) & mask
        store64(table, place, h >> 32 << 32 | (i + 1))
        i += 1
    store64(known, STATE_SHIFT, shift)


def number_with(known: int, state: int, h: int) -> int:
    """The number of a state with this hash, which it is given if it has none. `NOWHERE` if there is no room."""
    table = load64(known, STATE_TABLE)
    states = load64(known, STATES)
    shift = load64(known, STATE_SHIFT)
    mask = (1 << (64 - shift)) - 1
    place = h >> shift
    slot = load64(table, place)
    while slot:
        if slot >> 32 == h >> 32 and same(states + ((slot & LOW) - 1) * (W * 8), state):
            return (slot & LOW) - 1
        place = (place + 1) & mask
        slot = load64(table, place)
    count = load64(known, STATE_COUNT)
    if count == load64(known, STATE_CAPACITY):
        return NOWHERE
    copy(states + count * (W * 8), state)
    store64(table, place, h >> 32 << 32 | (count + 1))
    store32(load64(known, STATE_STEPS), count, 0)
    store64(known, STATE_COUNT, count + 1)
    if count * 2 > mask:
        enter_states(known, shift - 1)
    return count


def number_of(known: int, state: int) -> int:
    """The number of a state, which it is given if it has none. `NOWHERE` if there is no room."""
    return number_with(known, state, hash_of(state))


def fetch(known: int, states: int, count: int) -> None:
    """Hashes candidates that will be looked up, and has what that will read brought from memory meanwhile."""
    hashes = load64(known, HASHES)
    table = load64(known, STATE_TABLE)
    shift = load64(known, STATE_SHIFT)
    state = states
    i = 0
    while i < count:
        h = hash_of(state)
        store64(hashes, i, h)
        prefetch(table, h >> shift)
        state += (W + RECORDS) * 8
        i += 1
    kept = load64(known, STATES)
    stamps = load64(known, STAMPS)
    i = 0
    while i < count:
        h = load64(hashes, i)
        slot = load64(table, h >> shift)
        if slot >> 32 == h >> 32:
            prefetch(kept + ((slot & LOW) - 1) * (W * 8), 0)
            prefetch(stamps + ((slot & LOW) - 1) * (PLACES * 4), 0)
        i += 1


def list_anew(known: int) -> int:
    """Begins a set. Returns 0 where that takes forgetting first."""
    epoch = load64(known, EPOCH) + 1
    if epoch >= EPOCH_LAST:
        return 0
    store64(known, EPOCH, epoch)
    store64(known, LISTED_COUNT, 0)
    store64(known, LISTED_SUM, 0)
    return 1


def put(known: int, element: int) -> int:
    """Puts an element into the set that is listed, once. Returns 0 if it is too large then."""
    stamps = load64(known, STAMPS)
    place = (element & STATE_MASK) * PLACES + (element >> AHEAD_SHIFT)
    epoch = load64(known, EPOCH)
    if load32(stamps, place) == epoch:
        return 1
    count = load64(known, LISTED_COUNT)
    if count == load64(known, LARGE):
        return 0
    store32(stamps, place, epoch)
    prefetch(load64(known, STATE_STEPS) + (element & STATE_MASK) * 4, 0)  # read when the set is closed
    store32(load64(known, LISTED), count, element)
    store64(known, LISTED_COUNT, count + 1)
    store64(known, LISTED_SUM, load64(known, LISTED_SUM) + mixed(element + 1))
    return 1


def is_listed(known: int, node: int) -> int:
    """Whether a node is the set that is listed."""
    count = load64(node, N_COUNT)
    if count != load64(known, LISTED_COUNT):
        return 0
    list = load64(known, LISTS) + load64(node, N_FIRST) * 4
    stamps = load64(known, STAMPS)
    epoch = load64(known, EPOCH)
    i = 0
    while i < count:
        element = load32(list, i)
        if load32(stamps, (element & STATE_MASK) * PLACES + (element >> AHEAD_SHIFT)) != epoch:
            return 0
        i += 1
    return 1


def keep_listed(known: int) -> int:
    """Keeps the listed elements. Returns where they are in the lists; 0 if there is no room."""
    count = load64(known, LISTED_COUNT)
    first = load64(known, LIST_END)
    if first + count > load64(known, LIST_CAPACITY):
        return 0
    to = load64(known, LISTS) + first * 4
    listed = load64(known, LISTED)
    i = 0
    while i < count:
        store32(to, i, load32(listed, i))
        i += 1
    store64(known, LIST_END, first + count)
    return first


def enter_nodes(known: int, shift: int) -> None:
    """Makes a table of nodes anew, of so many slots."""
    table = load64(known, NODE_TABLE)
    mask = (1 << (64 - shift)) - 1
    clear(table, mask + 1)
    i = NODES_FIRST
    while i < load64(known, NODE_COUNT):
        h = load64(load64(known, NODES) + i * (NODE_WORDS * 8), N_HASH)
        place = h >> shift
        while load64(table, place):
            place = (place + 1) & mask
        store64(table, place, h >> 32 << 32 | i)
        i += 1
    store64(known, NODE_SHIFT, shift)


def node_of(known: int) -> int:
    """The node of the set that is listed, which is made if there is none. `NOWHERE` if there is no room."""
    count = load64(known, LISTED_COUNT)
    if count == 0:
        return 0
    h = mixed(load64(known, LISTED_SUM))
    table = load64(known, NODE_TABLE)
    nodes = load64(known, NODES)
    shift = load64(known, NODE_SHIFT)
    mask = (1 << (64 - shift)) - 1
    place = h >> shift
    slot = load64(table, place)
    while slot:
        if slot >> 32 == h >> 32 and is_listed(known, nodes + (slot & LOW) * (NODE_WORDS * 8)):
            return slot & LOW
        place = (place + 1) & mask
        slot = load64(table, place)
    number = load64(known, NODE_COUNT)
    if number == load64(known, NODE_CAPACITY):
        return NOWHERE
    first = keep_listed(known)
    if first == 0:
        return NOWHERE
    node = nodes + number * (NODE_WORDS * 8)
    store64(node, N_FIRST, first)
    store64(node, N_COUNT, count)
    store64(node, N_HASH, h)
    store64(node, N_CLOSED, 0)
    store64(table, place, h >> 32 << 32 | number)
    store64(known, NODE_COUNT, number + 1)
    if number * 2 > mask:
        enter_nodes(known, shift - 1)
    return number


def forget(known: int) -> None:
    """Forgets every state, node and move."""
    clear(load64(known, STATE_TABLE), 1 << (64 - load64(known, STATE_SHIFT)))
    clear(load64(known, NODE_TABLE), 1 << (64 - load64(known, NODE_SHIFT)))
    moves = load64(known, MOVES)
    i = 0
    while i < 1 << (64 - load64(known, MOVE_SHIFT)):
        store64(moves, M_EDGE, 0)
        moves += MOVE_WORDS * 8
        i += 1
    clear(load64(known, STAMPS), (load64(known, STATE_CAPACITY) * PLACES + 1) // 2)
    store64(known, EPOCH, 0)
    store64(known, STATE_COUNT, 0)
    store64(known, LIST_END, LISTS_FIRST)
    store64(known, NODE_COUNT, NODES_FIRST)
    store64(known, MOVE_COUNT, 0)
    store64(known, FORGOTTEN, load64(known, FORGOTTEN) + 1)


KERNELS = (
    clear,
    enter_states,
    number_with,
    number_of,
    fetch,
    list_anew,
    put,
    is_listed,
    keep_listed,
    enter_nodes,
    node_of,
    forget,
)
