"""Real clusters for tests: made in a folder, always ended, and waited for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest

from hacheck.impl.node import Name
from hacheck.impl.runtime.control import address, ask, planned, start, stop_all
from hacheck.impl.runtime.folder import Cluster, Folder
from hacheck.impl.runtime.keeper import Ask, Standing
from hacheck.impl.system import Refused

ROOT = Path(__file__).parents[2]
TOY = "tests.simulation.toys:COUNTERS"
PATIENCE_SECONDS = 40.0


@dataclass(frozen=True)
class Running:
    """A cluster that runs. `keeper`: the number of its process."""

    folder: Folder
    records: Path
    keeper: int

    def do(self, action: str, *names: Name, others: tuple[Name, ...] = (), one_way: bool = False) -> None:
        wrong = ask(self.folder, Ask(action, names, others, one_way)).wrong
        assert not wrong, wrong

    def standings(self) -> dict[Name, Standing]:
        return {member.name: member for member in ask(self.folder, Ask("status")).members}

    def lines(self, name: Name) -> list[str]:
        """What a member has recorded so far, over all its incarnations; not a line that is being written."""
        logs = sorted(self.records.glob(f"{name}-*.log"))
        whole = (line for log in logs for line in log.read_text().splitlines(keepends=True) if line.endswith("\n"))
        return [line.rstrip("\n") for line in whole]


@contextmanager
def running(
    place: Path, protocol: str, replicas: int, clients: int, settings: Mapping[str, str] | None = None
) -> Iterator[Running]:
    """A cluster in a folder, for as long as it is needed."""
    folder, records = Folder(place / "cluster"), place / "records"
    with findable():
        plan = planned(folder, protocol, replicas, clients, settings or {}, records, 0)
        keeper = start(folder, plan, with_caller=True)
    assert keeper.stdin is not None
    try:
        yield Running(folder, records, keeper.pid)
    finally:
        stop_all(folder)
        keeper.wait()
        keeper.stdin.close()


def refused(folder: Folder, cluster: Cluster) -> str:
    """Why a cluster does not start. Nothing of it runs then, nor if it does start."""
    try:
        with findable(), pytest.raises(Refused) as told:
            start(folder, cluster, with_caller=True)
        assert address(folder) is None
        assert not list(folder.place.glob("*/process.json"))
    finally:
        stop_all(folder)
    return str(told.value)


@contextmanager
def findable() -> Iterator[None]:
    """Processes that are started find the toys of the tests."""
    with patch.dict(os.environ, {"PYTHONPATH": str(ROOT)}):
        yield


def until(true: Callable[[], bool], what: str) -> None:
    """Waits until something is so."""
    over = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < over, f"not within {PATIENCE_SECONDS:.0f} s: {what}"
        time.sleep(0.05)
