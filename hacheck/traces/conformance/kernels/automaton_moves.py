"""The moves of the automaton that is made while logs are followed, in the kernel language: from a node by the records
that it sees to the next one.

What a set of candidates becomes by a record depends on the two alone, so it is worked out once and looked up from then
on. All that is known of a step stands in its move.
"""

from __future__ import annotations

from hacheck.compile.kernels.language import call, load32, load64, store64
from hacheck.compile.kernels.packed_states import W, copy, folded
from hacheck.traces.conformance.kernels.automaton_fields import (
    AHEAD_SHIFT,
    HASHES,
    LIMITED_MAX,
    LINE_ERROR,
    LINE_EXPAND,
    LINE_LIMITED_COUNT,
    LINE_LIMITED_FIRST,
    LINE_NOTES,
    LISTS,
    M_EDGE,
    M_MET,
    M_WINDOW,
    MOVE_CAPACITY,
    MOVE_COUNT,
    MOVE_SHIFT,
    MOVES,
    MOVES_SPARE,
    N_CLOSED,
    N_COUNT,
    N_FIRST,
    N_MET,
    N_WIDTH,
    SEEN,
    STATES,
    WIDTH_SHIFT,
    WORKED_OUT,
)
from hacheck.traces.conformance.kernels.automaton_nodes import AHEAD_ONE, close_node, node_at, total_of
from hacheck.traces.conformance.kernels.control import BLOCK, NOWHERE, OUT, TAGS, TAKEN_MASK, TAKEN_SHIFT, TAKEN_WORD
from hacheck.traces.conformance.kernels.set_numbering import (
    MOVE_WORDS,
    clear,
    fetch,
    list_anew,
    node_of,
    number_with,
    put,
)
from hacheck.traces.conformance.kernels.state_sets import RECORDS


def move_for(known: int, number: int, window: int) -> int:
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
        difference = load64(move, M_EDGE) >> 32 ^ number
        for w in range(RECORDS):
            difference = difference | (load64(move, M_WINDOW + w) ^ load64(window, w))
        if difference == 0:
            return move
        place = (place + 1) & mask
        move = moves + place * (MOVE_WORDS * 8)
    return move


def enter_moves(known: int, shift: int) -> None:
    """Moves the table of moves to where there is room for so many slots."""
    old = load64(known, MOVES)
    slots = 1 << (64 - load64(known, MOVE_SHIFT))
    moves = load64(known, MOVES_SPARE)
    clear(moves, MOVE_WORDS << (64 - shift))
    store64(known, MOVES, moves)
    store64(known, MOVES_SPARE, old)
    store64(known, MOVE_SHIFT, shift)
    i = 0
    while i < slots:
        if load64(old, M_EDGE):
            to = move_for(known, load64(old, M_EDGE) >> 32, old + M_WINDOW * 8)
            for w in range(MOVE_WORDS):
                store64(to, w, load64(old, w))
        old += MOVE_WORDS * 8
        i += 1


def list_line_successors(control: int, known: int, k: int) -> int:
    """Lists the states after those of `k` steps that take records. Returns 0 if there is no room, or the set is too
    large."""
    word = load64(control, TAKEN_WORD)
    shift = load64(control, TAKEN_SHIFT)
    mask = load64(control, TAKEN_MASK)
    out = load64(control, OUT)
    tags = load64(control, TAGS)
    to = out
    from_ = out
    listed = 0
    i = 0
    while i < k:
        content = load64(from_, word)
        taken = (content >> shift) & mask
        if taken:
            store64(from_, word, content & ~(mask << shift))
            store64(tags, listed, (taken - 1) << AHEAD_SHIFT)
            copy(to, from_)
            to += (W + RECORDS) * 8
            listed += 1
        from_ += (W + RECORDS) * 8
        i += 1
    fetch(known, out, listed)
    state = out
    i = 0
    while i < listed:
        number = number_with(known, state, load64(load64(known, HASHES), i))
        if number == NOWHERE:
            return 0
        if not put(known, number + load64(tags, i)):
            return 0
        state += (W + RECORDS) * 8
        i += 1
    return 1


def fill_move(control: int, known: int, number: int, window: int) -> int:
    """Lists the set that the records lead to: from each candidate of a node by the steps that take some. Returns 0 if
    there is no room, or the set is too large."""
    block = load64(control, BLOCK)
    node = node_at(known, number)
    list = load64(known, LISTS) + load64(node, N_FIRST) * 4
    if not list_anew(known):
        return 0
    i = 0
    while i < load64(node, N_COUNT):
        element = load32(list, i)
        if element >= AHEAD_ONE and not put(known, element - AHEAD_ONE):
            return 0
        i += 1
    states = load64(known, STATES)
    seen = load64(known, SEEN)
    list = load64(known, LISTS) + load64(node, N_CLOSED) * 4
    count = load64(node, N_WIDTH)
    done = 0
    while done < count:
        n = count - done
        n = block if n > block else n
        to = seen
        i = 0
        while i < n:
            state = states + load32(list, done + i) * (W * 8)
            for w in range(W):
                store64(to, w, load64(state, w))
            for w in range(RECORDS):
                store64(to, W + w, load64(window, w))
            to += (W + RECORDS) * 8
            i += 1
        notes = load64(known, LINE_NOTES)
        k = call(load64(known, LINE_EXPAND), seen, n, load64(control, OUT), load64(control, TAGS), notes)
        if not list_line_successors(control, known, k):
            return 0
        done += n
    return 1


def work_out(control: int, known: int, number: int, window: int) -> int:
    """Makes the move of a node by some records. Returns where it is; 0 if there is no room, or a set too large."""
    if load64(known, MOVE_COUNT) == load64(known, MOVE_CAPACITY):
        return 0
    if load64(known, MOVE_COUNT) >> (63 - load64(known, MOVE_SHIFT)):
        enter_moves(known, load64(known, MOVE_SHIFT) - 1)
    node = node_at(known, number)
    if load64(node, N_CLOSED) == 0 and not close_node(control, known, number):
        return 0
    notes = load64(known, LINE_NOTES)
    first = load64(known, LINE_LIMITED_FIRST)
    count = load64(known, LINE_LIMITED_COUNT)
    before = total_of(notes, first, count)
    store64(notes, load64(known, LINE_ERROR), 0)
    if not fill_move(control, known, number, window):
        return 0
    limited = (load64(node, N_MET) >> 1) + total_of(notes, first, count) - before
    failed = (load64(node, N_MET) & 1) | load64(notes, load64(known, LINE_ERROR))
    to = node_of(known)
    if to == NOWHERE or limited > LIMITED_MAX:
        return 0
    move = move_for(known, number, window)
    store64(move, M_EDGE, number << 32 | to)
    store64(move, M_MET, load64(node, N_WIDTH) << WIDTH_SHIFT | limited << 1 | failed)
    for w in range(RECORDS):
        store64(move, M_WINDOW + w, load64(window, w))
    store64(known, MOVE_COUNT, load64(known, MOVE_COUNT) + 1)
    store64(known, WORKED_OUT, load64(known, WORKED_OUT) + 1)
    return move


KERNELS = (move_for, enter_moves, list_line_successors, fill_move, work_out)
