"""Reads traces from Parquet files, in bounded memory; a file that is half written or has other columns is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hacheck.traces.findings import Finding, Findings, Kind
from hacheck.traces.json_lines import sound
from hacheck.traces.json_records import problem_of
from hacheck.traces.records import FIELDS, TRACE_ID, SchemaError, TraceSchema, fields_type, from_arrow
from hacheck.traces.text_blocks import unreadable

BATCH_ROWS = 65_536
"""So many records are in a batch."""

BATCH_BYTES = 8 << 20
"""About so many bytes, as they are stored, are in a batch."""

DAMAGE = (OSError, pa.ArrowException, UnicodeDecodeError)
"""What is raised where a file cannot be read: names of columns that are no UTF-8 are decoded without Arrow noticing."""

MAGIC = b"PAR1"
"""What a Parquet file begins and ends with."""


def schema_of(path: Path, name: str) -> TraceSchema:
    """The schema of a file. Errors: `SchemaError`; those of `DAMAGE` where it cannot be read."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return from_arrow(file.schema_arrow)


def refused(path: Path, name: str, error: Exception) -> Finding:
    """The finding that a file is left out as a whole: it is half written, damaged, or does not fit the schema."""
    rows = rows_of(path)
    if isinstance(error, SchemaError):
        kind, _ = error.problems[0]
        return Finding(Kind(kind), f"{error}; the file is left out", name, records=rows)
    try:
        with path.open("rb") as stream:
            head = stream.read(4)
            stream.seek(-min(4, path.stat().st_size), 2)
            half = head == MAGIC and stream.read(4) != MAGIC
    except OSError as reason:
        return unreadable(name, reason)
    if half:
        message = "half written: a Parquet file without its end, which is written last; the file is left out"
        return Finding(Kind.TRUNCATED, message, name, records=0)
    found = unreadable(name, error)
    return Finding(found.kind, f"{found.message}; the file is left out", name, records=rows)


def rows_of(path: Path) -> int:
    """How many rows a file has; 0 where that cannot be read."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            return int(file.metadata.num_rows)
    except DAMAGE:
        return 0


def _rest(path: Path, row: int) -> int:
    return max(rows_of(path) - row + 1, 0)


def trace_ids_of(path: Path) -> Iterator[str]:
    """The traces that have records in a file that is left out, as far as it says."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            if TRACE_ID in file.schema_arrow.names:
                for batch in file.iter_batches(BATCH_ROWS, columns=[TRACE_ID]):
                    yield from (str(value) for value in pc.unique(batch.column(0)).to_pylist() if value is not None)
    except DAMAGE:  # then it is unknown
        return


def read(path: Path, name: str, schema: TraceSchema, findings: Findings) -> Iterator[tuple[Any, Any]]:
    """The records of a file, in its order: pairs of a batch with the columns of `schema.arrow()` and the numbers of
    its rows, from 1. What is no record is a finding."""
    import pyarrow.parquet as pq

    row = 1
    try:
        with pq.ParquetFile(path) as file:
            if not file.metadata.num_rows:
                findings.add(Finding(Kind.EMPTY, "no record in it", name))
            for stored in file.iter_batches(_batch_rows(file.metadata)):
                stored.validate(full=True)  # text that is no UTF-8 would be taken for granted further on
                batch = conformed(stored, schema)
                numbers = pa.array(range(row, row + batch.num_rows), pa.int64())
                row += batch.num_rows
                if not sound(batch):
                    batch, numbers = _sorted_out(batch, numbers, name, schema, findings)
                if batch.num_rows:
                    yield batch, numbers
    except DAMAGE as error:
        found = unreadable(name, error, row)
        findings.add(Finding(found.kind, f"{found.message}; the rest is left out", name, row, records=_rest(path, row)))


def _batch_rows(metadata: Any) -> int:
    """How many rows to read at a time: fewer where rows are wide."""
    size: int = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    rows = int(metadata.num_rows)
    return max(1_024, min(BATCH_ROWS, BATCH_BYTES * rows // max(size, 1)))


def conformed(batch: Any, schema: TraceSchema) -> Any:
    """A batch with the columns of the schema, in its order and its types; columns and fields that it lacks are null.

    Errors: `pa.ArrowInvalid` where a number does not fit.
    """
    columns = []
    for column in schema.arrow():
        if column.name not in batch.schema.names:
            columns.append(pa.nulls(batch.num_rows, column.type))
        elif column.name == FIELDS:
            columns.append(_fields(batch.column(FIELDS), schema))
        else:
            columns.append(_plain(batch.column(column.name), column.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema.arrow())


def _fields(stored: Any, schema: TraceSchema) -> Any:
    """The struct of fields with all fields of the schema."""
    wanted = fields_type(schema.fields)
    if stored.type == wanted:
        return stored
    flat = dict(zip([item.name for item in stored.type], stored.flatten(), strict=True))  # null where the struct is
    values = [
        _plain(flat[item.name], item.type) if item.name in flat else pa.nulls(len(stored), item.type) for item in wanted
    ]
    return pa.StructArray.from_arrays(values, fields=list(wanted), mask=stored.is_null())


def _plain(values: Any, kind: Any) -> Any:
    """Values of one column in the type it has in the schema."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return values if values.type == kind else values.cast(kind)


def _sorted_out(batch: Any, numbers: Any, name: str, schema: TraceSchema, findings: Findings) -> tuple[Any, Any]:
    """The good records of a batch with bad ones, which are findings."""
    fields = dict(schema.fields)
    good = []
    for record, number in zip(batch.to_pylist(), numbers.to_pylist(), strict=True):
        problem = problem_of(record, fields)
        good.append(problem is None)
        if problem is not None:
            findings.add(Finding(problem.kind, problem.message, name, number, problem.trace_id))
    mask = pa.array(good)
    return batch.filter(mask), numbers.filter(mask)
