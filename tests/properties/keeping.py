"""Observable behaviour with the locals that are needed kept, and with all of them kept for ever."""

from __future__ import annotations

from unittest.mock import patch

from hacheck.model.interpreter import Interpreter, Taken
from hacheck.model.ir import System
from hacheck.model.language import load, local_liveness
from hacheck.model.language.handlers import Handler
from hacheck.model.runs import State

STATES_MAX = 700


def system_of(text: str, keep_all: bool) -> System:
    """The spec's system; with `keep_all`, each local is kept from its declaration on, for ever."""

    def everything(handler: Handler) -> dict[str, frozenset[str]]:
        return dict.fromkeys(handler.segments, frozenset(handler.frames))

    read = load(text, "example.ha").specification
    assert read is not None, load(text, "example.ha").diagnostics
    if keep_all:
        with patch.object(local_liveness, "live", everything):
            made = read.instantiate()
    else:
        made = read.instantiate()
    assert made.system is not None
    return made.system


Observed = tuple[object, ...]


def observed(system: System, state: State) -> Observed:
    """A state without the locals that are kept in it, but with the place of each handler."""
    return tuple(
        value
        for variable, value in zip(system.variables, state, strict=True)
        if variable.role != "frame" or variable.name.count(".") == 1
    )


def behaviour(system: System) -> tuple[set[tuple[Observed, str, Observed]], set[Observed], int] | None:
    """All observable steps, and how many states tell them; `None` for a system that is too large."""
    interpreter = Interpreter(system)
    reached = set(interpreter.initial_states())
    level, steps = list(reached), set()
    while level:
        state = level.pop()
        for outcome in interpreter.outcomes(state):
            if not isinstance(outcome, Taken):
                continue
            after = outcome.step.state
            name = system.actions[outcome.step.action].name
            steps.add((observed(system, state), name, observed(system, after)))
            if after not in reached:
                reached.add(after)
                level.append(after)
        if len(reached) > STATES_MAX:
            return None
    return steps, {observed(system, state) for state in reached}, len(reached)


def assert_same(text: str) -> None:
    kept, lean = behaviour(system_of(text, True)), behaviour(system_of(text, False))
    if kept is None or lean is None:
        return
    assert lean[:2] == kept[:2], text
    assert lean[2] <= kept[2]
