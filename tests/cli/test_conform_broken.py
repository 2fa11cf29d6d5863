"""What `hacheck conform --property` says of properties that a log breaks: whether, when, for how long, by whom."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.command import hacheck

SPEC = """system Two "Two servers with one address."
param crashes = 1 in 0..1
node Server[2] symmetric { state mode: { backup, master } = backup }
action promote(s: Server) when s.mode == backup do
  s.mode := master
  log master()
action demote(s: Server) when s.mode == master do
  s.mode := backup
  log backup()
on restart of s: Server do log started()
faults { crash Server up to crashes }
invariant one "never are two servers master": at most one s: Server where s.mode == master and up(s)
"""
START = 1_763_777_650_221
"""Milliseconds since 1970: 2025-11-22 02:14:10.221 UTC."""

SPLIT = ((0, 1, "master"), (100, 2, "master"), (58_100, 1, "backup"), (59_100, 2, "backup"))
FAILOVER = ((0, 1, "master"), (100, 2, "master"), (58_100, 1, "started"))
UNHEALED = ((0, 1, "master"), (100, 2, "master"), (9_900_000, 2, "alive"))
QUIET = ((0, 1, "master"), (58_100, 1, "backup"), (59_100, 2, "master"))


def log(folder: Path, records: tuple[tuple[int, int, str], ...], order: str) -> str:
    """The file of a trace: milliseconds from the start, number of the server, event."""
    lines = [json.dumps({"hacheck.traces": 1, "order": order, "fields": {}})]
    for seq, (after, server, event) in enumerate(records, start=1):
        record = {"trace_id": "night", "node": f"lb{server}", "seq": seq, "event": event, "fields": {}}
        lines.append(json.dumps(record | {"time": (START + after) * 1_000_000, "file": f"lb{server}.log", "line": seq}))
    path = folder / "night.jsonl"
    path.write_text("\n".join(lines) + "\n")
    (folder / "two.ha").write_text(SPEC)
    return str(path)


@pytest.mark.parametrize("order", ["total", "per_node"])
def test_split_brain_that_the_whole_log_proves_is_violated(tmp_path: Path, order: str) -> None:
    shown = hacheck("conform", f"{tmp_path}/two.ha", log(tmp_path, SPLIT, order), "--property", "one")
    text = " ".join(shown.out.split())
    assert shown.code == 1
    assert "one violated: never are two servers master" in text
    assert "2025-11-22 02:14:10.321 UTC to 02:15:08.321, 58.0 s: lb1 since lb1.log:1, lb2 since lb2.log:2" in text
    assert "from master (lb2.log:2) to backup (lb1.log:3)" in text


@pytest.mark.parametrize("order", ["total", "per_node"])
def test_fail_over_after_which_the_dead_node_starts_again_is_excluded_and_says_why(tmp_path: Path, order: str) -> None:
    place = tmp_path / "found.json"
    command = ("conform", f"{tmp_path}/two.ha", log(tmp_path, FAILOVER, order), "--property", "one", "--strict")
    shown = hacheck(*command, "--json", str(place))
    assert shown.code == 0
    expected = "one excluded if lb1 ended soon after its last line before started (lb1.log:3) at 02:14:10.221 UTC"
    assert expected in " ".join(shown.out.split())
    (verdict,) = json.loads(place.read_text())["verdicts"]
    assert (verdict["perhaps"], verdict["broken"], len(verdict["excluded"])) == ([], [], 1)


def test_node_that_falls_silent_may_still_be_there_and_only_strict_makes_it_a_failure(tmp_path: Path) -> None:
    command = ("conform", f"{tmp_path}/two.ha", log(tmp_path, FAILOVER[:-1], "total"), "--property", "one")
    shown = hacheck(*command)
    assert shown.code == 0
    assert "one possibly violated" in shown.out
    assert hacheck(*command, "--strict").code == 1


def test_split_brain_that_is_not_healed_lasts_until_the_log_ends(tmp_path: Path) -> None:
    place = tmp_path / "found.json"
    command = ("conform", f"{tmp_path}/two.ha", log(tmp_path, UNHEALED, "total"), "--property", "one")
    shown = hacheck(*command, "--set", "crashes=0", "--json", str(place))
    assert shown.code == 1
    assert "until the log ends, at least 2 h 44 min" in " ".join(shown.out.split())
    (broken,) = json.loads(place.read_text())["verdicts"][0]["broken"]
    assert (broken["sure"], broken["is_open"], broken["nodes"]) == (True, True, ["lb1", "lb2"])
    assert broken["nanoseconds"] == (9_900_000 - 100) * 1_000_000


def test_nothing_is_said_of_a_property_that_no_explanation_breaks(tmp_path: Path) -> None:
    shown = hacheck("conform", f"{tmp_path}/two.ha", log(tmp_path, QUIET, "total"), "--property", "one")
    assert shown.code == 0
    assert "violated" not in shown.out


def test_certain_violation_counts_more_than_damaged_records(tmp_path: Path) -> None:
    path = Path(log(tmp_path, SPLIT, "total"))
    path.write_text(path.read_text() + '{"trace_id":"other","node":"lb1"}\n')
    assert hacheck("conform", f"{tmp_path}/two.ha", str(path), "--property", "one").code == 1


def test_junit_has_a_case_for_each_trace_and_for_each_violated_property(tmp_path: Path) -> None:
    place = tmp_path / "out.xml"
    logs = Path(__file__).parents[1] / "data" / "artemis" / "replication-pause"
    options = ("--adapter", "artemis", "--property", "p1_one_serving", "--junit", str(place))
    assert hacheck("conform", "artemis_replication", str(logs), *options).code == 1
    suite = ElementTree.parse(place).getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    trace, broken = suite.findall("testcase")
    assert (trace.get("name"), list(trace)) == ("replication-pause", [])
    assert (broken.get("name"), broken.get("line")) == ("replication-pause/p1_one_serving", "12")
    (failure,) = broken.findall("failure")
    assert "12.397 s, server-1, server-2, from vote_begun (server-2/log/artemis.log:12)" in (failure.text or "")
