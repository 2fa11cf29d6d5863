"""Lemmas are decided by every engine; told of where they are wrong or asked for, not where a violation is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import hacheck

SPEC = """system Lamp "It burns at most once."
switch sticky = off
shared lit: bool = false
shared times: 0..2 = 0
environment action press() when times < 2 and (not sticky or not lit) do
  lit := not lit
  times := times + 1
invariant off_at_last: times == 2 implies not lit
lemma alternates "it burns after an odd number": lit == (times == 1)
lemma WRONG: times < 2 or sticky
check default expect all hold
check stuck with sticky = on expect never_lit violated
invariant never_lit: not sticky or not lit
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "lamp.ha"
    path.write_text(SPEC, encoding="utf-8")
    return path


@pytest.mark.parametrize("engine", ["native", "python"])
def test_a_wrong_lemma_is_found_by_a_shortest_run(spec: Path, engine: str) -> None:
    ended = hacheck("verify", str(spec), "--check", "default", "--engine", engine, columns=120)
    assert ended.code == 1
    assert "WRONG: violated" in ended.out
    assert "1 lemma holds, too; --property NAME shows one" in ended.out


def test_a_lemma_that_holds_has_a_row_where_it_is_asked_for(spec: Path) -> None:
    ended = hacheck("verify", str(spec), "--check", "default", "--property", "alternates", columns=120)
    assert ended.code == 0
    assert "it burns after an odd number" in ended.out
    assert "lemma holds, too" not in ended.out


def test_where_a_violation_is_expected_nothing_is_said_of_lemmas(spec: Path) -> None:
    ended = hacheck("verify", str(spec), "--check", "stuck", columns=120)
    assert ended.code == 0, ended.out
    assert "alternates" not in ended.out
    assert "lemma" not in ended.out


def test_a_lemma_is_printed_as_what_it_is(spec: Path) -> None:
    assert 'kind="lemma"' in hacheck("inspect", str(spec), "--ir").out
    assert "| `alternates` | lemma |" in hacheck("doc", str(spec), "--static").out


def test_a_lemma_is_kept_by_the_formatter(spec: Path) -> None:
    assert hacheck("fmt", str(spec)).code == 0
    assert 'lemma alternates "it burns after an odd number": lit == (times == 1)' in spec.read_text(encoding="utf-8")
    assert hacheck("fmt", str(spec), "--check").code == 0
