"""A system in which each condition of its steps can be put out of force: to ask which of them a property rests on.

For each condition there is a constant of the state that nobody writes. While it is true the condition means what it
means; while it is false, the step does not ask for it: a guard lets through, an `if` goes either way, a fault has no
limit. That a message is there to be received, and that a handler is at the point a step goes on from, is always
required."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model.ir import (
    TRUE,
    Action,
    Assign,
    Binary,
    Choose,
    Domain,
    Expression,
    ForEach,
    If,
    Local,
    Require,
    Statement,
    StateVariable,
    System,
    Unary,
    Variable,
)
from hacheck.model.render_expression import show_expression
from hacheck.model.rewrite import conjuncts, walk
from hacheck.model.types import Bool

OWN = frozenset({"channel", "frame"})
"""Roles of variables that say where things stand, which no spec writes as a condition."""

_IFS_MAX = 4  # an `if` that goes either way doubles an action


class Part(Struct, frozen=True):
    """A condition of an action. `variable`: the constant that puts it in force. `line`: where its action stands."""

    variable: str
    kind: Literal["guard", "condition", "limit"]
    words: str
    action: str
    line: int


def weakened(system: System) -> tuple[System, tuple[Part, ...], tuple[str, ...]]:
    """The system with its conditions to be put out of force, what they are, and the actions in which some conditions
    stay in force: those inside loops, and the `if`s of an action that has many."""
    parts: list[Part] = []
    roles: dict[str, str] = {variable.name: variable.role for variable in system.variables}
    actions = tuple(_Weakening(action, roles, parts).action_weakened() for action in system.actions)
    constants = tuple(StateVariable(part.variable, Bool(), True, None, "shared") for part in parts)
    whole = dict.fromkeys(action.name for action in system.actions if not _is_whole(action))
    return replace(system, variables=(*system.variables, *constants), actions=actions), tuple(parts), tuple(whole)


def _is_whole(action: Action) -> bool:
    """Whether every condition of an action can be put out of force."""
    inside = [part for statement in action.body for part in walk(statement)]
    loops = [part for part in inside if isinstance(part, ForEach)]
    in_loops = any(isinstance(part, If | Require) for loop in loops for part in walk(loop))
    return not in_loops and _ifs(action) <= _IFS_MAX


def _ifs(action: Action) -> int:
    return sum(isinstance(part, If) for statement in action.body for part in walk(statement))


class _Weakening(Struct, frozen=True):
    action: Action
    roles: Mapping[str, str]
    parts: list[Part]

    def action_weakened(self) -> Action:
        limits = [part for part in conjuncts(self.action.guard) if "budget" in self.read_by(part)]
        limit = self.force("limit", self.action.description or "how often it happens") if limits else None
        guard: Expression = TRUE
        for part in conjuncts(self.action.guard):
            made = part
            if part in limits and limit is not None:
                made = Binary("or", Unary("not", limit), part)
            elif part != TRUE and not OWN & self.read_by(part):
                made = Binary("or", Unary("not", self.force("guard", show_expression(part))), part)
            guard = made if guard == TRUE else Binary("and", guard, made)
        body = tuple(self.statements(self.action.body, _ifs(self.action) <= _IFS_MAX, limit))
        return replace(self.action, guard=guard, body=body)

    def read_by(self, condition: Expression) -> set[str]:
        """The roles of the variables that a condition reads."""
        return {self.roles[part.name] for part in walk(condition) if isinstance(part, Variable)}

    def force(self, kind: Literal["guard", "condition", "limit"], words: str) -> Variable:
        """A new constant that puts a condition in force."""
        name = f"in force.{len(self.parts)}"
        self.parts.append(Part(name, kind, words, self.action.name, self.action.line))
        return Variable(name, Bool())

    def statements(self, body: tuple[Statement, ...], with_ifs: bool, limit: Variable | None) -> Iterator[Statement]:
        for statement in body:
            match statement:
                case Require(condition):
                    for part in conjuncts(condition):
                        yield Require(Binary("or", Unary("not", self.force("guard", show_expression(part))), part))
                case If(condition, then, otherwise) if with_ifs:
                    in_force = self.force("condition", show_expression(condition))
                    free = Local(f"free${in_force.name.rpartition('.')[2]}", Bool())
                    yield Choose(free.name, Domain(Bool(), None, None))
                    yield Require(Binary("or", Unary("not", in_force), Binary("==", free, condition)))
                    sides = (tuple(self.statements(side, with_ifs, limit)) for side in (then, otherwise))
                    yield If(free, *sides)
                case Assign(target) if limit is not None and self.roles.get(target.root.name) == "budget":
                    yield If(limit, (statement,), ())
                case _:
                    yield statement
