"""Following a trace from node to node, in the kernel language, and the way between nodes and sets of candidates."""

from __future__ import annotations

from hacheck.compile.kernels.language import load32, load64, store64
from hacheck.compile.kernels.packed_states import W
from hacheck.traces.conformance.kernels.automaton_fields import (
    AHEAD_SHIFT,
    FEW,
    LARGE,
    LIMITED_MAX,
    LISTED_COUNT,
    LISTS,
    M_EDGE,
    M_MET,
    N_ALL,
    N_CLOSED,
    N_COUNT,
    N_FIRST,
    N_SOME,
    N_WIDTH,
    NARROW,
    RECALLED,
    STATES,
    STOPPED,
    WIDTH_SHIFT,
)
from hacheck.traces.conformance.kernels.automaton_moves import move_for, work_out
from hacheck.traces.conformance.kernels.automaton_nodes import STATE_MASK, close_node, node_at
from hacheck.traces.conformance.kernels.control import (
    COUNT,
    DEAD,
    ERROR,
    EXPANDED,
    FOLLOWED,
    LIMITED_FIRST,
    MARK_COUNT,
    MARK_WORDS,
    MARKS,
    NOTES,
    NOWHERE,
    PAUSE,
    PAUSED,
    PEAK,
    PERHAPS,
    POSITION,
    RECORD_ADDRESS,
    SURELY,
)
from hacheck.traces.conformance.kernels.set_numbering import LOW, forget, list_anew, node_of, number_of, put
from hacheck.traces.conformance.kernels.state_sets import RECORD, RECORDS, RING, empty, entry, set_at

MET_MASK = (1 << WIDTH_SHIFT) - 1


def list_candidates(control: int, known: int) -> int:
    """Lists the candidates of all sets, from the next position on. Returns 0 if there is no room."""
    if not list_anew(known):
        return 0
    ahead = 0
    while ahead < RING - 1:
        chosen = set_at(control, load64(control, POSITION) + ahead)
        i = 0
        while i < load64(chosen, COUNT):
            number = number_of(known, entry(chosen, i))
            if number == NOWHERE:
                return 0
            put(known, number + (ahead << AHEAD_SHIFT))
            i += 1
        ahead += 1
    return 1


def enter(control: int, known: int) -> int:
    """The node of the candidates of all sets, or 0 if there are none, or too many."""
    total = 0
    i = 0
    while i < RING:
        total += load64(set_at(control, i), COUNT)
        i += 1
    if total > load64(known, LARGE):
        return 0
    tries = 0
    while tries < 2:
        if list_candidates(control, known):
            number = node_of(known)
            if number != NOWHERE:
                return number
        forget(known)
        tries += 1
    return 0


def leave(control: int, known: int, number: int) -> None:
    """Makes the sets those of a node."""
    i = 0
    while i < RING:
        empty(set_at(control, i))
        i += 1
    if number == 0:
        return
    node = node_at(known, number)
    list = load64(known, LISTS) + load64(node, N_FIRST) * 4
    i = 0
    while i < load64(node, N_COUNT):
        element = load32(list, i)
        state = load64(known, STATES) + (element & STATE_MASK) * (W * 8)
        position = load64(control, POSITION) + (element >> AHEAD_SHIFT)
        record = load64(control, RECORD_ADDRESS) + position * (RECORD * 8)
        chosen = set_at(control, position)
        count = load64(chosen, COUNT)
        to = entry(chosen, count)
        for w in range(W):
            store64(to, w, load64(state, w))
        for w in range(RECORDS):
            store64(to, W + w, load64(record, w))
        store64(chosen, COUNT, count + 1)
        i += 1


def meet(control: int, met: int) -> None:
    """Notes what is met by a move."""
    notes = load64(control, NOTES)
    limited = (met >> 1) & LIMITED_MAX
    if limited:
        first = load64(control, LIMITED_FIRST)
        store64(notes, first, load64(notes, first) + limited)
    if met & 1:
        store64(notes, load64(control, ERROR), 1)


def mark_node(control: int, node: int, position: int) -> None:
    """Notes which properties the candidates of a node violate."""
    some = load64(node, N_SOME)
    all = load64(node, N_ALL)
    number = 0
    while some >> number and number < 64:
        if (some >> number) & 1:
            marked = load64(control, MARKS) + number * (MARK_WORDS * 8)
            if load64(marked, PERHAPS) == NOWHERE:
                store64(marked, PERHAPS, position)
            if (all >> number) & 1 and load64(marked, SURELY) == NOWHERE:
                store64(marked, SURELY, position)
        number += 1


def follow_nodes(control: int, known: int, number: int, end: int, closes: int) -> int:
    """Takes the records up to a position, from a node. Returns what became of the trace, `FEW` if there are few
    candidates whose move is not known, or `STOPPED` if the next record has to be taken another way; then, and where the
    trace is to be gone on with, the sets are those of the last node."""
    position = load64(control, POSITION)
    record = load64(control, RECORD_ADDRESS)
    marks = load64(control, MARK_COUNT)
    narrow = load64(known, NARROW)
    pause = load64(control, PAUSE)
    peak = load64(control, PEAK)
    expanded = load64(control, EXPANDED)
    recalled = 0
    status = FOLLOWED
    while position < end:
        if expanded >= pause:
            status = PAUSED
            break
        window = record + position * (RECORD * 8)
        move = move_for(known, number, window)
        if load64(move, M_EDGE):
            recalled += 1
        else:
            node = node_at(known, number)
            if load64(node, N_CLOSED) == 0 and not close_node(control, known, number):
                status = STOPPED
                break
            if load64(node, N_WIDTH) <= narrow:
                status = FEW
                break
            move = work_out(control, known, number, window)
            if move == 0:
                status = STOPPED
                break
        met = load64(move, M_MET)
        width = met >> WIDTH_SHIFT
        expanded += width
        peak = width if width > peak else peak
        if met & MET_MASK:
            meet(control, met)
        if marks:
            mark_node(control, node_at(known, number), position)
        number = load64(move, M_EDGE) & LOW
        if number == 0:
            status = DEAD
            break
        position += 1
    store64(control, POSITION, position)
    store64(control, PEAK, peak)
    store64(control, EXPANDED, expanded)
    store64(known, RECALLED, load64(known, RECALLED) + recalled)
    if status != FOLLOWED or marks or not closes:
        leave(control, known, number)
    if status == STOPPED and load64(known, LISTED_COUNT) != load64(known, LARGE):
        forget(known)
    return status


KERNELS = (list_candidates, enter, leave, meet, mark_node, follow_nodes)
