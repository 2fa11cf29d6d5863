"""Work that takes long, in a thread of its own, while this one tells how far it is, looks at the time and the memory,
and hears Ctrl-C.

What asks Z3 stops by itself soon after it was told to. What makes formulas of a large model may not; then nobody waits
for it any more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hacheck.checker.explicit.memory_use import process_bytes
from hacheck.checker.explicit.stopwatch import Work
from hacheck.checker.parametric.obligation_solving import Progress
from hacheck.checker.parametric.solver_queries import Asking
from hacheck.cli.progress import Interruption
from hacheck.cli.progress_line import ProgressLine

Made = TypeVar("Made")

_WAIT_SECONDS = 0.1
_FAREWELL_SECONDS = 1.5


class AtWork:
    """Who waits: as long as `asking` has time, this process uses less than `memory_max` (bytes; `None`: as much as it
    likes), and nobody has asked to stop."""

    def __init__(
        self, asking: Asking, interruption: Interruption, line: ProgressLine, memory_max: int | None = None
    ) -> None:
        self.asking, self.interruption, self.line = asking, interruption, line
        self._memory_max = memory_max
        self._doing = ""

    def tell(self, progress: Progress) -> bool:
        """Keeps how far a proof is; returns whether to go on."""
        self._doing = f"{progress.done} of {progress.total} shown: {progress.last}" if progress.total else progress.last
        return not self.interruption.requested

    def made(self, doing: str, work: Callable[[], Made], *, timed: bool = True) -> Made | None:
        """What the work makes; `None` where it was to stop and did not, which takes seconds at most, and where memory
        does not suffice. `doing`: what it does, until it tells. `timed`: whether it is to stop when time is out, too.
        Errors: those of the work."""
        self._doing = doing
        under_way = Work(work)
        with self.line.shown(doing):
            while not under_way.is_over(_WAIT_SECONDS):
                self.line.tell(lambda: self._doing)
                if self.interruption.requested:
                    self.asking.stop()
                if self._memory_max is not None and process_bytes() >= self._memory_max:
                    self.asking.exhaust()
                is_to_stop = self.asking.over if timed else self.asking.stopped
                if is_to_stop and not under_way.is_over(_FAREWELL_SECONDS):
                    return None
        try:
            return under_way.result()
        except Exception as error:
            if self.asking.noted(error):
                return None
            raise
