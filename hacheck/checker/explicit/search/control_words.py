"""Where kernels find what they work on: places in two arrays of 64-bit words, one for all threads, one for each.

The places that threads write at the same time are on cache lines of their own.
"""

from __future__ import annotations

# ---- shared by all threads -----------------------------------------------------------------------------------------

CURSOR = 0  # the next block to be taken, of those in PARTS
USED = 16  # slots of the table that are taken or set aside
TABLE = 32  # address of the visited set
SHIFT = 33  # 64 less the logarithm of its slots: a hash shifted by it is a place
ROOM = 34  # slots that may be taken before the table has to grow
SLICE_END = 35  # blocks from here on are for a later call
STATES_STOP = 36  # states of which no more are to be found; exact if one thread works
LOG = 37  # address of state 0
BLOCK = 38  # states in a block
EXPAND = 39  # addresses of the generated functions
CANONICAL = 40  # 0 where there is none
INSPECT = 41
ENTRIES = 42  # trace reconstruction: address of entry 0
SHARES = 44  # a thread sets aside one of so many parts of what is left of the slice
IS_FAULT = 43  # trace reconstruction: for each instance, whether its action is a fault, in a byte
PARTS = 48  # for each range of the level: its first block, its first state, its end; the last one has no first block

PART_BLOCK, PART_FIRST, PART_END, PART_WORDS = 0, 1, 2, 3

# ---- of one thread -------------------------------------------------------------------------------------------------

NEXT = 0  # index of the next state it finds
END = 1  # index it must not reach
PENDING = 2  # successors in `OUT` that wait to be looked up; 0: the next block can be taken
OUT = 3  # addresses: successors of a block
TAGS = 4  # where each came from
HASHES = 5  # of those that wait
BY = 6  # their instances
FILTER = 7  # states seen lately
NOTES = 8
BEST = 9  # trace reconstruction: for each state of a block the best step
DONE = 10  # how many of those that wait are looked up already
OWN_NEXT = 11  # the next of the blocks that it has set aside, and the one behind them
OWN_END = 12

THREAD_WORDS = 16
APART = 16  # words between what two threads write, so that no cache line has some of both

# ---- what a kernel says when it returns -----------------------------------------------------------------------------

SLICE_DONE = 0  # every block of the slice is taken, or there are `STATES_STOP` states
TABLE_FULL = 1
LOG_FULL = 2
