"""A kernel run in every way there is: by Python itself, printed as Python, and compiled with and without passes."""

from __future__ import annotations

import ast
import ctypes
from collections.abc import Callable, Mapping
from typing import Any

from hacheck.compile.kernels import language
from hacheck.compile.kernels.language import INTRINSICS, WORD_MASK
from hacheck.compile.kernels.to_llvm import kernel_ir_of_source
from hacheck.compile.kernels.to_python import as_python_of_source
from hacheck.compile.machine.compiler import KERNEL_LEVELS, Levels, compile_object, link

MEMORY_WORDS = 8
WITHOUT_PASSES = Levels(passes=None, codegen=0)
WITH_MANY_PASSES = Levels(passes=2, codegen=2)
LARGE = WORD_MASK
INTERESTING = (0, 1, 2, 3, 7, 63, 64, 65, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, LARGE - 1, LARGE)


class Word(int):
    """A number of 64 bits in Python's own words: the third opinion on what a kernel means."""


def _wrapping(name: str) -> Callable[[int, int], Word]:
    def operation(left: int, right: int) -> Word:
        if name in ("lshift", "rshift"):
            right = int(right) % 64
        if name in ("floordiv", "mod") and int(right) == 0:
            return Word(0 if name == "floordiv" else left)
        result: int = getattr(int, f"__{name}__")(int(left), int(right))
        return Word(result & WORD_MASK)

    return operation


for _name in ("add", "sub", "mul", "and", "or", "xor", "lshift", "rshift", "floordiv", "mod"):
    setattr(Word, f"__{_name}__", _wrapping(_name))
Word.__invert__ = lambda self: Word(int(self) ^ WORD_MASK)  # type: ignore[method-assign]
Word.__neg__ = lambda self: Word(-int(self) & WORD_MASK)  # type: ignore[method-assign]


class _Words(ast.NodeTransformer):
    """Makes each number of a kernel a `Word`, and what a call returns."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return _word(node) if isinstance(node.value, int) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        return _word(self.generic_visit(node))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return _word(self.generic_visit(node))

    def visit_For(self, node: ast.For) -> ast.For:
        node.body = [self.visit(statement) for statement in node.body]
        target = ast.Name(node.target.id, ast.Store())  # type: ignore[attr-defined]
        node.body.insert(0, ast.Assign([target], _word(ast.Name(target.id, ast.Load()))))
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        return _word(self.generic_visit(node))


def _word(node: ast.AST) -> ast.expr:
    return ast.Call(ast.Name("Word_", ast.Load()), [node], [])  # type: ignore[list-item]


def by_python_itself(text: str, constants: Mapping[str, int]) -> dict[str, Callable[..., Any]]:
    """A text of kernels run as it stands, with numbers that wrap around."""
    names: dict[str, Any] = {name: _of_plain_numbers(getattr(language, name)) for name in INTRINSICS}
    names |= {name: Word(value) for name, value in constants.items()}
    names["Word_"] = lambda value: Word(value or 0)
    tree = ast.fix_missing_locations(_Words().visit(ast.parse(text)))
    exec(compile(tree, "<words>", "exec"), names)
    kernel = names["f"]
    return names | {"f": lambda *arguments: int(kernel(*map(Word, arguments)) or 0)}


def _of_plain_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments: function(*map(int, arguments))


def compiled(text: str, name: str, arguments: int, constants: Mapping[str, int], levels: Levels) -> Callable[..., int]:
    return link([compile_object(kernel_ir_of_source(text, constants, [name]), levels)]).function(name, arguments)


def results(
    text: str, arguments: tuple[int, ...], constants: Mapping[str, int], memory: tuple[int, ...] = (0,) * MEMORY_WORDS
) -> list[tuple[int, tuple[int, ...]]]:
    """What `f(memory, *arguments)` of a text returns, and leaves in memory: one result for each way of running it."""
    number = len(arguments) + 1
    paths = [
        by_python_itself(text, constants)["f"],
        as_python_of_source(text, constants)["f"],
        compiled(text, "f", number, constants, WITHOUT_PASSES),
        compiled(text, "f", number, constants, KERNEL_LEVELS),
        compiled(text, "f", number, constants, WITH_MANY_PASSES),
    ]
    found = []
    for path in paths:
        words = (ctypes.c_uint64 * MEMORY_WORDS)(*memory)
        found.append((path(ctypes.addressof(words), *arguments), tuple(words)))
    return found


def the_result(text: str, *arguments: int, **constants: int) -> int:
    """What all ways of running agree on."""
    found = results(text, arguments, constants)
    assert found == [found[0]] * len(found)
    return found[0][0]


def body(*lines: str) -> str:
    return "\n".join(["def f(m, a, b):", *(f"    {line}" for line in lines)])
