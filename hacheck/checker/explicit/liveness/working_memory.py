"""The memory that liveness works in, and its kernels as functions."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from hacheck.checker.explicit.liveness import edge_lists, lasso_kernels, strong_components, waiting_states
from hacheck.checker.explicit.liveness import graph_fields as fields
from hacheck.checker.explicit.search import state_kernels
from hacheck.compile.machine.reserved_memory import Region, reserve
from hacheck.supervise.task import Cancelled

KERNELS: tuple[Callable[..., Any], ...] = (
    *state_kernels.CORE,
    *(
        item
        for module in (edge_lists, waiting_states, strong_components, lasso_kernels)
        for item in vars(module).values()
        if callable(item) and getattr(item, "__module__", None) == module.__name__
    ),
)
"""The kernels of liveness and those they call."""

EXPORTED: Mapping[str, int] = {
    "doubt": 4,
    "prepare": 5,
    "seed": 3,
    "reach": 3,
    "find_components": 2,
    "find_fair": 3,
    "find_before": 3,
    "sum_enabled": 3,
    "walk": 2,
    "end_walk": 2,
    "list_of": 2,
    "successors_of": 3,
}
"""Those that are called from here, with the number of their arguments."""

Kernels = Mapping[str, Callable[..., int]]
"""The exported kernels by name."""

_RECENT_BYTES = 2**19  # of states looked up lately; about half of a processor's own cache
_CACHE_BYTES = 2**24  # for lists that found no room and were made again
_ENTRIES_MAX = 2**32 - 1
_CHUNK = 2**15  # entries
_BATCH = 64  # states that are expanded at once
_SUCCESSORS_MAX = 2**22  # of a batch


def kernel_constants(words: int, states: int, constraints: int) -> dict[str, int]:
    """What the kernels are compiled for: words of a state, how many states, and constraints of all properties."""
    masks = max(-(-constraints // 64), 1)
    entry = 4 if states.bit_length() + constraints.bit_length() <= 32 else 8
    recent = 1 << (_RECENT_BYTES // (8 * words + 8)).bit_length() - 1
    frame = {"TAKEN": 2, "ALWAYS": 2 + masks, "SOMETIMES": 2 + 2 * masks}
    return {"W": words, "EXACT": 1, "MASKS": masks, "ENTRY_BYTES": entry, "RECENT_MASK": recent - 1, **frame}


class StateSpace(Struct, frozen=True):
    """Every reachable state, and how to come from one to the next.

    - `words`: of a state. State `i` is at `log + i * words * 8`.
    - `spans`: the indices in use, as ranges in their order; `levels`: for each number of steps from the start, the
      ranges of the indices of the states that are so far away.
    - `shared`: what the kernels of the search share, its visited set among it.
    - `expand`: the generated function, which lists stops; `new_notes` makes an array for what it notes. `canonical`:
      the generated function or 0.
    - `successors_max`: of one state, outcomes that are no step included.
    """

    words: int
    log: int
    spans: tuple[tuple[int, int], ...]
    levels: tuple[tuple[tuple[int, int], ...], ...]
    shared: int
    expand: int
    canonical: int
    new_notes: Callable[[], array[int]]
    successors_max: int

    @property
    def size(self) -> int:
        """The number of states."""
        return sum(end - first for first, end in self.spans)


class Words:
    """An array of 64-bit words, zeros at first, whose address kernels are given."""

    __slots__ = ("_content", "address")

    def __init__(self, count: int) -> None:
        self._content = array("Q", bytes(8 * (count + 16)))  # two cache lines more, so that it can begin on one
        self.address = -(-self._content.buffer_info()[0] // 128) * 128

    def __getitem__(self, place: int) -> int:
        return ctypes.c_uint64.from_address(self.address + 8 * place).value

    def __setitem__(self, place: int, value: int) -> None:
        ctypes.c_uint64.from_address(self.address + 8 * place).value = value


class List(Struct, frozen=True):
    """A vertex's list. `steps`: the vertex that each leads to, and the constraint it takes, from 1, or 0. `enabled`:
    the constraints that are enabled, as bits."""

    steps: tuple[tuple[int, int], ...]
    enabled: int


class Ground:
    """Memory for the work on a state space. Errors: `Cancelled` where it does not fit into `room` bytes (`None`: nobody
    counts), with `room_text` as its reason.

    Cost: up to 57 bytes for each state (24 more for each 64 constraints above 64) and, as far as there is room, 4 bytes
    for each state and each step between states in which a goal does not hold.
    """

    def __init__(
        self,
        space: StateSpace,
        taken_by: list[int],
        constants: Mapping[str, int],
        threads: int,
        room: int | None,
        reason: str,
    ) -> None:
        """`taken_by`: for each instance its constraint, from 1, or 0. `constants`: of the kernels."""
        self.space = space
        self.taken_by = taken_by
        self.masks, self.entry_bytes = constants["MASKS"], constants["ENTRY_BYTES"]
        self._recent_bytes = (constants["RECENT_MASK"] + 1) * (8 * space.words + 8)
        self.list_size = 1 + space.successors_max + max(taken_by, default=0)
        self.words = Words(fields.GROUND_WORDS)
        self._regions: list[Region] = []
        self._again: dict[int, int] = {}
        self._kept: list[Words | array[int]] = []
        size = space.size
        sizes = {
            fields.RECORDS: 8 * size,
            fields.FLAGS: size,
            fields.ORDER: 4 * size,
            fields.STACK: 4 * size,
            fields.FRAMES: (strong_components.FRAME_BYTES + 24 * self.masks) * size,
        }
        left = None if room is None else room - sum(sizes.values())
        if size > fields.VERTICES_MAX or (left is not None and left < 0):
            raise Cancelled(reason)
        for field in sizes.keys() - {fields.RECORDS}:
            self.words[field] = self.region(sizes[field])
        # There is a record for the vertex that is none: nothing looks for it.
        bits = size.bit_length()
        self.words[fields.TARGET_BITS] = bits
        self.words[fields.RECORDS] = self.region(8 << bits)
        ctypes.c_uint32.from_address(self.words[fields.RECORDS] + 8 * ((1 << bits) - 1)).value = fields.OUTSIDE
        # Lists never take the last of it, so that counting a little differently elsewhere is no end.
        entries = _ENTRIES_MAX if left is None else min(_ENTRIES_MAX, left // 8 * 7 // self.entry_bytes)
        self._regions.append(reserve(self.entry_bytes * (entries + 8), 2**20))
        self.words[fields.LISTS] = self._regions[-1].address
        self.words[fields.LISTS_END] = min(entries, self._regions[-1].size // self.entry_bytes)
        self.words[fields.LISTS_CHUNK] = max(_CHUNK, 4 * self.list_size)
        self.words[fields.LISTS_NEXT] = 1
        self.words[fields.BATCH] = max(1, min(_BATCH, _SUCCESSORS_MAX // max(space.successors_max, 1)))
        self.words[fields.STATES] = space.log
        self.words[fields.SPANS] = self._spans()
        self.words[fields.TAKEN_BY] = self._array(array("H", taken_by))
        self.words[fields.EXPAND] = space.expand
        self.words[fields.CANONICAL] = space.canonical
        self.words[fields.SHARED] = space.shared
        for field in (fields.WEAK, fields.STRONG, fields.STARVED, fields.OWED, fields.OWED_WEAK, fields.EVER):
            self.words[field] = self._array(Words(self.masks))
        self.workers = [self._worker() for _ in range(threads)]
        self.words[fields.MAKER] = self.workers[0].address

    def begin(self) -> None:
        """Makes ready for reaching: nothing was reached, and nothing looked up lately."""
        self.words[fields.ORDER_COUNT] = 0
        for worker in self.workers:
            worker[edge_lists.BOUND_SEEN] = 0
            ctypes.memset(worker[edge_lists.RECENT], 0, self._recent_bytes)

    def free(self) -> None:
        """Gives the memory back."""
        while self._regions:
            self._regions.pop().free()

    def again(self, which: int) -> int:
        """Room for the vertices among which components are looked for again; `which`: 0 or 1."""
        if which not in self._again:
            self._again[which] = self.region(4 * self.space.size)
        return self._again[which]

    def region(self, size: int) -> int:
        """The address of so many bytes of zeros."""
        self._regions.append(Region(size + 64))
        return self._regions[-1].address

    def _array(self, content: Words | array[int]) -> int:
        self._kept.append(content)
        return content.address if isinstance(content, Words) else content.buffer_info()[0]

    def _spans(self) -> int:
        table: list[int] = []
        vertex = 0
        for first, end in self.space.spans:
            table += (first, vertex)
            vertex += end - first
        return self._array(array("Q", [*table, 2**64 - 1, vertex]))

    def _worker(self) -> Words:
        batch = self.words[fields.BATCH]
        successors = batch * self.space.successors_max
        state = 8 * self.space.words
        slots = 1
        while 2 * slots * self.list_size * self.entry_bytes <= _CACHE_BYTES:
            slots *= 2
        sizes = {
            edge_lists.BUFFER: batch * state,
            edge_lists.OUT: successors * state,
            edge_lists.TAGS: successors * 8,
            edge_lists.SOURCES: batch * 4,
            edge_lists.ABLE: batch * self.masks * 8,
            edge_lists.COVERED: batch * self.masks * 8,
            edge_lists.MADE: batch * self.list_size * self.entry_bytes,
            edge_lists.LISTED: batch * 8,
            edge_lists.PLACES: successors * 8,
            edge_lists.HASHES: successors * 8,
            edge_lists.WAITING: successors * 4,
            edge_lists.FOUND: successors * 8,
            edge_lists.RECENT: self._recent_bytes,
            edge_lists.CLAIMED: successors * 4,
            edge_lists.CACHE: slots * self.list_size * self.entry_bytes,
            edge_lists.CACHE_KEYS: slots * 4,
        }
        # Every part begins on a cache line, with room for a state more: generated code may write one past the end.
        rounded = {field: -(-(size + state) // 64) * 64 for field, size in sizes.items()}
        worker, address = Words(edge_lists.WORKER_WORDS), self.region(sum(rounded.values()))
        for field, size in rounded.items():
            worker[field] = address
            address += size
        worker[edge_lists.NOTES] = self._array(self.space.new_notes())
        worker[edge_lists.LIST_SIZE] = self.list_size
        worker[edge_lists.CACHE_MASK] = slots - 1
        return worker

    # ---- what is where ----

    def vertices(self, ranges: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int]]:
        """Ranges of indices as ranges of vertices."""
        for first, end in ranges:
            before = 0
            for low, high in self.space.spans:
                if low <= first < high:
                    yield before + first - low, before + end - low
                    break
                before += high - low

    def index(self, vertex: int) -> int:
        """The index of a vertex's state."""
        for first, end in self.space.spans:
            if vertex < end - first:
                return first + vertex
            vertex -= end - first
        raise AssertionError("no such vertex")

    def state(self, vertex: int) -> int:
        """The state of a vertex, packed."""
        size = self.space.words * 8
        return int.from_bytes(ctypes.string_at(self.state_address(vertex), size), "little")

    def state_address(self, vertex: int) -> int:
        """Where the state of a vertex is."""
        return self.space.log + self.index(vertex) * self.space.words * 8

    def vertex_at(self, field: int, place: int) -> int:
        """The vertex at a place of an array of them."""
        return ctypes.c_uint32.from_address(self.words[field] + 4 * place).value

    def number(self, vertex: int) -> int:
        """The vertex's number."""
        return ctypes.c_uint32.from_address(self.words[fields.RECORDS] + 8 * vertex).value

    def is_start(self, vertex: int) -> bool:
        """Whether a run may begin to wait here."""
        flags = ctypes.c_uint8.from_address(self.words[fields.FLAGS] + vertex).value
        return bool(flags & fields.IS_START)

    def mask(self, field: int) -> int:
        """A set of constraints."""
        return int.from_bytes(ctypes.string_at(self.words[field], 8 * self.masks), "little")

    def put_mask(self, field: int, constraints: int) -> None:
        """Writes a set of constraints."""
        ctypes.memmove(self.words[field], constraints.to_bytes(8 * self.masks, "little"), 8 * self.masks)

    def list_at(self, address: int) -> List:
        """The list at an address."""
        size, bits = self.entry_bytes, self.words[fields.TARGET_BITS]
        count = ctypes.c_uint32.from_address(address).value & (fields.HEAD_BOUND - 1)
        entries = array("I" if size == 4 else "Q", ctypes.string_at(address + size, count * size))
        nowhere = (1 << bits) - 1
        enabled = 0
        for constraint in {entry >> bits for entry in entries}:
            enabled |= 1 << constraint >> 1
        return List(tuple((entry & nowhere, entry >> bits) for entry in entries if entry & nowhere != nowhere), enabled)
