"""Kernels as Python that wraps around as compiled ones do: for tests, and where nothing is compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, assert_never

from msgspec import Struct

from hacheck.compile.kernels import language
from hacheck.compile.kernels.kernel_reader import read_functions, read_text
from hacheck.compile.kernels.kernel_tree import (
    Arithmetic,
    Assign,
    Block,
    Both,
    Break,
    Call,
    Choice,
    Comparison,
    Condition,
    Constant,
    Continue,
    Either,
    Evaluate,
    If,
    Kernel,
    Known,
    Local,
    Not,
    Number,
    Return,
    Statement,
    Truth,
    Unrolled,
    While,
    arithmetic,
)
from hacheck.compile.kernels.language import INTRINSICS, WORD_BITS, WORD_MASK


def as_python(functions: Sequence[Callable[..., Any]], constants: Mapping[str, int]) -> dict[str, Callable[..., int]]:
    """Kernels as Python functions by name, which do what the compiled ones do. Raises `KernelError`.

    Arguments are taken modulo 2**64. What returns no value returns 0.
    """
    return python_of_kernels(read_functions(functions, constants))


def as_python_of_source(text: str, constants: Mapping[str, int]) -> dict[str, Callable[..., int]]:
    """As `as_python`, of a text with functions and `NAME = number`. `constants` go before those."""
    return python_of_kernels(read_text(text, constants))


def python_of_kernels(kernels: Sequence[Kernel]) -> dict[str, Callable[..., int]]:
    """Kernels that were read, as Python functions by name."""
    names: dict[str, Any] = {f"_{name}": getattr(language, name) for name in INTRINSICS}
    names |= {"_divide": partial(arithmetic, "//"), "_remainder": partial(arithmetic, "%")}
    text = "\n".join(_function(kernel) for kernel in kernels)
    exec(compile(text, "<kernels>", "exec"), names)
    return {kernel.name: names[f"{kernel.name}_"] for kernel in kernels}


def _function(kernel: Kernel) -> str:
    parameters = [f"{name}_" for name in kernel.parameters]
    printer = _Printer([f"def {kernel.name}_({', '.join(parameters)}):"])
    for name in parameters:
        printer.line(f"{name} &= {WORD_MASK}")
    for statement in kernel.body:
        printer.statement(statement)
    printer.line("return 0")
    return "\n".join(printer.lines)


class _Printer(Struct):
    """Prints one function. Names of the kernel end with `_`, those of intrinsics begin with it: none is Python's."""

    lines: list[str]
    depth: int = 1
    loops: int = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def block(self, head: str, statements: Block) -> None:
        self.line(head)
        self.depth += 1
        for statement in statements:
            self.statement(statement)
        self.line("pass")
        self.depth -= 1

    def statement(self, statement: Statement) -> None:
        match statement:
            case Assign(name, value):
                self.line(f"{name}_ = {_number(value)}")
            case Evaluate(call):
                self.line(_number(call))
            case If(condition, then, otherwise):
                self.block(f"if {_condition(condition)}:", then)
                self.block("else:", otherwise)
            case While(condition, body):
                self.block(f"while {_condition(condition)}:", body)
            case Unrolled(turns):
                self.loops += 1
                turn = f"turn{self.loops}"
                self.line(f"for {turn} in range({len(turns)}):")
                self.depth += 1
                for number, body in enumerate(turns):
                    self.block(f"if {turn} == {number}:", body)
                self.line("pass")
                self.depth -= 1
            case Break():
                self.line("break")
            case Continue():
                self.line("continue")
            case Return(value):
                self.line(f"return {0 if value is None else _number(value)}")
            case _:
                assert_never(statement)


def _number(number: Number) -> str:
    match number:
        case Constant(value):
            return str(value)
        case Local(name):
            return f"{name}_"
        case Arithmetic("//", left, right):
            return f"_divide({_number(left)}, {_number(right)})"
        case Arithmetic("%", left, right):
            return f"_remainder({_number(left)}, {_number(right)})"
        case Arithmetic(">>" | "<<" as operator, left, right):
            shifted = f"{_number(left)} {operator} ({_number(right)} & {WORD_BITS - 1})"
            return f"({shifted} & {WORD_MASK})" if operator == "<<" else f"({shifted})"
        case Arithmetic("&" | "|" | "^" as operator, left, right):
            return f"({_number(left)} {operator} {_number(right)})"
        case Arithmetic(operator, left, right):
            return f"({_number(left)} {operator} {_number(right)} & {WORD_MASK})"
        case Choice(condition, then, otherwise):
            return f"({_number(then)} if {_condition(condition)} else {_number(otherwise)})"
        case Truth(condition):
            return f"(1 if {_condition(condition)} else 0)"
        case Call(function, arguments):
            name = f"_{function}" if function in INTRINSICS else f"{function}_"
            return f"{name}({', '.join(map(_number, arguments))})"
        case _:
            assert_never(number)


def _condition(condition: Condition) -> str:
    match condition:
        case Known(value):
            return str(value)
        case Comparison(operator, left, right):
            return f"{_number(left)} {operator} {_number(right)}"
        case Both(left, right):
            return f"({_condition(left)} and {_condition(right)})"
        case Either(left, right):
            return f"({_condition(left)} or {_condition(right)})"
        case Not(inner):
            return f"(not {_condition(inner)})"
        case _:
            assert_never(condition)
