"""The loops that follow a log, in the kernel language: the states that explain the records so far, record by record.

A set of candidates is closed under steps that take no record; a step that takes some leads to a later set.
"""

from __future__ import annotations

from hacheck.compile.kernels import packed_states
from hacheck.compile.kernels.language import call, load64, store64
from hacheck.compile.kernels.packed_states import W
from hacheck.traces.conformance.kernels import (
    automaton_loop,
    automaton_moves,
    automaton_nodes,
    hidden_closure,
    set_numbering,
    state_sets,
)
from hacheck.traces.conformance.kernels.automaton_fields import APART, FEW, LARGE, NARROW, ONE_FIRST, STOPPED
from hacheck.traces.conformance.kernels.automaton_loop import enter, follow_nodes
from hacheck.traces.conformance.kernels.control import (
    CLOSES,
    COUNT,
    DEAD,
    EXPAND,
    EXPANDED,
    FIRST,
    FOLLOWED,
    FULL,
    GOES_ON,
    KNOWN,
    LENGTH,
    LIMITED,
    LIMITED_BEFORE,
    MARK_COUNT,
    MARK_WORDS,
    MARKS,
    NOTES,
    NOWHERE,
    OUT,
    PAUSE,
    PAUSED,
    PEAK,
    PERHAPS,
    PLACE,
    POSITION,
    RECORD_ADDRESS,
    RESULT_WORDS,
    START_COUNT,
    STARTS,
    STATUS,
    SURELY,
    TAGS,
    TAKEN_SHIFT,
    TAKEN_WORD,
    TRACE_WORDS,
    WIDTH,
)
from hacheck.traces.conformance.kernels.hidden_closure import add_all, limited, mark, mark_some, spread
from hacheck.traces.conformance.kernels.state_sets import RECORD, RECORDS, RING, add, empty, entry, set_at


def begin(control: int) -> None:
    """Prepares for another trace: the candidates are the states in which a trace may start."""
    i = 0
    while i < RING:
        empty(set_at(control, i))
        i += 1
    store64(control, POSITION, 0)
    store64(control, PEAK, 0)
    store64(control, LIMITED_BEFORE, limited(control))
    i = 0
    while i < load64(control, START_COUNT):
        add(control, 0, load64(control, STARTS) + i * (W * 8))
        i += 1
    i = 0
    while i < load64(control, MARK_COUNT):
        marked = load64(control, MARKS) + i * (MARK_WORDS * 8)
        store64(marked, SURELY, NOWHERE)
        store64(marked, PERHAPS, NOWHERE)
        i += 1


def candidates(control: int) -> int:
    """The number of candidates, over all positions."""
    total = 0
    i = 0
    while i < RING:
        total += load64(set_at(control, i), COUNT)
        i += 1
    return total


def go_on(control: int) -> None:
    """Continues a trace with new records: each candidate gets the record at its position."""
    ahead = 0
    while ahead < RING:
        position = load64(control, POSITION) + ahead
        chosen = set_at(control, position)
        record = load64(control, RECORD_ADDRESS) + position * (RECORD * 8)
        i = 0
        while i < load64(chosen, COUNT):
            to = entry(chosen, i)
            for w in range(RECORDS):
                store64(to, W + w, load64(record, w))
            i += 1
        ahead += 1


def settle(control: int, position: int) -> int:
    """Ends a position when all steps from it are taken. Returns what became of the trace."""
    if load64(control, MARK_COUNT):
        mark(control, position)
    empty(set_at(control, position))
    if candidates(control) == 0:
        return DEAD
    store64(control, POSITION, position + 1)
    return FOLLOWED


def follow_one(control: int, known: int, end: int, closes: int) -> int:
    """Follows the records up to the position `end` as long as there is one candidate, and each of its steps takes one
    record. Returns what became of the trace, `STOPPED` where there are more candidates. `closes`: as for `follow`; in
    all other cases the sets of candidates are up to date afterwards."""
    if load64(control, EXPANDED) >= load64(control, PAUSE):
        return PAUSED
    position = load64(control, POSITION)
    shift = load64(control, TAKEN_SHIFT)
    word = load64(control, TAKEN_WORD)
    marks = load64(control, MARK_COUNT)
    notes = load64(control, NOTES)
    expand = load64(control, EXPAND)
    tags = load64(control, TAGS)
    out = load64(control, OUT)
    chosen = set_at(control, position)
    one = entry(chosen, 0)
    start = position
    last = position + (load64(control, PAUSE) - load64(control, EXPANDED))
    last = end if end < last else last
    record = load64(control, RECORD_ADDRESS) + position * (RECORD * 8)
    k = 1
    while position < last:
        for w in range(RECORDS):
            store64(one, W + w, load64(record, w))
        k = call(expand, one, 1, out, tags, notes)
        if k != 1:
            break
        content = load64(out, word)
        if (content >> shift) & 1 == 0:
            break
        if marks:
            mark_some(control, one, 1, position)
        for w in range(W):
            store64(one, w, load64(out, w))
        store64(one, word, content & ~(1 << shift))
        record += RECORD * 8
        position += 1
    store64(control, POSITION, position)
    store64(control, EXPANDED, load64(control, EXPANDED) + (position - start))
    store64(known, APART, load64(known, APART) + (position - start))
    if position > start and load64(control, PEAK) == 0:
        store64(control, PEAK, 1)
    if position == end and closes and not marks:
        return FOLLOWED
    # The set of the first position has it; it belongs to that of the last.
    to = entry(set_at(control, position), 0)
    if to != one:
        for w in range(W + RECORDS):
            store64(to, w, load64(one, w))
        empty(chosen)
    store64(set_at(control, position), COUNT, 1)
    if position == last:
        return FOLLOWED if position == end else PAUSED
    if not add_all(control, position, k) or not spread(control, position, 1):
        return FULL
    status = settle(control, position)
    return status if status != FOLLOWED else STOPPED


def follow(control: int, end: int, closes: int) -> int:
    """Follows the records up to the position `end`. Returns what became of the trace; `POSITION` is where it stopped.
    `closes`: the trace ends at `end`. Then, where it is followed to its end and no property is checked, the sets of
    candidates may be out of date afterwards. In all other cases they are up to date."""
    known = load64(control, KNOWN)
    width = 0
    few = 0
    while load64(control, POSITION) < end:
        position = load64(control, POSITION)
        if known and load64(known, ONE_FIRST) and load64(set_at(control, position), COUNT) == 1:
            status = follow_one(control, known, end, closes)
            if status != STOPPED:
                return status
            few = 1
            continue
        if known and not few and width * 2 <= load64(known, LARGE):
            number = enter(control, known)
            if number:
                status = follow_nodes(control, known, number, end, closes)
                if status == FEW:
                    few = 1
                    continue
                if status != STOPPED:
                    return status
        position = load64(control, POSITION)
        if load64(set_at(control, position), COUNT):
            if load64(control, EXPANDED) >= load64(control, PAUSE):
                return PAUSED
            width = spread(control, position, 0)
            if width == 0:
                return FULL
            if settle(control, position) == DEAD:
                return DEAD
            if known:
                few = width <= load64(known, NARROW)
                store64(known, APART, load64(known, APART) + 1)
        store64(control, POSITION, position + 1)
    return FOLLOWED


def follow_parts(control: int, records: int, parts: int, count: int, results: int) -> int:
    """Follows `count` parts of traces, one after another, and writes what became of each. Returns how many are done,
    which is fewer than `count` where a part is paused and is to be continued."""
    marks = load64(control, MARK_COUNT)
    size = (RESULT_WORDS + 2 * marks) * 8
    number = 0
    while number < count:
        part = parts + number * (TRACE_WORDS * 8)
        if load64(part, GOES_ON):
            start = load64(control, POSITION)
            store64(control, RECORD_ADDRESS, records + (load64(part, FIRST) - start) * (RECORD * 8))
            go_on(control)
        else:
            start = 0
            store64(control, RECORD_ADDRESS, records + load64(part, FIRST) * (RECORD * 8))
            begin(control)
        status = follow(control, start + load64(part, LENGTH), load64(part, CLOSES))
        if status == PAUSED:
            done = load64(control, POSITION) - start
            store64(part, FIRST, load64(part, FIRST) + done)
            store64(part, LENGTH, load64(part, LENGTH) - done)
            store64(part, GOES_ON, 1)
            return number
        if status == FOLLOWED and load64(part, CLOSES):
            ahead = 0
            while ahead < RING:
                if load64(set_at(control, load64(control, POSITION) + ahead), COUNT):
                    mark(control, load64(control, POSITION) + ahead)
                ahead += 1
        result = results + number * size
        store64(result, STATUS, status)
        store64(result, PLACE, load64(control, POSITION))
        store64(result, WIDTH, load64(control, PEAK))
        store64(result, LIMITED, limited(control) - load64(control, LIMITED_BEFORE))
        i = 0
        while i < marks:
            marked = load64(control, MARKS) + i * (MARK_WORDS * 8)
            store64(result, RESULT_WORDS + 2 * i, load64(marked, SURELY))
            store64(result, RESULT_WORDS + 2 * i + 1, load64(marked, PERHAPS))
            i += 1
        number += 1
    return number


KERNELS = (
    *packed_states.KERNELS,
    *state_sets.KERNELS,
    *hidden_closure.KERNELS,
    *set_numbering.KERNELS,
    *automaton_nodes.KERNELS,
    *automaton_moves.KERNELS,
    *automaton_loop.KERNELS,
    begin,
    candidates,
    go_on,
    settle,
    follow_one,
    follow,
    follow_parts,
)
