"""Makes the parser's tables of the grammar and keeps them beside it.

    python -m hacheck.model.language.grammar_tables_builder

lark reads the grammar and works out the tables. Only who changes the grammar has it loaded.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from hacheck.atomic_files import replace_text
from hacheck.model.language.grammar_tables import GRAMMAR, KEPT

if TYPE_CHECKING:
    from lark import Lark


def main() -> None:
    """Keeps the tables of the grammar as it is now."""
    replace_text(KEPT, written(made(GRAMMAR.read_text(encoding="utf-8"))))


def made(grammar: str) -> dict[str, Any]:
    """The tables of a grammar, as plain data for `tables.load_tables`. Errors: lark's, when the grammar is wrong."""
    from lark import Lark

    parser = Lark(grammar, parser="lalr", maybe_placeholders=True)
    table = parser.parser.parser._parse_table
    states = _ordered(table)
    numbers = {state: number for number, state in enumerate(states)}
    rules = {rule: index for index, rule in enumerate(parser.rules)}
    symbols = sorted({name for state in states for name in table.states[state]})
    places = {name: place for place, name in enumerate(symbols)}

    def line(row: dict[str, tuple[Any, Any]]) -> str:
        by_move: dict[int, list[int]] = {}
        for name, (_, to) in row.items():
            by_move.setdefault(~rules[to] if to in rules else numbers[to], []).append(places[name])
        return ";".join(f"{move}:{','.join(map(str, sorted(names)))}" for move, names in sorted(by_move.items()))

    words, signs, phrases = _terminals(parser)
    return {
        "grammar": sha256(grammar.encode()).hexdigest(),
        "start": 0,
        "end": numbers[table.end_states["start"]],
        "words": words,
        "signs": signs,
        "phrases": phrases,
        "symbols": symbols,
        "rules": [_rule(rule) for rule in parser.rules],
        "moves": [line(table.states[state]) for state in states],
    }


def written(tables: dict[str, Any]) -> str:
    """The tables as JSON with one line for each rule and each state, so that a change of the grammar can be read."""
    parts = []
    for name, value in tables.items():
        if isinstance(value, list):
            lines = ",\n".join(json.dumps(item, separators=(",", ":")) for item in value)
            parts.append(f'"{name}": [\n{lines}\n]')
        else:
            parts.append(f'"{name}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


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


if __name__ == "__main__":
    main()
