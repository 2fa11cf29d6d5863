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
    Conditional,
    Constant,
    Domain,
    Expression,
    If,
    Let,
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
ZERO = Constant(0, DIGIT)
BITS = (Variable("e", Range(0, 1)), Variable("f", Range(0, 1)))
KEPT = Local("kept", Range(-3, 3))
"""A number that may be negative, which both sides of a branch may write."""


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
        kind = chance.random()
        if kind < 0.2:
            among = BITS if chance.random() < 0.5 else digits
            return (Assign(Target(KEPT), Binary("-", chance.choice(among), chance.choice(among))),)
        if kind < 0.3:
            return (Assign(Target(KEPT), Constant(chance.randint(-3, 3), KEPT.type)),)
        if kind < 0.4:
            return (Assign(Target(chance.choice(digits)), Conditional(Binary("<", KEPT, ZERO), ZERO, KEPT)),)
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

    begin = Let(KEPT.name, KEPT.type, Binary("-", chance.choice(digits), chance.choice(digits)))
    step = action(begin, *block(3), *block(2), name="step", guard=condition(2))
    chosen = Assign(Target(digits[0]), Local("x", DIGIT))
    flips = [Assign(Target(bit), Binary("-", Constant(1, bit.type), bit)) for bit in BITS]
    flip = action(flips[chance.randrange(2)], name="flip", guard=condition(0))
    turn = action(begin, Choose("x", Domain(DIGIT, None, None)), chosen, *block(2), name="turn")
    goals = (
        asked("invariant", condition(3), "first"),
        asked("step", Binary("or", condition(2), condition(2)), "second"),
    )
    start = dict(zip((*digits, *BITS), (0, 1, 2, 3, 0, 1), strict=True))
    return system(start, step, turn, flip, properties=goals)
