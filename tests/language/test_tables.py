"""The parser's tables that hacheck brings are those of its grammar; a changed grammar has tables of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hacheck.model.language import parser
from hacheck.model.language.parser import GRAMMAR, TABLES

MEND = 'the grammar was changed: python -c "from hacheck.model.language.parser import write_tables; write_tables()"'


def test_the_tables_are_those_of_the_grammar() -> None:
    signature, _, _ = TABLES.read_bytes().partition(b"\n")
    assert signature == parser._signature(GRAMMAR.read_bytes()), MEND
    kept, made = parser.parser(), parser.made(GRAMMAR.read_bytes())
    assert kept.rules == made.rules
    rows, others = (one.parser.parser._parse_table.states for one in (kept, made))
    assert sorted(sorted(row) for row in rows.values()) == sorted(sorted(row) for row in others.values())
    assert parser.spelled() == made.parser.lexer.spelled


def test_a_changed_grammar_has_tables_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "other.lark"
    other.write_text(GRAMMAR.read_text(encoding="utf-8").replace('"halt"', '"stop"'), encoding="utf-8")
    monkeypatch.setattr(parser, "GRAMMAR", other)
    parser.parser.cache_clear()
    try:
        changed = parser.spelled()
    finally:
        parser.parser.cache_clear()
    assert "stop" in changed
    assert "halt" not in changed


def test_tables_are_written_so_that_they_are_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(parser, "TABLES", tmp_path / "grammar.tables")
    parser.write_tables()
    monkeypatch.setattr(parser, "made", None)
    parser.parser.cache_clear()
    try:
        assert parser.read('system A "x"').root.data == "start"
    finally:
        parser.parser.cache_clear()


def test_reading_a_text_does_not_work_the_tables_out() -> None:
    """That takes lark a third of a second."""
    reading = "from hacheck.model.language import load; load('system A \"x\"', 'a.ha')"
    hidden = "from lark.parsers import lalr_analysis; lalr_analysis.LALR_Analyzer = None"
    subprocess.run([sys.executable, "-c", f"{hidden}; {reading}"], check=True)
