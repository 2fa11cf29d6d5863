"""Steps from a set of candidates that sees the next records of each node, in the kernel language.

A set is a node, as in the automaton of traces in one order. A move is a node with the records that it sees: what steps
take from it, and to which nodes. Traces of one protocol repeat each other, so a move that was worked out is kept.
"""

from __future__ import annotations

from hacheck.compile.kernels.language import call, load8, load32, load64, store64
from hacheck.compile.kernels.packed_states import W, folded
from hacheck.traces.conformance.kernels.automaton_fields import (
    LISTS,
    MOVE_CAPACITY,
    MOVE_COUNT,
    MOVE_SHIFT,
    MOVES,
    N_COUNT,
    N_FIRST,
    NODE_WORDS,
    NODES,
    STATES,
)
from hacheck.traces.conformance.kernels.control import (
    BYTES,
    COUNT,
    EMITTED,
    EMITTED_COUNT,
    ERROR,
    LIMITED_COUNT,
    LIMITED_FIRST,
    MARK,
    MARK_COUNT,
    MARK_WORDS,
    MARKS,
    NOTES,
    NOWHERE,
    PAUSE,
    RECORD_ADDRESS,
    TAKEN_MASKS,
)
from hacheck.traces.conformance.kernels.cut_fields import (
    M_ALL,
    M_COUNTS,
    M_EDGE,
    M_MET,
    M_SOME,
    M_STEPS,
    M_WINDOW,
    MOVE_STEP_CAPACITY,
    MOVE_STEP_COUNT,
    MOVE_STEPS,
    NO_ROOM,
    PAUSED,
    STEP_OF,
    TAKEN,
    TOO_LARGE,
    UNION_BITS,
    UNIONS,
    WINDOW,
    WORKED_OUT,
)
from hacheck.traces.conformance.kernels.hidden_closure import close
from hacheck.traces.conformance.kernels.set_numbering import (
    MOVE_WORDS,
    list_anew,
    node_of,
    number_of,
    put,
)
from hacheck.traces.conformance.kernels.state_sets import RECORDS, empty, entry, set_at

# Set when the kernels are compiled:
STREAMS = 1  # nodes that logged apart
STEP_BITS = 8  # of the number of records that a step takes of one stream

DONE = PAUSED
"""What kernels here return where nothing stands in the way."""


def cut_move_for(known: int, number: int, window: int) -> int:
    """Where the move of a node by some records is in the table, or is to be."""
    h = folded(number ^ 0xA24BAED4963EE407, load64(window, 0) ^ 0x9FB21C651E98DF25)
    for w in range(1, RECORDS):
        h = folded(h ^ 0xA24BAED4963EE407, load64(window, w) ^ 0x9FB21C651E98DF25)
    shift = load64(known, MOVE_SHIFT)
    mask = (1 << (64 - shift)) - 1
    place = h >> shift
    moves = load64(known, MOVES)
    move = moves + place * (MOVE_WORDS * 8)
    while load64(move, M_EDGE):
        difference = load64(move, M_EDGE) ^ number
        for w in range(RECORDS):
            difference = difference | (load64(move, M_WINDOW + w) ^ load64(window, w))
        if difference == 0:
            return move
        place = (place + 1) & mask
        move = moves + place * (MOVE_WORDS * 8)
    return move


def hold_node(control: int, known: int, search: int, number: int) -> None:
    """Makes the states of a node the candidates of the first set, which see the records of the window."""
    window = load64(search, WINDOW)
    store64(control, RECORD_ADDRESS, window)
    chosen = set_at(control, 0)
    empty(chosen)
    node = load64(known, NODES) + number * (NODE_WORDS * 8)
    list = load64(known, LISTS) + load64(node, N_FIRST) * 4
    count = load64(node, N_COUNT)
    i = 0
    while i < count:
        state = load64(known, STATES) + load32(list, i) * (W * 8)
        to = entry(chosen, i)
        for w in range(W):
            store64(to, w, load64(state, w))
        for w in range(RECORDS):
            store64(to, W + w, load64(window, w))
        i += 1
    store64(chosen, COUNT, count)


def bounds_met(control: int) -> int:
    """How many steps met a bound so far."""
    notes = load64(control, NOTES)
    total = 0
    i = 0
    while i < load64(control, LIMITED_COUNT):
        total += load64(notes, load64(control, LIMITED_FIRST) + i)
        i += 1
    return total


def look_at_set(control: int, move: int) -> None:
    """Notes which properties some candidates of the first set violate, and which all do."""
    chosen = set_at(control, 0)
    count = load64(chosen, COUNT)
    bytes = load64(control, BYTES)
    some = 0
    every = 0
    number = 0
    while number < load64(control, MARK_COUNT):
        call(load64(load64(control, MARKS) + number * (MARK_WORDS * 8), MARK), entry(chosen, 0), count, bytes)
        violated = 0
        i = 0
        while i < count:
            violated += load8(bytes, i)
            i += 1
        if violated:
            some = some | 1 << number
        if violated == count:
            every = every | 1 << number
        number += 1
    store64(move, M_SOME, some)
    store64(move, M_ALL, every)


def packed_step(search: int, state: int) -> int:
    """How many records of each stream the step to a state took."""
    packed = 0
    at = load64(search, TAKEN)
    stream = 0
    while stream < STREAMS:
        taken = (load64(state, load64(at, 0)) >> load64(at, 1)) & load64(at, 2)
        packed = packed | taken << (stream * STEP_BITS)
        at += 24
        stream += 1
    return packed


def number_emitted(control: int, known: int, search: int) -> int:
    """Numbers the states after steps that took records, each beside what its step took. Returns 0 if there is no
    room."""
    masks = load64(control, TAKEN_MASKS)
    state = load64(control, EMITTED)
    pairs = load64(search, STEP_OF)
    i = 0
    while i < load64(control, EMITTED_COUNT):
        store64(pairs, 2 * i, packed_step(search, state))
        for w in range(W):
            store64(state, w, load64(state, w) & ~load64(masks, w))
        number = number_of(known, state)
        if number == NOWHERE:
            return 0
        store64(pairs, 2 * i + 1, number)
        state += W * 8
        i += 1
    return 1


def keep_step(known: int, search: int, step: int) -> int:
    """Keeps a step to the set that is listed, among those of the move that is worked out."""
    to = node_of(known)
    at = load64(search, MOVE_STEP_COUNT)
    if to == NOWHERE or at == load64(search, MOVE_STEP_CAPACITY):
        return NO_ROOM
    store64(load64(search, MOVE_STEPS), 2 * at, step)
    store64(load64(search, MOVE_STEPS), 2 * at + 1, to)
    store64(search, MOVE_STEP_COUNT, at + 1)
    return DONE


def group_emitted(control: int, known: int, search: int) -> int:
    """Makes one set of all states to which steps lead that took the same records, for each of them."""
    count = load64(control, EMITTED_COUNT)
    pairs = load64(search, STEP_OF)
    i = 0
    while i < count:
        step = load64(pairs, 2 * i)
        if step:
            if not list_anew(known):
                return NO_ROOM
            j = i
            while j < count:
                if load64(pairs, 2 * j) == step:
                    store64(pairs, 2 * j, 0)
                    if not put(known, load64(pairs, 2 * j + 1)):
                        return TOO_LARGE
                j += 1
            status = keep_step(known, search, step)
            if status != DONE:
                return status
        i += 1
    return DONE


def work_out_move(control: int, known: int, search: int, number: int, move: int) -> int:
    """Takes every step from the states of a node that see the records of the window, and keeps that as a move."""
    if load64(known, MOVE_COUNT) == load64(known, MOVE_CAPACITY):
        return NO_ROOM
    notes = load64(control, NOTES)
    hold_node(control, known, search, number)
    store64(control, EMITTED_COUNT, 0)
    store64(control, PAUSE, NOWHERE)
    store64(notes, load64(control, ERROR), 0)
    before = bounds_met(control)
    done = close(control, 0)
    if done == NOWHERE or done < load64(set_at(control, 0), COUNT):
        return TOO_LARGE
    first = load64(search, MOVE_STEP_COUNT)
    look_at_set(control, move)
    if not number_emitted(control, known, search):
        return NO_ROOM
    status = group_emitted(control, known, search)
    if status != DONE:
        return status
    store64(move, M_EDGE, number)
    store64(move, M_STEPS, first)
    store64(move, M_COUNTS, done << 32 | (load64(search, MOVE_STEP_COUNT) - first))
    failed = 1 if load64(notes, load64(control, ERROR)) else 0
    store64(notes, load64(control, ERROR), 0)
    store64(move, M_MET, (bounds_met(control) - before) << 1 | failed)
    for w in range(RECORDS):
        store64(move, M_WINDOW + w, load64(load64(search, WINDOW), w))
    store64(known, MOVE_COUNT, load64(known, MOVE_COUNT) + 1)
    store64(search, WORKED_OUT, load64(search, WORKED_OUT) + 1)
    return DONE


def put_all(known: int, number: int) -> int:
    """Puts the states of a node into the set that is listed. Returns 0 if it is too large then."""
    node = load64(known, NODES) + number * (NODE_WORDS * 8)
    list = load64(known, LISTS) + load64(node, N_FIRST) * 4
    i = 0
    while i < load64(node, N_COUNT):
        if not put(known, load32(list, i)):
            return 0
        i += 1
    return 1


def union_of(known: int, search: int, left: int, right: int) -> int:
    """The node of the states of two nodes. `NOWHERE` if there is no room; 0 if it is too large."""
    pair = left << 32 | right
    slot = load64(search, UNIONS) + (folded(pair, 0x9E3779B97F4A7C15) >> (64 - UNION_BITS)) * 16
    if load64(slot, 0) == pair:
        return load64(slot, 1)
    if not list_anew(known):
        return NOWHERE
    if not put_all(known, left) or not put_all(known, right):
        return 0
    both = node_of(known)
    if both != NOWHERE:
        store64(slot, 0, pair)
        store64(slot, 1, both)
    return both


KERNELS = (
    cut_move_for,
    hold_node,
    bounds_met,
    look_at_set,
    packed_step,
    number_emitted,
    keep_step,
    group_emitted,
    work_out_move,
    put_all,
    union_of,
)
