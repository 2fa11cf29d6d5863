"""Recordings of real pairs of Artemis brokers: what a failover, a pause and two split brains come out as, and lines of
two threads."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import hacheck

RECORDINGS = Path(__file__).parents[2] / "data" / "artemis"


def verdicts(folder: Path, logs: Path, *options: str) -> dict[str, dict[str, Any]]:
    """The verdicts on recordings of replication, by their folders."""
    place = folder / "found.json"
    command = ("conform", "artemis_replication", str(logs), "--adapter", "artemis", "--json", str(place))
    hacheck(*command, *options)
    return {one["trace_id"]: one for one in json.loads(place.read_text(encoding="utf-8"))["verdicts"]}


def test_failover_after_a_kill_is_none_and_a_pause_is_a_split_brain(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    for name in ("crash_and_failback", "pause"):
        shutil.copytree(RECORDINGS / f"replication-{name}", logs / name)
    found = verdicts(tmp_path, logs, "--property", "p1_one_serving")
    killed, paused = found["crash_and_failback"], found["pause"]
    assert killed["kind"] == "conforms"
    assert (killed["violated"], killed["perhaps"], killed["excluded"]) == ([], [], []), "its record says when it ended"
    (broken,) = [one for one in paused["broken"] if one["sure"]]
    assert broken["nodes"] == ["server-1", "server-2"]
    assert broken["nanoseconds"] == pytest.approx(12.397e9, abs=1e7), "until server 2 was asked to end"


def test_without_a_time_line_a_pause_is_a_split_brain_until_the_last_line_that_shows_it(tmp_path: Path) -> None:
    shutil.copytree(RECORDINGS / "replication-pause", tmp_path / "logs" / "pause")
    (tmp_path / "logs" / "pause" / "timeline.txt").unlink()
    found = verdicts(tmp_path, tmp_path / "logs", "--property", "p1_one_serving")["pause"]
    (broken,) = [one for one in found["broken"] if one["sure"]]
    assert broken["nanoseconds"] == pytest.approx(6.382e9, abs=1e7)


@pytest.mark.parametrize(
    ("name", "seconds", "reader", "lost"),
    [("split_brain", 41.706, "server-1", 96), ("backup_wakes_alone", 22.192, "server-2", 88)],
)
def test_split_brain_and_what_clients_lost_in_it(
    tmp_path: Path, name: str, seconds: float, reader: str, lost: int
) -> None:
    """A paused primary that wakes beside its backup; a paused backup that wakes, votes alone and serves."""
    shutil.copytree(RECORDINGS / f"replication-{name}", tmp_path / "logs" / name)
    found = verdicts(tmp_path, tmp_path / "logs", "--property", "p1_one_serving")[name]
    assert found["kind"] == "conforms"
    assert {one.partition("@")[0] for one in found["violated"]} == {"p1_one_serving", "acknowledged_is_kept"}
    (split,) = [one for one in found["broken"] if one["invariant"] == "p1_one_serving" and one["sure"]]
    assert split["nanoseconds"] == pytest.approx(seconds * 1e9, abs=1e7)
    assert (split["nodes"], split["end"]["event"]) == (["server-1", "server-2"], "asked_to_end")
    (loss,) = [one for one in found["broken"] if one["invariant"] == "acknowledged_is_kept"]
    assert loss["nodes"] == [reader]
    assert loss["detail"].startswith(f"a client read {reader} without the acknowledged messages")
    assert loss["detail"].endswith(f"and {lost - 5} more")
    assert loss["start"]["file"].endswith("client.jsonl")


@pytest.mark.parametrize("lines_before", [0, 1, 3])
def test_vote_of_a_server_that_lost_its_replica_is_a_thread_of_its_own(tmp_path: Path, lines_before: int) -> None:
    """AMQ221066 and AMQ222092 come in either order."""
    head = "2026-11-22T00:52:08,007 INFO  [org.apache.activemq.artemis.core.server] "
    vote = [
        "AMQ221066: Initiating quorum vote: QuorumVoteServerConnect",
        "AMQ221084: Requested 0 quorum votes",
        "AMQ221083: ignoring quorum vote as max cluster size is 1.",
    ]
    logs = tmp_path / "logs" / "pause"
    shutil.copytree(RECORDINGS / "replication-pause", logs)
    log = logs / "server-1" / "log" / "artemis.log"
    lines = log.read_text(encoding="utf-8").splitlines()
    lost = next(number for number, line in enumerate(lines) if "AMQ222092" in line)
    following = next(number for number in range(lost + 1, len(lines)) if lines[number].startswith("2026"))
    said = [head + text for text in vote]
    changed = lines[:lost] + said[:lines_before] + lines[lost:following] + said[lines_before:] + lines[following:]
    log.write_text("\n".join(changed) + "\n", encoding="utf-8")
    found = verdicts(tmp_path, tmp_path / "logs", "--set", "vote_on_failure=on")
    assert found["pause"]["kind"] == "conforms", found["pause"]["reason"]
