"""Writes traces: a file of JSON lines or Parquet, or a clustered folder of Parquet files with its manifest.

What is written appears under its name only when it is complete.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow.compute as pc

from hacheck.atomic_files import beside, replacing
from hacheck.traces import manifest
from hacheck.traces.findings import TracesError
from hacheck.traces.records import FIELDS, TRACE_ID, TraceSchema

PART_RECORDS = 2_000_000
"""A file of a clustered folder is closed at the end of the trace with which it has so many records."""

JSON_ENDINGS = (".jsonl", ".ndjson", ".json")


class Writer(Protocol):
    """Something that takes batches with the columns of the schema."""

    def write(self, batch: Any) -> None:
        """Writes the records of a batch."""
        ...


class _JsonLines:
    def __init__(self, path: Path, schema: TraceSchema) -> None:
        self._stream = path.open("w", encoding="utf-8")
        self._stream.write(json.dumps(schema.header()) + "\n")

    def write(self, batch: Any) -> None:
        lines = [json.dumps(_known(row), ensure_ascii=False) + "\n" for row in batch.to_pylist()]
        self._stream.write("".join(lines))

    def close(self) -> None:
        self._stream.close()


class _Parquet:
    def __init__(self, path: Path, schema: TraceSchema) -> None:
        import pyarrow.parquet as pq

        self._writer = pq.ParquetWriter(path, schema.arrow(), compression="zstd")
        self._schema = schema.arrow()

    def write(self, batch: Any) -> None:
        self._writer.write_batch(batch.cast(self._schema))

    def close(self) -> None:
        self._writer.close()


def _known(row: dict[str, Any]) -> dict[str, Any]:
    """A record without what is null."""
    known = {name: value for name, value in row.items() if value is not None}
    if FIELDS in known:
        known[FIELDS] = {name: value for name, value in known[FIELDS].items() if value is not None}
    return known


@contextmanager
def writing(path: Path, schema: TraceSchema) -> Iterator[Writer]:
    """A writer into a file, in the format of its ending. The file is there when the block is over, and not before; if
    the block fails, what was there stays.

    Errors: `TracesError` when it cannot be written.
    """
    if not path.name.endswith((*JSON_ENDINGS, ".parquet")):
        raise TracesError(f"{path}: written are .jsonl and .parquet files", "end the name with one of these")
    if path.is_dir():
        raise TracesError(f"{path}: is a folder", "give the name of a file")
    try:
        with replacing(path) as own:
            writer = _Parquet(own, schema) if path.name.endswith(".parquet") else _JsonLines(own, schema)
            try:
                yield writer
            finally:
                writer.close()
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> TracesError:
    return TracesError(f"{path}: cannot be written: {error.strerror or error}")


def write_clustered(
    batches: Iterable[Any], folder: Path, schema: TraceSchema, *, part_records: int = PART_RECORDS
) -> tuple[manifest.Part, ...]:
    """Writes batches that are sorted by (trace_id, seq) as a clustered folder, which must not be there yet, or be
    empty. Returns its parts.

    Errors: `TracesError` when it cannot be written.
    """
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise TracesError(f"{folder}: is there already, and not empty", "give a new folder")
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from None
    own = beside(folder)
    try:
        own.mkdir()
        parts = _Parts(own, schema, part_records)
        try:
            for batch in batches:
                parts.write(batch)
        finally:
            parts.close()
        content = manifest.to_json(parts.done, schema.header())
        (own / manifest.NAME).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        if folder.exists():
            folder.rmdir()
        os.replace(own, folder)
        return tuple(parts.done)
    except OSError as error:
        raise _unwritable(folder, error) from None
    finally:
        shutil.rmtree(own, ignore_errors=True)


class _Parts:
    """The files of a clustered folder, one after the other."""

    def __init__(self, folder: Path, schema: TraceSchema, part_records: int) -> None:
        self._folder = folder
        self._schema = schema
        self._part_records = part_records
        self.done: list[manifest.Part] = []
        self._open: _Parquet | None = None
        self._name = ""
        self._records = self._traces = 0
        self._first = self._last = ""

    def write(self, batch: Any) -> None:
        """Writes a batch, into the next file from where a trace begins and the open file has enough."""
        traces = batch.column(TRACE_ID)
        changes = np.ones(batch.num_rows, bool)
        if batch.num_rows > 1:
            changes[1:] = pc.not_equal(traces.slice(1), traces.slice(0, batch.num_rows - 1)).to_numpy(
                zero_copy_only=False
            )
        starts = np.flatnonzero(changes).tolist()
        begin = 0
        for start in starts:
            new = traces[start].as_py() != self._last if start == 0 else True
            filled = start - begin + (self._records if self._open is not None else 0)
            if new and filled >= self._part_records:
                self._write(batch.slice(begin, start - begin))
                self._close_part()
                begin = start
        self._write(batch.slice(begin))

    def _write(self, batch: Any) -> None:
        if not batch.num_rows:
            return
        traces = batch.column(TRACE_ID)
        first, last = traces[0].as_py(), traces[batch.num_rows - 1].as_py()
        if self._open is None:
            self._name = f"part-{len(self.done):05}.parquet"
            self._open = _Parquet(self._folder / self._name, self._schema)
            self._records = self._traces = 0
            self._first, self._last = first, ""
        self._traces += pc.count_distinct(traces).as_py() - (first == self._last)
        self._records += batch.num_rows
        self._last = last
        self._open.write(batch)

    def _close_part(self) -> None:
        if self._open is None:
            return
        self._open.close()
        self._open = None
        size = (self._folder / self._name).stat().st_size
        part = manifest.Part(self._name, self._records, self._traces, self._first, self._last, size)
        self.done.append(part)

    def close(self) -> None:
        """Ends the last file."""
        self._close_part()
