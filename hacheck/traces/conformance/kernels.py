"""The loops that follow a log, in the kernel language: the states that explain the records so far, record by record.

A set of candidates is closed under steps that take no record; a step that takes some leads to a later set.
"""

from __future__ import annotations

from hacheck.checker.explicit.native.kernels.language import call, load8, load64, store64
from hacheck.checker.explicit.native.search import state_kernels
from hacheck.checker.explicit.native.search.state_kernels import W
from hacheck.traces.conformance import candidate_kernels
from hacheck.traces.conformance.candidate_kernels import RECORD, RECORDS, RING, add, empty, entry, set_at
from hacheck.traces.conformance.control import (
    BLOCK,
    BYTES,
    CLOSES,
    COUNT,
    CUT_COUNT,
    CUT_FIRST,
    CUTS,
    DEAD,
    EMITTED,
    EMITTED_CAPACITY,
    EMITTED_COUNT,
    EXPAND,
    EXPANDED,
    FAULT,
    FAULTS,
    FIRST,
    FOLLOWED,
    FULL,
    GOES_ON,
    LENGTH,
    LIMITED,
    MARK,
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
    TAKEN_MASK,
    TAKEN_MASKS,
    TAKEN_SHIFT,
    TAKEN_WORD,
    TRACE_WORDS,
    WIDTH,
)


def spread(control: int, position: int) -> int:
    """Takes every step from the candidates of a position, and from those that join them. Returns 0 if a set has no
    room."""
    expand = load64(control, EXPAND)
    out = load64(control, OUT)
    word = load64(control, TAKEN_WORD)
    shift = load64(control, TAKEN_SHIFT)
    mask = load64(control, TAKEN_MASK)
    block = load64(control, BLOCK)
    chosen = set_at(control, position)
    done = 0
    while done < load64(chosen, COUNT):
        n = load64(chosen, COUNT) - done
        n = block if n > block else n
        k = call(expand, entry(chosen, done), n, out, load64(control, TAGS), load64(control, NOTES))
        done += n
        state = out
        j = 0
        while j < k:
            content = load64(state, word)
            taken = (content >> shift) & mask
            store64(state, word, content & ~(mask << shift))
            if not add(control, position + taken, state):
                return 0
            state += (W + RECORDS) * 8
            j += 1
    store64(control, EXPANDED, load64(control, EXPANDED) + done)
    if done > load64(control, PEAK):
        store64(control, PEAK, done)
    return 1


def close(control: int, done: int) -> int:
    """Takes every step from the candidates of the first set, from number `done` on, and from those that join them by a
    step that takes no record; what takes some is listed. Returns how many are done, fewer than there are where the list
    is full or it is time to ask the caller; `NOWHERE` if the set has no room."""
    out = load64(control, OUT)
    masks = load64(control, TAKEN_MASKS)
    block = load64(control, BLOCK)
    chosen = set_at(control, 0)
    listed = load64(control, EMITTED_COUNT)
    expanded = load64(control, EXPANDED)
    while done < load64(chosen, COUNT):
        n = load64(chosen, COUNT) - done
        n = block if n > block else n
        k = call(load64(control, EXPAND), entry(chosen, done), n, out, load64(control, TAGS), load64(control, NOTES))
        if listed + k > load64(control, EMITTED_CAPACITY) or expanded >= load64(control, PAUSE):
            break
        state = out
        j = 0
        while j < k:
            taken = 0
            for w in range(W):
                taken = taken | (load64(state, w) & load64(masks, w))
            if taken:
                to = load64(control, EMITTED) + listed * (W * 8)
                for w in range(W):
                    store64(to, w, load64(state, w))
                listed += 1
            elif not add(control, 0, state):
                return NOWHERE
            state += (W + RECORDS) * 8
            j += 1
        done += n
        expanded += n
    store64(control, EMITTED_COUNT, listed)
    store64(control, EXPANDED, expanded)
    return done


def mark(control: int, position: int) -> None:
    """Asks every property of the candidates of a position."""
    chosen = set_at(control, position)
    count = load64(chosen, COUNT)
    bytes = load64(control, BYTES)
    number = 0
    while number < load64(control, MARK_COUNT):
        asked = load64(control, MARKS) + number * (MARK_WORDS * 8)
        if load64(asked, SURELY) == NOWHERE:
            call(load64(asked, MARK), entry(chosen, 0), count, bytes)
            violated = 0
            i = 0
            while i < count:
                violated += load8(bytes, i)
                i += 1
            if violated and load64(asked, PERHAPS) == NOWHERE:
                store64(asked, PERHAPS, position)
            if violated == count:
                store64(asked, SURELY, position)
        number += 1


def cuts(control: int) -> int:
    """How many outcomes were no step so far."""
    notes = load64(control, NOTES)
    fault = load64(control, FAULT)
    if load64(notes, fault):
        # The sign stays until it is taken away: the next trace is not to blame for it.
        store64(notes, fault, 0)
        store64(control, FAULTS, load64(control, FAULTS) + 1)
    total = load64(control, FAULTS)
    i = 0
    while i < load64(control, CUT_COUNT):
        total += load64(notes, load64(control, CUT_FIRST) + i)
        i += 1
    return total


def begin(control: int) -> None:
    """Makes ready for another trace: only what it may start in is a candidate."""
    i = 0
    while i < RING:
        empty(set_at(control, i))
        i += 1
    store64(control, POSITION, 0)
    store64(control, PEAK, 0)
    store64(control, CUTS, cuts(control))
    i = 0
    while i < load64(control, START_COUNT):
        add(control, 0, load64(control, STARTS) + i * (W * 8))
        i += 1
    i = 0
    while i < load64(control, MARK_COUNT):
        asked = load64(control, MARKS) + i * (MARK_WORDS * 8)
        store64(asked, SURELY, NOWHERE)
        store64(asked, PERHAPS, NOWHERE)
        i += 1


def candidates(control: int) -> int:
    """How many candidates there are at all positions."""
    total = 0
    i = 0
    while i < RING:
        total += load64(set_at(control, i), COUNT)
        i += 1
    return total


def go_on(control: int) -> None:
    """Shows all candidates the records that are there now."""
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


def follow(control: int, end: int) -> int:
    """Takes the records up to a position. Returns what became of the trace; `POSITION` is where it stopped."""
    position = load64(control, POSITION)
    marks = load64(control, MARK_COUNT)
    while position < end:
        chosen = set_at(control, position)
        if load64(chosen, COUNT):
            store64(control, POSITION, position)
            if load64(control, EXPANDED) >= load64(control, PAUSE):
                return PAUSED
            if not spread(control, position):
                return FULL
            if marks:
                mark(control, position)
            empty(chosen)
            if candidates(control) == 0:
                return DEAD
        position += 1
    store64(control, POSITION, position)
    return FOLLOWED


def follow_parts(control: int, records: int, parts: int, count: int, results: int) -> int:
    """Follows `count` parts of traces, one after another, and writes what became of each. Returns how many are done:
    fewer where one is to be gone on with."""
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
        status = follow(control, start + load64(part, LENGTH))
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
        store64(result, LIMITED, cuts(control) - load64(control, CUTS))
        i = 0
        while i < marks:
            asked = load64(control, MARKS) + i * (MARK_WORDS * 8)
            store64(result, RESULT_WORDS + 2 * i, load64(asked, SURELY))
            store64(result, RESULT_WORDS + 2 * i + 1, load64(asked, PERHAPS))
            i += 1
        number += 1
    return number


KERNELS = (
    *state_kernels.CORE,
    *candidate_kernels.KERNELS,
    spread,
    close,
    mark,
    cuts,
    begin,
    candidates,
    go_on,
    follow,
    follow_parts,
)
