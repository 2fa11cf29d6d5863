"""Expressions compiled to machine code have the value that they stand for, whatever their width."""

from __future__ import annotations

import random

import pytest

from hacheck.compile.codegen.system_module import emit
from hacheck.compile.codegen.word_layout import WORD_BITS, arranged_in_words, from_words, to_words, word_count
from hacheck.compile.lowering.blocks import Block, Branch, Emit, Instance, Lowered, SetTemp, Update
from hacheck.compile.lowering.expression_graph import Graph
from hacheck.compile.lowering.expression_nodes import Node
from hacheck.compile.lowering.layout import Layout, Slot
from tests.models.small import action, system
from tests.native.emitted import linked
from tests.native.nodes import meaning, random_number, random_truth
from tests.nightly import first_of

WIDTHS = (3, 3, 3, 3, 3, 3, 1, 1, 1, 1, 2, 8, 17, 32, 63, 64, 65, 70, 128)
STATES = 70  # more than are expanded in one go


@pytest.mark.parametrize("first", first_of(range(0, 120, 20)))
def test_expressions_have_their_value(first: int) -> None:
    for seed in range(first, first + 20):
        assert_values(seed)


def assert_values(seed: int) -> None:
    """Instances with random guards write random numbers, some by way of a temporary or on one side of a branch."""
    chance, graph = random.Random(seed), Graph()
    highs = [chance.randint(max(1, (1 << width - 1)), (1 << width) - 1) for width in WIDTHS]
    slots = [graph.slot(index, high) for index, high in enumerate(highs)]
    instances: list[Instance] = []
    written: list[tuple[Node, list[tuple[Node, Node]]]] = []
    for _ in range(6):
        value = random_number(graph, slots, chance, 4)
        if value.is_const:
            continue
        output = len(highs)
        highs.append(value.high - value.low)
        guard = tuple(random_truth(graph, slots, chance, 2) for _ in range(chance.randint(0, 2)))
        block, cases = written_to(graph, slots, chance, output, value)
        instances.append(Instance(0, (), tuple(test for test in guard if not test.is_const), block))
        written.append((graph.all_of(guard), cases))
    layout = Layout(tuple(Slot(f"s{index}", 0, high.bit_length(), high) for index, high in enumerate(highs)), ())
    native = linked(emit(Lowered(system({}, action()), layout, graph, tuple(instances))))
    places = native.program.layout.slots
    states = [[chance.choice([0, high, chance.randint(0, high)]) for high in highs] for _ in range(STATES)]
    packed = [sum(content << slot.offset for content, slot in zip(state, places, strict=True)) for state in states]
    for state, before, found in zip(states, packed, native.expand(packed), strict=True):
        contents = dict(enumerate(state))
        expected = []
        for index, (guard, cases) in enumerate(written):
            if guard.is_const and not guard.number:  # type: ignore[attr-defined]
                continue  # its tests were left out
            if meaning(guard, contents):
                value = next(value for case, value in cases if meaning(case, contents))
                output = places[len(WIDTHS) + index]
                after = before & ~((1 << output.width) - 1 << output.offset) | meaning(value, contents) << output.offset  # type: ignore[attr-defined]
                expected.append((index, after))
        impossible = {index for index, (guard, _) in enumerate(written) if guard.is_const and not guard.number}
        assert sorted(one for one in found if one[0] not in impossible) == expected


def written_to(
    graph: Graph, slots: list[Node], chance: random.Random, output: int, value: Node
) -> tuple[Block, list[tuple[Node, Node]]]:
    """A block that writes a number to a slot, and the cases it distinguishes: a condition, and what is written."""
    raised = graph.plus(value, -value.low)
    emit_raised = Emit((Update(output, raised, None),))
    other = graph.const(chance.randint(0, raised.high))
    condition = random_truth(graph, slots, chance, 3)
    match chance.randrange(3):
        case 0:
            return (emit_raised,), [(graph.one, raised)]
        case 1:
            temp = graph.temp(output, raised.low, raised.high)
            return (SetTemp(output, raised), Emit((Update(output, temp, None),))), [(graph.one, raised)]
        case _ if condition.is_const:
            return (emit_raised,), [(graph.one, raised)]
        case _:
            temp = graph.temp(output, 0, raised.high)
            branch = Branch(condition, (SetTemp(output, raised),), (SetTemp(output, other),))
            cases = [(condition, raised), (graph.one, other)]
            return (branch, Emit((Update(output, temp, None),))), cases


def test_deeply_nested_branches_are_compiled() -> None:
    graph, high = Graph(), (1 << 20) - 1
    slot = graph.slot(0, high)
    block: Block = ()
    for content in range(1_500):
        block = (Branch(graph.eq(slot, graph.const(content)), (Emit((Update(0, graph.const(high), None),)),), block),)
    layout = Layout((Slot("s", 0, 20, high),), ())
    native = linked(emit(Lowered(system({}, action()), layout, graph, (Instance(0, (), (), block),))))
    assert native.expand([0, 1_499, 1_500]) == [[(0, high)], [(0, high)], []]


def test_no_slot_lies_across_the_border_of_a_word() -> None:
    chance = random.Random(1)
    for _ in range(200):
        widths = [chance.choice([1, 2, 3, 5, 8, 13, 21, 33, 64, 65, 100]) for _ in range(chance.randint(1, 40))]
        layout = Layout(tuple(Slot("s", 0, width, (1 << width) - 1) for width in widths), ())
        arranged = arranged_in_words(Lowered(system({}, action()), layout, Graph(), ())).layout
        taken = 0
        for slot in arranged.slots:
            bits = (1 << slot.width) - 1 << slot.offset
            assert taken & bits == 0
            taken |= bits
            inside = slot.offset % WORD_BITS + slot.width <= WORD_BITS
            assert inside if slot.width <= WORD_BITS else slot.offset % WORD_BITS == 0
        narrow = sum(width for width in widths if width <= WORD_BITS)
        wide = sum(-(-width // WORD_BITS) for width in widths if width > WORD_BITS)
        assert word_count(arranged) >= wide + -(-narrow // WORD_BITS)
        assert 0 <= taken < 1 << WORD_BITS * word_count(arranged)


def test_words_of_a_state_make_the_state() -> None:
    state = 0x0123_4567_89AB_CDEF_FEDC_BA98_7654_3210_5555
    assert from_words(to_words(state, 3)) == state
    assert list(to_words(5, 2)) == [5, 0]
