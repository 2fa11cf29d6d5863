"""What a compiled search leaves, and what is read out of it: states, levels, runs, and everything met.

It holds the search's memory until it is closed.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import overload

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.search.breadth_first_search import Search
from hacheck.checker.explicit.search.levels import Ranges, contains, head
from hacheck.checker.explicit.search.search_limits import GRACE_SECONDS, Bounds
from hacheck.checker.explicit.search.shortest_paths import PHASE, Back
from hacheck.checker.explicit.search_result import SPEC_ERROR, StatePath
from hacheck.model.ir import System
from hacheck.supervise.task import Cancelled

_NOWHERE = (1 << 64) - 1


class States(Sequence[int]):
    """Packed states, by their indices in a log."""

    __slots__ = ("indices", "log")

    def __init__(self, log: Log, indices: Sequence[int]) -> None:
        self.log, self.indices = log, indices

    def __len__(self) -> int:
        return len(self.indices)

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> States: ...
    def __getitem__(self, place: int | slice) -> int | States:
        if isinstance(place, slice):
            return States(self.log, self.indices[place])
        return self.log.state(self.indices[place])


class Log:
    """The findings of a search that has ended (`hacheck.checker.explicit.search_result.Findings` says what each means).

    - `levels`: the states at 0, 1, … steps from the start, as ranges of indices.
    - `address`: state `i` is at `address + i * words * 8`, in `words` 64-bit words, the least significant first.
    - `shared`: the address of what the search's kernels share, the visited set among it.
    - `trouble`: why the search is not kept on disk though it was to be.
    - `traced`: the runs that were reconstructed while the search went on, by what they lead to.
    - `seconds`: how long the search took, in this process and in those it was gone on from.
    """

    def __init__(self, search: Search, system: System) -> None:
        self._search, self._system = search, system
        program = search.functions.program
        self._faulty = [system.actions[action].kind == "fault" for action, _ in program.instances]
        self.words, self.address, self.shared = program.words, search.workers.log.address, search.address
        self.levels: tuple[Ranges, ...] = tuple(search.levels)
        self._spans = tuple((worker.first, worker.next) for worker in search.workers.all if worker.first < worker.next)
        self.size = search.size
        self.depth = max(len(self.levels) - 1, 0)
        self.stopped = search.stopped
        self.seconds = search.seconds()
        self.counts: Sequence[int] = search.tally.all_counts()
        self.bounds_reached: Sequence[int] = search.tally.all_bounds_reached()
        self.found: Mapping[str, int] = dict(search.tally.found)
        self.hits: Mapping[str, tuple[int, int]] = dict(search.tally.hits)
        self.errors: Sequence[tuple[int, int]] = () if search.tally.error is None else (search.tally.error,)
        self.bytes_per_state: float | None = search.taken / self.size if self.size else None
        self.trouble: str | None = None
        self.traced: Mapping[str, StatePath] = {}
        self._back: Back | None = None
        self._again: Search | None = None  # that keeps its states, where this one did not
        self._repeated: list[Log] = []  # what each earlier call left

    def close(self) -> None:
        """Gives all memory back. States cannot be read any more."""
        for log in (self, *self._repeated):
            log.release()
        if self._again is not None:
            self._again.free()
        self._search.free()

    def release(self) -> None:
        """Gives back what reconstructing runs took."""
        if self._back is not None:
            self._back.free()
            self._back = None

    # ---- states ------------------------------------------------------------------------------------------------

    @property
    def spans(self) -> Ranges:
        """All indices in use, in their order: a range for each thread that found something. Errors: `Cancelled` if
        states were not kept."""
        if self._search.forgets:
            raise Cancelled("states were not kept")
        return self._spans

    def state(self, index: int) -> int:
        """A packed state."""
        return self._search.workers.state(index)

    def packed(self, number: int) -> int:
        """A packed state by its number, level by level from 0."""
        for level in self.levels:
            for first, end in level:
                if number < end - first:
                    return self.state(first + number)
                number -= end - first
        raise IndexError(number)

    def contains(self, state: int) -> bool:
        """Whether a packed state was found."""
        return self.index_of(state) is not None

    @property
    def complete(self) -> bool:
        """Whether every state that was found was expanded."""
        return self.stopped is None

    def states(self) -> Iterator[int]:
        """All packed states, level by level."""
        for level in self.levels:
            for first, end in level:
                yield from map(self.state, range(first, end))

    def index_of(self, state: int) -> int | None:
        """The index of a packed state, if it was found. Cost: where the visited set is no help (fingerprints, or a
        search interrupted while it grew), that of reading all states. Errors: `Cancelled`."""
        search = self._search
        if search.kernels.fingerprint or search.visited.region is None:
            return self._looking_back.find(state)
        size = self.words * 8
        content, index = ctypes.create_string_buffer(state.to_bytes(size, "little"), size), ctypes.c_uint64()
        search.kernels.search["locate"](ctypes.addressof(content), 1, ctypes.addressof(index), self.shared)
        return None if index.value == _NOWHERE else index.value

    def level_of(self, index: int) -> int:
        """The number of steps to a state."""
        return next(depth for depth, level in enumerate(self.levels) if contains(level, index))

    # ---- what was met ------------------------------------------------------------------------------------------

    def closest(self, key: str) -> States:
        """The states of the level of `found[key]` that meet the condition, as far as was seen of the level; of a step
        condition those before such a step, of `SPEC_ERROR` those before an error of the spec. Cost: where states were
        not kept, that of another search up to them. Errors: `Cancelled`."""
        if self._search.forgets:
            return self._until(key).closest(key)
        program, places = self._search.functions.program, self._search.tally.places
        met_at = self._search.tally.met_at[key]
        if key in program.states:
            number = program.states.index(key)
            hit = places.state_hit(number)
            return States(self, self._looking_back.meeting(self.levels[met_at], hit, number))
        if key == SPEC_ERROR:
            hit = places.error
        elif key in program.deads:
            hit = places.dead_hit(program.deads.index(key))
        else:
            hit = places.step_hit(program.steps.index(key))
        return States(self, self._looking_back.meeting(self._expanded(met_at), hit))

    def path_to(self, targets: Sequence[int]) -> StatePath:
        """A shortest run to one of some states, which are all of one level; among the shortest, one with the fewest
        faults, and among those, always the same one. Cost: at most about that of the search. Errors: `Cancelled`."""
        if isinstance(targets, States) and targets.log is not self:
            return targets.log.path_to(targets)
        indices = targets.indices if isinstance(targets, States) else array("Q", map(self._known_index, targets))
        return self._looking_back.path_to(indices, self.level_of(indices[0]))

    # ---- on the way --------------------------------------------------------------------------------------------

    @property
    def _looking_back(self) -> Back:
        self._search.bounds.poll(PHASE, GRACE_SECONDS)
        if self._back is None:
            self._back = Back(self._search, self._faulty)
        return self._back

    def _expanded(self, level: int) -> Ranges:
        """The states of a level that were expanded."""
        states = self.levels[level]
        return head(states, self._search.expanded) if level == self._search.depth else states

    def _known_index(self, state: int) -> int:
        index = self.index_of(state)
        assert index is not None, f"{state:#x} is no state that was found"
        return index

    def _until(self, key: str) -> Log:
        """What the same search leaves when it keeps its states and stops where a condition is met."""
        if self._again is None:
            search = self._search
            search.visited.free()
            search.workers.forget(self._spans)
            limits = Limits(memory_bytes_max=search.bounds.limits.memory_bytes_max)
            bounds = Bounds(limits, search.bounds.report)
            self._again = Search(search.functions, search.kernels.exact(), search.options, bounds)
            self._again.phase = PHASE
            self._again.begin(search.initial)
        again = self._again
        again.stopped = None
        again.run(frozenset([key]))
        if key not in again.tally.met_at:
            raise Cancelled(str(again.stopped))
        self._repeated.append(Log(again, self._system))
        return self._repeated[-1]
