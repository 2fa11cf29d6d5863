"""The explicit engines agree with plain search by the reference interpreter on random models."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from msgspec.structs import replace

from hacheck.checker.engine import Limits
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.checker.explicit.portable.portable_engine import PortableEngine
from hacheck.model.interpreter import Interpreter, Taken
from hacheck.model.ir import System
from hacheck.model.runs import State
from tests.models.engines import EVERY, ExplicitEngine
from tests.models.exploration import explore
from tests.properties.agreement import assert_agrees
from tests.properties.scale import examples, seeds
from tests.strategies import seeded_system, systems

STATES_MAX = 1_000


@given(systems())
@examples(60)
def test_engines_agree_with_the_interpreter(system: System) -> None:
    expected = explore(system, STATES_MAX)
    assume(expected.complete)
    assert_agrees(PortableEngine(), system, expected)
    assert_agrees(NativeEngine(reductions=False), system, expected)


@pytest.mark.parametrize("engine", EVERY)
@seeds(1_000, 100, together=15)
def test_engines_agree_with_the_interpreter_on_seeded_systems(seeds: range, engine: ExplicitEngine) -> None:
    for seed in seeds:
        system = seeded_system(seed)
        assert_agrees(engine, system, explore(system, STATES_MAX))


@pytest.mark.parametrize("engine", EVERY)
@seeds(10_000, 200, together=25)
def test_among_shortest_runs_the_one_with_fewest_faults_is_shown(seeds: range, engine: ExplicitEngine) -> None:
    for seed in seeds:
        system = seeded_system(seed, risky=False)
        asked = tuple(item for item in system.properties if item.kind in ("invariant", "lemma", "reachable"))
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
