"""A counterexample to induction as states of the model: what is so before a step, the step, and what it breaks.

The state comes from the theory at a small size. The interpreter evaluates all its claims there anew, and so
is whether the step is one of the model's, or one that only the theory allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hacheck.checker.engine import Engine, Limits, Progress
from hacheck.checker.parametric.encoding_context import NUMBER
from hacheck.checker.parametric.finite_instances import Element, Grounding
from hacheck.checker.parametric.first_order_logic import BOOL
from hacheck.checker.parametric.obligation_solving import Outcome
from hacheck.model import ir
from hacheck.model.evaluation import EvaluationError
from hacheck.model.interpreter import Interpreter, Taken, instances
from hacheck.model.runs import State
from hacheck.model.symmetry_types import Kind
from hacheck.model.types import (
    Bag,
    Bool,
    Enum,
    Identity,
    Map,
    Node,
    Option,
    Range,
    Record,
    Sequence,
    Set,
    Type,
    Value,
    default,
    sort_bag,
    values,
)

Reading = Callable[[str, tuple[Element, ...], str], Element]
"""What a symbol is at some arguments, of a sort."""


class Counterexample(Struct, frozen=True):
    """`before` satisfies every claim; `after`, a step of `action` later, does not satisfy the one in question.

    `after` is `None` where the model has no such step: only what the theory left open allows it. `reachable`: whether
    some run leads to `before`, as far as that was found out.
    """

    system: ir.System
    action: int
    arguments: tuple[Value, ...] | None
    before: State
    after: State | None
    size: int
    reachable: Literal["reachable", "not reachable", "not known"] = "not known"


def counterexample(outcome: Outcome, at_size: Callable[[int, int], ir.System | None]) -> Counterexample | None:
    """The step that refutes an obligation, in the model at that size; nothing where the size is not allowed."""
    found = outcome.refutation
    action = outcome.obligation.transition.action
    assert found is not None, "only what was refuted has a counterexample"
    numbers = [one for one in found.grounding.elements.get(NUMBER, (0,)) if isinstance(one, int)]
    system = at_size(found.size, max(numbers))
    if system is None or action is None:
        return None
    reading = _reading(found.grounding, found.true)
    before = tuple(_variable(one, reading) for one in system.variables)
    wanted = _arguments(system.actions[action], outcome, reading)
    interpreter = Interpreter(system)
    made = Counterexample(system, action, wanted, before, None, found.size)
    claim = next((one for one in system.properties if one.name == outcome.obligation.claim.name), None)
    for arguments in _first(wanted, instances(system.actions[action])):
        try:
            for step in interpreter.outcomes_with(action, arguments, before):
                if (
                    isinstance(step, Taken)
                    and claim is not None
                    and _broken(interpreter, claim, before, step.step.state)
                ):
                    return replace(made, arguments=arguments, after=step.step.state)
        except EvaluationError:
            continue
    return made


def _first(wanted: tuple[Value, ...] | None, all_: Iterator[tuple[Value, ...]]) -> Iterator[tuple[Value, ...]]:
    if wanted is not None:
        yield wanted
    yield from all_


def _broken(interpreter: Interpreter, claim: ir.Property, before: State, now: State) -> bool:
    if claim.kind == "step":
        return not interpreter.holds_step(claim, before, now)
    return not interpreter.value(claim.goal, now)


def reached(found: Counterexample, engine: Engine, seconds: float, go_on: Callable[[], bool]) -> Counterexample:
    """The same, with whether its first state can be reached, found out by exploring for so many seconds at most."""
    system = found.system
    budgets = {one.name for one in system.variables if one.role == "budget"}
    goal: ir.Expression = ir.TRUE
    for variable, value in zip(system.variables, found.before, strict=True):
        if variable.name not in budgets:
            same = ir.Binary("==", ir.Variable(variable.name, variable.type), ir.Constant(value, variable.type))
            goal = same if goal == ir.TRUE else ir.Binary("and", goal, same)
    name = "the state before"
    prop = ir.Property(name, "reachable", goal, None, (), "", "", 0)

    def report(_: Progress) -> bool:
        return go_on()

    answer = engine.check(
        replace(system, properties=(prop,)),
        (name,),
        Limits(wall_seconds_max=seconds, memory_bytes_max=1 << 31),
        report,
    )
    (result,) = answer.properties
    said: Literal["reachable", "not reachable", "not known"] = "not known"
    if result.verdict == "holds":
        said = "reachable"
    elif result.verdict == "violated":
        said = "not reachable"
    return replace(found, reachable=said)


# ---- from propositions to values ---------------------------------------------------------------------------------


def _reading(grounding: Grounding, true: frozenset[str]) -> Reading:
    def read(symbol: str, keys: tuple[Element, ...], sort: str) -> Element:
        if sort == BOOL:
            return "true" if grounding.atoms.get((symbol, keys, "true"), "") in true else "false"
        elements = grounding.elements[sort]
        return next((one for one in elements if grounding.atoms.get((symbol, keys, one), "") in true), elements[0])

    return read


def _variable(variable: ir.StateVariable, reading: Reading) -> Value:
    if variable.role == "budget":
        return variable.initial
    return _value(variable.type, variable.name, (), reading)


def named_members(kind: Type) -> list[tuple[Value, Element]]:
    """The values of a scalar type, each with its element in the theory."""
    match kind:
        case Bool():
            return [(False, "false"), (True, "true")]
        case Enum(name, words):
            return [(word, f"{name}:{word}") for word in words]
        case Node(name, 1, _):
            return [(1, f"{name}(1)")]
        case _:
            return [(one, one) for one in values(kind)]


def _value(kind: Type, name: str, keys: tuple[Element, ...], read: Reading) -> Value:
    """The value whose leaves are symbols that begin with `name`, at some keys."""
    match kind:
        case Bool():
            return read(name, keys, BOOL) == "true"
        case Enum(enum, _):
            return str(read(name, keys, enum)).removeprefix(f"{enum}:")
        case Range():
            return read(name, keys, NUMBER)
        case Node() | Identity():
            return _named(kind, read(name, keys, kind.name))
        case Option(element) if _related(element, read):
            return next((one for one, key in named_members(element) if read(name, (*keys, key), BOOL) == "true"), None)
        case Option(element):
            return _value(element, name, keys, read) if read(f"{name}?", keys, BOOL) == "true" else None
        case Set(Option(element)):
            none = {None} if read(f"{name}.none", keys, BOOL) == "true" else set()
            return frozenset(
                none | {one for one, key in named_members(element) if read(name, (*keys, key), BOOL) == "true"}
            )
        case Set(element):
            return frozenset(one for one, key in named_members(element) if read(name, (*keys, key), BOOL) == "true")
        case Map(key, value):
            only = isinstance(key, Node | Enum) and len(named_members(key)) == 1
            return tuple(_value(value, name, keys if only else (*keys, at), read) for _, at in named_members(key))
        case Record(_, fields):
            return tuple(_value(part, f"{name}.{field}", keys, read) for field, part in fields)
        case Bag(element, capacity):
            held = [one for one in values(element) if read(name, (*keys, *_flat(element, one)), BOOL) == "true"]
            return sort_bag(element, tuple(held[:capacity]))
        case Sequence():
            return default(kind)
        case _:
            raise AssertionError(f"{kind} is no type")


def _related(element: Type, _: Reading) -> bool:
    return isinstance(element, Identity) or (isinstance(element, Node) and element.size > 1)


def _named(kind: Kind, element: Element) -> Value:
    return element if isinstance(element, int) else int(str(element).removeprefix(f"{kind.name}(").removesuffix(")"))


def _flat(element: Type, value: Value) -> tuple[Element, ...]:
    match element:
        case Record(_, fields):
            return tuple(one for (_, part), item in zip(fields, value, strict=True) for one in _flat(part, item))
        case _:
            return ({repr(one): key for one, key in named_members(element)}[repr(value)],)


def _arguments(action: ir.Action, outcome: Outcome, read: Reading) -> tuple[Value, ...] | None:
    """The arguments of the step, where each is one symbol."""
    found = []
    for (_, kind), (_, _, symbols) in zip(action.parameters, outcome.obligation.transition.parameters, strict=True):
        if len(symbols) != 1:
            return None
        (symbol,) = symbols
        found.append(_value(kind, symbol.name, (), read))
    return tuple(found)
