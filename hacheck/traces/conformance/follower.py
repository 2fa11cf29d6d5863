"""Follows traces with compiled code: the memory that it works in, and what it says of each trace."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from msgspec import Struct

from hacheck.checker.explicit.coverage_text import bound_counts
from hacheck.compile import Region
from hacheck.traces.conformance.automaton import MARKS_MAX, Automaton
from hacheck.traces.conformance.kernels import control as k
from hacheck.traces.conformance.open_trace_state import RECORDS_MAX, damaged, is_count, is_numbers
from hacheck.traces.conformance.open_trace_state import Memory as KeptMemory
from hacheck.traces.conformance.trace_program import Compiled

CAPACITY = 2**14
"""States that explain a log so far, at one position, before nothing more is said of it."""

_BLOCK = 64
_EMITTED = 2**16  # states after steps that took records, listed before they are looked at
_EXPANDED_PER_CALL = 2_000_000  # some tenths of a second
_WORD = 8


class Followed(Struct, frozen=True):
    """What became of the part of a trace.

    - `status`: of `kernels`; `place`: the record at which it stopped, counted from 0 in the trace;
    - `width`: the most states that explained it; `limited`: how many steps met a bound of the model on the way;
    - `violated`: for each property the record before which it was violated: surely, perhaps (`None`: never).
    """

    status: int
    place: int
    width: int
    limited: int
    violated: tuple[tuple[int | None, int | None], ...]


class Memory:
    """The memory that compiled code works in: the sets of candidates, and room for steps.

    - `capacity`: the most candidates of a set; `starts`: the states that a trace may start in, in words;
    - `masks`: by word, the bits that say how many records the last step took.
    """

    def __init__(self, compiled: Compiled, capacity: int = CAPACITY, known_bytes: int = 0) -> None:
        """`known_bytes`: memory for the automaton; without, all is worked out each time."""
        self.compiled, self.capacity = compiled, capacity
        program = compiled.program
        block = max(1, min(_BLOCK, 2**22 // max(program.successors_max, 1)))
        outcomes = block * program.successors_max + _BLOCK
        size = program.words * _WORD
        table_bits = max((2 * capacity - 1).bit_length(), 6)
        ring = compiled.shape.places + 1 if compiled.shape.merged else 1
        self._out, self._tags = Region(outcomes * size), Region(outcomes * _WORD)
        self._entries = [Region((capacity + 1) * size) for _ in range(ring)]
        self._tables = [Region(_WORD << table_bits) for _ in range(ring)]
        self._bytes = Region(capacity + 1)
        self._listed = max(_EMITTED, outcomes)
        self._emitted = Region(self._listed * compiled.base * _WORD)
        self._notes = program.notes.new()
        self.starts = np.array([words_of(start, compiled.base) for start in compiled.starts], np.uint64)
        self.masks = np.zeros(compiled.base, np.uint64)
        for bits in compiled.taken:
            self.masks[bits.word] |= np.uint64(((1 << bits.width) - 1) << bits.shift)
        marks = len(compiled.checked)
        self._marks = np.zeros((max(marks, 1), k.MARK_WORDS), np.uint64)
        for number in range(marks):
            self._marks[number, k.MARK] = compiled.code.address(f"mark_{number}")
        control = np.zeros(k.SETS + ring * k.SET_WORDS, np.uint64)
        taken, notes = compiled.taken[0], program.notes
        for place, value in {
            k.EXPAND: compiled.code.address("expand"),
            k.OUT: self._out.address,
            k.TAGS: self._tags.address,
            k.NOTES: self._notes.buffer_info()[0],
            k.BLOCK: block,
            k.TAKEN_WORD: taken.word,
            k.TAKEN_SHIFT: taken.shift,
            k.TAKEN_MASK: (1 << taken.width) - 1,
            k.CAPACITY: capacity,
            k.TABLE_SHIFT: 64 - table_bits,
            k.STARTS: self.starts.ctypes.data,
            k.START_COUNT: len(self.starts),
            k.LIMITED_FIRST: notes.bounds_reached,
            k.LIMITED_COUNT: notes.error - notes.bounds_reached,
            k.ERROR: notes.error,
            k.MARK_COUNT: marks,
            k.MARKS: self._marks.ctypes.data,
            k.BYTES: self._bytes.address,
            k.TAKEN_MASKS: self.masks.ctypes.data,
            k.EMITTED: self._emitted.address,
            k.EMITTED_CAPACITY: self._listed,
        }.items():
            control[place] = value
        for number in range(ring):
            at = k.SETS + number * k.SET_WORDS
            control[at + k.STAMP] = 1
            control[at + k.ENTRIES] = self._entries[number].address
            control[at + k.TABLE] = self._tables[number].address
        self.control = control
        self.automaton: Automaton | None = None
        if known_bytes and compiled.shape.merged and marks <= MARKS_MAX:
            self.automaton = Automaton(compiled, capacity, block, outcomes, known_bytes)
            control[k.KNOWN] = self.automaton.address

    @property
    def address(self) -> int:
        """What kernels are given."""
        return int(self.control.ctypes.data)

    @property
    def expanded(self) -> int:
        """How many states were looked at so far."""
        return int(self.control[k.EXPANDED])

    @property
    def count(self) -> int:
        """How many candidates the first set has."""
        return int(self.control[k.SETS + k.COUNT])

    def limited(self) -> int:
        """How many steps met a bound so far, or were an error of the spec."""
        return self.compiled.kernels["limited"](self.address)

    def met(self) -> list[int]:
        """How many steps met each bound so far. With an automaton, which counts all as one, nobody knows."""
        return self.compiled.program.notes.bounds_reached_of(self._notes)

    def met_since(self, before: list[int]) -> tuple[str, ...]:
        """The bounds that were met since then, those that were met most often first."""
        counts = [now - then for now, then in zip(self.met(), before, strict=True)]
        return tuple(name for name, _ in bound_counts(counts, self.compiled.program.bounds))

    def snapshot(self) -> dict[str, Any]:
        """The candidates of all sets, and how far they are."""
        words, base = self.compiled.program.words, self.compiled.base
        sets = []
        for number, entries in enumerate(self._entries):
            count = int(self.control[k.SETS + number * k.SET_WORDS + k.COUNT])
            sets.append(_array(entries, count, words)[:, :base].copy())
        return {
            "sets": sets,
            "position": int(self.control[k.POSITION]),
            "peak": int(self.control[k.PEAK]),
            "limited": (self.limited() - int(self.control[k.LIMITED_BEFORE])) & k.NOWHERE,
            "marks": self._marks[:, k.SURELY :].copy(),
        }

    def held_of(self, kept: KeptMemory) -> dict[str, Any]:
        """The snapshot that was kept. Errors: `TracesError` where it does not fit the system: machine code works on
        it."""
        fits = len(kept.sets) == len(self._entries) and is_numbers(kept.marks)
        fits = fits and kept.marks.shape == self._marks[:, k.SURELY :].shape
        fits = fits and all(is_numbers(one, self.compiled.base) and len(one) <= self.capacity for one in kept.sets)
        numbers = (kept.position, kept.peak, kept.limited)
        if not fits or not all(is_count(one, RECORDS_MAX) for one in numbers):
            raise damaged("is not of this spec, its settings or its limit of states")
        return {name: getattr(kept, name) for name in KeptMemory.__struct_fields__}

    def restore(self, held: dict[str, Any]) -> None:
        """Goes on where `snapshot` was taken."""
        words, base = self.compiled.program.words, self.compiled.base
        for number, states in enumerate(held["sets"]):
            at = k.SETS + number * k.SET_WORDS
            self.compiled.kernels["empty"](self.address + at * _WORD)
            _array(self._entries[number], len(states), words)[:, :base] = states
            self.control[at + k.COUNT] = len(states)
        self.control[k.POSITION], self.control[k.PEAK] = held["position"], held["peak"]
        # A difference of unsigned numbers.
        self.control[k.LIMITED_BEFORE] = (self.limited() - held["limited"]) & k.NOWHERE
        self._marks[:, k.SURELY :] = held["marks"]

    def hold(self, states: Any) -> None:
        """Makes these states, and no others, the candidates of the first set."""
        self.compiled.kernels["empty"](self.address + k.SETS * _WORD)
        _array(self._entries[0], len(states), self.compiled.program.words)[:, : self.compiled.base] = states
        self.control[k.SETS + k.COUNT] = len(states)

    def close(self, states: Any, window: Any) -> Iterator[Any]:
        """Makes these states candidates that see these records, and takes every step from them and from those that join
        them. Gives the states after steps that took records, in words, some at a time; `None` if there are too many
        candidates. Between two of them it may be left."""
        control = self.control
        self.hold(states)
        _array(self._entries[0], len(states), self.compiled.program.words)[:, self.compiled.base :] = window.reshape(-1)
        control[k.RECORD_ADDRESS] = window.ctypes.data
        done = 0
        while done < self.count:
            control[k.EMITTED_COUNT], control[k.PAUSE] = 0, control[k.EXPANDED] + _EXPANDED_PER_CALL
            done = self.compiled.kernels["close"](self.address, done)
            if done == k.NOWHERE:
                yield None
                return
            yield _array(self._emitted, int(control[k.EMITTED_COUNT]), self.compiled.base).copy()

    def steps(self, states: Any, window: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Every step from states that see these records, some at a time: for each the place of its state, the instance,
        and the state after it, in words."""
        base, words = self.compiled.base, self.compiled.program.words
        block = int(self.control[k.BLOCK])
        expand = self.compiled.code.function("expand", 5)
        whole = np.zeros((len(states), words), np.uint64)
        whole[:, :base], whole[:, base:] = states, window.reshape(-1)
        for start in range(0, len(states), block):
            some = np.ascontiguousarray(whole[start : start + block])
            count = expand(
                some.ctypes.data, len(some), self._out.address, self._tags.address, self._notes.buffer_info()[0]
            )
            tags = _array(self._tags, count, 1)[:, 0].copy()
            after = _array(self._out, count, words)[:, :base].copy()
            yield (tags >> np.uint64(32)) + np.uint64(start), tags & np.uint64(0xFFFFFFFF), after

    def closed(self) -> Any:
        """The candidates of the first set, as states in words."""
        return _array(self._entries[0], self.count, self.compiled.program.words)[:, : self.compiled.base].copy()

    def marked(self, number: int) -> tuple[bool, bool]:
        """Whether some, and whether all candidates of the first set violate a property."""
        found = self.violating(number)
        return bool(found.any()), bool(found.all())

    def violating(self, number: int) -> Any:
        """Which candidates of the first set violate a property."""
        prototype = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)
        prototype(int(self._marks[number, k.MARK]))(self._entries[0].address, self.count, self._bytes.address)
        return np.frombuffer(self._bytes.read(0, self.count), np.uint8) != 0


def words_of(packed: int, count: int) -> list[int]:
    """The words of a packed state."""
    return [packed >> 64 * word & (1 << 64) - 1 for word in range(count)]


def _array(region: Region, rows: int, words: int) -> Any:
    """Memory as rows of words."""
    whole = (ctypes.c_uint64 * (rows * words)).from_address(region.address)
    return np.frombuffer(memoryview(whole), np.uint64).reshape(rows, words) if rows else np.zeros((0, words), np.uint64)


class Follower:
    """Follows one trace after another, each in one order."""

    def __init__(self, compiled: Compiled, memory: Memory | None = None) -> None:
        self.compiled = compiled
        self.memory = Memory(compiled) if memory is None else memory

    def follow(self, records: Any, parts: Any, report: Callable[[], bool] = lambda: True) -> Any:
        """Follows parts of traces.

        `records`: words (uint64, one row for each record), behind the last part twice as many more as a step may take;
        `parts`: rows of `kernels.TRACE_WORDS` (uint64), changed by it. `report` is called some times a second and says
        whether to go on. Returns what became of each, in rows that `followed` reads, or `None` if it was to stop.
        """
        control, marks = self.memory.control, len(self.compiled.checked)
        results = np.zeros((len(parts), k.RESULT_WORDS + 2 * marks), np.uint64)
        step = self.compiled.kernels["follow_parts"]
        done = 0
        while done < len(parts):
            control[k.PAUSE] = control[k.EXPANDED] + _EXPANDED_PER_CALL
            done += step(
                self.memory.address,
                records.ctypes.data,
                parts[done:].ctypes.data,
                len(parts) - done,
                results[done:].ctypes.data,
            )
            if not report():
                return None
        return results

    def followed(self, row: Any) -> Followed:
        """What became of the part of a trace."""
        return _followed(row.tolist(), len(self.compiled.checked))


def _followed(row: list[int], marks: int) -> Followed:
    def place(number: int) -> int | None:
        return None if number == k.NOWHERE else number

    rest = row[k.RESULT_WORDS :]
    violated = tuple((place(rest[2 * number]), place(rest[2 * number + 1])) for number in range(marks))
    return Followed(row[k.STATUS], row[k.PLACE], row[k.WIDTH], row[k.LIMITED], violated)
