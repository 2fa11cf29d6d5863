"""Values as JSON and back, given their type.

Numbers, words and `null` (for nothing) stand for scalars; lists for sets (in order), sequences and bags;
objects for records, and for maps, whose keys are written as in `show`. Where two keys would read the same, a
map is a list of key-value pairs instead. Nothing is lost.
"""

from __future__ import annotations

from typing import Any, TypeAlias, assert_never

from hacheck.model.render_value import show
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
    sort_key,
    values,
)

# What the standard library's JSON encoder takes and gives: a recursive type that Python cannot narrow
# usefully.
Json: TypeAlias = Any


class JsonError(ValueError):
    """JSON that does not stand for what it should: the message says where and why."""


def value_to_json(kind: Type, value: Value) -> Json:
    """The value as JSON. It must belong to its type."""
    match kind:
        case Bool() | Range() | Enum() | Node() | Identity():
            return value
        case Option(element):
            return None if value is None else value_to_json(element, value)
        case Set(element):
            ordered = sorted(value, key=lambda item: sort_key(element, item))
            return [value_to_json(element, item) for item in ordered]
        case Sequence(element, _) | Bag(element, _):
            return [value_to_json(element, item) for item in value]
        case Map(key, element):
            items = [value_to_json(element, item) for item in value]
            names = key_names(key)
            if names is not None:
                return dict(zip(names, items, strict=True))
            return [[value_to_json(key, name), item] for name, item in zip(values(key), items, strict=True)]
        case Record(_, fields):
            pairs = zip(fields, value, strict=True)
            return {name: value_to_json(field, item) for (name, field), item in pairs}
        case _:
            assert_never(kind)


def key_names(key: Type) -> list[str] | None:
    """The keys of a map as words, a node or identity as its number; `None` when two would read the same."""
    names = [str(name) if isinstance(key, Node | Identity) else show(key, name) for name in values(key)]
    return names if len(set(names)) == len(names) else None


def value_from_json(kind: Type, json: Json, where: str = "value") -> Value:
    """The value that JSON stands for.

    Errors: `JsonError`, naming the place after `where`, when it is no value of the type.
    """
    value = _decoded(kind, json, where)
    if not member(kind, value):
        raise JsonError(f"{where}: {json!r} is outside its type")
    return value


def _decoded(kind: Type, json: Json, where: str) -> Value:
    match kind:
        case Bool() | Range() | Enum() | Node() | Identity():
            if not member(kind, json):
                raise JsonError(f"{where}: {json!r} is outside its type")
            return json
        case Option(element):
            return None if json is None else value_from_json(element, json, where)
        case Set(element):
            items = _list(json, where)
            return frozenset(_parts(element, items, where))
        case Sequence(element, _) | Bag(element, _):
            return _parts(element, _list(json, where), where)
        case Map(key, element):
            names = key_names(key)
            if names is None:
                expected = [value_to_json(key, name) for name in values(key)]
                pairs = _list(json, where)
                if [pair[0] if isinstance(pair, list) and len(pair) == 2 else pair for pair in pairs] != expected:
                    raise JsonError(f"{where}: expected a pair for each key, in order")
                return _parts(element, [pair[1] for pair in pairs], where)
            return _members([(name, element) for name in names], json, where)
        case Record(_, fields):
            return _members(list(fields), json, where)
        case _:
            assert_never(kind)


def _list(json: Json, where: str) -> list[Json]:
    if not isinstance(json, list):
        raise JsonError(f"{where}: expected a list, found {json!r}")
    return json


def _parts(element: Type, items: list[Json], where: str) -> tuple[Value, ...]:
    return tuple(value_from_json(element, item, f"{where}[{place}]") for place, item in enumerate(items))


def _members(fields: list[tuple[str, Type]], json: Json, where: str) -> tuple[Value, ...]:
    names = [name for name, _ in fields]
    if not isinstance(json, dict) or sorted(json) != sorted(names):
        raise JsonError(f"{where}: expected an object with exactly {', '.join(names)}")
    return tuple(value_from_json(field, json[name], f"{where}.{name}") for name, field in fields)


def plain_to_json(value: Value) -> Json:
    """A value as JSON where its type is not known: a list is a tuple, `{"#set": [...]}` a set."""
    if isinstance(value, tuple):
        return [plain_to_json(item) for item in value]
    if isinstance(value, frozenset):
        return {"#set": sorted((plain_to_json(item) for item in value), key=repr)}
    return value


def plain_from_json(json: Json, where: str = "value") -> Value:
    """The value written by `plain_to_json`. Errors: `JsonError` where JSON stands for no value."""
    match json:
        case None | bool() | int() | str():
            return json
        case list():
            return tuple(plain_from_json(item, where) for item in json)
        case {"#set": list(items), **rest} if not rest:
            return frozenset(plain_from_json(item, where) for item in items)
        case _:
            raise JsonError(f"{where}: {json!r} is not a value")
