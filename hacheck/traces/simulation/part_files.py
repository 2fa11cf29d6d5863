"""Traces and the truth about them in files: each file is whole, or not there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from hacheck.traces.manifest import Part
from hacheck.traces.records import FIELDS, METADATA_KEY, SEQ, TIME, TRACE_ID, TraceSchema
from hacheck.traces.simulation.trace_maker import Made, Maker

TRUTH = "_truth"
"""The folder, in that of the traces, with the truth about them. Readers of traces skip such names."""

MANIFEST = "_simulation.json"
"""The file, there too, that says how the traces were made and how many there are."""

_DELTAS = (SEQ, TIME, "step", "line")  # columns of numbers that are near those before them


UNFINISHED = ".unfinished"
"""What the names of files end with that are not whole yet."""


class Written(Struct, frozen=True):
    """What is in files: traces, those of them that ended early, their steps, their records, what was done to them."""

    traces: int = 0
    ended: int = 0
    steps: int = 0
    records: int = 0
    damage: int = 0

    def plus(self, other: Written) -> Written:
        """Both together."""
        return Written(
            self.traces + other.traces,
            self.ended + other.ended,
            self.steps + other.steps,
            self.records + other.records,
            self.damage + other.damage,
        )


def of_made(made: Made) -> Written:
    """What some traces are."""
    return Written(made.traces, made.ended, made.steps.num_rows, made.records.num_rows, made.damage.num_rows)


class Writer(Protocol):
    """Writes tables of one kind into one file."""

    def write(self, table: Any) -> None:
        """Writes some rows."""
        ...

    def close(self) -> None:
        """Writes what is left."""
        ...


class ParquetWriter:
    """Writes a Parquet file; each table is a row group."""

    def __init__(self, path: Path, schema: Any, header: TraceSchema | None) -> None:
        flat = [name for name in schema.names if name != FIELDS]
        deltas = [name for name in flat if name in _DELTAS]
        words = [name for name in flat if pa.types.is_dictionary(schema.field(name).type)]
        if FIELDS in schema.names:
            words += [f"{FIELDS}.{item.name}" for item in schema.field(FIELDS).type if not pa.types.is_list(item.type)]
        self._writer = pq.ParquetWriter(
            path,
            schema,
            compression="zstd",
            use_dictionary=words or False,
            write_statistics=[TRACE_ID],  # by which whole files are passed over; others would cost a quarter more
            column_encoding=dict.fromkeys(deltas, "DELTA_BINARY_PACKED"),
            store_schema=False,  # texts are read as such, not as the dictionaries that they are written from
        )
        if header is not None:
            self._writer.add_key_value_metadata({METADATA_KEY: json.dumps(header.header())})

    def write(self, table: Any) -> None:
        """See `Writer`."""
        self._writer.write_table(table, row_group_size=max(table.num_rows, 1))

    def close(self) -> None:
        """See `Writer`."""
        self._writer.close()


class JsonWriter:
    """Writes JSON lines, of records below a header; what is null is left out."""

    def __init__(self, path: Path, schema: Any, header: TraceSchema | None) -> None:
        self._file = open(path, "w", encoding="utf-8", newline="\n")  # noqa: SIM115  # closed by `close`
        if header is not None:
            self._file.write(json.dumps(header.header()) + "\n")

    def write(self, table: Any) -> None:
        """See `Writer`."""
        encode = json.JSONEncoder(ensure_ascii=False, separators=(", ", ": ")).encode
        for row in table.to_pylist():
            said = {name: value for name, value in row.items() if value is not None}
            if FIELDS in said:
                said[FIELDS] = {name: value for name, value in said[FIELDS].items() if value is not None}
                if not said[FIELDS]:
                    del said[FIELDS]
            self._file.write(encode(said) + "\n")

    def close(self) -> None:
        """See `Writer`."""
        self._file.close()


FORMS: dict[str, Callable[[Path, Any, TraceSchema | None], Writer]] = {"parquet": ParquetWriter, "jsonl": JsonWriter}
"""The forms of files, by what their names end with."""


class _Files:
    """The files of one part: those of its truth, and that of its records. They have other names until all are whole."""

    def __init__(self, folder: Path, number: int, form: str, header: TraceSchema) -> None:
        self._folder, self._form, self._header, self._number = folder, form, header, number
        self._open: dict[Path, Writer] = {}

    @property
    def records(self) -> Path:
        """The file of the records."""
        return self._folder / f"part-{self._number:05d}.{self._form}"

    def write(self, kind: str, table: Any) -> None:
        """Writes rows of one kind; records are of none."""
        path = self._folder / TRUTH / f"{kind}-{self._number:05d}.{self._form}" if kind else self.records
        if path not in self._open:
            self._open[path] = FORMS[self._form](_unfinished(path), table.schema, None if kind else self._header)
        self._open[path].write(table)

    def finish(self) -> None:
        """Makes all of them whole, the records last."""
        for writer in self._open.values():
            writer.close()
        for path in sorted(self._open, key=lambda path: path.parent == self._folder):
            os.replace(_unfinished(path), path)

    def give_up(self) -> None:
        """Leaves nothing behind."""
        for path, writer in self._open.items():
            with suppress(OSError, pa.ArrowException):
                writer.close()
            with suppress(OSError):
                _unfinished(path).unlink()


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}{UNFINISHED}")


class File(Struct, frozen=True):
    """A file of records that is whole. `part`: as a manifest names it; `None` if there are no records, and no file."""

    written: Written
    part: Part | None


def write_part(maker: Maker, folder: Path, number: int, report: Callable[[Written], bool]) -> File | None:
    """Writes the files of a part. `report` is called with what is made of it so far, and says whether to continue.

    Returns what is in them; `None` if it was not to go on: then there are none. Errors: `OSError`, with nothing left.
    """
    plan = maker.plan
    first, end = number * plan.traces_of_file, min((number + 1) * plan.traces_of_file, plan.traces)
    files = _Files(folder, number, plan.form, maker.shape.schema(plan.skew is not None))
    total = Written()
    known = _Known()
    try:
        for start in range(first, end, plan.chunk):
            made = maker.make(start, min(plan.chunk, end - start))
            files.write("steps", made.steps)
            if made.clocks is not None:
                files.write("clocks", made.clocks)
            if plan.drop or plan.mutate:
                files.write("damage", made.damage)
            if made.records.num_rows:
                files.write("", made.records)
            known.add(made.records)
            total = total.plus(of_made(made))
            if not report(total):
                files.give_up()
                return None
        files.finish()
    except BaseException:
        files.give_up()
        raise
    return File(total, known.part(files.records))


class _Known:
    """What a manifest says of a file."""

    def __init__(self) -> None:
        self._first, self._last, self._records, self._traces = "", "", 0, 0

    def add(self, records: Any) -> None:
        """Takes note of some records, which are sorted."""
        if not records.num_rows:
            return
        ids = records.column(TRACE_ID)
        self._first = self._first or str(ids[0])
        self._last = str(ids[-1])
        self._records += records.num_rows
        self._traces += len(ids.unique())

    def part(self, path: Path) -> Part | None:
        """The file that all of them are in."""
        if not self._records:
            return None
        return Part(path.name, self._records, self._traces, self._first, self._last, path.stat().st_size)
