"""Which states need not be distinguished, and the words for it.

Three things make states equivalent for the properties checked: parts of the state that no property depends on, names
that are compared for equality only, and nodes that differ in nothing but their ids. Each keeps verdicts and the lengths
of shortest runs; `docs/decisions/0007-reductions.md` has the reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, pairwise

from hacheck.checker.explicit.property_conditions import Questions
from hacheck.checker.explicit.reduction_data import NONE, Dropped, Reductions, Unlike
from hacheck.compile.lowering.blocks import Block, Branch, Emit, Lowered, Stopped
from hacheck.compile.lowering.cone_of_influence import certainly_changes, dropped_slots, relevant
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.layout import slots_of
from hacheck.compile.lowering.permuted_instances import maps_onto_itself
from hacheck.compile.lowering.permuted_slots import Exchange, exchange_in, slots_holding
from hacheck.compile.lowering.system import Condition, lower_condition
from hacheck.model.counters.value_distances import Distances
from hacheck.model.ir import Fresh, Property
from hacheck.model.rewrite import walk
from hacheck.model.runs import State
from hacheck.model.symmetry import Symmetry, symmetric_members, symmetries
from hacheck.model.symmetry_stops import SPEC_ERROR
from hacheck.model.symmetry_types import Kind, SymmetryClass, exchange, renamed
from hacheck.model.types import Identity, Type, Value
from hacheck.supervise.recursion_limit import room_for_nesting

# More members than these are left alone: where their signatures are equal, all their orders are tried.
_NODES_MAX = 8
_LOOSE_MAX = 10
_SET_BITS_MAX = 63


def reduced(
    lowered: Lowered,
    questions: Questions,
    initial: Sequence[State],
    symmetry: bool = True,
    relevance: bool = True,
    distances: tuple[Distances, ...] = (),
) -> tuple[Lowered, Reductions]:
    """The system without what no property needs, and which members are symmetric in it. `initial`: its initial states.
    `symmetry`, `relevance`: whether to look for these at all. `distances`: the counters that the system follows without
    an end. Cost: some passes over the lowered form and the system's text."""
    with room_for_nesting():
        whole = lowered
        if relevance:
            lowered = relevant(lowered, _roots(lowered, questions), questions.unblocking)
        found = _symmetry(lowered, questions, initial) if symmetry else NONE
    return lowered, Reductions(
        found.symmetric, found.unlike, _dropped(whole, lowered), found.exact and not distances, distances
    )


# ---- what is needed ----


def _roots(lowered: Lowered, questions: Questions) -> Iterator[Node]:
    """Every condition that will be evaluated in states and steps."""
    yield from (item.wanted for item in questions.sought)
    for prop in questions.properties:
        for condition in _conditions(lowered, prop):
            yield from (condition.value, condition.error)


def _conditions(lowered: Lowered, prop: Property) -> Iterator[Condition]:
    for expression in (prop.goal, prop.premise):
        if expression is not None:
            yield lower_condition(lowered, expression, prop.kind == "step")


def _dropped(before: Lowered, after: Lowered) -> tuple[Dropped, ...]:
    gone = set(dropped_slots(before, after))
    found = []
    for variable, place in zip(before.system.variables, before.layout.places, strict=True):
        widths = {slot: before.layout.slots[slot].width for slot in slots_of(place)}
        bits = sum(width for slot, width in widths.items() if slot in gone)
        if bits:
            found.append(Dropped(variable.name, bits, whole=bits == sum(widths.values())))
    return tuple(found)


# ---- what is symmetric ----


def _symmetry(lowered: Lowered, questions: Questions, initial: Sequence[State]) -> Reductions:
    classes: list[SymmetryClass] = []
    unlike: list[Unlike] = []
    for found in symmetries(lowered.system, questions.properties, _Known(lowered, questions.properties)):
        members, reasons = _classes(lowered, found)
        if members and isinstance(found.kind, Identity) and questions.unblocking is not None:
            reasons = tuple(_names_alone(lowered, found.kind, questions.unblocking))
        if reasons:
            unlike.append(Unlike(found.kind.name, reasons))
            continue
        classes += (SymmetryClass(found.kind, some) for some in members)
    pools = any(isinstance(one.kind, Identity) for one in classes)
    exact = not pools and _closed(lowered, classes, initial)
    return Reductions(tuple(classes), tuple(unlike), exact=exact)


class _Known:
    """What can end steps and evaluations, as lowering found it."""

    def __init__(self, lowered: Lowered, properties: Sequence[Property]) -> None:
        self.lowered = lowered
        self.properties = {item.name: item for item in properties}
        self.of_action = cache(self._of_action)
        self.of_property = cache(self._of_property)

    def _of_action(self, number: int) -> frozenset[str]:
        instances = (instance for instance in self.lowered.instances if instance.action == number)
        return frozenset(stop for instance in instances for stop in _stops(instance.block))

    def _of_property(self, name: str) -> frozenset[str]:
        conditions = _conditions(self.lowered, self.properties[name])
        can_fail = any(condition.error is not self.lowered.graph.zero for condition in conditions)
        return frozenset({SPEC_ERROR}) if can_fail else frozenset()


def _stops(block: Block) -> Iterator[str]:
    for statement in block:
        if isinstance(statement, Stopped):
            yield statement.text if statement.kind == "bound" else SPEC_ERROR
        elif isinstance(statement, Branch):
            yield from _stops(statement.then)
            yield from _stops(statement.otherwise)


def _classes(lowered: Lowered, found: Symmetry) -> tuple[list[tuple[int, ...]], tuple[str, ...]]:
    """The members that are symmetric on the lowered form, or why none are."""
    kind, names, obstacles = found.kind, found.names, found.obstacles
    classes = list(_split(lowered, kind, symmetric_members(kind, ())))
    if all(obstacle.action is not None for obstacle in obstacles):
        # Looked at closer, an action may treat all members the same, or those that remain when some are known not to
        # be.
        suspects = {name.action for name in names} | {obstacle.action for obstacle in obstacles}
        harmless = _harmless(lowered, kind, classes, suspects)
        classes = list(
            _split(lowered, kind, symmetric_members(kind, (name for name in names if name.action not in harmless)))
        )
        harmless |= _harmless(lowered, kind, classes, suspects - harmless)
        obstacles = tuple(obstacle for obstacle in obstacles if obstacle.action not in harmless)
    reasons = [obstacle.text for obstacle in obstacles]
    if not classes and not reasons:
        alone = f"each {kind.name} keeps something that no other {kind.name} has"
        reasons = [name.text for name in names] or [alone]
    if not reasons:
        reasons += too_costly(lowered, kind, classes)
    return ([], tuple(dict.fromkeys(reasons))) if reasons else (classes, ())


def _harmless(
    lowered: Lowered, kind: Kind, classes: Iterable[tuple[int, ...]], suspects: Iterable[int | None]
) -> set[int | None]:
    """Those actions among the suspects that treat all members of a class the same."""
    exchanges = [one for members in classes for one in _neighbours(lowered, kind, members)]
    if not exchanges:
        return set()
    return {action for action in suspects if action is not None and maps_onto_itself(lowered, action, exchanges)}


def _split(lowered: Lowered, kind: Kind, classes: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """The classes of several members that can be exchanged on the layout. Identities can be all, or none are."""
    split: list[list[int]] = []
    for members in classes:
        mine: list[list[int]] = []
        for member in members:
            for others in mine:
                if exchange_in(lowered.layout, kind, others[0], member) is not None:
                    others.append(member)
                    break
            else:
                mine.append([member])
        split += mine
    if isinstance(kind, Identity) and len(split) > 1:
        return
    yield from (tuple(others) for others in split if len(others) > 1)


def _neighbours(lowered: Lowered, kind: Kind, members: tuple[int, ...]) -> Iterator[Exchange]:
    for first, second in pairwise(members):
        taken = exchange_in(lowered.layout, kind, first, second)
        assert taken is not None, f"{kind.name} {first} and {second} are symmetric"
        yield taken


def too_costly(lowered: Lowered, kind: Kind, classes: Iterable[tuple[int, ...]]) -> Iterator[str]:
    """Why symmetric members are explored one by one: it would cost too much to look for representatives."""
    if isinstance(kind, Identity):
        held = slots_holding(lowered.layout, kind)
        if any(item.is_set and lowered.layout.slots[item.slot].width > _SET_BITS_MAX for item in held):
            yield f"sets of {kind.name}s have more than {_SET_BITS_MAX} bits"
        if kind.size > _LOOSE_MAX and any(item.loose for item in held):
            yield f"sets or bags hold {kind.name}s, which are more than {_LOOSE_MAX}"
        taken = exchange_in(lowered.layout, kind, 1, 2)
        assert taken is not None, f"{kind.name}s are symmetric"
        inside = Counter(slot for bag in taken.bags for slot in set(chain(*bag.items)))
        if any(count > 1 for count in inside.values()):
            yield f"bags that hold {kind.name}s are inside bags"
    elif any(len(members) > _NODES_MAX for members in classes):
        yield f"only up to {_NODES_MAX} nodes of a kind are exchanged, and there are {kind.size} {kind.name}s"


def _names_alone(lowered: Lowered, pool: Identity, unblocking: frozenset[int]) -> Iterator[str]:
    """Where deadlocks are looked for: the actions whose steps may change nothing but the names of identities, or not
    even these, as it depends on what names there are."""
    held = {item.slot for item in slots_holding(lowered.layout, pool)}
    for number in sorted(unblocking):
        action = lowered.system.actions[number]
        if not any(isinstance(part, Fresh) and part.type == pool for one in action.body for part in walk(one)):
            continue
        steps = (emit for instance in lowered.instances if instance.action == number for emit in _steps(instance.block))
        for emit in steps:
            if not any(certainly_changes(update) for update in emit.updates if update.slot not in held):
                yield f"{action.name} may change nothing but a {pool.name}'s name, and deadlocks are looked for"
                break


def _steps(block: Block) -> Iterator[Emit]:
    for statement in block:
        if isinstance(statement, Emit):
            yield statement
        elif isinstance(statement, Branch):
            yield from _steps(statement.then)
            yield from _steps(statement.otherwise)


def _closed(lowered: Lowered, classes: Iterable[SymmetryClass], initial: Sequence[State]) -> bool:
    """Whether the initial states are the same set after each exchange."""
    states, types = set(initial), [variable.type for variable in lowered.system.variables]
    columns = list(zip(*initial, strict=True)) if initial else [()] * len(types)
    for one in classes:
        for first, second in pairwise(one.members):
            new = exchange(first, second)
            images = (_images(one.kind, kind, new, column) for kind, column in zip(types, columns, strict=True))
            if not states.issuperset(zip(*images, strict=True)):
                return False
    return True


def _images(of: Kind, kind: Type, new: Callable[[int], int], column: Sequence[Value]) -> Iterator[Value]:
    """What the values of one variable become by an exchange; many states have the same ones."""
    known = {value: renamed(of, kind, value, new) for value in set(column)}
    return map(known.__getitem__, column)


__all__ = ["Reductions", "reduced"]
