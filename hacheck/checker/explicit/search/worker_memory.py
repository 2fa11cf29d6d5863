"""What each thread works with: a share of the log, room for the successors of a block, and notes of its own."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from msgspec import Struct, field

from hacheck.checker.explicit.search.control_words import (
    APART,
    BY,
    END,
    FILTER,
    HASHES,
    NEXT,
    NOTES,
    OUT,
    OWN_END,
    OWN_NEXT,
    PENDING,
    TAGS,
    THREAD_WORDS,
)
from hacheck.checker.explicit.search.levels import Ranges
from hacheck.compile.codegen.generated_program import Program
from hacheck.compile.codegen.thread_notes import NotesArray
from hacheck.compile.machine.reserved_memory import PAGE_BYTES, Region, reserve, touched

INDICES = 2**32 - 1
"""How many states have an index; slots of the visited set have one number more, for none."""

_STATES_LEAST = 2**20  # for which there must be address space
_BLOCK = 64  # states that are expanded at once
_SUCCESSORS_MOST = 2**22  # of a block
_RECENT_BYTES = 2**21  # of states seen lately; about what a thread may have of all caches, and a huge page


class Functions(Struct, frozen=True):
    """What was generated for a system: addresses, and its terms. `canonical`: 0 where states are not reduced."""

    program: Program
    expand: int
    inspect: int
    canonical: int = 0


class Sizes(Struct, frozen=True):
    """How much is worked on at once. `block`: states; `successors`: those of a block at most; `recent`: states seen
    lately that are kept."""

    block: int
    successors: int
    recent: int


def sizes_for(words: int, successors_max: int) -> Sizes:
    """Blocks for states of so many words, of which none has more than so many successors."""
    block = max(1, min(_BLOCK, _SUCCESSORS_MOST // max(successors_max, 1)))
    return Sizes(block, max(block * successors_max, _BLOCK), recent_states(words))


def recent_states(words: int) -> int:
    """How many states seen lately are kept; a power of two, and known when kernels are compiled."""
    return max(1 << (_RECENT_BYTES // (16 * words)).bit_length(), 2)


class Worker(Struct):
    """The memory of one thread. `first`: its first index; `kept`: the first whose state was not given back;
    `control`: see `control`; `notes`: what it noted; `buffers`: for successors; `recent`: states seen lately."""

    first: int
    kept: int
    control: array[int]
    notes: NotesArray
    buffers: Region
    recent: Region

    @property
    def address(self) -> int:
        """What kernels are given."""
        return self.control.buffer_info()[0]

    @property
    def next(self) -> int:
        """The index behind the last state it found."""
        return self.control[NEXT]

    @property
    def pending(self) -> int:
        """Successors that wait to be looked up."""
        return self.control[PENDING]

    @property
    def is_half_way(self) -> bool:
        """Whether there are successors that wait, or blocks set aside for it that are not expanded."""
        return self.pending > 0 or self.control[OWN_NEXT] < self.control[OWN_END]


class Workers(Struct):
    """All threads' memory, and the log they share. State `i` is at `log.address + i * words * 8`; each thread has a
    range of indices of its own, and takes them in their order."""

    words: int
    log: Region
    capacity: int
    sizes: Sizes
    all: Sequence[Worker] = field(default_factory=list)

    def state(self, index: int) -> int:
        """A state, packed."""
        size = self.words * 8
        return int.from_bytes(self.log.read(index * size, size), "little")

    def found(self) -> int:
        """How many states were found."""
        return sum(worker.next - worker.first for worker in self.all)

    def ends(self) -> list[int]:
        """The index behind the last state of each thread."""
        return [worker.next for worker in self.all]

    def since(self, ends: Sequence[int]) -> Ranges:
        """The states found since there were these ends."""
        return tuple((end, worker.next) for end, worker in zip(ends, self.all, strict=True) if end < worker.next)

    def log_bytes(self) -> int:
        """The memory that the log takes."""
        return sum(touched((worker.next - worker.kept) * self.words * 8) for worker in self.all)

    def forget(self, level: Ranges) -> None:
        """Gives back the memory of a level and of those before it."""
        size = self.words * 8
        for first, end in level:
            worker = next(worker for worker in self.all if worker.first <= first < self.last(worker))
            self.log.forget(worker.kept * size, end * size)
            # What is left of a page is given back with the rest of it.
            worker.kept = max(worker.kept, end * size // PAGE_BYTES * PAGE_BYTES // size)

    def last(self, worker: Worker) -> int:
        """The index that a thread must not reach."""
        return worker.first + self.capacity

    def free(self) -> None:
        """Gives all memory back."""
        self.log.free()
        for worker in self.all:
            worker.buffers.free()
            worker.recent.free()


def allocate_workers(program: Program, threads: int) -> Workers:
    """Memory for some threads. Errors: `MemoryError` if the machine has no address space for a million states."""
    size = program.words * 8
    log = reserve(INDICES * size, _STATES_LEAST * size)
    sizes = sizes_for(program.words, program.successors_max)
    workers = Workers(program.words, log, min(INDICES, log.size // size) // threads, sizes)
    workers.all = [_worker(workers, program, number) for number in range(threads)]
    return workers


def _worker(workers: Workers, program: Program, number: int) -> Worker:
    sizes, size = workers.sizes, workers.words * 8
    lengths = {OUT: sizes.successors * size, TAGS: sizes.successors * 8, HASHES: sizes.successors * 8}
    lengths |= {BY: sizes.successors * 8}
    buffers = Region(sum(lengths.values()))
    control, address = array("Q", bytes(8 * (THREAD_WORDS + APART))), buffers.address
    for place, length in lengths.items():
        control[place] = address
        address += length
    recent = Region(sizes.recent * size)  # looked up at random: on a huge page of its own
    control[FILTER] = recent.address
    notes = program.notes.new()
    notes.extend([0] * APART)
    control[NOTES] = notes.buffer_info()[0]
    first = number * workers.capacity
    control[NEXT], control[END] = first, first + workers.capacity
    return Worker(first, first, control, notes, buffers, recent)
