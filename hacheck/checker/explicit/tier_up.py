"""Better code for a search that takes long, made beside it.

Code is compiled quickly first (record 0006): most searches end sooner than LLVM would. One that has gone
on for a while has it compiled thoroughly by another thread, and goes on with that from the next slice on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from hacheck.checker.explicit.native_program import Built
from hacheck.checker.explicit.search.worker_memory import Functions
from hacheck.supervise.task import start_thread

LINE_SECONDS = 0.0003
"""Of exploring, for each line of IR that was compiled quickly. Thorough code takes 70 microseconds a line to make, and
quick code costs a search a fifth of its time: about then that is as much."""

AFTER_SECONDS_MOST = 5.0
"""A search that has gone on for so long will go on."""

GRACE_SECONDS = 0.2
"""For what was begun in vain: Ctrl-C does not wait for LLVM."""


def functions_of(built: Built) -> Functions:
    """What a search calls."""
    functions = built.functions
    return Functions(built.program, functions.address("expand"), functions.address("inspect"), built.canonical)


class TierUp:
    """Better functions to come. To be closed when nothing calls them any more.

    - `make`: compiles thoroughly. It runs in another thread, and must share nothing with this one.
    - `lines`: of IR that were compiled quickly.
    """

    def __init__(self, make: Callable[[], Built], lines: int) -> None:
        self._make = make
        self.after_seconds = min(lines * LINE_SECONDS, AFTER_SECONDS_MOST)
        self._thread: threading.Thread | None = None
        self._made: list[Built] = []
        self._failed: list[BaseException] = []
        self._handed_over = False

    def functions(self, seconds: float) -> Functions | None:
        """The better functions, once, when they are there. `seconds`: for how long the search has been exploring.
        Errors: those of `make`."""
        if self._thread is None and seconds >= self.after_seconds:
            self._thread = start_thread(self._run)
        if self._failed:
            raise self._failed[0]
        if self._handed_over or not self._made:
            return None
        self._handed_over = True
        return functions_of(self._made[0])

    def close(self) -> None:
        """Gives what was begun a moment to come to its end. What is being compiled cannot be stopped; it goes on
        unattended, and is kept for the next time if the process lasts that long."""
        if self._thread is not None:
            self._thread.join(GRACE_SECONDS)

    def _run(self) -> None:
        try:
            self._made.append(self._make())
        except BaseException as error:
            self._failed.append(error)
