"""How many faults a state is away from a violation, and whether that must come, are as the interpreter finds them."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import pytest

from hacheck.model.interpreter import Interpreter
from hacheck.model.runs import State
from hacheck.traces.conformance.fault_graph import FaultGraph
from tests.traces.two_balancers import the_system

SYSTEM = the_system()
NAME = "one_master"


class Slow:
    """The same by the reference interpreter, state by state."""

    def __init__(self) -> None:
        self.interpreter = Interpreter(SYSTEM)
        self.after: dict[State, list[tuple[State, str]]] = {}
        waiting = list(self.interpreter.initial_states())
        while waiting:
            state = waiting.pop()
            if state in self.after:
                continue
            self.after[state] = [
                (step.state, SYSTEM.actions[step.action].kind) for step, _ in self.interpreter.steps_with_lines(state)
            ]
            waiting += [to for to, _ in self.after[state]]
        goal = next(one.goal for one in SYSTEM.properties if one.name == NAME)
        self.broken = {state for state in self.after if not self.interpreter.value(goal, state)}

    def faults(self, start: State) -> int | None:
        """The fewest faults on a path to a violation."""
        best, waiting = {start: 0}, deque([start])
        while waiting:
            state = waiting.popleft()
            if state in self.broken:
                return best[state]
            for to, kind in self.after[state]:
                cost = best[state] + (kind == "fault")
                if cost < best.get(to, 1 << 20):
                    best[to] = cost
                    waiting.append(to) if kind == "fault" else waiting.appendleft(to)
        return None

    def is_inevitable(self, start: State) -> bool:
        """Whether no way of plain steps leads past all violations to where none can come any more."""

        def plain(state: State) -> list[State]:
            return (
                []
                if state in self.broken
                else [to for to, kind in self.after[state] if kind not in ("fault", "repair")]
            )

        def reached(start: State) -> set[State]:
            found, waiting = {start}, [start]
            while waiting:
                for to in plain(waiting.pop()):
                    if to not in found:
                        found.add(to)
                        waiting.append(to)
            return found

        return all(reached(state) & self.broken for state in reached(start))


@pytest.fixture(scope="module")
def slow() -> Slow:
    return Slow()


def test_distances_and_inevitability_are_those_of_the_interpreter(slow: Slow) -> None:
    graph = FaultGraph(SYSTEM, [NAME])
    states = sorted(slow.after, key=repr)
    random.Random(1).shuffle(states)
    for state in states[:40]:
        places = graph.places([state])
        found = graph.distance(NAME, places)
        expected = slow.faults(state)
        assert (found.fewest, found.most, found.exact) == (expected, expected, True)
        assert len(found.faults) == (expected or 0)
        assert found.broken == (state in slow.broken)
        assert graph.is_inevitable(NAME, places) == slow.is_inevitable(state)


def test_faults_on_the_path_are_named(slow: Slow) -> None:
    graph = FaultGraph(SYSTEM, [NAME])
    found = graph.distance(NAME, graph.places(slow.interpreter.initial_states()))
    assert [graph.action_of(one) for one in found.faults] == ["cut LB - LB"]


def test_several_states_have_the_nearest_and_the_farthest(slow: Slow) -> None:
    graph = FaultGraph(SYSTEM, [NAME])
    far = next(state for state in slow.after if slow.faults(state) == 1)
    near = next(state for state in slow.after if slow.faults(state) == 0)
    found = graph.distance(NAME, graph.places([far, near]))
    assert (found.fewest, found.most) == (0, 1)


def test_without_room_nothing_is_claimed(slow: Slow) -> None:
    graph = FaultGraph(SYSTEM, [NAME], states_max=2)
    found = graph.distance(NAME, graph.places(slow.interpreter.initial_states()))
    assert graph.is_limited
    assert (found.fewest, found.exact) == (None, False)
    assert graph.is_inevitable(NAME, graph.places(slow.interpreter.initial_states())) is None


def test_interrupted_exploration_goes_on_later(slow: Slow) -> None:
    graph = FaultGraph(SYSTEM, [NAME])
    start = graph.places(slow.interpreter.initial_states())
    calls: list[Any] = []
    cut_short = graph.distance(NAME, start, lambda: bool(calls.append(1)))
    assert (calls, cut_short.exact) == ([1], False)
    for _ in range(100):
        if graph.distance(NAME, start, lambda: False).exact:
            break
    assert graph.distance(NAME, start).fewest == 1
