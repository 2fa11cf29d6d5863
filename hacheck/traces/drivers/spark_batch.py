"""The driver for Spark: a table of records in, a table of verdicts out.

Spark reads, exchanges and sorts; Python gets whole traces in Arrow batches. Files that are in order already are read by
the tasks themselves, each by one, so that nothing is exchanged and no file is cut. Only the DataFrame API is used,
which Spark Connect has, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from hacheck.traces.conformance.verdicts import SCHEMA, from_batch
from hacheck.traces.dataset import ROW, SOURCE, Dataset
from hacheck.traces.drivers.columns import pruned
from hacheck.traces.drivers.contract import SHOWN_MAX, ConformanceChecker, DriverError, Outcome, Phase, Progress, Report
from hacheck.traces.drivers.record_batches import sources
from hacheck.traces.drivers.spark_frames import dataset_records, file_numbers, spark_schema, url_records
from hacheck.traces.drivers.spark_jobs import Job
from hacheck.traces.drivers.spark_records import NOTE, CheckFiles, CheckSorted, results, take_note
from hacheck.traces.drivers.trace_verdicts import Task
from hacheck.traces.drivers.verdict_table import Tally
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.record_checks import Expected
from hacheck.traces.records import SEQ, TRACE_ID

POLL_SECONDS = 0.2

Result = TypeVar("Result")


def check_on_spark(
    spark: Any,
    traces: Dataset | str,
    checker: ConformanceChecker,
    findings: Findings,
    *,
    expected: Expected | None = None,
    table: str | None = None,
    collect: bool = False,
    partitions: int | None = None,
    report: Report = lambda progress: True,
) -> Outcome:
    """Checks all traces of a dataset, whose files every executor can read under their paths, or of the Parquet files at
    a URL that Spark can read. They are read once.

    `table`: a folder or URL, where the table of verdicts is written as Parquet files; `collect`: the outcome has all
    verdicts; `partitions`: of the exchange.
    Errors: `DriverError` when the job fails, `TracesError` for places that cannot be read or written.
    """
    run = _Run(spark, checker, findings, expected or Expected(), partitions, report)
    try:
        return run.check(traces, table, collect)
    except _Stopped:
        return Outcome(False, 0, 0, {}, ())


class _Stopped(Exception):
    """`report` said to stop."""


class _Run:
    def __init__(
        self,
        spark: Any,
        checker: ConformanceChecker,
        findings: Findings,
        expected: Expected,
        partitions: int | None,
        report: Report,
    ) -> None:
        self._spark, self._checker, self._findings = spark, checker, findings
        self._expected, self._report = expected, report
        self._partitions = partitions or int(spark.conf.get("spark.sql.shuffle.partitions"))
        self._start = time.perf_counter()
        self._tally = Tally()

    def check(self, traces: Dataset | str, table: str | None, collect: bool) -> Outcome:
        """All of it."""
        if table is not None and "://" not in table and Path(table).exists():
            raise TracesError(f"{table}: already exists", "give a new name: Spark writes a folder")
        if isinstance(traces, Dataset):  # executors have other working directories
            traces = replace(traces, files=tuple(replace(one, path=one.path.absolute()) for one in traces.files))
        in_order = isinstance(traces, Dataset) and traces.in_order
        found = self._run("starting", lambda: self._frame(traces, in_order=in_order).persist())
        try:
            return self._outcome(found, table, collect, in_order=in_order)
        finally:
            found.unpersist()

    def _outcome(self, found: Any, table: str | None, collect: bool, *, in_order: bool) -> Outcome:
        """The job itself, and what it says."""
        from pyspark.sql import functions as f

        notes = found.where(f.col(NOTE).isNotNull()).select(TRACE_ID, NOTE)
        for row in self._run("checking", lambda: notes.toArrow()).to_pylist():
            take_note(row[NOTE], row[TRACE_ID], self._findings, self._tally)
        verdicts = found.where(f.col(NOTE).isNull()).drop(NOTE)
        if in_order:
            self._refuse_repeated(verdicts)
        worth_showing = (f.col("verdict") != "conforms") | (f.size("violated") + f.size("perhaps") > 0)
        others = verdicts.where(worth_showing).orderBy(TRACE_ID).limit(SHOWN_MAX)
        shown = self._run("finishing", lambda: others.toArrow())
        if table is not None:
            self._run("finishing", lambda: verdicts.write.parquet(table))
        batches = self._run("finishing", lambda: verdicts.toArrow()).cast(SCHEMA).to_batches() if collect else ()
        for batch in shown.cast(SCHEMA).to_batches():
            self._tally.show(from_batch(batch))
        return self._tally.outcome(complete=True, table=table, verdicts=batches)

    def _refuse_repeated(self, verdicts: Any) -> None:
        from pyspark.sql import functions as f

        twice = verdicts.groupBy(TRACE_ID).count().where(f.col("count") > 1).orderBy(TRACE_ID).limit(3)
        names = self._run("finishing", lambda: twice.toArrow()).column(TRACE_ID).to_pylist()
        if names:
            which = ", ".join(map(repr, names))
            hint = "its manifest is wrong: remove it, or cluster the traces again"
            raise DriverError(f"two tasks have each checked a part of the same trace: {which}", hint)

    def _frame(self, traces: Dataset | str, *, in_order: bool) -> Any:
        """The DataFrame of results."""
        wanted = self._checker.columns
        if isinstance(traces, str):
            columns, read, back = url_records(self._spark, traces, wanted)
        else:
            columns, back = pruned(traces.schema, wanted), traces.clock_back_ns
            if in_order:
                task = Task(self._checker, columns, self._held_to(back), sources(traces.files))
                numbers = file_numbers(self._spark, range(len(traces.files)))
                return numbers.mapInArrow(CheckFiles(task, traces), spark_schema(results()))
            read = dataset_records(self._spark, traces, columns, self._findings)
        task = Task(self._checker, columns, self._held_to(back), read.names)
        ordered = read.frame.repartition(self._partitions, TRACE_ID).sortWithinPartitions(TRACE_ID, SEQ, SOURCE, ROW)
        return ordered.mapInArrow(CheckSorted(task, read.hashes), spark_schema(results()))

    def _held_to(self, clock_back_ns: int) -> Expected:
        return replace(self._expected, clock_back_ns=max(self._expected.clock_back_ns, clock_back_ns))

    def _run(self, phase: Phase, action: Callable[[], Result]) -> Result:
        """Runs a job, reports how far it is, and cancels it when `report` says to stop."""
        job = Job(self._spark, action)
        while not job.over(POLL_SECONDS):
            done, total = job.tasks()
            elapsed = time.perf_counter() - self._start
            if not self._report(Progress(phase, done, total, self._tally.records, self._tally.traces, elapsed)):
                job.cancel()
                raise _Stopped
        return job.result()
