"""A stream of files has the verdicts that its traces have as a whole, once each, though it is killed on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.drivers.contract import Progress
from hacheck.traces.drivers.spark_stream import VERDICTS, findings_of, monitor_on_spark, verdicts_of
from hacheck.traces.findings import Findings, Kind
from tests.traces.drivers import streaming
from tests.traces.drivers.test_local import alone
from tests.traces.sample_files import Record, jsonl, parquet, record

ROOT = Path(__file__).parents[3]
SECONDS = 240


def stories(traces: int, records: int) -> list[list[Record]]:
    """The records of several traces in the order in which they are put into files: every trace is in many of them, and
    those of each third trace come in the wrong order. The last record of each ends it."""
    rounds = []
    for seq in range(1, records + 1):
        rows = []
        for trace in range(traces):
            number = records + 1 - seq if trace % 3 == 2 else seq
            bad = trace % 5 == 1 and number == records // 2
            event = "end" if number == records else "bad" if bad else f"event {number % 4}"
            rows.append(record(f"trace {trace:02}", number, event))
        rounds.append(rows)
    return rounds


def put(place: Path, name: str, rows: list[Record | str]) -> None:
    """Moves a file into the folder."""
    made = jsonl(place.parent / name, *rows)
    made.rename(place / name)


def told(results: Path) -> list[Verdict]:
    """All verdicts so far."""
    return [verdict for batch in verdicts_of(results).to_batches() for verdict in from_batch(batch)]


def known(verdict: Verdict) -> tuple[str, str, int | None]:
    """What must be the same, whether a trace was judged to its end or left where it deviated."""
    return verdict.trace_id, verdict.kind, verdict.seq


def test_spark_stream_that_is_killed_loses_and_repeats_nothing(spark: Any, tmp_path: Path) -> None:
    place, results, checkpoint = (tmp_path / name for name in ("place", "results", "checkpoint"))
    place.mkdir()
    rounds = stories(12, 8)
    for number, rows in enumerate(rounds[:6]):
        put(place, f"{number}.jsonl", [*rows])
    command = [sys.executable, "-m", streaming.__name__, str(place), str(results), str(checkpoint)]
    child = subprocess.Popen(command, cwd=ROOT, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: (checkpoint / "offsets" / "1").exists(), child)  # in the middle of the second batch
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    committed = len(list((checkpoint / "commits").glob("[0-9]*")))
    for number, rows in enumerate(rounds[6:], 6):
        put(place, f"{number}.jsonl", [*rows])
    start = time.monotonic()

    def report(progress: Progress) -> bool:
        return len(told(results)) < 12 and time.monotonic() - start < SECONDS

    findings = Findings()
    monitor_on_spark(spark, streaming.monitoring(place, results, checkpoint), findings, report)
    assert committed < 4, "it was killed with work left"
    expected = alone([row for rows in rounds for row in rows])
    assert sorted(map(known, told(results))) == sorted(map(known, expected.values()))
    conforming = {verdict.trace_id: verdict for verdict in told(results) if verdict.kind == "conforms"}
    assert conforming == {name: verdict for name, verdict in expected.items() if verdict.kind == "conforms"}
    assert findings_of(results).total == 0


def test_spark_stream_ends_traces_that_are_idle_and_tells_what_is_wrong(spark: Any, tmp_path: Path) -> None:
    place, results, checkpoint = (tmp_path / name for name in ("place", "results", "checkpoint"))
    place.mkdir()
    put(place, "a.jsonl", [record("whole", 1), record("gap", 1), record("gap", 3), "{"])
    put(place, "b.jsonl", [record("whole", 2), record("whole", 2), record("torn", 1) | {"node": 5}])
    (tmp_path / "c.parquet").write_bytes(b"PAR1 half")
    (tmp_path / "c.parquet").rename(place / "c.parquet")
    parquet(tmp_path / "d.parquet", [record("good", 1), record("good", 2)]).rename(place / "d.parquet")
    start = time.monotonic()

    def report(progress: Progress) -> bool:
        return len(told(results)) < 4 and time.monotonic() - start < SECONDS

    outcome = monitor_on_spark(
        spark, streaming.monitoring(place, results, checkpoint, idle_seconds=1), Findings(), report
    )
    kinds = {verdict.trace_id: verdict.kind for verdict in told(results)}
    assert kinds == {"whole": "unknown", "gap": "unknown", "torn": "unknown", "good": "conforms"}
    assert outcome.counts == Counter(kinds.values())
    assert outcome.table == str(results / VERDICTS)
    findings = findings_of(results)
    assert findings.counts == {
        Kind.NOT_JSON: 1, Kind.MISSING_SEQ: 1, Kind.DUPLICATE_SEQ: 1, Kind.WRONG_TYPE: 1, Kind.TRUNCATED: 1,
    }  # fmt: skip
    assert {Path(finding.place).name for finding in findings.first} == {
        "a.jsonl:4", "a.jsonl:3", "b.jsonl:2", "b.jsonl:3", "c.parquet",
    }  # fmt: skip


def wait_for(condition: Any, child: subprocess.Popen[bytes]) -> None:
    """Waits until something is so, as long as a process runs."""
    start = time.monotonic()
    while not condition():
        assert child.poll() is None, "the stream has ended by itself"
        assert time.monotonic() - start < SECONDS, "nothing happens"
        time.sleep(0.02)
