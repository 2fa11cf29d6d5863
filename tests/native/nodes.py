"""Random scalar expressions over slots of every width, and what they mean."""

from __future__ import annotations

import random
from collections.abc import Mapping

from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node, reachable

BITS_MAX = 150  # no number needs more: an expression that would is left as it was


def random_number(graph: Graph, slots: list[Node], chance: random.Random, depth: int) -> Node:
    """An expression of some depth."""

    def number(natural: bool = False) -> Node:
        found = random_number(graph, slots, chance, depth - 1)
        return graph.natural(found) if natural else found

    def truth() -> Node:
        return random_truth(graph, slots, chance, depth - 1)

    if depth == 0 or chance.random() < 0.1:
        return chance.choice(slots) if chance.random() < 0.8 else graph.const(chance.randint(-5, 70))
    kind = chance.randrange(14)
    match kind:
        case 0:
            node = graph.add(number(), number())
        case 1:
            node = graph.sub(number(), number())
        case 2:
            node = graph.mul(number(), number())
        case 3:
            node = graph.natural(number())
        case 4 | 5:
            node = graph.select(truth(), number(), number())
        case 6:
            node = graph.bitand(number(True), number(True))
        case 7:
            node = graph.bitor(number(True), number(True))
        case 8:
            node = graph.bitminus(number(True), number(True))
        case 9:
            index = number()
            inside = graph.and_(graph.le(graph.zero, index), graph.lt(index, graph.const(100)))
            node = graph.shr(number(True), graph.select(inside, index, graph.const(3)))
        case 10:
            node = graph.shl(number(True), graph.bitand(number(True), graph.const(31)))
        case 11:
            node = graph.popcount(number(True))
        case 12:
            node = graph.lowest(number(True))
        case _:
            node = picked(graph, slots, chance, depth)
    return node if max(abs(node.low), abs(node.high)).bit_length() <= BITS_MAX else chance.choice(slots)


def picked(graph: Graph, slots: list[Node], chance: random.Random, depth: int) -> Node:
    """One of several numbers by an index that is inside, known to be or not."""
    count = chance.randint(3, 6)
    options: tuple[Node, ...]
    match chance.randrange(3):
        case 0:
            high = chance.choice([3, 200, 1 << 50, 1 << 70])
            options = tuple(graph.const(chance.randint(-high, high)) for _ in range(count))
        case 1:  # slots, perhaps of the same width and side by side
            first = chance.randrange(len(slots) - count)
            options = tuple(slots[first + place] for place in range(count))
            options = options if chance.random() < 0.7 else tuple(chance.sample(options, count))
        case _:
            options = tuple(random_number(graph, slots, chance, depth - 1) for _ in range(count))
    index = random_number(graph, slots, chance, depth - 1)
    inside = graph.and_(graph.le(graph.zero, index), graph.lt(index, graph.const(count)))
    return graph.pick(graph.select(inside, index, graph.const(count - 1)), options)


def random_truth(graph: Graph, slots: list[Node], chance: random.Random, depth: int) -> Node:
    """A condition of some depth."""

    def number() -> Node:
        return random_number(graph, slots, chance, max(depth - 1, 0))

    def truths() -> list[Node]:
        return [random_truth(graph, slots, chance, depth - 1) for _ in range(chance.randint(2, 4))]

    slot = chance.choice(slots)
    content = graph.const(chance.choice([0, 1, slot.high, chance.randint(0, slot.high)]))
    if depth == 0:
        place = graph.const(chance.randrange(slot.high.bit_length()))
        return chance.choice([graph.eq(slot, content), graph.lt(slot, content), graph.bit(slot, place)])
    match chance.randrange(8):
        case 0:
            return graph.eq(number(), number())
        case 1:
            return graph.lt(number(), number())
        case 2:
            return graph.le(content, slot)
        case 3:
            return graph.all_of(truths())
        case 4:
            return graph.any_of(truths())
        case 5:
            return graph.not_(truths()[0])
        case 6:
            return graph.bit(graph.natural(number()), number())
        case _:
            return graph.select(*truths()[:2], truths()[0])  # type: ignore[call-arg]


def meaning(root: Node, contents: Mapping[int, int]) -> int:
    """The number that an expression stands for where slots hold these contents."""
    done: dict[Node, int] = {}
    for node in reachable([root]):
        given = [done[operand] for operand in node.operands]
        done[node] = _one(node, given, contents)
        assert node.low <= done[node] <= node.high
    return done[root]


def _one(node: Node, given: list[int], contents: Mapping[int, int]) -> int:
    match node.operator:
        case "const":
            return node.number
        case "slot":
            return contents[node.number]
        case "add":
            return given[0] + given[1]
        case "sub":
            return given[0] - given[1]
        case "mul":
            return given[0] * given[1]
        case "natural":
            return max(given[0], 0)
        case "eq" | "ne":
            return int((given[0] == given[1]) == (node.operator == "eq"))
        case "lt":
            return int(given[0] < given[1])
        case "le":
            return int(given[0] <= given[1])
        case "and":
            return int(all(given))
        case "or":
            return int(any(given))
        case "not":
            return int(not given[0])
        case "select":
            return given[1] if given[0] else given[2]
        case "pick":
            return given[1 + given[0]]
        case "bitand":
            return given[0] & given[1]
        case "bitor":
            return given[0] | given[1]
        case "bitminus":
            return given[0] & ~given[1]
        case "shl":
            return given[0] << given[1]
        case "shr":
            return given[0] >> given[1]
        case "bit":
            return given[0] >> given[1] & 1
        case "popcount":
            return given[0].bit_count()
        case "lowest":
            return max((given[0] & -given[0]).bit_length() - 1, 0)
        case operator:
            raise AssertionError(f"{operator} is not made here")
