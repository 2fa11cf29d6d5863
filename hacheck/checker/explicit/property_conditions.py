"""The properties of a system, as conditions that a search can look for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from hacheck.checker.explicit.premises import PREMISE, premise_of
from hacheck.model.ir import Property, StateVariable, System
from hacheck.model.types import Enum, Map

if TYPE_CHECKING:  # what is found compiled is not lowered
    from hacheck.compile.lowering.blocks import Lowered, SearchTarget
    from hacheck.compile.lowering.expression_nodes import Node
    from hacheck.compile.lowering.layout import Place

NO_VALUE = "error:"
"""Before a property's name: the key of what is sought where the property has no value."""


class Questions(Struct, frozen=True):
    """The properties to check, taken apart by how they are decided.

    `sought` has no condition that never holds. `unblocking`: the actions that keep a state from being a deadlock, by a
    step that changes it or by an outcome that is no step; `None` where no deadlock is sought. `modes`: key, variable
    and member of each alternative of a mode that might never be reached.
    """

    properties: tuple[Property, ...]
    sought: tuple[SearchTarget, ...]
    unblocking: frozenset[int] | None
    modes: tuple[tuple[str, str, str], ...]

    @property
    def goal(self) -> frozenset[str] | None:
        """The keys that a search which stops at the first runs has to hit."""
        return goal_of(self.properties)


def goal_of(properties: tuple[Property, ...]) -> frozenset[str] | None:
    """The keys under which the properties are kept, where a finite run can decide each of them; `None` where only the
    whole graph can, or there are none."""
    if any(item.kind in ("eventually", "leads_to") for item in properties):
        return None
    return frozenset(item.name for item in properties) or None


def select(system: System, names: tuple[str, ...]) -> tuple[Property, ...]:
    """The properties of these names, in the system's order; all of them for no names."""
    known = {prop.name for prop in system.properties}
    assert set(names) <= known, f"unknown properties: {sorted(set(names) - known)}"
    return tuple(prop for prop in system.properties if not names or prop.name in names)


def pose(lowered: Lowered, names: tuple[str, ...]) -> Questions:
    """The questions of a check."""
    properties = select(lowered.system, names)
    sought = [item for question in properties for item in _sought(lowered, question)]
    sought += [item for question in properties for item in _exercised(lowered, question)]
    sought += _modes(lowered)
    unblocking = None
    if any(question.kind == "deadlock" for question in properties):
        actions = enumerate(lowered.system.actions)
        unblocking = frozenset(index for index, action in actions if action.kind != "fault")
    return Questions(
        properties,
        tuple(item for item in sought if item.wanted is not lowered.graph.zero),
        unblocking,
        modes_of(lowered.system),
    )


def _sought(lowered: Lowered, question: Property) -> Iterator[SearchTarget]:
    """Where the property is decided, and where it has no value."""
    if question.kind in ("eventually", "leads_to"):
        return
    from hacheck.compile.lowering.blocks import SearchTarget
    from hacheck.compile.lowering.system import lower_condition

    graph = lowered.graph
    condition = lower_condition(lowered, question.goal, question.kind == "step")
    wanted = condition.value if question.kind == "reachable" else graph.not_(condition.value)
    wanted = graph.and_(graph.not_(condition.error), wanted)
    kind: Literal["state", "dead", "step"] = (
        "step" if question.kind == "step" else "dead" if question.kind == "deadlock" else "state"
    )
    yield SearchTarget(question.name, wanted, kind)
    yield SearchTarget(NO_VALUE + question.name, condition.error, kind)


def _exercised(lowered: Lowered, question: Property) -> Iterator[SearchTarget]:
    """Where the property is exercised, or its condition has no value."""
    premise = premise_of(question)
    if premise is None:
        return
    from hacheck.compile.lowering.blocks import SearchTarget
    from hacheck.compile.lowering.system import lower_condition

    graph = lowered.graph
    condition = lower_condition(lowered, premise)
    wanted = graph.or_(condition.value, condition.error)
    goals = [question.goal] if question.premise is None else [question.goal, question.premise]
    read = set[int]()
    for goal in goals:
        found = lower_condition(lowered, goal, question.kind == "step")
        read |= _slots_of(found.value) | _slots_of(found.error)
    # A property that comes to a constant needs no slots: its condition is not worth keeping any.
    yield SearchTarget(PREMISE + question.name, wanted if _slots_of(wanted) <= read else graph.one, "state")


def _slots_of(condition: Node) -> set[int]:
    """The slots that a condition reads, before or after a step."""
    from hacheck.compile.lowering.expression_nodes import reachable

    return {node.number for node in reachable([condition]) if node.operator in ("slot", "after")}


def modes_of(system: System) -> tuple[tuple[str, str, str], ...]:
    """For each alternative of each mode: the key under which it is kept that something has it, the variable, and the
    alternative."""
    return tuple(
        (f"mode:{variable.name}:{member}", variable.name, member)
        for variable in system.variables
        if (kind := _mode_type(variable)) is not None
        for member in kind.members
    )


def _mode_type(variable: StateVariable) -> Enum | None:
    """The alternatives of a mode: a variable of its own, or one for each node."""
    if not variable.mode:
        return None
    kind = variable.type.value if isinstance(variable.type, Map) else variable.type
    return kind if isinstance(kind, Enum) else None


def _modes(lowered: Lowered) -> Iterator[SearchTarget]:
    """A condition for each of `modes_of`."""
    from hacheck.compile.lowering.blocks import SearchTarget

    graph, slots = lowered.graph, lowered.layout.slots
    places = {
        variable.name: place for variable, place in zip(lowered.system.variables, lowered.layout.places, strict=True)
    }
    kinds = {variable.name: _mode_type(variable) for variable in lowered.system.variables}
    for key, variable, member in modes_of(lowered.system):
        kind = kinds[variable]
        assert kind is not None, f"{variable} is a mode"
        number, tests = graph.const(kind.members.index(member)), []
        for slot in _cells(places[variable]):
            fixed = None if slot is None else slots[slot].fixed
            if slot is None or fixed is not None:
                tests.append(graph.eq(graph.const(fixed or 0), number))
            else:
                tests.append(graph.eq(graph.slot(slot, slots[slot].high), number))
        yield SearchTarget(key, graph.any_of(tests), "state")


def _cells(place: Place) -> Iterator[int | None]:
    """The slots of a mode: one for each node."""
    from hacheck.compile.lowering.layout import Cell, Group

    items = place.items if isinstance(place, Group) else (place,)
    for item in items:
        assert isinstance(item, Cell), "a mode is a scalar"
        yield item.slot
