"""Strongly connected components of part of a graph."""

from __future__ import annotations

from array import array

from msgspec import Struct


class Edges(Struct, frozen=True):
    """The edges of a graph: those of vertex v are `target[start[v]:start[v + 1]]`, each made `by` an instance."""

    start: array[int]
    target: array[int]
    by: array[int]


def components(edges: Edges, inside: list[int], part: array[int], mark: int) -> list[list[int]]:
    """The components of the vertices `inside`, which are those whose `part` is `mark`. Tarjan's algorithm without
    recursion. Cost: linear in the vertices and edges inside."""
    start, target = edges.start, edges.target
    number: dict[int, int] = {}  # order of discovery; -1 once the component is known
    low: dict[int, int] = {}
    stack: list[int] = []
    found: list[list[int]] = []
    for root in inside:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        stack.append(root)
        work = [(root, start[root])]
        while work:
            vertex, place = work.pop()
            end = start[vertex + 1]
            while place < end:
                other = target[place]
                place += 1
                if part[other] != mark:
                    continue
                seen = number.get(other)
                if seen is None:
                    work.append((vertex, place))
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    work.append((other, start[other]))
                    break
                if seen >= 0 and seen < low[vertex]:
                    low[vertex] = seen
            else:
                if work and low[vertex] < low[work[-1][0]]:
                    low[work[-1][0]] = low[vertex]
                if low[vertex] == number[vertex]:
                    component = _taken(stack, vertex)
                    found.append(component)
                    for member in component:
                        number[member] = -1
    return found


def _taken(stack: list[int], vertex: int) -> list[int]:
    """Takes the vertices from this one on off the stack."""
    place = len(stack) - 1
    while stack[place] != vertex:
        place -= 1
    component = stack[place:]
    del stack[place:]
    return component
