"""Judges traces in one order by rules of time, too.

Whether a property was broken at all is seen while a trace is followed. For how long is asked only then: the trace is
followed once more, record by record, which takes a multiple of the time.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hacheck.model.data import replace
from hacheck.traces.conformance.broken_durations import Breaches
from hacheck.traces.conformance.diagnosis import Diagnoser
from hacheck.traces.conformance.interleavings import Streams
from hacheck.traces.conformance.open_trace_state import Timed, TimedState, damaged, from_bytes, one_trace
from hacheck.traces.conformance.record_encoding import Encoder
from hacheck.traces.conformance.total_order import TotallyOrdered
from hacheck.traces.conformance.verdict_reasons import late_of, with_breaches, with_unknown_duration
from hacheck.traces.conformance.verdicts import Verdict, from_batch, to_batch
from hacheck.traces.records import TIME, TRACE_ID

RECORDS_MAX = 20_000
"""In a longer trace it is not asked for how long a property was broken."""


class TimedTotallyOrdered:
    """Judges traces one after another, as their records come: as `judge` does, and by the rules of `diagnoser`.

    `told`: the properties of which it is told where they were violated; `skew_ns`: how far lines of one step may lie
    apart.
    """

    def __init__(self, judge: TotallyOrdered, diagnoser: Diagnoser, skew_ns: int, told: Collection[str]) -> None:
        self.inner, self.diagnoser, self.skew_ns, self.told = judge, diagnoser, skew_ns, frozenset(told)
        self.names = frozenset(rule.name for rule in diagnoser.rules)
        self.pieces: dict[str, list[Any]] = {}
        self.last = ""

    @property
    def stopped(self) -> bool:
        """Whether it was told not to go on."""
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
        return None if found is None else self._judged(found)

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

    def kept(self, held: dict[str, Any] | None, told: bool) -> TimedState:
        """What a snapshot says, in the form in which it is kept."""
        held = held or self.nothing()
        return TimedState(Timed(self.inner.kept_of(held["inner"]), held["pieces"], held["last"]), told)

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
        return held, found.told

    # ---- by the rules ----

    def _timed(self, verdicts: Any) -> Any:
        """The verdicts with what lasted too long. Nearly always nothing was broken at all."""
        broken = sum(
            pc.sum(pc.list_value_length(verdicts.column(name))).as_py() or 0 for name in ("violated", "perhaps")
        )
        return to_batch([self._judged(one) for one in from_batch(verdicts)]) if broken else verdicts

    def _judged(self, verdict: Verdict) -> Verdict:
        broken = {name for one in (*verdict.violated, *verdict.perhaps) if (name := _name(one)) in self.names}
        verdict = replace(verdict, violated=self._of(verdict.violated), perhaps=self._of(verdict.perhaps))
        return self._measured(verdict) if broken else verdict

    def _of(self, violated: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(one for one in violated if _name(one) in self.told)

    def _measured(self, verdict: Verdict) -> Verdict:
        """The verdict with what lasted too long in its trace, which is followed again."""
        pieces = self.pieces.get(verdict.trace_id, [])
        if sum(piece.num_rows for piece in pieces) > RECORDS_MAX:
            return with_unknown_duration(verdict, f"the trace has more than {RECORDS_MAX:,} records")
        batch = pa.Table.from_batches(pieces).combine_chunks().to_batches()[0]
        if batch.column(TIME).null_count:
            return with_unknown_duration(verdict, "not every record has a time")
        encoded = Encoder(self.inner.compiled).encode(batch)
        times = batch.column(TIME).to_numpy(zero_copy_only=False)[encoded.rows]
        breaches = Breaches(self.diagnoser.numbered_rules(), [np.maximum.accumulate(times)], self.skew_ns)
        streams = Streams([encoded.words], None, [{}], 0)
        result = replace(self.diagnoser.search, watch=breaches).run(streams)
        assert result is not None, "nobody asked it to stop"
        certain = not result.limited and self.diagnoser.complete
        return with_breaches(verdict, late_of(batch, [encoded.rows], breaches.found(result, certain)))


def _name(violation: str) -> str:
    """The property of `name@seq`."""
    return violation.partition("@")[0]
