"""Expressions of the kernel language read from Python's syntax tree: checked, and folded where they are known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import NoReturn

from msgspec import Struct

from hacheck.compile.kernels.kernel_tree import (
    Arithmetic,
    ArithmeticOperator,
    Both,
    Call,
    Choice,
    Comparison,
    ComparisonOperator,
    Condition,
    Constant,
    Either,
    Known,
    Local,
    Not,
    Number,
    Truth,
    arithmetic,
    compare,
    is_plain,
)
from hacheck.compile.kernels.language import INTRINSICS, WORD_MASK, KernelError

_ARITHMETIC: Mapping[type[ast.operator], ArithmeticOperator] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}

_COMPARISON: Mapping[type[ast.cmpop], ComparisonOperator] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}

_CONDITIONS = (ast.Compare, ast.BoolOp)


class Source(Struct, frozen=True):
    """The file that kernels are read from: its name and its lines, for what is said of mistakes."""

    name: str
    lines: tuple[str, ...]

    def refuse(self, node: ast.AST, what: str) -> NoReturn:
        """Says what is wrong at a place. Raises `KernelError`."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        self.refuse_line(line, what, column + 1)

    def refuse_line(self, line: int, what: str, column: int = 1) -> NoReturn:
        """Says what is wrong in a line, counted from 1. Raises `KernelError`."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        raise KernelError(what, (self.name, line, column, text))


class Signature(Struct, frozen=True):
    """How a kernel is called: the number of its parameters, and whether it has a value."""

    parameters: int
    returns: bool


class ExpressionReader(Struct, frozen=True):
    """Reads the expressions of one function.

    - `kernels`: every kernel that may be called, by name.
    - `known`: the number that a name outside the function stands for at compile time, else `None`.
    - `locals`: parameters and whatever else the function assigns to.
    - `turns`: the variables of unrolled loops, of those being read now with their number.
    """

    source: Source
    kernels: Mapping[str, Signature]
    known: Callable[[str], int | None]
    locals: frozenset[str]
    turns: dict[str, int | None]

    def number(self, node: ast.expr) -> Number:
        """An expression as a number. Raises `KernelError`."""
        match node:
            case ast.Constant(value):
                return self._constant(node, value)
            case ast.Name(name):
                return self._name(node, name)
            case ast.BinOp(left, operator, right):
                return self.operation(node, operator, self.number(left), self.number(right))
            case ast.UnaryOp(ast.Invert(), operand):
                return _folded("^", self.number(operand), Constant(WORD_MASK))
            case ast.UnaryOp(ast.USub(), operand):
                return _folded("-", Constant(0), self.number(operand))
            case ast.IfExp(test, body, orelse):
                condition = self.condition(test)
                if isinstance(condition, Known):
                    return self.number(body if condition.value else orelse)
                return Choice(condition, self.number(body), self.number(orelse))
            case ast.Call():
                return self.call(node, value_wanted=True)
            case ast.BoolOp(values=values) if not all(map(_is_condition, values)):
                self.source.refuse(node, "`and` and `or` are of conditions where their value is wanted: compare")
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(ast.Not()):
                condition = self.condition(node)
                return Constant(int(condition.value)) if isinstance(condition, Known) else Truth(condition)
            case _:
                self.source.refuse(node, f"no such expression in the kernel language: {ast.unparse(node)}")

    def condition(self, node: ast.expr) -> Condition:
        """An expression as a condition; a number is true unless it is 0. Raises `KernelError`."""
        match node:
            case ast.Compare(left, operators, comparators):
                return self._comparison(node, left, operators, comparators)
            case ast.BoolOp(operator, values):
                join = _both if isinstance(operator, ast.And) else _either
                joined = self.condition(values[-1])
                for value in reversed(values[:-1]):
                    joined = join(self.condition(value), joined)
                return joined
            case ast.UnaryOp(ast.Not(), operand):
                inner = self.condition(operand)
                return Known(not inner.value) if isinstance(inner, Known) else Not(inner)
            case _:
                read = self.number(node)
                return Known(read.value != 0) if isinstance(read, Constant) else Comparison("!=", read, Constant(0))

    def operation(self, node: ast.AST, operator: ast.operator, left: Number, right: Number) -> Number:
        """Two numbers put together. Raises `KernelError`."""
        symbol = _ARITHMETIC.get(type(operator))
        if symbol is None:
            self.source.refuse(node, f"no such operator in the kernel language: {type(operator).__name__}")
        if isinstance(right, Constant):
            if symbol in ("<<", ">>") and right.value >= 64:
                self.source.refuse(node, f"a shift by {right.value}: a number has 64 bits")
            if symbol in ("//", "%") and right.value == 0:
                self.source.refuse(node, "a division by zero")
        return _folded(symbol, left, right)

    def call(self, node: ast.Call, value_wanted: bool) -> Call:
        """A call of a kernel or an intrinsic. Raises `KernelError`."""
        if not isinstance(node.func, ast.Name):
            self.source.refuse(node, "only kernels and intrinsics are called, by their name")
        name = node.func.id
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            self.source.refuse(node, f"`{name}` is called with arguments by position")
        if name in INTRINSICS:
            parameters, returns = INTRINSICS[name].arguments, INTRINSICS[name].returns
        elif name in self.kernels:
            parameters, returns = self.kernels[name].parameters, self.kernels[name].returns
        else:
            self.source.refuse(node, f"`{name}` is no intrinsic and not among the kernels compiled together")
        given = len(node.args)
        if given != parameters and (parameters is not None or given == 0):
            self.source.refuse(node, f"`{name}` takes {parameters or 'an address and'} arguments, {given} are given")
        if value_wanted and not returns:
            self.source.refuse(node, f"`{name}` has no value")
        return Call(name, tuple(map(self.number, node.args)), node.lineno)

    def _constant(self, node: ast.expr, value: object) -> Constant:
        if not isinstance(value, int):
            self.source.refuse(node, f"not a whole number: {value!r}")
        if not 0 <= value <= WORD_MASK:
            self.source.refuse(node, f"more than 64 bits: {value}")
        return Constant(int(value))

    def _name(self, node: ast.expr, name: str) -> Number:
        if name in self.turns:
            turn = self.turns[name]
            if turn is None:
                self.source.refuse(node, f"`{name}` is known inside its loop only")
            return Constant(turn)
        if name in self.locals:
            return Local(name, node.lineno)
        value = self.known(name)
        if value is None:
            self.source.refuse(node, f"`{name}` is no local variable and no number known at compile time")
        return self._constant(node, value & WORD_MASK if -WORD_MASK <= value < 0 else value)

    def _comparison(
        self, node: ast.Compare, left: ast.expr, operators: list[ast.cmpop], comparators: list[ast.expr]
    ) -> Condition:
        values = [self.number(value) for value in [left, *comparators]]
        if not all(map(is_plain, values[1:-1])):
            self.source.refuse(node, "what stands in the middle is compared twice: give it a name first")
        links: list[Condition] = []
        for operator, first, second in zip(operators, values, values[1:], strict=False):
            symbol = _COMPARISON.get(type(operator))
            if symbol is None:
                self.source.refuse(node, f"no such comparison in the kernel language: {type(operator).__name__}")
            if isinstance(first, Constant) and isinstance(second, Constant):
                links.append(Known(compare(symbol, first.value, second.value)))
            else:
                links.append(Comparison(symbol, first, second))
        read = links[-1]
        for link in reversed(links[:-1]):
            read = _both(link, read)
        return read


def _is_condition(node: ast.expr) -> bool:
    match node:
        case ast.BoolOp(values=values):
            return all(map(_is_condition, values))
        case ast.Compare() | ast.UnaryOp(ast.Not()):
            return True
        case ast.Constant(value):
            return isinstance(value, bool)
        case _:
            return False


def _folded(operator: ArithmeticOperator, left: Number, right: Number) -> Number:
    if isinstance(left, Constant) and isinstance(right, Constant):
        return Constant(arithmetic(operator, left.value, right.value))
    return Arithmetic(operator, left, right)


def _both(left: Condition, right: Condition) -> Condition:
    if isinstance(left, Known):
        return right if left.value else left
    if isinstance(right, Known) and (right.value or is_plain(left)):
        return left if right.value else right
    return Both(left, right)


def _either(left: Condition, right: Condition) -> Condition:
    if isinstance(left, Known):
        return left if left.value else right
    if isinstance(right, Known) and (not right.value or is_plain(left)):
        return right if right.value else left
    return Either(left, right)
