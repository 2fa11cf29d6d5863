"""Checks logs while they are written: reads what is new, follows each trace, and raises alerts, each exactly once.

Three files are kept: the records that were read, the alerts, and a checkpoint that knows how much of these counts and
how far each log was read. The checkpoint is written last, and what lies beyond it is cut off at the next start: a
monitor that was killed goes on from there, and reads once more what it did not know of.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from hacheck.atomic_files import replacing
from hacheck.traces.adapters.description import Adapter
from hacheck.traces.adapters.tailed_logs import FilePosition, TailedLogs
from hacheck.traces.conformance.checker_by_settings import CheckerBySettings
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Broken, Verdict
from hacheck.traces.drivers.live_trace import LiveTrace
from hacheck.traces.findings import FreshFindings, TracesError
from hacheck.traces.records import TIME, TRACE_ID, TraceSchema

RECORDS_MAX = 200_000
"""So many records of all traces are followed; they are in memory."""

LOOK_BACK_SECONDS = 1.0
LOOK_BACK_SHARE = 20
"""While a property is possibly violated the whole log is looked back on, but only so often, and only for such a part of
the time."""

VERSION = 1
_HINT = "give another folder for results, or remove this one"

AlertKind: TypeAlias = Literal["violated", "possible", "deviates", "distance", "finding"]


class Alert(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What there is to say, once.

    - `id`: 1, 2, …; `at`: when it was raised; `trace`, `property`: empty where it is about none;
    - `message`: in a sentence; `file`, `line`: the record that shows it; `inevitable_file`, `inevitable_line`: the one
      after which a violation could not be avoided any more without a repair;
    - `before`, `after`: of `distance`: faults that were needed, and that are (-1: no number of them).
    """

    id: int
    at: str
    kind: AlertKind
    trace: str
    property: str
    message: str
    file: str = ""
    line: int | None = None
    inevitable_file: str = ""
    inevitable_line: int | None = None
    before: int | None = None
    after: int | None = None


class KeptTrace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was said of a trace: kinds of alerts by property, and the last distances."""

    said: list[tuple[AlertKind, str]] = []
    distances: dict[str, tuple[int, int]] = {}


Count = Annotated[int, msgspec.Meta(ge=0, le=2**62)]


class Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A checkpoint."""

    version: Annotated[int, msgspec.Meta(ge=VERSION, le=VERSION)] = msgspec.field(name="hacheck.live")
    positions: dict[str, FilePosition] = {}
    traces: dict[str, KeptTrace] = {}
    records_bytes: Count = 0
    alerts_bytes: Count = 0
    alerts: Count = 0
    delivered: Count = 0


class Watch(Struct, frozen=True):
    """What is watched. `results`: the folder for what is kept; `delay_seconds`: how much later than its time a record
    may come."""

    place: Path
    adapter: Adapter
    zone: str | None
    schema: TraceSchema
    checker: TraceChecker | CheckerBySettings
    results: Path
    delay_seconds: float


class LiveMonitor:
    """The traces that are followed. `traces`: by name; `alerts`: how many of each kind were raised by this process;
    `records`: how many are followed; `findings`: what is wrong with lines."""

    def __init__(self, watch: Watch, findings: FreshFindings) -> None:
        """Errors: `TracesError` where the folder of results cannot be read, or is another's."""
        self._watch, self.findings = watch, findings
        self._alerts_path, self._records_path = watch.results / "alerts.jsonl", watch.results / "records.jsonl"
        kept = self._kept()
        self._kept_traces = dict(kept.traces)
        self._alerts_bytes, self._records_bytes = kept.alerts_bytes, kept.records_bytes
        self._number, self.delivered = kept.alerts, kept.delivered
        self.traces: dict[str, LiveTrace] = {}
        self.alerts: Counter[str] = Counter()
        self.records = 0
        self._looked_back: dict[str, tuple[float, int]] = {}
        fields = dict(watch.schema.fields)
        self._logs = TailedLogs(watch.place, watch.adapter, watch.zone, fields, kept.positions, findings)
        self._cut_back()
        self._begin()

    def step(self, now: float, report: Callable[[], bool] = lambda: True, *, last: bool = False) -> list[Alert] | None:
        """Reads what is new and says what there is to say: nothing at all (`None`) if nothing was new. `now`: seconds
        since 1970; `last`: no more is written."""
        rows = self._new_rows(now, last)
        watermark = None if self._logs.behind else round((now - self._watch.delay_seconds) * 1e9)
        watermark = 2**62 if last and not self._logs.behind else watermark
        raised: list[Alert] = []
        for name, some in rows.items():
            self._trace(name).add(some)
        for name, trace in self.traces.items():
            if name in rows or (watermark is not None and trace.waits_for(watermark)) or last:
                if not trace.update(watermark, report):
                    return None
                raised += self._said_of(trace, now, last)
            elif trace.is_open:
                trace.refine(report)
                raised += self._of_distances(trace, now)
        raised += self._of_findings()
        if not rows and not raised:
            return None
        self._write(rows, raised)
        return raised

    @property
    def raised(self) -> int:
        """How many alerts there are, of earlier runs as well."""
        return self._number

    def verdicts(self) -> list[Verdict]:
        """What `conform` says of each trace by now."""
        return [self.traces[name].verdict() for name in sorted(self.traces)]

    def undelivered(self) -> list[Alert]:
        """The alerts that nobody got yet, oldest first."""
        try:
            lines = self._alerts_path.read_bytes().splitlines()
        except FileNotFoundError:
            return []
        found = [msgspec.json.decode(line, type=Alert) for line in lines]
        return [one for one in found if one.id > self.delivered]

    def note_delivered(self, number: int) -> None:
        """Notes that the alerts up to a number were delivered. Errors: `TracesError`."""
        if number > self.delivered:
            self.delivered = number
            self._write({}, [])

    # ---- reading ----

    def _new_rows(self, now: float, last: bool) -> dict[str, list[dict[str, Any]]]:
        rows: dict[str, list[dict[str, Any]]] = {}
        found = sorted(self._logs.step(now, last=last), key=lambda one: one.when)
        for one in found:
            if one.columns.get(TIME) is not None:
                rows.setdefault(one.trace_id, []).append(one.columns)
        self.records += sum(map(len, rows.values()))
        if self.records > RECORDS_MAX:
            raise TracesError(
                f"{self._watch.place}: more than {RECORDS_MAX:,} records are not followed",
                "begin anew with another --results, and logs that begin later",
            )
        return rows

    def _trace(self, name: str) -> LiveTrace:
        if name not in self.traces:
            self.traces[name] = LiveTrace(name, self._watch.checker, self._watch.schema)
        return self.traces[name]

    # ---- alerts ----

    def _said_of(self, trace: LiveTrace, now: float, last: bool) -> list[Alert]:
        raised = self._of_distances(trace, now)
        said = self._kept_traces.get(trace.trace_id, KeptTrace()).said
        found = trace.explanation
        news = trace.is_impossible and ("deviates", "") not in said
        if found is not None:
            for name, (some, every) in zip(trace.marked, found.violated, strict=True):
                done = ("violated", name) in said
                news = news or (every and not done) or (some and not done and ("possible", name) not in said)
        if not (news or last or self._is_due(trace, now, said)):
            return raised
        begun = time.monotonic()
        verdict = trace.verdict()
        pause = max(LOOK_BACK_SECONDS, LOOK_BACK_SHARE * (time.monotonic() - begun))
        self._looked_back[trace.trace_id] = now + pause, len(trace.rows)
        if verdict.kind == "deviates":
            where = {"file": verdict.file, "line": verdict.line}
            raised += self._once(
                trace, "deviates", "", verdict.reason or "no run of the model writes this line", now, where
            )
        for kind, names in (("violated", verdict.violated), ("possible", verdict.perhaps)):
            for name in dict.fromkeys(one.partition("@")[0] for one in names):
                raised += self._of_property(trace, verdict, "violated" if kind == "violated" else "possible", name, now)
        return raised

    def _is_due(self, trace: LiveTrace, now: float, said: list[tuple[AlertKind, str]]) -> bool:
        """Whether what is possible may have become certain: later records rule runs out."""
        earliest, records = self._looked_back.get(trace.trace_id, (0.0, 0))
        waiting = any(kind == "possible" and ("violated", name) not in said for kind, name in said)
        return waiting and records != len(trace.rows) and now >= earliest

    def _of_property(self, trace: LiveTrace, verdict: Verdict, kind: AlertKind, name: str, now: float) -> list[Alert]:
        stretches = [one for one in verdict.broken if one.invariant == name]
        first = next((one for one in stretches if one.sure == (kind == "violated")), None)
        first = first or next(iter(stretches), None)
        where: dict[str, Any] = {}
        if first is not None:
            where = {"file": first.start.file, "line": first.start.line}
        said = self._kept_traces.get(trace.trace_id, KeptTrace()).said
        if kind == "violated" and (kind, name) not in said:
            place = trace.inevitable_at(name) or (None if first is None else first.start)
            if place is not None:
                where |= {"inevitable_file": place.file, "inevitable_line": place.line}
        word = "is violated" if kind == "violated" else "is possibly violated"
        return self._once(trace, kind, name, f"`{name}` {word}{'' if first is None else _stretch(first)}", now, where)

    def _of_distances(self, trace: LiveTrace, now: float) -> list[Alert]:
        """Warnings that fewer faults are needed than before."""
        kept = self._kept_traces.get(trace.trace_id, KeptTrace())
        raised = []
        distances = dict(kept.distances)
        for name, one in trace.now.distances.items():
            if not one.exact:
                continue
            now_at = tuple(-1 if number is None else number for number in (one.fewest, one.most))
            before = distances.get(name, now_at)
            distances[name] = now_at[0], now_at[1]
            fell = next((pair for pair in zip(before, now_at, strict=True) if _is_less(pair[1], pair[0])), None)
            if fell is not None:
                message = f"`{name}` is nearer to being broken: {one.words}"
                last = trace.rows[-1]
                where = {"file": last["file"], "line": last["line"], "before": fell[0], "after": fell[1]}
                raised.append(self._alert("distance", trace.trace_id, name, message, now, where))
        self._kept_traces[trace.trace_id] = msgspec.structs.replace(kept, distances=distances)
        return raised

    def _of_findings(self) -> list[Alert]:
        """Of what is wrong with lines that was found since."""
        now = time.time()
        return [
            self._alert("finding", one.trace_id or "", "", one.message, now, {"file": one.file, "line": one.line})
            for one in self.findings.taken()
        ]

    def _once(
        self, trace: LiveTrace, kind: AlertKind, name: str, message: str, now: float, where: dict[str, Any]
    ) -> list[Alert]:
        kept = self._kept_traces.get(trace.trace_id, KeptTrace())
        if (kind, name) in kept.said:
            return []
        self._kept_traces[trace.trace_id] = msgspec.structs.replace(kept, said=[*kept.said, (kind, name)])
        return [self._alert(kind, trace.trace_id, name, message, now, where)]

    def _alert(self, kind: AlertKind, trace: str, name: str, message: str, now: float, where: dict[str, Any]) -> Alert:
        self._number += 1
        self.alerts[kind] += 1
        at = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
        return Alert(self._number, at, kind, trace, name, message, **where)

    # ---- what is kept ----

    def _kept(self) -> Kept:
        path = self._watch.results / "checkpoint.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=Kept)
        except FileNotFoundError:
            return Kept(version=VERSION)
        except OSError as error:
            raise TracesError(f"{path}: cannot be read: {error.strerror}") from None
        except msgspec.DecodeError as error:
            raise TracesError(f"{path}: no checkpoint of a monitor of logs: {error}", _HINT) from None

    def _cut_back(self) -> None:
        """Cuts off what the checkpoint does not know of."""
        for path, size in ((self._alerts_path, self._alerts_bytes), (self._records_path, self._records_bytes)):
            try:
                with path.open("ab") as stream:
                    if stream.tell() < size:
                        raise TracesError(f"{path}: is shorter than its checkpoint says", _HINT)
                    stream.truncate(size)
            except OSError as error:
                raise _unwritable(path, error) from None

    def _begin(self) -> None:
        """Follows what was read before."""
        rows: dict[str, list[dict[str, Any]]] = {}
        with self._records_path.open("rb") as stream:
            for line in stream:
                row = json.loads(line)
                rows.setdefault(row[TRACE_ID], []).append(row)
        for name, some in rows.items():
            self._trace(name).add(some)
            self.records += len(some)
            self._looked_back[name] = 0.0, 0

    def _write(self, rows: dict[str, list[dict[str, Any]]], raised: list[Alert]) -> None:
        """Writes records and alerts, then the checkpoint that knows of them."""
        content = b"".join(json.dumps(row).encode() + b"\n" for some in rows.values() for row in some)
        alerts = b"".join(msgspec.json.encode(one) + b"\n" for one in raised)
        path = self._records_path
        try:
            self._records_bytes = _appended(path, content)
            path = self._alerts_path
            self._alerts_bytes = _appended(path, alerts)
            path = self._watch.results / "checkpoint.json"
            kept = Kept(
                version=VERSION,
                positions=self._logs.positions,
                traces=self._kept_traces,
                records_bytes=self._records_bytes,
                alerts_bytes=self._alerts_bytes,
                alerts=self._number,
                delivered=self.delivered,
            )
            with replacing(path) as own, own.open("wb") as stream:
                stream.write(msgspec.json.encode(kept))
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise _unwritable(path, error) from None


def _appended(path: Path, content: bytes) -> int:
    """Appends to a file. Returns its size."""
    with path.open("ab") as stream:
        if content:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        return stream.tell()


def _is_less(number: int, other: int) -> bool:
    """Whether one number of faults is less than another, where -1 is none at all."""
    return number >= 0 and (other < 0 or number < other)


def _stretch(one: Broken) -> str:
    nodes = f" by {', '.join(one.nodes)}" if one.nodes else ""
    return f"{nodes} from {one.start.words}{', still' if one.is_open else f' to {one.end.words}'}"


def _unwritable(path: Path, error: OSError) -> TracesError:
    return TracesError(f"{path}: cannot be written: {error.strerror or error}")
