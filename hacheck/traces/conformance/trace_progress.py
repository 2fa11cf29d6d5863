"""How far the search for an explanation of one large trace is."""

from __future__ import annotations

import time
from collections.abc import Callable

REPORT_SECONDS = 1.0
"""Between two reports of a process that is not the one that shows them."""


class TraceProgress:
    """Says whether to continue, as any `report` of a checker, and knows how far the trace is that is being checked:
    `done` of `total` records; `total` is 0 while none is. `send` gets both, at most once a second."""

    def __init__(
        self,
        continues: Callable[[], bool],
        send: Callable[[int, int], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.done = self.total = 0
        self._continues, self._send, self._clock = continues, send, clock
        self._sent = clock()

    def __call__(self) -> bool:
        """Whether to continue."""
        if self._send is not None and self.total and self._clock() - self._sent >= REPORT_SECONDS:
            self._sent = self._clock()
            self._send(self.done, self.total)
        return self._continues()

    def at(self, done: int, total: int) -> None:
        """So many records are explained."""
        self.done, self.total = done, total
