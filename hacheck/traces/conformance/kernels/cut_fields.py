"""Layout of the memory of the search by cuts. Kernels and Python share it."""

from __future__ import annotations

SEARCH = (
    "LENGTHS",  # by stream, how many records it has
    "WORDS",  # by stream, where its records are
    "TIMES",  # by stream, where the times of its records are; 0 where they have none
    "SKEW",
    "END_FROM",  # by stream, the first record that is close to the end of the log
    "AFTER",  # by stream, where the places of `AFTER_PAIRS` begin, one more than it has records; 0: nowhere
    "AFTER_PAIRS",  # pairs of a stream and how many of its records come first
    "END_WORD",  # the word of a record, and what it is there where a line may have been cut off
    "END_VALUE",
    "TAKEN",  # by stream, where a state says how many of its records the last step took: word, shift, mask
    "WINDOW",  # room for the next records
    "AFTERWARDS",  # room for a cut
    "LEVELS",  # room for the cuts of as many records: one after another, see below
    "CUT_CAPACITY",  # of a level
    "CUT_SHIFT",  # 64 minus the binary logarithm of the slots of its table
    "TOTAL",  # how many records the cuts have that are looked at now
    "NEXT",  # the number of the first of them that was not
    "PENDING",  # how many cuts are to be looked at, of all levels
    "FURTHEST",  # the most records that some cut has that was looked at
    "MOVE_STEPS",  # room for the steps of moves: by stream the records taken, packed; the node
    "MOVE_STEP_COUNT",
    "MOVE_STEP_CAPACITY",
    "STEP_OF",  # for each state after a step, what it took, and the state's number
    "UNIONS",  # slots of a pair of nodes and the node of both sets
    "CAUSED",  # whether records come after messages of others
    "WIDTH",  # results: the most candidates of a cut
    "LOOKED_AT",  # how many candidates there were
    "BOUNDS",  # how often a step met a bound
    "FAILED",  # whether one was an error of the spec
    "FIRST_CUTS",  # for each property the first cut at which all candidates violate it, and at which some do, each of
    # `STREAMS` + 1 words, the number of records first
    "FINAL",  # room for a move: what is violated at the end
    "RECALLED",  # how many moves were known, and how many had to be worked out
    "WORKED_OUT",
)
"""The words of the block, in their order."""

(
    LENGTHS,
    WORDS,
    TIMES,
    SKEW,
    END_FROM,
    AFTER,
    AFTER_PAIRS,
    END_WORD,
    END_VALUE,
    TAKEN,
    WINDOW,
    AFTERWARDS,
    LEVELS,
    CUT_CAPACITY,
    CUT_SHIFT,
    TOTAL,
    NEXT,
    PENDING,
    FURTHEST,
    MOVE_STEPS,
    MOVE_STEP_COUNT,
    MOVE_STEP_CAPACITY,
    STEP_OF,
    UNIONS,
    CAUSED,
    WIDTH,
    LOOKED_AT,
    BOUNDS,
    FAILED,
    FIRST_CUTS,
    FINAL,
    RECALLED,
    WORKED_OUT,
) = range(len(SEARCH))

L_COUNT, L_STAMP, L_CUTS, L_TABLE, LEVEL_WORDS = range(5)
"""A level: how many cuts it has; what marks the slots of its table that count; the cuts, each `STREAMS` words and its
node; the table."""

M_EDGE, M_STEPS, M_COUNTS, M_MET, M_SOME, M_ALL, M_WINDOW = range(7)
"""The words of a move: its node (0: none); where its steps begin; how many there are, and from bit 32 on how many
candidates the node has after hidden steps; how often a bound was met, with an error in bit 0; the properties that some
of them violate, and those that all violate; from `M_WINDOW` on the records that it is for."""

UNION_BITS = 14

EXPLAINED, STUCK, PAUSED, NO_ROOM, TOO_LARGE = range(5)
"""What a call of the search returns: every record is explained; no cut is left; it is to be called again; all has to be
forgotten first; a set or a level is too large for it."""
