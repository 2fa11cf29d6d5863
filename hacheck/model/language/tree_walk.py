"""Walking an untyped tree, whatever its form."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec import Struct

from hacheck.model.language import syntax_tree as t


def parts(root: object) -> Iterator[object]:
    """Everything in a tree, places left out."""
    stack = [root]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            stack.extend(part)
            continue
        yield part
        form: Any = type(part)
        stack.extend([getattr(part, name) for name in _holding(form)])


def statements(body: t.Body) -> Iterator[t.Statement]:
    """Every statement of a block, each before those inside it."""
    for one in body:
        yield one
        match one:
            case t.If(_, then, otherwise) | t.Acquire(_, then, otherwise):
                yield from statements(then)
                yield from statements(otherwise)
            case t.For(_, _, inner) | t.While(_, inner):
                yield from statements(inner)
            case _:
                continue


@cache
def _holding(form: type) -> tuple[str, ...]:
    """The fields of a form of tree that can hold other parts of it; none of what is no tree."""
    plain = {"Span", "str", "int", "bool"}
    if not issubclass(form, Struct):
        return ()
    return tuple(name for name in form.__struct_fields__ if form.__annotations__[name] not in plain)
