"""The names that a spec gives to what is said: `leads(n)` in place of what the definition stands for.

Definitions are gone from a property once it is elaborated. Where a part of it is what a definition stands for, with
some expressions in place of its parameters, the definition with these as arguments is what is shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, get_args

from msgspec import Struct

from hacheck.model.expressions import Constant, Expression, Local, Variable
from hacheck.model.ir import NamedValue
from hacheck.model.render import show_expression
from hacheck.model.rewrite import rebuild
from hacheck.model.types import Type
from hacheck.model.typing import type_of

EXPRESSIONS = get_args(Expression)
TYPES = get_args(Type)


class DefinitionNames:
    """Shows expressions with the names of definitions, where that is shorter."""

    def __init__(self, definitions: Sequence[NamedValue]) -> None:
        self._plain: dict[str, str] = {}
        self._by_kind: dict[type, list[NamedValue]] = {}
        for one in definitions:
            words = words_of(show_expression(one.value))
            if one.parameters and isinstance(one.value, EXPRESSIONS) and not isinstance(one.value, Local):
                if len(words) > len(one.name) + 2:
                    self._by_kind.setdefault(type(one.value), []).append(one)
            elif len(words) > len(one.name):
                self._plain[words] = one.name
        for found in self._by_kind.values():  # the one that says most
            found.sort(key=lambda one: -len(show_expression(one.value)))

    def of(self, expression: Expression) -> str | None:
        """What the spec calls the whole of an expression, such as `leads(n)`; `None` where it has no name for it."""
        if isinstance(expression, Constant | Local | Variable):
            return None
        if self._plain and (name := self._plain.get(words_of(show_expression(expression)))) is not None:
            return name
        for one in self._by_kind.get(type(expression), ()):
            found: dict[str, Any] = {}
            if _fits(one.value, expression, frozenset(one.parameters), found) and all(
                map(found.__contains__, one.parameters)
            ):
                return f"{one.name}({', '.join(self.shown(found[name]) for name in one.parameters)})"
        return None

    def shown(self, expression: Expression) -> str:
        """An expression in words, with names in place of what has some."""
        return show_expression(self._with_names(expression))

    def opened(self, expression: Expression) -> str:
        """The same, but what the expression as a whole is called."""
        return show_expression(rebuild(expression, self._with_names))

    def _with_names(self, node: Any) -> Any:
        if isinstance(node, EXPRESSIONS) and (name := self.of(node)) is not None:
            return Local(name, type_of(node))
        return rebuild(node, self._with_names)


def _fits(value: Any, node: Any, parameters: frozenset[str], found: dict[str, Any]) -> bool:
    """Whether an expression is what a definition stands for. `found`: the arguments, by the names of parameters, and
    the locals in place of those that it binds itself, whose names have other numbers."""
    if isinstance(value, Local) and value.name in parameters:
        return isinstance(node, EXPRESSIONS) and found.setdefault(value.name, node) == node
    if type(value) is not type(node):
        return False
    if isinstance(value, str):
        return words_of(value) == words_of(node) and ("$" not in value or found.setdefault(value, node) == node)
    if isinstance(value, tuple):
        pairs = zip(value, node, strict=False)
        return len(value) == len(node) and all(_fits(*pair, parameters, found) for pair in pairs)
    if isinstance(value, Struct) and not isinstance(value, TYPES):
        names = value.__struct_fields__
        return all(_fits(getattr(value, name), getattr(node, name), parameters, found) for name in names)
    return bool(value == node)


def words_of(text: str) -> str:
    """Without the numbers that distinguish locals of one name."""
    return re.sub(r"\$\d+", "", text)
