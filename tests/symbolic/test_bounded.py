"""Bounded model checking finds what plain search by the interpreter finds, by runs as short, and nothing else."""

from __future__ import annotations

import pytest

from hacheck.checker.engine import Limits
from hacheck.checker.symbolic.bounded_model_checking import BoundedEngine
from hacheck.checker.symbolic.lassos import LIVE
from hacheck.model.interpreter import replay
from hacheck.model.ir import System
from hacheck.model.language import load
from tests.models.exploration import Explored, explore
from tests.nightly import first_of
from tests.strategies import seeded_system
from tests.symbolic.infinite_runs import assert_violates

STATES_MAX = 400
DEPTH_MAX = 6
TOGETHER = 20


@pytest.mark.parametrize("first", first_of(range(0, 1_000, TOGETHER), 3))
def test_it_agrees_with_the_interpreter_on_random_systems(first: int) -> None:
    for seed in range(first, first + TOGETHER):
        system = seeded_system(seed)
        expected = explore(system, STATES_MAX)
        if expected.complete and not (expected.fault_depth == 0 and not expected.states):
            assert_agrees(system, expected, seed)


def assert_agrees(system: System, expected: Explored, seed: int) -> None:
    """What is decided within the depth is decided by a run of that length; nothing else is said to be decided by
    one."""
    depth = min(DEPTH_MAX, expected.depth + 1)
    answer = BoundedEngine(depth).check(system, (), Limits(), lambda _: True)
    for asked, given in zip(system.properties, answer.properties, strict=True):
        where = f"seed {seed}, {asked.name}: {given.verdict}, {given.scope}"
        if given.run is not None:
            assert replay(system, given.run) is None, where
        if asked.kind in LIVE:
            if given.verdict == "violated":
                assert given.run is not None, where
                assert_violates(system, asked, given.run)
            continue
        decided = "holds" if asked.kind == "reachable" else "violated"
        first = expected.decided.get(asked.name)
        if first is not None and first <= depth:
            assert given.verdict == decided, where
            assert given.run is not None, where
            assert len(given.run.steps) == first, where
        else:
            assert given.run is None or "error of the spec" in given.scope, where
            assert given.verdict != decided or given.run is None, where
    if answer.error is not None:
        assert replay(system, answer.error) is None
        assert expected.fault_depth is not None
        assert len(answer.error.steps) >= expected.fault_depth


def test_branches_that_no_step_takes_set_nothing_that_a_step_reads() -> None:
    text = """system Released
record Pair { x: 0..2, y: 0..2 }
node S[2] { pair: Pair = Pair(y: 0, x: 2) }
operation ask() from S to S returns bool
lock L held by S freed late
serve ask() at s from m do
action go(s: S) do
  call ask() at s as heard
  if 1 < s.pair.x then {
    release L
    require s.pair == Pair(2, 1)
  }
reachable freed: holder(L) == none
"""
    specification = load(text, "released.ha").specification
    assert specification is not None
    answer = BoundedEngine(2).check(specification.instantiate().system, (), Limits(), lambda _: True)
    assert [(one.verdict, one.run and len(one.run.steps)) for one in answer.properties] == [("holds", 0)]
