"""Whether a value may be stored in a place of a given type, and writing one part of a composite value."""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from hacheck.model.evaluation import BoundReached, EvaluationError
from hacheck.model.render import place, show
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
    member,
    ordinal,
    sort_key,
    values,
)


class TypeViolation(Struct, frozen=True):
    """The first part of a value that its type does not admit.

    `path` leads to the part, as in `place`; an element of a set or bag has the path of the collection.
    `bound`: the name of the counter passed, or `None` for an error of the spec. `full`: a sequence or bag is
    past its capacity.
    """

    path: tuple[Value, ...]
    type: Type
    value: Value
    bound: str | None = None
    full: bool = False


def type_violation(kind: Type, value: Value, path: tuple[Value, ...] = ()) -> TypeViolation | None:
    """The first part of the value that is outside its type, or `None`.

    Parts are looked at in order: fields and elements from the first to the last, those of a set and bag in
    the order of their type; the capacity of a sequence or bag before its elements. Cost: the value's size.
    """
    match kind:
        case Range(low, high, counter):
            if low <= value <= high:
                return None
            return TypeViolation(path, kind, value, bound=counter if value > high else None)
        case Bool() | Enum() | Node() | Identity():
            return None if member(kind, value) else TypeViolation(path, kind, value)
        case Option(element):
            return None if value is None else type_violation(element, value, path)
        case Set(element):
            ordered = sorted(value, key=lambda item: sort_key(element, item))
            return _first([(element, item, path) for item in ordered])
        case Map(key, element):
            pairs = zip(values(key), value, strict=True)
            return _first([(element, item, (*path, name)) for name, item in pairs])
        case Record(_, fields):
            members = zip(fields, value, strict=True)
            return _first([(part, item, (*path, field)) for (field, part), item in members])
        case Sequence(element, capacity) | Bag(element, capacity):
            if len(value) > capacity:
                return TypeViolation(path, kind, value, full=True)
            by_position = isinstance(kind, Sequence)
            return _first(
                [
                    (element, item, (*path, position) if by_position else path)
                    for position, item in enumerate(value, start=1)
                ]
            )
        case _:
            assert_never(kind)


def _first(parts: list[tuple[Type, Value, tuple[Value, ...]]]) -> TypeViolation | None:
    for kind, value, path in parts:
        found = type_violation(kind, value, path)
        if found is not None:
            return found
    return None


def refuse(name: str, root: Type, path: tuple[Value, ...], found: TypeViolation) -> BoundReached | EvaluationError:
    """What a value outside its type means for the step that would store it under `path` of the variable or local
    `name`."""
    if found.bound is not None:
        return BoundReached(found.bound)
    if found.full:
        return BoundReached(f"capacity of {name}")
    where = place(name, root, (*path, *found.path))
    outside = show(found.type, found.value)
    if isinstance(found.type, Range):
        return EvaluationError(f"{where} would be {outside}, outside {found.type.low}..{found.type.high}")
    return EvaluationError(f"{where} would be {outside}, which is not a value of its type")


def part_type(kind: Type, path: tuple[Value, ...]) -> Type:
    """The type of the part that `path` leads to: keys and positions, and field names."""
    for step in path:
        match kind:
            case Map(_, element) | Sequence(element, _):
                kind = element
            case Record(_, fields):
                kind = dict(fields)[step]
            case _:
                raise AssertionError(f"{step!r} leads nowhere in {kind}")
    return kind


def written(name: str, root: Type, whole: Value, path: tuple[Value, ...], part: Value) -> Value:
    """The value `whole` with the part at `path` replaced.

    Errors: `EvaluationError` when a map has no such key or a sequence no such position; `name` and `root` are
    for its message.
    """
    return _written(name, root, root, whole, path, part, ())


def _written(
    name: str,
    root: Type,
    kind: Type,
    whole: Value,
    path: tuple[Value, ...],
    part: Value,
    done: tuple[Value, ...],
) -> Value:
    if not path:
        return part
    step, rest = path[0], path[1:]
    match kind:
        case Map(key, element):
            if not member(key, step):
                raise EvaluationError(f"{place(name, root, done)} has no element for {show(key, step)}")
            index, inner = ordinal(key, step), element
        case Sequence(element, _):
            if not 1 <= step <= len(whole):
                raise EvaluationError(
                    f"{place(name, root, done)} has no element {step}: the sequence has {len(whole)} of them"
                )
            index, inner = step - 1, element
        case Record(_, fields):
            index, inner = next((i, part) for i, (field, part) in enumerate(fields) if field == step)
        case _:
            raise AssertionError(f"{step!r} leads nowhere in {kind}")
    new = _written(name, root, inner, whole[index], rest, part, (*done, step))
    return (*whole[:index], new, *whole[index + 1 :])
