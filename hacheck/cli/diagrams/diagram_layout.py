"""Layered layout of a state diagram: boxes in rows, and a place for every edge's label.

grandalf lays out; it knows nothing of labels, so an edge's label is a box of its own between the edge's ends. What is
done here is what it expects of its caller: no cycles, each connected part by itself, and where edges begin and end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from grandalf.graphs import Vertex, graph_core

NODE_GAP = 28.0
LABEL_GAP = 16.0
ROW_GAP = 30.0
SWEEPS = 8
"""How often the order within rows is improved; more changes nothing in the shipped protocols."""

Point = tuple[float, float]


class Box(Struct, frozen=True):
    """Something to be placed, by its size."""

    width: float
    height: float


class Link(Struct, frozen=True):
    """An edge between two nodes (by number), with the size of its label."""

    source: int
    target: int
    label: Box


class Placed(Struct, frozen=True):
    """The layout: the centres of nodes and of labels, each edge's points from source to target, and the size."""

    nodes: tuple[Point, ...]
    labels: tuple[Point, ...]
    paths: tuple[tuple[Point, ...], ...]
    width: float
    height: float


class _Shape(Struct, eq=False):
    """What grandalf reads of a box (`w`, `h`), and where it puts its centre."""

    w: float
    h: float
    xy: Point = (0.0, 0.0)


class _Line(Struct, eq=False):
    """Where grandalf leads an edge."""

    points: tuple[Point, ...] = ()

    def setpath(self, points: Sequence[Point]) -> None:
        self.points = tuple(points)


def place(nodes: Sequence[Box], links: Sequence[Link], roots: Sequence[int]) -> Placed:
    """Lays out the graph, `roots` above what they lead to. Cost: small for the graphs people can read."""
    from grandalf.graphs import Edge, Graph, Vertex

    def vertex(box: Box) -> Vertex:
        made = Vertex()
        made.view = _Shape(box.width, box.height)
        return made

    def edge(upper: Vertex, lower: Vertex) -> Edge:
        made = Edge(upper, lower)
        made.view = _Line()
        return made

    boxes, labels = [vertex(box) for box in nodes], [vertex(link.label) for link in links]
    downwards = _acyclic(len(nodes), links, roots)
    ends, edges = [], []
    for link, label, down in zip(links, labels, downwards, strict=True):
        source, target = boxes[link.source], boxes[link.target]
        upper, lower = (source, target) if down else (target, source)
        ends.append((upper.view, lower.view))
        edges.append((edge(upper, label), edge(label, lower)))
    width = height = 0.0
    for part in Graph([*boxes, *labels], [half for pair in edges for half in pair]).C:
        left = width + NODE_GAP if width else 0.0
        across, tall = _lay_out(part, left)
        width, height = left + across, max(height, tall)
    chains = [
        (upper, above.view.points[1:-1], label.view, below.view.points[1:-1], lower)
        for (upper, lower), label, (above, below) in zip(ends, labels, edges, strict=True)
    ]
    paths = _paths(chains)
    return Placed(
        tuple(box.view.xy for box in boxes),
        tuple(label.view.xy for label in labels),
        tuple(path if forward else path[::-1] for path, forward in zip(paths, downwards, strict=True)),
        width,
        height,
    )


def _lay_out(part: graph_core, left: float) -> Point:
    """Lays out a connected part, from `left` on; its width and height."""
    from grandalf.layouts import SugiyamaLayout

    layout = SugiyamaLayout(part)
    layout.xspace, layout.yspace = LABEL_GAP, ROW_GAP
    layout.route_edge = lambda edge, points: edge.view.setpath(points)
    layout.init_all()
    layout.draw(SWEEPS)
    shapes = [vertex.view for vertex in part.sV]
    first = min(shape.xy[0] - shape.w / 2 for shape in shapes)
    top = min(shape.xy[1] - shape.h / 2 for shape in shapes)

    def moved(point: Point) -> Point:
        return point[0] - first + left, point[1] - top

    for shape in shapes:
        shape.xy = moved(shape.xy)
    for edge in part.sE:
        edge.view.setpath([moved(point) for point in edge.view.points])
    return (
        max(shape.xy[0] + shape.w / 2 for shape in shapes) - left,
        max(shape.xy[1] + shape.h / 2 for shape in shapes),
    )


def _acyclic(count: int, links: Sequence[Link], roots: Sequence[int]) -> list[bool]:
    """Of each edge whether it points down: not if it closes a cycle in a walk from the roots, or leads to a root."""
    onward = [sorted({link.target for link in links if link.source == node}) for node in range(count)]
    done: set[int] = set()
    upwards: set[tuple[int, int]] = set()

    def visit(node: int, path: frozenset[int]) -> None:
        done.add(node)
        for target in onward[node]:
            if target in path or (target in roots and node not in roots):
                upwards.add((node, target))
            if target not in done:
                visit(target, path | {target})

    for root in (*roots, *range(count)):
        if root not in done:
            visit(root, frozenset({root}))
    return [(link.source, link.target) not in upwards for link in links]


Chain = tuple[_Shape, tuple[Point, ...], _Shape, tuple[Point, ...], _Shape]
"""What an edge passes from its upper end to its lower one: bends, its label, bends."""


def _paths(chains: Sequence[Chain]) -> list[tuple[Point, ...]]:
    """The points of each edge, from border to border; upright within each row."""
    aims = [((*above, label.xy)[0][0], (label.xy, *below)[-1][0]) for _, above, label, below, _ in chains]
    starts = _ports([(chain[0], aim) for chain, (aim, _) in zip(chains, aims, strict=True)])
    ends = _ports([(chain[4], aim) for chain, (_, aim) in zip(chains, aims, strict=True)])
    rows = _row_heights([shape for upper, _, label, _, lower in chains for shape in (upper, label, lower)])
    paths = []
    for (upper, above, label, below, lower), start, end in zip(chains, starts, ends, strict=True):
        path = [(start, upper.xy[1] + upper.h / 2)]
        if rows[upper.xy[1]] > upper.h:
            path.append((start, upper.xy[1] + rows[upper.xy[1]] / 2))
        for x, y in (*above, label.xy, *below):
            half = rows.get(y, 0.0) / 2
            path += [(x, y - half), (x, y + half)]
        if rows[lower.xy[1]] > lower.h:
            path.append((end, lower.xy[1] - rows[lower.xy[1]] / 2))
        path.append((end, lower.xy[1] - lower.h / 2))
        paths.append(tuple(path))
    return paths


def _row_heights(shapes: Iterable[_Shape]) -> dict[float, float]:
    """The height of each row, by the place of its middle: an edge is upright within it, clear of tall labels."""
    heights: dict[float, float] = {}
    for shape in shapes:
        y = shape.xy[1]
        heights[y] = max(heights.get(y, 0.0), shape.h)
    return heights


def _ports(aims: Iterable[tuple[_Shape, float]]) -> list[float]:
    """Where along the border of its box each edge begins: spread out, in the order of where the edges go."""
    found: dict[int, list[tuple[float, int, _Shape]]] = {}
    for index, (shape, aim) in enumerate(aims):
        found.setdefault(id(shape), []).append((aim, index, shape))
    ports: dict[int, float] = {}
    for edges in found.values():
        shape = edges[0][2]
        step = min(22.0, max(0.0, shape.w - 24) / max(1, len(edges) - 1))
        first = shape.xy[0] - step * (len(edges) - 1) / 2
        for spot, (_, index, _) in enumerate(sorted(edges, key=lambda edge: edge[:2])):
            ports[index] = first + spot * step
    return [ports[index] for index in range(len(ports))]
