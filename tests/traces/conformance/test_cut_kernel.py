"""The search by cuts in machine code, which remembers moves, finds in everything what the one that does not finds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from hacheck.model.observing.line_writers import logged
from hacheck.traces.adapters.adapter_files import load
from hacheck.traces.adapters.logs import open_logs
from hacheck.traces.conformance import cut_kernel, interleavings
from hacheck.traces.conformance.interleavings import CutSearch, InterleavingSearch, SearchResult, Streams
from hacheck.traces.conformance.kernels import control as k
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.findings import Findings
from hacheck.traces.record_checks import checked_batches
from hacheck.traces.records import Order
from tests.interop.damage import KINDS, damaged
from tests.properties.scale import seeds
from tests.seeds.driving import specification
from tests.traces.conformance.arrow_records import table
from tests.traces.conformance.test_random_systems import logged_system, traces_apart

DATA = Path(__file__).parents[2] / "data"
SKEW = 10_000_000
SMALL = 200_000
"""Bytes in which all is forgotten often."""

_run = InterleavingSearch.run


class Compared:
    """Runs both searches wherever one is to be run. `seen`: how often the first did by itself, by status."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: Counter[int] = Counter()
        self.left = self.recalled = 0
        monkeypatch.setattr(interleavings, "KERNEL_AFTER", 0)
        monkeypatch.setattr(InterleavingSearch, "run", lambda search, *given: self.both(search, *given))

    def both(
        self, search: InterleavingSearch, streams: Streams, report: Callable[[], bool] = lambda: True
    ) -> SearchResult | None:
        """What both find."""
        found = _run(search, streams, report)
        if search.keeps or not search.kernel:
            return found
        slow = CutSearch(search, streams, report).result()
        assert found is not None
        assert slow is not None
        asked = found.status == k.FOLLOWED  # where it is explained, which bounds were met matters to nothing
        assert found == (replace(slow, bounds=()) if asked else slow)
        by_kernel = search._by_kernel(streams, report)
        if by_kernel is False:
            self.left += 1
        else:
            assert by_kernel is not None
            self.seen[by_kernel.status] += 1
        self.recalled += search.kernel.recalled
        return found


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Compared:
    return Compared(monkeypatch)


@pytest.fixture(scope="module")
def compiled_checker() -> TraceChecker:
    """Of the released protocol with a time line."""
    system = specification("icestorm").instantiate({"timeline": "on"}, "as_released", logs=True).system
    assert system is not None, "the check makes a system"
    checked = ("one_view", "a_majority_serves")
    return TraceChecker(logged(system), Order.PER_NODE, skew_ns=SKEW, checked=checked, explained_max=2)


@pytest.fixture
def checker(compiled_checker: TraceChecker) -> TraceChecker:
    """The same, with nothing remembered."""
    search = compiled_checker.trace_follower().diagnoser.search
    search.kernel, search.searched = None, 0
    return compiled_checker


def verdicts(checker: TraceChecker, logs: Path, adapter: str) -> int:
    """How many verdicts there are."""
    batches = checked_batches(open_logs(logs, load(adapter)), Findings())
    return sum(batch.num_rows for batch in checker.check(batches))


def test_recordings(compared: Compared, checker: TraceChecker) -> None:
    assert verdicts(checker, DATA / "icestorm", "icestorm") == 3
    assert compared.seen[k.FOLLOWED] >= 3
    assert compared.recalled > 0


def test_damaged_recordings(compared: Compared, checker: TraceChecker, tmp_path: Path) -> None:
    for kind in KINDS:
        assert damaged(DATA / "icestorm" / "c-kill-coordinator", tmp_path / kind, kind) is not None
    assert verdicts(checker, tmp_path, "icestorm") == len(KINDS)
    assert compared.seen[k.DEAD] > 0


def test_recordings_in_little_memory(
    compared: Compared, checker: TraceChecker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cut_kernel, "BYTES", SMALL)
    assert verdicts(checker, DATA / "icestorm", "icestorm") == 3
    assert compared.left > 0, "too much to remember"


@seeds(0, 12, together=4)
def test_nodes_of_random_systems_that_logged_apart(compared: Compared, seeds: range) -> None:
    for seed in seeds:
        system = logged_system(seed)
        if system is not None:
            skew, traces, _ = traces_apart(system, seed)
            checked = tuple(one.name for one in system.properties if one.kind == "invariant")[:2]
            explained = random.Random(seed).choice((0, 2))
            checker = TraceChecker(system, Order.PER_NODE, skew, checked=checked, explained_max=explained)
            if traces:
                list(checker.check([table(system, traces)]))
    assert compared.seen[k.FOLLOWED] > 0


def test_it_ends_when_it_is_stopped(checker: TraceChecker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interleavings, "KERNEL_AFTER", 0)
    assert verdicts(checker, DATA / "icestorm", "icestorm") == 3
    batches = checked_batches(open_logs(DATA / "icestorm", load("icestorm")), Findings())
    assert not list(checker.check(batches, lambda: False))


def test_it_is_compiled_when_there_is_enough_to_do(checker: TraceChecker, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[bool] = []

    def none_kept(*_given: object, made: bool) -> None:
        wanted.append(made)

    monkeypatch.setattr(interleavings, "KERNEL_AFTER", 100)
    monkeypatch.setattr(interleavings, "cut_kernel", none_kept)
    assert verdicts(checker, DATA / "icestorm", "icestorm") == 3
    assert wanted[0] is False
    assert wanted[-1] is True
    assert wanted.count(True) == 1, "after that it is known that there is none"
