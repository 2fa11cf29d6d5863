"""What the kernels of liveness share: words of memory by number, and what is kept for each state.

A *vertex* is a state by its place among all states, thread after thread. For each vertex there are

- a *record*, 64 bits: below, its *number*; above, where its list begins, or 0 if it is not stored;
- a byte of *flags*.

A *list* has the steps of a vertex, in entries of `ENTRY_BYTES` bytes. The first one has their count and whether a bound
cuts a step here. In each of the others the lower `TARGET_BITS` bits are the vertex that a step leads to, and the upper
ones the constraint that it takes, counted from 1, or 0; constraints are those of all properties checked together. Steps
to states in which every goal holds are left out, and so are steps that change nothing and take nothing. For constraints
that are enabled here, though no listed step takes them, there are entries that lead to no vertex: all lower bits are
set.

A number says where a vertex is in the work on one property:
"""

from __future__ import annotations

# Set when the kernels are compiled:
MASKS = 1  # words of a set of constraints
ENTRY_BYTES = 4  # bytes of an entry of a list, 4 or 8

UNREACHED = 0
"""The goal does not hold here, and no run that waits for it has come here yet."""
FIRST_PART = 1 << 31
"""From here on: in the part of that number. Below: on the stack of Tarjan's algorithm, in order of discovery."""
OUTSIDE = (1 << 32) - 1
"""The goal holds here, or no fair set has this vertex."""
LOW = (1 << 32) - 1

VERTICES_MAX = FIRST_PART - 2
"""What numbers suffice for."""

IN_DOUBT = 1
"""Flag: the goal of some property that is checked does not hold."""
IS_START = 2
"""Flag: a run that waits for the goal of the property at hand may begin here."""

HEAD_BOUND = 1 << 31
"""In the first entry of a list: a bound cuts a step."""

NOTHING = (1 << 64) - 1
"""No vertex."""

DONE, MORE = 1, 0
"""What a kernel says that works in slices: whether it is to be called again."""

(
    RECORDS,
    FLAGS,
    ORDER,  # 32-bit vertices in the order in which they were reached
    BATCH,  # how many of them are expanded at once
    LEVEL_END,  # of ORDER: where the level ends that is being expanded
    LISTS,  # entries, of which the first is not used
    LISTS_END,  # how many entries
    LISTS_CHUNK,  # entries that a thread takes at once
    TARGET_BITS,
    STATES,  # where the state of index 0 is
    SPANS,  # for each range of indices in use: its first index, its first vertex; then the end of both
    TAKEN_BY,  # for each instance, 16 bits: its constraint from 1, or 0
    EXPAND,  # generated functions
    CANONICAL,  # 0 where there is none
    SHARED,  # what the kernels of the search share
    MAKER,  # the worker that makes lists again
    WEAK,  # MASKS words: the weak constraints of the property at hand
    STRONG,
    STACK,  # 32-bit vertices; the queue of a walk
    FRAMES,  # see `components`; for each place in the queue of a walk the one before it, 32 bits
    ROOTS,  # 32-bit vertices: where to look for components
    ROOTS_NEXT,
    ROOTS_END,
    ROUND_END,  # parts from this number on are new in this round
    AGAIN,  # 32-bit vertices: where to look for smaller components
    AGAIN_COUNT,
    PARTS,  # the next part's number
    FAIR_COUNT,  # fair components
    PART,  # that is being looked at
    DEPTH,  # frames in use
    HEIGHT,  # vertices on the stack, or in the queue
    NUMBERED,  # vertices that have got a number
    CLOSING,  # what becomes of the members of the component at hand
    STARVED,  # MASKS words
    HOME,  # the vertex that a walk looks for, or NOTHING
    OWED,  # MASKS words: else, constraints one of which its last step is to take,
    OWED_WEAK,  # MASKS words: or one of which is disabled at its end
    HEAD,  # the place in the queue of the vertex whose steps are next
    FOUND_STEP,  # which of its steps was looked for
    BEST,  # the vertex with the least state so far, or NOTHING
    TARGET,  # what must be among a vertex's steps
    EVER,  # MASKS words
) = range(42)
"""Fields of `ground`, the array of 64-bit words that all kernels are given: addresses, where nothing else is said."""

CURSOR = 48
"""Field: where in ORDER the next batch of the level begins. Threads write it at the same time, so it is apart; and so
are the next two."""
ORDER_COUNT = 64
LISTS_NEXT = 80
"""Field: the first entry of LISTS that no thread has taken."""
GROUND_WORDS = 96
