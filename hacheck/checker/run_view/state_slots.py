"""A state as a row of values in words: one slot for each field of each node, and for what no node owns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct

from hacheck.checker.step_effects import CUT
from hacheck.model.ir import StateVariable, System
from hacheck.model.render import show, spoken
from hacheck.model.runs import State
from hacheck.model.types import Map, Type, Value, values

OPENED_MAX = 64
"""Up to so many values of a map have slots of their own; a larger one is shown whole."""


class Slot(Struct, frozen=True):
    """A place of the state. `owner`: the node whose field it is, or nothing; `variable`: the model's name of it."""

    owner: str
    name: str
    variable: str
    role: str
    mode: bool
    durable: bool
    ghost: bool


class StateSlots:
    """The slots of a system. What a value of a variable reads like is kept: most of a state is as it was before."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.slots = tuple(slot for variable in system.variables for slot in _slots(variable))
        self._known: dict[tuple[int, Value], tuple[str, ...]] = {}

    def words(self, state: State) -> tuple[str, ...]:
        """The values of a state, one for each slot."""
        found: list[str] = []
        for place, (variable, value) in enumerate(zip(self.system.variables, state, strict=True)):
            key = (place, value)
            known = self._known.get(key)
            if known is None:
                known = tuple(show(kind, part) for _, kind, part in _leaves(variable, value))
                self._known[key] = known
            found.extend(known)
        return tuple(found)


Leaf: TypeAlias = tuple[tuple[str, ...], Type, Value]
"""A part of a variable: the keys that lead to it, its type, its value."""


def _leaves(variable: StateVariable, value: Value) -> Iterator[Leaf]:
    return _opened(variable.type, value, (), 2 if _size(variable.type) <= OPENED_MAX else 1)


def _opened(kind: Type, value: Value, path: tuple[str, ...], depth: int) -> Iterator[Leaf]:
    if not isinstance(kind, Map) or depth == 0:
        yield path, kind, value
        return
    for key, part in zip(values(kind.key), value, strict=True):
        yield from _opened(kind.value, part, (*path, show(kind.key, key)), depth - 1)


def _size(kind: Type) -> int:
    return len(tuple(values(kind.key))) * _size(kind.value) if isinstance(kind, Map) else 1


def _slots(variable: StateVariable) -> Iterator[Slot]:
    for path, _, _ in _leaves(variable, variable.initial):
        owner, name, rest = "", spoken(variable.name), path
        if variable.owner is not None and path:
            owner, name, rest = path[0], spoken(variable.name).removeprefix(f"{variable.owner}."), path[1:]
        if variable.name.startswith(CUT) and len(rest) == 2:
            name, rest = f"cut {rest[0]} -> {rest[1]}", ()
        name += "".join(f"[{key}]" for key in rest)
        yield Slot(owner, name, variable.name, variable.role, variable.mode, variable.durable, variable.ghost)
