"""Node ids of servers, in the terms of a model that has the primary's number for the first one."""

from __future__ import annotations

from hacheck.replay.artemis.brokers import Brokers
from hacheck.replay.artemis.server_log import ACTIVE, codes
from hacheck.replay.model_run import Json


class NodeIds:
    """Asks servers that serve for their node ids, once for each time that they begin to."""

    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        self._known: dict[tuple[int, int], str] = {}
        self._first: str | None = None

    def of(self, n: int) -> Json:
        """1, if it is the id of the first server that served; else what the server answers."""
        times = sum(code in ACTIVE for code in codes(self._brokers.lines(n)))
        if (n, times) not in self._known:
            good, answer = self._brokers.ask("node", n)
            if not good:
                return answer
            self._known[n, times] = answer
        shown = self._known[n, times]
        self._first = self._first or shown
        return 1 if shown == self._first else shown
