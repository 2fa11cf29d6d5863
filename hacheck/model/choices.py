"""What a step's choices meant: each with the name it had, and what was known where it was made."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model.evaluation import Scope, domain_values, evaluate
from hacheck.model.execution import Going, execute
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import Choose, ForEach, If, Statement, System
from hacheck.model.runs import State, Step
from hacheck.model.types import Type, Value


class Made(Struct, frozen=True):
    """A choice that was made: of which `Choose`, which value, and the locals there with their types."""

    name: str
    type: Type
    value: Value
    locals: Mapping[str, Value]
    types: Mapping[str, Type]


def choices_made(system: System, before: State, step: Step) -> tuple[Made, ...]:
    """The choices of a step that is possible in the state, in the order of `Step.choices`. Cost: that of the step."""
    if not step.choices:
        return ()
    action = system.actions[step.action]
    scope = Scope(Interpreter(system).variables, before, before)
    for (name, kind), argument in zip(action.parameters, step.arguments, strict=True):
        scope = scope.bind(name, kind, argument)
    follower = _Follower(list(step.choices), [])
    follower.run(action.body, scope)
    return tuple(follower.made)


class _Follower(Struct):
    """Executes a body with choices that are known, noting each."""

    left: list[Value]
    made: list[Made]

    def run(self, body: tuple[Statement, ...], scope: Scope) -> Scope:
        """The scope after a body."""
        for statement in body:
            scope = self.after(statement, replace(scope, drawn=set()))
        return scope

    def after(self, statement: Statement, scope: Scope) -> Scope:
        """The scope after one statement."""
        match statement:
            case Choose(name, domain):
                value = self.left.pop(0)
                self.made.append(Made(name, domain.type, value, scope.locals, scope.types))
                return scope.bind(name, domain.type, value)
            case If(condition, then, otherwise):
                return _outside(self.run(then if evaluate(condition, scope) else otherwise, scope), scope)
            case ForEach(variable, domain, body):
                for value in domain_values(variable, domain, scope):
                    scope = _outside(self.run(body, scope.bind(variable, domain.type, value)), scope)
                return scope
            case _:
                (end,) = execute((statement,), Going(scope, ()))
                assert isinstance(end, Going), "a step that was taken goes on"
                return end.scope


def _outside(inner: Scope, outer: Scope) -> Scope:
    """The scope behind a block: the block's own locals are gone, changes to outer ones stay."""
    kept = {name: inner.locals[name] for name in outer.locals}
    return replace(inner, locals=kept, types=outer.types)
