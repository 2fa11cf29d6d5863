"""Fair sets and loops of random graphs, with more constraints than a word has bits."""

from __future__ import annotations

import ctypes
import random
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import pytest

from hacheck.checker.explicit.fairness import Constraints
from hacheck.checker.explicit.liveness import graph_fields as fields
from hacheck.checker.explicit.liveness.kernel_slices import Slices
from hacheck.checker.explicit.liveness.liveness_verdicts import check_components, reached
from hacheck.checker.explicit.liveness.marked_states import Marks
from hacheck.checker.explicit.liveness.shortest_lasso import FairnessMask, Walk, fair_loop, nearest_fair, path_into
from hacheck.checker.explicit.liveness.working_memory import Ground, kernel_constants
from hacheck.checker.explicit.portable.fair_sets import fair_sets
from hacheck.checker.explicit.portable.strong_components import Edges
from hacheck.model.ir import TRUE, Property
from tests.native.liveness_worlds import STOP, linked, space_of
from tests.nightly import first_of

ASKED = Property("live", "eventually", TRUE, None, (), "", "", 0)


@dataclass
class RandomGraph:
    """States 0 to n-1, each with outcomes: where each one leads, and the constraint from 1, or 0. A run starts in 0."""

    outcomes: list[list[tuple[int, int]]]
    constraints: int
    asked: FairnessMask

    @property
    def levels(self) -> list[list[int]]:
        """The states at each distance from the first."""
        levels, seen = [[0]], {0}
        while levels[-1]:
            following = [after for state in levels[-1] for after, by in self.outcomes[state] if not by & STOP]
            levels.append([state for state in dict.fromkeys(following) if state not in seen])
            seen.update(levels[-1])
        return levels[:-1]

    def enabled(self, state: int) -> int:
        """The constraints of a state's outcomes, as bits."""
        return sum(1 << by - 1 for by in {by & ~STOP for _, by in self.outcomes[state]} if by)


def random_graph(seed: int) -> RandomGraph:
    """A graph with long cycles through it, of few constraints or many, weak and strong ones."""
    choice = random.Random(seed)
    states = choice.choice((1, 3, 10, 40, 200))
    constraints = choice.choice((1, 3, 70, 130, 300))
    used = choice.sample(range(1, constraints + 1), min(constraints, choice.choice((1, 3, 8))))
    bits = sum(1 << by - 1 for by in used)
    strong = sum(1 << by - 1 for by in used if choice.random() < 0.4)
    ignored = sum(1 << by - 1 for by in used if choice.random() < 0.1)
    outcomes: list[list[tuple[int, int]]] = []
    for state in range(states):
        near = [(state + choice.choice((-3, -1, 0, 1, 1, 2))) % states for _ in range(choice.randrange(4))]
        near += [(state + 1) % states] if choice.random() < 0.97 else []
        by = [choice.choice((0, choice.choice(used))) for _ in near]
        stops = [(state, choice.choice(used) | STOP)] if choice.random() < 0.1 else []
        outcomes.append([*zip(near, by, strict=True), *stops])
    return RandomGraph(outcomes, constraints, FairnessMask(bits & ~strong & ~ignored, strong & ~ignored))


@contextmanager
def judged(graph: RandomGraph, stored: bool, wide: bool) -> Iterator[tuple[Ground, Slices, list[int]]]:
    """The ground after the components of a graph were judged."""
    constants = kernel_constants(1, len(graph.outcomes), graph.constraints) | ({"ENTRY_BYTES": 8} if wide else {})
    functions = linked(constants)
    with space_of(graph.levels, lambda state: graph.outcomes[state], 1, functions["enter"]) as space:
        ground = Ground(space, list(range(graph.constraints + 1)), constants, 2, None, "")
        if not stored:
            ground.words[fields.LISTS_END] = 0
        slices = Slices(ground, functions, lambda: None)
        marks = Marks(space, {"goal:live": nowhere}, lambda: None)
        marks.doubt(slices, ASKED)
        marks.prepare(slices, ASKED)
        levels = reached(ground, slices, only_nearest=False)
        check_components(ground, slices, graph.asked, levels[-1])
        yield ground, slices, levels
        slices.close()
        ground.free()


def nowhere(states: int, n: int, marks: int) -> int:
    """Marks no state."""
    ctypes.memset(marks, 0, n)
    return 0


def expected_sets(graph: RandomGraph) -> set[frozenset[int]]:
    """The fair sets, by the portable engine."""
    start, target, by = array("Q", [0]), array("I"), array("I")
    inside = sorted(state for level in graph.levels for state in level)
    for state, outcomes in enumerate(graph.outcomes):
        for after, constraint in outcomes:
            if state in inside and not constraint & STOP:
                target.append(after)
                by.append(constraint)
        start.append(len(target))
    fair = graph.asked.weak | graph.asked.strong
    taken_by = tuple(1 << by >> 1 & fair for by in range(graph.constraints + 1))
    constraints = Constraints(graph.constraints, graph.asked.strong, taken_by)
    enabled = [graph.enabled(state) & fair for state in range(len(graph.outcomes))]
    part = array("Q", bytes(8 * len(graph.outcomes)))
    found = fair_sets(Edges(start, target, by), enabled, inside, part, constraints)
    return {frozenset(item.states) for item in found}


def found_sets(ground: Ground) -> dict[int, set[int]]:
    """The states of each fair set, by its number."""
    sets: dict[int, set[int]] = {}
    for vertex in range(ground.space.size):
        if ground.number(vertex) != fields.OUTSIDE:
            sets.setdefault(ground.number(vertex), set()).add(ground.state(vertex))
    return sets


def assert_loop_is_fair(graph: RandomGraph, ground: Ground, loop: Walk, inside: set[int]) -> None:
    """It goes from step to step inside the set, back to where it starts, and does what is asked."""
    states = [ground.state(vertex) for vertex in loop.vertices]
    assert states[0] == states[-1]
    for before, after, taken in zip(states, states[1:], loop.taken, strict=False):
        assert (after, taken) in graph.outcomes[before]
        assert after in inside
    always, ever = -1, 0
    for state in states:
        always &= graph.enabled(state)
        ever |= graph.enabled(state)
    taken = sum(1 << by - 1 for by in set(loop.taken) if by)
    assert not always & graph.asked.weak & ~taken
    assert not ever & graph.asked.strong & ~taken


@pytest.mark.parametrize(("stored", "wide"), first_of([(True, False), (True, True), (False, False)]))
def test_fair_sets_and_loops_of_random_graphs(stored: bool, wide: bool) -> None:
    many, large = 0, 0
    for seed in range(400):
        graph = random_graph(seed)
        with judged(graph, stored, wide) as (ground, slices, levels):
            sets = found_sets(ground)
            expected = expected_sets(graph)
            assert {frozenset(states) for states in sets.values()} == expected
            assert ground.words[fields.FAIR_COUNT] == len(expected)
            nearest = nearest_fair(ground, slices, levels)
            if nearest is None:
                assert not expected
                continue
            entry, level = nearest
            depths = {state: depth for depth, states in enumerate(graph.levels) for state in states}
            assert level == min(depths[state] for states in expected for state in states)
            walk = [ground.state(vertex) for vertex in path_into(ground, slices, levels, entry, level)]
            assert [depths[state] for state in walk] == list(range(level + 1))
            assert all(after in dict(graph.outcomes[before]) for before, after in pairwise(walk))
            for number, states in sets.items():
                entry = next(vertex for vertex in range(ground.space.size) if ground.number(vertex) == number)
                loop = fair_loop(ground, slices, levels[-1], entry, graph.asked)
                assert_loop_is_fair(graph, ground, loop, states)
                many += graph.constraints > 64
                large += len(states) > 20 and len(loop.taken) > 5
            assert found_sets(ground) == sets
    assert many > 50
    assert large > 10


def test_a_component_of_many_states_is_left_in_slices() -> None:
    size = 30_000
    outcomes = [[((state + 1) % size, 1 if state == 0 else 0)] for state in range(size)]
    graph = RandomGraph(outcomes, 1, FairnessMask(1, 0))
    constants = kernel_constants(1, size, 1)
    functions = linked(constants)
    pulses = 0

    def poll() -> None:
        nonlocal pulses
        pulses += 1

    levels = [[state] for state in range(3)] + [list(range(3, size))]
    with space_of(levels, lambda state: outcomes[state], 1, functions["enter"]) as space:
        ground = Ground(space, [0, 1], constants, 1, None, "")
        slices = Slices(ground, functions, poll)
        marks = Marks(space, {"goal:live": nowhere}, poll)
        marks.doubt(slices, ASKED)
        marks.prepare(slices, ASKED)
        levels = reached(ground, slices, only_nearest=False)
        assert len(levels) == size + 1
        check_components(ground, slices, graph.asked, levels[-1])
        assert ground.words[fields.FAIR_COUNT] == 1
        loop = fair_loop(ground, slices, levels[-1], 0, graph.asked)
        assert len(loop.taken) == size
        assert sum(loop.taken) == 1
        slices.close()
        ground.free()
    assert pulses > 30_000 + 20
