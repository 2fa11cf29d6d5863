"""Conformance on DataFrames says what `hacheck.conform` says of the same records and logs, and is planned lazily."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import hacheck
from hacheck.api.errors import InputError
from hacheck.spark import conform, coverage, explain, findings
from hacheck.traces.conformance.verdicts import SCHEMA, Verdict, from_batch
from tests.cli.test_conform import GOOD, SPEC, WRONG, written

PAIR = Path(__file__).parents[3] / "examples" / "pair"
RECORDED = Path(__file__).parents[2] / "data" / "icestorm" / "c-kill-coordinator"
RECORDS = "trace_id string, node string, seq int, time bigint, event string, fields struct<term: int>, day string"


@pytest.fixture
def spec(tmp_path: Path) -> str:
    """A spec whose `stop` leaves no line."""
    path = tmp_path / "lease.ha"
    path.write_text(SPEC, encoding="utf-8")
    return str(path)


def records(spark: Any, **traces: list[tuple[str, str, int]]) -> Any:
    """The records of `tests.cli.test_conform.written`, with a column more."""
    rows = [
        (name, node, seq, seq * 10**9, event, (term,), f"day of {name}")
        for name, given in traces.items()
        for seq, (node, event, term) in enumerate(given, start=1)
    ]
    return spark.createDataFrame(rows, RECORDS)


def verdicts(frame: Any) -> dict[str, Verdict]:
    """The verdicts in a DataFrame, by trace."""
    table = frame.select(*SCHEMA.names).toArrow().cast(SCHEMA)
    found = [one for batch in table.to_batches() for one in from_batch(batch)]
    assert len({one.trace_id for one in found}) == len(found)
    return {one.trace_id: one for one in found}


def lines(folder: Path, trace_id: str) -> list[tuple[str, str, int, str]]:
    """The lines of all files of a folder."""
    return [
        (trace_id, str(path.relative_to(folder)), number, text)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    ]


LINES = "trace_id string, file string, line int, text string"


def assert_as_here(found: Mapping[str, Verdict], here: hacheck.Conformance, *, of_logs: bool) -> None:
    """The verdicts are those of one machine. `of_logs`: lines have files and numbers in both."""
    assert here.verdicts
    assert found.keys() == {one.trace_id for one in here.verdicts}
    for one in here.verdicts:
        other = found[one.trace_id]
        assert (other.kind, other.records, other.compared) == (one.kind, one.records, one.compared)
        assert (other.seq, other.node, other.event) == (one.seq, one.node or "", one.event or "")
        assert list(other.expected) == list(one.expected)
        assert list(other.violated) == list(one.violated)
        if of_logs:
            assert (other.file, other.line, other.reason) == (one.file or "", one.line, one.reason or "")


@pytest.mark.parametrize("order", ["total", "per_node"])
def test_records_have_the_verdicts_that_they_have_on_one_machine(
    spark: Any, spec: str, tmp_path: Path, order: Any
) -> None:
    place = written(tmp_path, order, good=GOOD, wrong=WRONG, short=GOOD[:1])
    frame = records(spark, good=GOOD, wrong=WRONG, short=GOOD[:1])
    found = conform(frame, spec, order=order, invariants=["few"], keep=["day"])
    here = hacheck.conform(spec, place, invariants=["few"])
    assert_as_here(verdicts(found), here, of_logs=False)
    assert [name for name, one in verdicts(found).items() if one.violated] == ["good"]
    assert {row.trace_id: row.day for row in found.select("trace_id", "day").collect()} == {
        name: f"day of {name}" for name in ("good", "wrong", "short")
    }


def test_nothing_runs_before_the_frame_is_used(spark: Any, spec: str) -> None:
    context = spark.sparkContext
    context.setJobGroup("planning", "planning")
    frame = records(spark, good=GOOD)
    found = conform(frame, spec)
    explain(found), findings(frame), coverage(frame, spec)
    assert list(context.statusTracker().getJobIdsForGroup("planning")) == []
    assert found.count() == 1
    assert list(context.statusTracker().getJobIdsForGroup("planning")) != []


def test_records_that_cannot_be_are_findings_and_none_is_passed_over(spark: Any, spec: str) -> None:
    frame = records(spark, good=GOOD, holes=[GOOD[0], *GOOD]).where("not (trace_id = 'holes' and seq = 2)")
    lost = frame.where("trace_id = 'good'").selectExpr("cast(null as string) trace_id", *frame.columns[1:])
    every = frame.unionByName(lost)
    found = verdicts(conform(every, spec))
    assert found["good"].kind == "conforms"
    assert found["holes"].kind == "unknown"
    assert "record 2 is missing before this one (record:3)" in found["holes"].reason
    assert found[""].kind == "unknown"
    assert found[""].reason.startswith("records that belong to no trace: trace_id is empty")
    rows = findings(every).toArrow().to_pylist()
    assert sorted((row["kind"], row["trace_id"], row["line"]) for row in rows if row["trace_id"]) == [
        ("missing_seq", "holes", 3)
    ]
    assert [row["kind"] for row in rows if not row["trace_id"]] == ["wrong_value"] * 3


def test_a_trace_without_one_good_record_has_a_verdict(spark: Any, spec: str) -> None:
    bad = records(spark, bad=GOOD[:1]).selectExpr("trace_id", "node", "cast(null as int) seq", "event", "day")
    (row,) = conform(bad, spec, keep=["day"]).collect()
    assert (row.trace_id, row.verdict, row.day) == ("bad", "unknown", "day of bad")


def test_times_may_be_timestamps_and_numbers_small(spark: Any, spec: str) -> None:
    frame = records(spark, good=GOOD).selectExpr(
        "trace_id", "node", "cast(seq as smallint) seq", "timestamp_millis(time div 1000000) time", "event", "fields"
    )
    found = verdicts(conform(frame, spec, invariants=["few"]))["good"]
    assert (found.kind, found.broken[0].start.time) == ("conforms", 3 * 10**9)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["trace_id", "node", "event"], "no column `seq`; number the records of each trace"),
        (["node", "seq", "event"], "no column `trace_id`; one story of the system"),
        (["trace_id", "node", "day seq", "event"], "column seq is string, not int64"),
        (["trace_id", "node", "seq", "event", "day fields"], "column fields is string, not a struct"),
        (["trace_id", "node", "seq", "event", "timestamp_ntz'2026-01-01' time"], "a timestamp without a zone"),
    ],
)
def test_columns_are_checked_before_anything_runs(spark: Any, spec: str, columns: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        conform(records(spark, good=GOOD).selectExpr(*columns), spec)


def test_what_is_kept_is_there_and_has_another_name(spark: Any, spec: str) -> None:
    frame = records(spark, good=GOOD)
    with pytest.raises(InputError, match="no column `month`; the DataFrame has trace_id, node"):
        conform(frame, spec, keep=["month"])
    with pytest.raises(InputError, match="`node` cannot be kept: verdicts have a column of that name"):
        conform(frame, spec, keep=["node"])


def test_grouped_records_are_not_exchanged(spark: Any, spec: str) -> None:
    frame = records(spark, good=GOOD, wrong=WRONG).repartition(2, "trace_id").sortWithinPartitions("trace_id", "seq")
    found = conform(frame, spec, is_grouped=True)
    assert {name: one.kind for name, one in verdicts(found).items()} == {"good": "conforms", "wrong": "deviates"}
    unsorted = records(spark, good=GOOD).coalesce(1).orderBy("node", "seq").coalesce(1)
    assert verdicts(conform(unsorted, spec, is_grouped=True))["good"].kind == "unknown"


def test_expected_lines_are_rows(spark: Any, spec: str) -> None:
    found = conform(records(spark, good=GOOD, wrong=WRONG), spec, order="total")
    rows = [(row.trace_id, row.seq, row.number, row.expected) for row in explain(found).collect()]
    assert sorted(rows) == [("wrong", 2, 1, "Server 2: began(term: 2)"), ("wrong", 2, 2, "Server 1: began(term: 2)")]
    with pytest.raises(InputError, match="no column `seq`"):
        explain(found.drop("seq"))


def test_every_line_of_a_spec_is_in_the_coverage(spark: Any) -> None:
    frame = spark.createDataFrame([("a", "active"), ("b", "active"), ("b", "unheard")], "trace_id string, event string")
    rows = {row.event: (row.in_spec, row.records, row.traces) for row in coverage(frame, PAIR / "pair.ha").collect()}
    assert rows == {
        "active": (True, 2, 2), "standby": (True, 0, 0), "started": (True, 0, 0), "unheard": (False, 1, 1)
    }  # fmt: skip


def test_raw_lines_have_the_verdicts_that_their_folder_has_on_one_machine(spark: Any) -> None:
    nights = ("monday", "tuesday")
    logs = {night: lines(PAIR / "logs" / night, night) for night in nights}
    rows = [(night, f"{night}/{file}", *rest) for night, found in logs.items() for _, file, *rest in found]
    frame = spark.createDataFrame(rows, LINES)
    adapter = str(PAIR / "pair.toml")
    here = hacheck.conform(PAIR / "pair.ha", PAIR / "logs", adapter=adapter)
    assert {one.kind for one in here.verdicts} == {"conforms", "deviates"}
    found = conform(frame.selectExpr("*", "'eu' region"), PAIR / "pair.ha", adapter=adapter, keep=["region"])
    assert_as_here(verdicts(found), here, of_logs=True)
    assert {row.region for row in found.collect()} == {"eu"}
    whole = frame.groupBy("trace_id", "file").agg({"text": "collect_list"})
    whole = whole.selectExpr("trace_id", "'/var/log/' || file file", "array_join(`collect_list(text)`, '\n') text")
    assert {name: one.kind for name, one in verdicts(conform(whole, PAIR / "pair.ha", adapter=adapter)).items()} == {
        one.trace_id: one.kind for one in here.verdicts
    }


def test_a_recording_of_a_real_cluster_has_its_verdict(spark: Any) -> None:
    frame = spark.createDataFrame(lines(RECORDED, RECORDED.name), LINES)
    settings = {"replicas": "3"}
    here = hacheck.conform("icestorm", RECORDED, adapter="icestorm", check="as_released", settings=settings)
    found = conform(frame, "icestorm", adapter="icestorm", check="as_released", settings=settings)
    assert_as_here(verdicts(found), here, of_logs=True)


def test_lines_that_are_none_are_findings(spark: Any) -> None:
    rows = [
        ("torn", "server-1.log", 1, "2026-03-02 02:10:03.104 INFO took the address"),
        ("torn", "server-1.log", 3, "no head"),
        ("none", "a.txt", 1, "2026-03-02 02:10:03.104 INFO took the address"),
        ("none", "b.txt", 1, "2026-03-02 02:10:03.104 INFO took the address"),
        ("quiet", "server-1.log", 1, "2026-03-02 02:10:03.104 INFO nothing of it is known"),
        (None, "server-1.log", 1, "2026-03-02 02:10:03.104 INFO took the address"),
    ]
    frame = spark.createDataFrame(rows, LINES)
    found = verdicts(conform(frame, PAIR / "pair.ha", adapter=str(PAIR / "pair.toml")))
    assert {name: one.kind for name, one in found.items()} == {
        "torn": "conforms", "none": "unknown", "quiet": "conforms", "": "unknown"
    }  # fmt: skip
    assert "no adapter reads files of this name" in found["none"].reason
    rows = findings(frame, adapter=str(PAIR / "pair.toml")).toArrow().to_pylist()
    assert sorted((row["trace_id"] or "", row["kind"], row["file"]) for row in rows) == [
        ("", "unreadable", "none: a.txt"), ("", "unreadable", "none: b.txt"), ("", "wrong_value", "lines")
    ]  # fmt: skip
