"""Layout of the memory of the automaton that is built while logs are followed. Kernels and Python share it."""

from __future__ import annotations

KNOWN = (
    "LARGE",  # a set with more candidates than this becomes no node
    "NARROW",  # a closed set with at most so many candidates gets no moves: computing them takes longer than following
    "ONE_FIRST",  # 1: a single candidate is followed without nodes, as every step takes one record at most
    "SEEN",  # room for candidates together with the records that they see
    "LINE_EXPAND",  # address of the generated function: steps of the actions that may write lines
    "LINE_NOTES",
    "LINE_LIMITED_FIRST",
    "LINE_LIMITED_COUNT",
    "LINE_ERROR",
    "EPOCH",  # the stamp of the states in the set that is listed now
    "STAMPS",  # for each state and place ahead, 32 bits
    "LISTED",  # the set, 32 bits for each element
    "LISTED_COUNT",
    "LISTED_SUM",  # sum of the hashes of its elements, so that their order does not matter
    "STATE_COUNT",
    "STATE_CAPACITY",
    "STATES",  # `W` words each
    "STATE_TABLE",
    "STATE_SHIFT",  # 64 minus the binary logarithm of the number of slots of its table; tables grow
    "HASHES",  # of states that are looked up together
    "STATE_STEPS",  # for each state, 32 bits: where in the lists its steps without records begin; 0: not computed
    "STATE_MARKS",  # for each state, a bit for each property that it violates
    "LISTS",  # elements of nodes, and steps of states: 32 bits each
    "LIST_END",
    "LIST_CAPACITY",
    "NODE_COUNT",
    "NODE_CAPACITY",
    "NODES",
    "NODE_TABLE",
    "NODE_SHIFT",
    "MOVE_COUNT",
    "MOVE_CAPACITY",  # the most moves that fit into the table
    "MOVES",  # the table itself
    "MOVES_SPARE",  # memory of the same size, into which the table grows
    "MOVE_SHIFT",
    "RECALLED",  # number of records whose move was known
    "WORKED_OUT",  # number of records whose move had to be computed
    "APART",  # number of records that were followed without nodes
    "FORGOTTEN",  # how often the automaton was emptied
)
"""The words of the automaton's block, in their order."""

(
    LARGE,
    NARROW,
    ONE_FIRST,
    SEEN,
    LINE_EXPAND,
    LINE_NOTES,
    LINE_LIMITED_FIRST,
    LINE_LIMITED_COUNT,
    LINE_ERROR,
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
"""The words of a node: where in the lists its elements begin; how many there are; their hash; where its candidates
after hidden steps begin (0: not computed); how many those are; how often hidden steps met a bound there, with bit 0
for an error of the spec; the properties that some of these candidates violate; the properties that all of them violate.
The last number is the size of a node in words."""

M_EDGE, M_MET, M_WINDOW = range(3)
"""The words of a move: its node and the node that it leads to (0: none); width, bounds met and error, see
`WIDTH_SHIFT`; from `M_WINDOW` on the records that the move is for."""

WIDTH_SHIFT, LIMITED_MAX = 33, (1 << 32) - 1
"""In `M_MET`: the width from this bit on, below it how often a bound was met, and in bit 0 the error."""

AHEAD_SHIFT = 28
"""An element of a node is the number of a state, and from this bit on the number of records that it is ahead."""

NODES_FIRST, LISTS_FIRST = 1, 1
"""The first number of a node, and the first place of a list. Node 0 is the empty set; a list at 0 means no list."""

STOPPED, FEW = 4, 5
"""Results of following with nodes, beside those that callers know: it has to continue without nodes (`STOPPED`); it
has to do so as long as there are few candidates (`FEW`)."""

EPOCH_LAST = (1 << 32) - 1
"""The greatest stamp: after it, all stamps are cleared."""
