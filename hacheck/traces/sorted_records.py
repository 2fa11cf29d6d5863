"""Puts records in the order in which they are checked: one trace after another, each by its numbers.

DuckDB sorts, because it goes on to disk where memory ends.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from hacheck.supervise.resources import usable_cores
from hacheck.traces.dataset import ROW, SOURCE, Located, located_schema
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.parquet_files import BATCH_ROWS
from hacheck.traces.records import SEQ, TRACE_ID

MEMORY_BYTES = 1 << 30
"""So much memory sorting takes before it goes on to disk."""

THREAD_BYTES = 1 << 28
"""For so much of it there is one thread: each keeps a run of 122,880 records in memory, whatever their size."""

INTERRUPTED = "Query interrupted"
"""What a `RuntimeError` of DuckDB says where Ctrl-C comes while Python waits for it, and not for its next batch."""


def sorted_batches(
    dataset: Located,
    findings: Findings,
    *,
    memory_bytes: int = MEMORY_BYTES,
    scratch: Path | None = None,
) -> Iterator[Any]:
    """All records of a dataset sorted by (trace_id, seq), then by where they stand, in batches with the columns of
    `Dataset.located`. `scratch`: where what memory does not hold is kept meanwhile.

    Errors: `TracesError` when that place is full.
    """
    if dataset.in_order:
        yield from dataset.located(findings)
        return
    schema = located_schema(dataset.schema)
    records = dataset.located(findings)
    yield from sorted_by(records, schema, (TRACE_ID, SEQ, SOURCE, ROW), memory_bytes=memory_bytes, scratch=scratch)


class _Kept:
    """Batches on their way through a library that hides what went wrong with them: it is kept here."""

    def __init__(self, batches: Iterator[Any]) -> None:
        self._batches = batches
        self.error: BaseException | None = None

    def batches(self) -> Iterator[Any]:
        """The batches."""
        try:
            yield from self._batches
        except BaseException as error:
            self.error = error
            raise


def sorted_by(
    batches: Iterator[Any],
    schema: Any,
    columns: tuple[str, ...],
    *,
    memory_bytes: int = MEMORY_BYTES,
    scratch: Path | None = None,
) -> Iterator[Any]:
    """Batches of one schema sorted by some columns, in bytewise order of strings, in batches of the same schema."""
    import duckdb  # most records are sorted in memory

    kept = _Kept(batches)
    records = pa.RecordBatchReader.from_batches(schema, kept.batches())
    cores = usable_cores()
    with tempfile.TemporaryDirectory(prefix="hacheck-sort-", dir=scratch) as folder:
        settings: dict[str, Any] = {
            "memory_limit": f"{memory_bytes}B",
            "temp_directory": folder,
            "threads": max(1, min(cores, memory_bytes // THREAD_BYTES)),
            "preserve_insertion_order": False,
        }
        with duckdb.connect(":memory:", config=settings) as connection:
            try:
                connection.execute("SET enable_progress_bar = false")  # it would be drawn on standard output
                connection.register("records", records)
                order = ", ".join(f'"{column}"' for column in columns)
                found = connection.sql(f"SELECT * FROM records ORDER BY {order}")
                for batch in found.to_arrow_reader(BATCH_ROWS):
                    yield batch.cast(schema)
            except (duckdb.Error, RuntimeError) as error:
                if kept.error is not None:
                    raise kept.error from None
                raise _as_error(error) from None


def _as_error(error: Exception) -> BaseException:
    """What an error of the sorting means to its caller."""
    import duckdb

    if isinstance(error, duckdb.InterruptException) or str(error) == INTERRUPTED:
        return KeyboardInterrupt()
    if isinstance(error, duckdb.OutOfMemoryException | duckdb.IOException):
        reason = str(error).splitlines()[0]
        return TracesError(f"sorting ran out of room: {reason}", "give a folder with more space: TMPDIR=/some/where")
    return error
