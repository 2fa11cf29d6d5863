"""The lease service against its model. Run `pytest examples/lease`; with `--runxfail` the mistake is shown."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from service import LeaseServer, Store, Worker

from hacheck.testing import Adapter, Disagreement, Event, state_machine

TICK = 0.5


class LeaseService(Adapter):
    """Two workers, and a clock of our own."""

    spec = "lease.ha"
    waits = (TICK, 3.0, 12.0)

    def start(self) -> None:
        """Starts everything."""
        server, self._store, self._now = LeaseServer(), Store(), 0.0
        self._workers = [Worker(f"Worker-{number}", server, self._store) for number in (1, 2)]
        self._paused: set[str] = set()
        self._shown: list[Event] = []

    def wait(self, seconds: float) -> None:
        """Lets the workers work."""
        until = self._now + seconds
        while self._now < until:
            self._now += TICK
            for worker in self._workers:
                if worker.name not in self._paused:
                    self._show(worker.name, worker.step(self._now))

    def pause(self, n: str) -> None:
        """A worker stands still, and does not know."""
        self._paused.add(n)

    def resume(self, n: str) -> None:
        """It goes on."""
        self._paused.remove(n)

    def events(self) -> Iterator[Event]:
        """What has happened since the last time."""
        shown, self._shown = self._shown, []
        return iter(shown)

    def _show(self, worker: str, happened: tuple[str, int] | None) -> None:
        if happened is None:
            return
        what, number = happened
        by = "Store-1" if what in ("written", "refused") else worker
        self._shown.append(Event(by, what, {} if what == "lapsed" else {"number": number}))


# The service has a mistake, so the test fails as expected. To see how: `pytest examples/lease --runxfail`.
TestLease = pytest.mark.xfail(strict=True, raises=Disagreement, reason="the store refuses no number that is too small")(
    state_machine(LeaseService)
)
