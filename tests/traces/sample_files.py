"""Traces for tests: records as dictionaries, written as a file of either kind."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hacheck.traces.dataset import open_traces
from hacheck.traces.findings import Findings
from hacheck.traces.record_checks import Expected, checked_batches
from hacheck.traces.records import TraceSchema

Record = dict[str, Any]

SECOND = 1_000_000_000
NOON = 1_795_176_000 * SECOND


def record(trace_id: str, seq: int, event: str = "tick", node: str = "a", **more: Any) -> Record:
    """A record at `seq` seconds past some noon."""
    return {"trace_id": trace_id, "node": node, "seq": seq, "time": NOON + seq * SECOND, "event": event, **more}


def jsonl(path: Path, *lines: Record | str | bytes) -> Path:
    """Writes lines: objects as JSON, texts as they are."""
    rows = [line if isinstance(line, str | bytes) else json.dumps(line) for line in lines]
    path.write_bytes(b"".join((row.encode() if isinstance(row, str) else row) + b"\n" for row in rows))
    return path


def parquet(path: Path, records: Iterable[Record], schema: TraceSchema | None = None) -> Path:
    """Writes records as a Parquet file."""
    pq.write_table(pa.Table.from_pylist(list(records), (schema or TraceSchema()).arrow()), path)
    return path


def read_all(place: Path, expected: Expected | None = None) -> tuple[list[Record], Findings]:
    """All good records of a place in sorted order, without what is null, and what is wrong with the others."""
    findings = Findings()
    batches = checked_batches(open_traces(place, findings), findings, expected)
    return [_known(row) for batch in batches for row in batch.to_pylist()], findings


def _known(row: Record) -> Record:
    return {
        name: _known(value) if isinstance(value, dict) else value for name, value in row.items() if value is not None
    }


def found(findings: Findings) -> list[tuple[str, str]]:
    """Kind and place of each finding, in the order in which they were found."""
    return [(finding.kind.value, finding.place) for finding in findings.first]
