"""The parser's cached tables: used when they are right, made anew when they are not."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest
from lark import Lark

from hacheck.model.language import tables

TEXT = 'system A "x" node S[2] ranked { a: 0..3 = 0 } action f(s: S) when s.a == 0 do s.a := 1'


def cached(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def test_second_start_reads_what_the_first_has_written(tmp_path: Path) -> None:
    first = tables.load_parser(tmp_path / "new")
    assert len(cached(tmp_path / "new")) == 1
    with patch.object(tables, "Lark", wraps=Lark) as made:
        second = tables.load_parser(tmp_path / "new")
    made.assert_not_called()
    made.load.assert_called_once()
    assert second.parse(TEXT) == first.parse(TEXT)


@pytest.mark.parametrize("damage", [b"", b"not tables at all", None])
def test_damaged_cache_is_replaced(tmp_path: Path, damage: bytes | None) -> None:
    first = tables.load_parser(tmp_path)
    (path,) = cached(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    assert tables.load_parser(tmp_path).parse(TEXT) == first.parse(TEXT)
    assert cached(tmp_path) == [path]
    with patch.object(tables, "Lark", wraps=Lark) as made:
        tables.load_parser(tmp_path)
    made.assert_not_called()


def test_folder_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert tables.load_parser(tmp_path / "file" / "below").parse(TEXT)


def test_another_grammar_has_tables_of_its_own(tmp_path: Path) -> None:
    tables.load_parser(tmp_path)
    with patch.object(tables.lark, "__version__", "another"):
        tables.load_parser(tmp_path)
    assert len(cached(tmp_path)) == 2


def test_cache_is_where_the_user_keeps_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert tables.cache_folder() == tmp_path / "hacheck"
