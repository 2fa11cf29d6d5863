"""How many lines a step writes at most."""

from __future__ import annotations

from hacheck.model import ir
from hacheck.model.observing.line_writers import lines_most
from hacheck.model.types import Bag, Node, Sequence, Set, Type

SERVER = Node("Server", 3, False)


def loop(within: Type | None) -> ir.ForEach:
    """A line for each server of a collection, or for every server."""
    held = None if within is None else ir.Variable("some", within)
    return ir.ForEach("s", ir.Domain(SERVER, held, None), (ir.Log("seen", None, (), 0),))


def test_a_loop_writes_as_often_as_it_can_turn() -> None:
    assert lines_most((loop(None),)) == 3
    assert lines_most((loop(Set(SERVER)),)) == 3
    assert lines_most((loop(Sequence(SERVER, 5)),)) == 5, "one server may stand in it more than once"
    assert lines_most((loop(Bag(SERVER, 2)), ir.Log("done", None, (), 0))) == 3


def test_of_two_ways_the_longer_counts() -> None:
    line = ir.Log("done", None, (), 0)
    assert lines_most((ir.If(ir.TRUE, (line, line), (line,)),)) == 2
