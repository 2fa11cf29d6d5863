"""The largest sets of states in which a run can stay fairly (`hacheck.checker.explicit.fairness` says what that is)."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Sequence

from msgspec import Struct

from hacheck.checker.explicit.fairness import Constraints
from hacheck.checker.explicit.portable.strong_components import Edges, components


class FairSet(Struct, frozen=True):
    """A strongly connected set in which a run can stay fairly. `part` of its vertices is `mark`."""

    states: list[int]
    mark: int


def fair_sets(
    edges: Edges, enabled: Sequence[int], inside: list[int], part: array[int], constraints: Constraints
) -> list[FairSet]:
    """The largest fair sets among the vertices `inside`. `part` (0 for every vertex) marks the set that
    a vertex is in. Cost: linear in the edges inside for each strong constraint at most."""
    found: list[FairSet] = []
    marks = itertools.count(1)
    work = [inside]
    while work:
        region = work.pop()
        mark = _marked(part, region, next(marks))
        for component in components(edges, region, part, mark):
            own = _marked(part, component, next(marks))
            verdict = _verdict(edges, enabled, component, part, own, constraints)
            if verdict is None:
                found.append(FairSet(component, own))
            elif verdict:
                work.append(verdict)
    return found


def _marked(part: array[int], vertices: list[int], mark: int) -> int:
    for vertex in vertices:
        part[vertex] = mark
    return mark


def _verdict(
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
