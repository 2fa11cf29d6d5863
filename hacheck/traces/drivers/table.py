"""Takes verdicts as they come: counts them, keeps the first that do not conform, writes the table."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from hacheck.atomic_files import beside
from hacheck.traces.conformance.verdicts import SCHEMA, Verdict, from_batch
from hacheck.traces.drivers.contract import SHOWN_MAX, Outcome
from hacheck.traces.findings import TracesError

GROUP_ROWS = 65_536
"""So many verdicts are written at a time."""


class Tally:
    """Counts of verdicts, and those to be shown."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.records = 0
        self.traces = 0
        self._shown: list[Verdict] = []

    def add(self, verdicts: Any) -> None:
        """Takes note of a batch of verdicts."""
        kinds = verdicts.column("verdict")
        self.traces += verdicts.num_rows
        self.records += pc.sum(verdicts.column("records")).as_py() or 0
        for item in pc.value_counts(kinds).to_pylist():
            self.counts[item["values"]] += item["counts"]
        others = verdicts.filter(pc.not_equal(kinds, "conforms"))
        if others.num_rows:
            others = others.sort_by("trace_id").slice(0, SHOWN_MAX)
            shown = [*self._shown, *from_batch(others)]
            self._shown = sorted(shown, key=lambda verdict: verdict.trace_id.encode())[:SHOWN_MAX]

    def outcome(self, *, complete: bool, table: str | None) -> Outcome:
        """What was found."""
        return Outcome(complete, self.traces, self.records, dict(self.counts), tuple(self._shown), table)


class VerdictFile:
    """The table of verdicts as a Parquet file, its rows in no particular order. The file is there when all is written;
    when the block ends with an error, or `keep` was not called, what was there before stays.

    Errors: `TracesError` where it cannot be written.
    """

    def __init__(self, path: Path | None) -> None:
        self.tally = Tally()
        self._path = path
        self._keep = False
        self._own = Path()
        self._writer: Any = None
        self._waiting: list[Any] = []
        self._rows = 0

    def __enter__(self) -> VerdictFile:
        if self._path is not None:
            try:
                self._own = beside(self._path)
                self._writer = pq.ParquetWriter(self._own, SCHEMA)
            except OSError as error:
                raise self._unwritable(error) from None
        return self

    def add(self, verdicts: Any) -> None:
        """Writes a batch of verdicts."""
        self.tally.add(verdicts)
        if self._writer is not None:
            self._waiting.append(verdicts)
            self._rows += verdicts.num_rows
            if self._rows >= GROUP_ROWS:
                self._write()

    def _write(self) -> None:
        try:
            self._writer.write_table(pa.Table.from_batches(self._waiting, SCHEMA))
        except OSError as error:
            raise self._unwritable(error) from None
        self._waiting, self._rows = [], 0

    def keep(self) -> None:
        """Says that the table is complete."""
        self._keep = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._path is None:
            return
        try:
            if self._writer is not None:
                if kind is None and self._keep:
                    self._write()
                self._writer.close()
            if kind is None and self._keep:
                os.replace(self._own, self._path)
        except OSError as failure:
            raise self._unwritable(failure) from None
        finally:
            with suppress(OSError):
                os.unlink(self._own)

    def _unwritable(self, error: OSError) -> TracesError:
        return TracesError(f"{self._path}: cannot be written: {error.strerror or error}")


def as_message(verdicts: Any) -> bytes:
    """A batch of verdicts as bytes for another process."""
    return bytes(verdicts.serialize())


def from_message(content: bytes) -> Any:
    """The batch of verdicts in a message."""
    return pa.ipc.read_record_batch(pa.py_buffer(content), SCHEMA)
