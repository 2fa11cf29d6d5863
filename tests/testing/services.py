"""Systems under test: servers that count, as `counter.ha` says or otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from hypothesis import settings

from hacheck.testing import SETTINGS, Adapter, Event

FEW = settings(SETTINGS, max_examples=20, stateful_step_count=8)


class Counting(Adapter):
    """A server that counts when it is told to, and does as the model says."""

    spec = "counter.ha"
    waits = (1.0,)
    log: ClassVar[list[str]]
    """What was done to all systems of this kind."""

    def __init_subclass__(cls) -> None:
        cls.log = []

    def start(self) -> None:
        """Starts it."""
        self.log.append("start")
        self.number = 0
        self.shown: list[Event] = []

    def stop(self) -> None:
        """Ends it."""
        self.log.append("stop")

    @classmethod
    def finish(cls) -> None:
        """Ends all."""
        cls.log.append("finish")

    def count(self, s: str) -> None:
        """It counts."""
        self.log.append(f"count {s}")
        self.number += 1
        self._show("counted")
        if self.number in (2, 4):
            self._show("even")

    def wait(self, seconds: float) -> None:
        """Nothing happens by itself."""
        self.log.append("wait")

    def events(self) -> Iterator[Event]:
        """What it has shown."""
        shown, self.shown = self.shown, []
        return iter(shown)

    def _show(self, name: str, node: str = "Server-1") -> None:
        self.shown.append(Event(node, name, {"n": self.number}))
