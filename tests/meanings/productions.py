"""The productions of the grammar that a text uses: a parse tree in which every rule and every token is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, Token

import hacheck.model.language as language

Item = tuple[str, str]
"""A production, and a symbol of it; or `function` and a name, or `situation` and what it is."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """A production that was applied: its name, and what it was applied to."""

    name: str
    origin: str
    children: tuple[Any, ...]

    def tokens(self) -> Iterator[Token]:
        """The words that stand directly in it."""
        for child in self.children:
            if isinstance(child, Token):
                yield child
            elif child.origin.startswith("_"):
                yield from child.tokens()

    def inside(self) -> Iterator[Reduction]:
        """The productions directly in it; the helpers that repeat are looked through."""
        for child in self.children:
            if isinstance(child, Reduction):
                yield from child.inside() if child.origin.startswith("_") else (child,)

    def walk(self) -> Iterator[Reduction]:
        """It and all below it."""
        yield self
        for child in self.children:
            if isinstance(child, Reduction):
                yield from child.walk()

    @property
    def first(self) -> Token:
        """Its first word, of which it has one."""
        for child in self.children:
            if isinstance(child, Token):
                return child
            if child.children:
                return child.first
        raise AssertionError(f"{self.name} has no words")

    def items(self) -> Iterator[Item]:
        """What it shows of the grammar."""
        yield from symbols(self.name, self.children)


def symbols(name: str, children: tuple[Any, ...]) -> Iterator[Item]:
    """A production with each symbol of one of its alternatives."""
    yield name, ""
    for child in children:
        yield name, child.type if isinstance(child, Token) else _plain(child.origin)


@cache
def grammar() -> Lark:
    """The grammar's parser, which keeps everything."""
    text = (Path(language.__file__).parent / "grammar.lark").read_text(encoding="utf-8")
    made = Lark(text, parser="lalr", start="start", maybe_placeholders=False)
    engine: Any = made.parser
    callbacks = engine.parser.parser.callbacks
    for rule in list(callbacks):
        callbacks[rule] = _keeping(_name(rule), rule.origin.name)
    return made


def _keeping(name: str, origin: str) -> Any:
    return lambda children: Reduction(name, origin, tuple(children))


def _name(rule: Any) -> str:
    return f"{rule.origin.name} {rule.alias}" if rule.alias else _plain(rule.origin.name)


def _plain(name: str) -> str:
    """A name of a rule; one that stands for a repetition in a rule is `rule*`."""
    return re.sub(r"^__(\w+)_star_\d+$", r"\1*", str(name))


def parsed(text: str) -> Reduction:
    """All productions of a text."""
    root: Any = grammar().parse(text)
    assert isinstance(root, Reduction)
    return root


@cache
def every_item() -> frozenset[Item]:
    """Each production of the grammar with each of its symbols, and each function of the language."""
    from hacheck.model.language.rule_table import RULES

    found: set[Item] = {("function", name) for name in RULES.functions}
    for rule in grammar().rules:
        if rule.origin.name.startswith("$"):
            continue
        found.add((_name(rule), ""))
        found |= {(_name(rule), _plain(symbol.name)) for symbol in rule.expansion}
    return frozenset(found)
