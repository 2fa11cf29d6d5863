"""Walking and rebuilding expressions and statements, whatever their form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any, TypeAlias, get_args

from hacheck.model import ir

Tree: TypeAlias = ir.Expression | ir.Statement | ir.Domain | ir.Target
TREES = (*get_args(ir.Expression), *get_args(ir.Statement), ir.Domain, ir.Target)


def parts(node: Tree) -> Iterator[Tree]:
    """The expressions, domains, targets and statements directly inside a node, in the order of its fields."""
    for place in fields(node):
        held = getattr(node, place.name)
        if isinstance(held, TREES):
            yield held
        elif isinstance(held, tuple):
            yield from (item for item in held if isinstance(item, TREES))


def walk(node: Tree) -> Iterator[Tree]:
    """The node and everything inside it, outermost first."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(list(parts(current))))


def rebuild(node: Any, change: Callable[[Any], Any]) -> Any:
    """A node of the same form whose direct parts are `change`d; the node itself when nothing changed.

    For a statement inside a tuple of statements `change` may return a tuple, which is spliced in.
    """
    changed: dict[str, Any] = {}
    for place in fields(node):
        held = getattr(node, place.name)
        if isinstance(held, TREES):
            new = change(held)
            if new is not held:
                changed[place.name] = new
        elif isinstance(held, tuple) and any(isinstance(item, TREES) for item in held):
            items: list[Any] = []
            for item in held:
                new = change(item) if isinstance(item, TREES) else item
                items.extend(new if isinstance(new, tuple) else (new,))
            if len(items) != len(held) or any(a is not b for a, b in zip(items, held, strict=True)):
                changed[place.name] = tuple(items)
    if not changed:
        return node
    values = {place.name: changed.get(place.name, getattr(node, place.name)) for place in fields(node)}
    return type(node)(**values)


def substitute(node: Any, values: dict[str, ir.Expression]) -> Any:
    """The tree with each `Local` of these names replaced. Names are unique, so nothing can be captured."""
    if isinstance(node, ir.Local):
        return values.get(node.name, node)
    return rebuild(node, lambda part: substitute(part, values))
