"""Which edges of a state diagram are taken, found by the native engine.

Each edge that the text allows becomes an action of its own beside those of the system: the action that may take it,
with the condition that a node has gone from the one mode to the other. It leads nowhere new, so the graph stays the
same, and the engine counts how often it was taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.diagram_edges import DOWN
from hacheck.checker.engine import Coverage, Limits, Progress
from hacheck.checker.explicit.native_engine import NativeEngine
from hacheck.model.expressions import Binary, Constant, Expression, Index, Local, Unary, Variable
from hacheck.model.ir import Action, Let, Property, Require, System
from hacheck.model.types import Bool, Map, Node, Type, values

Edge = tuple[str, str, int]
"""From which mode to which, by which action (its index)."""


class Followed(Struct, frozen=True):
    """A mode variable whose edges are looked for; `up`: the variable that says whether a node is up, if it can
    crash."""

    variable: str
    type: Map
    up: str | None
    members: tuple[str, ...]
    edges: tuple[Edge, ...]

    @property
    def mode(self) -> Type:
        """The type of a mode."""
        return self.type.value


def taken_edges(
    system: System,
    followed: Sequence[Followed],
    limits: Limits,
    report: Callable[[Progress], bool],
    threads: int,
) -> tuple[list[frozenset[Edge]], Coverage]:
    """For each mode variable the edges that some reachable step takes, as far as was explored, and what that was."""
    probes = [(number, edge) for number, one in enumerate(followed) for edge in one.edges]
    added = tuple(_probe(system.actions[edge[2]], followed[number], edge) for number, edge in probes)
    kept = tuple(_reached(one) for one in followed)
    probed = replace(system, actions=(*system.actions, *added), properties=kept)
    answer = NativeEngine(threads=threads).check(probed, (), limits, report)
    counts = answer.coverage.action_counts[len(system.actions) :]
    found: list[set[Edge]] = [set() for _ in followed]
    for (number, edge), count in zip(probes, counts, strict=False):
        if count:
            found[number].add(edge)
    return [frozenset(edges) for edges in found], answer.coverage


def _probe(action: Action, followed: Followed, edge: Edge) -> Action:
    """The action where it takes the edge with some node."""
    source, target, _ = edge
    nodes = tuple(_nodes(followed))
    before = [_in_mode(followed, node, source) for node in nodes]
    kept = tuple(Let(_name(place), Bool(), condition) for place, condition in enumerate(before))
    went = [_and(Local(_name(place), Bool()), _in_mode(followed, node, target)) for place, node in enumerate(nodes)]
    body = (*kept, *action.body, Require(reduce(_or, went)))
    name = f"{action.name}: {source} to {target}"
    return replace(action, name=name, guard=_and(action.guard, reduce(_or, before)), body=body)


def _reached(followed: Followed) -> Property:
    """A property that reads the mode, so that all that a mode depends on is explored."""
    goal = reduce(_or, [_in_mode(followed, node, followed.members[-1]) for node in _nodes(followed)])
    return Property(f"reaches {followed.variable}", "reachable", goal, None, (), "", "", 0)


def _nodes(followed: Followed) -> Iterator[Constant]:
    kind = followed.type.key
    assert isinstance(kind, Node), f"{followed.variable} is no field of nodes"
    return (Constant(value, kind) for value in values(kind))


def _in_mode(followed: Followed, node: Constant, mode: str) -> Expression:
    is_up = None if followed.up is None else Index(Variable(followed.up, Map(followed.type.key, Bool())), node)
    if mode == DOWN:
        assert is_up is not None, "only a node that can crash is down"
        return Unary("not", is_up)
    has = Binary("==", Index(Variable(followed.variable, followed.type), node), Constant(mode, followed.mode))
    return has if is_up is None else _and(is_up, has)


def _name(place: int) -> str:
    return f"before${900_000 + place}"


def _and(left: Expression, right: Expression) -> Expression:
    return Binary("and", left, right)


def _or(left: Expression, right: Expression) -> Expression:
    return Binary("or", left, right)
