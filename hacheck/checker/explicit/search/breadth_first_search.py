"""Breadth-first search with compiled code: level by level, each level in slices of a twentieth of a second.

Between slices no thread works. Then what was met is taken down, the visited set grows, limits are looked at, and
progress is reported. A level is always finished once every property is decided, so what is found does
not depend on how fast which thread was.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial

from msgspec import Struct

from hacheck.checker.engine import DECIDED
from hacheck.checker.explicit.search.checkpoint_manifest import Manifest
from hacheck.checker.explicit.search.control_words import (
    BLOCK,
    CANONICAL,
    CURSOR,
    END,
    EXPAND,
    INSPECT,
    LOG,
    LOG_FULL,
    NEXT,
    OUT,
    ROOM,
    SHARES,
    SLICE_END,
    STATES_STOP,
    TABLE_FULL,
    TAGS,
    USED,
)
from hacheck.checker.explicit.search.kernel_groups import Kernels
from hacheck.checker.explicit.search.levels import Ranges, control_words, count, hand_out, tail, taken_states
from hacheck.checker.explicit.search.search_limits import EXPLORING, Bounds
from hacheck.checker.explicit.search.thread_totals import Tally, tally_of
from hacheck.checker.explicit.search.visited_set import BITS_MAX, Visited
from hacheck.checker.explicit.search.worker_memory import Functions, Worker, Workers, allocate_workers
from hacheck.compile.codegen.word_layout import to_words
from hacheck.supervise.slice_length import SLICE_SECONDS, Pace
from hacheck.supervise.task import Cancelled
from hacheck.supervise.thread_pool import ThreadPool

ALONE_MAX = 1_000
"""States of a level that one thread expands sooner than several."""

_NEVER = (1 << 64) - 1
_NO_MORE_INDICES = "there are more states than this engine can number"


class Options(Struct, frozen=True):
    """How to search. `threads`: that work at once. `table_bits`: logarithm of the slots to begin with."""

    threads: int = 1
    table_bits: int = 18
    slice_seconds: float = SLICE_SECONDS


class Search:
    """A search under way, and what it leaves: see `log` for how that is read.

    - `levels`: the states at 0, 1, … steps from the start; the last ones are still to be expanded.
    - `expanded`: how many states of the level `depth` are expanded; all those of earlier levels are.
    - `stopped`: why it ended before it had expanded everything.
    - `forgets`: levels that are expanded are given back; their states cannot be read any more.
    - `phase`: what the report says is being done.
    - `better`: called between slices, with the seconds of exploring so far, for functions that do the same faster.
    """

    def __init__(self, functions: Functions, kernels: Kernels, options: Options, bounds: Bounds) -> None:
        assert options.threads == 1 or not kernels.alone, "kernels for one thread write what others may be writing"
        self.functions, self.options, self.bounds, self.kernels = functions, options, bounds, kernels
        self.workers: Workers = allocate_workers(functions.program, options.threads)
        self.shared = array("Q", bytes(8 * control_words(options.threads)))
        self.visited = Visited(self.shared, options.table_bits)
        self.pool = ThreadPool(options.threads)
        self.tally: Tally = tally_of(functions.program, [worker.notes for worker in self.workers.all])
        self.levels: list[Ranges] = []
        self.depth, self.expanded = 0, 0
        self.stopped: str | None = None
        self.forgets, self.phase = False, EXPLORING
        self.initial: Sequence[int] = ()
        self.seconds_before = 0.0
        self._before = 0
        self._found: Ranges = ()  # of the next level, before this one was begun or gone on with
        self._ends: list[int] = []  # of the log then
        self._pace = Pace(options.slice_seconds)
        self._run_since = 0.0  # on the clock of the bounds
        self._busy_since = 0.0  # of the processor
        self.better: Callable[[float], Functions | None] | None = None
        shared, sizes = self.shared, self.workers.sizes
        shared[LOG], shared[BLOCK] = self.workers.log.address, sizes.block
        self._use(functions)
        shared[STATES_STOP] = _NEVER if bounds.limits.states_max is None else bounds.limits.states_max
        # A limit on states is kept to the block, so no thread goes on for longer.
        shared[SHARES] = _NEVER if bounds.limits.states_max is not None else 4 * options.threads
        for worker in self.workers.all:
            kernels.search["open_recent"](worker.address)

    # ---- what there is -----------------------------------------------------------------------------------------

    @property
    def address(self) -> int:
        """Of what all threads share."""
        return self.shared.buffer_info()[0]

    @property
    def size(self) -> int:
        """Distinct states found."""
        return self.workers.found()

    @property
    def taken(self) -> int:
        """Bytes of memory taken for states."""
        return self.workers.log_bytes() + self.visited.bytes

    @property
    def waiting(self) -> int:
        """States found that are not expanded yet."""
        return self.size - self._before - self.expanded

    def seconds(self) -> float:
        """How long it took so far, in this process and in those it was gone on from."""
        return self.seconds_before + self.bounds.seconds()

    def _use(self, functions: Functions) -> None:
        """Has these called from now on. They must do the same as those before."""
        assert functions.program == self.functions.program, "better code is of the same system"
        self.functions, shared = functions, self.shared
        shared[EXPAND], shared[INSPECT] = functions.expand, functions.inspect
        shared[CANONICAL] = functions.canonical

    def free(self) -> None:
        """Gives everything back. What it left cannot be read any more."""
        self.pool.close()
        self.visited.free()
        self.workers.free()

    # ---- the search --------------------------------------------------------------------------------------------

    def begin(self, initial: Sequence[int]) -> None:
        """Finds the initial states."""
        worker, program = self.workers.all[0], self.functions.program
        self.initial = initial
        ends, most = self.workers.ends(), self.workers.sizes.successors
        buffer = worker.buffers
        for start in range(0, len(initial), most):
            states = initial[start : start + most]
            content = array("Q", [word for state in states for word in to_words(state, program.words)])
            buffer.write(worker.control[OUT] - buffer.address, content.tobytes())
            tags = array("Q", [len(program.instances)]) * len(states)
            buffer.write(worker.control[TAGS] - buffer.address, tags.tobytes())
            if self.shared[USED] + len(states) > self.shared[ROOM]:
                self._grow_for(len(states))
            if self.stopped is not None:
                break
            self.kernels.search["begin"](worker.address, self.address, len(states))
        self.levels = [level] if (level := self.workers.since(ends)) else []
        self.tally.gather(0, 0)

    def resume(self, levels: Sequence[Ranges], manifest: Manifest) -> None:
        """Goes on from where a search was kept; its states are in the log of the first thread, in `levels`. Until
        `reserve` was called and they are entered, the visited set does not know them."""
        worker, tally = self.workers.all[0], self.tally
        self.levels, self.depth, self.expanded = list(levels), manifest.depth, manifest.expanded
        self.seconds_before = manifest.seconds
        worker.control[NEXT] = worker.first + manifest.states
        self._before = sum(map(count, levels[: self.depth]))
        tally.counts, tally.bounds_reached = list(manifest.counts), list(manifest.bounds_reached)
        tally.found, tally.hits, tally.error = dict(manifest.found), dict(manifest.hits), manifest.error
        tally.met_at = dict(manifest.met_at)
        tally.ask_no_more()

    def reserve(self) -> None:
        """Makes room in the visited set for all states there are, none of which are in it. Errors: `Cancelled`."""
        if self.size > self.shared[ROOM]:
            self._grow_for(self.size)
        if self.stopped is not None:
            raise Cancelled(self.stopped)
        self.shared[USED] = self.size

    def drain(self) -> bool:
        """Has threads finish what they took, if there is any room for it. Returns whether nothing waits now."""
        self.shared[SLICE_END], self.shared[STATES_STOP] = 0, _NEVER
        self.visited.open_to_the_last()
        for worker in self.workers.all:
            if worker.is_half_way and self.visited.region is not None:
                worker.control[END] = self.workers.last(worker)
                self.kernels.search["explore"](worker.address, self.address)
                self._record_hits()
        return not self._is_half_way()

    def run(
        self,
        goal: frozenset[str] | None,
        at_rest: Callable[[], None] = lambda: None,
        at_level: Callable[[], None] = lambda: None,
    ) -> None:
        """Goes on until nothing is new, a limit is met, or everything of the goal was met. `at_rest` is called now
        and then when no thread works and no successor waits; `at_level` whenever a level is found completely."""
        self.bounds.phase = self.phase
        self._run_since, self._busy_since = self.bounds.seconds(), time.process_time()
        if self.stopped is None and self.expanded == 0:
            at_level()
        while self.stopped is None and self.depth < len(self.levels):
            if self.bounds.limits.depth_max is not None and self.depth >= self.bounds.limits.depth_max:
                self.stopped = f"depth {self.bounds.limits.depth_max} reached"
            elif goal is not None and self.expanded == 0 and self.tally.has_met(goal):
                self.stopped = DECIDED
            else:
                self._level(at_rest)
                if self.stopped is None:
                    at_level()
        self._report_progress()

    def _level(self, at_rest: Callable[[], None]) -> None:
        """Expands what is left of the level."""
        level, block = self.levels[self.depth], self.workers.sizes.block
        rest, done = tail(level, self.expanded), self.expanded
        self._found = self.levels[self.depth + 1] if self.depth + 1 < len(self.levels) else ()
        self._ends = self.workers.ends()
        blocks = hand_out(self.shared, rest, block)
        crowd = self.workers.all if count(rest) > ALONE_MAX else self.workers.all[:1]
        while self.stopped is None and (self.shared[CURSOR] < blocks or self._is_half_way()):
            self.stopped = self.bounds.reason(self.size, self.taken)
            if self.stopped is None and self.bounds.is_due():
                self.stopped = self._report_progress()
            if self.stopped is None:
                self._slice(blocks, crowd)
                self.expanded = done + taken_states(rest, block, self.shared[CURSOR])
                self._record_hits()
                if not self._is_half_way():
                    at_rest()
        if self.stopped is None:
            self._before += self.expanded
            if self.forgets:
                self.workers.forget(level)
            self.depth, self.expanded = self.depth + 1, 0

    def _seconds_of_exploring(self) -> float:
        """How long it has been exploring: by the clock, and not for longer than the processor was busy with it, so that
        a search that others keep waiting does not count as a long one."""
        return min(self.bounds.seconds() - self._run_since, time.process_time() - self._busy_since)

    def _slice(self, blocks: int, crowd: Sequence[Worker]) -> None:
        """Has some blocks expanded, about as many as a slice has time for."""
        better = None if self.better is None else self.better(self._seconds_of_exploring())
        if better is not None:
            self._use(better)
        shared = self.shared
        shared[SLICE_END] = min(blocks, shared[CURSOR] + self._pace.amount)
        self._allow(len(crowd))
        self._pace.begin()
        explore = self.kernels.search["explore"]
        jobs = [partial(explore, worker.address, self.address) for worker in crowd]
        if self.size + len(crowd) * self.workers.sizes.successors > shared[STATES_STOP]:
            answers = [job() for job in jobs]
        else:
            answers = self.pool.run(jobs)
        self._pace.end()
        shared[CURSOR] = min(shared[CURSOR], shared[SLICE_END])
        if TABLE_FULL in answers:
            self._grow_for(sum(worker.pending for worker in self.workers.all))
        elif LOG_FULL in answers:
            self._look_for_room(crowd)

    def _record_hits(self) -> None:
        """Notes what was met, and the states found since the level was begun."""
        self.tally.gather(self.depth, self.depth + 1)
        new = (*self._found, *self.workers.since(self._ends))
        self.levels[self.depth + 1 :] = [new] if new else []

    def _is_half_way(self) -> bool:
        """Whether a thread is not done with what it took."""
        return any(worker.is_half_way for worker in self.workers.all)

    def _report_progress(self) -> str | None:
        return self.bounds.report_progress(self.size, sum(self.tally.all_counts()), self._deepest(), self.waiting)

    def _deepest(self) -> int:
        return max(len(self.levels) - 1, 0)

    # ---- memory ------------------------------------------------------------------------------------------------

    def _allow(self, working: int) -> None:
        """Sets how many states each thread may find without taking more memory than there is."""
        free = max(self.bounds.bytes_free(self.taken), 0)
        states = free // (self.workers.words * 8) // working
        for worker in self.workers.all:
            worker.control[END] = min(worker.next + states, self.workers.last(worker))

    def _look_for_room(self, crowd: Sequence[Worker]) -> None:
        """Stops if a thread cannot put what it has found anywhere."""
        self._allow(len(crowd))
        for worker in crowd:
            if worker.next + worker.pending > self.workers.last(worker):
                self.stopped = _NO_MORE_INDICES
            elif worker.next + worker.pending > worker.control[END]:
                self.stopped = self.bounds.out_of_memory(self.taken)

    def _grow_for(self, more: int) -> None:
        """Makes room in the visited set for more states; stops if there is none."""
        visited, used = self.visited, self.shared[USED] + more
        bits = visited.next_bits(used, self.bounds.bytes_free(self.taken))
        if bits is None:
            if not visited.crowd(used):
                is_largest = visited.bits == BITS_MAX
                self.stopped = _NO_MORE_INDICES if is_largest else self.bounds.out_of_memory(self.taken)
            return
        try:
            with closing(visited.grow(bits, self._move, self.options.threads)) as pieces:
                for _ in pieces:
                    if self.bounds.is_due():
                        self.stopped = self._report_progress()
                    if self.stopped is not None:
                        return
        except MemoryError as refused:
            if not visited.crowd(used):
                self.stopped = str(refused)

    def _move(self, pieces: list[tuple[int, ...]]) -> None:
        rehash = self.kernels.search["rehash"]
        self.pool.run([partial(rehash, *piece) for piece in pieces])
