"""Kernels of liveness called for short times, so that limits are kept and progress is reported."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hacheck.checker.explicit.liveness import graph_fields as fields
from hacheck.checker.explicit.liveness.working_memory import Ground, Kernels, List
from hacheck.supervise.slice_length import Pace
from hacheck.supervise.thread_pool import ThreadPool

_SLICE_SECONDS = 0.03
_RANGE = 2**16  # items of one call
_ALONE_MAX = 1_000  # vertices of a level that one thread reaches sooner than several


class Slices:
    """Calls kernels. `poll` is called between calls, at least every twentieth of a second; it raises `Cancelled` to end
    the work."""

    def __init__(self, ground: Ground, kernels: Kernels, poll: Callable[[], None]) -> None:
        self.ground = ground
        self.kernels = kernels
        self.poll = poll
        self._pool = ThreadPool(len(ground.workers))

    def close(self) -> None:
        """Ends the threads."""
        self._pool.close()

    def over(self, name: str, first: int, end: int) -> None:
        """Calls a kernel for one range of its items after the other."""
        kernel, address = self.kernels[name], self.ground.words.address
        while first < end:
            kernel(address, first, min(first + _RANGE, end))
            first += _RANGE
            self.poll()

    def until(self, name: str, *arguments: int) -> int:
        """Calls a kernel with an amount of work as its last argument until it is done. Returns what the kernel returned
        last."""
        kernel, pace = self.kernels[name], Pace(_SLICE_SECONDS, 1_024)
        while True:
            pace.begin()
            said = kernel(*arguments, pace.amount)
            if said != fields.MORE:
                return said
            pace.end()
            self.poll()

    def reach_level(self, first: int, end: int) -> None:
        """Reaches what a range of ORDER leads to, with all threads if it is worth it."""
        ground, kernel = self.ground, self.kernels["reach"]
        ground.words[fields.CURSOR], ground.words[fields.LEVEL_END] = first, end
        workers = ground.workers if end - first > _ALONE_MAX else ground.workers[:1]
        pace = Pace(_SLICE_SECONDS, 16)
        while ground.words[fields.CURSOR] < end:
            pace.begin()
            self._pool.run([partial(kernel, ground.words.address, worker.address, pace.amount) for worker in workers])
            pace.end()
            self.poll()

    def list_at(self, vertex: int) -> List:
        """The list of a vertex that has been reached."""
        return self.ground.list_at(self.kernels["list_of"](self.ground.words.address, vertex))
