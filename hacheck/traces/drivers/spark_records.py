"""Records as Spark sees them: where they are read, how they travel, what a task makes of them.

Beside its records a table of these has *notes*: findings to be reported, and damage on its way to
the task that checks the trace. A note stands in the column `NOTE`, as JSON, under the id of its trace; records have
none there. So one pass over the data is enough.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from hacheck.traces.conformance.verdicts import SCHEMA
from hacheck.traces.dataset import SOURCE, Dataset
from hacheck.traces.drivers.columns import Columns
from hacheck.traces.drivers.local_tasks import records_in_order
from hacheck.traces.drivers.record_batches import Unit, in_batches, pieces, sorted_out
from hacheck.traces.drivers.trace_verdicts import Task, verdicts_of
from hacheck.traces.drivers.verdict_table import Tally
from hacheck.traces.findings import Finding, Findings, Kind
from hacheck.traces.json_lines import sound
from hacheck.traces.parquet_files import BATCH_ROWS
from hacheck.traces.records import SEQ, TRACE_ID

NOTE = "_note"

NOWHERE = ""
"""The trace id of a note that is about no trace; no trace has it."""


def noted(columns: Columns) -> Any:
    """The schema of a table of records and notes."""
    fields = [pa.field(field.name, field.type) for field in columns.located]  # a note has nothing in most of them
    at = [field.name for field in fields].index(SOURCE)
    fields[at] = pa.field(SOURCE, pa.int64())
    return pa.schema([*fields, pa.field(NOTE, pa.string())])


def results() -> Any:
    """The schema of what tasks give: verdicts, and notes in rows of their own."""
    return pa.schema([*(pa.field(field.name, field.type) for field in SCHEMA), pa.field(NOTE, pa.string())])


def finding_note(finding: Finding) -> str:
    """A note that is a finding."""
    return json.dumps({"finding": finding.to_json() | {"records": finding.records}})


def damage_note(finding: Finding) -> str:
    """A note that a trace is damaged by a finding that was reported already."""
    return json.dumps({"damage": finding.to_json()})


def tally_note(tally: Tally) -> str:
    """A note that counts what a task has found."""
    return json.dumps({"tally": tally.to_json()})


def take_note(note: str, trace_id: str, findings: Findings, tally: Tally | None = None) -> None:
    """Reads a note: a finding is added, damage is noted, counts are added to `tally`."""
    content = json.loads(note)
    if "tally" in content:
        assert tally is not None, "only tasks that check whole traces send counts"
        tally.merge(content["tally"])
    elif "damage" in content:
        Findings.damage(findings, trace_id, finding_of(content["damage"]))  # it need not be reported again
    else:
        findings.add(finding_of(content["finding"]))


def finding_of(content: Mapping[str, Any]) -> Finding:
    """The finding in a note."""
    return Finding(**{**content, "kind": Kind(content["kind"])})


class Reported(Findings):
    """Findings of a task, as notes that wait to be sent."""

    def __init__(self) -> None:
        super().__init__()
        self._new: list[tuple[str, str]] = []

    def add(self, finding: Finding) -> None:
        super().add(finding)
        self._new.append((finding.trace_id or NOWHERE, finding_note(finding)))

    def damage(self, trace_id: str, finding: Finding) -> None:
        super().damage(trace_id, finding)
        self._new.append((trace_id, damage_note(finding)))

    def taken(self, schema: Any) -> Iterator[Any]:
        """What is new, as a batch of a table that has notes."""
        if self._new:
            new, self._new = self._new, []
            yield rows_of_notes(new, schema)


def rows_of_notes(notes: list[tuple[str, str]], schema: Any) -> Any:
    """Notes as a batch of a table that has them."""
    arrays = []
    for field in schema:
        if field.name == TRACE_ID:
            arrays.append(pa.array([trace_id for trace_id, _ in notes], pa.string()))
        elif field.name == NOTE:
            arrays.append(pa.array([note for _, note in notes], pa.string()))
        elif field.name == SEQ and SOURCE in schema.names:
            arrays.append(pa.array(np.zeros(len(notes), np.int64)))  # ahead of all records of the trace
        else:
            arrays.append(pa.nulls(len(notes), field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


class ReadFiles(Struct, frozen=True):
    """A stage: from numbers of files to their records and notes, in the order of the files."""

    dataset: Dataset
    columns: Columns

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The table of records and notes."""
        schema = noted(self.columns)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                findings = Reported()
                for piece in pieces(self.dataset, Unit(number, None, 1, 0), self.columns, findings):
                    for part in in_batches(piece, self.columns):
                        arrays = [*part.columns, pa.nulls(part.num_rows, pa.string())]
                        typed = [column.cast(field.type) for column, field in zip(arrays, schema, strict=True)]
                        yield pa.RecordBatch.from_arrays(typed, schema=schema)
                    yield from findings.taken(schema)
                yield from findings.taken(schema)


class CheckSorted(Struct, frozen=True):
    """A stage: from records, whole traces sorted by (trace_id, seq), to verdicts and notes. `hashes`: for each file
    what stands in the column `SOURCE` instead of its number; empty where that is the number."""

    task: Task
    hashes: tuple[int, ...]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The table of results."""
        findings = Reported()
        yield from task_results(
            self.task, good_records(batches, self.task.columns, self.task.files, findings, self.hashes), findings
        )


def good_records(
    batches: Iterator[Any], columns: Columns, files: tuple[str, ...], findings: Findings, hashes: tuple[int, ...] = ()
) -> Iterator[Any]:
    """The good records of sorted batches, with the columns of `Columns.located`. What notes say is known before the
    records of their trace. `files`: how findings call them; `hashes`: as `CheckSorted` has them."""
    located = columns.located
    for batch in batches:
        records = without_notes(batch, findings) if NOTE in batch.schema.names else batch
        for start in range(0, records.num_rows, BATCH_ROWS):
            part = records.slice(start, BATCH_ROWS)
            if hashes:
                found = pc.index_in(part.column(SOURCE), value_set=pa.array(hashes, pa.int64()))
                part = part.set_column(part.schema.get_field_index(SOURCE), SOURCE, found)
            arrays = [part.column(field.name).cast(field.type) for field in located]
            part = pa.RecordBatch.from_arrays(arrays, names=located.names)
            yield part if sound(part) else sorted_out(part, files, columns, findings)


class CheckFiles(Struct, frozen=True):
    """A stage: from numbers of files that are in order, each with its traces for itself, to verdicts and notes."""

    task: Task
    dataset: Dataset

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The table of results."""
        for batch in batches:
            for number in batch.column(0).to_pylist():
                findings = Reported()
                records = records_in_order(self.dataset, number, self.task.columns, findings)
                yield from task_results(self.task, records, findings)


def without_notes(batch: Any, findings: Findings) -> Any:
    """The records of a batch, its notes read."""
    notes = batch.column(NOTE)
    if notes.null_count < batch.num_rows:
        rows = batch.filter(notes.is_valid())
        ids = rows.column(TRACE_ID).to_pylist()
        for trace_id, note in zip(ids, rows.column(NOTE).to_pylist(), strict=True):
            take_note(note, trace_id, findings)
        batch = batch.filter(notes.is_null())
    return batch.drop_columns([NOTE])


def task_results(task: Task, records: Iterator[Any], findings: Reported) -> Iterator[Any]:
    """The verdicts on sorted records as a table of results, with notes of what was found meanwhile, and at the end one
    that counts all of it."""
    schema, tally = results(), Tally()
    for batch in verdicts_of(task, records, findings, tally.events):
        tally.add(batch)
        yield pa.RecordBatch.from_arrays([*batch.columns, pa.nulls(batch.num_rows, pa.string())], schema=schema)
        yield from findings.taken(schema)
    yield from findings.taken(schema)
    yield rows_of_notes([(NOWHERE, tally_note(tally))], schema)
