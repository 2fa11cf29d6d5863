"""Which action instances can be enabled in a state, without testing every guard of each.

Guards are taken apart into tests. A test that several instances have in common is made once, around all of them;
tests of one slot against different constants follow each other as alternatives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from hacheck.compile.lowering.blocks import Instance
from hacheck.compile.lowering.expression_nodes import Node, is_leaf, is_test


class Guarded(Struct, frozen=True, eq=False):
    """An instance with the tests of its guard that are still to be made; `index` is its place among all."""

    index: int
    instance: Instance
    tests: tuple[Node, ...]


class Alternatives(Struct, frozen=True):
    """Trees under tests of which at most one holds."""

    cases: tuple[tuple[Node, Tree], ...]


Tree: TypeAlias = "tuple[Guarded | Alternatives, ...]"


def subject_of(test: Node) -> Node | None:
    """The slot that a test compares with a constant, if only one constant passes."""
    if is_leaf(test):
        return test
    if test.operator == "not" and is_leaf(test.operands[0]):
        return test.operands[0]
    return test.operands[0] if test.operator == "eq" and is_test(test) else None


def decide(instances: Sequence[Guarded]) -> Tree:
    """A tree in which every instance stands once, those that have a test in common together. Cost: about linear."""
    score: Counter[Node] = Counter()
    for guarded in instances:
        score.update(_scored(guarded))
    left = dict.fromkeys(instances)
    splits: list[Alternatives] = []
    while score:
        best, count = max(score.items(), key=lambda item: (item[1], -item[0].key))
        if count < 2:
            break
        cases: dict[Node, list[Guarded]] = {}
        for guarded in list(left):
            shared = next((test for test in guarded.tests if test is best or subject_of(test) is best), None)
            if shared is None:
                continue
            score.subtract(_scored(guarded))
            del left[guarded]
            others = tuple(test for test in guarded.tests if test is not shared)
            cases.setdefault(shared, []).append(Guarded(guarded.index, guarded.instance, others))
        splits.append(Alternatives(tuple((test, decide(inside)) for test, inside in cases.items())))
    return (*splits, *left)


def _scored(guarded: Guarded) -> Iterator[Node]:
    """What the tests of an instance are about that others may test too: slots, or comparisons of slots."""
    for test in guarded.tests:
        subject = subject_of(test)
        if subject is not None:
            yield subject
        elif is_test(test):
            yield test
