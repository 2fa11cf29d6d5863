"""In which ways an expression or a statement can end a step, as far as its text shows: errors of the spec and bounds.

What is said here is what *can* be by the types alone; knowing what guards ensure, lowering often finds less.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from hacheck.model.ir import Assign, Extreme, Fresh, Index, Let, Statement, Stop, Unary
from hacheck.model.rewrite import Tree, walk
from hacheck.model.types import Bag, Map, Option, Range, Record, Sequence, Set, Type
from hacheck.model.typing import type_of

SPEC_ERROR = "an error of the spec"
"""Among what can end a step: any error of the spec; every other name is that of a bound."""


class Stops(Protocol):
    """What can end steps and evaluations, as somebody knows who has looked closer than at the text: the names of
    bounds, and `SPEC_ERROR`."""

    def of_action(self, number: int) -> frozenset[str]:
        """What can end the steps of an action."""
        ...

    def of_property(self, name: str) -> frozenset[str]:
        """What can end the evaluation of a property."""
        ...


def may_fail(tree: Tree) -> bool:
    """Whether the evaluation of an expression, or of those in a statement, can be an error of the spec, or reach
    a bound."""
    return any(_fails(part) for part in walk(tree))


def _fails(part: Tree) -> bool:
    match part:
        case Unary("value" | "first" | "last" | "rest", _) | Fresh():
            return True
        case Extreme(_, _, domain, _):
            return domain.within is not None or domain.where is not None
        case Index(base, key):
            container = type_of(base)
            return not isinstance(container, Map) or bool(_type_violations(container.key, type_of(key), ""))
        case _:
            return False


def stops_of(body: tuple[Statement, ...]) -> frozenset[str]:
    """What can end the execution of statements."""
    return frozenset(stop for one in body for part in walk(one) for stop in _stops(part))


def _stops(part: Tree) -> Iterator[str]:
    match part:
        case Stop(bound):
            yield bound
        case Fresh(kind):
            yield kind.name
        case Let(name, kind, value):
            yield from _type_violations(kind, type_of(value), name)
        case Assign(target, value):
            kind = target.root.type
            for step in target.path:
                if isinstance(kind, Record) and isinstance(step, str):
                    kind = dict(kind.fields)[step]
                elif isinstance(kind, Map) and not isinstance(step, str):
                    yield from (SPEC_ERROR for _ in _type_violations(kind.key, type_of(step), ""))
                    kind = kind.value
                else:
                    assert isinstance(kind, Sequence), f"{step} in {kind}"
                    yield SPEC_ERROR
                    kind = kind.element
            yield from _type_violations(kind, type_of(value), target.root.name)
        case _ if _fails(part):
            yield SPEC_ERROR
        case _:
            pass


def _type_violations(kind: Type, given: Type, name: str) -> set[str]:
    """What can come of storing a value of type `given` where `kind` is wanted, in the variable or local `name`."""
    match kind, given:
        case Range(low, high, counter), Range(least, most, _):
            below = {SPEC_ERROR} if least < low else set()
            return below | ({counter or SPEC_ERROR} if most > high else set())
        case Option(element), Option(other):
            return _type_violations(element, other, name)
        case Set(element), Set(other):
            return _type_violations(element, other, name)
        case Map(_, element), Map(_, other):
            return _type_violations(element, other, name)
        case Record(_, fields), Record(_, others):
            pairs = zip(fields, others, strict=True)
            return {stop for (_, part), (_, other) in pairs for stop in _type_violations(part, other, name)}
        case (Sequence(element, capacity), Sequence(other, most)) | (Bag(element, capacity), Bag(other, most)):
            full = {f"capacity of {name}"} if most > capacity else set()
            return full | _type_violations(element, other, name)
        case _:
            return set() if kind == given else {SPEC_ERROR}
