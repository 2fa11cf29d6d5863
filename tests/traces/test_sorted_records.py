"""Records come out sorted, however many there are, and whatever goes wrong on the way is what is told."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hacheck.traces.dataset import open_traces
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.record_checks import checked_batches
from hacheck.traces.records import STANDARD, TraceSchema
from hacheck.traces.sorted_records import sorted_by
from tests.traces.sample_files import found, jsonl, read_all, record

SCHEMA = pa.schema([("trace_id", pa.string()), ("seq", pa.int64()), ("text", pa.string())])


def shuffled(rows: int, width: int = 200) -> Iterator[Any]:
    """Batches of rows in no order; each text is as long as said."""
    rng = np.random.default_rng(7)
    for _ in range(rows // 10_000):
        keys = rng.integers(0, 1 << 40, 10_000)
        texts = pa.array([f"{key:0{width}}" for key in keys])
        yield pa.RecordBatch.from_arrays(
            [pa.array([f"t{key % 97}" for key in keys]), pa.array(keys), texts], schema=SCHEMA
        )


def test_what_memory_does_not_hold_is_sorted_all_the_same(tmp_path: Path) -> None:
    last: tuple[str, int] = ("", 0)
    rows = 0
    batches = shuffled(200_000, 1_500)  # 300 MB of text
    for batch in sorted_by(batches, SCHEMA, ("trace_id", "seq"), memory_bytes=200 << 20, scratch=tmp_path):
        keys = list(zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True))
        assert [last, *keys] == sorted([last, *keys])
        last, rows = keys[-1], rows + batch.num_rows
    assert rows == 200_000
    assert list(tmp_path.iterdir()) == []


def test_too_little_room_is_told(tmp_path: Path) -> None:
    with pytest.raises(TracesError, match="sorting ran out of room"):
        for _ in sorted_by(shuffled(400_000), SCHEMA, ("seq",), memory_bytes=1 << 20, scratch=tmp_path):
            pass


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (duckdb.InterruptException("INTERRUPT Error: Interrupted!"), KeyboardInterrupt),
        (RuntimeError("Query interrupted"), KeyboardInterrupt),  # of some two in forty: it was waiting for a thread
        (RuntimeError("something else"), RuntimeError),
    ],
)
def test_ctrl_c_while_it_sorts_is_one(
    error: Exception, raised: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = MagicMock()
    connection.__enter__.return_value.sql.side_effect = error
    monkeypatch.setattr(duckdb, "connect", lambda *_, **__: connection)
    with pytest.raises(raised):
        next(sorted_by(shuffled(10_000), SCHEMA, ("seq",)))


def test_error_of_the_reader_is_the_one_that_is_raised() -> None:
    def broken() -> Iterator[Any]:
        yield next(shuffled(10_000))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(sorted_by(broken(), SCHEMA, ("seq",)))


def test_traces_over_many_batches_are_checked_as_one(tmp_path: Path) -> None:
    rows = 200_000
    numbers = np.arange(1, rows + 1)
    times = numbers * 1_000
    numbers[150_000:] += 1  # a number is missing
    times[131_072] = times[131_071 - 2] - 1  # the first record of a later batch: its node's clock goes back
    nodes = pa.array([("a", "b", "c")[at % 3] for at in range(rows)])
    columns = {"trace_id": pa.array(["t"] * rows), "node": nodes, "seq": pa.array(numbers), "time": pa.array(times)}
    columns["event"] = pa.array(["tick"] * rows)
    table = pa.table(columns).select(["trace_id", "node", "seq", "time", "event"])
    order = list(range(rows))
    random.Random(3).shuffle(order)
    pq.write_table(table.take(pa.array(order)), tmp_path / "long.parquet")
    findings = Findings()
    seen = 0
    for batch in checked_batches(open_traces(tmp_path, findings), findings):
        assert batch.schema == TraceSchema().arrow()
        assert batch.column(2).to_pylist() == numbers[seen : seen + batch.num_rows].tolist()
        seen += batch.num_rows
    assert seen == rows
    assert sorted(found(findings)) == sorted(
        [
            ("missing_seq", f"long.parquet:{order.index(150_000) + 1}"),
            ("time_backwards", f"long.parquet:{order.index(131_072) + 1}"),
        ]
    )


def test_names_are_sorted_as_text_whatever_their_characters(tmp_path: Path) -> None:
    names = ["b", "B", "ä", "a", "a b", "\u20ac", "\U0001f600", "Z", "1", "10", "2"]
    place = jsonl(tmp_path / "a.jsonl", *[record(name, 1) for name in names])
    assert [row["trace_id"] for row in read_all(place)[0]] == sorted(names)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="how much memory was used is read from there")
def test_a_trace_larger_than_memory_is_read_in_bounded_memory(tmp_path: Path) -> None:
    rows = 800_000
    part = 100_000
    constant = {name: pa.array([name] * part) for name in ("trace_id", "node", "event")}
    with pq.ParquetWriter(tmp_path / "long.parquet", TraceSchema().arrow()) as writer:
        for start in range(0, rows, part):
            numbers = np.arange(start + 1, start + part + 1)
            changing = {"seq": numbers, "time": numbers, "message": pa.array([f"{seq:0600}" for seq in numbers])}
            columns = {name: pa.nulls(part, kind) for name, kind in STANDARD} | constant | changing
            table = pa.table({name: columns[name] for name in TraceSchema().arrow().names}, TraceSchema().arrow())
            writer.write_table(table, row_group_size=10_000)
    code = (
        "import re, sys; from pathlib import Path\n"
        "from hacheck.traces.record_checks import checked_batches\n"
        "from hacheck.traces.dataset import open_traces\n"
        "from hacheck.traces.findings import Findings\n"
        "findings = Findings()\n"
        "traces = open_traces(Path(sys.argv[1]), findings)\n"
        "rows = sum(batch.num_rows for batch in checked_batches(traces, findings, memory_bytes=200 << 20))\n"
        "peak = re.search(r'VmHWM:\\s+(\\d+) kB', Path('/proc/self/status').read_text())\n"
        "print(rows, findings.total, int(peak[1]) // 1024)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True)
    assert ended.stderr == ""
    count, findings, mebibytes = map(int, ended.stdout.split())
    assert (count, findings) == (rows, 0)
    assert mebibytes < 900  # and some 1,100 where nothing goes to disk
