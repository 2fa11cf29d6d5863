"""The logs at a place as traces: which files there are, whose they are, and their records in the order of time."""

from __future__ import annotations

import heapq
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from msgspec import Struct

from hacheck.traces.adapters.description import Adapter
from hacheck.traces.adapters.line_counts import Tally
from hacheck.traces.adapters.log_continuation import LOG_UNTIL, with_log_until
from hacheck.traces.adapters.streams import Record, Stream, found_fields
from hacheck.traces.adapters.time_stamps import Clock
from hacheck.traces.dataset import ROW, SOURCE, TraceFile, located_schema, shown, walked
from hacheck.traces.findings import Finding, Findings, NotedFindings, TracesError
from hacheck.traces.parquet_files import BATCH_ROWS
from hacheck.traces.records import FILE, LINE, SEQ, TRACE_ID, FieldType, TraceSchema
from hacheck.traces.text_blocks import blocks

KEPT_BYTES = 32_000_000
"""The records of so large logs are kept when they have been read, and take some ten times as much memory."""


class LogFile(Struct, frozen=True):
    """A log: the trace it belongs to, its node where its name shows it, and the adapter that reads it."""

    file: TraceFile
    trace_id: str
    node: str | None
    adapter: Adapter


class _Read(Struct, frozen=True):
    """What a reading found. `findings`: those added, and those noted as damage of a trace."""

    batches: list[Any]
    findings: list[tuple[str | None, Finding]]

    def again(self, findings: Findings) -> Iterator[Any]:
        """The records, with what is wrong with them."""
        for trace_id, finding in self.findings:
            if trace_id is None:
                findings.add(finding)
            else:
                findings.damage(trace_id, finding)
        yield from self.batches


class LogDataset:
    """The traces that an adapter makes of logs. `tally`: where the lines went, when all are read; `zone`: that of
    clocks, where it is not the adapter's; `unread`: files in the folder that are none of its logs."""

    def __init__(
        self, logs: tuple[LogFile, ...], adapter: Adapter, zone: str | None = None, unread: tuple[str, ...] = ()
    ) -> None:
        self.logs = logs
        self.unread = unread
        self.adapter = adapter
        self.files = tuple(log.file for log in logs)
        self.clock_back_ns = max(one.line.clock_back_ns for one in adapter.every)
        self._by_trace: dict[str, list[int]] = {}
        for source, log in enumerate(logs):
            self._by_trace.setdefault(log.trace_id, []).append(source)
        self._read: _Read | None = None
        self.in_order = adapter.json is None  # objects may name traces of their own
        self.tally = Tally()
        self.zone = zone
        fields = adapter.field_types()
        if adapter.json is not None and adapter.json.any_event:
            fields = found_fields(self.files, adapter, fields)
        self._continues = adapter.line.head is not None and LOG_UNTIL not in dict(fields)
        if self._continues:
            fields = (*fields, (LOG_UNTIL, FieldType.INT))
        self.schema = TraceSchema(fields, adapter.order)

    @property
    def size_bytes(self) -> int:
        """The size of all files."""
        return sum(file.size_bytes for file in self.files)

    def located(self, findings: Findings) -> Iterator[Any]:
        """All records, one trace after another, each in the order of time; see `dataset.Located`. Those of small logs
        are kept: the second reading finds what the first one did."""
        if self._read is not None:
            yield from self._read.again(findings)
        elif self.size_bytes <= KEPT_BYTES:
            noted = NotedFindings(findings)
            batches = []
            for batch in self._located(noted):
                batches.append(batch)
                yield batch
            self._read = _Read(batches, noted.noted)
        else:
            yield from self._located(findings)

    def _located(self, findings: Findings) -> Iterator[Any]:
        self.tally = Tally()
        schema = located_schema(self.schema)
        rows: list[dict[str, Any]] = []
        for row in self._rows(findings):
            rows.append(row)
            if len(rows) == BATCH_ROWS:
                yield pa.RecordBatch.from_pylist(rows, schema)
                rows = []
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema)

    def _rows(self, findings: Findings) -> Iterator[dict[str, Any]]:
        """Records as objects, numbered in their trace."""
        for trace_id in sorted(self._by_trace):
            numbers: Counter[str] = Counter()
            streams = self._streams(trace_id, findings)
            for record in heapq.merge(*streams, key=lambda record: record.when):
                own = record.columns.get(TRACE_ID, trace_id)
                numbers[own] += 1
                file = self.files[record.source]
                place = {FILE: file.name, LINE: record.line, SOURCE: record.source, ROW: record.line}
                yield record.columns | place | {TRACE_ID: own, SEQ: numbers[own]}

    def _streams(self, trace_id: str, findings: Findings) -> list[Iterator[Record]]:
        """The records of each node (or of each file, where names show no node) of a trace, each in its order."""
        groups: dict[object, list[int]] = {}
        for source in self._by_trace[trace_id]:
            log = self.logs[source]
            key = source if log.node is None else (log.adapter.name, log.node)
            groups.setdefault(key, []).append(source)
        found = []
        start = self._timeline_start(trace_id)
        written = max(self.logs[source].file.path.stat().st_mtime_ns for source in self._by_trace[trace_id])
        for sources in groups.values():
            log = self.logs[sources[0]]
            types = dict(self.schema.fields)
            zone = self.zone or log.adapter.line.zone
            stream = Stream(log.adapter, types, zone, log.node, trace_id, self.tally, findings, start, written)
            files = [(source, self.files[source]) for source in sources]
            if self._continues and log.node is not None and not log.adapter.line.any_order:
                found.append(with_log_until(stream, files))
            else:
                found.append(stream.records(files))
        return found

    def _timeline_start(self, trace_id: str) -> int | None:
        """When the time line of a trace begins, in nanoseconds since 1970: its first line that shows both a time and
        the seconds `since` then."""
        for log in (self.logs[source] for source in self._by_trace[trace_id]):
            rule = log.adapter.line
            if rule.head is None or not {"since", "time"} <= set(rule.head.groupindex):
                continue
            clock = Clock(rule.times, self.zone or rule.zone)
            for block in blocks(log.file.path, log.file.name, Findings()):
                for _, line in block.lines():
                    match = rule.head.match(line.decode("utf-8", errors="backslashreplace"))
                    moment = None if match is None else clock.read(match["time"])
                    if match is not None and moment is not None:
                        return moment - round(float(match["since"]) * 1e9)
        return None


def open_logs(place: Path, adapter: Adapter, zone: str | None = None) -> LogDataset:
    """The logs in a file or folder. A folder with logs in it is one trace, named as the folder; a folder of such
    folders is many.

    Errors: `TracesError` where there is no log.
    """
    try:
        logs, unread = _logs(place, adapter)
    except OSError as error:
        raise TracesError(f"{place}: cannot be read: {error.strerror}") from None
    return LogDataset(logs, adapter, zone, unread)


def logs_in(place: Path, adapter: Adapter) -> tuple[LogFile, ...]:
    """The logs that are in a folder by now, perhaps none. Errors: `OSError`."""
    try:
        return _logs(place, adapter)[0]
    except TracesError:
        return ()


def _logs(place: Path, adapter: Adapter) -> tuple[tuple[LogFile, ...], tuple[str, ...]]:
    """The logs at a place, and the files there that none of the adapters reads."""
    if not place.exists():
        raise TracesError(f"{place}: no such file or folder")
    if not place.is_dir():
        if not os.access(place, os.R_OK):
            raise TracesError(f"{place}: no permission to read it")
        name = shown(Path(place.name))
        return (_log(place, name, name.partition(".")[0], adapter),), ()
    found, unread = [], []
    top = _folder_name(place)
    for path in walked(place):
        below = shown(path.relative_to(place)).replace(os.sep, "/")
        own = next((one for one in (*adapter.beside, adapter) if matched(below, one) is not None), None)
        if own is None:
            unread.append(below)
        else:
            found.append(_log(path, below, below.rpartition("/")[0] or top, own))
    # What stands beside no log belongs to no story of this system.
    traces = {log.trace_id for log in found if log.adapter is adapter}
    found = [log for log in found if log.trace_id in traces]
    if not found:
        names = " or ".join(item.pattern for item in (adapter.files, adapter.paths) if item is not None)
        raise TracesError(f"{place}: no logs in this folder", f"{adapter.name} reads files whose names match {names}")
    return tuple(found), tuple(unread)


def matched(below: str, adapter: Adapter) -> dict[str, str | None] | None:
    """What the path of a file shows, `node` and `trace` where it does; `None` if it is none of the adapter's logs."""
    for pattern, text in ((adapter.paths, below), (adapter.files, below.rpartition("/")[2])):
        match = None if pattern is None else pattern.fullmatch(text)
        if match is not None:
            by_path = {"by_path": ""} if pattern is adapter.paths else {}
            return match.groupdict() | by_path
    return None


def _folder_name(folder: Path) -> str:
    return shown(Path(folder.resolve().name)) if folder.resolve().name else "trace"


def _log(path: Path, below: str, trace_id: str, adapter: Adapter) -> LogFile:
    groups = matched(below, adapter) or {}
    own = groups.get("trace")
    if "by_path" in groups:  # then the path shows the trace, too, or all is one
        trace_id = own or _folder_name(path.parents[below.count("/")])
    elif own is not None:
        trace_id = f"{trace_id}/{own}"
    node = groups.get("node") or adapter.node
    return LogFile(TraceFile(path, below, False, path.stat().st_size), trace_id, node, adapter)
