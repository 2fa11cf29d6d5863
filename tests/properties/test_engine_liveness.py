"""Liveness under fairness, against a definition of fair runs that is tried out on every set of states.

The sets of states (and the steps among them) that a run can see again and again are the strongly connected ones. On
small graphs they can all be listed; whether one of them is fair is read off the definition.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import pytest
from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.engine import Limits
from hacheck.model.interpreter import EvaluationError, Interpreter, StoppedAtBound, Taken, replay
from hacheck.model.ir import Action, Fairness, Property, System
from hacheck.model.runs import Run, State
from tests.models.engines import EVERY, ExplicitEngine
from tests.models.exploration import explore
from tests.properties.scale import seeds
from tests.strategies import seeded_system

STATES_MAX = 9

Constraint = tuple[str, object, tuple[tuple[str, object], ...]]
"""A handler on an actor with arguments."""


class Graph(Struct, frozen=True):
    """Each state's steps, as the constraint taken and the next state, the constraints enabled there, and the states in
    which a bound forbids a step."""

    initial: tuple[State, ...]
    steps: dict[State, list[tuple[Constraint, State]]]
    enabled: dict[State, set[Constraint]]
    cut: frozenset[State]


def graph_of(system: System) -> Graph:
    """All of it, by the interpreter."""
    interpreter = Interpreter(system)
    steps: dict[State, list[tuple[Constraint, State]]] = {}
    enabled: dict[State, set[Constraint]] = {}
    cut: set[State] = set()
    for state in explore(system, STATES_MAX + 1).reached:
        steps[state], enabled[state] = [], set()
        for outcome in interpreter.outcomes(state):
            found = outcome.step if isinstance(outcome, Taken) else outcome
            found = found if isinstance(outcome, Taken | StoppedAtBound) else outcome.error  # type: ignore[union-attr]
            action = system.actions[found.action]  # type: ignore[union-attr]
            constraint = constraint_of(action, found.arguments)  # type: ignore[union-attr]
            enabled[state].add(constraint)
            if isinstance(outcome, Taken):
                steps[state].append((constraint, outcome.step.state))
            else:
                cut.add(state)
    return Graph(interpreter.initial_states(), steps, enabled, frozenset(cut))


def is_fair(graph: Graph, seen: set[State], fairness: tuple[Fairness, ...]) -> bool:
    """Whether a run that sees exactly these states again and again, with all steps among them, can be fair."""
    taken = {constraint for state in seen for constraint, after in graph.steps[state] if after in seen}
    return not any(is_starved(item, taken, [graph.enabled[state] for state in seen]) for item in fairness)


def constraint_of(action: Action, arguments: tuple[object, ...]) -> Constraint:
    """A handler on an actor, with all arguments by name."""
    given = tuple(zip((name for name, _ in action.parameters), arguments, strict=True))
    return action.handler, dict(given).get(action.actor or ""), given


def is_starved(item: Fairness, taken: set[Constraint], enabled: Sequence[set[Constraint]]) -> bool:
    """Whether steps that see these states, and are these, put off what has to be fair."""

    def distinguished(one: Constraint) -> tuple[object, ...]:
        return (one[1], *(dict(one[2]).get(name) for name in item.arguments))

    def of(found: Iterable[Constraint]) -> set[tuple[object, ...]]:
        return {distinguished(one) for one in found if one[0] == item.handler}

    able = [of(state) for state in enabled]
    owed = set().union(*able) - of(taken)
    return any(item.strong or all(one in state for state in able) for one in owed)


def reach(graph: Graph, starts: set[State], within: set[State]) -> set[State]:
    """The states that can be reached inside a set."""
    found = starts & within
    while True:
        more = {after for state in found for _, after in graph.steps[state]} & within
        if more <= found:
            return found
        found = found | more


def recurrent_sets(graph: Graph, within: set[State]) -> Iterator[set[State]]:
    """Every strongly connected set; a single state always is one, because a run may stay there."""
    for size in range(1, len(within) + 1):
        for chosen in itertools.combinations(within, size):
            seen = set(chosen)
            if all(reach(graph, {state}, seen) == seen for state in seen):
                yield seen


def unmet(system: System, graph: Graph, asked: Property) -> set[State]:
    """The states that a run can see while the property waits for its goal."""
    interpreter = Interpreter(system)
    bad = {state for state in graph.steps if not interpreter.value(asked.goal, state)}
    if asked.kind == "eventually":
        starts = bad & set(graph.initial)
    else:
        starts = {state for state in bad if interpreter.premise_holds(asked, state)}
    return reach(graph, starts, bad)


def verdict_of(system: System, graph: Graph, asked: Property) -> str:
    """Violated by some fair run; or not to be known, because a run may pass a bound before its goal; or true."""
    region = unmet(system, graph, asked)
    if any(is_fair(graph, seen, asked.fairness) for seen in recurrent_sets(graph, region)):
        return "violated"
    return "unknown" if region & graph.cut else "holds"


def assert_shows_it(system: System, graph: Graph, asked: Property, run: Run) -> None:
    """The lasso is a fair run that violates the property."""
    interpreter = Interpreter(system)
    assert replay(system, run) is None
    assert run.loop is not None
    loop = set(run.states[run.loop :])
    bad_from = 0
    if asked.kind == "leads_to":
        wanted = [interpreter.premise_holds(asked, state) for state in run.states[: run.loop + 1]]
        assert any(wanted)
        bad_from = len(wanted) - 1 - wanted[::-1].index(True)
    assert not any(interpreter.value(asked.goal, state) for state in run.states[bad_from:])
    taken = set()
    for step in run.steps[run.loop :]:
        action = system.actions[step.action]
        taken.add(constraint_of(action, step.arguments))
    for item in asked.fairness:
        assert not is_starved(item, taken, [graph.enabled[state] for state in loop])


def small_systems(seeds: range) -> Iterator[System]:
    """Random systems of few states, asked about every kind of fairness."""
    for seed in seeds:
        system = seeded_system(seed, risky=False)
        live = [asked for asked in system.properties if asked.kind in ("eventually", "leads_to")]
        try:
            small = bool(live) and explore(system, STATES_MAX + 1).states <= STATES_MAX
        except EvaluationError:
            continue
        if small:
            handlers = sorted({action.handler for action in system.actions})
            arguments = {
                handler: tuple(
                    dict.fromkeys(
                        name for one in system.actions if one.handler == handler for name, _ in one.parameters
                    )
                )
                for handler in handlers
            }
            asked = [replace(live[0], name="unfair", fairness=())]
            for strong in (False, True):
                every = tuple(Fairness(handler, strong) for handler in handlers)
                asked.append(replace(live[0], name=f"every {strong}", fairness=every))
                each = tuple(Fairness(handler, strong, arguments[handler]) for handler in handlers)
                asked.append(replace(live[0], name=f"each {strong}", fairness=each))
                asked += [replace(live[0], name=f"{one.handler} each {strong}", fairness=(one,)) for one in each]
                asked += [
                    replace(live[0], name=f"{handler} {strong}", fairness=(Fairness(handler, strong),))
                    for handler in handlers
                ]
            yield replace(system, properties=tuple(asked))


@pytest.mark.parametrize("engine", EVERY)
@seeds(0, 900, together=150)
def test_liveness_is_decided_as_defined(seeds: range, engine: ExplicitEngine) -> None:
    for system in small_systems(seeds):
        graph = graph_of(system)
        answer = engine.check(system, (), Limits(), lambda _: True)
        for asked, given in zip(system.properties, answer.properties, strict=True):
            if answer.error is not None and given.verdict == "unknown":
                continue
            expected = verdict_of(system, graph, asked) if graph.initial else "unknown"
            assert given.verdict == expected, (system, asked)
            if given.run is not None:
                assert_shows_it(system, graph, asked, given.run)
