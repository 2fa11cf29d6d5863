"""One system for several that differ in a setting: a constant of the state says which of them it is.

So they are lowered and compiled once. Only systems with the same variables and the same property are joined; an action
has the guard and the body that it has in the system that the constant says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.blame.trial_system import TRIAL, TrialSystem, among_trials
from hacheck.model.counters.counter_discipline import uses_of
from hacheck.model.ir import (
    FALSE,
    Action,
    Assign,
    Binary,
    Choose,
    Conditional,
    Constant,
    Expression,
    ForEach,
    If,
    Let,
    Property,
    Statement,
    StateVariable,
    System,
    Variable,
)
from hacheck.model.rewrite import disjunction
from hacheck.model.types import Range
from hacheck.model.typing import type_of

Body: TypeAlias = tuple[Statement, ...]

Join: TypeAlias = Callable[[Expression, Body, Body], Body]
"""Makes a body that is the first where a constant condition holds and else the second."""


class _Part(Struct, frozen=True):
    """What an action is in some of the systems, by their places."""

    places: tuple[int, ...]
    guard: Expression
    body: tuple[Statement, ...]


def can_join(first: System, second: System, prop: str) -> bool:
    """Whether two systems differ in nothing but what their steps do, as far as a property goes."""
    variables = [_bare(one) for one in first.variables] == [_bare(one) for one in second.variables]
    if not variables or (first.nodes, first.endless) != (second.nodes, second.endless):
        return False
    if first.initial != second.initial or _property(first, prop) != _property(second, prop):
        return False
    known = {one.name: _head(one) for one in first.actions}
    if len(known) < len(first.actions) or len({one.name for one in second.actions}) < len(second.actions):
        return False
    return all(known.get(one.name, _head(one)) == _head(one) for one in second.actions)


def variant_system(systems: Sequence[System], prop: str) -> TrialSystem | None:
    """The system of all these, of which each pair can be joined; `None` where it could not be explored as far as each
    of them. Errors: `StartError` where it cannot begin.

    What is joined statement by statement has ways through it that no system has. Where a counter without an end cannot
    be followed because of these, only whole bodies are joined, and nothing at all where that does not help.
    """
    for join in (joined_bodies, whole_bodies):
        made = joined_system(systems, prop, join)
        bounded = bounded_counters(made.system)
        if not bounded or all(bounded <= bounded_counters(one) for one in systems):
            return made
    return None


def bounded_counters(system: System) -> frozenset[str]:
    """The counters without an end that can be explored up to a bound only. Cost: a pass over the text."""
    return frozenset(counter for counter in system.endless if uses_of(system, counter).obstacles)


def joined_system(systems: Sequence[System], prop: str, join: Join) -> TrialSystem:
    """The system of all these, whatever can be explored of it. Errors: `StartError`."""
    first = systems[0]
    trial = Variable(TRIAL, Range(0, max(len(systems) - 1, 1)))
    known: dict[str, Action] = {}
    for one in (one for system in systems for one in system.actions):
        known.setdefault(one.name, one)
    tables = [{one.name: one for one in system.actions} for system in systems]
    actions = tuple(_joined(one, [table.get(name) for table in tables], trial, join) for name, one in known.items())
    bounds = {name: words for system in reversed(systems) for name, words in system.bounds}
    made = replace(
        first,
        actions=actions,
        properties=(_property(first, prop),),
        bounds=tuple(bounds.items()),
        settings=(),
        assumptions=(),
        observations=(),
        definitions=(),
        promises=(),
    )
    return among_trials(made, len(systems), trial)


def _bare(variable: StateVariable) -> StateVariable:
    """A variable as far as it matters to an exploration."""
    return replace(variable, durable=False, mode=False, ghost=False)


def _head(action: Action) -> tuple[object, ...]:
    return action.parameters, action.kind, action.actor, action.peer, action.handler


def _property(system: System, name: str) -> Property:
    (found,) = (one for one in system.properties if one.name == name)
    return replace(found, description="", source="", line=0)


def _joined(head: Action, actions: Sequence[Action | None], trial: Variable, join: Join) -> Action:
    """The action that is each of these in its system; it never happens where there is none."""
    parts: list[_Part] = []
    for place, one in enumerate(actions):
        guard, body = (FALSE, ()) if one is None else (one.guard, one.body)
        same = next((number for number, part in enumerate(parts) if (part.guard, part.body) == (guard, body)), None)
        if same is None:
            parts.append(_Part((place,), guard, body))
        else:
            parts[same] = replace(parts[same], places=(*parts[same].places, place))
    parts.sort(key=lambda part: -len(part.places))
    guard, body = parts[0].guard, parts[0].body
    for part in parts[1:]:
        here = disjunction(*(Binary("==", trial, Constant(place, trial.type)) for place in part.places))
        guard = guard if part.guard == guard else Conditional(here, part.guard, guard)
        body = join(here, part.body, body)
    return replace(head, guard=guard, body=body)


# ---- statements ----


def whole_bodies(here: Expression, body: Body, otherwise: Body) -> Body:
    """The same, with both bodies as they are."""
    return otherwise if body == otherwise else (If(here, body, otherwise),)


def joined_bodies(here: Expression, body: Body, otherwise: Body) -> Body:
    """A body that is the first where a constant condition holds and else the second. Both are there only where they
    differ, which spares most of what would be compiled."""
    start = next((place for place, (one, other) in enumerate(zip(body, otherwise, strict=False)) if one != other), None)
    if start is None:
        start = min(len(body), len(otherwise))
    end = 0
    while end < min(len(body), len(otherwise)) - start and body[-1 - end] == otherwise[-1 - end]:
        end += 1
    first, second = body[start : len(body) - end], otherwise[start : len(otherwise) - end]
    if not first and not second:
        return otherwise
    if len(first) == len(second):
        pairs = [_joined_statements(here, *pair) for pair in zip(first, second, strict=True)]
        each = tuple(one for one in pairs if one is not None)
        if len(each) == len(pairs):
            return (*body[:start], *each, *body[len(body) - end :])
    if any(isinstance(one, Let | Choose) for one in (*first, *second)):  # their names last to the end of the block
        return (*body[:start], If(here, body[start:], otherwise[start:]))
    return (*body[:start], If(here, first, second), *body[len(body) - end :])


def _joined_statements(here: Expression, one: Statement, other: Statement) -> Statement | None:
    """One statement in place of two that are of one form; `None` where they are not."""
    match one, other:
        case _ if one == other:
            return one
        case If(first, then, rest), If(second, then_other, rest_other):
            condition = first if first == second else Conditional(here, first, second)
            return If(condition, joined_bodies(here, then, then_other), joined_bodies(here, rest, rest_other))
        case ForEach(name, domain, body), ForEach(name_other, domain_other, body_other):
            if (name, domain) == (name_other, domain_other):
                return ForEach(name, domain, joined_bodies(here, body, body_other))
        case Assign(), Assign():
            return If(here, (one,), (other,))
        case Let(name, kind, value), Let(name_other, kind_other, value_other):
            if (name, kind, type_of(value)) == (name_other, kind_other, type_of(value_other)):
                return Let(name, kind, Conditional(here, value, value_other))
    return None
