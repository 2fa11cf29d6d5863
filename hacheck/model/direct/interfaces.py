"""What the direct interpreter hands out: states, steps and what else a step may come to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from msgspec import Struct

from hacheck.model.direct.values import Value

Key: TypeAlias = tuple[Any, ...]
"""The name of one thing that can be observed, see `DirectSystem.observe`."""


class State(Struct, frozen=True):
    """All that is so at one moment; equal states are the same state. `slots` is for `DirectSystem` to read."""

    slots: tuple[Value, ...]


class BoundReached(Struct, frozen=True):
    """The step is not taken, because it goes past a bound of the exploration: `S.term`, `capacity of message.m`."""

    bound: str


class SpecificationError(Struct, frozen=True):
    """The step does what no spec may: a value out of its range, `value(none)`."""

    text: str


class Step(Struct, frozen=True):
    """One step: what users call it, its arguments by name, and what it comes to.

    A step that may end in several ways (by `choose`, by a call that may fail) is several of these.
    """

    name: str
    arguments: Mapping[str, Value]
    outcome: State | BoundReached | SpecificationError
    fault: bool = False


class ForgottenRead(Exception):
    """A local was read whose value had been declared as forgotten."""

    def __init__(self, handler: str, local: str) -> None:
        super().__init__(f"`{handler}` reads its local `{local}`, which was forgotten")
        self.handler = handler
        self.local = local


class UnsupportedError(Exception):
    """The file says something that this interpreter does not know; it stops rather than guess."""


class SpecificationFailure(Exception):
    """The evaluation has no value; becomes a `SpecificationError` where it is part of a step."""


class BoundFailure(Exception):
    """The step goes past a bound; becomes `BoundReached`."""

    def __init__(self, bound: str) -> None:
        super().__init__(bound)
        self.bound = bound


class _Forgotten:
    """The value of a local that must not be read."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "FORGOTTEN"


FORGOTTEN: Final = _Forgotten()
