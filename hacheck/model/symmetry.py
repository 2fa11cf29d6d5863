"""Which nodes, and which identities, are symmetric: states that differ by exchanging them are equivalent.

A permutation of a kind's members acts on every value by its type, and so on states and on the arguments of actions.
Members are *symmetric* when each such permutation of them maps the outcomes of every state onto the outcomes of the
permuted state. Nearly every expression of the language has this property by itself. What lacks it is looked for here:
a constant that names a member, a comparison of members by their order, and everything that takes members one after
the other where their order shows in the result.

Identities are drawn fresh as the least one that nothing holds, which no permutation respects. But those that nothing
holds are symmetric in a state whatever they are called, so the outcomes agree up to another permutation of what is not
held: that is enough, for what is reached and for what runs there are, if no variable has something for an identity
that is not held (a map with identities as keys) and no constant names one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise

from msgspec import Struct

from hacheck.model.ir import Action, Choose, Constant, ForEach, Let, Property, System
from hacheck.model.render import show
from hacheck.model.rewrite import Tree, walk
from hacheck.model.symmetry_order import order_dependent
from hacheck.model.symmetry_stops import Stops
from hacheck.model.symmetry_types import Kind, exchange, has_places_for, mentions, parts_of, renamed
from hacheck.model.types import Identity, Type


class Obstacle(Struct, frozen=True):
    """Why members of a kind may not be symmetric, as a sentence without its full stop. `action`: the action it was
    found in, by index, where it was found in one."""

    text: str
    action: int | None = None


class Name(Struct, frozen=True):
    """A constant that not every permutation of a kind's members leaves as it is, and where it stands: in an action, by
    index, or in a property."""

    text: str
    constant: Constant
    action: int | None


class Symmetry(Struct, frozen=True):
    """What the text of a system says of one kind: its members are symmetric, but for those distinguished by `names`, if
    nothing in `obstacles` is one."""

    kind: Kind
    names: tuple[Name, ...]
    obstacles: tuple[Obstacle, ...]


def symmetries(system: System, properties: Sequence[Property], stops: Stops) -> tuple[Symmetry, ...]:
    """For each kind of nodes and each pool of identities with several members, what is known of its symmetry where
    these properties are checked. Cost: the size of the system's text for each kind."""
    return tuple(_symmetry(system, properties, stops, kind) for kind in kinds_of(system))


def kinds_of(system: System) -> tuple[Kind, ...]:
    """The kinds of nodes and then the pools of identities that have several members and occur in the state."""
    pools: dict[str, Identity] = {}
    for variable in system.variables:
        for part in parts_of(variable.type):
            if isinstance(part, Identity):
                pools.setdefault(part.name, part)
    kinds: tuple[Kind, ...] = (*system.nodes, *pools.values())
    return tuple(kind for kind in kinds if kind.size > 1)


def _symmetry(system: System, properties: Sequence[Property], stops: Stops, kind: Kind) -> Symmetry:
    obstacles: dict[Obstacle, None] = {}
    for number, action in enumerate(system.actions):
        for text in order_dependent(kind, (action.guard, *action.body), partial(stops.of_action, number)):
            obstacles[Obstacle(f"{action.name} {text}", number)] = None
    for item in properties:
        for text in order_dependent(kind, _trees(item), partial(stops.of_property, item.name)):
            obstacles[Obstacle(f"{item.name} {text}")] = None
        obstacles.update(dict.fromkeys(_unfair(system, item, kind)))
    names = tuple(_names(system, properties, kind))
    if isinstance(kind, Identity):
        obstacles.update(dict.fromkeys(_keys(system, kind)))
        obstacles.update((Obstacle(name.text, name.action), None) for name in names)
        names = ()
    return Symmetry(kind, names, tuple(obstacles))


def _trees(item: Property) -> tuple[Tree, ...]:
    return tuple(part for part in (item.goal, item.premise) if part is not None)


def _names(system: System, properties: Sequence[Property], kind: Kind) -> Iterator[Name]:
    places: list[tuple[str, int | None, tuple[Tree, ...]]] = [
        (action.name, number, (action.guard, *action.body)) for number, action in enumerate(system.actions)
    ]
    places += ((item.name, None, _trees(item)) for item in properties)
    for where, action, trees in places:
        for part in (part for tree in trees for part in walk(tree)):
            if isinstance(part, Constant) and mentions(kind, part.type) and not _indifferent(kind, part):
                yield Name(f"{where} names one: {show(part.type, part.value)}", part, action)


def _indifferent(kind: Kind, part: Constant) -> bool:
    return all(_unchanged(kind, part, pair) for pair in pairwise(range(1, kind.size + 1)))


def _unfair(system: System, item: Property, kind: Kind) -> Iterator[Obstacle]:
    """Fairness is per actor and argument, so a fair handler of members of the kind distinguishes them."""
    handlers = {fair.handler: fair.arguments for fair in item.fairness}
    for action in system.actions:
        distinguished = {action.actor, *handlers.get(action.handler, ())}
        if action.handler in handlers and any(
            name in distinguished and mentions(kind, held) for name, held in action.parameters
        ):
            yield Obstacle(f"{item.name} asks that {action.handler} is fair to each {kind.name}")


def _keys(system: System, kind: Identity) -> Iterator[Obstacle]:
    """Maps with the kind's members as keys, in the state or in what a step keeps in its locals."""
    for variable in system.variables:
        if has_places_for(kind, variable.type):
            yield Obstacle(f"{variable.name} has a place for each {kind.name}")
    for number, action in enumerate(system.actions):
        if any(has_places_for(kind, held) for held in _local_types(action)):
            yield Obstacle(f"{action.name} has a place for each {kind.name}", number)


def _local_types(action: Action) -> Iterator[Type]:
    for _, kind in action.parameters:
        yield kind
    for part in (part for one in action.body for part in walk(one)):
        match part:
            case Let(_, kind, _):
                yield kind
            case Choose(_, domain) | ForEach(_, domain, _):
                yield domain.type
            case _:
                pass


def symmetric_members(kind: Kind, names: Iterable[Name]) -> tuple[tuple[int, ...], ...]:
    """The classes of members that no constant distinguishes, each in ascending order."""
    named = list(names)
    classes: list[list[int]] = []
    for member in range(1, kind.size + 1):
        for members in classes:
            if all(_unchanged(kind, name.constant, (members[0], member)) for name in named):
                members.append(member)
                break
        else:
            classes.append([member])
    return tuple(tuple(members) for members in classes)


def _unchanged(kind: Kind, part: Constant, pair: tuple[int, int]) -> bool:
    return bool(renamed(kind, part.type, part.value, exchange(*pair)) == part.value)
