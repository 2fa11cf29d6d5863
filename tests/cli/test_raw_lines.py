"""The line of a log as it stands there, where it can be read."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from hacheck.cli.logs.raw_lines import LENGTH_MAX, raw_line

TEXT = b"first\n  03:14 \x1b[31mred\x07 \xff\n" + b"x" * 1000 + b"\n"


def test_line_is_shown_without_what_steers_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(TEXT)
    assert raw_line(str(tmp_path), "a.log", 1) == "first"
    assert raw_line(str(tmp_path), "a.log", 2) == "03:14  [31mred  \ufffd"
    assert raw_line(str(tmp_path / "a.log"), "a.log", 3) == "x" * LENGTH_MAX + " …"


def test_compressed_log_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(TEXT))
    assert raw_line(str(tmp_path), "a.log.gz", 1) == "first"


@pytest.mark.parametrize(("file", "line"), [("a.log", 9), ("b.log", 1), ("", 1), ("a.log", None), ("a.log.gz", 1)])
def test_line_that_cannot_be_read_is_left_out(tmp_path: Path, file: str, line: int | None) -> None:
    (tmp_path / "a.log").write_bytes(TEXT)
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(TEXT)[:9])
    assert raw_line(str(tmp_path), file, line) is None
