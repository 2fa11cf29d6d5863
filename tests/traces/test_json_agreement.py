"""The fast way and the slow way to read JSON lines accept the same records, and read the same from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hacheck.traces import json_lines
from hacheck.traces.findings import Findings
from hacheck.traces.records import FieldType, TraceSchema

SCHEMA = TraceSchema((("n", FieldType.INT), ("x", FieldType.FLOAT), ("l", FieldType.INTS), ("b", FieldType.BOOL)))

TEXTS = st.sampled_from(["", "a", "ä", "2020-01-01", "\u0000", "\ud800", "null", "1"]) | st.text(max_size=3)
NUMBERS = st.sampled_from([0, 1, -1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 1.0, 1.5, 1e300, 1e3, -0.0])
VALUES = st.none() | st.booleans() | TEXTS | NUMBERS | st.lists(st.none() | NUMBERS | TEXTS, max_size=2)
FIELDS = st.dictionaries(st.sampled_from(["n", "x", "l", "b", "n", "x", "other"]), VALUES, max_size=4)
GOOD = {"trace_id": "t", "node": "a", "seq": 1, "event": "e"}
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "trace_id": VALUES,
        "node": TEXTS,
        "seq": VALUES,
        "time": NUMBERS | st.none(),
        "event": VALUES,
        "message": VALUES,
        "causes": VALUES,
        "file": TEXTS,
        "line": NUMBERS,
        "fields": FIELDS | VALUES,
        "more": VALUES,
    },
)


def read(path: Path, lines: list[str]) -> tuple[list[dict[str, Any]], int]:
    """The records that a file of lines holds, and how many lines were left out."""
    path.write_bytes(b"".join(line.encode("utf-8", "surrogatepass") + b"\n" for line in lines))
    findings = Findings()
    batches = json_lines.read(path, "some", SCHEMA, findings)
    return [row for batch, _ in batches for row in batch.to_pylist()], findings.quarantined


@given(changes=CHANGES, escaped=st.booleans())
def test_line_is_read_alike_alone_and_beside_a_bad_one(
    tmp_path_factory: Any, changes: dict[str, Any], escaped: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "agreement.jsonl"
    line = json.dumps(GOOD | changes, ensure_ascii=escaped)
    fast, left_out_fast = read(path, [line])
    slow, left_out_slow = read(path, [line, "{"])  # the bad line makes the whole block go the slow way
    assert fast == slow
    assert left_out_slow == left_out_fast + 1


@pytest.mark.parametrize(
    "value",
    [
        "1e400",
        "-1e400",
        "1.7e308",
        "12345678901234567890123",
        "9007199254740993",
        "-0",
        "1E2",
        "5e-400",
        "1.",
        ".5",
        "01",
    ],
)
def test_number_is_read_alike_however_it_is_written(tmp_path: Path, value: str) -> None:
    line = json.dumps(GOOD | {"fields": {"x": "here"}}).replace('"here"', value)
    fast, left_out = read(tmp_path / "some.jsonl", [line])
    assert read(tmp_path / "some.jsonl", [line, "{"]) == (fast, left_out + 1)
    assert len(fast) + left_out == 1


@given(lines=st.lists(st.sampled_from(['{"trace_id":"t",', '"node":"a","seq":1,', '"event":"e"}', "{}", "", " "])))
def test_record_that_is_spread_over_lines_is_none(tmp_path_factory: Any, lines: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "spread.jsonl"
    records, left_out = read(path, lines)
    assert records == []
    assert left_out == sum(bool(line.strip()) for line in lines)


def test_good_blocks_go_the_fast_way(tmp_path: Path) -> None:
    reader = json_lines._Reader("some", SCHEMA, Findings())
    fields = {"n": 1, "x": 0.5, "l": [1, 2], "b": True}
    data = "".join(json.dumps(GOOD | {"seq": seq, "fields": fields}) + "\n" for seq in range(1, 100)).encode()
    table = reader._at_once(data)
    assert table is not None
    assert table.num_rows == 99
    assert table.to_pylist()[0]["fields"] == fields
