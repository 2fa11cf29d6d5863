"""One system for all trials of a counterexample: a constant of the state says which of them is on.

So a system is compiled once, and each trial is an exploration from its own initial states. A trial forbids something:
it limits how often a fault happens, leaves an action out, or takes one way from a condition of a guard.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model.evaluation import EvaluationError, Scope, evaluate
from hacheck.model.interpreter import Interpreter
from hacheck.model.ir import (
    Action,
    Assign,
    Binary,
    Choose,
    Conditional,
    Constant,
    Domain,
    Expression,
    If,
    Local,
    MakeCollection,
    Statement,
    StateVariable,
    System,
    Target,
    Unary,
    Variable,
)
from hacheck.model.rewrite import conjunction, conjuncts, disjunction
from hacheck.model.runs import Run, State, Step
from hacheck.model.types import Bool, Range, Set
from hacheck.model.typing import type_of

TRIAL = "blame.trial"
"""The constant that says which trial is on."""


class FaultLimit(Struct, frozen=True):
    """At most so many faults of one action from the start on. `start`: the state to start in, if no initial one."""

    action: int
    most: int
    start: State | None = None


class Without(Struct, frozen=True):
    """An action never happens."""

    action: int


class Narrowed(Struct, frozen=True):
    """A condition of an action's guard has fewer ways to hold: `left` instead of `condition`."""

    action: int
    condition: Expression
    left: Expression


Restriction = FaultLimit | Without | Narrowed


class TrialSystem(Struct, frozen=True):
    """The system of all trials, and for each trial its initial states by their places among all."""

    system: System
    starts: tuple[frozenset[int], ...]


def trial_system(system: System, trials: Sequence[Restriction]) -> TrialSystem:
    """The system in which each trial can be explored. Errors: `StartError` where it cannot begin."""
    kind = Range(0, max(len(trials) - 1, 1))
    trial = Variable(TRIAL, kind)
    limited = sorted({one.action for one in trials if isinstance(one, FaultLimit)})
    most = max((one.most for one in trials if isinstance(one, FaultLimit)), default=0)
    left = {action: Variable(f"blame.left.{action}", Range(0, most + 1)) for action in limited}
    actions = tuple(
        _restricted(
            number, action, [(place, one) for place, one in enumerate(trials) if one.action == number], trial, left
        )
        for number, action in enumerate(system.actions)
    )
    added = [StateVariable(TRIAL, kind, 0, None, "shared")]
    added += [StateVariable(one.name, one.type, most + 1, None, "shared") for one in left.values()]
    chosen = Local("blame$trial", kind)
    initial: tuple[Statement, ...] = (
        *system.initial,
        Choose(chosen.name, Domain(kind, None, Binary("<", chosen, Constant(len(trials), Range(0, len(trials)))))),
        Assign(Target(trial), chosen),
        *(made for place, one in enumerate(trials) for made in _beginning(system, place, one, trial, left)),
    )
    made = replace(system, variables=(*system.variables, *added), actions=actions, initial=initial)
    place = len(system.variables)
    starts: list[set[int]] = [set() for _ in trials]
    for number, state in enumerate(Interpreter(made).initial_states()):
        starts[state[place]].add(number)
    return TrialSystem(made, tuple(frozenset(one) for one in starts))


def _is(trial: Variable, place: int) -> Expression:
    return Binary("==", trial, Constant(place, trial.type))


def _restricted(
    number: int,
    action: Action,
    trials: Sequence[tuple[int, Restriction]],
    trial: Variable,
    left: Mapping[int, Variable],
) -> Action:
    """The action as the trials want it."""
    guard, body = action.guard, action.body
    for place, one in trials:
        match one:
            case Without():
                guard = Binary("and", Unary("not", _is(trial, place)), guard)
            case Narrowed(_, _, narrower):
                guard = Binary("and", guard, Binary("or", Unary("not", _is(trial, place)), narrower))
            case FaultLimit():
                continue
    if number in left:
        counter = left[number]
        assert isinstance(counter.type, Range), "what is left is a number"
        unlimited = Constant(counter.type.high, counter.type)
        guard = Binary("and", Binary("<", Constant(0, counter.type), counter), guard)
        one_less = Assign(Target(counter), Binary("-", counter, Constant(1, Range(1, 1))))
        body = (*body, If(Binary("<", counter, unlimited), (one_less,), ()))
    return action if guard is action.guard and body is action.body else replace(action, guard=guard, body=body)


def _beginning(
    system: System, place: int, one: Restriction, trial: Variable, left: Mapping[int, Variable]
) -> Iterator[Statement]:
    """What a trial has otherwise at its start."""
    if not isinstance(one, FaultLimit):
        return
    counter = left[one.action]
    made: list[Statement] = [Assign(Target(counter), Constant(one.most, counter.type))]
    if one.start is not None:
        pairs = zip(system.variables, one.start, strict=True)
        made += [Assign(Target(Variable(each.name, each.type)), Constant(value, each.type)) for each, value in pairs]
    yield If(_is(trial, place), tuple(made), ())


# ---- the ways in which a condition of a guard holds ----


def narrowed(system: System, run: Run) -> list[tuple[Narrowed, tuple[Expression, ...], list[int]]]:
    """For each condition of a guard that can hold in several ways, the trial without those ways in which it held at
    some step of the run, these ways, and the numbers of the steps. Faults and repairs are left out."""
    found: dict[Narrowed, tuple[tuple[Expression, ...], list[int]]] = {}
    interpreter = Interpreter(system)
    for number, (before, step) in enumerate(zip(run.states, run.steps, strict=False), start=1):
        action = system.actions[step.action]
        if action.kind in ("fault", "repair"):
            continue
        scope = _scope(interpreter, before, step)
        for condition in conjuncts(action.guard):
            ways = ways_of(condition)
            used = tuple(one for one in ways if _holds(one, scope))
            rest = [one for one in ways if one not in used]
            if not used or not rest:
                continue
            trial = Narrowed(step.action, condition, disjunction(*rest))
            found.setdefault(trial, (used, []))[1].append(number)
    return [(trial, used, steps) for trial, (used, steps) in found.items()]


def _scope(interpreter: Interpreter, before: State, step: Step) -> Scope:
    scope = Scope(interpreter.variables, before, before)
    parameters = interpreter.system.actions[step.action].parameters
    for (name, kind), argument in zip(parameters, step.arguments, strict=True):
        scope = scope.bind(name, kind, argument)
    return scope


def _holds(condition: Expression, scope: Scope) -> bool:
    try:
        return bool(evaluate(condition, scope))
    except EvaluationError:
        return False


def ways_of(condition: Expression) -> tuple[Expression, ...]:
    """Conditions of which at least one holds exactly where this one does; itself alone where it has no parts that are
    alternatives. A right side has a value only where the left one is false, so it says that."""
    match condition:
        case Binary("or", left, right):
            first = ways_of(left)
            return (*first, *(conjunction(_negated(left), one) for one in ways_of(right)))
        case Binary("implies", left, right):
            return (*ways_of(_negated(left)), *(conjunction(left, one) for one in ways_of(right)))
        case Binary("in", item, MakeCollection(_, items)) if len(items) > 1:
            return tuple(Binary("==", item, one) for one in items)
        case Binary("in", item, Constant(frozenset() as members, Set(element))) if len(members) > 1:
            kind = type_of(item)
            return (
                tuple(Binary("==", item, Constant(one, kind)) for one in sorted(members, key=repr))
                if kind == element
                else (condition,)
            )
        case Conditional(test, then, otherwise):
            return (
                *(conjunction(test, one) for one in ways_of(then)),
                *(conjunction(_negated(test), one) for one in ways_of(otherwise)),
            )
        case Unary("not", Binary("and", left, right)):
            return ways_of(Binary("or", _negated(left), _negated(right)))
        case Unary("not", Unary("not", inner)):
            return ways_of(inner)
        case _:
            return (condition,)


def _negated(condition: Expression) -> Expression:
    match condition:
        case Unary("not", inner):
            return inner
        case Constant(bool() as value, Bool()):
            return Constant(not value, Bool())
        case _:
            return Unary("not", condition)
