"""Actions that no step can be under the settings at hand, as the text of a system shows: nobody need hear of them."""

from __future__ import annotations

from collections.abc import Iterator

from hacheck.model.ir import Action, Assign, Binary, Constant, Expression, Index, Statement, System, Variable
from hacheck.model.rewrite import statements, walk
from hacheck.model.types import Enum, Value, default

EMPTY: tuple[Value, ...] = (None, (), frozenset())
"""What a channel holds where nothing is under way."""


def impossible(system: System) -> frozenset[int]:
    """The actions, by number, that wait at a point of a handler to which nothing leads, or for a message that nothing
    sends. Others may be impossible, too. Cost: some passes over the text."""
    waiting = {variable.name for variable in system.variables if variable.role == "frame"}
    channels = {variable.name for variable in system.variables if variable.role == "channel"}
    initial = {str(part) for variable in system.variables if variable.name in waiting for part in variable.initial}
    points = initial | _led_to(system.initial, waiting)
    filled = _filled(system.initial, channels)
    filled |= {one.name for one in system.variables if one.name in channels and one.initial != default(one.type)}
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
            points |= _led_to(action.body, waiting)
            filled |= _filled(action.body, channels)


def _led_to(body: tuple[Statement, ...], waiting: set[str]) -> set[str]:
    """The points at which handlers may wait after a step."""
    return {
        str(part.value)
        for statement in body
        for part in walk(statement)
        if isinstance(part, Constant) and isinstance(part.type, Enum) and part.type.name in waiting
    }


def _needed(guard: Expression) -> Iterator[Expression]:
    """Conditions without which the guard does not hold."""
    if isinstance(guard, Binary) and guard.operator == "and":
        yield from _needed(guard.left)
        yield from _needed(guard.right)
    else:
        yield guard


def _points(action: Action, waiting: set[str]) -> set[str]:
    """The points at which its handler must wait."""
    return {
        str(part.right.value)
        for part in _needed(action.guard)
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
        if isinstance(statement, Assign)
        and statement.target.root.name in channels
        and not (isinstance(statement.value, Constant) and statement.value.value in EMPTY)
    }


def _channels(action: Action, channels: set[str]) -> set[str]:
    """The channels that must hold something."""
    return {
        root
        for part in _needed(action.guard)
        if isinstance(part, Binary)
        and part.operator == "!="
        and isinstance(part.right, Constant)
        and part.right.value in EMPTY
        and (root := _root(part.left)) in channels
    }


def _root(expression: Expression) -> str:
    """The variable that an expression looks into, if it does nothing else."""
    while isinstance(expression, Index):
        expression = expression.base
    return expression.name if isinstance(expression, Variable) else ""
