"""Tasks of the local driver's processes: scatter records into buckets, sort and check a bucket, check a sorted file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, field

from hacheck.traces.adapters.logs import LogDataset
from hacheck.traces.conformance.trace_progress import TraceProgress
from hacheck.traces.dataset import Dataset, Located
from hacheck.traces.drivers.buckets import Scatter, in_order
from hacheck.traces.drivers.columns import Columns
from hacheck.traces.drivers.record_batches import Unit, in_batches, pieces, row_group_runs
from hacheck.traces.drivers.record_portions import paced
from hacheck.traces.drivers.trace_verdicts import Task, verdicts_of
from hacheck.traces.drivers.verdict_table import as_message
from hacheck.traces.drivers.worker_processes import Send
from hacheck.traces.findings import Finding, Findings, TracesError
from hacheck.traces.records import SEQ, TRACE_ID

FINDINGS_MAX = 1000
"""The most findings in one message."""


class ScatterUnit(Struct, frozen=True):
    """A task: scatter the records of a unit into buckets."""

    unit: Unit


class CloseBuckets(Struct, frozen=True):
    """A task: close the files of the buckets."""


class CheckBucket(Struct, frozen=True):
    """A task: sort and check a bucket. `damaged`: its traces that are known to be damaged, with the finding."""

    bucket: int
    damaged: tuple[tuple[str, Finding], ...]


class CheckSortedFile(Struct, frozen=True):
    """A task: check a file whose records are in order."""

    number: int


class TaskReport(Struct, frozen=True):
    """What a task sends. `verdicts`: as a message; `damaged`: damage to traces that is no finding of its own;
    `records`: how many were read. With the last report of a task come `events`: how many records of each event the
    trace checker got; and `unknown_lines`: how many lines of logs the adapter does not know. `trace_done` of
    `trace_total` records are explained of the trace that is being checked."""

    verdicts: bytes | None = None
    findings: tuple[Finding, ...] = ()
    damaged: tuple[tuple[str, Finding], ...] = ()
    records: int = 0
    events: Mapping[str, int] = field(default_factory=dict)
    unknown_lines: int = 0
    trace_done: int = 0
    trace_total: int = 0


def never_stopped() -> bool:
    """The `report` of a worker process: it never says to stop, as the process is ended from outside."""
    return True


class ForwardedFindings(Findings):
    """Findings that a worker process sends to the driver and does not keep."""

    def __init__(self, send: Send, damaged: tuple[tuple[str, Finding], ...] = ()) -> None:
        super().__init__()
        self.damaged.update(damaged)
        self._send = send
        self._new: list[Finding] = []
        self._damage: list[tuple[str, Finding]] = []

    def add(self, finding: Finding) -> None:
        super().add(finding)
        self._new.append(finding)
        if len(self._new) >= FINDINGS_MAX:
            self.flush()

    def damage(self, trace_id: str, finding: Finding) -> None:
        super().damage(trace_id, finding)
        self._damage.append((trace_id, finding))

    def flush(self, verdicts: bytes | None = None, records: int = 0) -> None:
        """Sends the new findings, and verdicts with them."""
        self._send(TaskReport(verdicts, tuple(self._new), tuple(self._damage), records))
        self._new, self._damage = [], []


class UnorderedRecords:
    """Does the tasks where records are not in order. `share_bytes`: the memory of one process; `report`: called a few
    times a second, returns whether to continue."""

    def __init__(
        self,
        task: Task,
        dataset: Located,
        folder: Path,
        buckets: int,
        share_bytes: int,
        report: Callable[[], bool] = never_stopped,
    ) -> None:
        self._task, self._dataset, self._folder, self._report = task, dataset, folder, report
        self._buckets, self._share_bytes = buckets, share_bytes
        self._scatter: Scatter | None = None

    def do(self, task: Any, send: Send) -> None:
        """Does a task."""
        match task:
            case ScatterUnit():
                self._read(task.unit, send)
            case CloseBuckets():
                if self._scatter is not None:
                    self._scatter.close()
            case CheckBucket():
                ordered = in_order(self._folder, task.bucket, self._task.columns, self._share_bytes)
                findings = ForwardedFindings(send, task.damaged)
                _send_verdicts(self._task, paced(ordered), findings, send, self._report)
            case _:
                raise AssertionError(f"no task of this pool: {task}")

    def _read(self, unit: Unit, send: Send) -> None:
        if self._scatter is None:
            self._scatter = Scatter(self._folder, str(os.getpid()), self._buckets)
        findings = ForwardedFindings(send)
        for piece in pieces(self._dataset, unit, self._task.columns, findings):
            self._scatter.add(piece)
            findings.flush(records=piece.num_rows)
        findings.flush()
        if isinstance(self._dataset, LogDataset):
            send(TaskReport(unknown_lines=self._dataset.tally.unknown.total()))


class SortedFiles:
    """Does the tasks where every file is in order and no trace is in two files. `report`: as of `UnorderedRecords`."""

    def __init__(self, task: Task, dataset: Located, report: Callable[[], bool] = never_stopped) -> None:
        assert isinstance(dataset, Dataset), "an adapter's records are never known to be in order"
        self._task, self._dataset, self._report = task, dataset, report

    def do(self, task: CheckSortedFile, send: Send) -> None:
        """Checks a file."""
        findings = ForwardedFindings(send)
        _send_verdicts(self._task, self._batches(task.number, findings, send), findings, send, self._report)

    def _batches(self, number: int, findings: Findings, send: Send) -> Iterator[Any]:
        for batch in paced(records_in_order(self._dataset, number, self._task.columns, findings)):
            yield batch
            send(TaskReport(records=batch.num_rows))


def _send_verdicts(
    task: Task, batches: Iterator[Any], findings: ForwardedFindings, send: Send, report: Callable[[], bool]
) -> None:
    """Sends the verdicts on the traces of sorted batches, with the findings so far."""
    events: Counter[str] = Counter()
    if not isinstance(report, TraceProgress):

        def share(done: int, total: int) -> None:
            send(TaskReport(trace_done=done, trace_total=total))

        report = TraceProgress(report, share)
    for verdicts in verdicts_of(task, batches, findings, events, report):
        findings.flush(as_message(verdicts))
    findings.flush()
    send(TaskReport(events=events))


def records_in_order(dataset: Dataset, number: int, columns: Columns, findings: Findings) -> Iterator[Any]:
    """The records of a sorted file, in batches with the columns of `Columns.located`.

    Errors: `TracesError` where they are not in order.
    """
    file = dataset.files[number]
    runs = row_group_runs(file) if file.parquet else None
    units = [Unit(number, *run) for run in runs] if runs else [Unit(number, None, 1, 0)]
    order = OrderCheck(file.name)
    for unit in units:
        for piece in pieces(dataset, unit, columns, findings):
            order.check(piece)
            yield from in_batches(piece, columns)


class OrderCheck:
    """Checks that the records of a file are in order, as its manifest says."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._trace = b""
        self._seq = 0

    def check(self, batch: Any) -> None:
        """Checks the next batch, whose traces are dictionary codes. Errors: `TracesError`."""
        if not batch.num_rows:
            return
        traces = batch.column(TRACE_ID)
        codes, numbers = traces.indices.to_numpy(), batch.column(SEQ).to_numpy()
        changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
        names = [traces[at].as_py().encode() for at in (0, *changes.tolist())]
        before = self._seq if names[0] == self._trace else 0
        backwards = np.flatnonzero(numbers[1:] < numbers[:-1]) + 1
        mixed = any(left >= right for left, right in pairwise(names)) or names[0] < self._trace
        if mixed or numbers[0] < before or not np.isin(backwards, changes, assume_unique=True).all():
            hint = "its manifest is out of date: remove it, or cluster the traces again"
            raise TracesError(f"{self._name}: records are not in order, against what the manifest says", hint)
        self._trace, self._seq = names[-1], int(numbers[-1])
