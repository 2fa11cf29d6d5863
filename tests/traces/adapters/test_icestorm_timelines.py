"""What an operator did to replicas, from a file beside their logs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.traces.adapters.logs import read_logs

RECORDINGS = Path(__file__).parents[2] / "data" / "icestorm"


def test_what_was_done_to_processes_is_nobodys_and_stands_among_the_lines() -> None:
    rows, _, _ = read_logs(RECORDINGS / "e-lose-majority", "icestorm")
    done = [row for row in rows if row["file"] == "timeline.txt"]
    assert [(row["node"], row["event"], row["fields"]["target"]) for row in done] == [
        ("-", "launched", 3),
        ("-", "launched", 1),
        ("-", "launched", 2),
        ("-", "killed", 1),
        ("-", "killed", 2),
        ("-", "launched", 1),
        ("-", "launched", 2),
        ("-", "asked_to_end", 3),
        ("-", "asked_to_end", 1),
        ("-", "asked_to_end", 2),
    ]
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)


def test_a_timeline_beside_no_log_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    shutil.copy(RECORDINGS / "a-cold-start-3" / "timeline.txt", tmp_path / "alone")
    shutil.copytree(RECORDINGS / "a-cold-start-3", tmp_path / "whole")
    rows, _, _ = read_logs(tmp_path, "icestorm")
    assert {row["trace_id"] for row in rows} == {"whole"}


@pytest.mark.parametrize(
    ("written", "event"),
    [
        ("kill -STOP replica 2", "paused"),
        ("kill -CONT replica 2 (after 30 s)", "resumed"),
        ("replica 2 has ended by itself", "found_ended"),
        ("replica 2 did not end in time, and was killed", "killed_late"),
    ],
)
def test_every_kind_of_line_of_a_timeline(tmp_path: Path, written: str, event: str) -> None:
    shutil.copy(RECORDINGS / "a-cold-start-3" / "replica-1.log", tmp_path)
    (tmp_path / "timeline.txt").write_text(f"t=+0014.000 11/20/26 09:34:15.035 {written}\n")
    rows, _, findings = read_logs(tmp_path, "icestorm")
    assert [(row["event"], row["fields"]["target"]) for row in rows if row["node"] == "-"] == [(event, 2)]
    assert findings.total == 0


def test_a_signal_that_is_not_understood_is_a_finding(tmp_path: Path) -> None:
    shutil.copy(RECORDINGS / "a-cold-start-3" / "replica-1.log", tmp_path)
    (tmp_path / "timeline.txt").write_text("t=+0014.000 11/20/26 09:34:15.035 kill -9 the second one\n")
    _, _, findings = read_logs(tmp_path, "icestorm")
    assert findings.total == 1
