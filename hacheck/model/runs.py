"""A run of a system, as data: what an engine hands out and the interpreter replays."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from hacheck.model.types import Value

State: TypeAlias = tuple[Value, ...]
"""One value for each of the system's variables, in their order."""


class Step(Struct, frozen=True):
    """One step: the action by its index in `System.actions`, the values of its parameters, the values its `Choose`
    statements took in the order they were executed, and the state it leads to."""

    action: int
    arguments: tuple[Value, ...]
    choices: tuple[Value, ...]
    state: State


class Run(Struct, frozen=True):
    """An initial state and the steps after it.

    `loop`: of a lasso, the number of steps before the part that repeats for ever; the last state then equals the
    state after `loop` steps (with `loop` 0 the initial one). `error`: the run ends in a step that is an error of the
    spec (a value outside its type); `steps` leads to the state in which that step was tried, and this says which.
    """

    initial: State
    steps: tuple[Step, ...]
    loop: int | None = None
    error: StepError | None = None

    @property
    def states(self) -> tuple[State, ...]:
        """All states of the run, the initial one first."""
        return (self.initial, *(step.state for step in self.steps))


class StepError(Struct, frozen=True):
    """A step that cannot be completed because the spec is wrong: which one, and what went wrong in it."""

    action: int
    arguments: tuple[Value, ...]
    choices: tuple[Value, ...]
    message: str
