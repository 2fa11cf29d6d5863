"""Search by compiled code finds what the portable engine finds: states, counts, cuts, hits, and runs as short."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.portable.portable_result import LogFindings
from hacheck.checker.explicit.search.breadth_first_search import Options
from hacheck.checker.explicit.search.state_log import Log
from hacheck.checker.explicit.search_result import SPEC_ERROR
from hacheck.model.interpreter import EvaluationError
from hacheck.model.ir import System
from hacheck.model.language import Specification, load
from tests.native.searching import Model, model_of, portable, portable_state, searched
from tests.nightly import by_night, first_of
from tests.strategies import seeded_system, systems

ROOT = Path(__file__).parents[2]
STATES_MAX = 3_000
SHIPPED = ("spec/icestorm.ha", "bench/quorum_election.ha")
CHECKS = [
    (path, name)
    for path in SHIPPED
    for name in re.findall(r"^check (\w+)", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
]
SMALL = Options(threads=3, table_bits=4, slice_seconds=0.0)
"""A table that grows often, slices of one block, threads that meet."""
FEW_HASHES = {"HASH_MASK": 0xC000_0000_0000_FFFF}
"""Four tags only, and places in four corners of the table."""


@given(systems())
@settings(max_examples=40)
def test_search_finds_what_the_portable_engine_finds(system: System) -> None:
    assert_same(system)


@pytest.mark.parametrize("first", first_of(range(0, 120, 20)))
@pytest.mark.parametrize("options", [Options(), SMALL, Options(threads=5, table_bits=6)], ids=str)
def test_search_finds_what_the_portable_engine_finds_on_seeded_systems(first: int, options: Options) -> None:
    for seed in range(first, first + 20):
        assert_same(seeded_system(seed, risky=seed % 2 == 0), options)


@pytest.mark.parametrize("first", first_of(range(200, 260, 20)))
def test_search_is_exact_where_hashes_collide(first: int) -> None:
    for seed in range(first, first + 20):
        assert_same(seeded_system(seed), SMALL, FEW_HASHES)


@pytest.mark.parametrize(("path", "check"), by_night(CHECKS, lambda case: case[1] == "broken"))
def test_search_of_a_shipped_check_finds_what_the_portable_engine_finds(path: str, check: str) -> None:
    system = specification(path).instantiate(check=check).system
    assert system is not None
    model = model_of(system)
    depth = depth_within(model, 800)
    expected = portable(model, Limits(depth_max=depth))
    for options in (Options(), Options(threads=2, table_bits=8)):
        with searched(model, options, Limits(depth_max=depth)) as log:
            assert_same_findings(model, log, expected)


def depth_within(model: Model, states: int) -> int:
    """How deep a search comes with so many states."""
    return max(portable(model, Limits(states_max=states)).depth - 1, 1)


@cache
def specification(path: str) -> Specification:
    loaded = load((ROOT / path).read_text(encoding="utf-8"), path).specification
    assert loaded is not None
    return loaded


def assert_same(system: System, options: Options | None = None, constants: dict[str, int] | None = None) -> None:
    try:
        model = model_of(system)
    except EvaluationError:
        return
    expected = portable(model, Limits(states_max=STATES_MAX))
    if expected.stopped is None:
        with searched(model, options, constants=constants) as log:
            assert_same_findings(model, log, expected)


def assert_same_findings(model: Model, log: Log, expected: LogFindings) -> None:
    """Everything that does not depend on the order of states."""
    program = model.functions.program
    assert (log.size, log.depth, log.stopped) == (expected.size, expected.depth, expected.stopped)
    assert log.counts == expected.counts
    bounds = expected.prepared.code.bounds
    assert dict(zip(program.bounds, log.bounds_reached, strict=True)) == dict(
        zip(bounds, expected.bounds_reached, strict=True)
    )
    assert set(map(model.unpack, log.states())) == {portable_state(model, state) for state in expected.log.order}
    assert all(log.index_of(log.state(index)) == index for first, end in log.spans for index in range(first, end))
    assert log.found.keys() == expected.found.keys()
    for key in log.found:
        assert log.found[key] in log.closest(key)
        assert_same_ways(model, log, expected, key)
    assert log.hits.keys() == expected.hits.keys()
    for key, (before, after) in log.hits.items():
        assert before in log.closest(key)
        assert log.index_of(after) is not None
        assert_same_ways(model, log, expected, key)
    assert len(log.errors) == len(expected.errors)
    for (state, _), (other, _) in zip(log.errors, expected.errors, strict=True):
        assert depth_of(log, state) == expected_depth(expected, other)
        assert state in log.closest(SPEC_ERROR)
        assert portable_state(model, other) in map(model.unpack, log.closest(SPEC_ERROR))


def assert_same_ways(model: Model, log: Log, expected: LogFindings, key: str) -> None:
    """The same states of the same level meet a condition, and the runs there are as short, with as few faults."""
    closest, others = log.closest(key), expected.closest(key)
    assert {portable_state(model, state) for state in others} <= set(map(model.unpack, closest))
    if key in model.functions.program.deads:
        closest = [state for state in closest if model.unpack(state) == portable_state(model, others[0])]
    assert len(closest) == len(others)
    if key.startswith("mode:"):
        return
    path, other = log.path_to(closest), expected.path_to([*others])
    assert len(path.states) == len(other.states)
    assert path.states[-1] in closest
    assert model.unpack(path.states[0]) in model.initial
    assert model.faults(path) == model.faults(other)


def depth_of(log: Log, state: int) -> int:
    index = log.index_of(state)
    assert index is not None
    return log.level_of(index)


def expected_depth(expected: LogFindings, state: int) -> int:
    place = expected.log.order.index(state)
    return sum(first <= place for first in expected.log.levels) - 1
