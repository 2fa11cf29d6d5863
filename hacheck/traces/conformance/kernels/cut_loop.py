"""The search by cuts, in the kernel language: how far each node's records are taken, those with fewer records first.

It is what `CutSearch` of `interleavings` does; what a cut leads to is looked up where it was worked out before.
"""

from __future__ import annotations

from hacheck.compile.kernels import packed_states
from hacheck.compile.kernels.language import load64, store64
from hacheck.compile.kernels.packed_states import W, folded
from hacheck.traces.conformance.kernels import cut_moves, hidden_closure, set_numbering, state_sets
from hacheck.traces.conformance.kernels.control import NOWHERE
from hacheck.traces.conformance.kernels.cut_fields import (
    AFTER,
    AFTER_PAIRS,
    AFTERWARDS,
    BOUNDS,
    CAUSED,
    CUT_CAPACITY,
    CUT_SHIFT,
    END_FROM,
    END_VALUE,
    END_WORD,
    EXPLAINED,
    FAILED,
    FINAL,
    FIRST_CUTS,
    FURTHEST,
    L_COUNT,
    L_CUTS,
    L_STAMP,
    L_TABLE,
    LENGTHS,
    LEVEL_WORDS,
    LEVELS,
    LOOKED_AT,
    M_ALL,
    M_COUNTS,
    M_EDGE,
    M_MET,
    M_SOME,
    M_STEPS,
    MOVE_STEP_COUNT,
    MOVE_STEPS,
    NEXT,
    NO_ROOM,
    PAUSED,
    PENDING,
    RECALLED,
    SKEW,
    STUCK,
    TIMES,
    TOO_LARGE,
    TOTAL,
    UNION_BITS,
    UNIONS,
    WIDTH,
    WINDOW,
    WORDS,
)
from hacheck.traces.conformance.kernels.cut_moves import (
    DONE,
    STEP_BITS,
    STREAMS,
    cut_move_for,
    hold_node,
    look_at_set,
    union_of,
    work_out_move,
)
from hacheck.traces.conformance.kernels.set_numbering import clear, forget, list_anew, node_of, number_of, put
from hacheck.traces.conformance.kernels.state_sets import RECORD

# Set when the kernels are compiled:
PLACES_EACH = 1  # records of one stream that a step may take

LEVEL_COUNT = 2  # as many records as a step may take, and one more
CUT_WORDS = 2  # a cut: how far it is in each stream, and its node

INDEX_BITS = 24
INDEX_MASK = (1 << INDEX_BITS) - 1


def level_at(search: int, total: int) -> int:
    """The level of the cuts with so many records."""
    return load64(search, LEVELS) + total % LEVEL_COUNT * (LEVEL_WORDS * 8)


def cut_at(level: int, number: int) -> int:
    """A cut of a level."""
    return load64(level, L_CUTS) + number * (CUT_WORDS * 8)


def nears_end(search: int, cut: int) -> int:
    """Whether what is written at a cut may have been cut off with the end of the log."""
    ends = load64(search, END_FROM)
    stream = 0
    while stream < STREAMS:
        if load64(cut, stream) < load64(ends, stream):
            return 0
        stream += 1
    return 1


def show_window(search: int, cut: int, near: int) -> None:
    """Writes the next records of each stream at a cut where candidates see them."""
    lengths = load64(search, LENGTHS)
    most = 0
    stream = 0
    while stream < STREAMS:
        left = load64(lengths, stream) - load64(cut, stream)
        most = left if left > most else most
        stream += 1
    ends = near | (most <= PLACES_EACH)
    to = load64(search, WINDOW)
    stream = 0
    while stream < STREAMS:
        at = load64(cut, stream)
        record = load64(load64(search, WORDS), stream) + at * (RECORD * 8)
        for place in range(PLACES_EACH):
            if at + place < load64(lengths, stream):
                for w in range(RECORD):
                    store64(to, place * RECORD + w, load64(record, place * RECORD + w))
            else:
                for w in range(RECORD):
                    store64(to, place * RECORD + w, 0)
                if ends:
                    store64(to, place * RECORD + load64(search, END_WORD), load64(search, END_VALUE))
        to += PLACES_EACH * RECORD * 8
        stream += 1


def advance(search: int, cut: int, step: int, near: int) -> int:
    """Writes the cut behind a step to `AFTERWARDS`. Returns how many records it takes; 0 where there are none, or lines
    would be missing."""
    lengths = load64(search, LENGTHS)
    to = load64(search, AFTERWARDS)
    taken_all = 0
    fits = 1
    exceeds = 1
    stream = 0
    while stream < STREAMS:
        at = load64(cut, stream)
        left = load64(lengths, stream) - at
        taken = (step >> (stream * STEP_BITS)) & ((1 << STEP_BITS) - 1)
        if taken > left:
            fits = 0
        if taken < left:
            exceeds = 0
        taken = left if taken > left else taken
        store64(to, stream, at + taken)
        taken_all += taken
        stream += 1
    if not near and not fits and not exceeds:
        return 0
    return taken_all


def times_allow(search: int, cut: int) -> int:
    """Whether the clocks leave open that this is how far a run has come."""
    times = load64(search, TIMES)
    if times == 0:
        return 1
    lengths = load64(search, LENGTHS)
    latest = 0
    earliest = NOWHERE
    stream = 0
    while stream < STREAMS:
        at = load64(cut, stream)
        its = load64(times, stream)
        if at and load64(its, at - 1) > latest:
            latest = load64(its, at - 1)
        if at < load64(lengths, stream) and load64(its, at) < earliest:
            earliest = load64(its, at)
        stream += 1
    if earliest == NOWHERE:
        return 1
    return latest <= earliest + load64(search, SKEW)


def causes_allow(search: int, before: int, cut: int) -> int:
    """Whether what comes before the records between two cuts is taken."""
    if load64(search, CAUSED) == 0:
        return 1
    stream = 0
    while stream < STREAMS:
        places = load64(load64(search, AFTER), stream)
        pair = load64(places, load64(before, stream))
        end = load64(places, load64(cut, stream))
        while pair < end:
            needed = load64(search, AFTER_PAIRS) + pair * 16
            if load64(cut, load64(needed, 0)) < load64(needed, 1):
                return 0
            pair += 1
        stream += 1
    return 1


def put_cut(known: int, search: int, total: int, cut: int, node: int) -> int:
    """Puts the states of a node where they have come to."""
    level = level_at(search, total)
    table = load64(level, L_TABLE)
    stamp = load64(level, L_STAMP)
    h = load64(cut, 0)
    for stream in range(1, STREAMS):
        h = folded(h ^ 0xA24BAED4963EE407, load64(cut, stream) ^ 0x9FB21C651E98DF25)
    shift = load64(search, CUT_SHIFT)
    mask = (1 << (64 - shift)) - 1
    place = folded(h, 0x9E3779B97F4A7C15) >> shift
    while load64(table, place) >> INDEX_BITS == stamp:
        there = cut_at(level, load64(table, place) & INDEX_MASK)
        difference = 0
        for stream in range(STREAMS):
            difference = difference | (load64(there, stream) ^ load64(cut, stream))
        if difference == 0:
            held = load64(there, STREAMS)
            if held != node:
                node = union_of(known, search, held, node)
                if node == NOWHERE:
                    return NO_ROOM
                if node == 0:
                    return TOO_LARGE
                store64(there, STREAMS, node)
            return DONE
        place = (place + 1) & mask
    count = load64(level, L_COUNT)
    if count == load64(search, CUT_CAPACITY):
        return TOO_LARGE
    there = cut_at(level, count)
    for stream in range(STREAMS):
        store64(there, stream, load64(cut, stream))
    store64(there, STREAMS, node)
    store64(table, place, stamp << INDEX_BITS | count)
    store64(level, L_COUNT, count + 1)
    store64(search, PENDING, load64(search, PENDING) + 1)
    return DONE


def empty_level(level: int) -> None:
    """Takes every cut out of a level."""
    store64(level, L_COUNT, 0)
    store64(level, L_STAMP, load64(level, L_STAMP) + 1)


def see(first: int, total: int, cut: int) -> None:
    """Keeps a cut as the first one of a kind, if it comes before the one that was: fewer records first, then in order
    of the streams."""
    kept = load64(first, 0)
    earlier = total < kept
    if total == kept:
        stream = 0
        while stream < STREAMS and load64(cut, stream) == load64(first, stream + 1):
            stream += 1
        if stream < STREAMS:
            earlier = load64(cut, stream) < load64(first, stream + 1)
    if earlier:
        store64(first, 0, total)
        for each in range(STREAMS):
            store64(first, each + 1, load64(cut, each))


def see_marks(search: int, some: int, every: int, cut: int) -> None:
    """Notes at which cut a property is violated first: by all candidates, by some."""
    total = load64(search, TOTAL)
    firsts = load64(search, FIRST_CUTS)
    number = 0
    while some >> number:
        if (some >> number) & 1:
            at = firsts + number * (2 * (STREAMS + 1) * 8)
            if (every >> number) & 1:
                see(at, total, cut)
            see(at + (STREAMS + 1) * 8, total, cut)
        number += 1
        if number == 64:
            break


def take_steps(known: int, search: int, move: int, cut: int, near: int) -> int:
    """Puts what a move leads to where it belongs."""
    step = load64(search, MOVE_STEPS) + load64(move, M_STEPS) * 16
    left = load64(move, M_COUNTS) & ((1 << 32) - 1)
    after = load64(search, AFTERWARDS)
    while left:
        taken = advance(search, cut, load64(step, 0), near)
        if taken and times_allow(search, after) and causes_allow(search, cut, after):
            status = put_cut(known, search, load64(search, TOTAL) + taken, after, load64(step, 1))
            if status != DONE:
                return status
        step += 16
        left -= 1
    return DONE


def spread_cut(control: int, known: int, search: int, cut: int) -> int:
    """Takes every step from a cut."""
    near = nears_end(search, cut)
    show_window(search, cut, near)
    number = load64(cut, STREAMS)
    move = cut_move_for(known, number, load64(search, WINDOW))
    if load64(move, M_EDGE):
        store64(search, RECALLED, load64(search, RECALLED) + 1)
    else:
        status = work_out_move(control, known, search, number, move)
        if status != DONE:
            return status
    width = load64(move, M_COUNTS) >> 32
    if width > load64(search, WIDTH):
        store64(search, WIDTH, width)
    store64(search, LOOKED_AT, load64(search, LOOKED_AT) + width)
    store64(search, BOUNDS, load64(search, BOUNDS) + (load64(move, M_MET) >> 1))
    store64(search, FAILED, load64(search, FAILED) | load64(move, M_MET) & 1)
    if load64(move, M_SOME):
        see_marks(search, load64(move, M_SOME), load64(move, M_ALL), cut)
    return take_steps(known, search, move, cut, near)


def begin_cuts(known: int, search: int, starts: int, count: int) -> int:
    """Puts the first cut, with the states that a trace may begin in."""
    for level in range(LEVEL_COUNT):
        empty_level(level_at(search, level))
    store64(search, TOTAL, 0)
    store64(search, NEXT, 0)
    store64(search, PENDING, 0)
    if not list_anew(known):
        return NO_ROOM
    i = 0
    while i < count:
        number = number_of(known, starts + i * (W * 8))
        if number == NOWHERE:
            return NO_ROOM
        if not put(known, number):
            return TOO_LARGE
        i += 1
    node = node_of(known)
    if node == NOWHERE:
        return NO_ROOM
    after = load64(search, AFTERWARDS)
    for stream in range(STREAMS):
        store64(after, stream, 0)
    return put_cut(known, search, 0, after, node)


def search_cuts(control: int, known: int, search: int, last: int, looked_at_max: int) -> int:
    """Goes on with the search until every record is explained, of which there are `last`, or no cut is left, or more
    candidates than `looked_at_max` were looked at."""
    while load64(search, PENDING):
        total = load64(search, TOTAL)
        level = level_at(search, total)
        i = load64(search, NEXT)
        if i < load64(level, L_COUNT):
            cut = cut_at(level, i)
            store64(search, FURTHEST, total)
            if total == last:
                show_window(search, cut, 1)
                hold_node(control, known, search, load64(cut, STREAMS))
                look_at_set(control, load64(search, FINAL))
                final = load64(search, FINAL)
                see_marks(search, load64(final, M_SOME), load64(final, M_ALL), cut)
                return EXPLAINED
            status = spread_cut(control, known, search, cut)
            if status != DONE:
                return status
            store64(search, NEXT, i + 1)
            store64(search, PENDING, load64(search, PENDING) - 1)
            if load64(search, LOOKED_AT) > looked_at_max:
                return PAUSED
        else:
            empty_level(level)
            store64(search, TOTAL, total + 1)
            store64(search, NEXT, 0)
    return STUCK


def forget_cuts(known: int, search: int) -> None:
    """Forgets every state, node and move."""
    forget(known)
    clear(load64(search, UNIONS), 2 << UNION_BITS)
    store64(search, MOVE_STEP_COUNT, 0)


KERNELS = (
    *packed_states.KERNELS,
    *state_sets.KERNELS,
    *hidden_closure.KERNELS,
    *set_numbering.KERNELS,
    *cut_moves.KERNELS,
    level_at,
    cut_at,
    nears_end,
    show_window,
    advance,
    times_allow,
    causes_allow,
    put_cut,
    empty_level,
    see,
    see_marks,
    take_steps,
    spread_cut,
    begin_cuts,
    search_cuts,
    forget_cuts,
)
