"""Places in the memory of the automaton that is made while logs are followed: what kernels and Python write for
each other."""

from __future__ import annotations

KNOWN = (
    "LARGE",  # a set of more candidates is no node
    "NARROW",  # of one that has so few when it is closed no moves are worked out: that takes longer than without
    "ONE_FIRST",  # whether a lone candidate is followed by itself: every step writes a line, one at most
    "SEEN",  # a candidate that sees records, or some
    "LINE_STEPS",  # the generated function: steps of the actions that may write lines
    "LINES_NOTES",
    "LINES_CUT_FIRST",
    "LINES_CUT_COUNT",
    "LINES_FAULT",
    "EPOCH",  # what marks states of the set that is listed now
    "STAMPS",  # by state and place ahead, 32 bits
    "LISTED",  # the set, its elements 32 bits each
    "LISTED_COUNT",
    "LISTED_SUM",  # of what its elements are mixed to, whatever their order
    "STATE_COUNT",
    "STATE_CAPACITY",
    "STATES",  # `W` words each
    "STATE_TABLE",
    "STATE_SHIFT",  # 64 less the logarithm of the slots of its table; tables grow
    "HASHES",  # of states that are looked up together
    "STATE_STEPS",  # by state, 32 bits: where in the lists its steps without records are, 0 if nobody looked
    "STATE_MARKS",  # by state, a bit for each property that it violates
    "LISTS",  # elements of nodes, steps of states: 32 bits each
    "LIST_END",
    "LIST_CAPACITY",
    "NODE_COUNT",
    "NODE_CAPACITY",
    "NODES",
    "NODE_TABLE",
    "NODE_SHIFT",
    "MOVE_COUNT",
    "MOVE_CAPACITY",  # moves that the table may have
    "MOVES",  # the table itself
    "MOVES_SPARE",  # as much room again: the table grows into it
    "MOVE_SHIFT",
    "RECALLED",  # records whose move was known
    "WORKED_OUT",  # those whose move was not
    "APART",  # those that were followed without nodes
    "FORGOTTEN",  # how often all that was known was forgotten
)
"""The words of the automaton's block."""

(
    LARGE,
    NARROW,
    ONE_FIRST,
    SEEN,
    LINE_EXPAND,
    LINE_NOTES,
    LINE_CUT_FIRST,
    LINE_CUT_COUNT,
    LINE_FAULT,
    EPOCH,
    STAMPS,
    LISTED,
    LISTED_COUNT,
    LISTED_SUM,
    STATE_COUNT,
    STATE_CAPACITY,
    STATES,
    STATE_TABLE,
    STATE_SHIFT,
    HASHES,
    STATE_STEPS,
    STATE_MARKS,
    LISTS,
    LIST_END,
    LIST_CAPACITY,
    NODE_COUNT,
    NODE_CAPACITY,
    NODES,
    NODE_TABLE,
    NODE_SHIFT,
    MOVE_COUNT,
    MOVE_CAPACITY,
    MOVES,
    MOVES_SPARE,
    MOVE_SHIFT,
    RECALLED,
    WORKED_OUT,
    APART,
    FORGOTTEN,
) = range(len(KNOWN))

N_FIRST, N_COUNT, N_HASH, N_CLOSED, N_WIDTH, N_MET, N_SOME, N_ALL, NODE_WORDS = range(9)
"""A node: where in the lists its elements are, and how many; their hash; where its candidates are when hidden steps are
taken (0 if nobody looked), and how many; how often the silent actions met a bound there, and in bit 0 whether one was
an error of the spec; the properties that some, and that all of these candidates violate."""

M_EDGE, M_MET, M_WINDOW = range(3)
"""A move: its node and the one that it leads to (0: none); the node's width, how often a bound was met, whether there
was an error of the spec; then the records that it sees."""

WIDTH_SHIFT, CUTS_MAX = 33, (1 << 32) - 1
"""In `M_MET`: the width from this bit on, below it how often a bound was met, and in bit 0 the error."""

AHEAD_SHIFT = 28
"""An element of a node is the number of a state, and from this bit on, how many records further than the others."""

NODES_FIRST, LISTS_FIRST = 1, 1
"""Node 0 is the set without candidates; a list at 0 is none."""

STOPPED, FEW = 4, 5
"""What becomes of a part beside the ends that callers know: it goes on another way, if need be for as long as there are
few candidates."""

EPOCH_LAST = (1 << 32) - 1
