"""The driver for a stream: files that are put into a folder are checked as they come, by Spark Structured Streaming.

Spark says which files are new, and keeps what is known of each open trace (in RocksDB, under the checkpoint); the
files themselves are read by the tasks. The verdicts of one batch of files are written as one folder that a batch done
again writes anew, so a query that starts again from its checkpoint neither loses nor repeats any.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct

from hacheck.traces.conformance.verdicts import SCHEMA, to_batch
from hacheck.traces.dataset import Dataset, open_traces
from hacheck.traces.drivers.buckets import order_of
from hacheck.traces.drivers.columns import Columns, pruned
from hacheck.traces.drivers.contract import ConformanceChecker, Outcome, Progress, Report
from hacheck.traces.drivers.received_trace import Ends, ReceivedTrace, packed, unpacked
from hacheck.traces.drivers.record_batches import Unit, pieces, plain
from hacheck.traces.drivers.spark_frames import local, spark_schema
from hacheck.traces.drivers.spark_jobs import driver_error
from hacheck.traces.drivers.spark_records import NOTE, NOWHERE, Reported, finding_note, results, take_note
from hacheck.traces.drivers.verdict_table import Tally
from hacheck.traces.findings import Finding, Findings, Kind, TracesError
from hacheck.traces.records import TRACE_ID, SchemaError, TraceSchema, united

POLL_SECONDS = 0.2

VERDICTS, FINDINGS = "verdicts", "findings"
"""Folders below the one for results; in each a folder for each batch that has any."""

BATCH = "batch"

FILE, RECORDS, VERDICT = "file", "records", "verdict"

READ = pa.schema([(TRACE_ID, pa.string()), (FILE, pa.string()), (RECORDS, pa.binary()), (NOTE, pa.string())])
"""What reading a file gives: for each trace in it a row with its records, packed; notes in rows of their own."""

SAID = pa.schema([(VERDICT, pa.binary()), (NOTE, pa.string())])
"""What checking gives: a verdict, packed, or a note."""

STATE = pa.schema([("state", pa.binary())])


class Monitoring(Struct, frozen=True):
    """A stream of traces.

    - `place`: the folder that files are put into, complete (moved, not written there);
    - `schema`: the fields of events, by type, that records may have;
    - `results`: the folder for verdicts and findings; `checkpoint`: the folder from which a query that was ended goes
      on, for the same place, checker and results;
    - `trigger_seconds`: how often new files are looked for; `files_max`: taken at a time.
    """

    place: Path
    schema: TraceSchema
    checker: ConformanceChecker
    results: Path
    checkpoint: Path
    ends: Ends = Ends()
    trigger_seconds: float = 2.0
    files_max: int = 1000


def monitor_on_spark(
    spark: Any, monitoring: Monitoring, findings: Findings, report: Report = lambda progress: True
) -> Outcome:
    """Checks traces as they come, until `report` says to stop. The outcome is of this run; `verdicts_of` and
    `findings_of` read that of all.

    Errors: `DriverError` when the query fails, `TracesError` where there is no folder.
    """
    if not monitoring.place.is_dir():
        raise TracesError(f"{monitoring.place}: no such folder", "create the folder that traces will be put into")
    tally = Tally()
    query = started(spark, monitoring, findings, tally)
    start = time.perf_counter()
    try:
        while not query.awaitTermination(POLL_SECONDS):
            elapsed = time.perf_counter() - start
            done = (query.lastProgress or {}).get("batchId", -1) + 1
            if not report(Progress("checking", done, 0, tally.records, tally.traces, elapsed)):
                break
    except Exception as error:  # whatever Spark raises for a query that failed
        raise driver_error(error) from error
    finally:
        with suppress(Exception):  # it may be over by now
            query.stop()
    return tally.outcome(complete=True, table=str(monitoring.results / VERDICTS))


def started(spark: Any, monitoring: Monitoring, findings: Findings, tally: Tally) -> Any:
    """The streaming query."""
    from pyspark.sql.streaming.state import GroupStateTimeout

    columns = pruned(monitoring.schema, monitoring.checker.columns)
    try:
        files = (
            spark.readStream.format("binaryFile")
            .schema("path string, modificationTime timestamp, length long, content binary")
            .option("recursiveFileLookup", "true")
            .option("maxFilesPerTrigger", monitoring.files_max)
            .load(str(monitoring.place))
            .select("path")
        )
        read = files.mapInArrow(ReadNew(monitoring.schema, columns), spark_schema(READ))
        said = read.groupBy(TRACE_ID).applyInPandasWithState(
            CheckGroup(monitoring.checker, columns, monitoring.ends),
            spark_schema(SAID), spark_schema(STATE), "append", GroupStateTimeout.ProcessingTimeTimeout,
        )  # fmt: skip
        verdict_rows = said.mapInArrow(unpack_verdicts, spark_schema(results()))
        writer = verdict_rows.writeStream.foreachBatch(Write(monitoring.results, findings, tally))
        return (
            writer.option("checkpointLocation", str(monitoring.checkpoint))
            .trigger(processingTime=f"{monitoring.trigger_seconds} seconds")
            .start()
        )
    except Exception as error:  # a checkpoint of another query, a place that cannot be written
        raise driver_error(error) from error


class ReadNew(Struct, frozen=True):
    """A stage: from paths of files to the records of each trace in them."""

    schema: TraceSchema
    columns: Columns

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Rows of `READ`."""
        for batch in batches:
            for path in batch.column(0).to_pylist():
                found = Path(local(path))
                if not found.name.startswith((".", "_")):
                    yield from self._file(found)

    def _file(self, path: Path) -> Iterator[Any]:
        findings = Reported()
        try:
            dataset = open_traces(path, findings)
            schema = united(self.schema, dataset.schema)
            for number in range(len(dataset.files)):
                whole = Dataset(dataset.files, schema)
                for piece in pieces(whole, Unit(number, None, 1, 0), self.columns, findings):
                    yield from self._traces(piece, str(path))
                    yield from self._notes(findings)
        except SchemaError as error:
            findings.add(Finding(Kind(error.problems[0][0]), f"{error}; the file is left out", str(path)))
        except TracesError as error:  # it has gone, or is none of ours
            findings.add(Finding(Kind.UNREADABLE, error.message, str(path)))
        yield from self._notes(findings)

    def _traces(self, piece: Any, path: str) -> Iterator[Any]:
        order = order_of(piece.column(TRACE_ID), piece)
        batch = plain(piece.take(pa.array(order)), self.columns)
        names, rows = [], []
        for name, start, size in spans(batch.column(TRACE_ID)):
            names.append(name)
            rows.append(packed(batch.slice(start, size)))
        paths = pa.array([path] * len(names), pa.string())
        yield pa.RecordBatch.from_arrays(
            [pa.array(names, pa.string()), paths, pa.array(rows, pa.binary()), pa.nulls(len(names), pa.string())],
            schema=READ,
        )

    @staticmethod
    def _notes(findings: Reported) -> Iterator[Any]:
        yield from findings.taken(READ)


def spans(traces: Any) -> Iterator[tuple[str, int, int]]:
    """For each trace, of records that are sorted: its id, its first row, how many rows it has."""
    runs = pc.run_end_encode(traces)
    start = 0
    for name, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        yield name, start, end - start
        start = end


class CheckGroup:
    """What is done with the news of one trace, and when nothing came of it for a while."""

    def __init__(self, checker: ConformanceChecker, columns: Columns, ends: Ends) -> None:
        self._checker, self._columns, self._ends = checker, columns, ends

    def __call__(self, key: tuple[str], news: Iterable[Any], state: Any) -> Iterator[Any]:
        """Rows of `SAID`."""
        import pandas as pd

        [trace_id] = key
        kept = state.get[0] if state.exists else None
        trace = ReceivedTrace(trace_id, self._checker, self._columns, self._ends, kept)
        notes: list[str] = []
        if state.hasTimedOut:
            if trace.over:  # it was remembered long enough
                state.remove()
                return
            trace.close()
        else:
            notes = self._take(trace, news)
            if trace_id == NOWHERE:
                yield pd.DataFrame({VERDICT: [None] * len(notes), NOTE: notes})
                return
        notes += [finding_note(finding) for finding in trace.findings]
        verdicts = [] if trace.verdict is None else [bytes(to_batch([trace.verdict]).serialize())]
        state.update((trace.state(),))
        seconds = self._ends.remembered_seconds if trace.over else self._ends.idle_seconds
        state.setTimeoutDuration(max(int(seconds * 1000), 1))
        if verdicts or notes:
            shown_verdicts = verdicts + [None] * len(notes)
            yield pd.DataFrame({VERDICT: shown_verdicts, NOTE: [None] * len(verdicts) + notes}, dtype=object)

    def _take(self, trace: ReceivedTrace, news: Iterable[Any]) -> list[str]:
        """Gives the trace what is new. Returns notes to be passed on."""
        notes, records = [], []
        for frame in news:
            for file, content, note in zip(frame[FILE], frame[RECORDS], frame[NOTE], strict=True):
                if isinstance(note, str):
                    found = Findings()
                    take_note(note, trace.trace_id, found)
                    for finding in found.first:
                        notes.append(note)
                        trace.damage(finding)
                    for finding in found.damaged.values():
                        trace.damage(finding)
                else:
                    records.append((unpacked(content, self._columns), file))
        trace.take(records)
        return notes


def unpack_verdicts(batches: Iterator[Any]) -> Iterator[Any]:
    """A stage: from rows of `SAID` to results."""
    for batch in batches:
        notes = batch.column(NOTE)
        content = [one for one in batch.column(VERDICT).to_pylist() if one is not None]
        if content:
            found = [pa.ipc.read_record_batch(pa.py_buffer(one), SCHEMA) for one in content]
            verdicts = pa.concat_batches(found)
            nothing = pa.nulls(verdicts.num_rows, pa.string())
            yield pa.RecordBatch.from_arrays([*verdicts.columns, nothing], schema=results())
        notes = notes.filter(notes.is_valid())
        if len(notes):
            arrays = [pa.nulls(len(notes), field.type) for field in results()]
            yield pa.RecordBatch.from_arrays([*arrays[:-1], notes], schema=results())


class Write:
    """Writes what was said of a batch; of one that is done again, over what was written before."""

    def __init__(self, folder: Path, findings: Findings, tally: Tally) -> None:
        self._folder, self._findings, self._tally = folder, findings, tally

    def __call__(self, frame: Any, number: int) -> None:
        """Is called once for each batch, or again after a restart."""
        found = frame.toArrow()
        notes = found.column(NOTE)
        verdicts = found.filter(notes.is_null()).drop_columns([NOTE]).cast(SCHEMA)
        note_rows = found.filter(notes.is_valid()).select([NOTE])
        written(self._folder / VERDICTS, number, verdicts)
        written(self._folder / FINDINGS, number, note_rows)
        for batch in verdicts.to_batches():
            self._tally.add(batch)
        for note in note_rows.column(NOTE).to_pylist():
            take_note(note, NOWHERE, self._findings)


def written(folder: Path, number: int, table: Any) -> None:
    """Writes the file of a batch: all of it or nothing, and nothing for an empty table."""
    path = folder / f"{BATCH}-{number:08}.parquet"
    folder.mkdir(parents=True, exist_ok=True)
    if not table.num_rows:
        path.unlink(missing_ok=True)
        return
    own = path.with_name(f".{path.name}")
    pq.write_table(table, own)
    os.replace(own, path)


def verdicts_of(folder: Path) -> Any:
    """The table of all verdicts that a stream has written."""
    files = sorted((folder / VERDICTS).glob(f"{BATCH}-*.parquet"))
    return pa.concat_tables([SCHEMA.empty_table(), *(pq.read_table(file, schema=SCHEMA) for file in files)])


def findings_of(folder: Path) -> Findings:
    """All findings that a stream has written."""
    found = Findings()
    for file in sorted((folder / FINDINGS).glob(f"{BATCH}-*.parquet")):
        for note in pq.read_table(file).column(NOTE).to_pylist():
            take_note(note, NOWHERE, found)
    return found
