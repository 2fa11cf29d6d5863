"""Random systems whose nodes and identities are mostly alike."""

from __future__ import annotations

import itertools
from typing import Any

from msgspec.structs import replace

from hacheck.model.ir import (
    TRUE,
    Action,
    Constant,
    Domain,
    Expression,
    ForEach,
    Local,
    MakeCollection,
    MakeRecord,
    MapOf,
    Property,
    Quantified,
    System,
    Unary,
)
from hacheck.model.rewrite import rebuild
from hacheck.model.symmetry_types import mentions
from hacheck.model.types import Bag, Identity, Map, Node, Option, Record, Sequence, Set, Type, Value
from tests.strategies.choosing import Seeded, chance
from tests.strategies.systems import random_system

_numbers = itertools.count()  # no two bound variables have one name


def symmetric_system(seed: int, risky: bool | None = None) -> System:
    """The random system of a seed, with parameters and quantifiers where it names nodes or identities."""
    return symmetrised(random_system(Seeded(seed), risky), Seeded(seed))


def symmetrised(system: System, chooser: Seeded) -> System:
    """The system with unranked nodes, in which nearly no text names one of them or an identity."""
    system = _unranked(system)
    kinds = (*system.nodes, *_pools(system))
    actions = tuple(_action(action, kinds) for action in system.actions)
    actions = tuple(_loop(action) if chance(chooser, 30) else action for action in actions)
    asked = tuple(_property(item, kinds, fair=chance(chooser, 30)) for item in system.properties)
    return replace(system, actions=actions, properties=asked)


def _pools(system: System) -> tuple[Identity, ...]:
    found: dict[Identity, None] = {}

    def visit(part: Any) -> Any:
        if isinstance(part, Identity):
            found[part] = None
        return part

    for variable in system.variables:
        _types(variable.type, visit)
    for item in (*system.actions, *system.properties):
        _everywhere(item, visit)
    return tuple(found)


def _unranked(system: System) -> System:
    def visit(kind: Any) -> Any:
        return replace(kind, ranked=False) if isinstance(kind, Node) else kind

    return _everywhere(system, visit)  # type: ignore[no-any-return]


def _everywhere(item: Any, visit: Any) -> Any:
    """Any data with `visit` applied to each type in it."""
    if isinstance(item, Type):
        return _types(item, visit)
    if isinstance(item, tuple):
        return tuple(_everywhere(part, visit) for part in item)
    if hasattr(item, "__struct_fields__"):
        changed = {name: _everywhere(getattr(item, name), visit) for name in item.__struct_fields__}
        return type(item)(**changed)
    return item


def _types(kind: Type, visit: Any) -> Type:
    match kind:
        case Option(element):
            return Option(_types(element, visit))
        case Set(element):
            return Set(_types(element, visit))
        case Map(key, value):
            return Map(_types(key, visit), _types(value, visit))
        case Record(name, fields, ordered):
            return Record(name, tuple((field, _types(part, visit)) for field, part in fields), ordered)
        case Sequence(element, capacity):
            return Sequence(_types(element, visit), capacity)
        case Bag(element, capacity):
            return Bag(_types(element, visit), capacity)
        case _:
            return visit(kind)  # type: ignore[no-any-return]


def _action(action: Action, kinds: tuple[Node | Identity, ...]) -> Action:
    """The action with a parameter for each kind of which it names a member."""
    names = {kind: Local(f"some {kind.name}", kind) for kind in kinds}
    used: dict[Local, None] = {}
    guard = _generic(action.guard, names, used)
    body = tuple(_generic(statement, names, used) for statement in action.body)
    parameters = (*action.parameters, *((local.name, local.type) for local in used))
    return replace(action, guard=guard, body=body, parameters=parameters)


def _loop(action: Action) -> Action:
    """What the action does to one member it does to each in turn, if a member is among its parameters."""
    named = next(((name, kind) for name, kind in action.parameters if isinstance(kind, Node | Identity)), None)
    if named is None:
        return action
    name, kind = named
    body = (ForEach(name, Domain(kind, None, None if action.guard == TRUE else action.guard), action.body),)
    left = tuple(pair for pair in action.parameters if pair != named)
    actor, peer = (None if item == name else item for item in (action.actor, action.peer))
    return replace(action, parameters=left, guard=TRUE, body=body, actor=actor, peer=peer)


def _property(item: Property, kinds: tuple[Node | Identity, ...], fair: bool) -> Property:
    """The property asked of some member of each kind of which it names one."""
    goal, premise = _closed(item, item.goal, kinds, "goal"), item.premise
    if premise is not None:
        premise = _closed(item, premise, kinds, "premise")
    return replace(item, goal=goal, premise=premise, fairness=item.fairness if fair else ())


def _closed(item: Property, expression: Expression, kinds: tuple[Node | Identity, ...], which: str) -> Expression:
    names = {kind: Local(f"{item.name} {which} {kind.name}", kind) for kind in kinds}
    used: dict[Local, None] = {}
    inner: Expression = _generic(expression, names, used)
    for local in used:
        inner = Quantified("some", local.name, Domain(local.type, None, None), inner)
    return inner


def _generic(tree: Any, names: dict[Node | Identity, Local], used: dict[Local, None]) -> Any:
    if isinstance(tree, Constant) and any(mentions(kind, tree.type) for kind in names):
        return _told(tree.type, tree.value, names, used)
    return rebuild(tree, lambda part: _generic(part, names, used))


def _told(kind: Type, value: Value, names: dict[Node | Identity, Local], used: dict[Local, None]) -> Expression:
    """An expression like the constant, in which one member of a kind stands for all."""
    match kind:
        case Node() | Identity():
            used[names[kind]] = None
            return names[kind]
        case Option(element) if value is not None:
            return Unary("some", _told(element, value, names, used))
        case Map(key, element):
            return MapOf(f"each {next(_numbers)}", key, _told(element, value[0], names, used), element)
        case Record(_, fields):
            pairs = zip(fields, value, strict=True)
            return MakeRecord(kind, tuple(_told(part, item, names, used) for (_, part), item in pairs))
        case Set(element) | Sequence(element, _) | Bag(element, _):
            return MakeCollection(kind, tuple(_told(element, item, names, used) for item in value))
        case _:
            return Constant(value, kind)
