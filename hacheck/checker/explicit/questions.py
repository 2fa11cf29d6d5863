"""What is asked of a system, as conditions that the search can look for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hacheck.checker.explicit.portable.program import Wanted, compiled, finding_source
from hacheck.checker.explicit.portable.search import Finder, Goal
from hacheck.model.ir import Property, System
from hacheck.model.lowering.blocks import Lowered
from hacheck.model.lowering.layout import Cell, Group, Place
from hacheck.model.lowering.nodes import Node
from hacheck.model.lowering.system import lower_condition
from hacheck.model.types import Enum

FAULT = "fault:"
"""Before a property's name: the key of the finder for states in which the property has no value."""


@dataclass(frozen=True, slots=True)
class Questions:
    """The properties asked, taken apart by how they are decided.

    `steps`: for each step condition of `wanted` the key under which its hit is kept. `modes`: finder key, variable and
    member of each alternative of a mode that might never be reached.
    """

    asked: tuple[Property, ...]
    finders: tuple[Finder, ...]
    steps: tuple[str, ...]
    wanted: Wanted
    modes: tuple[tuple[str, str, str], ...]

    @property
    def goal(self) -> Goal:
        """What a search that stops at the first violations has to find: every violation there may be."""
        names = {asked.name for asked in self.asked if asked.kind in ("invariant", "reachable", "deadlock")}
        steps = tuple(number for number, key in enumerate(self.steps) if not key.startswith(FAULT))
        return Goal(frozenset(names), steps)


def select(system: System, names: tuple[str, ...]) -> tuple[Property, ...]:
    """The properties of these names, in the system's order; all of them for no names."""
    known = {asked.name for asked in system.properties}
    assert set(names) <= known, f"unknown properties: {sorted(set(names) - known)}"
    return tuple(asked for asked in system.properties if not names or asked.name in names)


def pose(lowered: Lowered, names: tuple[str, ...]) -> Questions:
    """The questions of a check."""
    graph, asked = lowered.graph, select(lowered.system, names)
    finders: list[Finder] = []
    steps: dict[str, Node] = {}
    for question in asked:
        if question.kind in ("eventually", "leads_to"):
            continue
        on_steps = question.kind == "step"
        condition = lower_condition(lowered, question.goal, on_steps)
        wanted = condition.value if question.kind == "reachable" else graph.not_(condition.value)
        wanted = graph.and_(graph.not_(condition.fault), wanted)
        for key, node in ((question.name, wanted), (FAULT + question.name, condition.fault)):
            if on_steps:
                steps[key] = node
            elif node is not graph.zero:
                finders.append(_finder(lowered, key, node, question.kind == "deadlock"))
    modes = tuple(_modes(lowered))
    finders += [_finder(lowered, key, node) for key, _, _, node in modes]
    lively = None
    if any(question.kind == "deadlock" for question in asked):
        actions = enumerate(lowered.system.actions)
        lively = frozenset(index for index, action in actions if action.kind != "fault")
    return Questions(
        asked,
        tuple(finders),
        tuple(steps),
        Wanted(tuple(steps.values()), lively),
        tuple((key, variable, member) for key, variable, member, _ in modes),
    )


def _finder(lowered: Lowered, key: str, wanted: Node, dead_only: bool = False) -> Finder:
    return Finder(key, compiled(finding_source(lowered, wanted), key)["find"], dead_only)


def _modes(lowered: Lowered) -> Iterator[tuple[str, str, str, Node]]:
    """A condition for each alternative of each mode: that something has it."""
    graph, slots = lowered.graph, lowered.layout.slots
    for variable, place in zip(lowered.system.variables, lowered.layout.places, strict=True):
        if not variable.mode:
            continue
        for kind, members in _cells(place):
            for number, member in enumerate(kind.members):
                tests = []
                for slot in members:
                    fixed = None if slot is None else slots[slot].fixed
                    content = (
                        graph.const(fixed or 0)
                        if slot is None or fixed is not None
                        else graph.slot(slot, slots[slot].high)
                    )
                    tests.append(graph.eq(content, graph.const(number)))
                yield f"mode:{variable.name}:{member}", variable.name, member, graph.any_of(tests)


def _cells(place: Place) -> Iterator[tuple[Enum, list[int | None]]]:
    """The slots of a mode: one for each node."""
    match place:
        case Cell(Enum() as kind, slot):
            yield kind, [slot]
        case Group(_, items):
            cells = [item for item in items if isinstance(item, Cell)]
            if cells and isinstance(cells[0].type, Enum):
                yield cells[0].type, [cell.slot for cell in cells]
        case _:
            return
