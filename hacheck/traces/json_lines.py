"""Reads traces from JSON lines: whole blocks with Arrow, and line by line where Arrow finds something wrong."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from hacheck.traces.findings import Finding, Findings, Kind, text_of
from hacheck.traces.json_records import Problem, encodable, parsed, problem_of, storable, type_of
from hacheck.traces.records import (
    CAUSES,
    EVENT,
    FIELDS,
    METADATA_KEY,
    NODE,
    REQUIRED,
    SEQ,
    STANDARD,
    TRACE_ID,
    FieldType,
    SchemaError,
    TraceSchema,
    fields_type,
    from_header,
    united,
)
from hacheck.traces.text_blocks import Block, blocks

HEADER_KEY = METADATA_KEY.decode()
PARSED_BYTES = 1 << 20
"""Arrow parses so many bytes on each core at a time."""

HEADER_MARK = b'"' + METADATA_KEY + b'"'


def schema_of(path: Path, name: str) -> TraceSchema:
    """The schema of a file: what its header says; types of fields from the values where it does not say them.

    Headers that are wrong, and lines that are none, are findings of `read`, not of this look ahead.
    """
    quiet = Findings()
    declared, closed, found = TraceSchema(), False, dict[str, FieldType]()
    for block in blocks(path, name, quiet):
        for _, line in block.lines():
            content = parsed(line) if line.strip() else Problem(Kind.EMPTY, "")
            if isinstance(content, Problem):
                continue
            if HEADER_KEY in content:
                if not closed:
                    declared, closed = _declared(content, declared)
                    closed = closed and "fields" in content
                continue
            if closed:
                return declared
            fields = content.get(FIELDS)
            for field, value in fields.items() if isinstance(fields, dict) else ():
                kind = type_of(value) if encodable(field) else None
                before = found.get(field)
                if kind is not None and (before is None or (before, kind) == (FieldType.INT, FieldType.FLOAT)):
                    found[field] = kind
    return declared if closed else TraceSchema(tuple(found.items()), declared.order)


def _declared(header: Mapping[str, Any], otherwise: TraceSchema) -> tuple[TraceSchema, bool]:
    try:
        return from_header(header), True
    except SchemaError:
        return otherwise, False


def read(path: Path, name: str, schema: TraceSchema, findings: Findings) -> Iterator[tuple[Any, Any]]:
    """The records of a file, in its order: pairs of a batch with the columns of `schema.arrow()` and the numbers of
    its lines. What is no record is a finding."""
    reader = _Reader(name, schema, findings)
    lines, before = 0, findings.total
    for block in blocks(path, name, findings):
        for batch, numbers in reader.block(block):
            lines += batch.num_rows
            yield batch, numbers
    reader.end_skipping()
    if not lines and not reader.left_out and findings.total == before:
        findings.add(Finding(Kind.EMPTY, "no record in it", name))


class _Reader:
    """Reads the blocks of one file. `skipping`: a header that was refused, until another one comes."""

    def __init__(self, name: str, schema: TraceSchema, findings: Findings) -> None:
        self._name = name
        self._schema = schema
        self._arrow = schema.arrow()
        self._fields = dict(schema.fields)
        columns = [pa.field(column, kind) for column, kind in STANDARD]
        self._arrow_schema = pa.schema([*columns, pa.field(FIELDS, fields_type(schema.fields))])
        self._findings = findings
        self._skipping: Finding | None = None
        self._skipped = 0
        self.left_out = False

    def block(self, block: Block) -> Iterator[tuple[Any, Any]]:
        """The records of a block."""
        if self._skipping is None and HEADER_MARK in block.data[:4096].split(b"\n", 1)[0]:
            yield from self._header_apart(block)
            return
        table = None
        if self._skipping is None and HEADER_MARK not in block.data:
            table = self._at_once(block.data)
        if table is not None:
            numbers = pa.array(np.arange(block.line, block.line + table.num_rows))
        else:
            table, numbers = self._line_by_line(block)
        if table.num_rows:
            batch = table.combine_chunks().to_batches()[0] if isinstance(table, pa.Table) else table
            yield batch, numbers

    def _header_apart(self, block: Block) -> Iterator[tuple[Any, Any]]:
        """A block whose first line looks like a header: that line alone, then the others."""
        first, end, others = block.data.partition(b"\n")
        table, numbers = self._line_by_line(Block(block.line, first + end, block.last and not others))
        if table.num_rows:
            yield table, numbers
        if others:
            yield from self.block(Block(block.line + 1, others, block.last))

    def _at_once(self, data: bytes) -> Any | None:
        """The records of a block in which all is well, one on each line; else nothing."""
        lines = data.count(b"\n") + (not data.endswith(b"\n"))
        if data.count(b"}\n") + data.endswith(b"}") != lines or data.count(b"\n{") + data.startswith(b"{") != lines:
            return None  # a line with more or less than one object on it
        if not _is_utf8(data):  # which Arrow takes for granted
            return None
        options = pj.ParseOptions(explicit_schema=self._arrow_schema, unexpected_field_behavior="error")
        try:
            reading = pj.ReadOptions(use_threads=True, block_size=PARSED_BYTES)
            table = pj.read_json(io.BytesIO(data), reading, options)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError):
            return None
        if table.num_rows != lines or not sound(table):
            return None
        return table.select(self._arrow.names).cast(self._arrow)

    def _line_by_line(self, block: Block) -> tuple[Any, Any]:
        """The records of a block in which something may be wrong, which is said."""
        rows, numbers = [], []
        ending = block.line + block.data.count(b"\n") if block.last and not block.complete else 0
        for number, line in block.lines():
            if not line.strip():
                continue
            content = parsed(line)
            if not isinstance(content, Problem) and HEADER_KEY in content:
                self._header(content, number)
                continue
            if self._skipping is not None:
                self._skip(content)
                continue
            problem = content if isinstance(content, Problem) else problem_of(content, self._fields)
            if problem is None:
                assert not isinstance(content, Problem), "problems of the text were taken above"
                fields = content.get(FIELDS)
                rows.append(content if fields is None else content | {FIELDS: storable(fields, self._fields)})
                numbers.append(number)
                continue
            kind, message = problem.kind, problem.message
            if number == ending and kind is Kind.NOT_JSON:
                kind, message = Kind.TRUNCATED, f"the file ends in the middle of a record: {message}"
            self.left_out = True
            self._findings.add(Finding(kind, message, self._name, number, problem.trace_id, text_of(line)))
        return pa.RecordBatch.from_pylist(rows, self._arrow), pa.array(numbers, pa.int64())

    def _header(self, content: Mapping[str, Any], number: int) -> None:
        self.end_skipping()
        try:
            united(self._schema, from_header(content))
        except SchemaError as error:
            kind, _ = error.problems[0]
            what = f"{error}; the lines below it are left out"
            self._skipping, self.left_out = Finding(Kind(kind), what, self._name, number), True

    def _skip(self, content: Mapping[str, Any] | Problem) -> None:
        """Counts a line below a header that was refused; the trace it belongs to is damaged."""
        assert self._skipping is not None, "lines are skipped below a header that was refused"
        self._skipped += 1
        trace_id = None if isinstance(content, Problem) else content.get(TRACE_ID)
        if isinstance(trace_id, str):
            self._findings.damage(trace_id, self._skipping)

    def end_skipping(self) -> None:
        """Reports the header that was refused, and how many lines were left out below it."""
        found = self._skipping
        if found is not None:
            lines = Finding(found.kind, found.message, found.file, found.line, records=self._skipped)
            self._findings.add(lines)
        self._skipping, self._skipped = None, 0


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def sound(table: Any) -> bool:
    """Whether the values of a table can be: names not empty, numbers from 1, no null where a value must be."""
    for name in REQUIRED:
        if table[name].null_count:
            return False
    for name in (TRACE_ID, NODE, EVENT):
        if pc.min(pc.binary_length(table[name])).as_py() == 0:
            return False
    if table.num_rows and pc.min(table[SEQ]).as_py() < 1:
        return False
    lists = [table[CAUSES]] if CAUSES in table.schema.names else []
    if FIELDS in table.schema.names:
        struct = table[FIELDS].combine_chunks() if isinstance(table, pa.Table) else table[FIELDS]
        chunks = struct.chunks if isinstance(struct, pa.ChunkedArray) else [struct]
        lists += [
            chunk.field(index)
            for chunk in chunks
            for index, item in enumerate(chunk.type)
            if pa.types.is_list(item.type)
        ]
    return all(pc.list_flatten(column).null_count == 0 for column in lists)
