"""The parser's tables, as they are kept beside the grammar: `grammar.json`, which `making_tables` makes.

What a state does with each symbol is read when the parser first comes to it: a text comes to half of the states.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hacheck.model.data import dataclass

GRAMMAR = Path(__file__).with_name("grammar.lark")
KEPT = Path(__file__).with_name("grammar.json")
NAME, NUMBER, TEXT, END = "NAME", "NUMBER", "TEXT", "$END"
"""The tokens that are not written out in the grammar, and the end of the text."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How a rule of the grammar makes a tree of what it has read.

    `size`: of how many parts. `kept`: which of them become children: the part's index, whether it is replaced by its
    own children, and how many `None` stand before it. `missing`: how many `None` stand at the end. `shrinks`: an only
    child is taken instead of a tree around it. `passes`: nothing else is ever done.
    """

    origin: str
    size: int
    data: str
    kept: tuple[tuple[int, bool, int], ...]
    missing: int
    shrinks: bool
    passes: bool


class Moves(dict[int, dict[str, int]]):
    """What follows each symbol, by state: the next state, or `~rule` to reduce.

    `lines`: for each state `move:symbol,symbol;move:symbol`, symbols by number.
    """

    __slots__ = ("lines", "symbols")

    def __init__(self, symbols: Sequence[str], lines: Sequence[str]) -> None:
        super().__init__()
        self.symbols, self.lines = symbols, lines

    def __missing__(self, state: int) -> dict[str, int]:
        row: dict[str, int] = {}
        for part in filter(None, self.lines[state].split(";")):  # nothing follows the end
            move, _, numbers = part.partition(":")
            row |= dict.fromkeys([self.symbols[int(number)] for number in numbers.split(",")], int(move))
        self[state] = row
        return row


@dataclass(frozen=True, slots=True)
class Tables:
    """What a parser needs to know of the grammar.

    `words`, `signs`: the kind of token of each. `phrases`: of the tokens that several words make, by the first of them:
    kind and pattern.
    """

    start: int
    end: int
    moves: Moves
    rules: tuple[Rule, ...]
    words: dict[str, str]
    signs: dict[str, str]
    phrases: dict[str, tuple[str, re.Pattern[str]]]


def load_tables() -> Tables:
    """The tables of the grammar. Where a checkout's grammar was changed since they were kept, they are made: that takes
    most of a second, and lark."""
    from hashlib import sha256

    kept: dict[str, Any] = json.loads(KEPT.read_bytes())
    grammar = GRAMMAR.read_text(encoding="utf-8")
    if kept["grammar"] != sha256(grammar.encode()).hexdigest():
        from hacheck.model.language.grammar_tables_builder import made

        kept = made(grammar)
    moves = Moves([sys.intern(name) for name in kept["symbols"]], kept["moves"])
    rules = tuple(_rule(*fields) for fields in kept["rules"])
    phrases = {first: (kind, re.compile(pattern)) for first, (kind, pattern) in kept["phrases"].items()}
    return Tables(kept["start"], kept["end"], moves, rules, kept["words"], kept["signs"], phrases)


def _rule(origin: str, size: int, data: str, kept: list[tuple[int, bool, int]], *others: Any) -> Rule:
    """A rule as JSON has it: with lists in place of tuples."""
    return Rule(origin, size, data, tuple((index, expands, missing) for index, expands, missing in kept), *others)
