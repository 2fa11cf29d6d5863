"""The automaton that is made while logs are followed, in the kernel language: a node is a set of candidates, a move
leads from a node by the records that it sees to the next one.

What a set of candidates becomes by a record depends on the two alone, so it is worked out once. Working it out takes
what does not depend on the record from the node and from its states: the steps that take no record, how often bounds
were met by actions that write no line, and the properties violated.
"""

from __future__ import annotations

from hacheck.checker.explicit.native.kernels.language import call, load8, load32, load64, store32, store64
from hacheck.checker.explicit.native.search.state_kernels import W, copy, folded
from hacheck.traces.conformance.candidate_kernels import RECORDS
from hacheck.traces.conformance.control import (
    BLOCK,
    BYTES,
    CUT_COUNT,
    CUT_FIRST,
    EXPAND,
    FAULT,
    MARK,
    MARK_COUNT,
    MARK_WORDS,
    MARKS,
    NOTES,
    NOWHERE,
    OUT,
    TAGS,
    TAKEN_MASK,
    TAKEN_SHIFT,
    TAKEN_WORD,
)
from hacheck.traces.conformance.known import (
    AHEAD_SHIFT,
    CUTS_MAX,
    LIST_CAPACITY,
    LIST_END,
    LISTED,
    LISTED_COUNT,
    LISTS,
    HASHES,
    M_MET,
    M_WAY,
    M_WINDOW,
    MOVE_CAPACITY,
    MOVE_COUNT,
    MOVE_SHIFT,
    MOVES,
    MOVES_SPARE,
    N_ALL,
    N_CLOSED,
    N_COUNT,
    N_FIRST,
    N_MET,
    N_SOME,
    N_WIDTH,
    NODE_WORDS,
    NODES,
    SEEN,
    STATE_MARKS,
    STATE_STEPS,
    STATES,
    TELL,
    TELL_CUT_COUNT,
    TELL_CUT_FIRST,
    TELL_FAULT,
    TELL_NOTES,
    WIDTH_SHIFT,
    WORKED_OUT,
)
from hacheck.traces.conformance.numbering_kernels import (
    MOVE_WORDS,
    clear,
    fetch,
    keep_listed,
    list_anew,
    node_of,
    number_with,
    put,
)

STEPS_HEAD = 3  # before the steps of a state: how many, how often a bound was met, whether there was an error
S_COUNT, S_CUTS, S_FAULT = 0, 1, 2

AHEAD_ONE = 1 << AHEAD_SHIFT
STATE_MASK = AHEAD_ONE - 1


def total_of(notes: int, first: int, count: int) -> int:
    """The sum of some notes."""
    total = 0
    i = 0
    while i < count:
        total += load64(notes, first + i)
        i += 1
    return total


def node_at(known: int, number: int) -> int:
    """Where a node is."""
    return load64(known, NODES) + number * (NODE_WORDS * 8)


def show(known: int, number: int, to: int) -> None:
    """Writes a state as a candidate that sees no record."""
    state = load64(known, STATES) + number * (W * 8)
    for w in range(W):
        store64(to, w, load64(state, w))
    for w in range(RECORDS):
        store64(to, W + w, 0)


# ---- steps that take no record ----


def told_cuts(control: int, known: int, n: int) -> int:
    """How often the actions that may write lines meet a bound in some candidates, whose steps are written."""
    notes = load64(known, TELL_NOTES)
    first = load64(known, TELL_CUT_FIRST)
    count = load64(known, TELL_CUT_COUNT)
    before = total_of(notes, first, count)
    call(load64(known, TELL), load64(known, SEEN), n, load64(control, OUT), load64(control, TAGS), notes)
    return total_of(notes, first, count) - before


def violated_by(control: int, candidate: int) -> int:
    """The properties, as bits, that a candidate violates."""
    bytes = load64(control, BYTES)
    found = 0
    number = 0
    while number < load64(control, MARK_COUNT):
        call(load64(load64(control, MARKS) + number * (MARK_WORDS * 8), MARK), candidate, 1, bytes)
        found = found | load8(bytes, 0) << number
        number += 1
    return found


def look(control: int, known: int, number: int) -> int:
    """Lists the steps of a state that take no record, and what else is to be known of it. Returns 0 if there is no
    room. What is met here is taken out of the notes: it counts when the node is left."""
    notes = load64(control, NOTES)
    fault = load64(control, FAULT)
    first = load64(control, CUT_FIRST)
    count = load64(control, CUT_COUNT)
    sign = load64(notes, fault)
    store64(notes, fault, 0)
    before = total_of(notes, first, count)
    seen = load64(known, SEEN)
    out = load64(control, OUT)
    show(known, number, seen)
    k = call(load64(control, EXPAND), seen, 1, out, load64(control, TAGS), notes)
    cuts = total_of(notes, first, count) - before
    failed = load64(notes, fault)
    store64(notes, fault, sign)
    at = load64(known, LIST_END)
    if at + STEPS_HEAD + k > load64(known, LIST_CAPACITY):
        if cuts:
            store64(notes, first, load64(notes, first) - cuts)
        return 0
    store64(known, LIST_END, at + STEPS_HEAD + k)
    steps = load64(known, LISTS) + at * 4
    fetch(known, out, k)
    kept = 0
    j = 0
    while j < k:
        after = number_with(known, out, load64(load64(known, HASHES), j))
        if after == NOWHERE:
            if cuts:
                store64(notes, first, load64(notes, first) - cuts)
            return 0
        if after != number:
            store32(steps, STEPS_HEAD + kept, after)
            kept += 1
        out += (W + RECORDS) * 8
        j += 1
    if cuts:
        store64(notes, first, load64(notes, first) - cuts)
        cuts -= told_cuts(control, known, 1)
    store32(steps, S_COUNT, kept)
    store32(steps, S_CUTS, cuts)
    store32(steps, S_FAULT, failed)
    if load64(control, MARK_COUNT):
        store64(load64(known, STATE_MARKS), number, violated_by(control, seen))
    store32(load64(known, STATE_STEPS), number, at)
    return 1


def close_node(control: int, known: int, number: int) -> int:
    """Lists the candidates of a node that are at its place when all steps are taken that take no record. Returns 0 if
    there is no room, or there are too many."""
    if not list_anew(known):
        return 0
    node = node_at(known, number)
    list = load64(known, LISTS) + load64(node, N_FIRST) * 4
    i = 0
    while i < load64(node, N_COUNT):
        element = load32(list, i)
        if element < AHEAD_ONE:
            put(known, element)
        i += 1
    steps_of = load64(known, STATE_STEPS)
    listed = load64(known, LISTED)
    cuts = 0
    failed = 0
    some = 0
    all = NOWHERE
    done = 0
    while done < load64(known, LISTED_COUNT):
        state = load32(listed, done)
        if load32(steps_of, state) == 0:
            if not look(control, known, state):
                return 0
        steps = load64(known, LISTS) + load32(steps_of, state) * 4
        cuts += load32(steps, S_CUTS)
        failed = failed | load32(steps, S_FAULT)
        if load64(control, MARK_COUNT):
            violated = load64(load64(known, STATE_MARKS), state)
            some = some | violated
            all = all & violated
        end = STEPS_HEAD + load32(steps, S_COUNT)
        j = STEPS_HEAD
        while j < end:
            if not put(known, load32(steps, j)):
                return 0
            j += 1
        done += 1
    first = keep_listed(known)
    if first == 0:
        return 0
    store64(node, N_WIDTH, done)
    store64(node, N_MET, cuts << 1 | failed)
    store64(node, N_SOME, some)
    store64(node, N_ALL, all if done else 0)
    store64(node, N_CLOSED, first)
    return 1


# ---- moves ----


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
    while load64(move, M_WAY):
        difference = load64(move, M_WAY) >> 32 ^ number
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
        if load64(old, M_WAY):
            to = move_for(known, load64(old, M_WAY) >> 32, old + M_WINDOW * 8)
            for w in range(MOVE_WORDS):
                store64(to, w, load64(old, w))
        old += MOVE_WORDS * 8
        i += 1


def list_told(control: int, known: int, k: int) -> int:
    """Lists the states after those of `k` steps that take records. Returns 0 if there is no room, or the set is too
    large."""
    word = load64(control, TAKEN_WORD)
    shift = load64(control, TAKEN_SHIFT)
    mask = load64(control, TAKEN_MASK)
    out = load64(control, OUT)
    tags = load64(control, TAGS)
    to = out
    from_ = out
    told = 0
    i = 0
    while i < k:
        content = load64(from_, word)
        taken = (content >> shift) & mask
        if taken:
            store64(from_, word, content & ~(mask << shift))
            store64(tags, told, (taken - 1) << AHEAD_SHIFT)
            copy(to, from_)
            to += (W + RECORDS) * 8
            told += 1
        from_ += (W + RECORDS) * 8
        i += 1
    fetch(known, out, told)
    state = out
    i = 0
    while i < told:
        number = number_with(known, state, load64(load64(known, HASHES), i))
        if number == NOWHERE:
            return 0
        if not put(known, number + load64(tags, i)):
            return 0
        state += (W + RECORDS) * 8
        i += 1
    return 1


def tell(control: int, known: int, number: int, window: int) -> int:
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
        if element >= AHEAD_ONE:
            if not put(known, element - AHEAD_ONE):
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
        notes = load64(known, TELL_NOTES)
        k = call(load64(known, TELL), seen, n, load64(control, OUT), load64(control, TAGS), notes)
        if not list_told(control, known, k):
            return 0
        done += n
    return 1


def work_out(control: int, known: int, number: int, window: int) -> int:
    """Makes the move of a node by some records. Returns where it is, or 0 if there is no room, or a set is too large."""
    if load64(known, MOVE_COUNT) == load64(known, MOVE_CAPACITY):
        return 0
    if load64(known, MOVE_COUNT) >> (63 - load64(known, MOVE_SHIFT)):
        enter_moves(known, load64(known, MOVE_SHIFT) - 1)
    node = node_at(known, number)
    if load64(node, N_CLOSED) == 0:
        if not close_node(control, known, number):
            return 0
    notes = load64(known, TELL_NOTES)
    first = load64(known, TELL_CUT_FIRST)
    count = load64(known, TELL_CUT_COUNT)
    before = total_of(notes, first, count)
    store64(notes, load64(known, TELL_FAULT), 0)
    if not tell(control, known, number, window):
        return 0
    cuts = (load64(node, N_MET) >> 1) + total_of(notes, first, count) - before
    failed = (load64(node, N_MET) & 1) | load64(notes, load64(known, TELL_FAULT))
    to = node_of(known)
    if to == NOWHERE or cuts > CUTS_MAX:
        return 0
    move = move_for(known, number, window)
    store64(move, M_WAY, number << 32 | to)
    store64(move, M_MET, load64(node, N_WIDTH) << WIDTH_SHIFT | cuts << 1 | failed)
    for w in range(RECORDS):
        store64(move, M_WINDOW + w, load64(window, w))
    store64(known, MOVE_COUNT, load64(known, MOVE_COUNT) + 1)
    store64(known, WORKED_OUT, load64(known, WORKED_OUT) + 1)
    return move


KERNELS = (
    total_of,
    node_at,
    show,
    told_cuts,
    violated_by,
    look,
    close_node,
    move_for,
    enter_moves,
    list_told,
    tell,
    work_out,
)
