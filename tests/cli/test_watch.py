"""`verify --watch` verifies again on saving, says what changed, waits over errors, and ends at Ctrl-C."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hacheck.cli.checking.spec_watch import Verdicts, Watch, changes, stamps_of
from tests.cli.command import hacheck
from tests.cli.watched import SECONDS_MAX, Watched, watching

SPEC = """system Two "Two servers."
node Server[2] symmetric { state mode: { off, on } = off }
action start(s: Server) when s.mode == off do s.mode := on
invariant one "one at a time": at most one s: Server where s.mode == on
reachable some_on: some s: Server where s.mode == on
check default expect all hold
"""
CURED = SPEC.replace("off do", "off only after other(s).mode == off do")


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    """A process that watches."""
    (tmp_path / "two.ha").write_text(SPEC, encoding="utf-8")
    with watching(tmp_path / "two.ha", "verify", "two.ha") as one:
        yield one


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
