"""Search by compiled code stops where it is told to, says why, and what it leaves can be read."""

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace

from hacheck.checker.engine import Limits, Progress
from hacheck.checker.explicit.search import search_limits, shortest_paths
from hacheck.checker.explicit.search import state_log as log_module
from hacheck.checker.explicit.search.breadth_first_search import Options
from hacheck.checker.explicit.search_result import SPEC_ERROR
from hacheck.model.interpreter import EvaluationError
from hacheck.model.ir import FALSE, TRUE, Choose, Domain, Property, System
from hacheck.model.types import Bool
from hacheck.supervise.resources import process_bytes
from hacheck.supervise.task import Cancelled
from tests.models.quorum_election import quorum_election
from tests.native.searching import election, model_of, portable, searched
from tests.strategies import seeded_system

SLOW = Options(slice_seconds=0.0)
THREADS = Options(threads=3, table_bits=4, slice_seconds=0.0)


def bare(**changes: object) -> System:
    """QuorumElection without its properties, changed."""
    return replace(quorum_election(2, 1, 0), properties=(), **changes)  # type: ignore[arg-type]


# ---- edges ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", [bare(), bare(actions=()), bare(variables=(), actions=(), nodes=())])
def test_small_systems_are_explored_to_their_end(system: System) -> None:
    model = model_of(system)
    expected = portable(model)
    with searched(model) as log:
        assert (log.size, log.depth, log.stopped) == (expected.size, expected.depth, None)
        assert log.counts == expected.counts


def test_no_initial_state_leaves_nothing() -> None:
    nothing = Choose("x", Domain(Bool(), None, FALSE))
    asked = (
        Property("never", "invariant", FALSE, None, (), "", "", 0),
        Property("met", "reachable", TRUE, None, (), "", "", 0),
    )
    with searched(model_of(replace(bare(initial=(nothing,)), properties=asked))) as log:
        assert (log.size, log.depth, log.stopped, log.found) == (0, 0, None, {})
        assert log.levels == ()
        assert log.bytes_per_state is None


# ---- limits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [SLOW, Options(), THREADS])
@pytest.mark.parametrize("most", [1, 2, 499, 500, 5_000])
def test_no_more_states_than_the_limit_are_found(options: Options, most: int) -> None:
    with searched(election(3, 2, 1), options, Limits(states_max=most)) as log:
        assert log.size == most
        assert log.stopped == f"{most:,} states reached"
        assert len(set(log.states())) == most
        assert sum(end - first for level in log.levels for first, end in level) == most


def test_a_limit_of_exactly_all_states_is_met_only_while_some_wait() -> None:
    with searched(election(3, 2, 1), limits=Limits(states_max=63_874)) as log:
        assert (log.size, log.stopped) == (63_873, None)


def test_initial_states_are_all_found_whatever_the_limit() -> None:
    for seed in range(40):
        model = model_of(seeded_system(seed, risky=False))
        if len(model.initial) > 1:
            with searched(model, limits=Limits(states_max=1)) as log:
                assert log.size == len(set(model.initial))


@pytest.mark.parametrize("options", [SLOW, THREADS])
@pytest.mark.parametrize("most", [0, 1, 5])
def test_no_deeper_than_the_limit(options: Options, most: int) -> None:
    expected = portable(election(3, 2, 1), Limits(depth_max=most))
    with searched(election(3, 2, 1), options, Limits(depth_max=most)) as log:
        assert (log.size, log.depth, log.stopped) == (expected.size, most, f"depth {most} reached")
        assert log.counts == expected.counts


def test_time_is_limited() -> None:
    with searched(election(3, 2, 1), limits=Limits(wall_seconds_max=0.0)) as log:
        assert (log.size, log.stopped) == (1, "0 seconds passed")
    begun = time.perf_counter()
    with searched(election(5, 3, 2), limits=Limits(wall_seconds_max=2.0)) as log:
        assert log.stopped == "2 seconds passed"
        assert log.size > 10_000
    assert time.perf_counter() - begun < 10


@pytest.mark.parametrize("threads", [1, 2])
def test_memory_is_limited(threads: int) -> None:
    most = process_bytes() + 40 * 2**20
    with searched(election(4, 2, 1), Options(threads=threads), Limits(memory_bytes_max=most)) as log:
        assert log.stopped == f"{most / 2**20:,.0f} MiB of memory used"
        assert process_bytes() <= most + 24 * 2**20  # what earlier tests gave up may still be compiled
        assert log.size > 500_000
        assert len(log.path_to([log.state(log.levels[-1][0][0])]).states) == log.depth + 1


def test_hardly_any_memory_is_said_to_be_used_up_at_once() -> None:
    with searched(election(3, 2, 1), limits=Limits(memory_bytes_max=1)) as log:
        assert log.stopped == "0 MiB of memory used"


def test_whoever_waits_is_told_and_can_interrupt() -> None:
    reports: list[Progress] = []

    def report(progress: Progress) -> bool:
        reports.append(progress)
        return len(reports) < 4

    with searched(election(5, 3, 2), report=report) as log:
        assert log.stopped == "interrupted"
        assert log.size == reports[-1].states
    seen = [progress.states for progress in reports]
    assert seen == sorted(seen)
    assert all(progress.states >= progress.frontier > 0 for progress in reports)
    assert reports[0].transitions > reports[0].states


def test_a_search_with_everything_decided_ends_with_the_level() -> None:
    model = election(3, 2, 1, votes_lost=True)
    (broken,) = (item.name for item in model.system.properties if item.kind == "invariant")
    with searched(model) as log:
        depth = log.level_of(log.index_of(log.found[broken]) or 0)
        sizes = [sum(end - first for first, end in level) for level in log.levels]
    for options in (Options(), THREADS):
        with searched(model, options, goal=frozenset([broken])) as log:
            assert log.stopped == "every property is decided"
            assert (log.depth, log.size) == (depth, sum(sizes[: depth + 1]))


# ---- looking back --------------------------------------------------------------------------------------------------


def test_looking_back_can_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def report(progress: Progress) -> bool:
        asked.append(progress.phase)
        return progress.phase != "reconstructing the run"

    monkeypatch.setattr(shortest_paths, "GRACE_SECONDS", 0.0)
    monkeypatch.setattr(log_module, "GRACE_SECONDS", 0.0)
    with searched(election(3, 2, 1), report=report) as log, pytest.raises(Cancelled, match="interrupted"):
        log.path_to([log.state(log.levels[-1][0][0])])
    assert asked[-1] == "reconstructing the run"


def test_what_an_interrupted_search_has_met_is_told_if_it_can_be_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortest_paths, "GRACE_SECONDS", 60.0)
    monkeypatch.setattr(log_module, "GRACE_SECONDS", 60.0)
    asked: list[str] = []

    def report(progress: Progress) -> bool:
        asked.append(progress.phase)
        return len(asked) < 4

    with searched(election(5, 3, 2), report=report) as log:
        assert log.stopped == "interrupted"
        found = log.path_to([log.state(log.levels[-1][0][0])])
        assert len(found.states) == log.depth + 1
    assert asked[-1] == "reconstructing the run"


@pytest.mark.parametrize("options", [Options(), THREADS, Options(threads=2)])
def test_runs_do_not_depend_on_threads(options: Options) -> None:
    model = election(3, 2, 1, votes_lost=True)
    with searched(model) as log, searched(model, options) as other:
        for key in log.found:
            assert log.path_to(log.closest(key)) == other.path_to(other.closest(key))


def test_fingerprints_find_the_same_states_and_runs() -> None:
    model = election(3, 2, 1, votes_lost=True)
    with searched(model) as log, searched(model, THREADS, fingerprint=True) as other:
        assert (other.size, other.depth, other.counts) == (log.size, log.depth, log.counts)
        assert other.found.keys() == log.found.keys()
        for key in log.found:
            assert other.path_to(other.closest(key)) == log.path_to(log.closest(key))
        with pytest.raises(Cancelled):
            other.spans  # noqa: B018


def test_fingerprints_of_random_systems_find_the_same() -> None:
    compared = 0
    for seed in range(40):
        try:
            model = model_of(seeded_system(seed, risky=seed % 2 == 0))
        except EvaluationError:
            continue
        with searched(model, limits=Limits(states_max=2_000)) as log:
            if log.stopped is not None:
                continue
            with searched(model, SLOW, fingerprint=True) as other:
                assert (other.size, other.counts, other.bounds_reached) == (log.size, log.counts, log.bounds_reached)
                for key in (*log.found, *log.hits, *([SPEC_ERROR] if log.errors else [])):
                    assert other.path_to(other.closest(key)) == log.path_to(log.closest(key))
                    compared += 1
    assert compared > 50


def test_fingerprints_give_back_what_is_expanded() -> None:
    with searched(election(3, 3, 1)) as log:
        exact = log.bytes_per_state
    with searched(election(3, 3, 1), fingerprint=True) as log:
        assert log.size == 797_189
        assert log.bytes_per_state is not None
        assert exact is not None
        assert exact - log.bytes_per_state > 10  # of the 16 that a state has
        last = max(log.found, key=lambda key: len(log.path_to(log.closest(key)).states))
        assert log.path_to(log.closest(last)).states


def test_a_repeated_search_can_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    model = election(3, 2, 1, votes_lost=True)
    monkeypatch.setattr(search_limits, "REPORT_SECONDS", 0.0)

    def report(progress: Progress) -> bool:
        return progress.phase == "exploring"

    with searched(model, SLOW, report=report, fingerprint=True) as log:
        key = max(log.found)
        with pytest.raises(Cancelled, match="interrupted"):
            log.path_to(log.closest(key))
