"""A job scheduler with a leader lease, and two mistakes that people make in one: both are found, and it passes without.

Three workers and a store in virtual time. `looks`: the leader looks at its lease before each job. `compares`: who gives
the key back deletes it only if it is its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from hacheck.testing import SETTINGS, Adapter, Disagreement, Event
from hacheck.testing.hypothesis_machine import run_state_machine
from hacheck.testing.run_options import OPTIONS, Options
from tests.nightly import first_of

TICKS_A_SECOND = 10
LIFETIME, PERIOD, REST, JOBS = 10, 2, 6, 3
"""In ticks: of a key, of a job, between two tries; and the jobs of one turn."""

HOW = settings(SETTINGS, max_examples=60, stateful_step_count=25)
PATIENTLY = settings(HOW, max_examples=600)


class Store:
    """One key with a time to live."""

    def __init__(self) -> None:
        self.owner, self.until = "", 0

    def take(self, name: str, now: int) -> bool:
        """Compare and set: whether nobody had it."""
        if self.owner:
            return False
        self.owner, self.until = name, now + LIFETIME
        return True

    def delete(self, name: str | None) -> bool:
        """Removes the key; with a name only if it is that one's."""
        if name is not None and self.owner != name:
            return False
        self.owner = ""
        return True


class Worker:
    """Takes the key, does some jobs, gives it back, and rests."""

    def __init__(self, name: str, store: Store, now: int, *, looks: bool, compares: bool) -> None:
        self.name, self.store, self.looks, self.compares = name, store, looks, compares
        self.leads, self.jobs, self.due, self.until = False, 0, now + 1, 0

    def tick(self, now: int) -> str:
        """What it does now, as its log says; nothing if it is not time yet."""
        if now < self.due:
            return ""
        if not self.leads:
            self.leads = self.store.take(self.name, now)
            self.jobs, self.until, self.due = JOBS, now + LIFETIME, now + (PERIOD if self.leads else REST)
            return "leads" if self.leads else ""
        if self.jobs:
            return self._work(now)
        self.leads, self.due = False, now + REST
        return "released" if self.store.delete(self.name if self.compares else None) else "lapsed"

    def _work(self, now: int) -> str:
        if self.looks and now >= self.until:
            self.leads, self.due = False, now + REST
            return "lapsed"
        self.jobs, self.due = self.jobs - 1, now + PERIOD
        return "done"


class Scheduler(Adapter):
    """Three of them."""

    spec = "scheduler.ha"
    waits = (0.1, 0.3, 1.0)
    looks = compares = True

    def start(self) -> None:
        """Starts all."""
        self.now, self.store, self.paused, self.shown = 0, Store(), set[str](), list[Event]()
        self.workers = {name: self._worker(name) for name in ("Worker-1", "Worker-2", "Worker-3")}

    def _worker(self, name: str) -> Worker | None:
        return Worker(name, self.store, self.now, looks=self.looks, compares=self.compares)

    def roles(self) -> dict[str, str]:
        """Who leads, as far as the store knows."""
        return {"leader": self.store.owner} if self.store.owner else {}

    def crash(self, n: str) -> None:
        """A worker ends."""
        self.workers[n] = None
        self.paused.discard(n)

    def restart(self, n: str) -> None:
        """It starts again."""
        self.workers[n] = self._worker(n)

    def pause(self, n: str) -> None:
        """A worker stands still."""
        self.paused.add(n)

    def resume(self, n: str) -> None:
        """It goes on."""
        self.paused.discard(n)

    def wait(self, seconds: float) -> None:
        """Everybody has a turn in each tick."""
        for _ in range(round(seconds * TICKS_A_SECOND)):
            self.now += 1
            if self.store.owner and self.now >= self.store.until:
                self.store.delete(None)
                self.shown.append(Event("Store-1", "expired"))
            for name, worker in self.workers.items():
                said = worker.tick(self.now) if worker is not None and name not in self.paused else ""
                if said:
                    self.shown.append(Event(name, said))

    def events(self) -> list[Event]:
        """What the logs say since the last time."""
        shown, self.shown = self.shown, []
        return shown


@pytest.fixture(autouse=True)
def _kept_here(tmp_path: Path) -> Iterator[None]:
    token = OPTIONS.set(Options(runs=tmp_path / "runs"))
    yield
    OPTIONS.reset(token)


def scheduler(seed: int, tmp_path: Path, **mistake: Any) -> type[Adapter]:
    OPTIONS.set(Options(runs=tmp_path / "runs", seed=seed))
    return type("Tried", (Scheduler,), {"spec": str(Path(__file__).with_name("scheduler.ha")), **mistake})


@pytest.mark.parametrize("seed", first_of(range(50), 2))
def test_a_right_scheduler_passes(seed: int, tmp_path: Path) -> None:
    run_state_machine(scheduler(seed, tmp_path), HOW)


@pytest.mark.parametrize("seed", first_of(range(10), 2))
@pytest.mark.parametrize(("mistake", "line"), [({"looks": False}, "done"), ({"compares": False}, "released")])
def test_each_mistake_is_found(mistake: dict[str, bool], line: str, seed: int, tmp_path: Path) -> None:
    with pytest.raises(Disagreement, match=f": {line}\n"):
        run_state_machine(scheduler(seed, tmp_path, **mistake), PATIENTLY)
