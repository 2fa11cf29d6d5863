"""All initial states, quickly: those of the reference interpreter, in its order.

`initially do for n: Node do { choose … }` has as many states as there are ways to choose in all turns. Where no turn
sees what another one writes, each turn is executed once, and what turns leave is put together; all else is executed by
the interpreter's own rules. Cost: of loops whose turns are apart, some microseconds a state.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from hacheck.model.evaluation import BoundReached, EvaluationError, Scope, domain_values
from hacheck.model.execution import Continuation, Going, execute, turn
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import ForEach, Statement, System
from hacheck.model.runs import State
from hacheck.model.symmetry_loops import turns_apart
from hacheck.model.types import Map, Value, ordinal
from hacheck.model.value_storage import type_violation


class _Error(Exception):
    """A way through the start that is an error of the spec."""


def initial_states(system: System) -> tuple[State, ...]:
    """The distinct initial states, in the order of the choices that lead to them. Errors: `StartError`."""
    interpreter = Interpreter(system)
    loops = {place for place, one in enumerate(system.initial) if _is_apart(one)}
    if not loops or any(type_violation(one.type, one.initial) is not None for one in system.variables):
        return interpreter.initial_states()
    start = tuple(variable.initial for variable in system.variables)
    ends = [Going(Scope(interpreter.variables, start, start), ())]
    try:
        for place, statement in enumerate(system.initial):
            step = _after_loop if place in loops else _after
            ends = [after for end in ends for after in step(statement, end)]
    except _Error:
        return interpreter.initial_states()  # which says what is wrong
    return tuple(dict.fromkeys(end.scope.state for end in ends))


def _is_apart(statement: Statement) -> bool:
    return isinstance(statement, ForEach) and turns_apart(statement.variable, statement.body)


def _after(statement: Statement, end: Going) -> Iterator[Going]:
    return _going(execute((statement,), end))


def _going(ends: Sequence[Continuation]) -> Iterator[Going]:
    for end in ends:
        if isinstance(end, Going):
            yield end
        elif end.bound is None:
            raise _Error


def _after_loop(statement: Statement, end: Going) -> Iterator[Going]:
    assert isinstance(statement, ForEach), f"{statement} is no loop"
    domain, scope = statement.domain, end.scope
    try:
        turns = list(domain_values(statement.variable, domain, scope))
    except (EvaluationError, BoundReached):
        raise _Error from None
    if len(set(turns)) < len(turns):  # a value has a second turn, which sees what the first one wrote
        yield from _after(statement, end)
        return
    outcomes = [
        [one.scope.state for one in _going(turn(statement.variable, domain.type, value, statement.body, end))]
        for value in turns
    ]
    changed = [
        place
        for place, before in enumerate(scope.state)
        if any(state[place] != before for states in outcomes for state in states)
    ]
    kinds = list(scope.variables.values())
    parts = [
        [tuple(_part(kinds[place][1], state[place], value) for place in changed) for state in states]
        for value, states in zip(turns, outcomes, strict=True)
    ]
    keys = [[_position(kinds[place][1], value) for value in turns] for place in changed]
    for chosen in itertools.product(*parts):
        state = list(scope.state)
        for number, place in enumerate(changed):
            whole = list(state[place])
            for key, part in zip(keys[number], chosen, strict=True):
                whole[key] = part[number]
            state[place] = tuple(whole)
        yield Going(Scope(scope.variables, tuple(state), scope.before, scope.locals, scope.types, scope.drawn), ())


def _position(kind: object, key: Value) -> int:
    assert isinstance(kind, Map), f"a turn writes a part of its own of {kind}"
    return ordinal(kind.key, key)


def _part(kind: object, whole: Value, key: Value) -> Value:
    return whole[_position(kind, key)]
