"""The driver for one machine: reads, orders and checks in as many processes as there are cores, in bounded memory.

Records are scattered over buckets by trace, on disk; then each bucket is sorted and checked by one process. A dataset
that is in order already (a clustered folder) is checked as it is read, file by file.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hacheck.supervise.process_pool import Done
from hacheck.supervise.resources import usable_cores
from hacheck.traces.conformance.trace_progress import TraceProgress
from hacheck.traces.dataset import PACKED, Dataset, Located
from hacheck.traces.drivers.buckets import bucket_of, no_room
from hacheck.traces.drivers.columns import pruned
from hacheck.traces.drivers.contract import ConformanceChecker, Outcome, Phase, Progress, Report
from hacheck.traces.drivers.local_tasks import (
    CheckBucket,
    CheckSortedFile,
    CloseBuckets,
    ScatterUnit,
    SortedFiles,
    TaskReport,
    UnorderedRecords,
    never_stopped,
)
from hacheck.traces.drivers.log_verdicts import LogVerdicts
from hacheck.traces.drivers.record_batches import Unit, sources, units
from hacheck.traces.drivers.trace_verdicts import Task
from hacheck.traces.drivers.verdict_table import VerdictTable, from_message
from hacheck.traces.drivers.worker_processes import ThisProcess, Work, WorkerProcesses
from hacheck.traces.findings import Finding, Findings
from hacheck.traces.record_checks import Expected

MEMORY_BYTES = 4 << 30
"""So much memory all processes take together, about."""

SHARE = 8
"""A bucket is at most so small a part of the memory of a process: sorting takes a copy of it, reading another."""

BUCKETS_MAX = 1024
ROW_BYTES = 100
"""What a record takes on disk between reading and checking, about, where its file does not say."""

PACKED_RATIO = 8
"""A compressed file of text is so much smaller than the records in it, about."""


class Options(Struct, frozen=True):
    """How a machine is used. `workers`: processes (`None`: one for each core); `memory_bytes`: of all of them together;
    `scratch`: where records are kept meanwhile (`None`: where the system keeps temporary files); `here`: in this
    process and no other one: what is sent then comes when a task is over, and `report` is called meanwhile."""

    workers: int | None = None
    memory_bytes: int = MEMORY_BYTES
    scratch: Path | None = None
    here: bool = False


def check_locally(
    dataset: Located,
    checker: ConformanceChecker,
    findings: Findings,
    *,
    expected: Expected | None = None,
    table: Path | None = None,
    collect: bool = False,
    options: Options | None = None,
    report: Report = lambda progress: True,
    completed: LogVerdicts | None = None,
) -> Outcome:
    """Checks all traces of a dataset, which is read once.

    `findings`: takes whatever is wrong with records; `table`: where the table of verdicts is written, as a Parquet
    file; `collect`: the outcome has all verdicts; `completed`: what is added to the verdicts on logs.
    Errors: `TracesError` when there is no room or no permission, `DriverError` when a process dies.
    """
    run = _Local(dataset, checker, findings, expected or Expected(), options or Options(), report, completed)
    return run.check(table, collect)


class _Local:
    """One run of the driver: the side that leads."""

    def __init__(
        self,
        dataset: Located,
        checker: ConformanceChecker,
        findings: Findings,
        expected: Expected,
        options: Options,
        report: Report,
        completed: LogVerdicts | None,
    ) -> None:
        self._completed = completed
        back = max(expected.clock_back_ns, dataset.clock_back_ns)
        expected = replace(expected, clock_back_ns=back)
        self._dataset, self._findings, self._report = dataset, findings, report
        self._task = Task(checker, pruned(dataset.schema, checker.columns), expected, sources(dataset.files))
        self._options = options
        self._workers = 1 if options.here else options.workers or usable_cores()
        self._start = time.perf_counter()
        self._records = 0

    def check(self, table: Path | None, collect: bool) -> Outcome:
        """All of it."""
        with VerdictTable(table, collect=collect) as verdicts, self._scratch() as scratch:
            ordered = self._dataset.in_order and isinstance(self._dataset, Dataset)
            complete = self._ordered(verdicts) if ordered else self._scattered(verdicts, Path(scratch))
            if complete:
                if self._completed is not None:
                    verdicts.add(self._completed.quiet(self._findings.damaged))
                verdicts.keep()
            kept = str(table) if complete and table is not None else None
            return verdicts.tally.outcome(complete=complete, table=kept, verdicts=verdicts.collected)

    def _scratch(self) -> tempfile.TemporaryDirectory[str]:
        try:
            return tempfile.TemporaryDirectory(prefix="hacheck-order-", dir=self._options.scratch)
        except OSError as error:
            raise no_room(Path(self._options.scratch or tempfile.gettempdir()), error) from None

    def _pool(self, work: Work, tasks: int) -> WorkerProcesses | ThisProcess:
        return ThisProcess(work) if self._options.here else WorkerProcesses(work, min(self._workers, tasks))

    def _scattered(self, verdicts: VerdictTable, scratch: Path) -> bool:
        found = units(self._dataset)
        share = self._options.memory_bytes // self._workers
        count = buckets_for(self._dataset, found, self._workers, share)
        work = UnorderedRecords(self._task, self._dataset, scratch, count, share, self._meanwhile())
        with self._pool(work, count) as pool:
            if not self._follow(pool.do([ScatterUnit(unit) for unit in found]), "reading", len(found), verdicts):
                return False
            if not self._follow(pool.each_does(CloseBuckets()), "reading", len(found), verdicts, done=len(found)):
                return False
            damaged: dict[int, list[tuple[str, Finding]]] = {}
            for name, finding in self._findings.damaged.items():
                damaged.setdefault(bucket_of(name, count), []).append((name, finding))
            tasks = [CheckBucket(bucket, tuple(damaged.get(bucket, ()))) for bucket in range(count)]
            return self._follow(pool.do(tasks), "checking", count, verdicts)

    def _ordered(self, verdicts: VerdictTable) -> bool:
        files = len(self._dataset.files)
        with self._pool(SortedFiles(self._task, self._dataset, self._meanwhile()), files) as pool:
            return self._follow(
                pool.do([CheckSortedFile(number) for number in range(files)]), "checking", files, verdicts
            )

    def _meanwhile(self) -> Callable[[], bool]:
        """What says to a task whether to go on: `report`, where it runs in this process."""
        if not self._options.here:
            return never_stopped

        def continues() -> bool:
            elapsed = time.perf_counter() - self._start
            return self._report(Progress("checking", 0, 0, self._records, 0, elapsed, progress.done, progress.total))

        progress = TraceProgress(continues)
        return progress

    def _add(self, batch: Any, verdicts: VerdictTable) -> None:
        verdicts.add(batch if self._completed is None else self._completed.amended(batch))

    def _follow(self, messages: Iterator[Any], phase: Phase, total: int, verdicts: VerdictTable, done: int = 0) -> bool:
        """Takes what the processes send, until all tasks of the phase are over, or `report` says to stop."""
        trace = (0, 0)
        for message in messages:
            if isinstance(message, TaskReport):
                self._records += message.records
                trace = (message.trace_done, message.trace_total)
                for finding in message.findings:
                    self._findings.add(finding)
                for name, finding in message.damaged:
                    self._findings.damage(name, finding)
                verdicts.tally.events.update(message.events)
                verdicts.tally.unknown_lines += message.unknown_lines
                if message.verdicts is not None:
                    self._add(from_message(message.verdicts), verdicts)
            elif isinstance(message, Done):
                done += 1
            elapsed = time.perf_counter() - self._start
            if not self._report(
                Progress(phase, min(done, total), total, self._records, verdicts.tally.traces, elapsed, *trace)
            ):
                return False
        return True


def buckets_for(dataset: Located, found: list[Unit], workers: int, share_bytes: int) -> int:
    """How many buckets: so many that one fits into a part of the memory of a process, if traces are short."""
    size = 0
    for unit in found:
        if unit.groups is not None:
            size += unit.rows * ROW_BYTES
        else:
            files = dataset.files if unit.number is None else (dataset.files[unit.number],)
            size += sum(file.size_bytes * (PACKED_RATIO if file.path.suffix in PACKED[1:] else 1) for file in files)
    return max(workers, min(BUCKETS_MAX, -(-size // max(share_bytes // SHARE, 1))))
