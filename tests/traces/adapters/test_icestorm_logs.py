"""The adapter for IceStorm: recordings of a real cluster, and the traps of its logs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.traces.adapters.logs import events, read_logs, told

RECORDINGS = Path(__file__).parents[2] / "data" / "icestorm"
HEAD = "-- 11/20/26 09:34:0"


def line(second: int, text: str, node: int = 1, milli: int = 0) -> str:
    """A line of a replica's log."""
    return f"{HEAD}{second}.{milli:03} replica{node}-IceStorm: {text}"


@pytest.mark.parametrize(
    ("scenario", "lines", "records"),
    [("a-cold-start-3", 62, 49), ("c-kill-coordinator", 154, 129), ("e-lose-majority", 181, 144)],
)
def test_every_line_of_a_recording_is_accounted_for(scenario: str, lines: int, records: int) -> None:
    rows, tally, findings = read_logs(RECORDINGS / scenario, "icestorm")
    beside = [RECORDINGS / scenario / name for name in ("timeline.txt", "client.jsonl")]
    logs = [*(RECORDINGS / scenario).glob("replica-*.log"), *beside]
    written = sum(len(path.read_bytes().splitlines()) for path in logs)
    assert tally.lines == tally.accounted == written == lines
    assert len(rows) == tally.events.total() == records
    assert not tally.unknown
    assert tally.nothing == {"the end": 1}
    assert findings.total == 0
    assert {row["trace_id"] for row in rows} == {scenario}
    assert [row["seq"] for row in rows] == list(range(1, records + 1))
    assert {row["node"] for row in rows} == {"-", "1", "2", "3"}


def test_records_keep_the_order_of_lines_and_say_where_they_stand() -> None:
    rows, _, _ = read_logs(RECORDINGS / "c-kill-coordinator", "icestorm")
    for node in "123":
        own = [row for row in rows if row["node"] == node]
        assert [row["line"] for row in own] == sorted(row["line"] for row in own)
        assert {row["file"] for row in own} == {f"replica-{node}.log"}
        text = (RECORDINGS / "c-kill-coordinator" / f"replica-{node}.log").read_text().splitlines()
        changes = [row for row in own if row["event"] == "state_change"]
        assert changes
        for row in changes:
            assert f"transition from {row['fields']['old']} to {row['fields']['new']}" in text[row["line"] - 1]
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)


def test_folder_of_recordings_is_many_traces() -> None:
    rows, tally, findings = read_logs(RECORDINGS, "icestorm")
    assert [row["trace_id"] for row in rows] == ["a-cold-start-3"] * 49 + ["c-kill-coordinator"] * 129 + [
        "e-lose-majority"
    ] * 144
    assert (tally.lines, findings.total) == (397, 0)
    assert [row["file"] for row in rows[2:4]] == ["a-cold-start-3/timeline.txt", "a-cold-start-3/replica-1.log"]


def test_killed_coordinator_is_told_as_its_log_tells_it() -> None:
    rows, _, _ = read_logs(RECORDINGS / "c-kill-coordinator", "icestorm")
    starts = [told(row) for row in rows if row["event"] == "started" and row["node"] == "3"]
    nodes = [1, 2, 3]
    assert starts == [
        ("3", "started", {"incarnation": 1, "nodes": nodes}),
        ("3", "started", {"incarnation": 2, "nodes": nodes}),
    ]
    commenced = [told(row) for row in rows if row["event"] == "commenced"]
    assert [(node, fields["generation"], fields["size"], fields["total"]) for node, _, fields in commenced] == [
        ("3", 1, 3, 3),
        ("2", 2, 2, 3),
        ("3", 3, 3, 3),
    ]
    lost = next(told(row) for row in rows if row["event"] == "coordinator_lost")
    error = "::Ice::ConnectionRefusedException"
    assert lost == ("1", "coordinator_lost", {"coordinator": 3, "denied": False, "error": error})
    taken = [told(row)[2]["topics"] for row in rows if row["event"] == "database_taken"]
    assert taken == [[], [], ["A"], ["A", "B"], ["A", "B"], ["A", "B"]]
    assert [fields for _, event, fields in map(told, rows) if event == "sync"] == [{"target": 1}]


def test_log_of_one_replica_is_a_trace_of_its_own() -> None:
    rows, _, _ = read_logs(RECORDINGS / "a-cold-start-3" / "replica-3.log", "icestorm")
    assert {(row["trace_id"], row["node"]) for row in rows} == {("replica-3", "3")}


@pytest.mark.parametrize(
    ("text", "event", "fields"),
    [
        ("Election: node 1: invitation ignored", "invitation_ignored", {}),
        (
            "Election: node 1: not enough nodes 2/5 for replication to commence",
            "not_enough_nodes",
            {"size": 2, "total": 5, "full_start": False},
        ),
        (
            "Election: node 1: not enough nodes 2/3 for replication to commence "
            "(require full participation for startup)",
            "not_enough_nodes",
            {"size": 2, "total": 3, "full_start": True},
        ),
        ("Election: node id=2 llu=-1/0", "last_update", {"of": 2, "generation": -1, "iteration": 0}),
        (
            "Election: node 1: syncing database state with node 2 failed: a.cpp:5: ::Ice::ConnectionLostException:",
            "sync_failed",
            {"target": 2, "error": "::Ice::ConnectionLostException"},
        ),
        (
            "Election: node 1: initMaster failed: ObserverI.cpp:1: ::Ice::TimeoutException:",
            "init_failed",
            {"error": "::Ice::TimeoutException"},
        ),
        (
            "Election: node 1: error calling ready on 3 ex: x.cpp:2: ::Ice::ConnectTimeoutException:",
            "ready_failed",
            {"target": 3, "error": "::Ice::ConnectTimeoutException"},
        ),
        (
            "Election: node 1: lost connection to coordinator 3: areYouThere returned false",
            "coordinator_lost",
            {"coordinator": 3, "denied": True},
        ),
        ("Election: node 1: reaping slave 2", "slave_reaped", {"target": 2}),
        (
            "Election: node 1: accept 2 forward invites (3,4) with llu 1089/7 into group 1:AB group size 3",
            "accepted",
            {"sender": 2, "forwarded": [3, 4], "generation": 1089, "iteration": 7, "group": "1:AB", "size": 3},
        ),
        ("Election: node 1: scheduling merge in 00:00:08 seconds", "merge_scheduled", {"delay": "00:00:08"}),
        ("TopicManager: init", "database_taken", {"topics": []}),
        (
            "TopicManager: init topic: I/topic.a b subscribers: x,y topic: I/topic.c subscribers: ",
            "database_taken",
            {"topics": ["a b", "c"]},
        ),
        (
            'TopicManager: creating new topic "init". id: I/topic.init subscribers: ',
            "topic_created",
            {"topic": "init", "id": "I/topic.init", "subscribers": ""},
        ),
        ("Topic: A: destroy", "topic_destroyed", {"topic": "A"}),
        ("Topic: A: destroyed llu: 2/1", "topic_destroyed", {"topic": "A", "generation": 2, "iteration": 1}),
        ("Topic: A: subscribeAndGetPublisher: S-1", "subscribed", {"topic": "A", "subscriber": "S-1"}),
        ("Topic: A: unsubscribe: S-1", "unsubscribed", {"topic": "A", "subscriber": "S-1"}),
        (
            "Topic: A: add replica observer: S-1 endpoints: tcp QoS: [r,o] llu: 2/3",
            "observer_added",
            {"topic": "A", "subscriber": "S-1", "generation": 2, "iteration": 3},
        ),
        (
            "Topic: A: remove replica observer: S-1 S-2 llu: 2/4",
            "observers_removed",
            {"topic": "A", "removed": "S-1 S-2", "generation": 2, "iteration": 4},
        ),
    ],
)
def test_line_is_the_event_it_says(tmp_path: Path, text: str, event: str, fields: dict[str, object]) -> None:
    assert events(tmp_path / "replica-1.log", "icestorm", line(1, text)) == [("1", event, fields)]


@pytest.mark.parametrize("word", ["", "warning: "])
@pytest.mark.parametrize(
    ("text", "event", "fields"),
    [
        (
            "Election: ignoring ready call from replica node 2 (real coordinator is 3)",
            "ready_ignored",
            {"sender": 2, "coordinator": 3},
        ),
        (
            "Election: ignoring accept from unknown node 9",
            "stranger_ignored",
            {"call": "accept", "sender": 9},
        ),
        (
            "ReplicaObserverI::create: ObserverInconsistencyException: topic exists: A",
            "update_rejected",
            {"call": "create", "reason": "topic exists: A"},
        ),
        (
            "dispatch exception: src/IceStorm/Observers.cpp:99: ::Ice::UnknownException:\n   unknown exception",
            "update_failed",
            {"error": "::Ice::UnknownException"},
        ),
        (
            "dispatch exception: a.cpp:1: ::Ice::ObjectNotExistException:\n   object does not exist",
            "dispatch_failed",
            {"error": "::Ice::ObjectNotExistException"},
        ),
        ("dispatch exception: unknown c++ exception\n   identity: x\n   operation: create", "dispatch_failed", {}),
    ],
)
def test_warning_is_the_event_it_says(
    tmp_path: Path, word: str, text: str, event: str, fields: dict[str, object]
) -> None:
    log = tmp_path / "replica-1.log"
    warning = f"-! 11/20/26 09:34:01.000 replica1-IceStorm: {word}{text}"
    assert events(log, "icestorm", *warning.split("\n")) == [("1", event, fields)]


def test_message_of_many_lines_is_one_event(tmp_path: Path) -> None:
    lines = [
        line(1, "Protocol: sending asynchronous request "),
        "   message type = 0 (request)",
        "   compression status = 0 (not compressed; do not compress response, if any)",
        "   message size = 60",
        "   request id = 7",
        "   identity = DemoIceStorm/node3",
        "   facet = ",
        "   operation = areYouCoordinator",
        "   mode = 1 (nonmutating)",
        "   context = ",
        line(1, "Protocol: received reply ", milli=1),
        "   message type = 2 (reply)",
        "   request id = 7",
        "   reply status = 0 (ok)",
    ]
    request = {"direction": "sending", "kind": "asynchronous request", "request": 7}
    request |= {"identity": "DemoIceStorm/node3", "operation": "areYouCoordinator"}
    reply = {"direction": "received", "kind": "reply", "request": 7, "status": 0}
    assert events(tmp_path / "replica-1.log", "icestorm", *lines) == [
        ("1", "message", request),
        ("1", "message", reply),
    ]


def test_stack_below_a_line_belongs_to_it(tmp_path: Path) -> None:
    lines = [
        line(1, "Election: node 1: call on node 2 failed: src/Ice/Network.cpp:1: ::Ice::ConnectionLostException:"),
        "   recv() returned zero",
        "   ",
        line(2, "Election: node 1: stopping replica"),
    ]
    found = events(tmp_path / "replica-1.log", "icestorm", *lines)
    assert [event for _, event, _ in found] == ["call_failed", "replica_stopped"]


def test_line_like_a_known_one_is_a_finding(tmp_path: Path) -> None:
    log = tmp_path / "replica-1.log"
    log.write_text(
        line(1, "Election: node 1: transition from normal to paused")
        + "\n"
        + line(2, "Election: node 1: transition from inactive to election")
        + "\n"
    )
    rows, tally, findings = read_logs(log, "icestorm")
    assert [(found.kind.value, found.place) for found in findings.first] == [("almost", "replica-1.log:1")]
    assert "state_change" in findings.first[0].message
    assert set(findings.damaged) == {"replica-1"}
    assert (len(rows), tally.findings, tally.accounted) == (1, 1, 2)


def test_lines_that_nobody_knows_are_counted_by_kind(tmp_path: Path) -> None:
    log = tmp_path / "replica-1.log"
    log.write_text(
        "starting up\n"
        + line(1, "Network: connection 17 closed")
        + "\n"
        + line(1, "Network: connection 18 closed")
        + "\n"
        + "-- not a time replica1-IceStorm: Election: node 1: stopping replica\n"
    )
    rows, tally, findings = read_logs(log, "icestorm")
    assert rows == []
    assert [(found.kind.value, found.line) for found in findings.first] == [("truncated", 1), ("almost", 4)]
    assert tally.lines == tally.accounted == 4
    assert dict(tally.unknown) == {"-- Network connection # closed": 2}


def test_log_that_begins_in_the_middle_of_a_message_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "replica-1.log"
    log.write_text("   connection refused: Connection refused\n" + line(2, "Election: node 1: stopping replica") + "\n")
    rows, tally, findings = read_logs(log, "icestorm")
    assert [row["event"] for row in rows] == ["replica_stopped"]
    assert (tally.lines, tally.accounted, findings.total) == (2, 2, 0)


def test_line_that_a_kill_cut_off_is_told_and_the_next_one_is_read(tmp_path: Path) -> None:
    log = tmp_path / "replica-1.log"
    log.write_text(
        line(1, "Election: node 1: transition from nor")
        + line(2, "Election: I am node 1")
        + "\n\tnode: 1 proxy: x\n"
        + "-- 11/20/26 09:3"
        + line(3, "Election: node 1: stopping replica")
        + "\n"
        + line(4, "Election: node 1: trans")
    )
    rows, tally, findings = read_logs(log, "icestorm")
    assert [row["event"] for row in rows] == ["started", "replica_stopped"]
    assert [found.kind.value for found in findings.first] == ["truncated", "truncated", "truncated"]
    assert tally.lines == tally.accounted == 4


def test_node_is_known_from_what_the_log_says_where_its_name_tells_none(tmp_path: Path) -> None:
    log = tmp_path / "all.log"
    log.write_text(
        "\n".join(
            [
                line(1, "Election: I am node 7", node=1),
                line(1, "Election: I am node 8", node=2, milli=1),
                line(2, "Election: node id=7 llu=0/0", node=1),
                line(2, "Topic: A: destroy", node=2, milli=1),
                line(3, "Topic: A: destroy", node=3),
            ]
        )
    )
    rows, _, findings = read_logs(log, "icestorm")
    assert [row["node"] for row in rows] == ["7", "8", "7", "8"]
    assert [(found.kind.value, found.line) for found in findings.first] == [("unknown_node", 5)]


def test_line_of_another_node_in_a_log_is_a_finding(tmp_path: Path) -> None:
    log = tmp_path / "replica-1.log"
    log.write_text(line(1, "Election: node 2: stopping replica", node=2) + "\n")
    rows, _, findings = read_logs(log, "icestorm")
    assert rows == []
    assert [found.kind.value for found in findings.first] == ["unknown_node"]


def test_times_are_of_the_zone_that_is_given(tmp_path: Path) -> None:
    log = tmp_path / "replica-1.log"
    log.write_text(line(1, "Election: node 1: stopping replica") + "\n")
    utc = read_logs(log, "icestorm")[0][0]["time"]
    berlin = read_logs(log, "icestorm", "Europe/Berlin")[0][0]["time"]
    assert utc - berlin == 3_600 * 10**9


def test_hour_that_comes_twice_is_read_in_its_order(tmp_path: Path) -> None:
    log = tmp_path / "replica-1.log"
    stamps = ["10/25/26 02:30:00.000", "10/25/26 02:59:59.000", "10/25/26 02:00:01.000", "10/25/26 02:30:00.000"]
    log.write_text("".join(f"-- {stamp} r-I: Election: node 1: stopping replica\n" for stamp in stamps))
    rows, _, findings = read_logs(log, "icestorm", "Europe/Berlin")
    assert findings.total == 0
    assert rows[3]["time"] - rows[0]["time"] == 3_600 * 10**9


def test_threads_may_write_a_little_out_of_order_but_no_more(tmp_path: Path) -> None:
    log = tmp_path / "replica-1.log"
    stop = "Election: node 1: stopping replica"
    log.write_text("\n".join([line(2, stop), line(1, stop, milli=990), line(3, stop), line(1, stop)]))
    rows, _, findings = read_logs(log, "icestorm")
    assert [row["line"] for row in rows] == [1, 2, 3, 4]
    assert [(found.kind.value, found.line) for found in findings.first] == [("time_backwards", 4)]


def test_time_that_cannot_be_is_a_finding(tmp_path: Path) -> None:
    log = tmp_path / "replica-1.log"
    log.write_text("-- 13/20/26 09:34:01.000 r-I: Election: node 1: stopping replica\n")
    rows, tally, findings = read_logs(log, "icestorm")
    assert (rows, tally.accounted) == ([], 1)
    assert [found.kind.value for found in findings.first] == ["no_time"]


def test_rotated_logs_of_a_node_are_one_stream(tmp_path: Path) -> None:
    whole = (RECORDINGS / "c-kill-coordinator" / "replica-3.log").read_text().splitlines(keepends=True)
    second = [number for number, text in enumerate(whole) if "I am node" in text][1]
    folder = tmp_path / "c-kill-coordinator"
    folder.mkdir()
    (folder / "replica-3.log").write_text("".join(whole[second:]))
    (folder / "replica-3.log.1").write_text("".join(whole[:second]))
    rows, tally, _ = read_logs(folder, "icestorm")
    expected, _, _ = read_logs(RECORDINGS / "c-kill-coordinator" / "replica-3.log", "icestorm")
    assert [told(row) for row in rows] == [told(row) for row in expected]
    assert tally.lines == tally.accounted == len(whole)


def test_log_that_is_missing_takes_nothing_from_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "trace"
    shutil.copytree(RECORDINGS / "a-cold-start-3", folder)
    (folder / "replica-2.log").unlink()
    rows, _, findings = read_logs(folder, "icestorm")
    assert {row["node"] for row in rows} == {"-", "1", "3"}
    assert findings.total == 0


def test_names_of_folders_may_be_any_bytes(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/n\xffight"
    os.mkdir(folder)
    shutil.copy(RECORDINGS / "a-cold-start-3" / "replica-1.log", Path(os.fsdecode(folder)))
    rows, _, findings = read_logs(tmp_path, "icestorm")
    assert {(row["trace_id"], row["file"]) for row in rows} == {("n\\xffight", "n\\xffight/replica-1.log")}
    assert findings.total == 0
