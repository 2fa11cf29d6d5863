"""A kernel as data, read and checked: what becomes LLVM IR and what becomes Python.

Numbers and conditions are different classes. Names known at compile time are numbers already, loops over them are
unrolled, and branches that cannot be taken are gone.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, assert_never

from msgspec import Struct

from hacheck.compile.kernels.language import INTRINSICS, WORD_BITS, WORD_MASK

ArithmeticOperator: TypeAlias = Literal["+", "-", "*", "&", "|", "^", "<<", ">>", "//", "%"]
ComparisonOperator: TypeAlias = Literal["==", "!=", "<", "<=", ">", ">="]


class Constant(Struct, frozen=True):
    """A number known at compile time."""

    value: int


class Local(Struct, frozen=True):
    """The value of a parameter or local variable, read in a line of the file."""

    name: str
    line: int


class Arithmetic(Struct, frozen=True):
    """Two numbers, left first."""

    operator: ArithmeticOperator
    left: Number
    right: Number


class Choice(Struct, frozen=True):
    """One of two numbers; only that one is evaluated."""

    condition: Condition
    then: Number
    otherwise: Number


class Truth(Struct, frozen=True):
    """A condition as a number: 1 or 0."""

    condition: Condition


class Call(Struct, frozen=True):
    """A call of another kernel or of an intrinsic, in a line of the file. Arguments are evaluated in order."""

    function: str
    arguments: tuple[Number, ...]
    line: int


class Known(Struct, frozen=True):
    """A condition known at compile time."""

    value: bool


class Comparison(Struct, frozen=True):
    """Two numbers compared, unsigned."""

    operator: ComparisonOperator
    left: Number
    right: Number


class Both(Struct, frozen=True):
    """`and`: the right one is evaluated only if the left one is true."""

    left: Condition
    right: Condition


class Either(Struct, frozen=True):
    """`or`: the right one is evaluated only if the left one is false."""

    left: Condition
    right: Condition


class Not(Struct, frozen=True):
    """The opposite of a condition."""

    condition: Condition


Number: TypeAlias = Constant | Local | Arithmetic | Choice | Truth | Call
Condition: TypeAlias = Known | Comparison | Both | Either | Not


class Assign(Struct, frozen=True):
    """A local variable becomes a number."""

    name: str
    value: Number


class Evaluate(Struct, frozen=True):
    """A call for what it does. Its value, if it has one, is dropped."""

    call: Call


class If(Struct, frozen=True):
    """Two ways on."""

    condition: Condition
    then: Block
    otherwise: Block


class While(Struct, frozen=True):
    """A loop. `Known(True)` as its condition: it is left by `Break` or `Return` only."""

    condition: Condition
    body: Block


class Unrolled(Struct, frozen=True):
    """The turns of a loop one after the other. `Continue` ends a turn, `Break` all of them."""

    turns: tuple[Block, ...]


class Break(Struct, frozen=True):
    """Leaves the innermost loop."""


class Continue(Struct, frozen=True):
    """Ends a turn of the innermost loop."""


class Return(Struct, frozen=True):
    """Ends the kernel, with a value if it is one that has values."""

    value: Number | None


Statement: TypeAlias = Assign | Evaluate | If | While | Unrolled | Break | Continue | Return
Block: TypeAlias = tuple[Statement, ...]


class Kernel(Struct, frozen=True):
    """One function: its name, its parameters, whether it has a value, its statements, and the line it begins in."""

    name: str
    parameters: tuple[str, ...]
    returns: bool
    body: Block
    line: int


def is_plain(expression: Number | Condition) -> bool:
    """Whether evaluating it is harmless even where its value is not needed: it reads no memory and calls nothing."""
    match expression:
        case Constant() | Local() | Known():
            return True
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return is_plain(left) and is_plain(right)
        case Both(left, right) | Either(left, right):
            return is_plain(left) and is_plain(right)
        case Choice(condition, then, otherwise):
            return is_plain(condition) and is_plain(then) and is_plain(otherwise)
        case Truth(condition) | Not(condition):
            return is_plain(condition)
        case Call(function, arguments):
            intrinsic = INTRINSICS.get(function)
            return intrinsic is not None and intrinsic.plain and all(map(is_plain, arguments))
        case _:
            assert_never(expression)


def arithmetic(operator: ArithmeticOperator, left: int, right: int) -> int:
    """Two numbers of 64 bits and what the language makes of them."""
    match operator:
        case "+":
            return (left + right) & WORD_MASK
        case "-":
            return (left - right) & WORD_MASK
        case "*":
            return (left * right) & WORD_MASK
        case "&":
            return left & right
        case "|":
            return left | right
        case "^":
            return left ^ right
        case "<<":
            return (left << right % WORD_BITS) & WORD_MASK
        case ">>":
            return left >> right % WORD_BITS
        case "//":
            return left // right if right else 0
        case "%":
            return left % right if right else left
        case _:
            assert_never(operator)


def compare(operator: ComparisonOperator, left: int, right: int) -> bool:
    """Whether two numbers stand to each other as the operator says."""
    match operator:
        case "==":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case _:
            assert_never(operator)
