"""The system whose driven actions write a line: what a test does to its system under test is part of the trace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from keyword import iskeyword
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.render import show
from hacheck.model.render_expression import show_type
from hacheck.model.types import Bool, Enum, Node, Option, Range, Type, Value, cardinality, values
from hacheck.testing.adapter import OWN
from hacheck.testing.stimuli import Step

DONE = "do "
"""What the names of these events begin with."""

ARGUMENTS_MAX = 1_000
"""An action that can be done in more ways is not driven: each is tried by itself."""

_NO_WORD = re.compile(r"\W+")


class NotDriven(Exception):
    """An action cannot be driven by a test; says which, why, and what to do."""


class Move(Struct, frozen=True):
    """A way to do an action. `index`: of the action in the system; `method`: what an adapter calls it; `arguments`: as
    an adapter gets them, nodes by their names."""

    index: int
    action: str
    method: str
    kind: ir.ActionKind
    values: tuple[Value, ...]
    arguments: Mapping[str, Any]

    @property
    def event(self) -> str:
        """The event of the line that says it was done."""
        return DONE + self.action

    @property
    def step(self) -> Step:
        """It as a step of a test."""
        return Step(self.method, tuple(self.arguments.items()))


def method_names(system: ir.System) -> Mapping[str, tuple[int, ...]]:
    """The names of methods by which an adapter may drive actions, each with the actions that it drives: the name of the
    action as a word, `crash_Server`, and that of its declaration, `crash`, which may stand for several. What a handler
    does after its first step it does by itself: those steps go by their own names alone, `add_store`."""
    found: dict[str, list[int]] = {}
    for index, action in enumerate(system.actions):
        own = action.name if action.name.startswith(f"{action.handler}.") else action.handler
        for name in dict.fromkeys((as_method(action.name), as_method(own))):
            found.setdefault(name, []).append(index)
    return {name: tuple(indices) for name, indices in found.items()}


def as_method(name: str) -> str:
    """A name as one that a Python method may have, unlike those that every adapter has."""
    word = _NO_WORD.sub("_", name).strip("_")
    return f"{word}_" if word in OWN or iskeyword(word) else word


def methods_of(system: ir.System, offered: Iterable[str]) -> Mapping[int, str]:
    """By action, the method that drives it: the one with the longer name where there are two. `offered`: the methods
    that an adapter has."""
    chosen: dict[int, str] = {}
    names = method_names(system)
    for name in sorted((one for one in offered if one in names), key=len):
        for index in names[name]:
            chosen[index] = name
    return dict(sorted(chosen.items()))


def driven(system: ir.System, indices: Iterable[int]) -> ir.System:
    """The system in which these actions write a line, before any other of theirs, that nobody has written. Errors:
    `NotDriven`."""
    actions = list(system.actions)
    for index in indices:
        action = actions[index]
        for name, kind in action.parameters:
            _driveable(action, name, kind)
        shown = tuple(ir.Shown(name, ir.Local(name, kind)) for name, kind in action.parameters)
        line = ir.Log(DONE + action.name, None, shown, action.line)
        actions[index] = replace(action, body=(line, *action.body))
    return replace(system, actions=tuple(actions))


def _driveable(action: ir.Action, name: str, kind: Type) -> None:
    inner = kind.element if isinstance(kind, Option) else kind
    if not isinstance(inner, (Bool, Enum, Node, Range)):
        remedy = "leave its method out of the adapter: the model may then take it by itself"
        if action.kind == "fault":
            remedy = "declare `cut KIND - KIND` or `isolate KIND` in `faults`, and write methods for that; or " + remedy
        raise NotDriven(
            f"`{action.name}` cannot be driven: `{name}` is {show_type(inner)}, which a test cannot name; {remedy}"
        )
    cases = 1
    for _, one in action.parameters:
        cases *= cardinality(one)
    if cases > ARGUMENTS_MAX:
        raise NotDriven(
            f"`{action.name}` cannot be driven: it can be done in {cases:,} ways, more than {ARGUMENTS_MAX:,}"
        )


def move(system: ir.System, index: int, method: str, values: Sequence[Value]) -> Move:
    """A way to do an action."""
    action = system.actions[index]
    pairs = zip(action.parameters, values, strict=True)
    arguments = {name: argument(kind, value) for (name, kind), value in pairs}
    return Move(index, action.name, method, action.kind, tuple(values), arguments)


def argument(kind: Type, value: Value) -> Any:
    """A value as an adapter gets it, and as a line shows it: a node by its name, `Server-1`; nothing as `None`."""
    if isinstance(kind, Option):
        return None if value is None else argument(kind.element, value)
    if isinstance(kind, (Bool, Range)):
        return value
    return show(kind, value).replace(" ", "-")


def words(kind: Type) -> frozenset[str]:
    """The values of a type that an adapter gets as words: nodes and enumerated values by their names."""
    inner = kind.element if isinstance(kind, Option) else kind
    named = isinstance(inner, (Enum, Node))
    return frozenset(argument(inner, value) for value in values(inner)) if named else frozenset()
