"""Where the steps of a system write lines of a log."""

from __future__ import annotations

from collections import abc
from collections.abc import Collection, Iterator

from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.rewrite import rebuild, walk
from hacheck.model.types import Bag, Identity, Node, Option, Sequence, cardinality, is_scalar
from hacheck.model.typing import type_of


def logged(system: ir.System, every_step: bool = False, hidden: Collection[str] = ()) -> ir.System:
    """The system with a line for each `observe` of its spec. `every_step`: instead of what the spec says, each step
    writes a line that is called as its action, shows its arguments, and is written by its actor. `hidden`: the events
    of lines that are not written after all."""
    if every_step:
        bare = without_lines(system, {line.event for action in system.actions for line in lines_of(action)})
        actions = tuple(_with_own_line(action) for action in bare.actions)
        made = replace(bare, actions=actions, events=system.ruled_out)
    else:
        actions = tuple(_with_observations(action, system.observations) for action in system.actions)
        made = replace(system, actions=actions)
    return without_lines(replace(made, observations=()), hidden)


def without_lines(system: ir.System, hidden: Collection[str]) -> ir.System:
    """The system that does not write the lines of some events."""
    if not hidden:
        return system
    actions = tuple(replace(action, body=_without(action.body, hidden)) for action in system.actions)
    return replace(system, actions=actions, events=tuple(one for one in system.events if one not in hidden))


def _without(body: tuple[ir.Statement, ...], hidden: Collection[str]) -> tuple[ir.Statement, ...]:
    left: list[ir.Statement] = []
    for statement in body:
        match statement:
            case ir.Log(event) if event in hidden:
                continue
            case ir.If(condition, then, otherwise):
                left.append(ir.If(condition, _without(then, hidden), _without(otherwise, hidden)))
            case ir.ForEach(variable, domain, inner):
                left.append(ir.ForEach(variable, domain, _without(inner, hidden)))
            case _:
                left.append(statement)
    return tuple(left)


def without_logs_of(system: ir.System, nodes: Collection[tuple[str, int]]) -> ir.System:
    """The system in which some nodes, given by kind and number, write no lines."""
    if not nodes:
        return system
    actions = (replace(action, body=_unwritten(action.body, nodes)) for action in system.actions)
    return replace(system, actions=tuple(actions))


def _unwritten(body: tuple[ir.Statement, ...], nodes: Collection[tuple[str, int]]) -> tuple[ir.Statement, ...]:
    left: list[ir.Statement] = []
    for statement in body:
        match statement:
            case ir.Log(_, node) if node is not None:
                kind = type_of(node)
                numbers = sorted(number for name, number in nodes if isinstance(kind, Node) and name == kind.name)
                written: ir.Statement = statement
                for number in numbers:
                    written = ir.If(ir.Binary("==", node, ir.Constant(number, kind)), (), (written,))
                left.append(written)
            case ir.If(condition, then, otherwise):
                left.append(ir.If(condition, _unwritten(then, nodes), _unwritten(otherwise, nodes)))
            case ir.ForEach(variable, domain, inner):
                left.append(ir.ForEach(variable, domain, _unwritten(inner, nodes)))
            case _:
                left.append(statement)
    return tuple(left)


def has_lines(system: ir.System) -> bool:
    """Whether the spec says anything about lines."""
    return bool(system.observations) or any(True for action in system.actions for _ in lines_of(action))


def lines_of(action: ir.Action) -> Iterator[ir.Log]:
    """The lines that an action may write."""
    return (part for one in action.body for part in walk(one) if isinstance(part, ir.Log))


def lines_most(body: tuple[ir.Statement, ...]) -> int:
    """How many lines a body writes at most, as far as its text says."""
    total = 0
    for statement in body:
        match statement:
            case ir.Log():
                total += 1
            case ir.If(_, then, otherwise):
                total += max(lines_most(then), lines_most(otherwise))
            case ir.ForEach(_, domain, inner):
                total += _turns_most(domain) * lines_most(inner)
            case _:
                pass
    return total


def _turns_most(domain: ir.Domain) -> int:
    """How many turns a loop over a domain takes at most; a sequence or bag may hold the same more than once."""
    within = None if domain.within is None else type_of(domain.within)
    return within.capacity if isinstance(within, Sequence | Bag) else cardinality(domain.type)


def _with_own_line(action: ir.Action) -> ir.Action:
    node, fields = None, []
    for name, kind in action.parameters:
        if name == action.actor:
            node = ir.Local(name, kind)
        elif is_scalar(kind):
            inside = kind.element if isinstance(kind, Option) else kind
            fields.append(ir.Shown(name, ir.Local(name, kind), isinstance(inside, Identity)))
    return replace(action, body=(ir.Log(action.name, node, tuple(fields), action.line), *action.body))


def _with_observations(action: ir.Action, observations: abc.Sequence[ir.Observation]) -> ir.Action:
    added: list[ir.Statement] = []
    for seen in observations:
        if action.handler not in seen.handlers:
            continue
        actor = None
        if seen.node is not None:
            if action.actor is None or dict(action.parameters)[action.actor] != seen.node:
                continue  # the same handler on another kind of node
            actor = ir.Local(action.actor, seen.node)
        shown = tuple(replace(one, value=_about(one.value, actor)) for one in seen.fields)
        line = ir.Log(seen.event, None if seen.anonymous else actor, shown, seen.line)
        condition = _about(seen.condition, actor)
        if condition == ir.FALSE:  # the settings rule the line out
            continue
        added.append(line if condition == ir.TRUE else ir.If(condition, (line,), ()))
    return replace(action, body=(*action.body, *added)) if added else action


def _about(expression: ir.Expression, actor: ir.Local | None) -> ir.Expression:
    """An expression about `n`, said of the actor."""
    if actor is None:
        return expression

    def change(part: ir.Expression) -> ir.Expression:
        if isinstance(part, ir.Local) and part.name == "n":
            return actor
        made: ir.Expression = rebuild(part, change)
        return made

    return change(expression)
