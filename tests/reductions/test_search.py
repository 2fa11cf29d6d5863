"""A search over reduced states sees what the whole search sees, as near, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hacheck.compile.lowering.layout import unpack
from hacheck.model.interpreter import EvaluationError
from hacheck.model.ir import System
from hacheck.model.runs import State
from tests.models.exploration import explore
from tests.nightly import first_of
from tests.reductions.searching import Reduced, Seen, reduce_system, search
from tests.strategies import seeded_system
from tests.strategies.symmetric import symmetric_system

STATES_MAX = 200


def reduced_systems(system: System) -> Iterator[Reduced]:
    """The system by each of the reductions and by all, where they find something; asked everything, and one thing."""
    names = [(), *((asked.name,) for asked in system.properties[:1])]
    for asked in names:
        for symmetry, relevance in ((True, False), (False, True), (True, True)):
            try:
                reduced = reduce_system(system, asked, symmetry, relevance)
            except EvaluationError:
                return
            if reduced.reductions.symmetric or reduced.reductions.dropped:
                yield reduced


@pytest.mark.parametrize("first", first_of(range(0, 60, 15)))
def test_symmetric_systems_keep_their_verdicts_and_lengths(first: int) -> None:
    for seed in range(first, first + 15):
        assert_keeps(symmetric_system(seed))


@pytest.mark.parametrize("first", first_of(range(3_000, 3_030, 15)))
def test_any_systems_keep_their_verdicts_and_lengths(first: int) -> None:
    for seed in range(first, first + 15):
        assert_keeps(seeded_system(seed))


def assert_keeps(system: System) -> None:
    """Everything that a verdict or a run may depend on."""
    whole = explore(system, STATES_MAX)
    if not whole.complete:
        return
    plain = reduce_system(system, symmetry=False, relevance=False)
    everything = search(plain, STATES_MAX)
    depths = everything.depths
    assert len(depths) == whole.states
    states = [unpack(plain.lowered.layout, state) for state in depths]
    for reduced in reduced_systems(system):
        seen = search(reduced, STATES_MAX)
        assert_same_states(reduced, seen, dict(zip(states, depths.values(), strict=True)))
        assert seen.bounds_reached == set(whole.cuts)
        assert seen.taken == {action for action, count in enumerate(whole.action_counts) if count}
        keys = {item.key for item in reduced.questions.sought}
        assert seen.hits == {key: depth for key, depth in everything.hits.items() if key in keys}
        assert seen.error == everything.error
        if reduced.reductions.exact and not reduced.reductions.dropped:
            assert reduced.orbits(list(seen.depths)) == whole.states


def assert_same_states(reduced: Reduced, seen: Seen, depths: dict[State, int]) -> None:
    """The representatives of all states are those that were seen, each at the fewest steps to one it stands for."""
    nearest: dict[int, int] = {}
    for form, depth in zip(reduced.packed(list(depths)), depths.values(), strict=True):
        nearest[form] = min(depth, nearest.get(form, depth))
    assert seen.depths == nearest
