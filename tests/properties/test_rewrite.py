"""Walking and rebuilding trees: every part is found, whatever the form of what holds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hacheck.model import ir
from hacheck.model.rewrite import TREES, parts, rebuild, statements, walk
from hacheck.model.types import Node
from tests.nightly import first_of
from tests.strategies import seeded_system


def roots(system: ir.System) -> Iterator[Any]:
    yield from system.initial
    for action in system.actions:
        yield action.guard
        yield from action.body
    for asked in system.properties:
        yield asked.goal


def held(node: Any) -> list[Any]:
    """What stands directly inside a node, found by looking into all its fields."""
    found = []
    for name in node.__struct_fields__:
        item = getattr(node, name)
        found += [one for one in (item if isinstance(item, tuple) else (item,)) if isinstance(one, TREES)]
    return found


def everything(root: Any) -> Iterator[Any]:
    yield root
    for part in held(root):
        yield from everything(part)


@pytest.mark.parametrize("seed", first_of(range(60), 12))
def test_every_part_is_found_once_and_in_order(seed: int) -> None:
    for root in roots(seeded_system(seed)):
        found, expected = list(walk(root)), list(everything(root))
        assert len(found) == len(expected)
        assert all(one is other for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("seed", first_of(range(60), 12))
def test_statements_are_those_of_the_whole_tree(seed: int) -> None:
    for action in seeded_system(seed).actions:
        kinds = (ir.Assign, ir.Let, ir.Choose, ir.If, ir.ForEach, ir.Require, ir.Stop)
        expected = [one for root in action.body for one in everything(root) if isinstance(one, kinds)]
        found = list(statements(action.body))
        assert len(found) == len(expected)
        assert all(one is other for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("seed", first_of(range(60), 12))
def test_what_is_not_changed_is_the_same_object_and_what_is_changed_is_changed_everywhere(seed: int) -> None:
    def renamed(node: Any) -> Any:
        return ir.Local(f"new {node.name}", node.type) if isinstance(node, ir.Local) else rebuild(node, renamed)

    for root in roots(seeded_system(seed)):
        assert rebuild(root, lambda part: part) is root
        made = renamed(root)
        locals_of = [part for part in walk(root) if isinstance(part, ir.Local)]
        assert [part.name for part in walk(made) if isinstance(part, ir.Local)] == [
            f"new {part.name}" for part in locals_of
        ]
        assert (made == root) == (not locals_of)
        assert all(not part.name.startswith("new ") for part in locals_of)


def test_forms_of_the_language_are_seen_into() -> None:
    """`Halt` and `GoTo` are no forms of the model, but stand among its statements for a while."""
    from hacheck.model.language.context import Halt
    from hacheck.model.language.handlers import GoTo

    kind = Node("S", 2, False)
    node = ir.Local("n", kind)
    assert parts(Halt("halt", kind, node)) == (node,)
    assert parts(GoTo("step", "p")) == ()
