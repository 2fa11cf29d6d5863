"""A step while it is taken: what it has written so far, its locals, and the choices that it has made.

Nothing here knows what steps there are. A step that chooses is run again for each way to choose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from hacheck.model.direct.interfaces import (
    FORGOTTEN,
    BoundFailure,
    BoundReached,
    ForgottenRead,
    SpecificationError,
    SpecificationFailure,
    State,
)
from hacheck.model.direct.values import Node, Value

Closure: TypeAlias = "Callable[[Machine], Value]"
"""An expression whose names have been looked up."""
Effect: TypeAlias = "Callable[[Machine], None]"
"""A statement, likewise."""


class Blocked(Exception):
    """The step cannot be taken this way: a `require`, a choice of nothing, a callee that is busy."""


class Halted(Exception):
    """The node on which the step happens stopped in it."""


class Frame(Struct, frozen=True):
    """A handler under way: at which of its points, and the values of the locals that it has there."""

    handler: str
    point: str
    holding: bool
    values: tuple[Value, ...]


class Machine:
    """The state that a step writes.

    `node`: where it happens. `leaving`: the slot of the frame that goes on, which keeps nobody out. `reply`: in a
    service that is part of its caller's step, its answer so far; `outer`: what the locals of its callers hold.
    `drawn`: identities of the statement under way.
    """

    __slots__ = ("before", "drawn", "env", "handler", "leaving", "memory", "node", "outer", "path", "reply", "trail")

    def __init__(self, memory: Any, before: Any = None, path: Sequence[int] = ()) -> None:
        self.memory: list[Value] = memory
        self.before: Sequence[Value] | None = before
        self.env: dict[str, Value] = {}
        self.node: Node | None = None
        self.handler = ""
        self.leaving: int | None = None
        self.reply: list[Value] | None = None
        self.outer: tuple[Value, ...] = ()
        self.drawn: list[Value] = []
        self.path = path
        self.trail: list[tuple[int, int]] = []

    def local(self, key: str) -> Value:
        """The value of a local. Errors: `ForgottenRead`."""
        value = self.env[key]
        if value is FORGOTTEN:
            raise ForgottenRead(self.handler, key)
        return value

    def pick(self, options: Sequence[Value]) -> Value:
        """One of these; the step is run for each. Errors: `Blocked` if there is none."""
        if not options:
            raise Blocked
        depth = len(self.trail)
        index = self.path[depth] if depth < len(self.path) else 0
        self.trail.append((index, len(options)))
        return options[index]


Outcome: TypeAlias = State | BoundReached | SpecificationError


def outcomes(state: State, effect: Effect, env: Mapping[str, Value] | None = None) -> Iterator[Outcome]:
    """Everything that an effect can come to, once each."""
    seen: set[Outcome] = set()
    path: list[int] | None = []
    while path is not None:
        machine = Machine(list(state.slots), state.slots, path)
        machine.env.update(env or {})
        outcome = _run(machine, effect)
        if outcome is not None and outcome not in seen:
            seen.add(outcome)
            yield outcome
        path = _next(machine.trail)


def _run(machine: Machine, effect: Effect) -> Outcome | None:
    try:
        effect(machine)
    except Blocked:
        return None
    except BoundFailure as failure:
        return BoundReached(failure.bound)
    except SpecificationFailure as failure:
        return SpecificationError(str(failure))
    return State(tuple(machine.memory))


def _next(trail: list[tuple[int, int]]) -> list[int] | None:
    """The choices to make next time: the last one that is not the last of its options, one further."""
    while trail:
        index, many = trail.pop()
        if index + 1 < many:
            return [*(before for before, _ in trail), index + 1]
    return None
