"""Changes of recordings are what they are called, and each reason beside them is of one of them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import mutated_recordings as bench
import pytest

from tests.nightly import nightly

REASONS = Path(bench.__file__).with_suffix(".toml")
LINES = ["-- 1/1/26 0:0:1 a: one\n", "   more of one\n", "-- 1/1/26 0:0:2 a: two\n", "-- 1/1/26 0:0:3 a: three\n"]


@pytest.mark.parametrize("system", sorted(bench.SYSTEMS))
def test_there_are_forty_kinds_and_each_reason_is_of_one(system: str) -> None:
    kinds = [kind.name for kind in bench.SYSTEMS[system].kinds]
    assert len(kinds) >= 40
    recordings = {Path(place).name for place in bench.SYSTEMS[system].recordings}
    reasons = tomllib.loads(REASONS.read_text(encoding="utf-8"))[system]
    assert set(reasons) <= set(kinds)
    assert {name for by in reasons.values() for name in by} <= {"all", *recordings}


def test_entry_is_removed_with_its_further_lines() -> None:
    lines = list(LINES)
    assert bench.removed(lines, 0) == {1}
    assert lines == LINES[2:]


def test_entry_is_doubled_with_its_further_lines() -> None:
    lines = list(LINES)
    assert bench.doubled(lines, 0) == {1, 3}
    assert lines == [*LINES[:2], *LINES]


def test_swapped_entries_keep_the_order_of_times() -> None:
    lines = list(LINES)
    assert bench.swapped(lines, 0) == {1, 2}
    assert lines == ["-- 1/1/26 0:0:1 a: two\n", "-- 1/1/26 0:0:2 a: one\n", LINES[1], LINES[3]]


@nightly
@pytest.mark.parametrize("system", sorted(bench.SYSTEMS))
def test_every_changed_recording_is_found_or_was_judged(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["mutated_recordings.py", system])
    assert bench.main() == 0
