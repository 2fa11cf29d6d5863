"""What a random expression may use."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.model.ir import (
    Binary,
    BinaryOperator,
    Constant,
    Expression,
    Local,
    Variable,
)
from hacheck.model.types import (
    Range,
)
from tests.strategies.choosing import Chooser, chance
from tests.strategies.kinds import Vocabulary


class Names(Struct):
    """Numbers for the locals of one model, so that no name is used twice."""

    last: int = 0

    def fresh(self, stem: str) -> str:
        self.last += 1
        return f"{stem}{self.last}"


class Context(Struct, frozen=True):
    """What an expression may use. `old`: whether it may ask for the state before a step."""

    chooser: Chooser
    vocabulary: Vocabulary
    variables: tuple[Variable, ...]
    names: Names
    risky: bool
    locals: tuple[Local, ...] = ()
    old: bool = False
    changeable: tuple[Local, ...] = field(default=())

    def bind(self, local: Local, changeable: bool = False) -> Context:
        more = (*self.changeable, local) if changeable else self.changeable
        return replace(self, locals=(*self.locals, local), changeable=more)

    def dares(self, percent: int = 20) -> bool:
        """Whether to write something here that may be an error of the spec."""
        return self.risky and chance(self.chooser, percent)


def operation(operator: BinaryOperator, left: Expression, right: Expression) -> Expression:
    return Binary(operator, left, right)


def number(value: int) -> Constant:
    return Constant(value, Range(value, value))
