"""Fair runs in the explored graph.

A run is infinite: steps, or staying in a state for ever (stuttering), which is no step of anything. A constraint is a
handler on one actor. It is *enabled* in a state where one of its instances has an outcome; a step that meets a bound
of the exploration or is an error of the spec counts, because the system itself would go on. It is *taken* by a step
of one of its instances. A run is fair when each weak constraint is disabled again and again or taken again and again,
and each strong one is disabled from some point on or taken again and again. So a run may stay in a state for ever
only if no fair handler is enabled there.

The states and steps that a run sees again and again are strongly connected. Such a set is fair if for each weak
constraint a state has it disabled or a step inside takes it, and for each strong one no state has it enabled or a
step inside takes it; a single state without steps counts, by stuttering.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from hacheck.checker.explicit.portable.components import Edges, components
from hacheck.model.ir import Fairness
from hacheck.model.lowering.blocks import Lowered


@dataclass(frozen=True, slots=True)
class Constraints:
    """Bit i stands for constraint i: which are strong, and which each instance takes."""

    count: int
    strong: int
    taken_by: tuple[int, ...]


def constraints_of(lowered: Lowered, fairness: Sequence[Fairness]) -> Constraints:
    """One constraint for each fair handler and actor. A handler named twice is strong if either says so."""
    bits: dict[tuple[str, object], int] = {}
    strong = {item.handler for item in fairness if item.strong}
    fair = {item.handler for item in fairness}
    taken_by: list[int] = []
    strong_bits = 0
    for instance in lowered.instances:
        action = lowered.system.actions[instance.action]
        if action.handler not in fair:
            taken_by.append(0)
            continue
        names = [name for name, _ in action.parameters]
        actor = None if action.actor is None else instance.arguments[names.index(action.actor)]
        bit = bits.setdefault((action.handler, actor), 1 << len(bits))
        taken_by.append(bit)
        if action.handler in strong:
            strong_bits |= bit
    return Constraints(len(bits), strong_bits, tuple(taken_by))


@dataclass(frozen=True, slots=True)
class FairSet:
    """A strongly connected set in which a run can stay fairly. `part` of its vertices is `mark`."""

    states: list[int]
    mark: int


def fair_sets(
    edges: Edges, enabled: Sequence[int], inside: list[int], part: array[int], constraints: Constraints
) -> list[FairSet]:
    """The largest fair sets among the vertices `inside`. `part` (0 for every vertex) is used to tell apart the sets
    that are looked at. Cost: linear in the edges inside for each strong constraint at most."""
    found: list[FairSet] = []
    marks = itertools.count(1)
    work = [inside]
    while work:
        region = work.pop()
        mark = _marked(part, region, next(marks))
        for component in components(edges, region, part, mark):
            own = _marked(part, component, next(marks))
            verdict = _judged(edges, enabled, component, part, own, constraints)
            if verdict is None:
                found.append(FairSet(component, own))
            elif verdict:
                work.append(verdict)
    return found


def _marked(part: array[int], vertices: list[int], mark: int) -> int:
    for vertex in vertices:
        part[vertex] = mark
    return mark


def _judged(
    edges: Edges,
    enabled: Sequence[int],
    component: list[int],
    part: array[int],
    mark: int,
    constraints: Constraints,
) -> list[int] | None:
    """`None` if the component is fair, else those of its vertices among which there may still be a fair set."""
    always, ever, taken = -1, 0, 0
    for vertex in component:
        always &= enabled[vertex]
        ever |= enabled[vertex]
        for place in range(edges.start[vertex], edges.start[vertex + 1]):
            if part[edges.target[place]] == mark:
                taken |= constraints.taken_by[edges.by[place]]
    if always & ~constraints.strong & ~taken:
        return []
    starved = ever & constraints.strong & ~taken
    if not starved:
        return None
    return [vertex for vertex in component if not enabled[vertex] & starved]
