"""How users read values: in words and names, never as packed numbers."""

from __future__ import annotations

from typing import assert_never

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
    sort_key,
    values,
)


def show(kind: Type, value: Value) -> str:
    """A value in words: `election`, `Replica 3`, `none`, `{1, 2}`, `Stamp(generation: 1, iteration: 0)`,
    `Replica 1: idle, Replica 2: busy` for a map, `[a, b]` for a sequence, `{a, a}` for a bag. A node is called the
    same wherever it stands.

    Values outside their type are shown as well, since messages about them need it. Cost: the value's size.
    """
    match kind:
        case Map(key, element):
            return ", ".join(
                f"{_inner(key, name)}: {_inner(element, item)}" for name, item in zip(values(key), value, strict=True)
            )
        case Bool():
            return "true" if value else "false"
        case Range():
            return str(value)
        case Enum():
            return str(value)
        case Node(name) | Identity(name):
            return f"{name} {value}"
        case Option(element):
            return "none" if value is None else show(element, value)
        case Set(element):
            items = sorted(value, key=lambda item: sort_key(element, item))
            return "{" + ", ".join(_inner(element, item) for item in items) + "}"
        case Record(name, fields):
            parts = (f"{field}: {_inner(part, item)}" for (field, part), item in zip(fields, value, strict=True))
            return f"{name}({', '.join(parts)})"
        case Sequence(element, _):
            return "[" + ", ".join(_inner(element, item) for item in value) + "]"
        case Bag(element, _):
            return "{" + ", ".join(_inner(element, item) for item in value) + "}"
        case _:
            assert_never(kind)


def _inner(kind: Type, value: Value) -> str:
    """A value inside another one: a map needs brackets there."""
    if isinstance(kind, Map):
        return f"({show(kind, value)})"
    if isinstance(kind, Option) and isinstance(kind.element, Map) and value is not None:
        return f"({show(kind, value)})"
    return show(kind, value)


def place(variable: str, kind: Type, path: tuple[Value, ...]) -> str:
    """The name of the part of a variable that `path` leads to: keys, positions (from 1) and field names.

    A field of a node is called by its node: `Replica 3.mode`.
    """
    node, words = located(variable, kind, path)
    return f"{node[0]} {node[1]}.{words}" if node else words


def located(variable: str, kind: Type, path: tuple[Value, ...]) -> tuple[tuple[str, int] | None, str]:
    """The same in two parts: the node whose field it is, if any, and the words without the node."""
    node = None
    words = variable
    if isinstance(kind, Map) and isinstance(kind.key, Node) and path:
        if variable.startswith(f"{kind.key.name}."):
            node, words = (kind.key.name, int(path[0])), variable.removeprefix(f"{kind.key.name}.")
        elif variable == f"clock.{kind.key.name}":  # a node's own clock is shown as a field of it
            node, words = (kind.key.name, int(path[0])), "clock"
    if node is not None and isinstance(kind, Map):
        kind, path = kind.value, path[1:]
    for part in path:
        while isinstance(kind, Option):
            kind = kind.element
        match kind:
            case Map(key, element):
                words += f"[{_inner(key, part)}]"
                kind = element
            case Record(_, fields):
                words += f".{part}"
                kind = dict(fields)[part]
            case Sequence(element, _):
                words += f"[{part}]"
                kind = element
            case _:
                raise AssertionError(f"{part!r} leads nowhere in {kind}")
    return node, words
