"""`docs/own-logs.md` is as it says: its files are put into a folder, its command runs, and prints what stands there."""

from __future__ import annotations

import os
import re
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.command import hacheck
from tests.traces.adapters.logs import read_logs

PAGE = (Path(__file__).parents[3] / "docs" / "own-logs.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^```\w+ file=(\S+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
(COMMAND,) = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
(SHOWN,) = re.findall(r"^```text shown\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
WRITTEN = datetime(2026, 11, 24, 12, tzinfo=UTC).timestamp()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the page."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
        os.utime(tmp_path / name, (WRITTEN, WRITTEN))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_line_is_one_of_an_event(folder: Path) -> None:
    rows, tally, findings = read_logs(folder / "night", "keepalived.toml")
    assert (len(rows), findings.total, dict(tally.unknown)) == (9, 0, {})


def test_command_prints_what_the_page_shows(folder: Path) -> None:
    ended = hacheck(*shlex.split(COMMAND)[1:], PYTHONIOENCODING="utf-8")
    assert ended.code == 1
    assert ended.out == SHOWN


def test_without_the_last_line_of_the_first_node_it_is_only_possible(folder: Path) -> None:
    log = folder / "night" / "lb1.log"
    log.write_text("".join(log.read_text(encoding="utf-8").splitlines(keepends=True)[:-1]), encoding="utf-8")
    ended = hacheck(*shlex.split(COMMAND)[1:])
    assert "one_master possibly violated" in ended.out
