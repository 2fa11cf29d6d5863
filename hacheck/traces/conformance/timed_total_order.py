"""Follows traces in one order, and looks back on those in which a property may have been broken.

Whether a property was broken at all is seen while a trace is followed. Whether every run that explains the whole trace
broke it, when and for how long is computed only then: the trace is followed once more, record by record, which takes a
multiple of the time.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from hacheck.traces.conformance.broken_properties import BrokenProperties, TimedStreams
from hacheck.traces.conformance.diagnosis import Diagnoser
from hacheck.traces.conformance.interleavings import Streams
from hacheck.traces.conformance.open_trace_state import Timed, TimedState, damaged, from_bytes, one_trace
from hacheck.traces.conformance.record_encoding import Encoder
from hacheck.traces.conformance.total_order import TotallyOrdered
from hacheck.traces.conformance.verdict_reasons import with_unknown_duration
from hacheck.traces.conformance.verdicts import Verdict, from_batch, to_batch
from hacheck.traces.records import NODE, TIME, TRACE_ID

RECORDS_MAX = 20_000
"""A longer trace is not looked back on."""


class TimedTotallyOrdered:
    """Checks traces one after another, as their records come: as `inner` does, and by the rules of `diagnoser`.

    `shown`: the properties whose violations are in the verdicts; `skew_ns`: how far lines of one step may lie
    apart.
    """

    def __init__(self, inner: TotallyOrdered, diagnoser: Diagnoser, skew_ns: int, shown: Collection[str]) -> None:
        self.inner, self.diagnoser, self.skew_ns, self.shown = inner, diagnoser, skew_ns, frozenset(shown)
        self.broken = BrokenProperties(diagnoser, self.shown)
        self.pieces: dict[str, list[Any]] = {}
        self.last = ""

    @property
    def stopped(self) -> bool:
        """Whether `report` said not to continue."""
        return self.inner.stopped

    def feed(self, batch: Any) -> list[Any]:
        """The verdicts that more records allow, as batches: those on traces that came to their ends before."""
        ids = batch.column(TRACE_ID).to_pylist()
        starts = [row for row in range(len(ids)) if not row or ids[row] != ids[row - 1]]
        for start, end in zip(starts, [*starts[1:], len(ids)], strict=True):
            held = self.pieces.setdefault(ids[start], [])
            if sum(piece.num_rows for piece in held) <= RECORDS_MAX:  # one that has more is not followed again
                held.append(batch.slice(start, end - start))
            self.last = ids[start]
        found = [self._timed(verdicts) for verdicts in self.inner.feed(batch)]
        self.pieces = {self.last: self.pieces[self.last]} if self.last in self.pieces else {}
        return found

    def finish(self) -> list[Any]:
        """The verdict on the last trace: no more records come."""
        found = [self._timed(verdicts) for verdicts in self.inner.finish()]
        self.pieces = {}
        return found

    # ---- to go on with a trace later ----

    def certain(self) -> Verdict | None:
        """The verdict on the trace whose end has not come, where it is certain already."""
        found = self.inner.certain()
        return None if found is None else self._checked(found)

    def snapshot(self) -> dict[str, Any]:
        """What is known of the trace whose end has not come."""
        return {"inner": self.inner.snapshot(), "pieces": self.pieces, "last": self.last}

    def nothing(self) -> dict[str, Any]:
        """What is known before the first record."""
        return {"inner": self.inner.nothing(), "pieces": {}, "last": ""}

    def restore(self, held: dict[str, Any] | None) -> None:
        """Goes on where `snapshot` was taken, or begins anew."""
        held = held or self.nothing()
        self.inner.restore(held["inner"])
        self.pieces, self.last = {name: list(pieces) for name, pieces in held["pieces"].items()}, held["last"]

    def records(self, held: dict[str, Any] | None) -> list[Any] | None:
        """The records of a snapshot, as batches; `None` where it was taken before the first one."""
        inner = None if held is None else self.inner.records(held["inner"])
        return None if held is None or inner is None else [*inner, *held["pieces"][held["last"]]]

    def kept(self, held: dict[str, Any] | None, reported: bool) -> TimedState:
        """What a snapshot says, in the form in which it is kept."""
        held = held or self.nothing()
        return TimedState(Timed(self.inner.kept_of(held["inner"]), held["pieces"], held["last"]), reported)

    def from_kept(self, state: bytes) -> tuple[dict[str, Any], bool]:
        """The snapshot that was kept, and whether the verdict was reported. Errors: `TracesError`."""
        found = from_bytes(state, TimedState)
        inner, pieces, last = self.inner.held_of(found.held.inner), found.held.pieces, found.held.last
        followed = None if inner["open"] is None else inner["open"].trace_id
        if (last or None) != followed or {name: one_trace(pieces[name]) for name in pieces} != (
            {} if followed is None else {followed: followed}
        ):
            raise damaged("has no records where some are expected")
        held = {"inner": inner, "pieces": pieces, "last": last}
        return held, found.reported

    # ---- in hindsight ----

    def _timed(self, verdicts: Any) -> Any:
        """The verdicts with what was broken. Nearly always nothing was broken at all."""
        broken = sum(
            pc.sum(pc.list_value_length(verdicts.column(name))).as_py() or 0 for name in ("violated", "perhaps")
        )
        return to_batch([self._checked(one) for one in from_batch(verdicts)]) if broken else verdicts

    def _checked(self, verdict: Verdict) -> Verdict:
        checked = self.inner.compiled.checked
        broken = {_name(one) for one in (*verdict.violated, *verdict.perhaps)}
        verdict = replace(verdict, violated=self._of(verdict.violated), perhaps=self._of(verdict.perhaps))
        numbers = [number for number, name in enumerate(checked) if name in broken]
        return self._looked_back(verdict, numbers) if numbers else verdict

    def _of(self, violated: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(one for one in violated if _name(one) in self.shown)

    def _looked_back(self, verdict: Verdict, numbers: list[int]) -> Verdict:
        """The verdict with what the whole trace, which is followed again, says of some properties."""
        has_rules = any(number in self.diagnoser.numbered_rules() for number in numbers)
        pieces = self.pieces.get(verdict.trace_id, [])
        if sum(piece.num_rows for piece in pieces) > RECORDS_MAX:
            reason = f"the trace has more than {RECORDS_MAX:,} records"
            return with_unknown_duration(verdict, reason) if has_rules else verdict
        batch = pa.Table.from_batches(pieces).combine_chunks().to_batches()[0]
        encoded = Encoder(self.inner.compiled).encode(batch)
        timed = not batch.column(TIME).null_count
        times = elapsed(batch, self.skew_ns) if timed else np.arange(batch.num_rows)
        streams, end = Streams([encoded.words], None, [{}], 0), int(times[-1]) if timed else None
        skew, rows = self.skew_ns * timed, encoded.rows
        trace = TimedStreams(batch, streams, [rows], [times[rows]], skew, end, in_order=True)
        found = self.broken.looked_back(verdict, trace, numbers, lambda: True)
        assert found is not None, "nothing stops it"
        return found if timed or not has_rules else with_unknown_duration(found, "not every record has a time")


def _name(violation: str) -> str:
    """The property of `name@seq`."""
    return violation.partition("@")[0]


def elapsed(batch: Any, skew_ns: int) -> Any:
    """Times of records that are in the order in which they happened: nanoseconds that do not fall.

    Where the nodes' clocks agree with the order to within the skew these are the records' own times. Else no two clocks
    can be compared, and a record is as much later than the last one of its node as that node's clock says, and not
    earlier than the one before it: at least so much time has passed.
    """
    times = batch.column(TIME).to_numpy(zero_copy_only=False)
    rising = np.maximum.accumulate(times)
    if (rising - times).max(initial=0) <= skew_ns:
        return rising
    passed = np.zeros(len(times), np.int64)
    last: dict[str, int] = {}
    for row, node in enumerate(batch.column(NODE).to_pylist()):
        before = last.get(node)
        own = 0 if before is None else passed[before] + times[row] - times[before]
        passed[row] = max(own, passed[row - 1] if row else 0)
        last[node] = row
    return passed
