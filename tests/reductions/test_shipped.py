"""Reductions on shipped protocols: the same answers from fewer states."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.checker.engine import Answer, Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.model.ir import System
from hacheck.model.language import load
from tests.nightly import by_night

ROOT = Path(__file__).resolve().parents[2]
ELECTION = ROOT / "bench" / "quorum_election.ha"
ICESTORM = ROOT / "spec" / "icestorm.ha"


def both(system: System, names: tuple[str, ...] = ()) -> tuple[Answer, Answer]:
    """The answers without reductions and with them."""
    whole = NativeEngine(reductions=False).check(system, names, Limits(), lambda _: True)
    less = NativeEngine().check(system, names, Limits(), lambda _: True)
    for expected, found in zip(whole.properties, less.properties, strict=True):
        assert found.verdict == expected.verdict, found.name
        if expected.run is not None and expected.run.loop is None:
            assert found.run is not None
            assert len(found.run.steps) == len(expected.run.steps), found.name
    return whole, less


@pytest.mark.parametrize(
    ("replicas", "terms", "crashes", "orbits", "states"),
    [(2, 2, 1, 191, 372), (3, 1, 1, 393, 2_149), (3, 2, 1, 10_789, 63_873), (4, 1, 1, 8_205, 182_582)],
)
def test_an_election_has_so_many_states_up_to_exchanging_replicas(
    replicas: int, terms: int, crashes: int, orbits: int, states: int
) -> None:
    specification = load(ELECTION.read_text(encoding="utf-8"), str(ELECTION)).specification
    assert specification is not None
    system = specification.instantiate({"replicas": str(replicas), "terms": str(terms), "crashes": str(crashes)}).system
    assert system is not None
    whole, less = both(system)
    assert (whole.coverage.states, less.coverage.states) == (states, orbits)
    listed = f"1..{replicas}" if replicas > 2 else "1 and 2"
    assert less.reductions == (
        f"symmetry: Replica {listed} are interchangeable, {orbits:,} states stand for {states:,}",
    )


@pytest.mark.parametrize(
    ("check", "states"), by_night([("own_stamp_ignored", 9_196), ("full_disk", 9_706)], lambda _: False)
)
def test_icestorm_has_so_many_states_up_to_names_of_groups(check: str, states: int) -> None:
    specification = load(ICESTORM.read_text(encoding="utf-8"), str(ICESTORM)).specification
    assert specification is not None
    system = specification.instantiate({}, check).system
    assert system is not None
    only = next(item.only for item in specification.checks if item.name == check)
    _, less = both(system, only)
    assert less.coverage.states == states
    assert less.reductions[0] == "symmetry: states that differ only in the names of Groups are one"
