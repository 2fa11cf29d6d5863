"""The plain monitor for one machine: looks now and then what was added to files of JSON lines, and checks it.

Files may grow while they are read, as logs do, and new ones may come; a line counts when it has its end. What is known
is kept in one file, written after each step; a monitor that was killed goes on from there. The table of verdicts (JSON
lines) is cut back to what that file knows of, so none is lost or reported twice.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from hacheck.atomic_files import replacing
from hacheck.traces.conformance.verdicts import Verdict, to_batch
from hacheck.traces.dataset import ROW, SOURCE, walked
from hacheck.traces.drivers.columns import Columns, pruned
from hacheck.traces.drivers.contract import ConformanceChecker, Outcome, Progress, Report
from hacheck.traces.drivers.received_trace import Ends, ReceivedTrace
from hacheck.traces.drivers.verdict_table import Tally
from hacheck.traces.findings import Finding, Findings, Kind, TracesError, text_of
from hacheck.traces.json_records import Problem, parsed, problem_of
from hacheck.traces.records import METADATA_KEY, TRACE_ID, SchemaError, TraceSchema, from_header, united

ENDINGS = (".jsonl", ".ndjson", ".json")

STEP_BYTES = 8 << 20
"""So much of a file is read in one step."""

POLL_SECONDS = 0.5
WAIT_SECONDS = 0.1

VERSION = 2
"""Of checkpoints: 1 had pickled states of traces, which are not read any more."""

Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
"""A number of bytes, lines or verdicts."""


class Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A checkpoint: of each file the bytes read, the number of the next line and whether its header was refused; of
    each trace its state, when something came of it last, and which are over; the bytes of the table; verdicts."""

    version: Annotated[int, msgspec.Meta(ge=VERSION, le=VERSION)] = msgspec.field(name="hacheck.monitor")
    files: dict[str, tuple[Count, Count, Count]] = {}
    traces: dict[str, bytes] = {}
    touched: dict[str, float] = {}
    over: list[str] = []
    written: Count = 0
    counts: dict[str, Count] = {}


class Tailing(Struct, frozen=True):
    """What is watched: files of JSON lines in the folder `place`, with records of a schema. `verdicts`: the file that
    verdicts and findings are appended to; `checkpoint`: the file from which a monitor that was ended goes on."""

    place: Path
    schema: TraceSchema
    checker: ConformanceChecker
    verdicts: Path
    checkpoint: Path
    ends: Ends = Ends()


def monitor_locally(
    tailing: Tailing, findings: Findings, report: Report = lambda progress: True, *, once: bool = False
) -> Outcome:
    """Checks traces as their records come, until `report` says to stop; with `once`, until all that is there was read,
    then as if nothing more came. The outcome is of this run, and its records are all that were read: also those of a
    trace that come after the one at which it surely deviates.

    Errors: `TracesError` where there is no folder, something cannot be written, or the checkpoint is another's.
    """
    if not tailing.place.is_dir():
        raise TracesError(f"{tailing.place}: no such folder", "create the folder that traces will be written into")
    monitor = Monitor(tailing, findings)
    start = time.perf_counter()
    complete = True
    while complete:
        more = monitor.step(time.time())
        if once and not more:
            monitor.close_all()
            break
        waited = 0.0
        while complete:
            elapsed = time.perf_counter() - start
            tally = monitor.tally
            progress = Progress("checking", monitor.steps, 0, monitor.records, tally.traces, elapsed)
            complete = report(progress)
            if more or waited >= POLL_SECONDS:
                break
            time.sleep(WAIT_SECONDS)
            waited += WAIT_SECONDS
    outcome = monitor.tally.outcome(complete=complete or not once, table=str(tailing.verdicts))
    return replace(outcome, records=monitor.records, before=monitor.before)


class Monitor:
    """The traces that are open, and how far each file was read."""

    def __init__(self, tailing: Tailing, findings: Findings) -> None:
        self._tailing, self._findings = tailing, findings
        self._columns: Columns = pruned(tailing.schema, tailing.checker.columns)
        self._fields = dict(tailing.schema.fields)
        self.tally = Tally()
        self.records = self.steps = 0
        kept = self._kept()
        self._places: dict[str, list[int]] = {name: list(place) for name, place in kept.files.items()}
        self._states: dict[str, bytes] = dict(kept.traces)
        self._touched: dict[str, float] = dict(kept.touched)
        self._over: set[str] = set(kept.over)
        self._written: int = kept.written
        self.before: Mapping[str, int] = kept.counts
        self._cut_back()

    def step(self, now: float) -> bool:
        """Reads what is new, checks it, ends what is idle. Returns whether there was anything new."""
        lines: list[dict[str, Any]] = []
        found: dict[str, list[tuple[Any, str]]] = {}
        new = False
        for path in walked(self._tailing.place):
            if path.name.endswith(ENDINGS):
                rows = self._read(path, lines)
                new = new or rows is not None
                for name, batch in self._by_trace(rows or []):
                    found.setdefault(name, []).append((batch, str(path)))
        for name, batches in found.items():
            self._touched[name] = now
            self._check(name, lines, batches)
        for name in [name for name, last in self._touched.items() if now - last > self._patience(name)]:
            if name in self._over:
                del self._states[name], self._touched[name]
                self._over.discard(name)
            else:
                self._check(name, lines, None)
        self._write(lines)
        self.steps += 1
        return new

    def close_all(self) -> None:
        """Ends every trace."""
        lines: list[dict[str, Any]] = []
        for name in [name for name in self._touched if name not in self._over]:
            self._check(name, lines, None)
        self._write(lines)

    def _patience(self, name: str) -> float:
        ends = self._tailing.ends
        return ends.remembered_seconds if name in self._over else ends.idle_seconds

    def _check(self, name: str, lines: list[dict[str, Any]], batches: list[tuple[Any, str]] | None) -> None:
        """Gives a trace its new records, or (`None`) ends it."""
        ends, checker = self._tailing.ends, self._tailing.checker
        trace = ReceivedTrace(name, checker, self._columns, ends, self._states.get(name))
        damage = self._findings.damaged.get(name)
        if damage is not None:
            trace.damage(damage)
        if batches is None:
            trace.close()
        else:
            trace.take(batches)
            self.records += sum(batch.num_rows for batch, _ in batches)
        for finding in trace.findings:
            self._report(finding, lines)
        if trace.verdict is not None:
            self.tally.add(to_batch([trace.verdict]))
            lines.append({"verdict": _json(trace.verdict)})
        if trace.over:
            self._over.add(name)
        self._states[name] = trace.state()

    def _report(self, finding: Finding, lines: list[dict[str, Any]]) -> None:
        self._findings.add(finding)
        lines.append({"finding": finding.to_json()})
        if finding.trace_id is not None:
            self._touched.setdefault(finding.trace_id, time.time())
            self._states.setdefault(finding.trace_id, self._damaged(finding))

    def _damaged(self, finding: Finding) -> bytes:
        """The state of a trace of which nothing is known but damage."""
        assert finding.trace_id is not None, "a trace"
        trace = ReceivedTrace(finding.trace_id, self._tailing.checker, self._columns, self._tailing.ends, None)
        trace.damage(finding)
        return trace.state()

    # ---- reading ----

    def _read(self, path: Path, lines: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
        """The good records among the lines that are new in a file; `None` where there are no new lines."""
        name = str(path)
        place = self._places.setdefault(name, [0, 1, 0])
        try:
            with path.open("rb") as stream:
                if stream.seek(0, os.SEEK_END) < place[0]:
                    message = "is shorter than before: its present content is not read"
                    self._report(Finding(Kind.UNREADABLE, message, name), lines)
                    place[0] = stream.tell()
                stream.seek(place[0])
                data = stream.read(STEP_BYTES)
        except OSError as error:
            self._report(Finding(Kind.UNREADABLE, f"cannot be read: {error.strerror}", name), lines)
            return None
        whole = data[: data.rfind(b"\n") + 1]
        if not whole:
            return None
        first, rows = place[1], whole.split(b"\n")[:-1]
        place[0], place[1] = place[0] + len(whole), first + len(rows)
        found = []
        for number, line in enumerate(rows, first):
            content = self._record(line.removesuffix(b"\r"), place)
            if isinstance(content, Problem):
                problem = Finding(content.kind, content.message, name, number, content.trace_id, text_of(line))
                self._report(problem, lines)
            elif content is not None:
                found.append(content | {ROW: number, SOURCE: 0})
        return found

    def _record(self, line: bytes, place: list[int]) -> dict[str, Any] | Problem | None:
        """The record in a line, or what is wrong with it. Below a header that was refused nothing is a record."""
        if not line.strip():
            return None
        content = parsed(line)
        if isinstance(content, Problem):
            return content
        if METADATA_KEY.decode() in content:
            place[2] = 0
            try:
                united(self._tailing.schema, from_header(content))
            except SchemaError as error:
                place[2] = 1
                return Problem(Kind(error.problems[0][0]), f"{error}; the lines below it are left out")
            return None
        if place[2]:
            trace_id = content.get(TRACE_ID)
            message = "is below a header that was refused"
            return Problem(Kind.HEADER, message, trace_id if isinstance(trace_id, str) and trace_id else None)
        return problem_of(content, self._fields) or content

    def _by_trace(self, rows: list[dict[str, Any]]) -> list[tuple[str, Any]]:
        traces: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            traces.setdefault(row[TRACE_ID], []).append(row)
        located = self._columns.located
        return [(name, pa.RecordBatch.from_pylist(found, located)) for name, found in traces.items()]

    # ---- what is kept ----

    def _kept(self) -> Kept:
        path = self._tailing.checkpoint
        hint = "give another folder for results, or remove this file to start again"
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return Kept(VERSION)
        except OSError as error:
            raise TracesError(f"{path}: cannot be read: {error.strerror}", hint) from None
        try:
            kept = msgspec.convert(json.loads(content), type=Kept)
        except (ValueError, RecursionError) as error:  # msgspec's errors are of this kind, too
            raise TracesError(f"{path}: not a checkpoint of this version: {error}", hint) from None
        known = kept.traces.keys()
        if not (known >= kept.touched.keys() and kept.touched.keys() >= set(kept.over)):
            raise TracesError(f"{path}: the checkpoint is damaged: it lacks the state of a trace", hint)
        return kept

    def _cut_back(self) -> None:
        """Removes from the table what the checkpoint does not know of: it will be written again."""
        path = self._tailing.verdicts
        try:
            with path.open("ab") as stream:
                if stream.tell() < self._written:
                    raise TracesError(
                        f"{path}: is shorter than when the monitor ended",
                        "restore it, or give another folder for results",
                    )
                stream.truncate(self._written)
        except OSError as error:
            raise _unwritable(path, error) from None

    def _write(self, lines: list[dict[str, Any]]) -> None:
        """Writes first what was said, then the checkpoint that knows of it."""
        path = self._tailing.verdicts
        try:
            with path.open("ab") as stream:
                for line in lines:
                    stream.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
                stream.flush()
                os.fsync(stream.fileno())
                self._written = stream.tell()
            path = self._tailing.checkpoint
            kept = Kept(
                version=VERSION,
                files={name: (place[0], place[1], place[2]) for name, place in self._places.items()},
                traces=self._states,
                touched=self._touched,
                over=sorted(self._over),
                written=self._written,
                counts=dict(Counter(self.before) + self.tally.counts),
            )
            with replacing(path) as own, own.open("w", encoding="ascii") as stream:
                json.dump(msgspec.to_builtins(kept), stream)  # names of files may be no UTF-8: only this escapes them
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise _unwritable(path, error) from None


def _json(verdict: Verdict) -> dict[str, Any]:
    """A verdict as a JSON object, with the names of the table's columns."""
    content: dict[str, Any] = msgspec.to_builtins(verdict)
    content["verdict"] = content.pop("kind")
    return content


def _unwritable(path: Path, error: OSError) -> TracesError:
    return TracesError(f"{path}: cannot be written: {error.strerror or error}")
