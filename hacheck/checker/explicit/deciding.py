"""Which action instances can be enabled in a state, without testing every guard of each.

Guards are taken apart into tests. A test that several instances have in common is made once, around all of them;
tests of one slot against different constants follow each other as alternatives.
"""

from __future__ import annotations

from collections import Counter
from typing import TypeAlias

from hacheck.model.data import dataclass
from hacheck.model.lowering.blocks import Instance
from hacheck.model.lowering.nodes import Node, is_leaf, is_test


@dataclass(frozen=True, slots=True)
class Guarded:
    """An instance with the tests of its guard that are still to be made; `index` is its place among all."""

    index: int
    instance: Instance
    tests: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
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


def decide(instances: list[Guarded]) -> Tree:
    """A tree in which every instance stands once."""
    score: Counter[Node] = Counter()
    for guarded in instances:
        for test in guarded.tests:
            subject = subject_of(test)
            if subject is not None or is_test(test):
                score[test if subject is None else subject] += 1
    if not score:
        return tuple(instances)
    best, count = max(score.items(), key=lambda item: (item[1], -item[0].key))
    if count < 2:
        return tuple(instances)
    cases: dict[Node, list[Guarded]] = {}
    rest: list[Guarded] = []
    for guarded in instances:
        shared = [test for test in guarded.tests if test is best or subject_of(test) is best]
        if not shared:
            rest.append(guarded)
            continue
        left = tuple(test for test in guarded.tests if test is not shared[0])
        cases.setdefault(shared[0], []).append(Guarded(guarded.index, guarded.instance, left))
    split = Alternatives(tuple((test, decide(inside)) for test, inside in cases.items()))
    return (split, *decide(rest)) if rest else (split,)
