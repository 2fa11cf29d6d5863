"""The shortest way into a fair set, and a loop in it that does all that fairness asks for."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Sequence

from msgspec import Struct

from hacheck.checker.explicit.fairness import Constraints
from hacheck.checker.explicit.portable.fair_sets import FairSet
from hacheck.checker.explicit.portable.strong_components import Edges


class Walk(Struct, frozen=True):
    """Vertices one after the other, and the instance of each step between them."""

    vertices: list[int]
    by: list[int]


def nearest(
    edges: Edges, starts: Sequence[tuple[int, int]], allowed: bytearray, is_goal: Callable[[int], bool]
) -> Walk | None:
    """The shortest walk over allowed vertices to a goal. `starts`: vertices with the steps already made to get to
    them, fewest first. Cost: linear in the edges allowed."""
    came: dict[int, tuple[int, int]] = {}
    waiting = deque(starts)
    level: deque[int] = deque()
    distance = waiting[0][1] if waiting else 0
    while waiting or level:
        following: deque[int] = deque()
        while waiting and waiting[0][1] == distance:
            vertex, _ = waiting.popleft()
            if vertex not in came:
                came[vertex] = (-1, -1)
                level.append(vertex)
        for vertex in level:
            if is_goal(vertex):
                return _walked(came, vertex)
            for place in range(edges.start[vertex], edges.start[vertex + 1]):
                other = edges.target[place]
                if allowed[other] and other not in came:
                    came[other] = (vertex, edges.by[place])
                    following.append(other)
        level = following
        distance += 1
        if not level and waiting:
            distance = waiting[0][1]
    return None


def _walked(came: dict[int, tuple[int, int]], vertex: int) -> Walk:
    vertices, by = [vertex], []
    while came[vertex][0] >= 0:
        vertex, instance = came[vertex]
        vertices.append(vertex)
        by.append(instance)
    return Walk(vertices[::-1], by[::-1])


def fair_loop(
    edges: Edges,
    enabled: Sequence[int],
    part: array[int],
    entry: int,
    fair: FairSet,
    constraints: Constraints,
) -> Walk:
    """A walk from a vertex of a fair set back to it, without leaving the set, that is fair when repeated for ever.
    A walk of no steps means staying."""
    loop = Walk([entry], [])
    if not enabled[entry]:
        return loop
    owed = 0
    for vertex in fair.states:
        owed |= enabled[vertex]
    owed &= constraints.strong | enabled[entry]  # a weak one that the entry has disabled is satisfied
    while owed:
        owed = _advance(edges, enabled, part, loop, fair.mark, owed, constraints)
    if loop.vertices[-1] != entry:
        home = _shortest(edges, part, fair.mark, loop.vertices[-1], lambda vertex, _: vertex == entry)
        loop.vertices.extend(home.vertices[1:])
        loop.by.extend(home.by)
    return loop


def _advance(
    edges: Edges,
    enabled: Sequence[int],
    part: array[int],
    loop: Walk,
    mark: int,
    owed: int,
    constraints: Constraints,
) -> int:
    """Goes on to the nearest step or state that something owed asks for; what is owed then."""

    def pays(vertex: int, instance: int) -> bool:
        taken = constraints.taken_by[instance] if instance >= 0 else 0
        return bool(owed & (taken | ~constraints.strong & ~enabled[vertex]))

    walk = _shortest(edges, part, mark, loop.vertices[-1], pays)
    for vertex, instance in zip(walk.vertices[1:], walk.by, strict=True):
        owed &= ~constraints.taken_by[instance]
        owed &= constraints.strong | enabled[vertex]
        loop.vertices.append(vertex)
        loop.by.append(instance)
    return owed


def _shortest(edges: Edges, part: array[int], mark: int, start: int, is_goal: Callable[[int, int], bool]) -> Walk:
    """The shortest walk of at least one step inside a set whose last step is wanted: given its end and instance."""
    came: dict[int, tuple[int, int]] = {start: (-1, -1)}
    waiting = deque([start])
    while waiting:
        vertex = waiting.popleft()
        for place in range(edges.start[vertex], edges.start[vertex + 1]):
            other, instance = edges.target[place], edges.by[place]
            if part[other] != mark:
                continue
            if is_goal(other, instance):
                walk = _walked(came, vertex)
                return Walk([*walk.vertices, other], [*walk.by, instance])
            if other not in came:
                came[other] = (vertex, instance)
                waiting.append(other)
    raise AssertionError("a strongly connected set has a walk to each of its steps")
