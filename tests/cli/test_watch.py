"""`verify --watch` verifies again on saving, says what changed, waits over errors, and ends at Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hacheck.cli.checking.spec_watch import Verdicts, Watch, changes, stamps_of
from tests.cli.command import hacheck

SPEC = """system Two "Two servers."
node Server[2] symmetric { state mode: { off, on } = off }
action start(s: Server) when s.mode == off do s.mode := on
invariant one "one at a time": at most one s: Server where s.mode == on
reachable some_on: some s: Server where s.mode == on
check default expect all hold
"""
CURED = SPEC.replace("off do", "off only after other(s).mode == off do")
SECONDS_MAX = 60.0
"""How long a round may take on a busy machine before the test says that none came."""


class Watched:
    """A process that watches a file, and what it has printed."""

    def __init__(self, folder: Path) -> None:
        self.spec, self._shown = folder / "two.ha", folder / "shown.txt"
        self.spec.write_text(SPEC, encoding="utf-8")
        self._read, self._rounds = 0, 0
        command = [sys.executable, "-m", "hacheck", "verify", "two.ha", "--watch"]
        plain = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
        with self._shown.open("w") as stream:
            self.process = subprocess.Popen(command, cwd=folder, env=plain, stdout=stream, stderr=subprocess.STDOUT)

    def round(self, text: str | None = None) -> str:
        """Saves a text, and waits for what is printed of it."""
        if text is not None:
            beside = self.spec.with_suffix(".new")  # as many editors save
            beside.write_text(text, encoding="utf-8")
            beside.replace(self.spec)
        self._rounds += 1
        deadline = time.monotonic() + SECONDS_MAX
        while (printed := self._shown.read_text("utf-8")).count("watching two.ha") < self._rounds:
            assert self.process.poll() is None, printed
            assert time.monotonic() < deadline, printed
            time.sleep(0.02)
        fresh, self._read = printed[self._read :], len(printed)
        return fresh


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    """A process that watches."""
    one = Watched(tmp_path)
    yield one
    if one.process.poll() is None:
        one.process.kill()
        one.process.wait()


def test_rounds_follow_what_is_saved_until_ctrl_c(watched: Watched) -> None:
    first = watched.round()
    assert "✘ one" in first
    assert "since the last run" not in first
    cured = watched.round(CURED)
    assert "since the last run:\n  one (default): violated in 2 steps → holds\n" in cured
    broken = watched.round(CURED.replace("invariant", "invarant"))
    assert "two.ha:4:1" in broken
    assert "since the last run" not in broken
    again = watched.round(CURED.replace("Two servers.", "Two of them."))
    assert "since the last run: nothing changed" in again
    watched.process.send_signal(signal.SIGINT)
    assert watched.process.wait(SECONDS_MAX) == 0


def test_changes_name_verdicts_then_what_is_new_or_gone_then_counts() -> None:
    before = Verdicts({("a", "one"): "holds", ("a", "two"): "holds", ("b", "one"): "holds"}, {"a": 10, "b": 5})
    after = Verdicts({("a", "one"): "violated in 2 steps", ("a", "three"): "reached"}, {"a": 1200, "c": 1})
    assert changes(before, after, "->") == [
        "one (a): holds -> violated in 2 steps",
        "new: three (a): reached",
        "gone: two (a)",
        "gone: one (b)",
        "a: 10 -> 1,200 states",
    ]
    assert changes(before, before, "->") == []


def test_libraries_are_watched_and_a_missing_file_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "lib.ha").write_text("library Lib\n", encoding="utf-8")
    spec = tmp_path / "two.ha"
    spec.write_text('use "lib.ha"\n', encoding="utf-8")
    before = stamps_of(str(spec))
    assert set(before) == {spec, tmp_path / "lib.ha"}
    (tmp_path / "lib.ha").write_text("library Lib \n", encoding="utf-8")
    after = stamps_of(str(spec))
    assert after != before
    spec.unlink()
    assert stamps_of(str(spec)) == {}


def test_a_round_stops_when_a_file_changes_and_ctrl_c_is_another_reason() -> None:
    changed = [False, True]
    watch = Watch(lambda: changed.pop(0))
    assert not watch.requested
    time.sleep(0.11)
    assert watch.requested
    assert not watch.ended
    watch.requested = True
    assert watch.ended


@pytest.mark.parametrize(
    "words", [("-",), ("two.ha", "--json", "-"), ("two.ha", "--raise-bounds"), ("two.ha", "--checkpoint", "kept")]
)
def test_what_does_not_go_with_watching_is_refused(words: tuple[str, ...]) -> None:
    ended = hacheck("verify", *words, "--watch")
    assert ended.code == 2
    assert "--watch" in ended.err
