"""What goes wrong with servers and the links between them, and is repaired."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from typing import Any

from hacheck.replay.artemis.brokers import Brokers
from hacheck.replay.traffic import Traffic


class Faults:
    """The faults of one cluster. `lost`: is given the two ends of a link before it breaks, and drops what is held
    there; `numbered`: the number of a voter of the model among the servers."""

    def __init__(
        self,
        brokers: Brokers,
        traffic: Traffic,
        lost: Callable[[int, int], None],
        numbered: Callable[[int], int],
    ) -> None:
        self.brokers, self.traffic, self._lost, self._numbered = brokers, traffic, lost, numbered
        self._paused_links: dict[int, list[int]] = {}
        self.wiped: dict[int, int] = {}
        self.table: Mapping[str, Callable[..., None]] = {
            "crash Server": self.crash,
            "wipe Server": self.wipe,
            "pause Server": self.pause,
            "resume Server": self.resume,
            "cut Server - Server": self.cut,
            "heal Server - Server": self.heal,
            "isolate Server": self.isolate,
            "heal all links": self.heal_all,
            "crash Voter": self.crash_voter,
        }

    def others(self, n: int) -> list[int]:
        """All servers and voters but one."""
        return [other for other in self.brokers.members if other != n]

    def crash(self, n: int) -> None:
        """The process is killed. What is held between it and others is gone."""
        if self.brokers.runs(n):
            self.brokers.kill(n)
        for other in self.others(n):
            self._lost(n, other)

    def wipe(self, n: int) -> None:
        """And its data is gone, too."""
        self.crash(n)
        self.wiped[n] = len(self.brokers.lines(n))
        shutil.rmtree(self.brokers.data(n), ignore_errors=True)

    def crash_voter(self, n: int) -> None:
        """A voter ends for good."""
        self.brokers.kill(self._numbered(n))

    def pause(self, n: int) -> None:
        """The process is stopped, and its connections are lost, as after every time-out."""
        self.brokers.pause(n)
        links = [other for other in self.others(n) if frozenset((n, other)) not in self.traffic.cuts]
        self._paused_links[n] = links
        for other in links:
            self._lost(n, other)
            self.traffic.cut(n, other)

    def resume(self, n: int) -> None:
        """It goes on, and finds its connections closed."""
        for other in self._paused_links.pop(n):
            self.traffic.mend(n, other)
        self.brokers.resume(n)

    def cut(self, a: int, b: int) -> None:
        """A link fails."""
        self._lost(a, b)
        self.traffic.cut(a, b)

    def heal(self, a: int, b: int) -> None:
        """The link is up again."""
        self.traffic.mend(a, b)

    def isolate(self, n: int) -> None:
        """All links of a server fail."""
        for other in self.others(n):
            self.cut(n, other)

    def heal_all(self, **_: Any) -> None:
        """All links are up again."""
        for link in list(self.traffic.cuts):
            self.traffic.mend(*link)
