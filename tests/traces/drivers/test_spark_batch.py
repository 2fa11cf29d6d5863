"""The Spark driver says what the local one says, and loses no trace when a process dies."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from hacheck.cli.logs.comparison_options import ComparisonOptions, what_is_compared
from hacheck.cli.sources import load_specification
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.dataset import open_traces
from hacheck.traces.drivers.contract import ConformanceChecker, DriverError, Outcome, Progress
from hacheck.traces.drivers.local import Options, check_locally
from hacheck.traces.drivers.spark_batch import check_on_spark
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.record_checks import checked_batches
from hacheck.traces.records import FieldType, Order, TraceSchema
from hacheck.traces.trace_writers import write_clustered
from tests.cli.test_conform import GOOD, SPEC, written
from tests.nightly import nightly
from tests.traces.drivers.checkers import Counting, Deadly, Fields, Slow
from tests.traces.drivers.test_local import alone, mixed
from tests.traces.sample_files import jsonl, parquet, record


def checked(
    spark: Any, place: Path, judge: ConformanceChecker | None = None, *, url: bool = False
) -> tuple[dict[str, Verdict], Outcome, Findings]:
    """Verdicts by trace, the outcome, and what was wrong."""
    findings = Findings()
    table = place.parent / f"verdicts of {place.name}"
    traces = f"file://{place}" if url else open_traces(place, findings)
    outcome = check_on_spark(spark, traces, judge or Counting(), findings, table=str(table))
    verdicts = [verdict for batch in pq.read_table(table).to_batches() for verdict in from_batch(batch)]
    assert outcome.traces == len(verdicts) == len({verdict.trace_id for verdict in verdicts})
    assert outcome.counts == {kind: [v.kind for v in verdicts].count(kind) for kind in {v.kind for v in verdicts}}
    return {verdict.trace_id: verdict for verdict in verdicts}, outcome, findings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for traces, under a name with characters that mean something in patterns and URLs."""
    made = tmp_path / "some [traces] é%20"
    made.mkdir()
    return made


def test_spark_says_what_is_said_of_each_trace_alone(spark: Any, folder: Path) -> None:
    records = mixed(40, 30)
    for part in range(2):
        parquet(folder / f"{part}.parquet", records[part * 400 : part * 400 + 400])
    jsonl(folder / "2.jsonl", *records[800:])
    verdicts, outcome, findings = checked(spark, folder)
    assert verdicts == alone(records)
    assert outcome.complete
    assert outcome.records == len(records)
    assert outcome.events == Counter(row["event"] for row in records)
    assert [verdict.trace_id for verdict in outcome.shown] == sorted(v for v in verdicts if int(v[-3:]) % 7 == 3)
    assert findings.total == 0


def test_spark_judges_each_trace_under_its_settings_and_by_rules_of_time(spark: Any, tmp_path: Path) -> None:
    spec = tmp_path / "lease.ha"
    sized = SPEC.replace("node Server[2]", "param servers = 2 in 2..4\nnode Server[servers]")
    spec.write_text(f"{sized}trace with servers = 2\n  from hello(term): servers = term\n", encoding="utf-8")
    long = [("1", "hello", 3), *GOOD, ("3", "began", 4), ("1", "began", 5)]
    place = written(tmp_path, long=long, other=[("1", "hello", 2)], short=GOOD[:2])
    specification = load_specification(str(spec))
    comparison = ComparisonOptions(None, {}, False, None, {"few": 10**9}, {})
    compared = what_is_compared(comparison, specification, no_color=True)
    judge = compared.checker(TraceChecker(compared.system, Order.TOTAL, rules=compared.rules))
    verdicts, outcome, _ = checked(spark, place, judge)
    locally = check_locally(open_traces(place, Findings()), judge, Findings(), options=Options(workers=1))
    assert replace(outcome, table=None) == locally
    assert outcome.broken == {"late": {"few": 1}}
    assert outcome.settings == {("servers=3",): 1, ("servers=2",): 1, (): 1}
    kinds = {name: one.kind for name, one in verdicts.items()}
    assert kinds == {"long": "deviates", "other": "unknown", "short": "conforms"}
    assert verdicts["other"].reason.startswith("nothing was compared")
    (late,) = verdicts["long"].late
    assert (late.invariant, late.sure, late.start.seq, late.end.seq) == ("few", True, 4, 6)
    assert (verdicts["long"].settings, verdicts["short"].settings) == (("servers=3",), ())


def test_spark_reports_damage_with_file_and_line(spark: Any, folder: Path) -> None:
    good = mixed(10, 10)
    bad = [
        record("gap", 1), record("gap", 3),
        record("field", 1), record("field", 2) | {"node": None},
        record("nothing", 1) | {"seq": "x"},
    ]  # fmt: skip
    jsonl(folder / "a.jsonl", *good, *bad, '{"trace_id": "torn", "se')
    rows = [record("zero", 0), record("unnamed", 1, ""), record("late", 1), record("late", 1)]
    parquet(folder / "b.parquet", rows)
    (folder / "half.parquet").write_bytes((folder / "b.parquet").read_bytes()[:-20])
    other = TraceSchema(version=1).arrow().append(pa.field("more", pa.int64()))
    pq.write_table(pa.Table.from_pylist([record("left out", 1) | {"more": 1}], other), folder / "other.parquet")
    verdicts, _, findings = checked(spark, folder)
    damaged = {"gap", "field", "nothing", "zero", "unnamed", "late", "left out"}
    assert {name: verdict for name, verdict in verdicts.items() if name not in damaged} == alone(good)
    assert {verdicts[name].kind for name in damaged} == {"unknown"}
    assert sorted(finding.place for finding in findings.first) == sorted(
        [*(f"a.jsonl:{len(good) + n}" for n in (2, 4, 5, 6)), *(f"b.parquet:{n}" for n in (1, 2, 4)), "half.parquet",
         "other.parquet"]
    )  # fmt: skip
    assert findings.damaged.keys() == damaged


def test_spark_reads_columns_of_smaller_types_and_only_those_asked_for(spark: Any, folder: Path) -> None:
    table = pa.table(
        {
            "trace_id": pa.array([str(n) for n in range(50)]).dictionary_encode(),
            "node": pa.array(["a"] * 50, pa.large_string()),
            "seq": pa.array([1] * 50, pa.int16()),
            "event": ["tick"] * 50,
            "fields": pa.array([{"other": "x", "wanted": n} for n in range(50)],
                               pa.struct([("other", pa.string()), ("wanted", pa.uint32())])),
        }
    )  # fmt: skip
    pq.write_table(table, folder / "a.parquet")
    verdicts, _, _ = checked(spark, folder, Fields())
    assert {int(name): verdict.compared for name, verdict in verdicts.items()} == {n: n for n in range(50)}


def test_spark_does_not_exchange_or_cut_files_of_a_clustered_folder(spark: Any, tmp_path: Path) -> None:
    records = mixed(30, 20)
    parquet(tmp_path / "a.parquet", records)
    dataset = open_traces(tmp_path / "a.parquet", Findings())
    clustered = tmp_path / "clustered"
    write_clustered(checked_batches(dataset, Findings()), clustered, dataset.schema, part_records=100)
    spark.conf.set("spark.sql.files.maxPartitionBytes", "1000")  # less than a file has
    try:
        assert checked(spark, clustered)[0] == alone(records)
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")


def test_spark_refuses_a_trace_that_two_tasks_have_judged(spark: Any, tmp_path: Path, monkeypatch: Any) -> None:
    parquet(tmp_path / "a.parquet", [record("a", 1), record("both", 1)])
    parquet(tmp_path / "b.parquet", [record("both", 2), record("c", 1)])
    monkeypatch.setattr("hacheck.traces.manifest.describes", lambda *_: True)
    with pytest.raises(DriverError, match=r"two tasks have each checked.*'both'"):
        check_on_spark(spark, open_traces(tmp_path, Findings()), Counting(), Findings())


@nightly
def test_spark_reads_a_url(spark: Any, tmp_path: Path) -> None:
    place = tmp_path / "at-url"
    place.mkdir()
    schema = TraceSchema((("wanted", FieldType.INT),))
    parquet(place / "a.parquet", [*mixed(9, 9), record("gap", 2)], schema)
    verdicts, _, findings = checked(spark, place, url=True)
    assert {name: verdict for name, verdict in verdicts.items() if name != "gap"} == alone(mixed(9, 9))
    assert [finding.place.rsplit("/", 1)[1] for finding in findings.first] == ["a.parquet:82"]
    with pytest.raises(TracesError, match="cannot be read"):
        check_on_spark(spark, f"file://{tmp_path}/nothing", Counting(), Findings())


@nightly
def test_spark_loses_no_trace_when_a_worker_is_killed(spark: Any, tmp_path: Path) -> None:
    records = mixed(30, 10)
    parquet(tmp_path / "a.parquet", records)
    killed = tmp_path / "killed"
    verdicts, _, _ = checked(spark, tmp_path / "a.parquet", Deadly("trace 011", once=killed))
    assert killed.exists()
    assert verdicts == alone(records)


def test_spark_job_whose_worker_is_killed_every_time_fails_with_an_error(spark: Any, tmp_path: Path) -> None:
    parquet(tmp_path / "a.parquet", mixed(30, 10))
    with pytest.raises(DriverError, match="a worker process was lost too often"):
        checked(spark, tmp_path / "a.parquet", Deadly("trace 011"))
    assert not (tmp_path / "verdicts of a.parquet").exists()


def test_spark_job_stops_within_a_second_when_told_to(spark: Any, tmp_path: Path) -> None:
    parquet(tmp_path / "a.parquet", mixed(3, 3))
    start = time.perf_counter()
    asked = 0.0

    def report(progress: Progress) -> bool:
        nonlocal asked
        if time.perf_counter() - start > 2 and not asked:
            asked = time.perf_counter()
        return not asked

    outcome = check_on_spark(
        spark, open_traces(tmp_path, Findings()), Slow(), Findings(), table=str(tmp_path / "table"), report=report
    )
    assert time.perf_counter() - asked < 1
    assert not outcome.complete
    assert not (tmp_path / "table").exists()


def test_spark_writes_no_table_over_another(spark: Any, tmp_path: Path) -> None:
    parquet(tmp_path / "a.parquet", mixed(3, 3))
    with pytest.raises(TracesError, match="already exists"):
        check_on_spark(spark, open_traces(tmp_path, Findings()), Counting(), Findings(), table=str(tmp_path))
