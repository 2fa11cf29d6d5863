"""Kernels read from Python: each function checked against the kernel language and turned into a tree."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

from msgspec import Struct

from hacheck.compile.kernels.definite_assignment import check_flow
from hacheck.compile.kernels.kernel_expressions import ExpressionReader, Signature, Source
from hacheck.compile.kernels.kernel_tree import (
    Assign,
    Block,
    Break,
    Constant,
    Continue,
    Evaluate,
    If,
    Kernel,
    Known,
    Local,
    Number,
    Return,
    Statement,
    Unrolled,
    While,
)
from hacheck.compile.kernels.language import INTRINSICS, KernelError

TURNS_MAX = 1024
"""The most turns of a loop that is unrolled."""


class _Definition(Struct, frozen=True):
    """A function where it is written, and what names outside it stand for."""

    source: Source
    node: ast.FunctionDef
    known: Callable[[str], int | None]


def read_functions(functions: Sequence[Callable[..., Any]], constants: Mapping[str, int]) -> tuple[Kernel, ...]:
    """The kernels that function objects are written as.

    A name is a number of `constants`, else one of the function's module. Raises `KernelError`.
    """
    files: dict[str, tuple[Source, dict[tuple[str, int], ast.FunctionDef]]] = {}
    return _read([_definition(function, constants, files) for function in functions])


def read_text(text: str, constants: Mapping[str, int], name: str = "<kernels>") -> tuple[Kernel, ...]:
    """The kernels of a text: functions and `NAME = number`. `constants` go before those. Raises `KernelError`."""
    source = Source(name, tuple(text.splitlines()))
    try:
        module = ast.parse(text, name)
    except SyntaxError as error:
        raise KernelError(error.msg, (name, error.lineno, error.offset, error.text)) from None
    known = dict(constants)
    definitions = []
    for statement in module.body:
        match statement:
            case ast.FunctionDef():
                definitions.append(_Definition(source, statement, known.get))
            case ast.Assign([ast.Name(target)], value):
                number = ExpressionReader(source, {}, known.get, frozenset(), {}).number(value)
                if not isinstance(number, Constant):
                    source.refuse(value, f"`{target}` is not known at compile time")
                known.setdefault(target, number.value)
            case ast.Expr(ast.Constant(str())):
                pass
            case _:
                source.refuse(statement, "a text of kernels has functions and `NAME = number` only")
    return _read(definitions)


def _definition(
    function: Callable[..., Any],
    constants: Mapping[str, int],
    files: dict[str, tuple[Source, dict[tuple[str, int], ast.FunctionDef]]],
) -> _Definition:
    if not isinstance(function, FunctionType):
        raise KernelError(f"not a function written in Python: {function!r}")
    code, variables = function.__code__, function.__globals__
    if code.co_filename not in files:
        lines = tuple(linecache.getlines(code.co_filename, variables))
        module = ast.parse("".join(lines), code.co_filename)
        written = {
            (node.name, node.decorator_list[0].lineno if node.decorator_list else node.lineno): node
            for node in _statements(module.body)
            if isinstance(node, ast.FunctionDef)
        }
        files[code.co_filename] = Source(code.co_filename, lines), written
    source, written = files[code.co_filename]
    node = written.get((code.co_name, code.co_firstlineno))
    if node is None:
        raise KernelError(f"the text of `{code.co_name}` cannot be read", (source.name, code.co_firstlineno, 1, ""))
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))

    def known(name: str) -> int | None:
        if name in constants:
            return constants[name]
        value = cells[name].cell_contents if name in cells else variables.get(name)
        return int(value) if isinstance(value, int) else None

    return _Definition(source, node, known)


def _read(definitions: Sequence[_Definition]) -> tuple[Kernel, ...]:
    signatures: dict[str, Signature] = {}
    for definition in definitions:
        node = definition.node
        if node.name in signatures or node.name in INTRINSICS:
            definition.source.refuse(node, f"a second `{node.name}`")
        signatures[node.name] = Signature(len(node.args.args), _returns(node))
    return tuple(_kernel(definition, signatures) for definition in definitions)


def _returns(node: ast.FunctionDef) -> bool:
    return any(isinstance(inner, ast.Return) and inner.value is not None for inner in _statements(node.body))


def _kernel(definition: _Definition, signatures: Mapping[str, Signature]) -> Kernel:
    node, source, arguments = definition.node, definition.source, definition.node.args
    if arguments.posonlyargs or arguments.vararg or arguments.kwonlyargs or arguments.kwarg or arguments.defaults:
        source.refuse(node, f"`{node.name}` has parameters that are more than names")
    if node.decorator_list:
        source.refuse(node, f"`{node.name}` is decorated: what the decorator does is unknown here")
    parameters = tuple(argument.arg for argument in arguments.args)
    assigned = frozenset(parameters) | {name.id for name in _assigned(node)}
    if not all(name.isascii() for name in [node.name, *assigned]):
        source.refuse(node, f"`{node.name}` has names with letters that object files do not have")
    turns = _turns(node)
    if turns & assigned:
        source.refuse(node, f"`{min(turns & assigned)}` is both assigned and the variable of an unrolled loop")
    expressions = ExpressionReader(source, signatures, definition.known, assigned, dict.fromkeys(turns))
    reader = _BodyReader(expressions, signatures[node.name].returns)
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    kernel = Kernel(node.name, parameters, reader.returns, reader.block(body), node.lineno)
    check_flow(kernel, source.refuse_line)
    return kernel


def _statements(block: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement of a block, and of the blocks inside."""
    for statement in block:
        yield statement
        for part in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, part, ()))


def _turns(node: ast.FunctionDef) -> set[str]:
    loops = [inner.target for inner in _statements(node.body) if isinstance(inner, ast.For)]
    return {target.id for target in loops if isinstance(target, ast.Name)}


def _assigned(node: ast.FunctionDef) -> Iterator[ast.Name]:
    for inner in _statements(node.body):
        match inner:
            case ast.Assign(targets=[ast.Name() as target]) | ast.AugAssign(target=ast.Name() as target):
                yield target


class _BodyReader(Struct, frozen=True):
    """Reads the statements of one function."""

    expressions: ExpressionReader
    returns: bool

    def block(self, statements: Sequence[ast.stmt]) -> Block:
        read: list[Statement] = []
        for statement in statements:
            self.statement(statement, read)
        return tuple(read)

    def statement(self, node: ast.stmt, read: list[Statement]) -> None:
        reader = self.expressions
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=value):
                read.append(Assign(name, reader.number(value)))
            case ast.AugAssign(target=ast.Name(name) as target, op=operator, value=value):
                left: Number = Local(name, target.lineno)
                read.append(Assign(name, reader.operation(node, operator, left, reader.number(value))))
            case ast.Expr(ast.Call() as call):
                read.append(Evaluate(reader.call(call, value_wanted=False)))
            case ast.If(test, body, orelse):
                condition = reader.condition(test)
                if isinstance(condition, Known):
                    read += self.block(body if condition.value else orelse)
                else:
                    read.append(If(condition, self.block(body), self.block(orelse)))
            case ast.While(test, body, orelse=[]):
                condition = reader.condition(test)
                if condition != Known(False):
                    read.append(While(condition, self.block(body)))
            case ast.For(ast.Name(name), iterator, body, orelse=[]):
                read.append(self._unrolled(name, iterator, body))
            case ast.Break():
                read.append(Break())
            case ast.Continue():
                read.append(Continue())
            case ast.Return(value):
                read.append(self._return(node, value))
            case ast.Pass():
                pass
            case _:
                reader.source.refuse(node, "no such statement in the kernel language")

    def _return(self, node: ast.Return, value: ast.expr | None) -> Return:
        if value is None and self.returns:
            self.expressions.source.refuse(node, "returns no value, though it does elsewhere")
        return Return(None if value is None else self.expressions.number(value))

    def _unrolled(self, name: str, iterator: ast.expr, body: list[ast.stmt]) -> Unrolled:
        reader = self.expressions
        match iterator:
            case ast.Call(ast.Name("range"), bounds, keywords=[]) if 1 <= len(bounds) <= 3:
                numbers = [reader.number(bound) for bound in bounds]
            case _:
                reader.source.refuse(iterator, "a loop with `for` goes over `range(...)`")
        if reader.turns[name] is not None:
            reader.source.refuse(iterator, f"`{name}` is the variable of a loop around this one")
        known = [number.value for number in numbers if isinstance(number, Constant)]
        if len(known) < len(numbers):
            reader.source.refuse(iterator, "a loop over numbers not known at compile time is written with `while`")
        if len(known) == 3 and not 0 < known[2] <= TURNS_MAX:
            reader.source.refuse(iterator, "a loop that is unrolled goes up, by at least 1")
        turns = range(*known)
        if turns.stop - turns.start > TURNS_MAX * turns.step:
            reader.source.refuse(iterator, f"more than {TURNS_MAX} turns are not unrolled: write it with `while`")
        copies = []
        for turn in turns:
            reader.turns[name] = turn
            copies.append(self.block(body))
        reader.turns[name] = None
        return Unrolled(tuple(copies))
