"""Reads files of traces in pieces of bounded size, only the columns that are needed, words as codes.

A Parquet file is cut into runs of row groups, which several processes can read at once; anything else is read as a
whole by one of them. What is wrong with a record is said as `parquet_files` and `json_lines` say it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from hacheck.traces.dataset import ROW, SOURCE, Dataset, Located, TraceFile
from hacheck.traces.drivers.columns import Columns
from hacheck.traces.findings import Finding, Findings
from hacheck.traces.json_records import problem_of
from hacheck.traces.parquet_files import BATCH_ROWS, conformed
from hacheck.traces.records import CAUSES, EVENT, FIELDS, FILE, NODE, SEQ, TRACE_ID
from hacheck.traces.text_blocks import unreadable

PIECE_ROWS = 1 << 20
"""So many records are in a piece at most."""

PIECE_BYTES = 128 << 20
"""A piece of text, which comes in small batches, is closed when it is so large."""

CODED = (TRACE_ID, NODE, EVENT, FILE)
"""Columns with few different words, which a Parquet file stores, and we keep, as codes."""

CODE = pa.dictionary(pa.int32(), pa.string())


class Unit(Struct, frozen=True):
    """Work for one process: some row groups of a Parquet file, the first of whose rows has the number `row`; or all of
    a source (`groups` is `None`); `number`: of the file, or nothing for a source that is no file."""

    number: int | None
    groups: tuple[int, ...] | None
    row: int
    rows: int


def units(dataset: Located) -> list[Unit]:
    """All of a dataset, in units."""
    if not isinstance(dataset, Dataset):
        return [Unit(None, None, 1, 0)]
    found = []
    for number, file in enumerate(dataset.files):
        cut = row_group_runs(file) if file.parquet else None
        if cut is None:
            found.append(Unit(number, None, 1, 0))
        else:
            found += [Unit(number, groups, row, rows) for groups, row, rows in cut]
    return found


def row_group_runs(file: TraceFile) -> list[tuple[tuple[int, ...], int, int]] | None:
    """Runs of row groups of about `PIECE_ROWS` rows: groups, number of the first row, rows. `None`: not a file that can
    be cut, because it is empty or damaged; reading it as a whole says which."""
    import pyarrow.parquet as pq

    runs = []
    try:
        with pq.ParquetFile(file.path) as opened:
            sizes = [opened.metadata.row_group(number).num_rows for number in range(opened.num_row_groups)]
    except (OSError, pa.ArrowException):
        return None
    groups: list[int] = []
    row, rows = 1, 0
    for number, size in enumerate(sizes):
        if groups and rows + size > PIECE_ROWS:
            runs.append((tuple(groups), row, rows))
            row, rows, groups = row + rows, 0, []
        groups.append(number)
        rows += size
    if rows:
        runs.append((tuple(groups), row, rows))
    return runs or None


def pieces(dataset: Located, unit: Unit, columns: Columns, findings: Findings) -> Iterator[Any]:
    """The good records of a unit in batches with the columns of `Columns.located`, those of `CODED` as codes."""
    import pyarrow.parquet as pq

    if unit.groups is None:
        part = dataset
        if isinstance(dataset, Dataset) and unit.number is not None:
            part = Dataset((dataset.files[unit.number],), dataset.schema, dataset.clock_back_ns)
        yield from _gathered(_numbered(part.located(findings), unit.number), columns)
        return
    assert isinstance(dataset, Dataset), "only files are cut"
    assert unit.number is not None, "only files are cut"
    file = dataset.files[unit.number]
    row = unit.row
    try:
        stored = set(pq.read_schema(file.path).names)
        with pq.ParquetFile(file.path, read_dictionary=[name for name in CODED if name in stored]) as opened:
            wanted = [name for name in columns.stored if name.split(".")[0] in stored]
            kept = opened.iter_batches(PIECE_ROWS, row_groups=list(unit.groups), columns=wanted, use_threads=False)
            for batch in kept:
                batch.validate(full=True)  # text that is no UTF-8 would be taken for granted further on
                located = _located(_arranged(batch, columns), unit.number, row, columns)
                row += batch.num_rows
                yield located if _sound(located) else sorted_out(located, sources(dataset.files), columns, findings)
    except (OSError, pa.ArrowException) as error:
        found = unreadable(file.name, error, row)
        rest = unit.row + unit.rows - row
        message = f"{found.message}; {rest:,} records from here are left out"
        finding = Finding(found.kind, message, file.name, row, records=rest)
        findings.add(finding)
        for trace_id in _trace_ids(file, unit):
            findings.damage(trace_id, finding)


def _trace_ids(file: TraceFile, unit: Unit) -> Iterator[str]:
    """The traces that have records in row groups of which not all can be read, as far as those say."""
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file.path) as opened:
            for batch in opened.iter_batches(row_groups=list(unit.groups or ()), columns=[TRACE_ID]):
                yield from (str(name) for name in pc.unique(batch.column(0)).to_pylist() if name is not None)
    except (OSError, pa.ArrowException):  # then it is unknown
        return


def _numbered(batches: Iterator[Any], number: int | None) -> Iterator[Any]:
    """Batches of a file that was read alone, with the number that it has among all."""
    for batch in batches:
        if number:
            at = batch.schema.get_field_index(SOURCE)
            column = pa.array([number], pa.int32()).take(pa.array(bytes(batch.num_rows), pa.uint8()))
            batch = batch.set_column(at, batch.schema.field(at), column)
        yield batch


def _gathered(batches: Iterator[Any], columns: Columns) -> Iterator[Any]:
    """Small batches put together to pieces."""
    waiting: list[Any] = []
    rows = size = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= PIECE_ROWS or size >= PIECE_BYTES:
            yield _together(waiting, columns)
            waiting, rows, size = [], 0, 0
    if waiting:
        yield _together(waiting, columns)


def _together(batches: Sequence[Any], columns: Columns) -> Any:
    batch = pa.concat_batches(list(batches))
    arrays = []
    for field in columns.located:
        column = batch.column(field.name)
        if field.name == FIELDS:
            kept = [column.field(item.name) for item in field.type]
            column = pa.StructArray.from_arrays(kept, fields=list(field.type), mask=column.is_null())
        arrays.append(column.dictionary_encode() if field.name in CODED else column)
    return pa.RecordBatch.from_arrays(arrays, names=columns.located.names)


def _arranged(stored: Any, columns: Columns) -> Any:
    """A batch of a Parquet file with the columns that are wanted, those of `CODED` as codes."""
    names = stored.schema.names
    coded = [name for name in CODED if name in names and pa.types.is_dictionary(stored.schema.field(name).type)]
    others = conformed(stored.select([name for name in names if name not in coded]), columns.schema)
    arrays = []
    for field in columns.arrow:
        if field.name in coded:
            arrays.append(stored.column(field.name).cast(CODE))
        else:
            plain = others.column(field.name)
            arrays.append(plain.dictionary_encode() if field.name in CODED else plain)
    return pa.RecordBatch.from_arrays(arrays, names=list(columns.read))


def _located(batch: Any, number: int, row: int, columns: Columns) -> Any:
    source = pa.array([number], pa.int32()).take(pa.array(bytes(batch.num_rows), pa.uint8()))
    rows = pa.array(np.arange(row, row + batch.num_rows))
    return pa.RecordBatch.from_arrays([*batch.columns, source, rows], names=columns.located.names)


def _sound(batch: Any) -> bool:
    """Whether the values of a batch can be, as `json_lines.sound` says of plain ones; `False` may mean: perhaps."""
    for name in (TRACE_ID, NODE, EVENT):
        words = batch.column(name).dictionary
        if batch.column(name).null_count or words.null_count or (pc.min(pc.binary_length(words)).as_py() or 0) < 1:
            return False
    numbers = batch.column(SEQ)
    if numbers.null_count or (pc.min(numbers).as_py() or 0) < 1:
        return False
    names = batch.schema.names
    lists = [batch.column(CAUSES)] if CAUSES in names else []
    if FIELDS in names:
        fields = batch.column(FIELDS)
        lists += [fields.field(at) for at, item in enumerate(fields.type) if pa.types.is_list(item.type)]
    return all(pc.list_flatten(column).null_count == 0 for column in lists)


def sorted_out(batch: Any, files: Sequence[str], columns: Columns, findings: Findings) -> Any:
    """The good records of a batch in which some may be bad; those are findings."""
    fields = dict(columns.schema.fields)
    good = []
    for record in batch.to_pylist():
        name, row = files[record.pop(SOURCE)], record.pop(ROW)
        problem = problem_of(record, fields)
        good.append(problem is None)
        if problem is not None:
            findings.add(Finding(problem.kind, problem.message, name, row, problem.trace_id))
    return batch.filter(pa.array(good, pa.bool_()))


def in_batches(piece: Any, columns: Columns) -> Iterator[Any]:
    """A piece in batches of the usual size, with words in place of codes."""
    for start in range(0, piece.num_rows, BATCH_ROWS):
        yield plain(piece.slice(start, BATCH_ROWS), columns)


def plain(batch: Any, columns: Columns) -> Any:
    """The batch with words in place of codes."""
    arrays = [
        column.cast(field.type) if column.type != field.type else column
        for column, field in zip(batch.columns, columns.located, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=columns.located)


def sources(files: Sequence[TraceFile]) -> tuple[str, ...]:
    """How the files of a dataset are called."""
    return tuple(file.name for file in files)
