"""The adapters for Artemis, Qpid, Fiorano and JSON lines, on lines written by hand in the forms their sources give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hacheck.traces.adapters.adapter_files import load, shipped_names
from hacheck.traces.adapters.logs import open_logs
from hacheck.traces.findings import TracesError
from tests.traces.adapters.logs import events, read_logs, told
from tests.traces.sample_files import jsonl

SERVER = "org.apache.activemq.artemis.core.server"


def artemis(text: str, second: int = 1, level: str = "INFO ") -> str:
    """A line of a broker."""
    return f"2024-09-27 10:12:0{second},703 {level} [{SERVER}] {text}"


@pytest.mark.parametrize(
    ("text", "event", "fields"),
    [
        (
            "AMQ221001: Broker version 2.33.0 [b1, nodeID=9-f]",
            "started",
            {"incarnation": 1, "server": "b1, nodeID=9-f"},
        ),
        ("AMQ221001: Broker version 2.33.0", "started", {"incarnation": 1}),
        ("AMQ221002: Broker version 2.33.0 [9-f] stopped, uptime 1 minute", "stopped", {"server": "9-f"}),
        ("AMQ221006: Waiting to obtain primary lock", "lock_waited_for", {}),
        ("AMQ221034: Waiting indefinitely to obtain primary lock", "lock_waited_for", {}),
        ("AMQ221035: Live Server Obtained live lock", "lock_obtained", {}),
        ("AMQ221007: Server is now live", "active", {}),
        ("AMQ221011: Server b1 is now active", "active", {}),
        ("AMQ221109: Backup Server version 2.33.0 [9-f] started; waiting", "backup_started", {"server": "9-f"}),
        ("AMQ221031: backup announced", "backup_announced", {}),
        ("AMQ221024: Backup server b2 is synchronized with primary server, nodeID=9.", "in_sync", {"server": "b2"}),
        ("AMQ221024: Backup server b2 is synchronized with live-server.", "in_sync", {"server": "b2"}),
        ("AMQ221010: Backup Server is now active", "backup_active", {}),
        ("AMQ221066: Initiating quorum vote: PrimaryFailover", "vote_begun", {"vote": "PrimaryFailover"}),
        ("AMQ221065: Node 9-f not found in cluster topology", "vote_found_node", {"of": "9-f", "found": "not found"}),
        ("AMQ221068: Received all quorum votes.", "vote_ended", {"timed_out": False}),
        ("AMQ221069: Timeout waiting for quorum vote responses.", "vote_ended", {"timed_out": True}),
        ("AMQ221070: Restarting as backup based on quorum vote results.", "vote_result", {"fail_over": False}),
        ("AMQ221071: Failing over based on quorum vote results.", "vote_result", {"fail_over": True}),
        (
            "AMQ221060: Sending quorum vote request to x: y",
            "vote_traffic",
            {"code": "60", "text": "Sending quorum vote request to x: y"},
        ),
        ("AMQ222010: Critical IO Error, shutting down the server.", "critical_io", {}),
        ("AMQ222092: Connection to the backup node failed", "replica_gone", {"code": "092"}),
        (
            "AMQ222295: There is a possible split brain on nodeID 9-f. Topology update ignored",
            "possible_split_brain",
            {"of": "9-f"},
        ),
        ("Assuming active role for NodeID = 9-f, local activation sequence 3", "role_assumed", {"of": "9-f"}),
        ("x incremented coordinated activation sequence to: 4 for NodeID = 9", "sequence_incremented", {"sequence": 4}),
    ],
)
def test_code_of_artemis_is_the_event_it_marks(
    tmp_path: Path, text: str, event: str, fields: dict[str, object]
) -> None:
    assert events(tmp_path / "primary.log", "artemis", artemis(text)) == [("primary", event, fields)]


def test_line_of_hornetq_is_read_by_its_own_adapter(tmp_path: Path) -> None:
    log, line = tmp_path / "live.log", artemis("HQ221007: Server is now live")
    assert events(log, "hornetq", line) == [("live", "active", {})]
    rows, tally, _ = read_logs(log, "artemis")
    assert (list(rows), tally.nothing["other messages"]) == ([], 0), "a line of an unknown kind"


def test_stack_traces_and_other_codes_of_artemis_are_accounted_for(tmp_path: Path) -> None:
    log = tmp_path / "backup.log"
    lines = [
        artemis("AMQ221012: Using AIO Journal"),
        artemis("AMQ222092: Connection to the backup node failed: gone", level="WARN "),
        "org.apache.activemq.artemis.api.core.ActiveMQException: gone",
        "\tat org.apache.Some.method(Some.java:1)",
        "Caused by: java.io.IOException: gone",
        artemis("AMQ221024: Backup server has everything", 2),
        artemis("AMQ221001: Broker version 2 [a]", 3),
        artemis("AMQ221001: Broker version 2 [a]", 4),
    ]
    log.write_text("\n".join(lines))
    rows, tally, findings = read_logs(log, "artemis")
    assert [told(row)[1:] for row in rows] == [
        ("replica_gone", {"code": "092"}),
        ("started", {"incarnation": 1, "server": "a"}),
        ("started", {"incarnation": 2, "server": "a"}),
    ]
    assert tally.lines == tally.accounted == 8
    assert (tally.nothing["other messages"], tally.continued) == (1, 3)
    assert [(found.kind.value, found.line) for found in findings.first] == [("almost", 6)]


def test_brokers_of_artemis_are_told_by_their_folders(tmp_path: Path) -> None:
    for scenario in ("one", "two"):
        for broker in ("primary", "backup"):
            folder = tmp_path / scenario / broker / "log"
            folder.mkdir(parents=True)
            (folder / "artemis.log").write_text(artemis("AMQ221031: backup announced") + "\n")
    rows, _, _ = read_logs(tmp_path, "artemis")
    assert [(row["trace_id"], row["node"]) for row in rows] == [
        ("one", "backup"),
        ("one", "primary"),
        ("two", "backup"),
        ("two", "primary"),
    ]
    rows, _, _ = read_logs(tmp_path / "one", "artemis")
    assert [(row["trace_id"], row["node"]) for row in rows] == [("one", "backup"), ("one", "primary")]


@pytest.mark.parametrize(
    ("text", "event", "fields"),
    [
        (
            "info 1a2b3c4d(joining) Status change: joining -> catchup",
            "status_change",
            {"old": "joining", "new": "catchup"},
        ),
        ("notice 1a2b3c4d(ready) Backup is ready", "backup_ready", {}),
        ("notice 1a2b3c4d(recovering) Primary: Promoted to primary", "promoted", {}),
        (
            "notice 1a2b3c4d(recovering) Recovering backups: 5e6f7a8b@h:1(ready)",
            "recovering_backups",
            {"backups": "5e6f7a8b@h:1(ready)"},
        ),
        ("notice 1a2b3c4d(active) All backups recovered.", "all_recovered", {}),
        ("notice 1a2b3c4d(catchup) Connected to primary h:5672", "connected", {"primary": "h:5672"}),
        ("info 1a2b3c4d(ready) Disconnected from primary h:5672", "disconnected", {"primary": "h:5672"}),
        (
            "info 1a2b3c4d(active) New backup connection: 5e6f7a8b@h:1(joining)",
            "backup_connected",
            {"known": False, "backup": "5e6f7a8b@h:1(joining)"},
        ),
        (
            "info 1a2b3c4d(active) Known backup reconnection: 5e6f7a8b@h:1(ready)",
            "backup_connected",
            {"known": True, "backup": "5e6f7a8b@h:1(ready)"},
        ),
        (
            "info 1a2b3c4d(active) Recovering backup is ready: 5e6f7a8b@h:1(ready)",
            "backup_known_ready",
            {"recovering": True, "backup": "5e6f7a8b@h:1(ready)"},
        ),
        (
            "error 1a2b3c4d(recovering) Recovering backup timed out: 5e6f7a8b@h:1(ready)",
            "backup_timed_out",
            {"backup": "5e6f7a8b@h:1(ready)"},
        ),
        (
            "critical 1a2b3c4d(ready) Shutting down: Illegal state transition: ready -> active",
            "shut_down",
            {"reason": "Illegal state transition: ready -> active"},
        ),
        (
            "trace 1a2b3c4d(active) Primary: q: Delayed completion of q[3]=7",
            "message",
            {"subject": "q", "what": "Delayed completion of", "ids": "q[3]=7"},
        ),
    ],
)
def test_line_of_qpid_is_the_event_it_says(tmp_path: Path, text: str, event: str, fields: dict[str, object]) -> None:
    line = f"2013-05-22 12:00:00 [HA] {text}"
    assert events(tmp_path / "broker1.log", "qpid", line) == [("broker1", event, fields)]


def test_other_modules_of_qpid_mean_nothing_and_other_lines_of_ha_are_counted(tmp_path: Path) -> None:
    log = tmp_path / "broker1.log"
    log.write_text(
        "2013-05-22 12:00:00 [Broker] notice Broker running\n"
        "2013-05-22 12:00:01 [HA] info 1a2b3c4d(joining) Something new\n"
        "2013-05-22 12:00:02 [HA] info 1a2b3c4d(joining) Status change: joining -> dreaming\n"
        "1369224003.250000000s [HA] info 1a2b3c4d(joining) Status change: joining -> catchup\n"
    )
    rows, tally, findings = read_logs(log, "qpid")
    assert [row["time"] for row in rows] == [1_369_224_003_250_000_000]
    assert tally.accounted == tally.lines == 4
    assert (tally.nothing["other modules"], tally.unknown.total()) == (1, 1)
    assert [(found.kind.value, found.line) for found in findings.first] == [("almost", 3)]


def test_canonical_lines_of_a_lock_file_pair(tmp_path: Path) -> None:
    lines = [
        "2026-11-20 09:34:00.000 A HA started mode=replicated",
        "2026-11-20 09:34:00.001 B HA started",
        "2026-11-20T09:34:00.046Z A HA state WAITING -> ACTIVE_SYNC",
        "2026-11-20 09:34:00.050 A HA lock acquired",
        "2026-11-20 09:34:00.051 B HA lock refused",
        "2026-11-20 09:34:00.052 B HA peer ACTIVE_SYNC previous WAITING",
        "2026-11-20 09:34:00.053 B HA gateway unreachable",
        "2026-11-20 09:34:00.054 A HA sync complete timestamp=17",
        "2026-11-20 09:34:00.055 A HA channel down",
        "2026-11-20 09:34:00.060 A HA stopped",
        "2026-11-20 09:34:01.000 A HA started",
    ]
    assert events(tmp_path / "pair.log", "fiorano", *lines) == [
        ("A", "started", {"incarnation": 1, "mode": "replicated"}),
        ("B", "started", {"incarnation": 1}),
        ("A", "state_change", {"old": "WAITING", "new": "ACTIVE_SYNC"}),
        ("A", "lock", {"what": "acquired"}),
        ("B", "lock", {"what": "refused"}),
        ("B", "peer", {"present": "ACTIVE_SYNC", "previous": "WAITING"}),
        ("B", "gateway", {"what": "unreachable"}),
        ("A", "sync_complete", {"timestamp": 17}),
        ("A", "channel", {"what": "down"}),
        ("A", "stopped", {}),
        ("A", "started", {"incarnation": 2}),
    ]


def test_files_of_json_lines_are_merged_in_the_order_of_time(tmp_path: Path) -> None:
    folder = tmp_path / "night"
    folder.mkdir()
    jsonl(
        folder / "a.jsonl",
        {"time": "2026-11-20T09:00:00.000000001Z", "node": "a", "event": "sent", "message": "m1", "seq": 1},
        {"time": "2026-11-20T10:00:02+01:00", "node": "a", "event": "done", "fields": {"n": 1}, "seq": 2},
    )
    jsonl(
        folder / "b.jsonl",
        {"time": 1_795_165_201_000_000_000, "node": "b", "event": "got", "causes": ["m1"], "fields": {"n": None}},
        {"node": "b", "event": "slept", "fields": {"long": [1, 2]}},
    )
    rows, tally, findings = read_logs(folder, "jsonl")
    assert [(row["seq"], row["node"], row["event"]) for row in rows] == [
        (1, "a", "sent"),
        (2, "b", "got"),
        (3, "b", "slept"),
        (4, "a", "done"),
    ]
    assert [row["time"] and row["time"] - 1_795_165_200_000_000_000 for row in rows] == [1, 10**9, None, 2 * 10**9]
    assert (rows[0]["message"], rows[1]["causes"]) == ("m1", ["m1"])
    assert rows[2]["fields"] == {"n": None, "long": [1, 2]}
    assert {row["trace_id"] for row in rows} == {"night"}
    assert (tally.accounted, findings.total) == (4, 0)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("{", "not_json"),
        ({"node": "a", "event": ""}, "almost"),
        ({"node": "a"}, "almost"),
        ({"node": "a", "event": "\ud800"}, "almost"),
        ({"node": "\ud800", "event": "x"}, "almost"),
        ({"node": "a", "event": "x", "fields": {"n": 2**63}}, "wrong_type"),
        ({"node": "a", "event": "x", "fields": 3}, "almost"),
        ({"node": "a", "event": "x", "fields": {"n": "text"}}, "wrong_type"),
        ({"node": "a", "event": "x", "fields": {"n": {"deep": 1}}}, "wrong_type"),
        ({"node": "a", "event": "x", "time": "yesterday"}, "no_time"),
        ({"event": "x"}, "unknown_node"),
        ({"node": "a", "event": "x", "causes": "m1"}, "wrong_type"),
        ({"node": "a", "event": "x", "trace_id": ""}, "wrong_type"),
        ({"node": "a", "event": "x", "seq": "7"}, "wrong_type"),
        ({"node": "a", "event": "x", "seq": 1.5}, "wrong_type"),
    ],
)
def test_bad_line_of_json_is_told(tmp_path: Path, line: object, kind: str) -> None:
    good = {"node": "a", "event": "x", "fields": {"n": 1}}
    log = jsonl(tmp_path / "a.jsonl", good, line if isinstance(line, str) else json.dumps(line), good)
    rows, tally, findings = read_logs(log, "jsonl")
    assert [row["line"] for row in rows] == [1, 3]
    assert [(found.kind.value, found.line) for found in findings.first] == [(kind, 2)]
    assert tally.lines == 3


def test_numbers_that_nodes_gave_tell_what_was_lost(tmp_path: Path) -> None:
    numbers = [5, 6, 9, 9, 8, 10, 1, 2]
    log = jsonl(tmp_path / "a.jsonl", *[{"node": "a", "event": "x", "seq": number} for number in numbers])
    rows, _, findings = read_logs(log, "jsonl")
    assert [row["line"] for row in rows] == [1, 2, 3, 6, 7, 8]
    assert [(found.kind.value, found.line) for found in findings.first] == [
        ("missing_seq", 3),
        ("duplicate_seq", 4),
        ("duplicate_seq", 5),
    ]


@pytest.mark.parametrize("name", shipped_names())
def test_shipped_adapter_says_what_it_is_for_and_where_that_stands(name: str) -> None:
    adapter = load(name)
    assert adapter.name == name
    assert adapter.about
    assert adapter.source or name == "jsonl"
    assert [event.name for event in adapter.events if not event.about] == []


@pytest.mark.parametrize("name", shipped_names())
def test_folder_without_logs_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.md").write_text("nothing")
    with pytest.raises(TracesError, match="no logs in this folder"):
        open_logs(tmp_path, load(name))
