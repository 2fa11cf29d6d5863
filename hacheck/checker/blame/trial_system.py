"""One system for all trials of a counterexample: a constant of the state says which of them is on.

So a system is compiled once, and each trial is an exploration from its own initial states. A trial forbids something:
it limits how often a fault happens, leaves an action out, or takes one way from a condition of a guard.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from hacheck.model.evaluation import EvaluationError, Scope, evaluate
from hacheck.model.interpreter import Interpreter, Taken
from hacheck.model.ir import (
    Action,
    Assign,
    Binary,
    Choose,
    Conditional,
    Constant,
    Domain,
    Expression,
    ForEach,
    If,
    Local,
    MakeCollection,
    Property,
    Statement,
    StateVariable,
    System,
    Target,
    Unary,
    Variable,
)
from hacheck.model.rewrite import conjunction, conjuncts, disjunction, walk
from hacheck.model.runs import Run, State, Step
from hacheck.model.types import Bool, Range, Set
from hacheck.model.typing import type_of

Body: TypeAlias = tuple[Statement, ...]

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
    """A condition of an action's guard has fewer alternatives: `left` instead of `condition`."""

    action: int
    condition: Expression
    left: Expression


class OtherBranch(Struct, frozen=True):
    """An `if` in an action's body never takes one of its branches (`taken`: the first one), but the other one instead.
    `place`: its number among all of the body, the outer one before those within."""

    action: int
    place: int
    taken: bool


class OtherGoal(Struct, frozen=True):
    """The property asks for something else, and no step is taken where it holds no more as it is (`before`)."""

    goal: Expression
    before: Expression


Restriction: TypeAlias = FaultLimit | Without | Narrowed | OtherBranch | OtherGoal


class TrialSystem(Struct, frozen=True):
    """The system of all trials, and for each trial its initial states by their places among all."""

    system: System
    starts: tuple[frozenset[int], ...]


def trial_system(system: System, trials: Sequence[Sequence[Restriction]]) -> TrialSystem:
    """The system in which each trial can be explored, with all of its restrictions. Errors: `StartError` where it
    cannot begin."""
    kind = Range(0, max(len(trials) - 1, 1))
    trial = Variable(TRIAL, kind)
    listed = [(place, one) for place, several in enumerate(trials) for one in several]
    limits = [one for _, one in listed if isinstance(one, FaultLimit)]
    most = max((one.most for one in limits), default=0)
    left = {
        action: Variable(f"blame.left.{action}", Range(0, most + 1)) for action in sorted({o.action for o in limits})
    }
    actions = tuple(
        _restricted(number, action, [(place, one) for place, one in listed if _is_of(one, number)], trial, left)
        for number, action in enumerate(system.actions)
    )
    added = [StateVariable(one.name, one.type, most + 1, None, "shared") for one in left.values()]
    made = replace(
        system,
        variables=(*system.variables, *added),
        actions=actions,
        properties=tuple(_with_goal(one, listed, trial) for one in system.properties),
    )
    beginnings = [made for place, one in listed for made in _beginning(system, place, one, trial, left)]
    return among_trials(made, len(trials), trial, beginnings)


def _is_of(one: Restriction, action: int) -> bool:
    """Whether a restriction concerns an action."""
    return isinstance(one, OtherGoal) or one.action == action


def _with_goal(prop: Property, trials: Sequence[tuple[int, Restriction]], trial: Variable) -> Property:
    """The property as the trials want it."""
    goal = prop.goal
    for place, one in trials:
        if isinstance(one, OtherGoal):
            goal = Conditional(_is(trial, place), one.goal, goal)
    return prop if goal is prop.goal else replace(prop, goal=goal)


def among_trials(system: System, count: int, trial: Variable, beginnings: Sequence[Statement] = ()) -> TrialSystem:
    """The system whose initial states also choose one of so many trials. `beginnings`: what these have otherwise, which
    comes last. Errors: `StartError` where it cannot begin."""
    kind = trial.type
    chosen = Local("blame$trial", kind)
    initial: tuple[Statement, ...] = (
        *system.initial,
        Choose(chosen.name, Domain(kind, None, Binary("<", chosen, Constant(count, Range(0, count))))),
        Assign(Target(trial), chosen),
        *beginnings,
    )
    place = len(system.variables)
    variable = StateVariable(TRIAL, kind, 0, None, "shared")
    made = replace(system, variables=(*system.variables, variable), initial=initial)
    starts: list[set[int]] = [set() for _ in range(count)]
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
            case OtherBranch(_, at, taken):
                body = forced(body, at, taken=taken, unless=_is(trial, place))
            case OtherGoal(_, before):
                guard = Binary("and", Binary("or", Unary("not", _is(trial, place)), before), guard)
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


def forced(body: Body, place: int, *, taken: bool, unless: Expression) -> Body:
    """A body in which an `if` does not take one of its branches where `unless` holds."""
    seen = -1

    def changed(some: Body) -> Body:
        nonlocal seen
        made: list[Statement] = []
        for one in some:
            match one:
                case If(condition, then, otherwise):
                    seen += 1
                    if seen == place:
                        condition = (
                            Binary("and", Unary("not", unless), condition) if taken else Binary("or", unless, condition)
                        )
                    made.append(If(condition, changed(then), changed(otherwise)))
                case ForEach():
                    made.append(replace(one, body=changed(one.body)))
                case _:
                    made.append(one)
        return tuple(made)

    return changed(body)


def branches(body: Body) -> Iterator[Expression]:
    """The conditions of every `if` of a body, the outer one before those within."""
    for one in body:
        match one:
            case If(condition, then, otherwise):
                yield condition
                yield from branches(then)
                yield from branches(otherwise)
            case ForEach():
                yield from branches(one.body)


def branched(system: System, run: Run) -> list[tuple[OtherBranch, Expression, list[int]]]:
    """For each `if` of a handler or an action and each of its branches without which the step of the run could not have
    led where it did: the trial, the condition, and the numbers of these steps.

    An `if` that the language adds, such as that on the outcome of a call, is none of them. Cost: two interpreted steps
    for each `if` of each step.
    """
    found: dict[OtherBranch, tuple[Expression, list[int]]] = {}
    interpreters: dict[OtherBranch, Interpreter] = {}
    for number, (before, step) in enumerate(zip(run.states, run.steps, strict=False), start=1):
        action = system.actions[step.action]
        if action.kind in ("fault", "repair"):
            continue
        for place, condition in enumerate(branches(action.body)):
            if not _is_written(condition):
                continue
            for taken in (True, False):
                trial = OtherBranch(step.action, place, taken)
                if trial not in interpreters:
                    interpreters[trial] = Interpreter(_with_branch(system, trial))
                outcomes = interpreters[trial].outcomes_with(step.action, step.arguments, before)
                if not any(isinstance(one, Taken) and one.step.state == step.state for one in outcomes):
                    found.setdefault(trial, (condition, []))[1].append(number)
    return [(trial, condition, steps) for trial, (condition, steps) in found.items()]


def _with_branch(system: System, trial: OtherBranch) -> System:
    """The system in which a trial is always on."""
    actions = list(system.actions)
    action = actions[trial.action]
    always = Constant(value=True, type=Bool())
    actions[trial.action] = replace(action, body=forced(action.body, trial.place, taken=trial.taken, unless=always))
    return replace(system, actions=tuple(actions))


def _is_written(condition: Expression) -> bool:
    """Whether a condition is one of the spec: those that the language adds read names that no spec can have."""
    names = [one.name for one in walk(condition) if isinstance(one, Local | Variable)]
    return bool(names) and not any("$" in name or " " in name for name in names)


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


# ---- the alternatives of a condition of a guard ----


def narrowed(system: System, run: Run) -> list[tuple[Narrowed, tuple[Expression, ...], list[int]]]:
    """For each condition of a guard that has several alternatives, the trial without those alternatives in which it
    held at some step of the run, these alternatives, and the numbers of the steps. Faults and repairs are left out."""
    found: dict[Narrowed, tuple[tuple[Expression, ...], list[int]]] = {}
    interpreter = Interpreter(system)
    for number, (before, step) in enumerate(zip(run.states, run.steps, strict=False), start=1):
        action = system.actions[step.action]
        if action.kind in ("fault", "repair"):
            continue
        scope = _scope(interpreter, before, step)
        for condition in conjuncts(action.guard):
            alternatives = alternatives_of(condition)
            used = tuple(one for one in alternatives if _holds(one, scope))
            rest = [one for one in alternatives if one not in used]
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


def alternatives_of(condition: Expression) -> tuple[Expression, ...]:
    """Conditions of which at least one holds exactly where this one does; itself alone where it has no parts that are
    alternatives. A right side has a value only where the left one is false, so it says that."""
    match condition:
        case Binary("or", left, right):
            first = alternatives_of(left)
            return (*first, *(conjunction(_negated(left), one) for one in alternatives_of(right)))
        case Binary("implies", left, right):
            return (*alternatives_of(_negated(left)), *(conjunction(left, one) for one in alternatives_of(right)))
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
                *(conjunction(test, one) for one in alternatives_of(then)),
                *(conjunction(_negated(test), one) for one in alternatives_of(otherwise)),
            )
        case Unary("not", Binary("and", left, right)):
            return alternatives_of(Binary("or", _negated(left), _negated(right)))
        case Unary("not", Unary("not", inner)):
            return alternatives_of(inner)
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
