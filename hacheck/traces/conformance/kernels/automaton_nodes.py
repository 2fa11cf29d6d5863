"""What does not depend on records, in the kernel language, of the automaton that is made while logs are followed.

A node of it is a set of candidates. Kept with a node, and with its states, are the steps that take no record, how often
bounds were met by actions that write no line, and the properties violated.
"""

from __future__ import annotations

from hacheck.compile.kernels.language import call, load8, load32, load64, prefetch, store32, store64
from hacheck.compile.kernels.packed_states import W
from hacheck.traces.conformance.kernels.automaton_fields import (
    AHEAD_SHIFT,
    EPOCH,
    HASHES,
    LINE_EXPAND,
    LINE_LIMITED_COUNT,
    LINE_LIMITED_FIRST,
    LINE_NOTES,
    LIST_CAPACITY,
    LIST_END,
    LISTED,
    LISTED_COUNT,
    LISTS,
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
    STAMPS,
    STATE_MARKS,
    STATE_STEPS,
    STATES,
)
from hacheck.traces.conformance.kernels.control import (
    BYTES,
    ERROR,
    EXPAND,
    LIMITED_COUNT,
    LIMITED_FIRST,
    MARK,
    MARK_COUNT,
    MARK_WORDS,
    MARKS,
    NOTES,
    NOWHERE,
    OUT,
    TAGS,
)
from hacheck.traces.conformance.kernels.set_numbering import PLACES, fetch, keep_listed, list_anew, number_with, put
from hacheck.traces.conformance.kernels.state_sets import RECORDS

SOON = 4  # so many states ahead, memory is prefetched for their steps
STEPS_HEAD = 3  # before the steps of a state: how many, how often a bound was met, whether there was an error
S_COUNT, S_LIMITED, S_ERROR = 0, 1, 2

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


def line_limited(control: int, known: int, n: int) -> int:
    """How often the actions that may write lines meet a bound in some candidates, whose steps are written."""
    notes = load64(known, LINE_NOTES)
    first = load64(known, LINE_LIMITED_FIRST)
    count = load64(known, LINE_LIMITED_COUNT)
    before = total_of(notes, first, count)
    call(load64(known, LINE_EXPAND), load64(known, SEEN), n, load64(control, OUT), load64(control, TAGS), notes)
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
    error = load64(control, ERROR)
    first = load64(control, LIMITED_FIRST)
    count = load64(control, LIMITED_COUNT)
    sign = load64(notes, error)
    store64(notes, error, 0)
    before = total_of(notes, first, count)
    seen = load64(known, SEEN)
    out = load64(control, OUT)
    show(known, number, seen)
    k = call(load64(control, EXPAND), seen, 1, out, load64(control, TAGS), notes)
    limited = total_of(notes, first, count) - before
    failed = load64(notes, error)
    store64(notes, error, sign)
    at = load64(known, LIST_END)
    if at + STEPS_HEAD + k > load64(known, LIST_CAPACITY):
        if limited:
            store64(notes, first, load64(notes, first) - limited)
        return 0
    store64(known, LIST_END, at + STEPS_HEAD + k)
    steps = load64(known, LISTS) + at * 4
    fetch(known, out, k)
    kept = 0
    j = 0
    while j < k:
        after = number_with(known, out, load64(load64(known, HASHES), j))
        if after == NOWHERE:
            if limited:
                store64(notes, first, load64(notes, first) - limited)
            return 0
        if after != number:
            store32(steps, STEPS_HEAD + kept, after)
            kept += 1
        out += (W + RECORDS) * 8
        j += 1
    if limited:
        store64(notes, first, load64(notes, first) - limited)
        limited -= line_limited(control, known, 1)
    store32(steps, S_COUNT, kept)
    store32(steps, S_LIMITED, limited)
    store32(steps, S_ERROR, failed)
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
    stamps = load64(known, STAMPS)
    epoch = load64(known, EPOCH)
    limited = 0
    failed = 0
    some = 0
    all = NOWHERE
    done = 0
    while done < load64(known, LISTED_COUNT):
        if done + SOON < load64(known, LISTED_COUNT):
            prefetch(load64(known, LISTS) + load32(steps_of, load32(listed, done + SOON)) * 4, 0)
        state = load32(listed, done)
        if load32(steps_of, state) == 0 and not look(control, known, state):
            return 0
        steps = load64(known, LISTS) + load32(steps_of, state) * 4
        limited += load32(steps, S_LIMITED)
        failed = failed | load32(steps, S_ERROR)
        if load64(control, MARK_COUNT):
            violated = load64(load64(known, STATE_MARKS), state)
            some = some | violated
            all = all & violated
        end = STEPS_HEAD + load32(steps, S_COUNT)
        j = STEPS_HEAD
        while j < end:
            # Nearly all are there already.
            after = load32(steps, j)
            if load32(stamps, after * PLACES) != epoch and not put(known, after):
                return 0
            j += 1
        done += 1
    first = keep_listed(known)
    if first == 0:
        return 0
    store64(node, N_WIDTH, done)
    store64(node, N_MET, limited << 1 | failed)
    store64(node, N_SOME, some)
    store64(node, N_ALL, all if done else 0)
    store64(node, N_CLOSED, first)
    return 1


KERNELS = (total_of, node_at, show, line_limited, violated_by, look, close_node)
