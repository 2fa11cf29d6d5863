"""The text form of a system: everything in it, readable, and read back as an equal system.

```
(define Replica (Node "Replica" 3 true))
(define Mode (Enum "Mode" ["follower" "candidate"]))
(System
  name="Election"
  variables=[
    (StateVariable name="Replica.mode" type=(Map Replica Mode) initial=["follower" "follower" "follower"] …)]
  …)
```

One form, `(Class field …)`, stands for every class; fields stand in order, or by name as `field=`. Lists in
`[…]` are tuples, `{…}` are sets. Four short forms make expressions readable: a defined name stands for its
type, `$x` for the variable `x` of the system, `x:Type` for a local of a defined type, and the operator stands
at the head of its expression, `(and (not a) b)`. Operators are the tree's own words, not those of the surface
language.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Any, get_args

from msgspec import Struct

from hacheck.model.ir import (
    Action,
    Binary,
    Expression,
    Extreme,
    Local,
    NamedValue,
    Observation,
    Property,
    Quantified,
    StateVariable,
    System,
    Unary,
    Variable,
)
from hacheck.model.text_reader import IDENTIFIER, TextError, heads, read_definitions
from hacheck.model.types import Bool, Enum, Identity, Node, Range, Record, Type

__all__ = ["TextError", "parse_system", "print_system", "print_term"]

NAMED = (Enum, Node, Identity, Record)
BY_NAME = (System, StateVariable, Action, Property, Observation, NamedValue)
OPERATORS = (Unary, Binary, Quantified, Extreme)
EXPRESSIONS = get_args(Expression)
PLAIN = (str, int, type(None))
WIDTH = 110


def print_system(system: System) -> str:
    """The text of a system. Cost: the system's size."""
    names = _definitions(system)
    variables = {variable.name: variable.type for variable in system.variables}
    lines = []
    for kind, name in names.items():
        others = {other: word for other, word in names.items() if other != kind}
        lines.append(f"(define {name} {_Printer(others, variables).line(kind)})")
    return "\n".join((*lines, _Printer(names, variables).block(system, "")))


def print_term(term: Any) -> str:
    """The text of one expression, statement or type, in one line and without short names."""
    return _Printer({}, {}).line(term)


def parse_system(text: str) -> System:
    """The system that a text stands for: `parse_system(print_system(s)) == s`.

    Errors: `TextError`, a `ValueError` with line and column, when the text is no system.
    """
    found = read_definitions(text)
    if not isinstance(found, System):
        raise TextError("the text ends without a system", 1, 1)
    return found


def _definitions(system: System) -> dict[Any, str]:
    """A short name for each named type in the system, those first that others are made of."""
    found: dict[Any, str] = {}
    taken = set(heads()) | {"true", "false", "none", "define"}
    seen: set[int] = set()
    pending: list[tuple[Any, bool]] = [(system, False)]
    while pending:
        item, done = pending.pop()
        if done:
            if item not in found:
                name = item.name if re.fullmatch(IDENTIFIER, item.name) else "T"
                while name in taken:
                    name += "_"
                taken.add(name)
                found[item] = name
            continue
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, NAMED):
            pending.append((item, True))
        pending += [(part, False) for part in _parts(item) if not isinstance(part, PLAIN)]
    return found


def _parts(item: Any) -> Iterable[Any]:
    if isinstance(item, tuple | frozenset):
        return item
    return [getattr(item, name) for name in _names(item)]


def _names(item: Any) -> tuple[str, ...]:
    """The fields of an item."""
    form: Any = type(item)
    return _fields(form)


@cache
def _fields(form: type) -> tuple[str, ...]:
    return form.__struct_fields__ if issubclass(form, Struct) else ()


class _Printer:
    """Writes terms, given the short names of types and the types of the variables that may be named.

    A term is written once, however often it is used; the printer holds the terms.
    """

    def __init__(self, names: dict[Any, str], variables: dict[str, Type]) -> None:
        self.names = names
        self.variables = variables
        self.written: dict[int, str] = {}

    def line(self, term: Any) -> str:
        """A term in one line. One Python frame deep for each level of the term."""
        match term:
            case None:
                return "none"
            case bool():
                return "true" if term else "false"
            case int():
                return str(term)
            case str():
                return json.dumps(term, ensure_ascii=False)
        found = self.written.get(id(term)) or self.short(term)
        if found is None:
            head, parts = _shape(term)
            words = []
            for part in parts:
                words.append(self.line(part))
            if isinstance(term, frozenset):
                words.sort()
            before, after = "[]" if isinstance(term, tuple) else "{}" if isinstance(term, frozenset) else "()"
            found = f"{before}{' '.join((head, *words) if head else words)}{after}"
        self.written[id(term)] = found
        return found

    def short(self, term: Any) -> str | None:
        """The short form of a type, variable or local, if it has one."""
        match term:
            case Bool():
                return "Bool"
            case Range(low, high, None):
                return f"{low}..{high}"
            case Enum() | Node() | Identity() | Record():
                return self.names.get(term)
            case Variable(name, kind):
                plain = self.variables.get(name) == kind and re.fullmatch(IDENTIFIER, name)
                return f"${name}" if plain else None
            case Local(name, kind):
                word = "Bool" if kind == Bool() else self.names.get(kind) if isinstance(kind, NAMED) else None
                return f"{name}:{word}" if word and re.fullmatch(IDENTIFIER, name) else None
            case _:
                return None

    def block(self, term: Any, indent: str) -> str:
        """A term over several lines where one is too narrow."""
        one = self.line(term)
        if len(indent) + len(one) <= WIDTH or isinstance(term, EXPRESSIONS) or not _parts_left(term):
            return one
        deeper = indent + "  "
        if isinstance(term, tuple):
            return "[\n" + "\n".join(deeper + self.block(item, deeper) for item in term) + "]"
        if isinstance(term, BY_NAME):
            rows = [f"{name}={self.block(getattr(term, name), deeper)}" for name in _names(term)]
            return f"({type(term).__name__}" + "".join(f"\n{deeper}{row}" for row in rows) + ")"
        head, parts = _shape(term)
        return f"({head}" + "".join(f"\n{deeper}{self.block(part, deeper)}" for part in parts) + ")"


def _parts_left(term: Any) -> bool:
    return any(True for _ in _parts(term))


def _shape(term: Any) -> tuple[str, Iterable[Any]]:
    """The head of a form and the fields that follow it; of a tuple or a set, no head and its items."""
    if isinstance(term, tuple | frozenset):
        return "", term
    parts = [getattr(term, name) for name in _names(term)]
    if isinstance(term, OPERATORS) and heads()[parts[0]].build is type(term):
        return parts[0], parts[1:]
    return type(term).__name__, parts
