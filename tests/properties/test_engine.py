"""The explicit engines agree with plain search by the reference interpreter on random models."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from hacheck.checker.engine import Answer, Limits
from hacheck.checker.explicit.native.engine import NativeEngine
from hacheck.checker.explicit.portable.engine import PortableEngine
from hacheck.model.ir import Property, System
from hacheck.model.runs import State
from hacheck.model.semantics import Interpreter, Taken, replay
from tests.models.engines import EVERY, ExplicitEngine
from tests.models.exploration import Explored, explore
from tests.strategies import seeded_system, systems

STATES_MAX = 1_000


@given(systems())
@settings(max_examples=100)
def test_engines_agree_with_the_interpreter(system: System) -> None:
    expected = explore(system, STATES_MAX)
    assert_agrees(PortableEngine(), system, expected)
    assert_agrees(NativeEngine(reductions=False), system, expected)


@pytest.mark.parametrize("engine", EVERY)
@pytest.mark.parametrize("first", range(1_000, 1_100, 25))
def test_engines_agree_with_the_interpreter_on_seeded_systems(first: int, engine: ExplicitEngine) -> None:
    for seed in range(first, first + 25):
        system = seeded_system(seed)
        assert_agrees(engine, system, explore(system, STATES_MAX))


def assert_agrees(engine: ExplicitEngine, system: System, expected: Explored) -> None:
    """Verdicts and lengths of runs; where all states are explored, also states, transitions, depth, cuts and counts by
    action."""
    if not expected.complete:
        return
    answer = engine.check(system, (), Limits(), lambda _: True)
    if expected.fault_depth == 0 and not expected.states and not answer.coverage.complete:
        assert answer.unstartable
        assert str(answer.coverage.stopped).startswith("an error of the spec at the start")
        return
    if isinstance(engine, PortableEngine) or not engine.reductions:
        assert_same_coverage(answer, expected)
    for asked in system.properties:
        assert_same_verdict(system, asked, answer, expected)
    assert_same_fault(system, answer, expected)


def assert_same_coverage(answer: Answer, expected: Explored) -> None:
    """The same graph was explored."""
    coverage = answer.coverage
    found = coverage.states, coverage.transitions, coverage.depth
    assert found == (expected.states, expected.transitions, expected.depth)
    assert dict(coverage.cuts) == expected.cuts
    assert coverage.action_counts == expected.action_counts


def assert_same_verdict(system: System, asked: Property, answer: Answer, expected: Explored) -> None:
    """Properties of states and steps are decided alike, by runs of the same length."""
    given = next(item for item in answer.properties if item.name == asked.name)
    if asked.kind in ("eventually", "leads_to"):
        return
    decided = "holds" if asked.kind == "reachable" else "violated"
    depth = expected.decided.get(asked.name)
    if depth is None:
        assert given.verdict != decided or given.run is None
        assert (given.verdict == "unknown") == (answer.fault is not None or "error of the spec" in given.scope)
    else:
        assert given.verdict == decided
        assert given.run is not None
        assert len(given.run.steps) == depth
    if given.run is not None:
        assert replay(system, given.run) is None


def assert_same_fault(system: System, answer: Answer, expected: Explored) -> None:
    """An error of the spec is found where there is one, and as early. (The search by the interpreter evaluates no
    properties of infinite runs.)"""
    finite = [
        item
        for item, asked in zip(answer.properties, system.properties, strict=True)
        if asked.kind not in ("eventually", "leads_to")
    ]
    valueless = [item for item in finite if "an error of the spec after" in item.scope]
    hidden = [item for item in finite if item.run is not None and item not in valueless]
    depths = [len(item.run.steps) for item in valueless if item.run is not None]
    if answer.fault is not None:
        assert replay(system, answer.fault) is None
        depths.append(len(answer.fault.steps))
    if expected.fault_depth is None:
        assert depths == []
    elif not hidden:
        assert min(depths) == expected.fault_depth


@pytest.mark.parametrize("engine", EVERY)
@pytest.mark.parametrize("first", range(2_000, 2_200, 50))
def test_among_shortest_runs_the_one_with_fewest_faults_is_shown(first: int, engine: ExplicitEngine) -> None:
    for seed in range(first, first + 50):
        system = seeded_system(seed, risky=False)
        asked = tuple(item for item in system.properties if item.kind in ("invariant", "reachable"))
        if not any(action.kind == "fault" for action in system.actions) or not asked:
            continue
        system = replace(system, properties=asked)
        fewest = fewest_faults(system)
        for shown in engine.check(system, (), Limits(states_max=STATES_MAX), lambda _: True).properties:
            if shown.run is not None and shown.name in fewest:
                faults = sum(system.actions[step.action].kind == "fault" for step in shown.run.steps)
                assert (len(shown.run.steps), faults) == fewest[shown.name]


def fewest_faults(system: System) -> dict[str, tuple[int, int]]:
    """For each property that a state decides: the steps to the nearest such state, and the fewest faults on the way."""
    interpreter = Interpreter(system)
    level = dict.fromkeys(interpreter.initial_states(), 0)
    known = set(level)
    result: dict[str, tuple[int, int]] = {}
    depth = 0
    while level and len(known) <= STATES_MAX:
        for asked in system.properties:
            wanted = asked.kind == "reachable"
            hits = [faults for state, faults in level.items() if interpreter.holds(asked, state) == wanted]
            if hits:
                result.setdefault(asked.name, (depth, min(hits)))
        following: dict[State, int] = {}
        for state, faults in level.items():
            for outcome in interpreter.outcomes(state):
                if isinstance(outcome, Taken) and outcome.step.state not in known:
                    more = faults + (system.actions[outcome.step.action].kind == "fault")
                    following[outcome.step.state] = min(more, following.get(outcome.step.state, more))
        known |= following.keys()
        level, depth = following, depth + 1
    return result
