"""Which contents of slots are a state: of use for states that no run led to, as where a proof by induction begins."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from hacheck.compile.lowering.blocks import Lowered
from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.layout import Cell, Flagged, Group, Layout, Place, Series, slots_of
from hacheck.compile.lowering.operations import less
from hacheck.compile.lowering.symbolic_values import Items, read
from hacheck.model.types import Bag


def well_formed(lowered: Lowered) -> Iterator[Node]:
    """Conditions that hold of slots which hold a state, and of no others: each holds a number up to its highest,
    what is behind a length or under a flag that is off holds 0, and bags are sorted."""
    graph, layout = lowered.graph, lowered.layout
    for index, slot in enumerate(layout.slots):
        if slot.fixed is None and slot.high & (slot.high + 1):
            # The interval of the slot says this much already, so the comparison must not be folded.
            yield graph.make("le", (_content(graph, layout, index), graph.const(slot.high)), 0, 1)
    for place in layout.places:
        yield from _of_place(graph, layout, place)


def _content(graph: Graph, layout: Layout, index: int) -> Node:
    slot = layout.slots[index]
    return graph.slot(index, slot.high) if slot.fixed is None else graph.const(slot.fixed)


def _of_place(graph: Graph, layout: Layout, place: Place) -> Iterator[Node]:
    match place:
        case Cell():
            return
        case Flagged(_, flag, inner):
            on = _content(graph, layout, flag)
            yield graph.or_(on, _blank(graph, layout, inner))
            yield from _of_place(graph, layout, inner)
        case Group(_, items):
            for item in items:
                yield from _of_place(graph, layout, item)
        case Series(kind, length, items):
            count = graph.zero if length is None else _content(graph, layout, length)
            for number, item in enumerate(items):
                yield graph.or_(graph.lt(graph.const(number), count), _blank(graph, layout, item))
                yield from _of_place(graph, layout, item)
            if isinstance(kind, Bag):
                held = read(graph, place, lambda slot: _content(graph, layout, slot))
                assert isinstance(held, Items), f"{kind} holds items"
                for number, (first, second) in enumerate(pairwise(held.items), start=1):
                    there = graph.lt(graph.const(number), count)
                    yield graph.implies(there, graph.not_(less(graph, second, first)))


def _blank(graph: Graph, layout: Layout, place: Place) -> Node:
    return graph.all_of(graph.eq(_content(graph, layout, slot), graph.zero) for slot in slots_of(place))
