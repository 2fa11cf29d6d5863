"""What is followed of counters without an end, written to be obviously right: the representative of what a step of the
followed system leads to, and whether the steps of the real system are all among those of the followed one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hacheck.model.counters.counter_ranges import held, renumbered
from hacheck.model.counters.value_distances import FULL, HIGH, Distances, Followed, followed, representatives, unbounded
from hacheck.model.evaluation import EvaluationError
from hacheck.model.interpreter import Failed, Interpreter, Outcome, StoppedAtBound, Taken
from hacheck.model.ir import Property, System
from hacheck.model.language import load
from hacheck.model.runs import State


def system_of(text: str) -> System:
    """The system that a spec means at its defaults."""
    loaded = load(text, "test.ha")
    assert loaded.specification is not None, (text, loaded.diagnostics)
    system = loaded.specification.instantiate().system
    assert system is not None
    return system


def closed(system: System, distances: tuple[Distances, ...], raw: State) -> State:
    """What stands for a state that a step of the followed system leads to."""
    names, kinds = [one.name for one in system.variables], [one.type for one in system.variables]
    found = list(raw)
    for one in distances:
        place = names.index(one.variable)
        near = found[place] if found[place] != FULL else 0
        found[place] = 0
        literals = range(one.literal + 1)
        values = {value for kind, item in zip(kinds, found, strict=True) for value in held(kind, item, one.counter)}
        new = {value: value for value in literals}
        at = last = one.literal
        for value in sorted(values - set(literals)):
            distance = value - last
            if near and last == near and distance == one.exact:
                distance = one.exact - 1
            elif distance >= one.exact:
                distance = one.exact + 1
            at, last = at + distance, value
            new[value] = at
        assert at <= HIGH, "small systems hold few values"
        found = [renumbered(kind, item, one.counter, new) for kind, item in zip(kinds, found, strict=True)]
    return tuple(found)


@dataclass(frozen=True)
class Both:
    """A system with counters without an end, and what is followed of it."""

    given: System
    made: Followed
    real: Interpreter
    followed: Interpreter

    def stands_for(self, state: State) -> State:
        """The followed state that stands for a real one."""
        found = representatives(self.made.system, self.made.distances).of(state)
        assert found is not None, "small systems hold few values"
        return found

    def closed(self, raw: State) -> State:
        return closed(self.made.system, self.made.distances, raw)

    def pairs(self, kind: str) -> Iterator[tuple[Property, Property]]:
        """The properties of a kind, as the real system and as the followed one has them."""
        for one, other in zip(self.real.system.properties, self.made.system.properties, strict=True):
            if one.kind == kind:
                yield one, other


def both(given: System) -> Both | None:
    """`None` where the counters are not followed without an end."""
    made = followed(given)
    if made.bounded or not made.distances:
        return None
    return Both(given, made, Interpreter(unbounded(given)), Interpreter(made.system))


def _value(interpreter: Interpreter, asked: Property, *states: State) -> object:
    try:
        if asked.kind == "step":
            return interpreter.holds_step(asked, *states)
        return interpreter.value(asked.goal, *states)
    except EvaluationError:
        return "no value"


def _by_instance(interpreter: Interpreter, state: State) -> dict[Any, list[Outcome]]:
    found: dict[Any, list[Outcome]] = {}
    for outcome in interpreter.outcomes(state):
        match outcome:
            case Taken(step):
                key = step.action, step.arguments
            case StoppedAtBound(action, arguments):
                key = action, arguments
            case Failed(fault):
                key = fault.action, fault.arguments
        found.setdefault(key, []).append(outcome)
    return found


def check_steps(pair: Both, states_max: int) -> int:
    """Compares every step from the first states of the real system, and the values of all properties. How many steps
    the followed system has besides, as it does not know better."""
    order = list(pair.real.initial_states())
    known, besides = set(order), 0
    assert {pair.stands_for(state) for state in order} == {pair.closed(one) for one in pair.followed.initial_states()}
    for place in range(states_max):
        if place == len(order):
            break
        state = order[place]
        standing = pair.stands_for(state)
        for asked, other in pair.pairs("invariant"):
            assert _value(pair.real, asked, state) == _value(pair.followed, other, standing), (state, standing)
        real, made = _by_instance(pair.real, state), _by_instance(pair.followed, standing)
        assert real.keys() == made.keys(), (state, standing)
        for key, outcomes in real.items():
            besides += _compare(pair, state, standing, outcomes, made[key])
            for outcome in outcomes:
                if isinstance(outcome, Taken) and outcome.step.state not in known:
                    known.add(outcome.step.state)
                    order.append(outcome.step.state)
    return besides


def _compare(pair: Both, state: State, standing: State, real: list[Outcome], made: list[Outcome]) -> int:
    """Compares the outcomes of one instance."""
    hidden = len(pair.made.distances)
    assert {type(one) for one in real} == {type(one) for one in made}, (state, standing)
    after = [one.step.state for one in made if isinstance(one, Taken)]
    steps = [one.step.state for one in real if isinstance(one, Taken)]
    changes = any(one[:-hidden] != standing[:-hidden] for one in after)
    assert any(one != state for one in steps) == changes, (state, standing)
    reached: dict[State, list[State]] = {}
    for one in after:
        reached.setdefault(pair.closed(one), []).append(one)
    for target in steps:
        found = reached.get(pair.stands_for(target))
        assert found is not None, (state, standing, target)
        for asked, other in pair.pairs("step"):
            value = _value(pair.real, asked, state, target)
            assert value in [_value(pair.followed, other, standing, one) for one in found], (state, standing, target)
    return len(reached.keys() - {pair.stands_for(target) for target in steps})
