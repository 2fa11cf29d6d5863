"""What a step's choices meant: each with the name it had, and what was known where it was made."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model.evaluation import Scope, domain_values, evaluate
from hacheck.model.execution import Going, execute
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import Assign, Binary, Choose, Expression, ForEach, If, Local, Statement, System
from hacheck.model.runs import State, Step
from hacheck.model.types import Option, Type, Value
from hacheck.model.typing import type_of

OUTCOME_NAME = "outcome$"
"""What the name of the choice begins with that says how a call came out; no name of a spec has that sign."""


class Made(Struct, frozen=True):
    """A choice that was made: of which `Choose`, which value, and the locals there with their types.

    `loops`: the variables of the `for`s around it. `given`: where it is the outcome of a call, the type and the value
    that the caller got for an answer. `within`: the outcome of the call in whose service it was made, if it was in one.
    """

    name: str
    type: Type
    value: Value
    locals: Mapping[str, Value]
    types: Mapping[str, Type]
    loops: tuple[str, ...] = ()
    given: tuple[Type, Value] | None = None
    within: Made | None = None


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
    loops: tuple[str, ...] = ()
    within: Made | None = None

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
                self.made.append(
                    Made(name, domain.type, value, scope.locals, scope.types, self.loops, None, self.within)
                )
                return scope.bind(name, domain.type, value)
            case If(Binary("==", Local(name), _) as condition, (Assign(value=answer),), ()):
                if not evaluate(condition, scope):
                    return scope
                if name.startswith(OUTCOME_NAME):
                    self._note_answer(name, answer, scope)
                return _outside(self.run(statement.then, scope), scope)
            case If(Binary("!=", Local(name), _) as condition, then, ()) if name.startswith(OUTCOME_NAME):
                outer, self.within = self.within, self._last(name)
                scope = _outside(self.run(then, scope), scope) if evaluate(condition, scope) else scope
                self.within = outer
                return scope
            case If(condition, then, otherwise):
                return _outside(self.run(then if evaluate(condition, scope) else otherwise, scope), scope)
            case ForEach(variable, domain, body):
                around, self.loops = self.loops, (*self.loops, variable)
                for value in domain_values(variable, domain, scope):
                    scope = _outside(self.run(body, scope.bind(variable, domain.type, value)), scope)
                self.loops = around
                return scope
            case _:
                (end,) = execute((statement,), Going(scope, ()))
                assert isinstance(end, Going), "a step that was taken goes on"
                return end.scope

    def _last(self, name: str) -> Made | None:
        """The choice of this name that was made last."""
        return next((one for one in reversed(self.made) if one.name == name), None)

    def _note_answer(self, outcome: str, answer: Expression, scope: Scope) -> None:
        """Where the outcome of a call that was chosen last lets its caller have the answer: what that is."""
        for place in reversed(range(len(self.made))):
            if self.made[place].name == outcome:
                kind, value = type_of(answer), evaluate(answer, scope)
                if isinstance(kind, Option) and value is not None:
                    self.made[place] = replace(self.made[place], given=(kind.element, value))
                return


def _outside(inner: Scope, outer: Scope) -> Scope:
    """The scope behind a block: the block's own locals are gone, changes to outer ones stay."""
    kept = {name: inner.locals[name] for name in outer.locals}
    return replace(inner, locals=kept, types=outer.types)
