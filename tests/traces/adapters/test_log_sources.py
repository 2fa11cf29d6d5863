"""Logs as other programs write them: syslog, the journal of systemd, OpenTelemetry; adapters drafted from examples."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from hacheck.traces.adapters.adapter_files import from_toml, load
from hacheck.traces.adapters.drafts import drafted
from hacheck.traces.adapters.logs import open_logs
from tests.cli.command import hacheck
from tests.traces.adapters.logs import read_logs

EVENT = """
[[event]]
name = "master"
has = "MASTER STATE"
pattern = '\\\\((?P<instance>\\\\w+)\\\\) Entering MASTER STATE'
fields.instance = "string"
""".replace("\\\\", "\\")

SYSLOG = (
    """
name = "keepalived"
[files]
name = '(?P<node>\\w+)\\.log'
[line]
head = '(?P<time>\\S+ +\\d+ \\S+) (?P<host>\\S+) (?P<program>\\w+)\\[\\d+\\]: '
time = "syslog"
[nodes]
lb1 = "LB-1"
"""
    + EVENT
)

JOURNAL = """
name = "journal"
format = "json"
[files]
name = '.*\\.json'
[line]
time = "__REALTIME_TIMESTAMP"
times = "epoch_us"
node = "_HOSTNAME"
text = "MESSAGE"
""" + EVENT.replace("has =", 'where = { SYSLOG_IDENTIFIER = "Keepalived_vrrp" }\nhas =')

OTLP = 'name = "otlp"\nformat = "otlp"\n[files]\nname = ".*[.]jsonl"\n[line]\n' + EVENT


def moment(nanoseconds: int) -> str:
    """A time in UTC."""
    return f"{datetime.fromtimestamp(nanoseconds / 1e9, UTC):%Y-%m-%d %H:%M:%S}"


def written(folder: Path, adapter: str, name: str, text: str, at: datetime | None = None) -> tuple[Path, str]:
    """A folder with one log, last written at a time, and an adapter."""
    (folder / "logs").mkdir()
    (folder / "own.toml").write_text(adapter, encoding="utf-8")
    (folder / "logs" / name).write_text(text, encoding="utf-8")
    if at is not None:
        os.utime(folder / "logs" / name, (at.timestamp(), at.timestamp()))
    return folder / "logs", str(folder / "own.toml")


def test_syslog_stamps_without_a_year_are_of_the_year_in_which_the_file_was_written(tmp_path: Path) -> None:
    lines = ("Dec 31 23:59:58", "Jan  1 00:00:01")
    text = "".join(f"{stamp} lb1 Keepalived_vrrp[7]: (VI_1) Entering MASTER STATE\n" for stamp in lines)
    place, adapter = written(tmp_path, SYSLOG, "lb1.log", text, datetime(2027, 1, 5, tzinfo=UTC))
    rows, _, findings = read_logs(place, adapter)
    assert findings.total == 0
    assert [moment(row["time"]) for row in rows] == ["2026-12-31 23:59:58", "2027-01-01 00:00:01"]
    assert {row["node"] for row in rows} == {"LB-1"}


def test_leap_day_without_a_year_is_of_the_last_leap_year(tmp_path: Path) -> None:
    text = "Feb 29 12:00:00 lb1 Keepalived_vrrp[7]: (VI_1) Entering MASTER STATE\n"
    place, adapter = written(tmp_path, SYSLOG, "lb1.log", text, datetime(2026, 11, 24, tzinfo=UTC))
    rows, _, _ = read_logs(place, adapter)
    assert [moment(row["time"]) for row in rows] == ["2024-02-29 12:00:00"]


def test_journal_of_systemd_is_read_by_the_texts_of_its_entries(tmp_path: Path) -> None:
    entry = {"_HOSTNAME": "lb1", "SYSLOG_IDENTIFIER": "Keepalived_vrrp", "_PID": "7"}
    said = ["(VI_1) Entering MASTER STATE", "tick", list(b"(VI_2) Entering MASTER STATE")]
    lines = [
        entry | {"__REALTIME_TIMESTAMP": str(1_795_000_000_000_000 + at), "MESSAGE": text}
        for at, text in enumerate(said)
    ]
    lines.append(lines[0] | {"SYSLOG_IDENTIFIER": "sshd"})
    place, adapter = written(tmp_path, JOURNAL, "night.json", "".join(json.dumps(line) + "\n" for line in lines))
    rows, tally, findings = read_logs(place, adapter)
    assert findings.total == 0
    assert [(row["node"], row["fields"]["instance"]) for row in rows] == [("lb1", "VI_1"), ("lb1", "VI_2")]
    assert rows[1]["time"] - rows[0]["time"] == 2_000
    assert tally.lines == tally.accounted == 4


def test_open_telemetry_export_has_many_records_on_a_line(tmp_path: Path) -> None:
    def record(at: int, text: str) -> dict[str, object]:
        return {"timeUnixNano": str(at), "severityText": "INFO", "body": {"stringValue": text}}

    def export(host: str, *records: dict[str, object]) -> str:
        resource = {"attributes": [{"key": "host.name", "value": {"stringValue": host}}]}
        scopes = [{"scope": {"name": "vrrp"}, "logRecords": list(records)}]
        return json.dumps({"resourceLogs": [{"resource": resource, "scopeLogs": scopes}]}) + "\n"

    master = "(VI_1) Entering MASTER STATE"
    text = export("lb1", record(5, master), record(6, "tick")) + export("lb2", record(7, master))
    place, adapter = written(tmp_path, OTLP, "night.jsonl", text)
    rows, tally, findings = read_logs(place, adapter)
    assert findings.total == 0
    assert [(row["node"], row["time"], row["event"]) for row in rows] == [("lb1", 5, "master"), ("lb2", 7, "master")]
    assert tally.lines == tally.accounted == 3


def test_files_that_nothing_reads_are_named(tmp_path: Path) -> None:
    place, adapter = written(tmp_path, SYSLOG, "lb1.log", "Nov 22 03:14:07 lb1 x[1]: tick\n")
    (place / "notes.md").write_text("# a note\n", encoding="utf-8")
    assert open_logs(place, load(adapter)).unread == ("notes.md",)


LOG = "".join(
    f"2026-11-22 03:14:0{at}.5 INFO connection {at} from 10.0.0.{at}:4711 of 'client {at}' took 0.{at} s\n"
    + "  at line\n" * (at == 1)
    for at in range(5)
)


def test_drafted_adapter_understands_its_example(tmp_path: Path) -> None:
    draft = drafted(LOG.splitlines(), "mine", "server-1.log")
    assert draft is not None
    assert (draft.lines, draft.with_head, draft.in_events, len(draft.kinds)) == (6, 5, 5, 1)
    adapter = from_toml(draft.text, "mine.toml")
    assert {field.type.value for field in adapter.events[0].fields} == {"int", "string", "float"}
    place, name = written(tmp_path, draft.text, "server-1.log", LOG)
    rows, tally, findings = read_logs(place, name)
    assert (len(rows), findings.total, dict(tally.unknown)) == (5, 0, {})
    assert "client 3" in rows[3]["fields"].values()


def test_draft_is_written_by_the_command(tmp_path: Path) -> None:
    (tmp_path / "server-1.log").write_text(LOG, encoding="utf-8")
    ended = hacheck("adapter", "new", str(tmp_path / "server-1.log"), "--out", str(tmp_path / "mine.toml"), columns=160)
    assert ended.code == 0
    assert "6 lines: 5 understood as events, 0 of further kinds, 1 without a head" in ended.out
    assert from_toml((tmp_path / "mine.toml").read_text(encoding="utf-8"), "mine.toml").events


def test_an_adapter_is_drafted_from_a_log_and_not_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "night").mkdir()
    (tmp_path / "night" / "server-1.log").write_text(LOG, encoding="utf-8")
    ended = hacheck("adapter", "new", str(tmp_path / "night"), columns=200)
    assert (ended.code, f"hacheck adapter new {tmp_path / 'night' / 'server-1.log'}" in ended.err) == (2, True)
    forgotten = hacheck("adapter", "server-1.log", columns=200)
    assert (forgotten.code, "hacheck adapter new server-1.log" in forgotten.err) == (2, True)


def test_log_without_time_stamps_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("hello\nworld\n", encoding="utf-8")
    ended = hacheck("adapter", "new", str(tmp_path / "a.log"))
    assert (ended.code, "no time stamp of a known form" in ended.err) == (2, True)


def test_log_in_json_lines_is_refused_with_how_its_adapter_begins(tmp_path: Path) -> None:
    line = '{"t": {"$date": "2026-03-03T02:00:10.020+00:00"}, "msg": "Starting an election", "attr": {"newTerm": 1}}\n'
    (tmp_path / "m.log").write_text(line, encoding="utf-8")
    ended = hacheck("adapter", "new", str(tmp_path / "m.log"), columns=400)
    assert ended.code == 2
    assert 'write `format = "json"`, under [line] paths (`time = "t.$date"`)' in ended.err
    assert "their keys: t.$date, msg, attr.newTerm" in ended.err
