"""Reads the text form of a system: tokens, then terms built from the inside out, without recursion."""

from __future__ import annotations

import json
import re
import types
import typing
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

from msgspec import Struct

from hacheck.model import ir
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
)

CLASSES: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(Bool, Range, Enum, Node, Identity, Option, Set, Map, Record, Sequence, Bag),
        *get_args(ir.Expression),
        *get_args(ir.Statement),
        *(
            ir.Domain,
            ir.Target,
            ir.StateVariable,
            ir.Action,
            ir.Fairness,
            ir.Property,
            ir.Observation,
            ir.NamedValue,
            ir.Shown,
            ir.System,
        ),
    )
}

IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_.]*"
_TOKEN = re.compile(
    rf"""(?P<space>[\s,]+|;[^\n]*)
       |(?P<text>"(?:[^"\\\n]|\\.)*")
       |(?P<bracket>[()\[\]{{}}])
       |(?P<field>{IDENTIFIER}=(?!=))
       |(?P<variable>\${IDENTIFIER})
       |(?P<local>{IDENTIFIER}:{IDENTIFIER})
       |(?P<range>-?\d+\.\.-?\d+)
       |(?P<number>-?\d+)
       |(?P<word>{IDENTIFIER})
       |(?P<operator>==|!=|<=|<|\+|-|\*)""",
    re.VERBOSE,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_WORDS: dict[str, Any] = {"true": True, "false": False, "none": None}


class TextError(ValueError):
    """The text is no system: what is wrong, and the line and column (from 1) where."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.message = message
        self.line = line
        self.column = column


class Head(Struct, frozen=True):
    """What may stand first in a form: a class, with the leading fields the word itself gives."""

    build: Any  # one of `CLASSES`
    given: tuple[Any, ...] = ()


class _Field(Struct, frozen=True):
    name: str


class _Open(Struct):
    """A bracket not closed yet, and the items read in it."""

    bracket: str
    offset: int
    items: list[Any]


@cache
def heads() -> dict[str, Head]:
    """Every word that may stand first in a form."""
    found = {name: Head(kind) for name, kind in CLASSES.items()}
    for kind, operators in (
        (ir.Unary, get_args(ir.UnaryOperator)),
        (ir.Binary, get_args(ir.BinaryOperator)),
        (ir.Quantified, get_args(_hints(ir.Quantified)["kind"])),
        (ir.Extreme, get_args(_hints(ir.Extreme)["kind"])),
    ):
        for operator in operators:
            # `(some x)` wraps a value, so the quantifier of that name is written in full
            found.setdefault(operator, Head(kind, (operator,)))
    return found


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind, vars(ir) if kind.__module__ == ir.__name__ else None)


def read_definitions(text: str) -> Any:
    """The last term of a text, after the definitions before it. Errors: `TextError`."""
    reader = _Reader(text)
    last: Any = None
    for term in reader.terms():
        last = term
    return last


class _Reader:
    """One pass over one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.defined: dict[str, Any] = {}
        self.variables: dict[str, ir.Variable] = {}

    def error(self, message: str, offset: int) -> TextError:
        line = self.text.count("\n", 0, offset) + 1
        return TextError(message, line, offset - (self.text.rfind("\n", 0, offset) + 1) + 1)

    def tokens(self) -> Iterator[tuple[str, str, int]]:
        offset = 0
        while offset < len(self.text):
            match = _TOKEN.match(self.text, offset)
            if match is None:
                raise self.error(f"unexpected {self.text[offset]!r}", offset)
            if match.lastgroup != "space":
                yield str(match.lastgroup), match.group(), offset
            offset = match.end()

    def terms(self) -> Iterator[Any]:
        """The terms at the top, each as soon as it is complete; definitions are kept and not among them."""
        stack: list[_Open] = []
        for sort, word, offset in self.tokens():
            if word in _CLOSING:
                stack.append(_Open(word, offset, []))
                continue
            if sort == "bracket":
                if not stack or _CLOSING[stack[-1].bracket] != word:
                    raise self.error(f"{word} closes nothing", offset)
                closed = stack.pop()
                value = self.close(closed)
                if value is _DEFINITION and stack:
                    raise self.error("a definition stands only at the top", closed.offset)
            else:
                value = self.atom(sort, word, offset, stack)
            if stack:
                stack[-1].items.append((value, offset))
                self.declare(stack[-1], value)
            elif value is not _DEFINITION:
                yield value
        if stack:
            raise self.error(f"{stack[-1].bracket} is not closed", stack[-1].offset)

    def declare(self, inside: _Open, value: Any) -> None:
        """A variable may be named as soon as it is declared."""
        if isinstance(value, ir.StateVariable):
            self.variables[value.name] = ir.Variable(value.name, value.type)

    def atom(self, sort: str, word: str, offset: int, stack: list[_Open]) -> Any:
        leads = bool(stack) and stack[-1].bracket == "(" and not stack[-1].items
        if leads and (word == "define" or word in heads()):
            return _DEFINE if word == "define" else heads()[word]
        match sort:
            case "text":
                try:
                    return json.loads(word)
                except ValueError:
                    raise self.error(f"{word} is not a text", offset) from None
            case "number":
                return self.number(word, offset)
            case "range":
                low, high = word.split("..")
                return Range(self.number(low, offset), self.number(high, offset))
            case "field":
                return _Field(word[:-1])
            case "variable":
                return self.known(self.variables, word[1:], "variable", offset)
            case "local":
                name, _, kind = word.partition(":")
                return ir.Local(name, self.type(kind, offset))
            case "word" if word in _WORDS:
                return _WORDS[word]
            case "word" if stack and [value for value, _ in stack[-1].items] == [_DEFINE]:
                return _Field(word)
            case "word":
                return self.type(word, offset)
            case _:
                raise self.error(f"{word} may only stand first in a form", offset)

    def number(self, word: str, offset: int) -> int:
        if len(word) > 20:
            raise self.error("a number of more than 20 digits", offset)
        return int(word)

    def type(self, word: str, offset: int) -> Any:
        return Bool() if word == "Bool" else self.known(self.defined, word, "type", offset)

    def known(self, names: dict[str, Any], word: str, what: str, offset: int) -> Any:
        if word not in names:
            raise self.error(f"there is no {what} {word}", offset)
        return names[word]

    def close(self, form: _Open) -> Any:
        values = [value for value, _ in form.items]
        if form.bracket == "(":
            return self.form(form)
        for value, offset in form.items:
            if isinstance(value, _Field | Head) or value is _DEFINE:
                raise self.error("only values may stand in a list or set", offset)
        if form.bracket == "[":
            return tuple(values)
        try:
            return frozenset(values)
        except RecursionError:
            raise self.error("a value nested too deeply", form.offset) from None

    def form(self, form: _Open) -> Any:
        head = form.items[0][0] if form.items else None
        if head is _DEFINE:
            return self.define(form)
        if not isinstance(head, Head):
            raise self.error("a form begins with the name of a class or an operator", form.offset)
        names = head.build.__struct_fields__
        given = dict(zip(names, head.given, strict=False))
        wanted: str | None = None
        for value, offset in form.items[1:]:
            if isinstance(value, _Field):
                if wanted is not None or value.name not in names or value.name in given:
                    raise self.error(f"{value.name}= is not expected here", offset)
                wanted = value.name
                continue
            if wanted is None:
                wanted = next((name for name in names if name not in given), None)
            if wanted is None:
                raise self.error(f"{head.build.__name__} has only {len(names)} fields", offset)
            if not admits(_hints(head.build)[wanted], value):
                raise self.error(f"no value for {wanted} of {head.build.__name__}", offset)
            given[wanted] = value
            wanted = None
        required = names[: len(names) - len(head.build.__struct_defaults__)]
        missing = [name for name in required if name not in given]
        if wanted is not None or missing:
            raise self.error(f"{head.build.__name__} lacks {wanted or missing[0]}", form.offset)
        return head.build(**given)

    def define(self, form: _Open) -> Any:
        values = [value for value, _ in form.items]
        if len(values) != 3 or not isinstance(values[1], _Field) or not admits(Type, values[2]):
            raise self.error("a definition is (define name type)", form.offset)
        self.defined[values[1].name] = values[2]
        return _DEFINITION


_DEFINE: Any = object()
_DEFINITION: Any = object()


def admits(hint: Any, value: Any) -> bool:
    """Whether a value may stand in a field with this annotation: its class, and those in a tuple."""
    origin = get_origin(hint)
    if hint is Any:
        return not isinstance(value, Head | _Field)
    if origin is Literal:
        return value in get_args(hint)
    if origin in (Union, types.UnionType):
        return any(admits(part, value) for part in get_args(hint))
    if origin is tuple:
        parts = get_args(hint)
        if not isinstance(value, tuple):
            return False
        if len(parts) == 2 and parts[1] is Ellipsis:
            return all(admits(parts[0], item) for item in value)
        return len(parts) == len(value) and all(admits(part, item) for part, item in zip(parts, value, strict=True))
    if hint is None or hint is type(None):
        return value is None
    return type(value) is hint
