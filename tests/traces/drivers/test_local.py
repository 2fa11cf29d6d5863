"""The local driver: every trace has its verdict, whatever the order, the place and the state of its records."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.dataset import open_traces
from hacheck.traces.drivers import record_batches
from hacheck.traces.drivers.columns import pruned
from hacheck.traces.drivers.contract import ConformanceChecker, DriverError, Outcome, Progress
from hacheck.traces.drivers.local import Options, check_locally
from hacheck.traces.drivers.record_batches import Unit, pieces
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.record_checks import Expected, checked_batches
from hacheck.traces.records import FieldType, TraceSchema
from hacheck.traces.trace_writers import write_clustered
from tests.traces.drivers.checkers import Broken, Counting, Deadly, Fields, Slow, Unhurried
from tests.traces.sample_files import Record, jsonl, parquet, record

TWO = Options(workers=2)


def checked(
    place: Path, judge: ConformanceChecker | None = None, **more: Any
) -> tuple[dict[str, Verdict], Outcome, Findings]:
    """Verdicts by trace, the outcome, and what was wrong."""
    findings = Findings()
    table = place.parent / f"verdicts-{place.name}.parquet"
    dataset = open_traces(place, findings)
    outcome = check_locally(
        dataset, judge or Counting(), findings, table=table, options=more.pop("options", TWO), **more
    )
    verdicts = [verdict for batch in pq.read_table(table).to_batches() for verdict in from_batch(batch)]
    assert outcome.traces == len(verdicts) == len({verdict.trace_id for verdict in verdicts})
    assert outcome.counts == {kind: [v.kind for v in verdicts].count(kind) for kind in {v.kind for v in verdicts}}
    return {verdict.trace_id: verdict for verdict in verdicts}, outcome, findings


def mixed(traces: int, records: int) -> list[Record]:
    """Records of several traces by turns, the numbers of each backwards; every seventh trace deviates in its middle."""
    return [
        record(f"trace {trace:03}", seq, "bad" if trace % 7 == 3 and seq == records // 2 else f"event {seq % 5}")
        for seq in range(records, 0, -1)
        for trace in range(traces)
    ]


def alone(records: list[Record]) -> dict[str, Verdict]:
    """What is said of each trace when it is judged for itself, in order."""
    said = {}
    for name in {row["trace_id"] for row in records}:
        rows = sorted((row for row in records if row["trace_id"] == name), key=lambda row: row["seq"])
        open_ = Counting().resume(None)
        open_.feed(TraceSchema().arrow().empty_table().from_pylist(rows, TraceSchema().arrow()).to_batches()[0])
        said[name] = open_.close()
    return said


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for traces."""
    made = tmp_path / "traces"
    made.mkdir()
    return made


def test_each_trace_is_judged_as_if_it_were_alone(folder: Path) -> None:
    records = mixed(40, 30)
    for part in range(3):
        parquet(folder / f"{part}.parquet", records[part * 500 : part * 500 + 500])
    verdicts, outcome, findings = checked(folder)
    assert verdicts == alone(records)
    assert outcome.complete
    assert outcome.records == len(records)
    assert outcome.events == Counter(row["event"] for row in records)
    assert [verdict.trace_id for verdict in outcome.shown] == sorted(v for v in verdicts if int(v[-3:]) % 7 == 3)
    assert findings.total == 0


def test_json_lines_and_parquet_have_the_same_verdicts(folder: Path) -> None:
    records = mixed(20, 20)
    jsonl(folder / "a.jsonl", *records[:150])
    parquet(folder / "b.parquet", records[150:])
    assert checked(folder)[0] == alone(records)


def test_files_are_cut_between_processes_and_nothing_is_lost(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = mixed(20, 50)
    table = TraceSchema().arrow().empty_table().from_pylist(records, TraceSchema().arrow())
    pq.write_table(table, folder / "many.parquet", row_group_size=70)
    monkeypatch.setattr(record_batches, "PIECE_ROWS", 150)
    assert len(record_batches.units(open_traces(folder, Findings()))) == 8
    verdicts, _, findings = checked(folder)
    assert verdicts == alone(records)
    assert findings.total == 0


def test_trace_larger_than_the_memory_of_a_process_is_sorted_on_disk(folder: Path) -> None:
    records = [record("large", seq, f"event {seq % 3}") for seq in range(60_000, 0, -1)]
    parquet(folder / "large.parquet", [*records, *mixed(5, 5)])
    verdicts, _, _ = checked(folder, options=Options(workers=2, memory_bytes=80 << 20))
    small, _, _ = checked(folder, options=Options(workers=1, memory_bytes=4 << 20))
    assert verdicts == small == alone([*records, *mixed(5, 5)])


def test_clustered_folder_is_not_sorted_again_and_says_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = mixed(30, 20)
    parquet(folder / "a.parquet", records)
    dataset = open_traces(folder, Findings())
    clustered = folder.parent / "clustered"
    write_clustered(checked_batches(dataset, Findings()), clustered, dataset.schema, part_records=100)
    assert len(list(clustered.glob("*.parquet"))) > 3
    monkeypatch.setattr("hacheck.traces.drivers.local.UnorderedRecords", None)
    verdicts, outcome, _ = checked(clustered)
    assert verdicts == alone(records)
    assert outcome.events == Counter(row["event"] for row in records)


def test_verdicts_are_collected_only_where_they_are_requested(folder: Path) -> None:
    records = mixed(20, 20)
    parquet(folder / "a.parquet", records)
    dataset = open_traces(folder, Findings())
    outcome = check_locally(dataset, Counting(), Findings(), collect=True, options=TWO)
    found = [verdict for batch in outcome.verdicts for verdict in from_batch(batch)]
    assert {verdict.trace_id: verdict for verdict in found} == alone(records)
    assert outcome.table is None
    assert check_locally(dataset, Counting(), Findings(), options=TWO).verdicts == ()


def test_manifest_that_is_not_true_is_an_error(folder: Path) -> None:
    parquet(folder / "part-0.parquet", [record("b", 1), record("a", 1)])
    size = (folder / "part-0.parquet").stat().st_size
    part = {"name": "part-0.parquet", "records": 2, "traces": 2, "first": "a", "last": "b", "size_bytes": size}
    (folder / "_manifest.json").write_text(json.dumps({"hacheck.traces.manifest": 1, "files": [part]}))
    with pytest.raises(TracesError, match="not in order"):
        checked(folder)


def test_damaged_traces_are_unknown_and_the_good_ones_judged(folder: Path) -> None:
    good = mixed(10, 10)
    bad = [
        record("gap", 1), record("gap", 3),
        record("twice", 1), record("twice", 1), record("twice", 2),
        record("clock", 1), record("clock", 2) | {"time": 5},
        record("field", 1), record("field", 2) | {"node": None},
        record("nothing", 1) | {"seq": "x"},
    ]  # fmt: skip
    jsonl(folder / "a.jsonl", *good, *bad, '{"trace_id": "torn", "se')
    verdicts, outcome, findings = checked(folder)
    damaged = {"gap", "twice", "clock", "field", "nothing"}
    assert {name: verdict for name, verdict in verdicts.items() if name not in damaged} == alone(good)
    assert {verdicts[name].kind for name in damaged} == {"unknown"}
    assert all(verdicts[name].reason.startswith("the trace is damaged: ") for name in damaged)
    assert "what is left of it deviates" in verdicts["gap"].reason
    assert verdicts["nothing"].records == 0
    assert f"a.jsonl:{len(good) + 9}" in verdicts["field"].reason
    assert findings.counts.total() == 6
    assert {finding.place for finding in findings.first} == {f"a.jsonl:{len(good) + n}" for n in (2, 4, 7, 9, 10, 11)}
    assert outcome.counts["unknown"] == 5


def test_bad_rows_of_parquet_are_told_with_their_numbers(folder: Path) -> None:
    rows = [record("a", 1), record("a", 2, event=""), record("b", 1), record("c", 0), record("d", 1)]
    parquet(folder / "a.parquet", rows)
    (folder / "half.parquet").write_bytes((folder / "a.parquet").read_bytes()[:-20])
    verdicts, _, findings = checked(folder)
    assert {name: verdict.kind for name, verdict in verdicts.items()} == {
        "a": "unknown", "b": "conforms", "c": "unknown", "d": "conforms",
    }  # fmt: skip
    assert sorted(finding.place for finding in findings.first) == ["a.parquet:2", "a.parquet:4", "half.parquet"]


def test_part_of_a_file_that_cannot_be_read_damages_the_traces_in_it(folder: Path) -> None:
    schema = TraceSchema().arrow()
    path = folder / "a.parquet"
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for name in ("first", "second", "third"):
            rows = [record(name, seq, f"event of the {name} trace") for seq in range(1, 50)]
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema))
    content = path.read_bytes()
    at = content.index(b"event of the second trace")
    path.write_bytes(content[: at - 4] + b"\xff\xff\xff\x7f" + content[at:])  # its length, which is none now
    findings = Findings()
    unit = Unit(0, (1,), 50, 49)
    columns = pruned(TraceSchema(), Counting.columns)
    assert list(pieces(open_traces(folder, findings), unit, columns, findings)) == []
    assert [(finding.place, finding.records) for finding in findings.first] == [("a.parquet:50", 49)]
    assert {*findings.damaged} == {"second"}
    verdicts, _, _ = checked(folder)
    assert verdicts["second"].kind == "unknown"


def test_unknown_events_are_findings(folder: Path) -> None:
    parquet(folder / "a.parquet", [record("a", 1), record("b", 1, "what")])
    verdicts, _, findings = checked(folder, expected=Expected(events=frozenset({"tick"})))
    assert (verdicts["a"].kind, verdicts["b"].kind) == ("conforms", "unknown")
    assert [finding.message for finding in findings.first] == ["unknown event 'what'"]


def test_judge_gets_the_columns_that_it_asks_for(folder: Path) -> None:
    schema = TraceSchema((("other", FieldType.STRING), ("wanted", FieldType.INT)))
    rows = [record(str(n), 1, fields={"other": "x", "wanted": n}) for n in range(50)]
    parquet(folder / "a.parquet", rows[:25], schema)
    jsonl(folder / "b.jsonl", *rows[25:])
    verdicts, _, _ = checked(folder, Fields())
    assert {int(name): verdict.compared for name, verdict in verdicts.items()} == {n: n for n in range(50)}


def test_process_that_dies_is_an_error_and_leaves_no_table(folder: Path) -> None:
    parquet(folder / "a.parquet", mixed(30, 10))
    with pytest.raises(DriverError, match="killed by SIGKILL"):
        checked(folder, Deadly("trace 011"))
    assert [path.name for path in folder.parent.iterdir()] == ["traces"]


def test_mistake_of_the_judge_is_told_with_its_place(folder: Path) -> None:
    parquet(folder / "a.parquet", mixed(3, 3))
    with pytest.raises(RuntimeError, match=r"look\n.*\n.*a mistake of the judge"):
        checked(folder, Broken())


def test_it_stops_within_a_second_when_told_to(folder: Path) -> None:
    parquet(folder / "a.parquet", mixed(30, 10))
    findings = Findings()
    asked = 0.0

    def report(progress: Progress) -> bool:
        nonlocal asked
        if progress.phase == "checking" and progress.wall_seconds and not asked:
            asked = time.perf_counter()
        return not asked

    dataset = open_traces(folder, findings)
    table = folder.parent / "verdicts.parquet"
    outcome = check_locally(dataset, Slow(), findings, table=table, options=TWO, report=report)
    assert time.perf_counter() - asked < 1
    assert not outcome.complete
    assert outcome.table is None
    assert not table.exists()


def test_processes_do_not_hear_ctrl_c(folder: Path) -> None:
    parquet(folder / "a.parquet", mixed(30, 10))
    sent = []

    def report(progress: Progress) -> bool:
        for pid in {int(name) for name in os.listdir("/proc") if name.isdigit()} & children():
            os.kill(pid, signal.SIGINT)
            sent.append(pid)
        return True

    findings = Findings()
    outcome = check_locally(open_traces(folder, findings), Counting(), findings, options=TWO, report=report)
    assert sent
    assert outcome.traces == 30


def children() -> set[int]:
    """The worker processes of this one."""
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                line = Path("/proc", name, "stat").read_text()
                command = Path("/proc", name, "cmdline").read_bytes()
            except OSError:
                continue
            if int(line.rsplit(")", 1)[1].split()[1]) == os.getpid() and b"spawn_main" in command:
                found.add(int(name))
    return found


def test_place_that_cannot_be_written_is_an_error(folder: Path) -> None:
    parquet(folder / "a.parquet", mixed(3, 3))
    findings = Findings()
    with pytest.raises(TracesError, match="cannot be written"):
        check_locally(open_traces(folder, findings), Counting(), findings, table=folder / "no" / "verdicts.parquet")


def test_progress_counts_all_records(folder: Path) -> None:
    parquet(folder / "a.parquet", mixed(30, 10))
    seen: list[Progress] = []
    checked(folder, report=lambda progress: bool(seen.append(progress)) or True)
    assert (seen[-1].records, seen[-1].traces) == (300, 30)
    assert seen[-1].done == seen[-1].total
    assert [progress.phase for progress in seen] == sorted((p.phase for p in seen), key=["reading", "checking"].index)


@pytest.mark.parametrize("clustered", [False, True])
def test_progress_moves_while_traces_are_judged(folder: Path, clustered: bool) -> None:
    place = folder
    parquet(folder / "a.parquet", mixed(60, 50))
    if clustered:
        place, dataset = folder.parent / "clustered", open_traces(folder, Findings())
        write_clustered(checked_batches(dataset, Findings()), place, dataset.schema)
    seen: list[Progress] = []
    checked(place, Unhurried(), options=Options(workers=1), report=lambda progress: bool(seen.append(progress)) or True)
    judged = {progress.traces for progress in seen if progress.phase == "checking"}
    assert len(judged) > 4, "from none to all, and some between"
    if clustered:
        assert len({progress.records for progress in seen}) > 4
