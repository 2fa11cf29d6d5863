"""Records come out of a bucket in the same order, sorted in memory or on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hacheck.traces.dataset import open_traces
from hacheck.traces.drivers.buckets import Scatter, bucket_of, in_order
from hacheck.traces.drivers.columns import Columns, pruned
from hacheck.traces.drivers.record_batches import pieces, units
from hacheck.traces.findings import Findings
from tests.traces.sample_files import parquet, record


def scattered(folder: Path, buckets: int) -> Columns:
    """Writes records with many names, some of them twice, into buckets below `folder`."""
    rows = [record(f"t{n * 7 % 5000}", n % 3 + 1, f"event {n}", node=f"é{n % 9}") for n in range(12_000)]
    parquet(folder / "a.parquet", rows[:5000])
    parquet(folder / "b.parquet", rows[5000:])
    findings = Findings()
    dataset = open_traces(folder, findings)
    columns = pruned(dataset.schema, ("trace_id", "seq", "event"))
    own = folder / "buckets"
    own.mkdir()
    scatter = Scatter(own, "1", buckets)
    for unit in units(dataset):
        for piece in pieces(dataset, unit, columns, findings):
            scatter.add(piece)
    scatter.close()
    assert findings.total == 0
    return columns


@pytest.mark.parametrize("memory_bytes", [1, 1 << 30])
def test_bucket_is_in_order_and_nothing_is_lost(tmp_path: Path, memory_bytes: int) -> None:
    columns = scattered(tmp_path, 3)
    found: list[dict[str, Any]] = []
    for bucket in range(3):
        batches = list(in_order(tmp_path / "buckets", bucket, columns, memory_bytes))
        assert all(batch.schema.equals(columns.located) for batch in batches)
        rows = pa.Table.from_batches(batches).to_pylist()
        order = [(row["trace_id"].encode(), row["seq"], row["_source"], row["_row"]) for row in rows]
        assert order == sorted(order)
        assert {bucket_of(row["trace_id"], 3) for row in rows} == {bucket}
        found += rows
    assert sorted(row["event"] for row in found) == sorted(f"event {n}" for n in range(12_000))
    assert list((tmp_path / "buckets").iterdir()) == []
