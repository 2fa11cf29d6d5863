"""The parser's tables: kept beside the grammar, and those of the grammar."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lark import Lark

from hacheck.model.language import grammar_tables, grammar_tables_builder


def test_tables_that_are_kept_are_those_of_the_grammar() -> None:
    made = grammar_tables_builder.written(
        grammar_tables_builder.made(grammar_tables.GRAMMAR.read_text(encoding="utf-8"))
    )
    mend = "the grammar was changed: python -m hacheck.model.language.grammar_tables_builder"
    assert grammar_tables.KEPT.read_text(encoding="utf-8") == made, mend


def test_states_and_rules_are_as_many_as_lark_has() -> None:
    known = grammar_tables.load_tables()
    parser = Lark(grammar_tables.GRAMMAR.read_text(encoding="utf-8"), parser="lalr", maybe_placeholders=True)
    table = parser.parser.parser._parse_table
    assert len(known.rules) == len(parser.rules)
    rows = [known.moves[state] for state in range(len(known.moves.lines))]
    assert sorted(sorted(row) for row in rows) == sorted(sorted(row) for row in table.states.values())


def test_row_is_read_once_and_in_full() -> None:
    moves = grammar_tables.Moves(["A", "B", "C"], ["-3:0,2;7:1", ""])
    assert moves[0] == {"A": -3, "C": -3, "B": 7}
    assert list(moves) == [0]
    assert moves[0] is moves[0]
    with pytest.raises(IndexError):
        moves[2]
    assert moves[1] == {}


def test_changed_grammar_is_read_by_tables_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "other.lark"
    other.write_text(grammar_tables.GRAMMAR.read_text(encoding="utf-8").replace('"halt"', '"stop"'), encoding="utf-8")
    kept = grammar_tables.load_tables()
    monkeypatch.setattr(grammar_tables, "GRAMMAR", other)
    changed = grammar_tables.load_tables()
    assert "halt" in kept.words
    assert "halt" not in changed.words


def test_tables_are_written_as_they_are_read_back() -> None:
    plain = {"start": 0, "words": {"a": "A"}, "moves": ["1:2", "3:4;5:6"], "rules": []}
    assert json.loads(grammar_tables_builder.written(plain)) == plain


def test_what_reads_a_text_needs_nothing_of_what_makes_the_tables() -> None:
    """Importing lark takes as long as reading a spec of a thousand words."""
    reading = "from hacheck.model.language import load; load('system A \"x\"', 'a.ha')"
    command = [sys.executable, "-c", f"{reading}; import sys; print('lark' in sys.modules)"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"
