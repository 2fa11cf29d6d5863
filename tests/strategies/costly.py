"""Small systems of branches inside branches, by conditions that are worth a branch themselves.

Random systems of `systems.py` hardly ever have a condition of several costly parts, or a choice, an end and an
assignment at different depths of the same action.
"""

from __future__ import annotations

import itertools
import random

from hacheck.model.ir import (
    Assign,
    Binary,
    Choose,
    Constant,
    Domain,
    Expression,
    If,
    Local,
    Require,
    Statement,
    System,
    Target,
    Unary,
    Variable,
)
from hacheck.model.types import Range
from tests.models.small import action, asked, system

DIGIT = Range(0, 3)


def costly_system(seed: int) -> System:
    """Branches inside branches, some of which end the step, by conditions that are worth branches themselves: nested
    parts, of which several share the same sums of products."""
    chance = random.Random(seed)
    digits = [Variable(name, DIGIT) for name in "abcd"]
    numbers = itertools.count()

    def product() -> Expression:
        return Binary("*", chance.choice(digits), chance.choice(digits))

    sums = [Binary("+", Binary("+", product(), product()), product()) for _ in range(3)]

    def condition(depth: int) -> Expression:
        if depth == 0 or chance.random() < 0.15:
            limit = Constant(chance.randint(1, 24), Range(0, 27))
            compared = Binary("<", chance.choice(sums), limit)
            return Unary("not", compared) if chance.random() < 0.3 else compared
        parts = condition(depth - 1), condition(depth - 1)
        joined = Binary("and" if chance.random() < 0.5 else "or", *parts)
        return Unary("not", joined) if chance.random() < 0.3 else joined

    def put() -> tuple[Statement, ...]:
        value = chance.choice([Constant(chance.randint(0, 3), DIGIT), chance.choice(digits)])
        return (Assign(Target(chance.choice(digits)), value),)

    def block(depth: int) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for _ in range(chance.randint(1, 2)):
            if depth and chance.random() < 0.6:
                found.append(If(condition(depth), block(depth - 1), block(depth - 1) if chance.random() < 0.6 else ()))
            elif chance.random() < 0.3:
                found.append(Require(condition(1)))
            elif chance.random() < 0.15:
                chosen = Local(f"x{next(numbers)}", DIGIT)
                found += (Choose(chosen.name, Domain(DIGIT, None, None)), Assign(Target(digits[1]), chosen))
            else:
                found += put()
        return (*found, *put())

    step = action(*block(3), *block(2), name="step", guard=condition(2))
    turn = action(Choose("x", Domain(DIGIT, None, None)), Assign(Target(digits[0]), Local("x", DIGIT)), *block(2))
    goals = (
        asked("invariant", condition(3), "first"),
        asked("step", Binary("or", condition(2), condition(2)), "second"),
    )
    return system(dict(zip(digits, (0, 1, 2, 3), strict=True)), step, turn, properties=goals)
