"""What clients find at a server that serves: its node id, its messages, and whether it acknowledges another one."""

from __future__ import annotations

from hacheck.replay.artemis.brokers import Brokers
from hacheck.replay.artemis.server_log import ACTIVE, codes
from hacheck.replay.model_run import Json


class ServingServers:
    """The servers of one cluster as clients find them. Node ids are read once each time one begins."""

    def __init__(self, brokers: Brokers) -> None:
        self._brokers = brokers
        self._known: dict[tuple[int, int], str] = {}
        self._first: str | None = None

    def node_id(self, n: int) -> Json:
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

    def acknowledges(self, n: int, number: int) -> tuple[bool, str]:
        """Sends a server one more message. Returns whether it is acknowledged, and all that clients found, in words."""
        _, node = self._brokers.ask("node", n)
        numbers = self._brokers.numbers(n)
        good, answer = self._brokers.ask("send", n, str(number))
        return good, f"node id {node}, messages {numbers}; another message: {'acknowledged' if good else answer}"
