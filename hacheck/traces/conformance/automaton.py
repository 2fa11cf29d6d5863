"""The memory of the automaton that is made while logs are followed: sets of candidates as nodes, records as moves.

Traces of one protocol repeat each other, and a move that was worked out once is looked up from then on. When the memory
is full, everything is forgotten, and what is met next is worked out anew: verdicts do not depend on it.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from hacheck.compile import Region
from hacheck.traces.conformance.kernels import automaton_fields as k
from hacheck.traces.conformance.trace_program import Compiled

BYTES = 2**28
"""How much memory it takes at most, for a process that follows logs."""

LARGE_MAX = 2**12
"""Sets of more candidates are followed without it: they seldom come twice."""

NARROW = 3
"""Sets of so few candidates are followed without it where their move is not known: a move is worked out in some three
times the time."""

MARKS_MAX = 64
"""With more properties to look at on the way there is no automaton."""

_SHARES = {"states": 0.4, "nodes": 0.35, "moves": 0.25}
_LIST_PER_STATE, _LIST_PER_NODE = 12, 64  # 32-bit numbers that there is room for in the lists
_LEAST = 64
_SHIFT_FIRST = 64 - 6  # tables begin with as many slots


class Figures(Struct, frozen=True):
    """What became of the records followed: their move was known, or worked out, or they were followed without nodes;
    how often all was forgotten; what is known now."""

    recalled: int
    worked_out: int
    apart: int
    forgotten: int
    states: int
    nodes: int
    moves: int


class Automaton:
    """Nodes and moves, none at first. `control`: its block."""

    def __init__(self, compiled: Compiled, capacity: int, block: int, outcomes: int, size: int = BYTES) -> None:
        """`capacity`: the most candidates of a set; `block`: how many are expanded at once, `outcomes` the most steps
        from them; `size`: in bytes."""
        self.compiled = compiled
        words, places = compiled.program.words, compiled.shape.places
        state = compiled.base * 8 + 16 + 4 + 8 + 4 * places + 4 * _LIST_PER_STATE
        node = k.NODE_WORDS * 8 + 16 + 4 * _LIST_PER_NODE
        move = (k.M_WINDOW + words - compiled.base) * 8
        states = _power(size * _SHARES["states"] / state)
        nodes = _power(size * _SHARES["nodes"] / node)
        slots = _power(size * _SHARES["moves"] / move * 2 / 3)
        lists = states * _LIST_PER_STATE + nodes * _LIST_PER_NODE
        large = min(capacity, LARGE_MAX, states // 4)
        line_actions = compiled.line_actions
        notes = compiled.program.notes if line_actions is None else line_actions.notes
        code = compiled.code if line_actions is None else line_actions.code
        self._notes = notes.new()
        control = np.zeros(len(k.KNOWN), np.uint64)
        self._regions = []
        for place, room in {
            k.SEEN: block * words * 8,
            k.STAMPS: states * places * 4 + 8,
            k.LISTED: (large + 1) * 4,
            k.STATES: states * compiled.base * 8,
            k.STATE_TABLE: 2 * states * 8,
            k.STATE_STEPS: states * 4,
            k.STATE_MARKS: states * 8,
            k.LISTS: lists * 4,
            k.NODES: nodes * k.NODE_WORDS * 8,
            k.NODE_TABLE: 2 * nodes * 8,
            k.MOVES: slots * move,
            k.MOVES_SPARE: slots * move,
            k.HASHES: outcomes * 8,
        }.items():
            region = Region(room)
            self._regions.append(region)
            control[place] = region.address
        for place, value in {
            k.LARGE: large,
            k.NARROW: NARROW,
            k.ONE_FIRST: line_actions is None and places == 1,
            k.LINE_EXPAND: code.address("expand"),
            k.LINE_NOTES: self._notes.buffer_info()[0],
            k.LINE_LIMITED_FIRST: notes.bounds_reached,
            k.LINE_LIMITED_COUNT: notes.error - notes.bounds_reached,
            k.LINE_ERROR: notes.error,
            k.STATE_CAPACITY: states,
            k.STATE_SHIFT: _SHIFT_FIRST,
            k.LIST_END: k.LISTS_FIRST,
            k.LIST_CAPACITY: lists,
            k.NODE_COUNT: k.NODES_FIRST,
            k.NODE_CAPACITY: nodes,
            k.NODE_SHIFT: _SHIFT_FIRST,
            k.MOVE_CAPACITY: slots // 2,
            k.MOVE_SHIFT: _SHIFT_FIRST,
        }.items():
            control[place] = value
        self.control = control

    @property
    def address(self) -> int:
        """What kernels are given."""
        return int(self.control.ctypes.data)

    @property
    def one_first(self) -> bool:
        """Whether most records are followed without it: every step writes a line, one at most."""
        return bool(self.control[k.ONE_FIRST])

    def figures(self) -> Figures:
        """What it was good for so far."""
        places = (k.RECALLED, k.WORKED_OUT, k.APART, k.FORGOTTEN, k.STATE_COUNT, k.NODE_COUNT, k.MOVE_COUNT)
        return Figures(*(int(self.control[place]) for place in places))

    def forget(self) -> None:
        """Forgets every state, node and move."""
        self.compiled.kernels["forget"](self.address)


def _power(most: float) -> int:
    """The largest power of two up to a number, but not less than a few."""
    return max(1 << (int(most).bit_length() - 1 if most >= 1 else 0), _LEAST)
