"""The layout of diagrams: nothing overlaps, and edges lead from state to state."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from hacheck.cli.diagrams.diagram_layout import Box, Link, Placed, place


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Box], list[Link], list[int]]:
    """Small graphs as state diagrams are: some states, edges between different ones, some of them first."""
    sizes = st.builds(Box, st.floats(20, 200), st.floats(10, 80))
    nodes = draw(st.lists(sizes, min_size=1, max_size=7))
    ends = st.tuples(*[st.integers(0, len(nodes) - 1)] * 2).filter(lambda pair: pair[0] != pair[1])
    pairs = draw(st.lists(ends, max_size=10)) if len(nodes) > 1 else []
    links = [Link(source, target, draw(sizes)) for source, target in pairs]
    roots = draw(st.lists(st.integers(0, len(nodes) - 1), max_size=2, unique=True))
    return nodes, links, roots


def apart(one: tuple[Box, float, float], other: tuple[Box, float, float]) -> bool:
    """Whether two boxes, given by their centres, do not touch."""
    (a, x, y), (b, u, v) = one, other
    return abs(x - u) > (a.width + b.width) / 2 or abs(y - v) > (a.height + b.height) / 2


@settings(max_examples=150)
@given(graphs())
def test_no_state_and_no_label_overlaps_another(graph: tuple[list[Box], list[Link], list[int]]) -> None:
    nodes, links, roots = graph
    placed = place(nodes, links, roots)
    boxes = [(box, *center) for box, center in zip(nodes, placed.nodes, strict=True)]
    boxes += [(link.label, *center) for link, center in zip(links, placed.labels, strict=True)]
    for one, other in combinations(boxes, 2):
        assert apart(one, other), (one, other)


@settings(max_examples=150)
@given(graphs())
def test_everything_lies_within_the_size(graph: tuple[list[Box], list[Link], list[int]]) -> None:
    nodes, links, roots = graph
    placed = place(nodes, links, roots)
    for box, (x, y) in zip(nodes, placed.nodes, strict=True):
        assert -0.01 <= x - box.width / 2 <= x + box.width / 2 <= placed.width + 0.01
        assert -0.01 <= y - box.height / 2 <= y + box.height / 2 <= placed.height + 0.01


@settings(max_examples=150)
@given(graphs())
def test_edges_begin_and_end_at_the_borders_of_their_states(
    graph: tuple[list[Box], list[Link], list[int]],
) -> None:
    nodes, links, roots = graph
    placed = place(nodes, links, roots)
    for link, path in zip(links, placed.paths, strict=True):
        assert on_border(placed, nodes, link.source, path[0])
        assert on_border(placed, nodes, link.target, path[-1])


def on_border(placed: Placed, nodes: list[Box], node: int, point: tuple[float, float]) -> bool:
    """Whether a point is on the upper or lower border of a node."""
    (x, y), box = placed.nodes[node], nodes[node]
    return abs(point[0] - x) <= box.width / 2 + 0.01 and abs(abs(point[1] - y) - box.height / 2) < 0.01


def test_a_chain_is_drawn_straight_down() -> None:
    box = Box(50, 20)
    placed = place([box] * 3, [Link(0, 1, box), Link(1, 2, box)], [0])
    assert len({round(x, 3) for x, _ in placed.nodes}) == 1
    assert [y for _, y in placed.nodes] == sorted(y for _, y in placed.nodes)


def test_where_it_starts_is_at_the_top_also_when_edges_lead_back_to_it() -> None:
    box = Box(50, 20)
    placed = place([box] * 3, [Link(1, 0, box), Link(0, 2, box), Link(2, 1, box)], [0])
    assert placed.nodes[0][1] == min(y for _, y in placed.nodes)
