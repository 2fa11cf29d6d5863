"""What the kernels that follow logs and Python write for each other: places in arrays of 64-bit words."""

from __future__ import annotations

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
    "PAUSE",  # and how many may be before `report` is called again
    "RECORD_ADDRESS",  # the record at position 0
    "STARTS",  # the states that a trace may start in, `W` words each
    "START_COUNT",
    "LIMITED_BEFORE",  # outcomes that met a bound, or an error of the spec, before this trace
    "LIMITED_FIRST",  # where the notes count such outcomes
    "LIMITED_COUNT",
    "ERROR",  # where the notes have a sign of an error of the spec
    "ERRORS",  # how often there was one
    "MARK_COUNT",  # properties that are checked on the way
    "MARKS",  # for each its function, and where it was violated: surely, perhaps
    "BYTES",  # room for what these functions say
    "TAKEN_MASKS",  # by word, the bits that say how many records of any stream the last step took
    "EMITTED",  # room for what `close` finds
    "EMITTED_COUNT",
    "EMITTED_CAPACITY",
    "KNOWN",  # the automaton's block, if there is one
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
    LIMITED_BEFORE,
    LIMITED_FIRST,
    LIMITED_COUNT,
    ERROR,
    ERRORS,
    MARK_COUNT,
    MARKS,
    BYTES,
    TAKEN_MASKS,
    EMITTED,
    EMITTED_COUNT,
    EMITTED_CAPACITY,
    KNOWN,
    SETS,
) = range(len(CONTROL))

COUNT, INDEXED, STAMP, ENTRIES, TABLE, SET_WORDS = 0, 1, 2, 3, 4, 5
"""A set: its candidates, how many of them the table knows, what marks the slots of the table that count."""


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
