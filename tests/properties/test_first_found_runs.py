"""Where too many states are nearer than a violation to count faults, its run is the one found first: as short."""

from __future__ import annotations

import pytest

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.portable import shortest_paths
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.model.interpreter import replay
from hacheck.model.ir import System
from tests.strategies import seeded_system
from tests.strategies.costly import costly_system

LIMITS = Limits(states_max=400)


def lengths(system: System) -> dict[str, int]:
    """How long the run of each property is that has one. The interpreter follows each."""
    answer = PortableEngine().check(system, (), LIMITS, lambda _: True)
    for one in answer.properties:
        if one.run is not None:
            replay(system, one.run)
    return {one.name: len(one.run.steps) for one in answer.properties if one.run is not None}


def test_run_found_first_is_as_short(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = 0
    for system in (*map(seeded_system, range(30)), *map(costly_system, range(10))):
        with monkeypatch.context() as patched:
            patched.setattr(shortest_paths, "_COUNTED_MAX", -1)
            found = lengths(system)
        assert found == lengths(system)
        longest = max(longest, *found.values(), 0)
    assert longest >= 3
