"""Actions that no step can be, as the text of a system and its initial states show: nobody need lower or hear of them.

A system has steps that only some settings let happen. Where settings rule out what leads to them, they still stand in
the text; to lower them costs as much as to lower the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from hacheck.model.ir import (
    Action,
    Assign,
    Binary,
    Constant,
    Domain,
    Expression,
    Index,
    MapOf,
    Statement,
    System,
    Variable,
)
from hacheck.model.rewrite import conjuncts, statements, walk
from hacheck.model.runs import State
from hacheck.model.types import Bag, Bool, Enum, Identity, Map, Node, Option, Range, Record, Set, Type, Value, default
from hacheck.model.types import Sequence as SequenceType


def impossible(system: System, initial: Sequence[State]) -> frozenset[int]:
    """The actions, by number, that wait at a point of a handler to which nothing leads from these initial states, or
    for a message that nothing sends. Others may be impossible, too. Cost: some passes over the text."""
    waiting = {variable.name for variable in system.variables if variable.role == "frame"}
    channels = {variable.name for variable in system.variables if variable.role == "channel"}
    points: set[str] = set()
    filled: set[str] = set()
    for index, variable in enumerate(system.variables):
        at_first = {state[index] for state in initial}
        if variable.name in waiting:
            points.update(word for value in at_first for word in _words(value))
        elif variable.name in channels and at_first != {default(variable.type)}:
            filled.add(variable.name)
    left = dict(enumerate(system.actions))
    while True:
        taken = [
            number
            for number, action in left.items()
            if _points(action, waiting) <= points and _channels(action, channels) <= filled
        ]
        if not taken:
            return frozenset(left)
        for number in taken:
            action = left.pop(number)
            points.update(_led_to(action, waiting))
            filled |= _filled(action.body, channels)


def _words(value: Value) -> Iterator[str]:
    """The words in a value, which points are among."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | frozenset):
        for part in value:
            yield from _words(part)


def _led_to(action: Action, waiting: set[str]) -> Iterator[str]:
    """The points at which handlers may wait after a step: those it names, and all where it may take any."""
    for statement in action.body:
        for part in walk(statement):
            match part:
                case Constant(value, kind) if any(one.name in waiting for one in _enums(kind)):
                    yield from _words(value)
                case Domain(kind) | MapOf(_, kind):
                    yield from _all_points(kind, waiting)
                case _:
                    continue
    for _, kind in action.parameters:
        yield from _all_points(kind, waiting)


def _all_points(kind: Type, waiting: set[str]) -> Iterator[str]:
    for one in _enums(kind):
        if one.name in waiting:
            yield from one.members


def _enums(kind: Type) -> Iterator[Enum]:
    """The enums that a type is made of."""
    match kind:
        case Enum():
            yield kind
        case Record(_, fields):
            for _, part in fields:
                yield from _enums(part)
        case Map(key, value):
            yield from _enums(key)
            yield from _enums(value)
        case Option(element) | Set(element) | SequenceType(element) | Bag(element):
            yield from _enums(element)
        case Bool() | Range() | Node() | Identity():
            return
        case _:
            assert_never(kind)


def _points(action: Action, waiting: set[str]) -> set[str]:
    """The points at which its handler must wait."""
    return {
        str(part.right.value)
        for part in conjuncts(action.guard)
        if isinstance(part, Binary)
        and part.operator == "=="
        and isinstance(part.right, Constant)
        and isinstance(part.right.type, Enum)
        and part.right.type.name in waiting
    }


def _filled(body: tuple[Statement, ...], channels: set[str]) -> set[str]:
    """The channels into which something may be put: what is taken out leaves nothing, or less than there was."""
    return {
        statement.target.root.name
        for statement in statements(body)
        if isinstance(statement, Assign) and statement.target.root.name in channels and not _is_nothing(statement.value)
    }


def _channels(action: Action, channels: set[str]) -> set[str]:
    """The channels that must hold something."""
    return {
        root
        for part in conjuncts(action.guard)
        if isinstance(part, Binary)
        and part.operator == "!="
        and _is_nothing(part.right)
        and (root := _root(part.left)) in channels
    }


def _is_nothing(expression: Expression) -> bool:
    """Is it what a channel holds where nothing is under way? A message without content is something, as its type
    shows."""
    return (
        isinstance(expression, Constant)
        and isinstance(expression.type, Option | Set | SequenceType | Bag)
        and expression.value == default(expression.type)
    )


def _root(expression: Expression) -> str:
    """The variable that an expression looks into, if it does nothing else."""
    while isinstance(expression, Index):
        expression = expression.base
    return expression.name if isinstance(expression, Variable) else ""
