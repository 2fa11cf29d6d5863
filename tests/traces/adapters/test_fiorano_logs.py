"""Canonical lines of lock-file pairs: written by hand, and made of runs of the model; judged with the specs.

**Source**: HA Locking Mechanism; Broker failover protocols, 3.3, 3.4 and 5.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import hacheck
from tests.traces.adapters.log_verdicts import changed, swapped, verdicts, without, written

LOG = "pair.log"
HEAD = len("2026-11-20 09:34:00.000 ")
REPLICATED = """
00:00.000 1 started mode=replicated
00:00.001 1 state DEAD -> WAITING
00:01.000 2 started mode=replicated
00:01.001 2 state DEAD -> WAITING
00:02.000 1 channel up
00:02.001 2 channel up
00:02.050 1 peer WAITING previous DEAD
00:02.051 2 peer WAITING previous DEAD
00:02.100 1 lock acquired
00:02.101 1 state WAITING -> ACTIVE_SYNC
00:02.150 2 peer ACTIVE_SYNC previous WAITING
00:02.200 2 state WAITING -> PASSIVE_SYNC
00:02.250 1 peer PASSIVE_SYNC previous WAITING
00:07.000 2 sync complete timestamp=17
00:07.001 2 state PASSIVE_SYNC -> PASSIVE
00:07.002 1 sync complete timestamp=17
00:07.003 1 state ACTIVE_SYNC -> ACTIVE
00:07.050 2 peer ACTIVE previous ACTIVE_SYNC
01:00.000 2 channel down
01:00.002 2 lock acquired
01:00.003 2 state PASSIVE -> STANDALONE
02:00.000 1 started mode=replicated
02:00.001 1 state DEAD -> WAITING
02:01.000 1 channel up
02:01.003 2 channel up
02:01.050 2 peer WAITING previous DEAD
02:01.060 1 peer STANDALONE previous PASSIVE
02:01.100 2 state STANDALONE -> ACTIVE_SYNC
02:01.100 1 state WAITING -> PASSIVE_SYNC
"""
SHARED = """
00:00.000 1 started mode=shared
00:00.001 1 lock acquired
00:00.002 1 state DEAD -> ACTIVATING
00:01.000 2 started mode=shared
00:01.001 2 lock refused
00:01.002 2 state DEAD -> PASSIVE
00:05.002 1 state ACTIVATING -> ACTIVE
01:00.000 1 gateway unreachable
01:00.001 1 lock lost
01:00.002 1 state ACTIVE -> PASSIVE
01:10.000 2 lock acquired
01:10.001 2 state PASSIVE -> ACTIVATING
01:12.001 2 state ACTIVATING -> ACTIVE
02:00.000 1 lock refused
"""


def pair(story: str) -> dict[str, list[str]]:
    """The log of a pair: of each line the time, the server, and what happened."""
    told = [line.split(" ", 2) for line in story.split("\n") if line]
    return {LOG: [f"2026-11-20 09:{time} Server-{server} HA {what}" for time, server, what in told]}


def test_replicated_pair_follows_the_guide_and_changed_logs_do_not(tmp_path: Path) -> None:
    told = pair(REPLICATED)
    cases = {
        "failover": told,
        "active-without-the-lock": without(told, LOG, "lock acquired"),
        "lock-refused-and-active": changed(told, LOG, "lock acquired", "lock refused"),
        "serves-an-unfinished-copy": changed(told, LOG, "PASSIVE -> STANDALONE", "PASSIVE_SYNC -> STANDALONE"),
        "peer-that-never-was": changed(told, LOG, "peer PASSIVE_SYNC", "peer STANDALONE"),
        "in-sync-before-it-synchronizes": swapped(told, LOG, "-> PASSIVE_SYNC", "PASSIVE_SYNC -> PASSIVE", HEAD),
    }
    for name, logs in cases.items():
        written(tmp_path / name, logs)
    found = verdicts("fiorano_replicated", "fiorano", tmp_path)
    assert {name: one.kind for name, one in found.items()} == {
        name: "conforms" if name == "failover" else "deviates" for name in cases
    }


def test_shared_pair_follows_the_guide_and_changed_logs_do_not(tmp_path: Path) -> None:
    told = pair(SHARED)
    cases = {
        "failover": told,
        "activating-without-the-lock": without(told, LOG, "lock acquired"),
        "active-at-once": changed(told, LOG, "DEAD -> ACTIVATING", "DEAD -> ACTIVE"),
        "active-without-services": changed(told, LOG, "PASSIVE -> ACTIVATING", "PASSIVE -> ACTIVE"),
        "passive-before-it-lost-the-lock": swapped(told, LOG, "lock lost", "ACTIVE -> PASSIVE", HEAD),
    }
    for name, logs in cases.items():
        written(tmp_path / name, logs)
    found = verdicts("fiorano_shared", "fiorano", tmp_path)
    assert {name: one.kind for name, one in found.items()} == {
        name: "conforms" if name == "failover" else "deviates" for name in cases
    }


@pytest.mark.parametrize("spec", ["fiorano_replicated", "fiorano_shared"])
def test_runs_of_the_model_conform_as_logs(tmp_path: Path, spec: str) -> None:
    made, logs = tmp_path / "made", tmp_path / "logs"
    options = ("--traces", "6", "--steps", "40", "--skew", "5", "--format", "jsonl", "--quiet")
    ended = hacheck("simulate", spec, *options, "--out", str(made))
    assert ended.code == 0, ended.err
    lines: dict[str, list[str]] = {}
    for part in sorted(made.glob("part-*.jsonl")):
        for record in part.read_text(encoding="utf-8").splitlines()[1:]:
            row = json.loads(record)
            lines.setdefault(row["trace_id"], []).append(canonical(row))
    assert sum(map(len, lines.values())) > 50
    for name, told in lines.items():
        written(logs / name, {LOG: told})
    found = verdicts(spec, "fiorano", logs)
    assert {name: one.kind for name, one in found.items()} == dict.fromkeys(lines, "conforms")


def canonical(row: dict[str, Any]) -> str:
    """A record as the line that the adapter reads."""
    shown = row.get("fields") or {}
    match row["event"]:
        case "started":
            what = "started"
        case "sync_complete":
            what = "sync complete"
        case "state_change":
            what = f"state {shown['old']} -> {shown['new']}"
        case "peer":
            what = f"peer {shown['present']} previous {shown['previous']}"
        case event:
            what = f"{event} {shown['what']}"
    time = datetime.fromtimestamp(row["time"] / 1e9, UTC)
    return f"{time:%Y-%m-%d %H:%M:%S.%f} {row['node']} HA {what}"
