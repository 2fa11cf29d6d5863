"""What a step acknowledged to clients: where a value grew that the spec marks so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hacheck.model.evaluation import EvaluationError, Scope, evaluate
from hacheck.model.ir import NamedValue, System
from hacheck.model.render import show
from hacheck.model.runs import State
from hacheck.model.types import Bag, Bool, Map, Option, Range, Sequence, Set, Type, Value, values
from hacheck.model.typing import type_of


def acknowledged(system: System, before: State, after: State) -> Iterator[tuple[str, str]]:
    """The name of each promise that grew and what was added to it, in words: an element of a set, a sequence or a bag,
    the value of anything else; of a map with the key, or its key alone where that is now true. What is taken back is
    none.

    Cost: two evaluations of each promise.
    """
    if not system.promises:
        return
    variables = {variable.name: (place, variable.type) for place, variable in enumerate(system.variables)}
    for promise in system.promises:
        was, now = (_value(promise, variables, state) for state in (before, after))
        if was is not None and now is not None:
            for item in _added(type_of(promise.value), was[0], now[0]):
                yield promise.name, item


def _value(promise: NamedValue, variables: dict[str, tuple[int, Type]], state: State) -> tuple[Value] | None:
    try:
        return (evaluate(promise.value, Scope(variables, state, state)),)
    except EvaluationError:
        return None


def _added(kind: Type, was: Value, now: Value) -> Iterator[str]:
    if was == now:
        return
    match kind:
        case Map(key, Bool()):
            each = zip(values(key), was, now, strict=True)
            yield from (show(key, name) for name, old, new in each if new and not old)
        case Map(key, element):
            for name, old, new in zip(values(key), was, now, strict=True):
                for item in _added(element, old, new):
                    yield f"{item} of {show(key, name)}"
        case Set(element):
            yield from (show(element, item) for item in values(element) if item in now and item not in was)
        case Sequence(element, _) | Bag(element, _):
            come: Counter[Value] = Counter(now) - Counter(was)
            yield from (show(element, item) for item in come.elements())
        case Bool():
            yield from ("yes",) if now else ()
        case Option(element):
            yield from () if now is None else (show(element, now),)
        case Range() if now < was:
            return
        case _:
            yield show(kind, now)
