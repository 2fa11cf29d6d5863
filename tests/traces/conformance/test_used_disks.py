"""Recordings of real IceStorm replicas on the disks of an earlier life: runs of the protocol, whatever is on them; and
what a replica gave up of its own disk is a possible loss."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import hacheck

RECORDINGS = Path(__file__).parents[2] / "data" / "icestorm_disks"
DROPPED = {
    "all-newest": None,
    "newest-at-1": ("replica-1.log", 13, "node 1 takes a database without topic `C`"),
    "newest-at-2": ("replica-2.log", 13, "node 2 takes a database without topic `C`"),
    "newest-at-3": None,
    "all-differ": ("replica-1.log", 13, "node 1 takes a database without topic `C`"),
    "one-empty": ("replica-1.log", 13, "node 1 takes a database without topics `A`, `B`, `C`"),
    "two-empty": ("replica-1.log", 13, "node 1 takes a database without topics `A`, `B`, `C`"),
    "oldest-leads": ("replica-1.log", 13, "node 1 takes a database without topics `B`, `C`"),
}
"""Where a replica gives up what was on its disk: a start forgets the stamp, so the coordinator's disk counts."""


def found_in(logs: Path, folder: Path, *options: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code and the verdicts on recordings, by their folders."""
    place = folder / "found.json"
    command = (
        "conform",
        "icestorm",
        str(logs),
        "--adapter",
        "icestorm",
        "--check",
        "as_released",
        "--json",
        str(place),
    )
    code = hacheck(*command, *options).code
    return code, {one["trace_id"]: one for one in json.loads(place.read_text(encoding="utf-8"))["verdicts"]}


def test_every_kind_of_used_disks_conforms_and_what_it_drops_is_a_possible_loss(tmp_path: Path) -> None:
    code, found = found_in(RECORDINGS, tmp_path)
    assert code == 0
    assert {one["kind"] for one in found.values()} == {"conforms"}
    for kind, dropped in DROPPED.items():
        verdict = found[kind]
        assert verdict["violated"] == []
        if dropped is None:
            assert (verdict["perhaps"], verdict["broken"]) == ([], []), kind
            continue
        (loss,) = verdict["broken"]
        file, line, text = dropped
        assert (loss["invariant"], loss["sure"], loss["start"]["line"]) == ("acknowledged_is_kept", False, line), kind
        assert loss["start"]["file"].endswith(f"{kind}/{file}")
        assert loss["detail"].startswith(text)


def test_possible_loss_is_an_exit_code_where_that_is_asked_for(tmp_path: Path) -> None:
    code, _ = found_in(RECORDINGS / "newest-at-1", tmp_path, "--strict")
    assert code == 1


@pytest.mark.parametrize(
    ("file", "old", "new", "at"),
    [
        ("replica-2.log", 'loading topic "A"', 'loading topic "Z"', "replica-2.log"),
        ("replica-3.log", "llu=0/0", "llu=1/0", "replica-3.log"),
        ("replica-1.log", " topic: DemoIceStorm/topic.B subscribers: ", " ", "replica-1.log"),
    ],
)
def test_changed_disk_or_stamp_is_noticed(tmp_path: Path, file: str, old: str, new: str, at: str) -> None:
    """A topic that appears on one disk alone, a stamp that no start shows, a topic missing from a pushed database."""
    logs = tmp_path / "logs" / "all-newest"
    shutil.copytree(RECORDINGS / "all-newest", logs)
    text = (logs / file).read_text(encoding="utf-8")
    assert old in text
    (logs / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    code, found = found_in(logs.parent, tmp_path, "--strict")
    verdict = found["all-newest"]
    assert code == 1
    places = [verdict["file"], *(one["start"]["file"] for one in verdict["broken"])]
    assert any(place is not None and place.endswith(at) for place in places)
