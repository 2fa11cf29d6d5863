"""What an executor does with records of a DataFrame: whole traces, sorted, become verdicts, or findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from hacheck.spark.record_frames import KEPT, RECORD
from hacheck.traces.conformance.verdicts import Verdict, to_batch
from hacheck.traces.dataset import ROW, SOURCE
from hacheck.traces.drivers.columns import Columns
from hacheck.traces.drivers.spark_records import good_records
from hacheck.traces.drivers.trace_verdicts import Task, verdicts_of
from hacheck.traces.findings import Finding, Findings, FreshFindings
from hacheck.traces.record_checks import Checker, Expected
from hacheck.traces.records import SEQ, TRACE_ID

FINDINGS = pa.schema(
    [
        pa.field("trace_id", pa.string()),
        pa.field("kind", pa.string()),
        pa.field("message", pa.string()),
        pa.field("file", pa.string()),
        pa.field("line", pa.int64()),
        pa.field("text", pa.string()),
        pa.field("records", pa.int64()),
    ]
)
"""The table of findings, one row for each thing that is wrong with records: see docs/traces.md for the kinds."""

NO_TRACE = ""
"""The id under which records without a trace have a verdict: nothing that is given is passed over."""


class KeptValues:
    """The values of the columns that go on to the verdicts: those of the first record of each trace."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._values: dict[str, tuple[Any, ...]] = {}

    def take(self, batch: Any) -> Any:
        """Notes what a batch of sorted rows has. Returns the batch without these columns."""
        if not self._schema.names:
            return batch
        ids = batch.column(TRACE_ID)
        changes = np.ones(batch.num_rows, bool)
        if batch.num_rows > 1:
            earlier, later = ids.slice(0, batch.num_rows - 1), ids.slice(1)
            changes[1:] = pc.not_equal(later, earlier).to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(changes).tolist():
            values = tuple(batch.column(name)[row] for name in self._schema.names)
            self._values.setdefault(ids[row].as_py(), values)
        return batch.drop_columns(self._schema.names)

    def beside(self, verdicts: Any, of: list[str] | None = None) -> Any:
        """A batch of verdicts with the values of their traces, under the names that the caller gave. `of`: the ids
        that the rows had, where those of the verdicts are others; their values may be needed again."""
        if not self._schema.names:
            return verdicts
        rows = [self._values.pop(name) for name in verdicts.column(TRACE_ID).to_pylist()] if of is None else []
        rows += [self._values[name] for name in of or ()]
        columns = [pa.array([row[at].as_py() for row in rows], field.type) for at, field in enumerate(self._schema)]
        names = [*verdicts.schema.names, *(name.removeprefix(KEPT) for name in self._schema.names)]
        return pa.RecordBatch.from_arrays([*verdicts.columns, *columns], names=names)


def located(batches: Iterator[Any], columns: Columns) -> Iterator[Any]:
    """Batches with all columns of `Columns.located`: those that the DataFrame does not have are empty, and the place of
    a record is its number."""
    for batch in batches:
        given = set(batch.schema.names)
        own = {SOURCE: pa.array(np.zeros(batch.num_rows, np.int32)), ROW: batch.column(SEQ).fill_null(0)}
        arrays = [
            batch.column(field.name)
            if field.name in given
            else own.get(field.name, pa.nulls(batch.num_rows, field.type))
            for field in columns.located
        ]
        yield pa.RecordBatch.from_arrays(arrays, names=columns.located.names)


class CheckRecords(Struct, frozen=True):
    """A stage: from records, whole traces sorted by (trace_id, seq), to verdicts. `kept`: the Arrow schema of the
    columns that go on to them."""

    task: Task
    kept: Any

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The table of verdicts. Every trace has one, and so have all records together that belong to none."""
        findings, kept = Findings(), KeptValues(self.kept)
        whole = located(map(kept.take, batches), self.task.columns)
        records = good_records(whole, self.task.columns, self.task.files, findings)
        for verdicts in verdicts_of(self.task, records, findings, None):
            if verdicts.num_rows:
                yield kept.beside(verdicts)
        if findings.unplaced:
            yield kept.beside(to_batch([without_trace(findings)]))


def without_trace(findings: Findings) -> Verdict:
    """The verdict on records that belong to no trace."""
    first = findings.unplaced[0]
    return Verdict(NO_TRACE, "unknown", 0, 0, f"records that belong to no trace: {first.message} ({first.place})")


class FindRecords(Struct, frozen=True):
    """A stage: from records, whole traces sorted by (trace_id, seq), to what is wrong with them."""

    columns: Columns

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The table of findings."""
        findings = FreshFindings()
        checker = Checker(list(RECORD), Expected(), findings)
        for batch in good_records(located(batches, self.columns), self.columns, RECORD, findings):
            if batch.num_rows:
                checker.checked(batch)
            yield from findings_table(findings)
        yield from findings_table(findings)


def findings_table(findings: FreshFindings) -> Iterator[Any]:
    """What was found since, as a batch of `FINDINGS`, if anything was."""
    if new := findings.taken():
        yield pa.RecordBatch.from_pylist([_row(one) for one in new], schema=FINDINGS)


def _row(finding: Finding) -> dict[str, Any]:
    plain = {name: getattr(finding, name) for name in FINDINGS.names if name != "kind"}
    return plain | {"kind": finding.kind.value}
