"""A proof under supervision: with its progress on the line, within time and memory, and stopped by Ctrl-C.

A question to Z3 ends soon after it is interrupted. Making the formulas of a large model may not; then nothing waits
for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from hacheck.checker.parametric.obligation_solving import Progress
from hacheck.checker.parametric.solver_queries import SolverSession
from hacheck.cli.progress import ProgressLine
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.resources import process_bytes
from hacheck.supervise.task import Cancelled, supervised

Made = TypeVar("Made")

_GRACE_SECONDS = 1.5


class ProofSupervisor:
    """Runs the parts of a proof while `session` has time, this process uses less than `memory_max` bytes (`None`: no
    limit), and no interruption is requested."""

    def __init__(
        self, session: SolverSession, interruption: Interruption, line: ProgressLine, memory_max: int | None = None
    ) -> None:
        self.session, self.interruption, self.line = session, interruption, line
        self._memory_max = memory_max
        self._doing = ""
        self._over_since: float | None = None

    def report(self, progress: Progress) -> bool:
        """Keeps how far a proof is; returns whether to go on."""
        self._doing = f"{progress.done} of {progress.total} shown: {progress.last}" if progress.total else progress.last
        return not self.interruption.requested

    def run(self, doing: str, work: Callable[[], Made], *, timed: bool = True) -> Made | None:
        """What the work returns; `None` where it was to stop and did not in a second or two, or where memory does
        not suffice. `doing`: what it does, until it reports. `timed`: whether it is to stop when time is out, too.
        Errors: those of the work."""
        self._doing = doing
        try:
            with self.line.shown(doing):
                return supervised(work, partial(self._reason, timed))
        except Cancelled:
            return None
        except Exception as error:
            if self.session.noted(error):
                return None
            raise
        finally:
            self._over_since = None

    def _reason(self, timed: bool) -> str | None:
        """The reason to wait no longer: the work was to stop some time ago."""
        self.line.update(lambda: self._doing)
        if self.interruption.requested:
            self.session.stop()
        if self._memory_max is not None and process_bytes() >= self._memory_max:
            self.session.exhaust()
        if not (self.session.over if timed else self.session.stopped):
            return None
        self._over_since = self._over_since or time.perf_counter()
        return self.session.why if time.perf_counter() - self._over_since >= _GRACE_SECONDS else None
