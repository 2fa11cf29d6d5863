"""The local monitor says once what is to be said, though files grow, lines come in halves and it is killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hacheck.traces.conformance.verdicts import Verdict
from hacheck.traces.drivers.received_trace import Ends
from hacheck.traces.drivers.tail import Monitor, Tailing, monitor_locally
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.records import TraceSchema
from tests.nightly import nightly
from tests.traces.drivers.checkers import Counting
from tests.traces.drivers.test_local import alone
from tests.traces.sample_files import Record, record

ROOT = Path(__file__).parents[3]
SECONDS = 120


def tailing(tmp_path: Path, idle_seconds: float = 3600) -> Tailing:
    """A monitor of the folder `place`."""
    (tmp_path / "place").mkdir(exist_ok=True)
    ends = Ends(frozenset({"end"}), idle_seconds=idle_seconds, remembered_seconds=100)
    return Tailing(
        tmp_path / "place", TraceSchema(), Counting(), tmp_path / "verdicts.jsonl", tmp_path / "checkpoint", ends
    )


def said(tmp_path: Path) -> tuple[list[Verdict], list[dict[str, Any]]]:
    """Verdicts and findings in the table."""
    lines = [json.loads(line) for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()]
    verdicts = []
    for line in lines:
        if "verdict" in line:
            told = line["verdict"]
            told["kind"] = told.pop("verdict")
            verdicts.append(Verdict(**{k: tuple(v) if isinstance(v, list) else v for k, v in told.items()}))
    return verdicts, [line["finding"] for line in lines if "finding" in line]


def stories(traces: int, records: int) -> list[Record]:
    """Records of several traces by turns; the last of each ends it."""
    return [
        record(f"trace {trace:02}", seq, "end" if seq == records else f"event {seq % 4}")
        for seq in range(1, records + 1)
        for trace in range(traces)
    ]


@nightly
def test_files_that_grow_by_any_number_of_bytes_have_the_same_verdicts(tmp_path: Path) -> None:
    rows = stories(5, 10)
    bytes_of = ["".join(json.dumps(row) + "\n" for row in rows[part::2]).encode() for part in range(2)]
    chance = random.Random(1)
    monitor = Monitor(tailing(tmp_path), Findings())
    written = [0, 0]
    while written != [len(content) for content in bytes_of]:
        for part, content in enumerate(bytes_of):
            size = chance.randrange(400)
            with (tmp_path / "place" / f"{part}.jsonl").open("ab") as stream:
                stream.write(content[written[part] : written[part] + size])
            written[part] = min(written[part] + size, len(content))
        monitor.step(time.time())
        if chance.random() < 0.3:
            monitor = Monitor(tailing(tmp_path), Findings())  # as if it had been ended and started again
    verdicts, findings = said(tmp_path)
    assert {verdict.trace_id: verdict for verdict in verdicts} == alone(rows)
    assert len(verdicts) == 5
    assert findings == []


def test_monitor_that_is_killed_loses_and_repeats_nothing(tmp_path: Path) -> None:
    rows = stories(200, 20)
    tailing(tmp_path)
    code = (
        "import sys; from pathlib import Path; from tests.traces.drivers.test_tail import tailing\n"
        "import hacheck.traces.drivers.tail as tail; tail.STEP_BYTES = 3000; tail.POLL_SECONDS = 0\n"
        "from hacheck.traces.findings import Findings\n"
        "tail.monitor_locally(tailing(Path(sys.argv[1])), Findings())\n"
    )
    (tmp_path / "place" / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    kills = 0
    start = time.monotonic()
    chance = random.Random(2)
    while len(alone_names(tmp_path)) < 200 and time.monotonic() - start < SECONDS:
        child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT)
        before = progress(tmp_path)
        try:
            while progress(tmp_path) < before + 100_000 and len(alone_names(tmp_path)) < 200:
                assert child.poll() is None, "the monitor has ended by itself"
                assert time.monotonic() - start < SECONDS, "nothing happens"
                time.sleep(0.01 + chance.random() / 50)
        finally:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
            kills += 1
    assert kills > 2
    Monitor(tailing(tmp_path), Findings())  # cuts off what was written after the last checkpoint
    monitor_locally(tailing(tmp_path), Findings(), once=True)
    verdicts, findings = said(tmp_path)
    assert Counter(verdict.trace_id for verdict in verdicts) == Counter({row["trace_id"]: 1 for row in rows})
    assert {verdict.trace_id: verdict for verdict in verdicts} == alone(rows)
    assert findings == []


def progress(tmp_path: Path) -> int:
    """How much of the file the checkpoint knows of."""
    try:
        return int(sum(place[0] for place in json.loads((tmp_path / "checkpoint").read_text())["files"].values()))
    except FileNotFoundError:
        return 0


def alone_names(tmp_path: Path) -> set[str]:
    """The traces that have a verdict by now."""
    try:
        lines = (tmp_path / "verdicts.jsonl").read_text().splitlines()
    except FileNotFoundError:
        return set()
    return {line.split('"trace_id": "')[1].split('"')[0] for line in lines if line.endswith("}")}


def test_idle_traces_end_and_are_forgotten_later(tmp_path: Path) -> None:
    watched = tailing(tmp_path, idle_seconds=10)
    place = watched.place / "a.jsonl"
    place.write_text("".join(json.dumps(record("a", seq)) + "\n" for seq in (1, 2)))
    monitor = Monitor(watched, Findings())
    monitor.step(1000)
    monitor.step(1009)
    assert said(tmp_path)[0] == []
    monitor.step(1011)
    assert [verdict.kind for verdict in said(tmp_path)[0]] == ["conforms"]
    with place.open("a") as stream:
        stream.write(json.dumps(record("a", 3)) + "\n")
    monitor.step(1012)
    verdicts, findings = said(tmp_path)
    assert len(verdicts) == 1
    assert [finding["message"] for finding in findings] == ["record 3 comes after the verdict, too late"]
    monitor.step(1200)
    assert json.loads((tmp_path / "checkpoint").read_text())["traces"] == {}


def test_bad_lines_are_told_with_file_and_line(tmp_path: Path) -> None:
    watched = tailing(tmp_path)
    lines = ["{", json.dumps(record("a", 1)), json.dumps(record("b", 1) | {"node": 5}), json.dumps(record("a", 3))]
    (watched.place / "a.jsonl").write_text("\n".join([*lines, '{"hacheck.traces": 2}', json.dumps(record("c", 1)), ""]))
    monitor_locally(watched, Findings(), once=True)
    verdicts, findings = said(tmp_path)
    assert {verdict.trace_id: verdict.kind for verdict in verdicts} == {"a": "unknown", "b": "unknown", "c": "unknown"}
    assert [(finding["kind"], finding["line"]) for finding in findings] == [
        ("not_json", 1), ("wrong_type", 3), ("version", 5), ("header", 6), ("missing_seq", 4),
    ]  # fmt: skip


@pytest.mark.parametrize("content", ["{}", "[]", "no json", '{"hacheck.monitor": 99}'])
def test_file_that_is_no_checkpoint_is_an_error(tmp_path: Path, content: str) -> None:
    watched = tailing(tmp_path)
    watched.checkpoint.write_text(content)
    with pytest.raises(TracesError, match="not a checkpoint of this version"):
        Monitor(watched, Findings())


def test_table_that_was_cut_is_an_error(tmp_path: Path) -> None:
    watched = tailing(tmp_path)
    (watched.place / "a.jsonl").write_text(json.dumps(record("a", 1, "end")) + "\n")
    monitor_locally(watched, Findings(), once=True)
    watched.verdicts.write_text("")
    with pytest.raises(TracesError, match="is shorter than when the monitor ended"):
        Monitor(watched, Findings())


def test_file_that_became_shorter_is_a_finding(tmp_path: Path) -> None:
    watched = tailing(tmp_path)
    (watched.place / "a.jsonl").write_text(json.dumps(record("a", 1)) + "\n")
    monitor = Monitor(watched, Findings())
    monitor.step(0)
    (watched.place / "a.jsonl").write_text("")
    monitor.step(1)
    assert [finding["kind"] for finding in said(tmp_path)[1]] == ["unreadable"]
