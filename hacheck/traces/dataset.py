"""Opens traces wherever they are, a file or a folder, and hands out their records in Arrow batches as they are stored.

`sorted_records.sorted_batches` puts them in the order in which they are checked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

import pyarrow as pa
from msgspec import Struct

from hacheck.traces import json_lines, manifest, parquet_files
from hacheck.traces.findings import Finding, Findings, Kind, TracesError
from hacheck.traces.records import SchemaError, TraceSchema, united

SOURCE, ROW = "_source", "_row"
"""Columns of `Dataset.located`: the number of the file in `files`, and the line or row in it, from 1."""

PACKED = ("", ".gz", ".zst", ".bz2")
"""Endings of compressed files, after the one that names what is in them."""

JSON_SUFFIXES = tuple(kind + packed for kind in (".jsonl", ".ndjson", ".json") for packed in PACKED)
PARQUET_SUFFIXES = (".parquet",)


class TraceFile(Struct, frozen=True):
    """A file of traces; `name` is what findings call it."""

    path: Path
    name: str
    parquet: bool
    size_bytes: int


class Located(Protocol):
    """Records with their places: of files of traces, or made of logs by an adapter. Reading again begins anew."""

    @property
    def files(self) -> tuple[TraceFile, ...]:
        """The files that are read."""
        ...

    @property
    def schema(self) -> TraceSchema:
        """What all records have in common."""
        ...

    @property
    def in_order(self) -> bool:
        """Whether the records come sorted by (trace_id, seq) already."""
        ...

    @property
    def clock_back_ns(self) -> int:
        """So far the times of a node may go back from one record to the next without meaning anything."""
        ...

    def located(self, findings: Findings) -> Iterator[Any]:
        """All records in batches with the columns of `located_schema`. What is wrong is a finding."""
        ...


class Dataset(Struct, frozen=True):
    """Traces that can be read: their files, and the schema that these agree on."""

    files: tuple[TraceFile, ...]
    schema: TraceSchema
    clock_back_ns: int = 0
    in_order: bool = False

    @property
    def size_bytes(self) -> int:
        """The size of all files."""
        return sum(file.size_bytes for file in self.files)

    def batches(self, findings: Findings) -> Iterator[Any]:
        """All records, file by file, in batches with the columns of `schema.arrow()`."""
        for _, batch, _ in self._read(findings):
            yield batch

    def located(self, findings: Findings) -> Iterator[Any]:
        """As `batches`, with two columns more that say where each record stands: `SOURCE` and `ROW`."""
        schema = located_schema(self.schema)
        for number, batch, rows in self._read(findings):
            source = pa.array([number], pa.int32()).take(pa.array([0] * batch.num_rows, pa.int8()))
            yield pa.RecordBatch.from_arrays([*batch.columns, source, rows], schema=schema)

    def _read(self, findings: Findings) -> Iterator[tuple[int, Any, Any]]:
        for number, file in enumerate(self.files):
            read = parquet_files.read if file.parquet else json_lines.read
            for batch, rows in read(file.path, file.name, self.schema, findings):
                yield number, batch, rows


def located_schema(schema: TraceSchema) -> Any:
    """The Arrow schema of `Dataset.located`."""
    return schema.arrow().append(pa.field(SOURCE, pa.int32())).append(pa.field(ROW, pa.int64()))


def place_of(text: str) -> Path:
    """The file or folder that a path or a `file:` URL names.

    Errors: `TracesError` for other URLs: what lies elsewhere is read by Spark, or copied.
    """
    scheme, colon, rest = text.partition("://")
    if not colon or not scheme.isalnum():
        return Path(text)
    host, _, path = rest.partition("/")
    if scheme.lower() != "file" or host not in ("", "localhost"):
        hint = "give a path or a file:/// URL, or copy it here; `hacheck conform --engine spark` reads Parquet at a URL"
        raise TracesError(f"{text}: not on this machine", hint)
    return Path(unquote(f"/{path}"))


def open_traces(place: Path, findings: Findings) -> Dataset:
    """The traces in a file or folder. Files that do not fit are findings, and left out.

    Errors: `TracesError` where there is nothing to be read at all.
    """
    files = trace_files(place)
    accepted: list[TraceFile] = []
    schema: TraceSchema | None = None
    for file in files:
        if file.parquet and "\udc80" <= max(str(file.path)) <= "\udcff":  # which Arrow cannot open
            findings.add(Finding(Kind.UNREADABLE, "cannot be read: its path is not UTF-8; rename it", file.name))
            continue
        try:
            given = parquet_files.schema_of(file.path, file.name) if file.parquet else None
            given = given or json_lines.schema_of(file.path, file.name)
            schema = given if schema is None else united(schema, given)
        except SchemaError as error:
            leave_out(file, error, findings)
        except parquet_files.DAMAGE as error:
            leave_out(file, error, findings)
        else:
            accepted.append(file)
    whole = len(accepted) == len(files) and place.is_dir()
    in_order = whole and manifest.describes(place, [(file.name, file.size_bytes) for file in accepted])
    return Dataset(tuple(accepted), schema or TraceSchema(), in_order=in_order)


def leave_out(file: TraceFile, error: Exception, findings: Findings) -> None:
    """Takes note of a file that is left out, and of the traces it has records of."""
    if file.parquet:
        found = parquet_files.refused(file.path, file.name, error)
        findings.add(found)
        for trace_id in parquet_files.trace_ids_of(file.path):
            findings.damage(trace_id, found)
        return
    kind = Kind(error.problems[0][0]) if isinstance(error, SchemaError) else Kind.UNREADABLE
    lines = Findings()
    records, ids = 0, set[str]()
    for batch, _ in json_lines.read(file.path, file.name, json_lines.schema_of(file.path, file.name), lines):
        records += batch.num_rows
        ids |= set(batch.column("trace_id").to_pylist())
    found = Finding(kind, f"{error}; the file is left out", file.name, records=records + lines.quarantined)
    findings.add(found)
    for trace_id in (*sorted(ids), *lines.damaged):
        findings.damage(trace_id, found)


def trace_files(place: Path) -> tuple[TraceFile, ...]:
    """The files of traces at a place, by name. Errors: `TracesError`."""
    try:
        if place.is_dir():
            found = [path for path in walked(place) if path.name.endswith((*JSON_SUFFIXES, *PARQUET_SUFFIXES))]
            if not found:
                hint = "traces are .jsonl or .parquet files; logs are read with --adapter"
                raise TracesError(f"{place}: no traces in this folder", hint)
            return tuple(_file(path, shown(path.relative_to(place))) for path in found)
        if not place.exists():
            raise TracesError(f"{place}: no such file or folder")
        if not os.access(place, os.R_OK):
            raise TracesError(f"{place}: no permission to read it")
        if not place.name.endswith((*JSON_SUFFIXES, *PARQUET_SUFFIXES)):
            raise TracesError(f"{place}: not a .jsonl or .parquet file", "logs are read with --adapter NAME or FILE")
        return (_file(place, shown(place)),)
    except OSError as error:
        raise TracesError(f"{place}: cannot be read: {error.strerror}") from None


def walked(folder: Path) -> list[Path]:
    """The files in a folder and the folders below it, by path; names that begin with `.` or `_` are passed over.

    Errors: `OSError` where a folder cannot be listed.
    """
    found = []

    def refuse(error: OSError) -> None:
        raise error

    for parent, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        found += [Path(parent, name) for name in sorted(names) if not name.startswith((".", "_"))]
    return sorted(found)


def shown(path: Path) -> str:
    """A path as text; bytes of a name that are no UTF-8 as escapes."""
    return os.fsencode(path).decode("utf-8", errors="backslashreplace")


def _file(path: Path, name: str) -> TraceFile:
    return TraceFile(path, name, path.name.endswith(PARQUET_SUFFIXES), path.stat().st_size)
