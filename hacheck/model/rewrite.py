"""Walking and rebuilding expressions and statements, whatever their form; joining conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from typing import Any, TypeAlias, cast, get_args

from hacheck.model import ir

Tree: TypeAlias = ir.Expression | ir.Statement | ir.Domain | ir.Target | ir.Shown
TREES = (*get_args(ir.Expression), *get_args(ir.Statement), ir.Domain, ir.Target, ir.Shown)
_NAMES = frozenset({"Expression", "Statement"} | {form.__name__ for form in TREES})


@cache
def _places(form: Any) -> tuple[tuple[str, str], ...]:
    """The fields of a form that hold trees, in order: `one`, `maybe` (or `None`), or `many` in a tuple."""
    found = []
    written: dict[str, str] = {}
    for base in reversed(form.__mro__):
        written |= getattr(base, "__annotations__", {})
    for name in form.__struct_fields__:
        words = set(re.findall(r"\w+", written[name]))
        if words & _NAMES:
            kind = "many" if "tuple" in words else "maybe" if "None" in words else "one"
            found.append((name, kind))
    return tuple(found)


@cache
def _reader(form: Any) -> Callable[[Any], tuple[Tree, ...]]:
    """What gives the parts of nodes of one form; most forms always hold the same number of them."""
    places = _places(form)
    names = [name for name, _ in places]
    if any(kind != "one" for _, kind in places):
        return lambda node: _gathered(node, places)
    if not names:
        return lambda node: ()
    if len(names) > 1:
        return cast(Callable[[Any], tuple[Tree, ...]], attrgetter(*names))
    (only,) = names
    return lambda node: (getattr(node, only),)


def _gathered(node: Tree, places: tuple[tuple[str, str], ...]) -> tuple[Tree, ...]:
    found: list[Tree] = []
    for name, kind in places:
        held = getattr(node, name)
        if kind == "many":
            found.extend(item for item in held if not isinstance(item, str))
        elif held is not None:
            found.append(held)
    return tuple(found)


def parts(node: Tree) -> tuple[Tree, ...]:
    """The expressions, domains, targets and statements directly inside a node, in the order of its fields."""
    form: Any = type(node)
    return _reader(form)(node)


def walk(node: Tree) -> Iterator[Tree]:
    """The node and everything inside it, outermost first."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(parts(current)))


def statements(body: tuple[ir.Statement, ...]) -> Iterator[ir.Statement]:
    """The statements of a body and all inside them, outermost first. Cost: expressions are not looked into."""
    stack = list(reversed(body))
    while stack:
        current = stack.pop()
        yield current
        match current:
            case ir.If(_, then, otherwise):
                stack += (*reversed(otherwise), *reversed(then))
            case ir.ForEach(_, _, inner):
                stack += reversed(inner)
            case _:
                continue


def conjuncts(condition: ir.Expression) -> Iterator[ir.Expression]:
    """The conditions that all hold where this one does, none of them an `and`."""
    if isinstance(condition, ir.Binary) and condition.operator == "and":
        yield from conjuncts(condition.left)
        yield from conjuncts(condition.right)
    else:
        yield condition


def conjunction(*parts: ir.Expression) -> ir.Expression:
    """All of these, in order."""
    made: ir.Expression = ir.TRUE
    for part in parts:
        made = part if made == ir.TRUE else made if part == ir.TRUE else ir.Binary("and", made, part)
    return made


def disjunction(*parts: ir.Expression) -> ir.Expression:
    """Any of these, in order."""
    made: ir.Expression = ir.FALSE
    for part in parts:
        made = part if made == ir.FALSE else made if part == ir.FALSE else ir.Binary("or", made, part)
    return made


def rebuild(node: Any, change: Callable[[Any], Any]) -> Any:
    """A node of the same form whose direct parts are `change`d; the node itself when nothing changed.

    For a statement inside a tuple of statements `change` may return a tuple, which is spliced in.
    """
    changed: dict[str, Any] = {}
    form: Any = type(node)
    for name, kind in _places(form):
        held = getattr(node, name)
        if kind != "many":
            new = None if held is None else change(held)
            if new is not held:
                changed[name] = new
            continue
        items: list[Any] = []
        for item in held:
            new = item if isinstance(item, str) else change(item)
            items.extend(new if isinstance(new, tuple) else (new,))
        if len(items) != len(held) or any(a is not b for a, b in zip(items, held, strict=True)):
            changed[name] = tuple(items)
    if not changed:
        return node
    return form(*(changed[name] if name in changed else getattr(node, name) for name in form.__struct_fields__))
