"""The parser's tables, made once for each version of the grammar and kept in the user's cache folder.

Making them takes most of a second, reading them back a few milliseconds. A cache that is missing, damaged, somebody
else's or not writable costs time and nothing else.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hacheck.model.data import dataclass

if TYPE_CHECKING:
    from lark import Lark

DIGEST_BYTES = 32
GRAMMAR = Path(__file__).with_name("grammar.lark")
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


@dataclass(frozen=True, slots=True)
class Tables:
    """What a parser needs to know of the grammar.

    `moves`: for each state what follows each symbol: the next state, or `~rule` to reduce. `words`, `signs`: the kind
    of token of each. `phrases`: of the tokens that several words make, by the first of them: kind and pattern.
    """

    start: int
    end: int
    moves: tuple[dict[str, int], ...]
    rules: tuple[Rule, ...]
    words: dict[str, str]
    signs: dict[str, str]
    phrases: dict[str, tuple[str, re.Pattern[str]]]


def cache_folder() -> Path:
    """Where this user's caches are: `XDG_CACHE_HOME`, else what the system has for it."""
    named = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return Path(named) / "hacheck" if named else Path("~/.cache/hacheck").expanduser()


def load_tables(folder: Path) -> Tables:
    """The tables, from the folder's cache when it holds these, else made and written there."""
    grammar = GRAMMAR.read_text(encoding="utf-8")
    shape = f"{Tables.__match_args__} {Rule.__match_args__}"
    key = hashlib.sha256(f"{sys.version_info[:2]}\n{shape}\n{grammar}".encode()).hexdigest()[:32]
    path = folder / f"grammar-{key}"
    stored = _read(path)
    if stored is None:
        stored = _stored(grammar)
        _write(stored, path)
    start, end, moves, rules, words, signs, phrases = stored
    patterns = {first: (kind, re.compile(pattern)) for first, (kind, pattern) in phrases.items()}
    return Tables(start, end, moves, tuple(Rule(*rule) for rule in rules), words, signs, patterns)


# ---- making them ----


def _stored(grammar: str) -> tuple[Any, ...]:
    """The fields of `Tables` as plain data. Errors: lark's, when the grammar is wrong."""
    from lark import Lark  # only to make the tables: reading a text needs nothing of it

    made = Lark(grammar, parser="lalr", maybe_placeholders=True)
    table = made.parser.parser._parse_table
    states = _ordered(table)
    numbers = {state: number for number, state in enumerate(states)}
    indices = {rule: index for index, rule in enumerate(made.rules)}

    def coded(move: tuple[Any, Any]) -> int:
        return ~indices[move[1]] if move[1] in indices else numbers[move[1]]

    moves = tuple(
        {sys.intern(name): coded(move) for name, move in row.items()} for row in map(table.states.get, states)
    )
    return 0, numbers[table.end_states["start"]], moves, tuple(_rule(rule) for rule in made.rules), *_terminals(made)


def _ordered(table: Any) -> list[int]:
    """The states in the order in which they are come to from the first; lark numbers them differently each time."""
    found = dict.fromkeys([table.start_states["start"]])
    waiting = list(found)
    while waiting:
        row = table.states[waiting.pop()]
        for _, move in sorted(row.items()):
            if move[1] in table.states and move[1] not in found:
                found[move[1]] = None
                waiting.append(move[1])
    return list(found)


def _rule(rule: Any) -> tuple[Any, ...]:
    """The fields of a `Rule`."""
    absent = rule.options.empty_indices or [False] * len(rule.expansion)
    before = [len(run) for run in "".join("1" if one else "0" for one in absent).split("0")]
    kept: list[tuple[int, bool, int]] = []
    missing = 0
    for index, symbol in enumerate(rule.expansion):
        missing += before[index]
        if not (symbol.is_term and symbol.filter_out):
            kept.append((index, not symbol.is_term and symbol.name.startswith("_"), missing))
            missing = 0
    missing += before[len(rule.expansion)]
    shrinks = bool(rule.options.expand1 and not rule.alias)
    passes = shrinks and len(rule.expansion) == 1 and kept == [(0, False, 0)] and not missing
    data = str(rule.alias or rule.origin.name)
    return str(rule.origin.name), len(rule.expansion), data, tuple(kept), missing, shrinks, passes


def _terminals(made: Lark) -> tuple[dict[str, str], dict[str, str], dict[str, tuple[str, str]]]:
    """`words`, `signs` and `phrases`, these with their patterns as text."""
    words: dict[str, str] = {}
    signs: dict[str, str] = {}
    phrases: dict[str, tuple[str, str]] = {}
    for terminal in made.terminals:
        written = terminal.pattern.value
        if terminal.pattern.type == "str":
            (words if written.isidentifier() else signs)[written] = terminal.name
        elif terminal.priority > 0:
            first = re.match(r"[a-z]+", written)
            assert first is not None, f"{terminal.name} begins with a word"
            phrases[first.group()] = terminal.name, written
    return words, signs, phrases


# ---- keeping them ----


def _read(path: Path) -> tuple[Any, ...] | None:
    """The cached tables. They are only read when they are as they were written, and by whom."""
    try:
        with path.open("rb") as file:
            if hasattr(os, "getuid") and os.fstat(file.fileno()).st_uid != os.getuid():
                return None
            digest, tables = file.read(DIGEST_BYTES), file.read()
        if hashlib.sha256(tables).digest() != digest:
            return None
        found: tuple[Any, ...] = marshal.loads(tables)
        return found
    except Exception:  # whatever is wrong with a cache, the tables can be made
        return None


def _write(stored: tuple[Any, ...], path: Path) -> None:
    """Keeps the tables; written beside and moved, so that nobody reads half of them."""
    import tempfile  # needed once for each version of the grammar

    with suppress(OSError):
        tables = marshal.dumps(stored)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(hashlib.sha256(tables).digest() + tables)
        os.replace(file.name, path)
