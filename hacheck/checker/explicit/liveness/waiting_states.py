"""Reaching the states that a run sees while it waits for a goal, level by level, in the kernel language.

The steps of a state are listed when it is first reached, by whichever property comes there first.
"""

from __future__ import annotations

from hacheck.checker.explicit.liveness.edge_lists import (
    BOUND_SEEN,
    BUFFER,
    CLAIMED,
    FOUND,
    LISTED,
    SOURCES,
    WAITED,
    copy_list,
    entry_at,
    list_steps,
    made_list,
    room_for,
    state_of,
    successors_of,
)
from hacheck.checker.explicit.liveness.graph_fields import (
    BATCH,
    CURSOR,
    DONE,
    ENTRY_BYTES,
    FIRST_PART,
    FLAGS,
    HEAD_BOUND,
    IN_DOUBT,
    IS_START,
    LEVEL_END,
    LISTS,
    LOW,
    MORE,
    ORDER,
    ORDER_COUNT,
    OUTSIDE,
    RECORDS,
    TARGET_BITS,
    UNREACHED,
)
from hacheck.compile.kernels.language import (
    compare_swap64,
    fetch_add64,
    load8,
    load32,
    load64,
    load64_relaxed,
    prefetch,
    store8,
    store32,
    store64,
    store64_relaxed,
)
from hacheck.compile.kernels.packed_states import W, copy


def doubt(ground: int, first: int, n: int, goal: int) -> None:
    """Flags those of `n` vertices in which a goal does not hold; `goal` has a byte for each."""
    flags = load64(ground, FLAGS) + first
    i = 0
    while i < n:
        if load8(goal, i) == 0:
            store8(flags, i, load8(flags, i) | IN_DOUBT)
        i += 1


def prepare(ground: int, first: int, n: int, goal: int, premise: int) -> None:
    """Makes `n` vertices ready for a property of this goal and premise."""
    records = load64(ground, RECORDS)
    flags = load64(ground, FLAGS) + first
    i = 0
    while i < n:
        store32(records, (first + i) * 2, OUTSIDE if load8(goal, i) else UNREACHED)
        flag = load8(flags, i) & IN_DOUBT
        if load8(premise, i) and load8(goal, i) == 0:
            flag = flag | IS_START
        store8(flags, i, flag)
        i += 1


def seed(ground: int, first: int, end: int) -> None:
    """Reaches those of some vertices at which a run may begin to wait."""
    records = load64(ground, RECORDS)
    flags = load64(ground, FLAGS)
    count = load64(ground, ORDER_COUNT)
    while first < end:
        if load8(flags, first) & IS_START and load32(records, first * 2) == UNREACHED:
            store32(records, first * 2, FIRST_PART)
            store32(load64(ground, ORDER), count, first)
            count += 1
        first += 1
    store64(ground, ORDER_COUNT, count)


def gather(ground: int, worker: int, first: int, n: int) -> int:
    """Takes into BUFFER the states of a batch's vertices that have no list. Returns how many."""
    order = load64(ground, ORDER) + first * 4
    records = load64(ground, RECORDS)
    sources = load64(worker, SOURCES)
    missing = 0
    i = 0
    while i < n:
        vertex = load32(order, i)
        start = load64_relaxed(records, vertex) >> 32
        list_ = 0
        if start:
            list_ = load64(ground, LISTS) + start * ENTRY_BYTES
            prefetch(list_, 0)
        else:
            store32(sources, missing, vertex)
            prefetch(state_of(ground, vertex), 0)
            missing += 1
        store64(load64(worker, LISTED), i, list_)
        i += 1
    i = 0
    while i < missing:
        copy(load64(worker, BUFFER) + i * (W * 8), state_of(ground, load32(sources, i)))
        i += 1
    return missing


def make_lists(ground: int, worker: int, n: int, missing: int) -> None:
    """Makes the lists of a batch that are missing, and stores them as far as there is room."""
    list_steps(ground, worker, missing, successors_of(ground, worker, missing))
    records = load64(ground, RECORDS)
    listed = load64(worker, LISTED)
    source = 0
    i = 0
    while i < n:
        if load64(listed, i) == 0:
            list_ = made_list(worker, source)
            start = room_for(ground, worker, (entry_at(list_, 0) & (HEAD_BOUND - 1)) + 1)
            if start:
                vertex = load32(load64(worker, SOURCES), source)
                copy_list(load64(ground, LISTS) + start * ENTRY_BYTES, list_)
                store64_relaxed(records, vertex, start << 32 | load64_relaxed(records, vertex) & LOW)
            source += 1
        i += 1


def claim(ground: int, worker: int, vertex: int, claimed: int) -> int:
    """Reaches a vertex. If it was not reached before, it goes to CLAIMED, which has so many. Returns how many it has
    then."""
    records = load64(ground, RECORDS)
    record = load64_relaxed(records, vertex)
    while record & LOW == UNREACHED:
        seen = compare_swap64(records, vertex, record, record | FIRST_PART)
        if seen == record:
            store32(load64(worker, CLAIMED), claimed, vertex)
            return claimed + 1
        record = seen
    return claimed


def claim_found(ground: int, worker: int, claimed: int) -> int:
    """Reaches the successors that were looked up last. The others were looked up lately, and reached then."""
    found = load64(worker, FOUND)
    waited = load64(worker, WAITED)
    i = 0
    while i < waited:
        place = load64(found, i)
        if place & IN_DOUBT:
            claimed = claim(ground, worker, (place >> 1) - 1, claimed)
        i += 1
    return claimed


def claim_listed(ground: int, worker: int, n: int) -> int:
    """Reaches what the lists lead to that are stored, of `n` vertices of a batch. Returns how many are claimed."""
    listed = load64(worker, LISTED)
    records = load64(ground, RECORDS)
    targets = (1 << load64(ground, TARGET_BITS)) - 1
    claimed = 0
    for turn in range(2):  # first everything is fetched
        i = 0
        while i < n:
            list_ = load64(listed, i)
            if list_:
                head = entry_at(list_, 0)
                count = head & (HEAD_BOUND - 1)
                step = 1
                while step <= count:
                    target = entry_at(list_, step) & targets
                    if turn == 0:
                        prefetch(records, target)
                    else:
                        claimed = claim(ground, worker, target, claimed)
                    step += 1
                if head & HEAD_BOUND:
                    store64(worker, BOUND_SEEN, 1)
            i += 1
    return claimed


def reach(ground: int, worker: int, batches: int) -> int:
    """Reaches what the vertices of a level lead to, up to so many batches. Returns whether the level is done. Threads
    may do so at once."""
    end = load64(ground, LEVEL_END)
    batch = load64(ground, BATCH)
    while batches:
        batches -= 1
        first = fetch_add64(ground, CURSOR, batch)
        if first >= end:
            return DONE
        n = end - first if end - first < batch else batch
        missing = gather(ground, worker, first, n)
        claimed = 0
        if missing < n:
            claimed = claim_listed(ground, worker, n)
        if missing:
            make_lists(ground, worker, n, missing)
            claimed = claim_found(ground, worker, claimed)
        at = fetch_add64(ground, ORDER_COUNT, claimed)
        i = 0
        while i < claimed:
            store32(load64(ground, ORDER), at + i, load32(load64(worker, CLAIMED), i))
            i += 1
    return MORE
