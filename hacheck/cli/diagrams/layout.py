"""Layered layout of a directed graph: boxes in rows, edges from row to row, and a place for every edge's
label.

An edge's label is a box of its own in the row between its ends, so nothing can overlap: the order within rows
is chosen for few crossings, and the places within them for short edges, with a distance kept between
neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hacheck.model.data import dataclass

NODE_GAP = 28.0
LABEL_GAP = 16.0
ROW_GAP = 24.0
BEND_WIDTH = 10.0


@dataclass(frozen=True, slots=True)
class Box:
    """Something to be placed, by its size."""

    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Link:
    """An edge between two nodes (by number), with the size of its label."""

    source: int
    target: int
    label: Box


@dataclass(frozen=True, slots=True)
class Placed:
    """The layout: the centres of nodes and of labels, each edge's points from source to target, and the
    size."""

    nodes: tuple[tuple[float, float], ...]
    labels: tuple[tuple[float, float], ...]
    paths: tuple[tuple[tuple[float, float], ...], ...]
    width: float
    height: float


Joints = list[tuple[list[int], list[int]]]
"""For each item those above it and those below it that it is joined to."""


@dataclass(slots=True)
class _Item:
    """A node, a label, or a bend of an edge that passes through a row."""

    box: Box
    row: int
    kind: str
    x: float = 0.0


def place(nodes: Sequence[Box], links: Sequence[Link], roots: Sequence[int]) -> Placed:
    """Lays out the graph, `roots` at the top. Cost: small for the graphs people can read."""
    rows_of = _rows(len(nodes), links, roots)
    items = [_Item(box, row, "node") for box, row in zip(nodes, rows_of, strict=True)]
    chains = [_chain(items, link) for link in links]
    neighbours = _neighbours(items, chains)
    rows = _ordered(items, neighbours)
    _assign_x(items, rows, neighbours)
    tops = _row_tops(items, rows)
    return _result(len(nodes), links, items, chains, tops)


# ---- rows --------------------------------------------------------------------------------------------------


def _rows(count: int, links: Sequence[Link], roots: Sequence[int]) -> list[int]:
    """The row of each node; only even rows hold nodes. Edges that would close a cycle point upwards."""
    forward = _acyclic(count, links, roots)
    rows = [0] * count
    for _ in range(count):
        for source, target in forward:
            rows[target] = max(rows[target], rows[source] + 2)
    # a node with no way in belongs just above what it leads to
    for node in range(count):
        onward = [target for source, target in forward if source == node]
        if node not in roots and onward and not any(target == node for _, target in forward):
            rows[node] = max(0, min(rows[target] for target in onward) - 2)
    return rows


def _acyclic(count: int, links: Sequence[Link], roots: Sequence[int]) -> list[tuple[int, int]]:
    """The edges as pairs; those that close a cycle in a walk from the roots, or lead to a root, turned
    round."""
    onward: list[list[int]] = [[] for _ in range(count)]
    for link in links:
        if link.target not in onward[link.source]:
            onward[link.source].append(link.target)
    done: set[int] = set()
    forward: list[tuple[int, int]] = []

    def visit(node: int, path: frozenset[int]) -> None:
        done.add(node)
        for target in onward[node]:
            upwards = target in path or (target in roots and node not in roots)
            forward.append((target, node) if upwards else (node, target))
            if target not in done:
                visit(target, path | {target})

    for root in (*roots, *range(count)):
        if root not in done:
            visit(root, frozenset({root}))
    return forward


def _chain(items: list[_Item], link: Link) -> list[int]:
    """The items an edge passes, from its upper end to its lower one: bends, its label in the middle,
    bends."""
    upper, lower = sorted((link.source, link.target), key=lambda node: items[node].row)
    first, last = items[upper].row, items[lower].row
    middle = (first + last) // 2 | 1
    chain = [upper]
    for row in range(first + 1, last):
        is_label = row == middle
        items.append(_Item(link.label if is_label else Box(BEND_WIDTH, 0), row, "label" if is_label else "bend"))
        chain.append(len(items) - 1)
    chain.append(lower)
    return chain


def _neighbours(items: list[_Item], chains: list[list[int]]) -> Joints:
    """For each item those above it and those below it."""
    found: Joints = [([], []) for _ in items]
    for chain in chains:
        for upper, lower in pairwise(chain):
            found[lower][0].append(upper)
            found[upper][1].append(lower)
    return found


# ---- order within rows -------------------------------------------------------------------------------------


def _ordered(items: list[_Item], neighbours: Joints) -> list[list[int]]:
    """The items of each row from left to right, with few crossings: sweeps by the mean place of
    neighbours."""
    rows: list[list[int]] = [[] for _ in range(1 + max((item.row for item in items), default=0))]
    for number, item in enumerate(items):
        rows[item.row].append(number)
    best = [list(row) for row in rows]
    fewest = _crossings(best, neighbours)
    for turn in range(24):
        side = turn % 2
        order = range(1, len(rows)) if side == 0 else range(len(rows) - 2, -1, -1)
        for row in order:
            place = {item: spot for spot, item in enumerate(rows[row - 1 if side == 0 else row + 1])}
            _sort_by_mean(rows[row], place, neighbours, side)
        _swap_neighbours(rows, neighbours)
        crossings = _crossings(rows, neighbours)
        if crossings < fewest:
            fewest, best = crossings, [list(row) for row in rows]
    return best


def _sort_by_mean(row: list[int], place: dict[int, int], neighbours: Joints, side: int) -> None:
    """Sorts a row by the mean place of what its items are joined to; others stay where they are."""
    keys = {}
    for spot, item in enumerate(row):
        places = [place[other] for other in neighbours[item][side] if other in place]
        keys[item] = sum(places) / len(places) if places else float(spot)
    row.sort(key=lambda item: keys[item])


def _swap_neighbours(rows: list[list[int]], neighbours: Joints) -> None:
    """Swaps items side by side as long as that saves crossings."""
    for number, row in enumerate(rows):
        for spot in range(len(row) - 1):
            before = _crossings_around(rows, number, neighbours)
            row[spot], row[spot + 1] = row[spot + 1], row[spot]
            if _crossings_around(rows, number, neighbours) >= before:
                row[spot], row[spot + 1] = row[spot + 1], row[spot]


def _crossings_around(rows: list[list[int]], number: int, neighbours: Joints) -> int:
    return _crossings(rows[max(0, number - 1) : number + 2], neighbours)


def _crossings(rows: list[list[int]], neighbours: Joints) -> int:
    """How many pairs of edge pieces between neighbouring rows cross."""
    total = 0
    for upper, lower in pairwise(rows):
        place = {item: spot for spot, item in enumerate(lower)}
        ends = [
            (spot, place[other]) for spot, item in enumerate(upper) for other in neighbours[item][1] if other in place
        ]
        for index, (left, low) in enumerate(ends):
            total += sum(left < right and low > down for right, down in ends[index + 1 :])
    return total


# ---- places ------------------------------------------------------------------------------------------------


def _distance(left: _Item, right: _Item) -> float:
    gap = NODE_GAP if left.kind == right.kind == "node" else LABEL_GAP
    return (left.box.width + right.box.width) / 2 + gap


def _assign_x(items: list[_Item], rows: list[list[int]], neighbours: Joints) -> None:
    """Gives each item its place from left to right: near what it is joined to, and clear of what is beside
    it."""
    for row in rows:
        x = 0.0
        for left, right in pairwise(row):
            x += _distance(items[left], items[right])
            items[right].x = x
    for turn in range(120):
        order = rows if turn % 2 == 0 else rows[::-1]
        for row in order:
            _settle(items, row, [_wanted(items, neighbours, number) for number in row])
    least = min((item.x - item.box.width / 2 for item in items), default=0.0)
    for item in items:
        item.x -= least


def _wanted(items: list[_Item], neighbours: Joints, number: int) -> tuple[float, float]:
    """Where an item would like to be and how much: an edge that passes through a row would like to be
    straight."""
    above, below = neighbours[number]
    pulls = [
        (items[other].x, 1.0 if "node" in (items[number].kind, items[other].kind) else 8.0) for other in above + below
    ]
    total = sum(weight for _, weight in pulls)
    if not total:
        return items[number].x, 1.0
    return sum(x * weight for x, weight in pulls) / total, total


def _settle(items: list[_Item], row: list[int], wanted: list[tuple[float, float]]) -> None:
    """Moves the items of a row as near to their wanted places as the distances between them allow (least
    squares, by pooling neighbours that push each other)."""
    offsets = [0.0]
    for left, right in pairwise(row):
        offsets.append(offsets[-1] + _distance(items[left], items[right]))
    pools: list[tuple[float, float, int]] = []
    for (want, weight), offset in zip(wanted, offsets, strict=True):
        mean, size = want - offset, 1
        while pools and pools[-1][0] > mean:
            before, heavy, count = pools.pop()
            mean = (before * heavy + mean * weight) / (heavy + weight)
            weight += heavy
            size += count
        pools.append((mean, weight, size))
    means = [mean for mean, _, size in pools for _ in range(size)]
    for number, mean, offset in zip(row, means, offsets, strict=True):
        items[number].x = mean + offset


def _row_tops(items: list[_Item], rows: list[list[int]]) -> list[tuple[float, float]]:
    """The top and the height of each row."""
    tops = []
    y = 0.0
    for row in rows:
        height = max((items[number].box.height for number in row), default=0.0)
        tops.append((y, height))
        y += height + ROW_GAP
    return tops


def _result(
    count: int,
    links: Sequence[Link],
    items: list[_Item],
    chains: list[list[int]],
    tops: list[tuple[float, float]],
) -> Placed:
    """The places of everything; edges begin and end at the borders of their nodes, side by side."""

    def center(number: int) -> tuple[float, float]:
        top, height = tops[items[number].row]
        return items[number].x, top + height / 2

    ports = _ports(items, chains)
    labels, paths = [], []
    for index, (link, chain) in enumerate(zip(links, chains, strict=True)):
        upper, lower = chain[0], chain[-1]
        start = (ports[index, 0], center(upper)[1] + items[upper].box.height / 2)
        end = (ports[index, 1], center(lower)[1] - items[lower].box.height / 2)
        points = [start]
        for number in chain[1:-1]:
            top, height = tops[items[number].row]
            points += [(items[number].x, top), (items[number].x, top + height)]
        points.append(end)
        paths.append(tuple(points if link.source == upper else points[::-1]))
        labels.append(next((center(number) for number in chain if items[number].kind == "label"), start))
    width = max((item.x + item.box.width / 2 for item in items), default=0.0)
    height = tops[-1][0] + tops[-1][1] if tops else 0.0
    return Placed(tuple(center(number) for number in range(count)), tuple(labels), tuple(paths), width, height)


def _ports(items: list[_Item], chains: list[list[int]]) -> dict[tuple[int, int], float]:
    """Where along a node's border each edge begins or ends: spread out, in the order of where the edges
    go."""
    ports: dict[tuple[int, int], float] = {}
    ends: dict[tuple[int, int], list[tuple[float, int]]] = {}
    for index, chain in enumerate(chains):
        ends.setdefault((chain[0], 0), []).append((items[chain[1]].x, index))
        ends.setdefault((chain[-1], 1), []).append((items[chain[-2]].x, index))
    for (node, side), found in ends.items():
        room = max(0.0, items[node].box.width - 24)
        step = min(22.0, room / max(1, len(found) - 1))
        first = items[node].x - step * (len(found) - 1) / 2
        for spot, (_, index) in enumerate(sorted(found)):
            ports[index, side] = first + spot * step
    return ports
