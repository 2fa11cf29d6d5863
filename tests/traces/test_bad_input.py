"""Whatever is wrong with traces is counted and told with file and line, and the good traces go on."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hacheck.traces.dataset import open_traces
from hacheck.traces.findings import Findings, Kind, TracesError
from hacheck.traces.record_checks import Expected
from hacheck.traces.records import FieldType, Order, TraceSchema
from tests.traces.sample_files import NOON, SECOND, Record, found, jsonl, parquet, read_all, record

GOOD = [record("good", 1), record("good", 2)]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("{", "not_json"),
        ("no json at all", "not_json"),
        ("[1]", "not_json"),
        ('{"trace_id": "bad"', "not_json"),
        (json.dumps(record("bad", 1)) + json.dumps(record("bad", 2)), "not_json"),
        ('{"trace_id": "bad", "trace_id": "worse", "node": "a", "seq": 1, "event": "x"}', "not_json"),
        (b'{"trace_id": "b\xff", "node": "a", "seq": 1, "event": "x"}', "not_json"),
        (json.dumps(record("bad", 1) | {"time": float("nan")}), "not_json"),
        ({"trace_id": "bad", "node": "a", "seq": 1}, "missing_column"),
        (record("bad", 1) | {"node": None}, "missing_column"),
        (record("bad", 1, colour="red"), "extra_column"),
        (record("bad", 1, fields={"other": 1}), "extra_column"),
        (record("bad", 1) | {"seq": "1"}, "wrong_type"),
        (record("bad", 1) | {"seq": 1.0}, "wrong_type"),
        (record("bad", 1) | {"seq": True}, "wrong_type"),
        (record("bad", 1) | {"node": 3}, "wrong_type"),
        (record("bad", 1, fields=[1]), "wrong_type"),
        (record("bad", 1, fields={"count": "many"}), "wrong_type"),
        (record("bad", 1, fields={"members": [1, None]}), "wrong_type"),
        (record("bad", 1, causes="m1"), "wrong_type"),
        (record("bad", 1, causes=["m1", None]), "wrong_type"),
        (record("bad", 0), "wrong_value"),
        (record("bad", -1), "wrong_value"),
        (record("bad", 1) | {"time": 2**63}, "wrong_value"),
        (record("bad", 1, event=""), "wrong_value"),
        (record("", 1), "wrong_value"),
        (record("bad", 1, event="\ud800"), "wrong_value"),
    ],
)
def test_bad_line_is_quarantined_with_its_place_and_others_go_on(
    tmp_path: Path, line: Record | str | bytes, kind: str
) -> None:
    header = {"hacheck.traces": 1, "fields": {"count": "int", "members": "ints"}}
    place = jsonl(tmp_path / "some.jsonl", header, GOOD[0], line, GOOD[1])
    records, findings = read_all(place)
    assert records == GOOD
    assert found(findings) == [(kind, f"{place}:3")]
    assert findings.quarantined == 1
    assert "good" not in findings.damaged
    assert findings.first[0].text


def test_file_that_ends_in_the_middle_of_a_record_is_truncated(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "some.jsonl", *GOOD)
    place.write_bytes(place.read_bytes()[:-20])
    records, findings = read_all(place)
    assert records == GOOD[:1]
    assert found(findings) == [("truncated", f"{place}:2")]


def test_last_line_without_an_end_is_a_record_if_it_is_whole(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "some.jsonl", *GOOD)
    place.write_bytes(place.read_bytes()[:-1])
    assert read_all(place)[0] == GOOD
    assert not read_all(place)[1].total


def test_blank_lines_and_carriage_returns_mean_nothing(tmp_path: Path) -> None:
    place = tmp_path / "some.jsonl"
    place.write_bytes(b"\r\n\r\n".join(json.dumps(row).encode() for row in GOOD) + b"\r\n\n")
    assert read_all(place)[0] == GOOD
    assert not read_all(place)[1].total


@pytest.mark.parametrize("write", ["jsonl", "parquet"])
def test_numbers_missing_and_twice_there_are_told_where(tmp_path: Path, write: str) -> None:
    rows = [record("t", 1), record("t", 2), record("t", 2, event="tock"), record("t", 5), *GOOD, record("late", 4)]
    place = jsonl(tmp_path / "a.jsonl", *rows) if write == "jsonl" else parquet(tmp_path / "a.parquet", rows)
    records, findings = read_all(place)
    assert records == [*GOOD, record("late", 4), record("t", 1), record("t", 2), record("t", 5)]
    assert sorted(found(findings)) == [
        ("duplicate_seq", f"{place}:3"),
        ("missing_seq", f"{place}:4"),
        ("missing_seq", f"{place}:7"),
    ]
    assert set(findings.damaged) == {"t", "late"}
    assert any("records 3 to 4 are missing" in finding.message for finding in findings.first)
    assert any("records 1 to 3 are missing" in finding.message for finding in findings.first)


def test_clock_that_goes_back_is_found_for_each_node_on_its_own(tmp_path: Path) -> None:
    rows = [record("t", seq, node=node) for seq, node in enumerate("abababab", 1)]
    rows[3]["time"] = NOON  # b, which was at 2 s before
    rows[4]["time"] = None
    rows[6]["time"] = NOON + 2 * SECOND  # a, which was at 3 s, two records ago
    place = jsonl(tmp_path / "a.jsonl", *rows)
    records, findings = read_all(place)
    assert len(records) == 8
    assert found(findings) == [("time_backwards", f"{place}:4"), ("time_backwards", f"{place}:7")]
    assert findings.quarantined == 0
    allowed = Expected(clock_back_ns=SECOND)
    assert found(read_all(place, allowed)[1]) == [("time_backwards", f"{place}:4")]


def test_events_and_nodes_that_nobody_knows_are_quarantined(tmp_path: Path) -> None:
    rows = [record("t", 1), record("t", 2, event="tock"), record("t", 3, node="z"), *GOOD]
    expected = Expected(events=frozenset({"tick"}), nodes=frozenset({"a"}))
    place = jsonl(tmp_path / "a.jsonl", *rows)
    records, findings = read_all(place, expected)
    assert records == [*GOOD, record("t", 1)]
    assert found(findings) == [("unknown_event", f"{place}:2"), ("unknown_node", f"{place}:3")]


def test_empty_file_is_told(tmp_path: Path) -> None:
    jsonl(tmp_path / "good.jsonl", *GOOD)
    jsonl(tmp_path / "none.jsonl")
    jsonl(tmp_path / "header.jsonl", TraceSchema().header())
    parquet(tmp_path / "none.parquet", [])
    records, findings = read_all(tmp_path)
    assert records == GOOD
    assert sorted(found(findings)) == [("empty", "header.jsonl"), ("empty", "none.jsonl"), ("empty", "none.parquet")]


@pytest.mark.parametrize("size", [10, 300, -8, -1])
def test_half_written_parquet_is_left_out(tmp_path: Path, size: int) -> None:
    jsonl(tmp_path / "good.jsonl", *GOOD)
    half = parquet(tmp_path / "half.parquet", [record("lost", 1)])
    half.write_bytes(half.read_bytes()[:size])
    records, findings = read_all(tmp_path)
    assert records == GOOD
    assert found(findings) == [("truncated", "half.parquet")]
    assert "half written" in findings.first[0].message


@pytest.mark.parametrize("content", [b"", b"PAR", b"something else altogether", b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_parquet_that_is_none_is_left_out(tmp_path: Path, content: bytes) -> None:
    jsonl(tmp_path / "good.jsonl", *GOOD)
    (tmp_path / "none.parquet").write_bytes(content)
    records, findings = read_all(tmp_path)
    assert records == GOOD
    assert [name for _, name in found(findings)] == ["none.parquet"]


def test_damaged_page_of_parquet_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    jsonl(tmp_path / "good.jsonl", *GOOD)
    path = tmp_path / "hurt.parquet"
    rows = [record(f"t{at}", 1) for at in range(2_000)]
    pq.write_table(
        pa.Table.from_pylist(rows, TraceSchema().arrow()), path, write_page_checksum=True, compression="gzip"
    )
    data = bytearray(path.read_bytes())
    data[200:260] = b"\xff" * 60
    path.write_bytes(data)
    records, findings = read_all(tmp_path)
    assert records[:2] == GOOD
    assert ("unreadable", "hurt.parquet:1") in found(findings)


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ({"trace_id": pa.string(), "node": pa.string(), "seq": pa.int64()}, "missing_column"),
        ({"trace_id": pa.string(), "node": pa.string(), "seq": pa.string(), "event": pa.string()}, "wrong_type"),
        (
            {"trace_id": pa.string(), "node": pa.string(), "seq": pa.int8(), "event": pa.string(), "x": pa.int8()},
            "extra_column",
        ),
    ],
)
def test_parquet_with_other_columns_is_left_out_and_its_traces_are_damaged(
    tmp_path: Path, columns: dict[str, Any], kind: str
) -> None:
    jsonl(tmp_path / "good.jsonl", *GOOD)
    row = {"trace_id": "lost", "node": "a", "seq": 1, "event": "tick", "x": 1}
    if columns["seq"] == pa.string():
        row["seq"] = "1"
    pq.write_table(pa.Table.from_pylist([row], pa.schema(columns)), tmp_path / "other.parquet")
    records, findings = read_all(tmp_path)
    assert records == GOOD
    assert found(findings) == [(kind, "other.parquet")]
    assert findings.quarantined == 1
    assert set(findings.damaged) == {"lost"}


def test_text_in_parquet_that_is_no_utf8_ends_its_file(tmp_path: Path) -> None:
    jsonl(tmp_path / "good.jsonl", *GOOD)
    table = pa.Table.from_pylist([record("lost", 1)], TraceSchema().arrow())
    wrong = pa.array([b"b\xff"]).view(pa.string())
    pq.write_table(table.set_column(0, "trace_id", wrong), tmp_path / "wrong.parquet")
    records, findings = read_all(tmp_path)
    assert records == GOOD
    assert found(findings) == [("unreadable", "wrong.parquet:1")]
    assert findings.quarantined == 1


def test_bad_rows_of_parquet_are_quarantined_one_by_one(tmp_path: Path) -> None:
    columns = dict(zip(TraceSchema().arrow().names, TraceSchema().arrow().types, strict=True))
    rows = [record("good", 1), record("bad", 0), record("good", 2), record("bad", 1) | {"event": None}]
    pq.write_table(pa.Table.from_pylist(rows, pa.schema(columns)), tmp_path / "some.parquet")
    records, findings = read_all(tmp_path)
    assert records == GOOD
    assert found(findings) == [("wrong_value", "some.parquet:2"), ("missing_column", "some.parquet:4")]


def test_another_version_is_left_out_and_its_traces_are_damaged(tmp_path: Path) -> None:
    new = {"hacheck.traces": 2}
    jsonl(
        tmp_path / "a.jsonl", *GOOD, new, record("new", 1), record("new", 2), TraceSchema().header(), record("old", 1)
    )
    schema = TraceSchema().arrow().with_metadata({b"hacheck.traces": json.dumps(new).encode()})
    pq.write_table(pa.Table.from_pylist([record("newer", 1)], schema), tmp_path / "b.parquet")
    records, findings = read_all(tmp_path)
    assert records == [*GOOD, record("old", 1)]
    assert sorted(found(findings)) == [("version", "a.jsonl:3"), ("version", "b.parquet")]
    assert findings.quarantined == 3
    assert set(findings.damaged) == {"new", "newer"}


def test_trace_in_two_incompatible_files_is_damaged(tmp_path: Path) -> None:
    jsonl(tmp_path / "a.jsonl", *GOOD, record("both", 1, fields={"x": 1}))
    parquet(
        tmp_path / "b.parquet",
        [record("both", 2, fields={"x": "one"}), record("other", 1)],
        TraceSchema((("x", FieldType.STRING),)),
    )
    jsonl(tmp_path / "c.jsonl", {"hacheck.traces": 1, "order": "total"}, record("both", 3), record("third", 1))
    records, findings = read_all(tmp_path)
    assert records == [record("both", 1, fields={"x": 1}), *GOOD]
    assert found(findings) == [("incompatible", "b.parquet"), ("incompatible", "c.jsonl")]
    assert set(findings.damaged) == {"both", "other", "third"}
    assert findings.quarantined == 4


def test_trace_numbered_anew_in_a_second_file_is_damaged(tmp_path: Path) -> None:
    jsonl(tmp_path / "a.jsonl", *GOOD)
    jsonl(tmp_path / "b.jsonl", record("good", 1, node="b"))
    records, findings = read_all(tmp_path)
    assert records == GOOD
    assert found(findings) == [("duplicate_seq", "b.jsonl:1")]
    assert "a.jsonl:1, too" in findings.first[0].message


def test_packed_file_that_is_cut_off_is_told(tmp_path: Path) -> None:
    rows = [record(f"t{at:05}", 1) for at in range(20_000)]
    data = gzip.compress(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    place = tmp_path / "many.jsonl.gz"
    place.write_bytes(data)
    assert read_all(place)[0] == rows
    place.write_bytes(data[: len(data) // 2])
    _, findings = read_all(place)
    assert {kind for kind, _ in found(findings)} <= {"unreadable", "truncated"}
    assert findings.total


@pytest.mark.parametrize(
    ("name", "told"),
    [("none", "no such file or folder"), ("folder", "no traces in this folder"), ("a.txt", "not a .jsonl or .parquet")],
)
def test_place_without_traces_is_an_error(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "_hidden.jsonl").write_text("{}\n")
    (tmp_path / "a.txt").write_text("hello")
    with pytest.raises(TracesError, match=told):
        open_traces(tmp_path / name, Findings())


def test_findings_beyond_those_shown_are_counted_and_written(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "a.jsonl", *["bad"] * 250)
    with (tmp_path / "quarantine.jsonl").open("w") as stream:
        findings = Findings(stream)
        for _ in open_traces(place, findings).batches(findings):
            pass
    assert findings.counts[Kind.NOT_JSON] == 250
    assert len(findings.first) == 100
    lines = [json.loads(line) for line in (tmp_path / "quarantine.jsonl").read_text().splitlines()]
    assert [line["line"] for line in lines] == list(range(1, 251))
    assert lines[0]["text"] == "bad"


def test_orders_go_together_only_with_their_like(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "a.jsonl", TraceSchema(order=Order.TOTAL).header(), *GOOD)
    assert open_traces(place, Findings()).schema.order is Order.TOTAL


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_that_may_not_be_read_is_told(tmp_path: Path) -> None:
    jsonl(tmp_path / "good.jsonl", *GOOD)
    jsonl(tmp_path / "other.jsonl", *GOOD).chmod(0)
    records, findings = read_all(tmp_path)
    assert records == GOOD
    assert ("unreadable", "other.jsonl:1") in found(findings)


def test_files_whose_names_are_no_text_are_read_or_told(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/n\xffight"))
    folder.mkdir()
    jsonl(folder / "good.jsonl", *GOOD)
    parquet(tmp_path / "a.parquet", [record("lost", 1)]).rename(folder / "a.parquet")
    records, findings = read_all(tmp_path)
    assert records == GOOD
    assert found(findings) == [("unreadable", "n\\xffight/a.parquet")]


def test_field_with_half_a_character_in_its_name_is_no_field(tmp_path: Path) -> None:
    place = jsonl(tmp_path / "some.jsonl", GOOD[0], record("bad", 1, fields={"\ud800": 1}), GOOD[1])
    records, findings = read_all(place)
    assert records == GOOD
    assert found(findings) == [("extra_column", f"{place}:2")]


def test_header_with_half_a_character_in_a_name_is_refused(tmp_path: Path) -> None:
    header = {"hacheck.traces": 1, "fields": {"\udfff": "int"}}
    place = jsonl(tmp_path / "some.jsonl", header, *GOOD)
    _, findings = read_all(place)
    assert ("header", f"{place}:1") in found(findings)


def test_parquet_with_a_column_that_is_no_utf8_is_unreadable(tmp_path: Path) -> None:
    place = parquet(tmp_path / "some.parquet", GOOD)
    content = place.read_bytes()
    assert content.count(b"message") > 1
    place.write_bytes(content.replace(b"message", b"mess\xffge"))
    records, findings = read_all(place)
    assert records == []
    assert {one.kind for one in findings.first} <= {Kind.UNREADABLE, Kind.EXTRA_COLUMN}
    assert findings.total
