"""The parser's cached tables: used when they are right, made anew when they are not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from hacheck.model.language import tables


def cached(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def test_second_start_reads_what_the_first_has_written(tmp_path: Path) -> None:
    first = tables.load_tables(tmp_path / "new")
    assert len(cached(tmp_path / "new")) == 1
    with patch("lark.Lark") as made:
        second = tables.load_tables(tmp_path / "new")
    made.assert_not_called()
    assert second == first


@pytest.mark.parametrize("damage", [b"", b"not tables at all", None])
def test_damaged_cache_is_replaced(tmp_path: Path, damage: bytes | None) -> None:
    first = tables.load_tables(tmp_path)
    (path,) = cached(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    assert tables.load_tables(tmp_path) == first
    assert cached(tmp_path) == [path]
    with patch("lark.Lark") as made:
        tables.load_tables(tmp_path)
    made.assert_not_called()


def test_folder_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert tables.load_tables(tmp_path / "file" / "below").words["system"] == "SYSTEM"


def test_another_grammar_has_tables_of_its_own(tmp_path: Path) -> None:
    first = tables.load_tables(tmp_path / "cache")
    other = tmp_path / "other.lark"
    other.write_text(tables.GRAMMAR.read_text(encoding="utf-8").replace('"halt"', '"stop"'), encoding="utf-8")
    with patch.object(tables, "GRAMMAR", other):
        second = tables.load_tables(tmp_path / "cache")
    assert "halt" in first.words
    assert "halt" not in second.words
    assert len(cached(tmp_path / "cache")) == 2


def test_cache_is_where_the_user_keeps_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert tables.cache_folder() == tmp_path / "hacheck"


def test_what_reads_a_text_needs_nothing_of_what_makes_the_tables(tmp_path: Path) -> None:
    """Importing lark takes as long as reading a spec of a thousand words."""
    tables.load_tables(tables.cache_folder())
    reading = "from hacheck.model.language import load; load('system A \"x\"', 'a.ha')"
    command = [sys.executable, "-c", f"{reading}; import sys; print('lark' in sys.modules)"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"
