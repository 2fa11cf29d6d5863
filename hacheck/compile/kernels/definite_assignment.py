"""What a kernel promises on every path: a local is assigned before it is read, and a value is returned."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NoReturn, TypeAlias, assert_never

from msgspec import Struct, field

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
)

Assigned: TypeAlias = "frozenset[str] | None"
"""The locals that have a value whichever way led here; `None` where no way does."""


def check_flow(kernel: Kernel, refuse: Callable[[int, str], NoReturn]) -> None:
    """Calls `refuse` with a line and the words where a kernel breaks a promise."""
    end = _Flow(refuse).block(kernel.body, frozenset(kernel.parameters))
    if kernel.returns and end is not None:
        refuse(kernel.line, f"`{kernel.name}` returns a value, but not on every path")


class _Loop(Struct, frozen=True):
    """How one loop is left and gone on with: what is assigned there."""

    breaks: list[Assigned] = field(default_factory=list)
    continues: list[Assigned] = field(default_factory=list)


class _Flow(Struct, frozen=True):
    refuse: Callable[[int, str], NoReturn]
    loops: list[_Loop] = field(default_factory=list)

    def block(self, statements: Block, assigned: Assigned) -> Assigned:
        for statement in statements:
            if assigned is None:
                break
            assigned = self.statement(statement, assigned)
        return assigned

    def statement(self, statement: Statement, assigned: frozenset[str]) -> Assigned:
        match statement:
            case Assign(name, value):
                self.read(value, assigned)
                return assigned | {name}
            case Evaluate(call):
                self.read(call, assigned)
                return assigned
            case If(condition, then, otherwise):
                self.read(condition, assigned)
                return _meet([self.block(then, assigned), self.block(otherwise, assigned)])
            case While(condition, body):
                self.read(condition, assigned)
                loop = _Loop(breaks=[None if condition == Known(True) else assigned])
                self.inside(loop, body, assigned)
                return _meet(loop.breaks)
            case Unrolled(turns):
                return self.unrolled(turns, assigned)
            case Break():
                self.loops[-1].breaks.append(assigned)
                return None
            case Continue():
                self.loops[-1].continues.append(assigned)
                return None
            case Return(value):
                if value is not None:
                    self.read(value, assigned)
                return None
            case _:
                assert_never(statement)

    def unrolled(self, turns: tuple[Block, ...], assigned: Assigned) -> Assigned:
        breaks: list[Assigned] = []
        for turn in turns:
            loop = _Loop()
            end = self.inside(loop, turn, assigned)
            breaks += loop.breaks
            assigned = _meet([end, *loop.continues])
        return _meet([assigned, *breaks])

    def inside(self, loop: _Loop, body: Block, assigned: Assigned) -> Assigned:
        self.loops.append(loop)
        end = self.block(body, assigned)
        self.loops.pop()
        return end

    def read(self, expression: Number | Condition, assigned: frozenset[str]) -> None:
        match expression:
            case Constant() | Known():
                pass
            case Local(name, line):
                if name not in assigned:
                    self.refuse(line, f"`{name}` may be read before it is assigned")
            case Arithmetic(_, left, right) | Comparison(_, left, right):
                self.read(left, assigned)
                self.read(right, assigned)
            case Both(first, second) | Either(first, second):
                self.read(first, assigned)
                self.read(second, assigned)
            case Choice(condition, then, otherwise):
                self.read(condition, assigned)
                self.read(then, assigned)
                self.read(otherwise, assigned)
            case Truth(condition) | Not(condition):
                self.read(condition, assigned)
            case Call(_, arguments):
                for argument in arguments:
                    self.read(argument, assigned)
            case _:
                assert_never(expression)


def _meet(paths: Iterable[Assigned]) -> Assigned:
    reached = [path for path in paths if path is not None]
    return frozenset.intersection(*reached) if reached else None
