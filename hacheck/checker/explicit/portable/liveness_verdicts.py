"""`eventually` and `leads_to`, decided on the finished graph of reachable states.

A violation is a fair run (`fairness` says what that is) that stays among the states where the goal does not hold:
from the start for `eventually`, from a state where the premise holds for `leads_to`. It is shown as the shortest way
into a fair set of such states and a loop there.

Where such a run can reach a step that only a bound of the exploration forbids, nobody knows how it would go on: then
the property is not said to hold.
"""

from __future__ import annotations

from array import array

from msgspec import Struct

from hacheck.checker.explicit.fairness import Constraints, constraints_of
from hacheck.checker.explicit.portable.breadth_first_search import Log
from hacheck.checker.explicit.portable.fair_sets import fair_sets
from hacheck.checker.explicit.portable.portable_result import subject_of
from hacheck.checker.explicit.portable.python_program import Code, compiled, marking_source
from hacheck.checker.explicit.portable.shortest_lasso import Walk, fair_loop, nearest
from hacheck.checker.explicit.portable.shortest_paths import path_to
from hacheck.checker.explicit.portable.strong_components import Edges
from hacheck.checker.explicit.search_result import BEYOND, Lasso, LivenessVerdict, Valueless
from hacheck.compile.lowering.system import lower_condition
from hacheck.model.ir import TRUE, Expression, Property


class _Graph(Struct, frozen=True):
    """The states in which the goal does not hold, with the steps between them. Vertices are places in `Log.order`;
    others have no edges."""

    edges: Edges
    enabled: list[int]
    inside: list[int]
    at_bound: bytearray
    """Where a step was not taken because it would have passed a bound."""


def check_liveness(code: Code, log: Log, properties: tuple[Property, ...]) -> list[LivenessVerdict]:
    """What there is to say about each property on a graph that is complete."""
    return [check_one(code, log, item) for item in properties]


def check_one(code: Code, log: Log, prop: Property) -> LivenessVerdict:
    """What there is to say about one property on a graph that is complete."""
    goal = _marks(code, log, prop.goal)
    premise = _marks(code, log, prop.premise or TRUE)
    for marks, expression in ((goal, prop.goal), (premise, prop.premise or TRUE)):
        if isinstance(marks, int):
            return Valueless(path_to(code, log, [log.order[marks]]), expression)
    assert isinstance(goal, bytearray), "the goal has a value everywhere"
    assert isinstance(premise, bytearray), "the premise has a value everywhere"
    bad = bytearray(0 if holds else 1 for holds in goal)
    if prop.kind == "eventually":
        starts = [vertex for vertex in range(log.initial) if bad[vertex]]
    else:
        starts = [vertex for vertex in range(len(bad)) if bad[vertex] and premise[vertex]]
    constraints = constraints_of(code.lowered.system, subject_of(code).instances, prop.fairness)
    graph = _graph(code, log, bad, constraints)
    part = array("Q", bytes(8 * len(bad)))
    sets = fair_sets(graph.edges, graph.enabled, graph.inside, part, constraints)
    by_mark = {fair.mark: fair for fair in sets}
    depths = _depths(log)
    walk = nearest(
        graph.edges,
        [(vertex, depths[vertex]) for vertex in starts],
        bad,
        lambda vertex: part[vertex] in by_mark,
    )
    if walk is None:
        leaving = nearest(
            graph.edges, [(start, depths[start]) for start in starts], bad, lambda at: graph.at_bound[at] == 1
        )
        return None if leaving is None else BEYOND
    entry = walk.vertices[-1]
    return _lasso(
        code, log, walk, fair_loop(graph.edges, graph.enabled, part, entry, by_mark[part[entry]], constraints)
    )


def _marks(code: Code, log: Log, expression: Expression) -> bytearray | int:
    """Where the expression holds; or the place of the first state in which it has no value."""
    condition = lower_condition(code.lowered, expression)
    found: bytearray = compiled(marking_source(code.lowered, condition.value), "condition")["mark"](log.order)
    if condition.error is code.lowered.graph.zero:
        return found
    erroneous: bytearray = compiled(marking_source(code.lowered, condition.error), "error")["mark"](log.order)
    place = erroneous.find(1)
    return found if place < 0 else place


def _graph(code: Code, log: Log, bad: bytearray, constraints: Constraints) -> _Graph:
    """The part of the graph where the goal does not hold, its successors generated once more."""
    place_of = {state: place for place, state in enumerate(log.order)}
    start, target, by = array("Q", [0]), array("I"), array("I")
    enabled = [0] * len(log.order)
    at_bound = bytearray(len(log.order))
    for place, state in enumerate(log.order):
        if bad[place]:
            found: list[int] = []
            taken: list[int] = []
            stopped: list[int] = []
            for function in code.listing():
                function(state, found.append, taken.append, stopped.append, stopped.append)
            able = 0
            at_bound[place] = bool(stopped)
            for instance in stopped:
                able |= constraints.taken_by[instance]
            for successor, instance in zip(found, taken, strict=True):
                able |= constraints.taken_by[instance]
                other = place_of[successor]
                if bad[other]:
                    target.append(other)
                    by.append(instance)
            enabled[place] = able
        start.append(len(target))
    inside = [place for place in range(len(bad)) if bad[place]]
    return _Graph(Edges(start, target, by), enabled, inside, at_bound)


def _depths(log: Log) -> array[int]:
    """For each state the number of steps to it."""
    depths = array("I", bytes(4 * len(log.order)))
    ends = [*log.levels[1:], len(log.order)]
    for depth, (first, end) in enumerate(zip(log.levels, ends, strict=True)):
        for place in range(first, end):
            depths[place] = depth
    return depths


def _lasso(code: Code, log: Log, walk: Walk, loop: Walk) -> Lasso:
    prefix = path_to(code, log, [log.order[walk.vertices[0]]])
    vertices = (*walk.vertices[1:], *loop.vertices[1:])
    path = prefix.then([log.order[vertex] for vertex in vertices], (*walk.by, *loop.by))
    return Lasso(path, len(prefix.states) - 1 + len(walk.by))
