"""Recordings of real pairs of Artemis brokers: what a failover and a pause come out as, and lines of two threads."""

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


def test_failover_after_a_kill_is_excluded_and_a_pause_is_a_split_brain(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    for name in ("crash_and_failback", "pause"):
        shutil.copytree(RECORDINGS / f"replication-{name}", logs / name)
    found = verdicts(tmp_path, logs, "--property", "p1_one_serving")
    killed, paused = found["crash_and_failback"], found["pause"]
    assert (killed["kind"], killed["violated"], killed["perhaps"]) == ("conforms", [], [])
    (excluded,) = killed["excluded"]
    assert "server-1 ended soon after" in excluded
    assert excluded.endswith("at 00:51:22.006 UTC"), "when the time line says that it was killed"
    (broken,) = [one for one in paused["broken"] if one["sure"]]
    assert broken["nodes"] == ["server-1", "server-2"]
    assert broken["nanoseconds"] == pytest.approx(6.382e9, abs=1e7)


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
