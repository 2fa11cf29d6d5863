"""The loops that follow a log, in the kernel language: the states that explain the records so far, record by record.

A candidate is a state of the observed system: `W` words that say what is so, then `RECORDS` words that say what the
next records are. All candidates that have taken the same records are a set; those at the next few positions are
`RING` sets in turn, since one step may take several records. A set is closed under steps that take none.
"""

from __future__ import annotations

from hacheck.checker.explicit.native.kernels.language import call, load8, load64, store64
from hacheck.checker.explicit.native.search import state_kernels
from hacheck.checker.explicit.native.search.state_kernels import W, hash_of, same

# Set when the kernels are compiled:
RECORDS = 1  # words of the records that a candidate sees
RECORD = 1  # words of one record
RING = 2  # positions that have sets

CONTROL = (
    "EXPAND",  # the generated function
    "OUT",
    "TAGS",
    "NOTES",
    "BLOCK",  # candidates that are expanded at once
    "TAKEN_WORD",  # where a candidate says how many records the last step took
    "TAKEN_SHIFT",
    "TAKEN_MASK",
    "CAPACITY",  # candidates of a set
    "TABLE_SHIFT",  # 64 less the logarithm of the slots of its table
    "POSITION",  # records taken by the set that is next
    "PEAK",  # the most candidates that a set had
    "EXPANDED",  # candidates that were expanded
    "PAUSE",  # and how many may be before the caller is asked again
    "RECORD_ADDRESS",  # the record at position 0
    "STARTS",  # the states that a trace may start in, `W` words each
    "START_COUNT",
    "CUTS",  # outcomes that met a bound, or an error of the spec, before this trace
    "CUT_FIRST",  # where the notes count such outcomes
    "CUT_COUNT",
    "FAULT",  # where the notes have a sign of an error of the spec
    "MARK_COUNT",  # properties that are asked on the way
    "MARKS",  # for each its function, and where it was violated: surely, perhaps
    "BYTES",  # room for what these functions say
    "TAKEN_MASKS",  # by word, the bits that say how many records of any stream the last step took
    "EMITTED",  # room for what `close` finds
    "EMITTED_COUNT",
    "EMITTED_CAPACITY",
    "SETS",  # the sets
)
"""The words of the control block, which is an argument of every kernel: numbers and addresses."""

(
    EXPAND,
    OUT,
    TAGS,
    NOTES,
    BLOCK,
    TAKEN_WORD,
    TAKEN_SHIFT,
    TAKEN_MASK,
    CAPACITY,
    TABLE_SHIFT,
    POSITION,
    PEAK,
    EXPANDED,
    PAUSE,
    RECORD_ADDRESS,
    STARTS,
    START_COUNT,
    CUTS,
    CUT_FIRST,
    CUT_COUNT,
    FAULT,
    MARK_COUNT,
    MARKS,
    BYTES,
    TAKEN_MASKS,
    EMITTED,
    EMITTED_COUNT,
    EMITTED_CAPACITY,
    SETS,
) = range(len(CONTROL))

COUNT, INDEXED, STAMP, ENTRIES, TABLE, SET_WORDS = 0, 1, 2, 3, 4, 5
"""A set: its candidates, how many of them the table knows, what marks the slots of the table that count."""

FEW = 12  # candidates are compared one by one before there is a table
INDEX_BITS = 24
INDEX_MASK = (1 << INDEX_BITS) - 1

MARK, SURELY, PERHAPS, MARK_WORDS = 0, 1, 2, 3
NOWHERE = (1 << 64) - 1

FOLLOWED, DEAD, FULL, PAUSED = 0, 1, 2, 3
"""What becomes of a trace: every record is taken; no candidate is left; a set has no room for one more; it is to be
gone on with."""

FIRST, LENGTH, GOES_ON, CLOSES, TRACE_WORDS = 0, 1, 2, 3, 4
"""A part of a trace: its first record, how many there are, whether it is a later part of the trace before, and whether
it is the last of its trace."""

STATUS, PLACE, WIDTH, LIMITED, RESULT_WORDS = 0, 1, 2, 3, 4
"""What became of it: where it stopped, the most candidates, how many outcomes met a bound; then for each property where
it was violated: surely, perhaps."""


def set_at(control: int, position: int) -> int:
    """The set of a position."""
    return control + (SETS + position % RING * SET_WORDS) * 8


def entry(chosen: int, index: int) -> int:
    """Where a candidate of a set is."""
    return load64(chosen, ENTRIES) + index * ((W + RECORDS) * 8)


def index_all(control: int, chosen: int, count: int) -> None:
    """Makes the table of a set know all its candidates."""
    table = load64(chosen, TABLE)
    stamp = load64(chosen, STAMP)
    shift = load64(control, TABLE_SHIFT)
    mask = (1 << (64 - shift)) - 1
    i = load64(chosen, INDEXED)
    while i < count:
        place = hash_of(entry(chosen, i)) >> shift
        while load64(table, place) >> INDEX_BITS == stamp:
            place = (place + 1) & mask
        store64(table, place, stamp << INDEX_BITS | i)
        i += 1
    store64(chosen, INDEXED, count)


def has(control: int, chosen: int, count: int, state: int) -> int:
    """Whether a set has a state."""
    if count < FEW:
        i = 0
        while i < count:
            if same(entry(chosen, i), state):
                return 1
            i += 1
        return 0
    index_all(control, chosen, count)
    table = load64(chosen, TABLE)
    stamp = load64(chosen, STAMP)
    shift = load64(control, TABLE_SHIFT)
    mask = (1 << (64 - shift)) - 1
    place = hash_of(state) >> shift
    slot = load64(table, place)
    while slot >> INDEX_BITS == stamp:
        if same(entry(chosen, slot & INDEX_MASK), state):
            return 1
        place = (place + 1) & mask
        slot = load64(table, place)
    return 0


def add(control: int, position: int, state: int) -> int:
    """Puts a state into the set of a position, if it is not there. Returns 0 if there is no room."""
    chosen = set_at(control, position)
    count = load64(chosen, COUNT)
    if has(control, chosen, count, state):
        return 1
    if count == load64(control, CAPACITY):
        return 0
    to = entry(chosen, count)
    for w in range(W):
        store64(to, w, load64(state, w))
    record = load64(control, RECORD_ADDRESS) + position * (RECORD * 8)
    for w in range(RECORDS):
        store64(to, W + w, load64(record, w))
    store64(chosen, COUNT, count + 1)
    return 1


def empty(chosen: int) -> None:
    """Takes every candidate out of a set."""
    store64(chosen, COUNT, 0)
    if load64(chosen, INDEXED):
        store64(chosen, INDEXED, 0)
        store64(chosen, STAMP, load64(chosen, STAMP) + 1)


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
    total = load64(notes, load64(control, FAULT))
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
    set_at,
    entry,
    index_all,
    has,
    add,
    empty,
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
