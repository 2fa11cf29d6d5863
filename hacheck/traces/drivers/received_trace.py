"""One trace whose records come in bit by bit, in any order: what both streaming drivers keep of it.

Records are fed to the checker as soon as all before them are there. One that is missing is waited for until the trace
ends, or too many wait behind it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from hacheck.traces.conformance.open_trace_state import damaged
from hacheck.traces.conformance.verdicts import Verdict
from hacheck.traces.dataset import ROW, SOURCE
from hacheck.traces.drivers.columns import Columns
from hacheck.traces.drivers.contract import ConformanceChecker
from hacheck.traces.drivers.trace_verdicts import put_right
from hacheck.traces.findings import Finding, Kind
from hacheck.traces.records import EVENT, NODE, SEQ, TIME, TRACE_ID

WAITING_MAX = 100_000
"""So many records of a trace may wait for one that is missing; then it counts as lost."""


class Ends(Struct, frozen=True):
    """When a trace is over.

    - `events`: a record of one of these events is the last of its trace;
    - `idle_seconds`: so long nothing has come of it;
    - `remembered_seconds`: so long after its last record a trace that has its verdict is remembered, and records that
      come are reported. Still later ones would begin another trace of the same name.

    `clock_back_ns`: so far a node's clock may go back between one record and the next.
    """

    events: frozenset[str] = frozenset()
    idle_seconds: float = 600.0
    remembered_seconds: float = 3600.0
    clock_back_ns: int = 0


class KeptFinding(Finding, frozen=True, forbid_unknown_fields=True):
    """A finding as `Finding.to_json` writes it."""


class KeptTrace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trace as bytes: see `ReceivedTrace.state`. `open`: what its checker knows; `waiting`: records, as `packed`."""

    next: Annotated[int, msgspec.Meta(ge=1)] = 1
    times: dict[str, int] = {}
    damage: KeptFinding | None = None
    over: bool = False
    certain: bool = False
    open: bytes | None = None
    files: list[str] = []
    waiting: list[bytes] = []


class ReceivedTrace:
    """A trace that is not over, or is remembered. `verdict` is there once it is certain; `findings` are new ones, which
    the reader removes."""

    def __init__(
        self, trace_id: str, checker: ConformanceChecker, columns: Columns, ends: Ends, state: bytes | None
    ) -> None:
        self.trace_id = trace_id
        self._checker, self._columns, self._ends = checker, columns, ends
        kept = KeptTrace() if state is None else _kept(state)
        self._next: int = kept.next
        self._times: dict[str, int] = dict(kept.times)
        self.over: bool = kept.over
        self._certain: bool = kept.certain
        self._damage = _finding(kept.damage)
        self._open = None if self.over else checker.resume(kept.open)
        if self._open is not None:
            self._check(self._open.kept_records())
        self._files: list[str] = list(kept.files)
        self._waiting = [_waiting(content, columns, len(self._files)) for content in kept.waiting]
        self._ended = False
        self.verdict: Verdict | None = None
        self.findings: list[Finding] = []

    def _check(self, records: list[Any] | None) -> None:
        """Errors: `TracesError` unless these records, which the checker keeps, can be those of this trace."""
        if (records is None) != (self._next == 1):
            raise damaged("has another number of records than it says")
        located = self._columns.located
        schema = pa.schema([located.field(name) for name in self._columns.for_checker])
        for batch in records or ():
            if not batch.schema.equals(schema) or pc.any(pc.not_equal(batch.column(TRACE_ID), self.trace_id)).as_py():
                raise damaged("has records of another trace")

    def state(self) -> bytes:
        """All there is to know to go on later."""
        damage = None if self._damage is None else self._damage.to_json()
        kept = KeptTrace(
            next=self._next,
            times=self._times,
            damage=None if damage is None else msgspec.convert(damage, type=KeptFinding),
            over=self.over,
            certain=self._certain,
        )
        if self._open is not None and not self.over:
            waiting = [packed(batch) for batch in self._waiting]
            files = self._files if waiting else []
            kept = msgspec.structs.replace(kept, open=self._open.state(), files=files, waiting=waiting)
        return json.dumps(msgspec.to_builtins(kept)).encode()

    def damage(self, finding: Finding) -> None:
        """Notes that the trace is damaged by something that was reported already."""
        self._damage = self._damage or finding

    def take(self, batches: Iterable[tuple[Any, str]]) -> None:
        """Takes records, in any order: batches with the columns of `Columns.located`, each with its file's name."""
        new = [self._named(batch, name) for batch, name in batches if batch.num_rows]
        if not new:
            return
        if self.over:
            self._late(pa.concat_batches(new))
            return
        records = in_order(pa.concat_batches([*self._waiting, *new]))
        records = self._once(records)
        numbers = records.column(SEQ).to_numpy()
        ready = int(np.searchsorted(numbers - np.arange(len(numbers)), self._next, side="right"))
        self._feed(records.slice(0, ready))
        rest = records.slice(ready)
        self._waiting = [rest] if rest.num_rows else []
        if self.verdict is None and (self._ended or rest.num_rows > WAITING_MAX):
            self.close()

    def close(self) -> None:
        """Says that no more records come: there is a verdict now."""
        if self.over:
            return
        for rest in self._waiting:
            for run in runs(rest):
                first = int(run.column(SEQ)[0].as_py())
                missing = (
                    f"record {self._next:,} is"
                    if first == self._next + 1
                    else (f"records {self._next:,} to {first - 1:,} are")
                )
                self._report(run, 0, Kind.MISSING_SEQ, f"{missing} missing before this one")
                self._next = first
                self._feed(run)
        self._waiting = []
        if self.verdict is not None:
            return
        assert self._open is not None, "a trace that is not over is open"
        if self._next == 1:
            assert self._damage is not None, "who knows of a trace without records knows of its damage"
            self._decide(Verdict(self.trace_id, "conforms", 0, 0))
        else:
            self._decide(self._open.close())

    def _named(self, batch: Any, name: str) -> Any:
        """The batch with the number that its file has here."""
        if name not in self._files:
            self._files.append(name)
        numbers = pa.array(np.full(batch.num_rows, self._files.index(name), np.int32))
        at = batch.schema.get_field_index(SOURCE)
        return batch.set_column(at, batch.schema.field(at), numbers)

    def _once(self, records: Any) -> Any:
        """The records that were not there before."""
        numbers = records.column(SEQ).to_numpy()
        before = np.concatenate(([self._next - 1], numbers[:-1]))
        twice = (numbers == before) | (numbers < self._next)
        for at in np.flatnonzero(twice).tolist():
            message = f"record {int(numbers[at]):,} of its trace was there before"
            self._report(records, at, Kind.DUPLICATE_SEQ, message)
        return records.filter(pa.array(~twice)) if twice.any() else records

    def _feed(self, records: Any) -> None:
        """Feeds records without gaps. After a verdict that is certain nothing more is fed."""
        if not records.num_rows or self.verdict is not None:
            return
        assert self._open is not None, "a trace that is not over is open"
        events = records.column(EVENT).to_pylist()
        self._ended = self._ended or not self._ends.events.isdisjoint(events)
        self._clocks(records)
        self._next += records.num_rows
        for verdict in self._open.feed(records.select(list(self._columns.for_checker)))[:1]:
            self._certain = True
            self._decide(verdict)

    def _clocks(self, records: Any) -> None:
        """Reports records whose time is before that of the record before them of the same node."""
        for at, (node, time) in enumerate(
            zip(records.column(NODE).to_pylist(), records.column(TIME).to_pylist(), strict=True)
        ):
            if time is None:
                continue
            back = self._times.get(node, time) - time
            if back > self._ends.clock_back_ns:
                message = f"the clock of node {node!r} goes back by {back / 1e6:,.3f} ms"
                self._report(records, at, Kind.TIME_BACKWARDS, message)
            self._times[node] = time

    def _decide(self, verdict: Verdict) -> None:
        self.verdict = put_right(verdict, self._damage)
        self.over = True

    def _late(self, records: Any) -> None:
        """Reports records that come after the last one. After a verdict that was certain early they mean nothing."""
        if self._certain:
            return
        for at, seq in enumerate(records.column(SEQ).to_pylist()):
            self._report(records, at, Kind.MISSING_SEQ, f"record {seq:,} comes after the verdict, too late")

    def _report(self, records: Any, at: int, kind: Kind, message: str) -> None:
        name, row = self._files[records.column(SOURCE)[at].as_py()], records.column(ROW)[at].as_py()
        finding = Finding(kind, message, name, row, self.trace_id)
        self.damage(finding)
        self.findings.append(finding)


def in_order(records: Any) -> Any:
    """Records of one trace by number, then by place."""
    keys = [records.column(name).to_numpy() for name in (ROW, SOURCE, SEQ)]
    return records.take(pa.array(np.lexsort(keys)))


def runs(records: Any) -> list[Any]:
    """Records in order, cut where numbers are missing."""
    numbers = records.column(SEQ).to_numpy()
    cuts = [0, *(np.flatnonzero(np.diff(numbers) > 1) + 1).tolist(), len(numbers)]
    return [records.slice(start, end - start) for start, end in pairwise(cuts)]


def packed(batch: Any) -> bytes:
    """Records as bytes, for `unpacked` with the same columns."""
    return bytes(batch.serialize())


def unpacked(content: bytes, columns: Columns) -> Any:
    """The records in bytes."""
    return pa.ipc.read_record_batch(pa.py_buffer(content), columns.located)


def _kept(state: bytes) -> KeptTrace:
    """Errors: `TracesError`."""
    try:
        return msgspec.convert(json.loads(state), type=KeptTrace)
    except (ValueError, RecursionError) as error:
        raise damaged(f"is damaged: {error}") from None


def _waiting(content: bytes, columns: Columns, files: int) -> Any:
    """Records that wait, of so many files. Errors: `TracesError`."""
    try:
        batch = unpacked(content, columns)
        batch.validate(full=True)
    except (OSError, EOFError, pa.ArrowException) as error:
        raise damaged(f"is damaged: {error}") from None
    sources = batch.column(SOURCE)
    if sources.null_count or batch.column(SEQ).null_count or any(not 0 <= one < files for one in sources.to_pylist()):
        raise damaged("is damaged: it has records of no file")
    return batch


def _finding(kept: KeptFinding | None) -> Finding | None:
    return None if kept is None else Finding(**msgspec.structs.asdict(kept))
