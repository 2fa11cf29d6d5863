"""The search by cuts in machine code, and the memory that it works in.

It finds what `CutSearch` finds, and remembers what each set of states that sees some records leads to, from one cut to
the next and from trace to trace. What it has no room for is left to `CutSearch`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from msgspec import Struct

from hacheck.compile import ObjectCache, Region, compiled_kernels, kept_kernels, link
from hacheck.traces.conformance.follower import Memory
from hacheck.traces.conformance.kernels import automaton_fields as known_fields
from hacheck.traces.conformance.kernels import control as k
from hacheck.traces.conformance.kernels import cut_fields as f
from hacheck.traces.conformance.kernels import cut_loop
from hacheck.traces.conformance.trace_program import WORD_BITS, Compiled
from hacheck.traces.conformance.trace_progress import TraceProgress

if TYPE_CHECKING:
    from hacheck.traces.conformance.interleavings import Cut, Streams

BYTES = 2**27
"""How much memory it takes at most."""

LARGE_MAX = 2**12
"""A larger set of states is left to `CutSearch`, which then takes little longer."""

LEVEL_CUTS_MAX = 2**12
"""So many cuts of as many records there is room for."""

MARKS_MAX = 64

_LOOKED_AT_PER_CALL = 2_000_000
_SHIFT_FIRST = 64 - 6
_LIST_PER_STATE, _LIST_PER_NODE = 4, 32
_STEPS_PER_MOVE = 4
_EXPORTED = {"begin_cuts": 4, "search_cuts": 5, "forget_cuts": 2}


class Searched(Struct, frozen=True):
    """What became of a trace: `explained`, or the furthest `cuts`, in order; the rest as in `SearchResult`."""

    explained: bool
    cuts: tuple[Cut, ...]
    width: int
    limited: int
    expanded: int
    violated: tuple[tuple[Cut | None, Cut | None], ...]


class CutKernel:
    """Searches one trace after another. `control`, `known`: its blocks, the second one of states and moves."""

    def __init__(self, compiled: Compiled, memory: Memory, kernels: Mapping[str, Callable[..., int]]) -> None:
        self.compiled, self.memory, self.kernels = compiled, memory, kernels
        self._arrays: list[Any] = []
        self._regions: list[Region] = []
        self.streams = compiled.shape.streams
        self.known = self._known_block()
        self.control = self._search_block()

    def search(
        self, streams: Streams, starts: Any, expanded_max: int, report: Callable[[], bool]
    ) -> Searched | Literal[False] | None:
        """Looks for a run that explains all records. False where there is no room for it, or more than `expanded_max`
        states are to be looked at; `None` if `report` says not to go on."""
        found = self._search(streams, starts, expanded_max, report)
        if found == f.NO_ROOM:  # of what was remembered: once more, with all the room there is
            self.kernels["forget_cuts"](self.known.ctypes.data, self.control.ctypes.data)
            found = self._search(streams, starts, expanded_max, report)
        return False if isinstance(found, int) else found

    def _search(
        self, streams: Streams, starts: Any, expanded_max: int, report: Callable[[], bool]
    ) -> Searched | int | None:
        held = self._show(streams)
        firsts = self._firsts
        firsts[:] = k.NOWHERE
        for place in (f.WIDTH, f.LOOKED_AT, f.BOUNDS, f.FAILED, f.FURTHEST):
            self.control[place] = 0
        known, search = self.known.ctypes.data, self.control.ctypes.data
        starts = np.ascontiguousarray(starts)
        status = self.kernels["begin_cuts"](known, search, starts.ctypes.data, len(starts))
        last, progress = sum(streams.lengths), report if isinstance(report, TraceProgress) else None
        while status == f.PAUSED:
            if progress is not None:
                progress.at(int(self.control[f.TOTAL]), last)
            if not report():
                return None
            until = int(self.control[f.LOOKED_AT])
            if until > expanded_max:
                return f.TOO_LARGE
            until = min(until + _LOOKED_AT_PER_CALL, expanded_max)
            status = self.kernels["search_cuts"](self.memory.address, known, search, last, until)
        del held
        return self._result(streams) if status in (f.EXPLAINED, f.STUCK) else status

    def _result(self, streams: Streams) -> Searched:
        control, streams_count = self.control, self.streams
        furthest = int(control[f.FURTHEST])
        level = self._levels[furthest % len(self._levels)]
        count, words = int(level[f.L_COUNT]), streams_count + 1
        cuts = _words_at(int(level[f.L_CUTS]), count * words).reshape(count, words)[:, :streams_count].tolist()
        pairs = self._firsts[: 2 * words * len(self.compiled.checked)].reshape(-1, 2, words).tolist()
        violated = tuple((_cut_of(surely), _cut_of(perhaps)) for surely, perhaps in pairs)
        return Searched(
            explained=furthest == sum(streams.lengths),
            cuts=tuple(sorted(tuple(cut) for cut in cuts)),
            width=int(control[f.WIDTH]),
            limited=int(control[f.BOUNDS]) + int(control[f.FAILED]),
            expanded=int(control[f.LOOKED_AT]),
            violated=violated,
        )

    # ---- what it sees of a trace ----

    def _show(self, streams: Streams) -> list[Any]:
        """Writes where the records of a trace are. Returns what has to stay until it is searched."""
        held: list[Any] = []

        def address(numbers: Any) -> int:
            held.append(numbers)
            return int(numbers.ctypes.data)

        lengths, control = streams.lengths, self.control
        self._lengths[:] = lengths
        self._words[:] = [address(np.ascontiguousarray(words)) for words in streams.words]
        self._end_from[:] = _end_from(streams)
        control[f.TIMES] = 0
        if streams.times is not None:
            first = min((int(times[0]) for times in streams.times if len(times)), default=0)
            since = [(np.asarray(times, np.int64) - first).astype(np.uint64) for times in streams.times]
            self._times[:] = [address(one) for one in since]
            control[f.TIMES] = self._times.ctypes.data
            control[f.SKEW] = streams.skew_ns
        control[f.CAUSED] = int(any(streams.after))
        if any(streams.after):
            pairs: list[tuple[int, int]] = []
            places = []
            for after, length in zip(streams.after, lengths, strict=True):
                mine = [len(pairs)]
                for record in range(length):
                    pairs += after.get(record, ())
                    mine.append(len(pairs))
                places.append(address(np.array(mine, np.uint64)))
            self._after[:] = places
            control[f.AFTER_PAIRS] = address(np.array(pairs, np.uint64))
        return held

    # ---- memory ----

    @property
    def recalled(self) -> int:
        """How many moves were known so far when they were needed."""
        return int(self.control[f.RECALLED])

    @property
    def worked_out(self) -> int:
        """How many had to be worked out."""
        return int(self.control[f.WORKED_OUT])

    def _array(self, words: int) -> Any:
        made = np.zeros(max(words, 1), np.uint64)
        self._arrays.append(made)
        return made

    def _region(self, size: int) -> int:
        self._regions.append(Region(size))
        return self._regions[-1].address

    def _known_block(self) -> Any:
        """Room for states, nodes and moves."""
        base, seen = self.compiled.base, self.compiled.program.words - self.compiled.base
        move = (f.M_WINDOW + seen) * 8
        states = _power(BYTES * 0.3 / (base * 8 + 32 + 4 * _LIST_PER_STATE))
        nodes = _power(BYTES * 0.25 / (known_fields.NODE_WORDS * 8 + 16 + 4 * _LIST_PER_NODE))
        slots = _power(BYTES * 0.3 / move)
        lists = states * _LIST_PER_STATE + nodes * _LIST_PER_NODE
        self.move_slots = slots
        large = min(self.memory.capacity, LARGE_MAX, states // 4)
        known = np.zeros(len(known_fields.KNOWN), np.uint64)
        for place, size in {
            known_fields.STAMPS: states * 4 + 8,
            known_fields.LISTED: (large + 1) * 4,
            known_fields.STATES: states * base * 8,
            known_fields.STATE_TABLE: 2 * states * 8,
            known_fields.STATE_STEPS: states * 4,
            known_fields.LISTS: lists * 4,
            known_fields.NODES: nodes * known_fields.NODE_WORDS * 8,
            known_fields.NODE_TABLE: 2 * nodes * 8,
            known_fields.MOVES: slots * move,
        }.items():
            known[place] = self._region(size)
        for place, value in {
            known_fields.LARGE: large,
            known_fields.STATE_CAPACITY: states,
            known_fields.STATE_SHIFT: _SHIFT_FIRST,
            known_fields.LIST_END: known_fields.LISTS_FIRST,
            known_fields.LIST_CAPACITY: lists,
            known_fields.NODE_COUNT: known_fields.NODES_FIRST,
            known_fields.NODE_CAPACITY: nodes,
            known_fields.NODE_SHIFT: _SHIFT_FIRST,
            known_fields.MOVE_CAPACITY: slots // 2,
            known_fields.MOVE_SHIFT: 64 - (slots.bit_length() - 1),
        }.items():
            known[place] = value
        return known

    def _search_block(self) -> Any:
        """Room for a trace and its cuts."""
        compiled, streams = self.compiled, self.streams
        event, taken = compiled.record.event, self._array(3 * streams)
        assert event is not None, "records have events"
        taken[:] = [part for bits in compiled.taken for part in (bits.word, bits.shift, (1 << bits.width) - 1)]
        self._lengths, self._words, self._end_from, self._times, self._after = (self._array(streams) for _ in range(5))
        self._firsts = self._array(2 * len(compiled.checked) * (streams + 1))
        self._levels = self._array(f.LEVEL_WORDS * level_count(compiled)).reshape(-1, f.LEVEL_WORDS)
        for level in self._levels:
            level[f.L_CUTS] = self._region(LEVEL_CUTS_MAX * (streams + 1) * 8)
            level[f.L_TABLE] = self._region(2 * LEVEL_CUTS_MAX * 8)
        steps = _STEPS_PER_MOVE * self.move_slots
        control = np.zeros(len(f.SEARCH), np.uint64)
        for place, value in {
            f.LENGTHS: self._lengths.ctypes.data,
            f.WORDS: self._words.ctypes.data,
            f.END_FROM: self._end_from.ctypes.data,
            f.AFTER: self._after.ctypes.data,
            f.END_WORD: event.word,
            f.END_VALUE: compiled.shape.end << event.shift,
            f.TAKEN: taken.ctypes.data,
            f.WINDOW: self._array(compiled.program.words - compiled.base).ctypes.data,
            f.AFTERWARDS: self._array(streams).ctypes.data,
            f.LEVELS: self._levels.ctypes.data,
            f.CUT_CAPACITY: LEVEL_CUTS_MAX,
            f.CUT_SHIFT: 64 - (2 * LEVEL_CUTS_MAX).bit_length() + 1,
            f.MOVE_STEPS: self._region(steps * 16),
            f.MOVE_STEP_CAPACITY: steps,
            f.STEP_OF: self._region(int(self.memory.control[k.EMITTED_CAPACITY]) * 16),
            f.UNIONS: self._region(16 << f.UNION_BITS),
            f.FIRST_CUTS: self._firsts.ctypes.data,
            f.FINAL: self._array(f.M_WINDOW).ctypes.data,
        }.items():
            control[place] = value
        return control


def cut_kernel(compiled: Compiled, memory: Memory, made: bool) -> CutKernel | None:
    """What searches traces of a system; `None` where the system is too large for it, or, unless it is to be `made`,
    where none was kept."""
    streams, places = compiled.shape.streams, compiled.shape.places
    bits = places.bit_length()
    if compiled.shape.merged or streams * bits > WORD_BITS or len(compiled.checked) > MARKS_MAX:
        return None
    seen = compiled.program.words - compiled.base
    constants = {"W": compiled.base, "RECORDS": seen, "RECORD": compiled.record.words, "RING": 1, "PLACES": 1}
    constants |= {"MOVE_WORDS": f.M_WINDOW + seen, "STREAMS": streams, "STEP_BITS": bits, "PLACES_EACH": places}
    constants |= {"LEVEL_COUNT": level_count(compiled), "CUT_WORDS": streams + 1}
    make = compiled_kernels if made else kept_kernels
    code = make(cut_loop.KERNELS, constants, _EXPORTED, ObjectCache())
    if code is None:
        return None
    linked = link([code])
    return CutKernel(compiled, memory, {name: linked.function(name, count) for name, count in _EXPORTED.items()})


def level_count(compiled: Compiled) -> int:
    """So many records a step may take of all streams, and one more."""
    return compiled.shape.places * compiled.shape.streams + 1


def _end_from(streams: Streams) -> list[int]:
    """By stream the first record from which on lines may have been cut off with the end of the log."""
    if streams.times is None:
        return [max(length - 1, 0) for length in streams.lengths]
    last = max((times[-1] for times in streams.times if len(times)), default=0)
    return [int(np.searchsorted(times, last - streams.skew_ns)) for times in streams.times]


def _words_at(address: int, count: int) -> Any:
    return np.frombuffer(memoryview((ctypes.c_uint64 * count).from_address(address)), np.uint64).copy()


def _cut_of(first: list[int]) -> Cut | None:
    return None if first[0] == k.NOWHERE else tuple(first[1:])


def _power(most: float) -> int:
    return max(1 << (int(most).bit_length() - 1 if most >= 1 else 0), 64)
