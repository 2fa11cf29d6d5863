"""Puts records in order in bounded memory: scattered over buckets on disk by trace, then one bucket after the other.

All records of a trace are in one bucket. A bucket is sorted in memory by codes and numbers, which is several times
cheaper than sorting words; one that does not fit, because a single trace is that large, is sorted by DuckDB, which goes
on to disk.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hacheck.traces.dataset import ROW, SOURCE
from hacheck.traces.drivers.columns import Columns
from hacheck.traces.drivers.record_batches import in_batches, plain
from hacheck.traces.findings import TracesError
from hacheck.traces.parquet_files import BATCH_ROWS
from hacheck.traces.records import SEQ, TRACE_ID
from hacheck.traces.sorted_records import sorted_by

WORDS_MAX = 4096
"""A piece of a bucket that has more different words than this in a column has codes of its own for them."""


SORTING_BYTES = 64 << 20
"""Sorting on disk does not begin with less memory than this."""


def bucket_of(trace_id: str, buckets: int) -> int:
    """The bucket of a trace, the same in every process."""
    return zlib.crc32(trace_id.encode()) % buckets


class Scatter:
    """Writes the records that one process has read into a file for each bucket."""

    def __init__(self, folder: Path, name: str, buckets: int) -> None:
        self._folder, self._name, self._buckets = folder, name, buckets
        self._writers: dict[int, Any] = {}

    def add(self, batch: Any) -> None:
        """Scatters a batch as `record_batches.pieces` gives it. Errors: `TracesError` when the disk is full."""
        if not batch.num_rows:
            return
        codes = batch.column(TRACE_ID)
        found = [bucket_of(name, self._buckets) for name in codes.dictionary.to_pylist()]
        rows = np.array(found, np.uint16)[codes.indices.to_numpy()]
        sizes = np.bincount(rows, minlength=self._buckets)
        ordered = batch.take(pa.array(np.argsort(rows, kind="stable")))
        at = ordered.schema.get_field_index(TRACE_ID)  # each bucket has other traces, so codes would not pay
        ordered = ordered.set_column(at, TRACE_ID, ordered.column(TRACE_ID).dictionary_decode())
        ends = np.cumsum(sizes)
        try:
            for bucket in np.flatnonzero(sizes).tolist():
                self._write(bucket, ordered.slice(int(ends[bucket] - sizes[bucket]), int(sizes[bucket])))
        except OSError as error:
            raise no_room(self._folder, error) from None

    def _write(self, bucket: int, batch: Any) -> None:
        for at, column in enumerate(batch.columns):
            if pa.types.is_dictionary(column.type) and len(column.dictionary) > WORDS_MAX:
                batch = batch.set_column(at, batch.schema.field(at), column.dictionary_decode().dictionary_encode())
        writer = self._writers.get(bucket)
        if writer is None:
            writer = pa.ipc.new_stream(str(self._folder / f"{bucket}-{self._name}"), batch.schema)
            self._writers[bucket] = writer
        writer.write_batch(batch)

    def close(self) -> None:
        """Ends all files."""
        try:
            for writer in self._writers.values():
                writer.close()
        except OSError as error:
            raise no_room(self._folder, error) from None
        self._writers = {}


def in_order(folder: Path, bucket: int, columns: Columns, memory_bytes: int) -> Iterator[Any]:
    """The records of a bucket sorted by (trace_id, seq), then by place, in batches with the columns of
    `Columns.located`. Its files are removed when all has been read.

    `memory_bytes`: of this process. A bucket of a quarter of that is sorted in memory; a larger one on disk.
    Errors: `TracesError` when there is no room for sorting on disk.
    """
    paths = sorted(folder.glob(f"{bucket}-*"))
    if sum(path.stat().st_size for path in paths) <= memory_bytes // 4:
        yield from _sorted_in_memory(paths, columns)
    else:
        order = (TRACE_ID, SEQ, SOURCE, ROW)
        memory = max(memory_bytes, SORTING_BYTES)
        yield from sorted_by(_stored(paths, columns), columns.located, order, memory_bytes=memory, scratch=folder)
    for path in paths:
        path.unlink()


def _stored(paths: list[Path], columns: Columns) -> Iterator[Any]:
    for path in paths:
        with pa.memory_map(str(path)) as content, pa.ipc.open_stream(content) as stream:
            for batch in stream:
                yield from in_batches(batch, columns)


def _sorted_in_memory(paths: list[Path], columns: Columns) -> Iterator[Any]:
    found = []
    for path in paths:
        with pa.memory_map(str(path)) as content, pa.ipc.open_stream(content) as stream:
            found += list(stream)
    if not found:
        return
    table = pa.Table.from_batches(found).unify_dictionaries().combine_chunks()
    if not table.num_rows:
        return
    [batch] = table.to_batches()
    codes = batch.column(TRACE_ID).dictionary_encode()
    order = order_of(codes, batch)
    batch = batch.set_column(batch.schema.get_field_index(TRACE_ID), TRACE_ID, codes)
    for start in range(0, len(order), BATCH_ROWS):
        yield plain(batch.take(pa.array(order[start : start + BATCH_ROWS])), columns)


def order_of(codes: Any, batch: Any) -> Any:
    """The numbers of the rows in the order of traces (bytewise), numbers, places."""
    ranks = np.empty(len(codes.dictionary), np.int64)
    ranks[pc.array_sort_indices(codes.dictionary).to_numpy()] = np.arange(len(ranks))
    traces = ranks[codes.indices.to_numpy()]
    numbers = batch.column(SEQ).to_numpy()
    bits = int(numbers.max()).bit_length()
    if bits + len(ranks).bit_length() < 64:
        keys = traces << bits | numbers
        order = np.argsort(keys)
        sorted_keys = keys[order]
        if (sorted_keys[1:] != sorted_keys[:-1]).all():
            return order
    places = (batch.column(ROW).to_numpy(), batch.column(SOURCE).to_numpy())
    return np.lexsort((*places, numbers, traces))


def no_room(folder: Path, error: OSError) -> TracesError:
    """The error that records cannot be kept on disk meanwhile."""
    hint = "give a folder with more space: TMPDIR=/some/where"
    return TracesError(f"{folder}: records cannot be kept there: {error.strerror or error}", hint)
