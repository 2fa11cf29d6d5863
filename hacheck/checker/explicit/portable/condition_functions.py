"""Conditions of properties as generated code: functions that find a state, and tests that an expansion makes of
steps."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from hacheck.checker.explicit.portable.breadth_first_search import Finder, Goal
from hacheck.checker.explicit.portable.python_program import Code, Wanted, compiled, finding_source, generate
from hacheck.checker.explicit.property_conditions import Questions
from hacheck.compile.lowering.blocks import Lowered


class Prepared(Struct, frozen=True):
    """The generated program of a check. `steps`: the key of each step condition, in the order of `Log.hits`;
    `find_step` makes a function that finds a (before, after) which meets the one of that number."""

    code: Code
    finders: tuple[Finder, ...]
    steps: tuple[str, ...]
    find_step: Callable[[int], Callable[[list[tuple[int, int]]], tuple[int, int] | None]]

    def goal(self, keys: frozenset[str] | None) -> Goal | None:
        """When a search may end early: once each of these keys was hit."""
        if keys is None:
            return None
        places = tuple(place for place, key in enumerate(self.steps) if key in keys)
        return Goal(keys - set(self.steps), places)


def prepare(lowered: Lowered, questions: Questions) -> Prepared:
    """Everything that has to be generated and compiled to check the properties."""
    steps = tuple(sought.key for sought in questions.sought if sought.kind == "step")
    finders = tuple(
        Finder(
            sought.key,
            compiled(finding_source(lowered, sought.wanted), sought.key)["find"],
            sought.kind == "dead",
        )
        for sought in questions.sought
        if sought.kind != "step"
    )
    wanted = wanted_by(questions)

    def find_step(number: int) -> Callable[[list[tuple[int, int]]], tuple[int, int] | None]:
        return compiled(finding_source(lowered, wanted.steps[number], on_steps=True), steps[number])["find"]

    return Prepared(generate(lowered, wanted), finders, steps, find_step)


def wanted_by(questions: Questions) -> Wanted:
    """What the expansion has to note."""
    return Wanted(tuple(sought.wanted for sought in questions.sought if sought.kind == "step"), questions.unblocking)
