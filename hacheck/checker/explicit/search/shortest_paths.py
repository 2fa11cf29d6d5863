"""Shortest runs out of the log of a search: fewest steps, among those fewest faults, among those the least states.

Nothing is noted of a state's predecessors while searching. A run is found by going back level by level: each state of
the earlier level is expanded once more, and those with a step to a state that leads on are kept. Cost: at most about
that of the search; and as much memory as two words for each state that is kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from hacheck.checker.explicit.search.breadth_first_search import ALONE_MAX, Search
from hacheck.checker.explicit.search.control_words import (
    BEST,
    BLOCK,
    BY,
    CANONICAL,
    CURSOR,
    END,
    ENTRIES,
    EXPAND,
    INSPECT,
    IS_FAULT,
    LOG,
    LOG_FULL,
    NEXT,
    NOTES,
    SHIFT,
    SLICE_END,
    TABLE,
)
from hacheck.checker.explicit.search.levels import Ranges, control_words, count, hand_out, pieces
from hacheck.checker.explicit.search.path_kernels import BEST_WORDS
from hacheck.checker.explicit.search.search_limits import GRACE_SECONDS
from hacheck.checker.explicit.search_result import StatePath
from hacheck.compile.codegen.thread_notes import NotesArray
from hacheck.compile.machine.reserved_memory import Region, reserve
from hacheck.supervise.slice_length import Pace
from hacheck.supervise.task import Cancelled

PHASE = "reconstructing the run"

_ENTRY = 16  # bytes
_ENTRIES_MOST, _ENTRIES_LEAST = 2**32 - 1, 2**20
_TABLE_BITS_LEAST = 10
_BYTES_LEAST = 2**25  # that entries and their table may take, however little memory there is
_LOW = (1 << 32) - 1
_NOWHERE = (1 << 64) - 1


class Back:
    """Looks back from the end of a search. To be freed."""

    def __init__(self, search: Search, faulty: Sequence[bool]) -> None:
        """`faulty`: for each instance whether its action is a fault."""
        self.search, self.kernels = search, search.kernels.paths
        self.entries = reserve(_ENTRIES_MOST * _ENTRY, _ENTRIES_LEAST * _ENTRY)
        self.capacity = min(_ENTRIES_MOST, self.entries.size // _ENTRY) // search.options.threads
        self.shared = array("Q", bytes(8 * control_words(search.options.threads)))
        self._faulty = array("B", faulty) if faulty else array("B", [0])
        for place in (LOG, BLOCK, EXPAND, CANONICAL, INSPECT):
            self.shared[place] = search.shared[place]
        self.shared[ENTRIES] = self.entries.address
        self.shared[IS_FAULT] = self._faulty.buffer_info()[0]
        self._steps = [array("Q", bytes(8 * BEST_WORDS * search.shared[BLOCK])) for _ in search.workers.all]
        self.notes = [self._silent() for _ in search.workers.all]
        self.threads = [array("Q", worker.control) for worker in search.workers.all]
        for control, notes, steps in zip(self.threads, self.notes, self._steps, strict=True):
            control[NOTES], control[BEST] = notes.buffer_info()[0], steps.buffer_info()[0]
        initial = array("I", [len(faulty)]) * search.shared[BLOCK]
        for worker in search.workers.all:
            worker.buffers.write(worker.control[BY] - worker.buffers.address, initial.tobytes())
        self._start_over()

    def free(self) -> None:
        """Gives the memory back."""
        self.entries.free()

    # ---- runs --------------------------------------------------------------------------------------------------

    def path_to(self, indices: Sequence[int], depth: int) -> StatePath:
        """A run to one of some states, all at this number of steps. Errors: `Cancelled`."""
        self._start_over()
        layer = self._put(indices)
        for level in range(depth - 1, -1, -1):
            layer = self._lead_back(self.search.levels[level], layer)
        entry = self._best_of(layer)
        states, by = [], []
        for step in range(depth + 1):
            index, following, instance = self._entry(entry)
            states.append(self.search.workers.state(index))
            if step < depth:
                by.append(instance)
                entry = following
        return StatePath(states, tuple(by))

    def _best_of(self, layer: Ranges) -> int:
        """Of some entries, at least one, the one with the fewest faults; among those, with the least state."""
        best_of = self.kernels["best_of"]
        chosen: list[int] = []
        for first, end in pieces(layer):
            chosen.append(best_of(first, end, self._address))
            self._poll()
        return min(chosen, key=self._rank)

    def _rank(self, entry: int) -> tuple[int, int]:
        word, _ = self._words(entry)
        return word >> 32, self.search.workers.state(word & _LOW)

    def _entry(self, entry: int) -> tuple[int, int, int]:
        """Its state's index, the next entry, and the instance that leads there."""
        word, step = self._words(entry)
        return word & _LOW, step & _LOW, step >> 32

    def _words(self, entry: int) -> array[int]:
        return array("Q", self.entries.read(entry * _ENTRY, _ENTRY))

    # ---- levels ------------------------------------------------------------------------------------------------

    def _put(self, indices: Sequence[int]) -> Ranges:
        """Entries for the ends of a run."""
        indices = indices[: self.capacity]
        words = array("Q", bytes(_ENTRY * len(indices)))
        words[::2] = array("Q", indices)
        self.entries.write(0, words.tobytes())
        self.threads[0][NEXT] = len(indices)
        return ((0, len(indices)),)

    def _lead_back(self, level: Ranges, layer: Ranges) -> Ranges:
        """Entries for the states of a level that have a step to one with an entry."""
        states = count(layer)
        bits = max((2 * states).bit_length(), _TABLE_BITS_LEAST)
        if 8 << bits > self._free(0):
            raise Cancelled(self.search.bounds.out_of_memory(self.search.taken))
        table = Region(8 << bits)
        try:
            self.shared[TABLE], self.shared[SHIFT] = table.address, 64 - bits
            self._together("seed", pieces(layer))
            return self._expand_again(level, 8 << bits)
        finally:
            table.free()

    def _expand_again(self, level: Ranges, table_bytes: int) -> Ranges:
        shared, pace = self.shared, Pace(self.search.options.slice_seconds)
        blocks = hand_out(shared, level, shared[BLOCK])
        before = [control[NEXT] for control in self.threads]
        jobs = [partial(self.kernels["lead_back"], control.buffer_info()[0], self._address) for control in self.threads]
        while shared[CURSOR] < blocks:
            self._poll()
            self._allow(table_bytes)
            shared[SLICE_END] = min(blocks, shared[CURSOR] + pace.amount)
            pace.begin()
            answers = self.search.pool.run(jobs if count(level) > ALONE_MAX else jobs[:1])
            pace.end()
            shared[CURSOR] = min(shared[CURSOR], shared[SLICE_END])
            if LOG_FULL in answers and all(answers[0] == answer for answer in answers):
                break
        made = [(first, control[NEXT]) for first, control in zip(before, self.threads, strict=True)]
        layer = tuple((first, end) for first, end in made if first < end)
        if not layer:
            raise Cancelled(self.search.bounds.out_of_memory(self.search.taken))
        return layer

    def _allow(self, table_bytes: int) -> None:
        """Sets how many entries there may be: no more than memory suffices for. With fewer the run is as short, but
        may have more faults than another."""
        more = self._free(table_bytes) // _ENTRY // len(self.threads)
        for number, control in enumerate(self.threads):
            control[END] = min(control[NEXT] + more, (number + 1) * self.capacity)

    def _free(self, table_bytes: int) -> int:
        """Bytes that entries may still take; never so few that a search which stopped for lack of memory could not be
        looked back on at all."""
        made = sum(control[NEXT] - number * self.capacity for number, control in enumerate(self.threads)) * _ENTRY
        free = self.search.bounds.bytes_free(self.search.taken + table_bytes + made)
        return max(free, _BYTES_LEAST - table_bytes - made, 0)

    # ---- conditions --------------------------------------------------------------------------------------------

    def meeting(self, states: Ranges, hit: int, condition: int | None = None) -> array[int]:
        """The indices of the states that meet something: the word `hit` of the notes then says so. `condition`: the
        number of the state condition to evaluate; else it is noted when the states are expanded. Errors:
        `Cancelled`."""
        self._start_over()
        places = self.search.tally.places
        pending, bit = places.pending, 0
        if condition is not None:
            word, shift = divmod(condition, 64)
            pending, bit = places.pending + word, 1 << shift
        self._together("meet", pieces(states), hit, pending, bit)
        for notes in self.notes:
            notes[hit], notes[pending] = 1, 0
        met = array("Q")
        for number, control in enumerate(self.threads):
            first = number * self.capacity
            content = self.entries.read(first * _ENTRY, (control[NEXT] - first) * _ENTRY)
            met.extend(array("Q", content)[::2])
        return met

    def find(self, state: int) -> int | None:
        """The index of a packed state, found by looking at all. Errors: `Cancelled`."""
        size = self.search.workers.words * 8
        wanted = array("B", state.to_bytes(size, "little"))
        for level in self.search.levels:
            for first, end in pieces(level):
                index = self.kernels["find"](first, end, wanted.buffer_info()[0], self.shared[LOG])
                if index != _NOWHERE:
                    return index
                self._poll()
        return None

    # ---- work --------------------------------------------------------------------------------------------------

    @property
    def _address(self) -> int:
        return self.shared.buffer_info()[0]

    def _together(self, kernel: str, work: Iterator[tuple[int, int]], *arguments: int) -> None:
        """Has all threads go over pieces of something."""
        while batch := tuple(islice(work, len(self.threads))):
            self._allow(0)
            jobs = []
            for control, (first, end) in zip(self.threads, batch, strict=False):
                last = (control.buffer_info()[0], self._address) if kernel == "meet" else (self._address,)
                jobs.append(partial(self.kernels[kernel], first, end, *arguments, *last))
            self.search.pool.run(jobs)
            self._poll()

    def _poll(self) -> None:
        self.search.bounds.poll(PHASE, GRACE_SECONDS)

    def _start_over(self) -> None:
        """Forgets all entries."""
        for number, control in enumerate(self.threads):
            first = number * self.capacity
            self.entries.forget(first * _ENTRY, control[NEXT] * _ENTRY)
            control[NEXT] = first

    def _silent(self) -> NotesArray:
        """Notes in which everything was met already, so that nothing is looked for."""
        program, places = self.search.functions.program, self.search.tally.places
        notes = places.new()
        for number in range(len(program.states)):
            places.drop(notes, number)
        for number in range(len(program.deads)):
            notes[places.dead_hit(number)] = 1
        for number in range(len(program.steps)):
            notes[places.step_hit(number)] = 1
        notes[places.error] = 1
        return notes
