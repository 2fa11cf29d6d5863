"""Judges traces whose nodes logged apart. A trace is in memory from its first record to its last."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pyarrow as pa

from hacheck.model.data import dataclass, replace
from hacheck.traces.conformance.encoding import Encoded, Encoder, Misfit
from hacheck.traces.conformance.expecting import first_left
from hacheck.traces.conformance.explaining import Explainer
from hacheck.traces.conformance.judging import (
    explained,
    followed_to_its_end,
    late_in,
    outcome,
    place_of,
    too_late,
    unmeasured,
)
from hacheck.traces.conformance.kernels import control as k
from hacheck.traces.conformance.lasting import Lasting
from hacheck.traces.conformance.verdicts import Verdict, to_batch
from hacheck.traces.conformance.weaving import Cut, Streams, Woven
from hacheck.traces.records import CAUSES, MESSAGE, TIME, TRACE_ID


@dataclass(frozen=True, slots=True)
class _Woven:
    """A trace as streams. `rows`: by stream, which record of the trace each is (places among the encoded ones)."""

    batch: Any
    encoded: Encoded
    streams: Streams
    rows: tuple[Any, ...]


class Apart:
    """Judges traces one after another, as their records come. `stopped`: whether `report` said not to go on."""

    def __init__(
        self,
        explainer: Explainer,
        skew_ns: int,
        explained_max: int,
        report: Callable[[], bool],
        told: Collection[str] | None = None,
    ) -> None:
        """`told`: the properties of which it is told where they were violated; all that are asked, by default."""
        self.explainer, self.skew_ns, self.left, self.report = explainer, skew_ns, explained_max, report
        self.told = explainer.compiled.asked if told is None else told
        self.compiled = explainer.compiled
        self.pieces: list[Any] = []
        self.open: str | None = None
        self.stopped = False

    def feed(self, batch: Any) -> list[Any]:
        """The verdicts that more records allow, as batches: those on traces that came to their ends before."""
        verdicts: list[Any] = []
        ids = batch.column(TRACE_ID).to_pylist()
        start = 0
        for row in range(1, len(ids) + 1):
            if row < len(ids) and ids[row] == ids[start]:
                continue
            if self.open is not None and ids[start] != self.open:
                verdicts += self.finish()
            self.open = ids[start]
            self.pieces.append(batch.slice(start, row - start))
            start = row
            if self.stopped:
                return []
        return verdicts

    def finish(self) -> list[Any]:
        """The verdict on the last trace: no more records come."""
        if not self.pieces:
            return []
        batch = pa.Table.from_batches(self.pieces).combine_chunks().to_batches()[0]
        trace_id, self.pieces, self.open = self.open, [], None
        assert trace_id is not None, "a trace has an id"
        verdict = self._judged(trace_id, batch)
        return [] if verdict is None else [to_batch([verdict])]

    def _judged(self, trace_id: str, batch: Any) -> Verdict | None:
        encoded = Encoder(self.compiled).encode(batch)
        counts: dict[str, Any] = {"records": batch.num_rows, "compared": len(encoded.rows)}
        stray = next((found for found in encoded.misfits.values() if found.why == "node"), None)
        if stray is not None:
            place = place_of(batch, int(encoded.rows[stray.row]))
            return Verdict(trace_id, "unknown", reason=stray.text, **counts, **place)
        woven = self._streams(batch, encoded)
        rules, lasting = self.explainer.numbered_rules(), None
        if rules and woven.streams.times is not None:
            lasting = Lasting(rules, woven.streams.times, self.skew_ns)
        found = replace(self.explainer.weaver, watch=lasting).weave(woven.streams, self.report)
        if found is None:
            self.stopped = True
            return None
        verdict = self._verdict(trace_id, woven, found, counts)
        if lasting is None:
            broken = any(found.violated[number] != (None, None) for number in rules)
            return unmeasured(verdict, "not every record has a time") if broken else verdict
        rows = [encoded.rows[mine] for mine in woven.rows]
        certain = not found.limited and self.explainer.complete
        return too_late(verdict, late_in(batch, rows, lasting.found(found, certain)))

    def _verdict(self, trace_id: str, woven: _Woven, found: Woven, counts: dict[str, Any]) -> Verdict:
        """The verdict on a trace of which this became."""
        properties = self._properties(woven, found)
        if found.status == k.FOLLOWED:
            return followed_to_its_end(self.explainer, trace_id, counts, found.width, properties)
        stream, cut = first_left(woven.streams, found.cut), found.cut
        misfit = self._misfit(woven, found.cut)
        beyond = self._beyond(woven, found)
        if beyond is not None:
            stream, cut, misfit = beyond
        place = self._place(woven, stream, cut)
        kind, reason = outcome(self.explainer, found.status, found.limited, misfit, lambda: found.bounds)
        if found.status == k.FULL and found.expanded >= self.explainer.weaver.expanded_max:
            reason = f"more than {found.expanded:,} states of the model were looked at"
        verdict = Verdict(trace_id, kind, reason=reason, width=found.width, **counts, **place, **properties)
        if kind != "deviates" or self.left <= 0:
            return verdict
        self.left -= 1
        return explained(verdict, self.explainer.explain(woven.streams))

    def _streams(self, batch: Any, encoded: Encoded) -> _Woven:
        """A trace's records by their writers."""
        rows = tuple(np.flatnonzero(encoded.writers == writer) for writer in range(self.compiled.shape.streams))
        words = [encoded.words[mine] for mine in rows]
        column = batch.column(TIME)
        times = None
        if column.null_count == 0:
            every = column.to_numpy(zero_copy_only=False)[encoded.rows]
            # A clock that steps back within one log says nothing of the order in it.
            times = [np.maximum.accumulate(every[mine]) if len(mine) else every[mine] for mine in rows]
        return _Woven(batch, encoded, Streams(words, times, self._causes(batch, encoded, rows), self.skew_ns), rows)

    def _causes(
        self, batch: Any, encoded: Encoded, rows: tuple[Any, ...]
    ) -> list[dict[int, tuple[tuple[int, int], ...]]]:
        """By stream and record, what it comes after: the records that sent the messages it names."""
        after: list[dict[int, tuple[tuple[int, int], ...]]] = [{} for _ in rows]
        if batch.column(CAUSES).null_count == batch.num_rows:
            return after
        sent: dict[str, dict[int, int]] = {}
        for stream, mine in enumerate(rows):
            messages = batch.column(MESSAGE).take(pa.array(encoded.rows[mine])).to_pylist()
            for at, message in enumerate(messages):
                if message is not None:  # sent more than once, it may have been the first
                    sent.setdefault(message, {}).setdefault(stream, at + 1)
        # Which of several senders it came from, nothing says.
        only = {message: next(iter(by.items())) for message, by in sent.items() if len(by) == 1}
        for stream, mine in enumerate(rows):
            for at, named in enumerate(batch.column(CAUSES).take(pa.array(encoded.rows[mine])).to_pylist()):
                needed = tuple(only[one] for one in named or () if one in only and only[one][0] != stream)
                if needed:
                    after[stream][at] = needed
        return after

    # ---- where it stopped ----

    def _place(self, woven: _Woven, stream: int | None, cut: Cut) -> dict[str, Any]:
        if stream is None:
            return {}
        return place_of(woven.batch, int(woven.encoded.rows[woven.rows[stream][cut[stream]]]))

    def _beyond(self, woven: _Woven, found: Woven) -> tuple[int, Cut, Misfit] | None:
        """A record that nothing explains because a value in it is beyond the model's bounds: with any other one there
        the trace goes on. Its stream, the cut before it, and what is beyond."""
        streams, misfits = woven.streams, woven.encoded.misfits
        places = [
            (int(row), stream, at)
            for stream, rows in enumerate(woven.rows)
            for at, row in enumerate(rows)
            if int(row) in misfits and misfits[int(row)].why == "bound" and at >= found.cut[stream]
        ]
        if found.status != k.DEAD or not places:
            return None
        event = self.compiled.record.event
        assert event is not None, "records have events"
        words = [held.copy() for held in streams.words]
        for _, stream, at in places:
            words[stream][at] = 0
            words[stream][at, event.word] = np.uint64(self.compiled.shape.end << event.shift)
        again = self.explainer.weaver.weave(Streams(words, streams.times, streams.after, streams.skew_ns), self.report)
        if again is None or sum(again.cut) <= sum(found.cut):
            return None
        row, stream, at = min(places)
        cut = tuple(at if number == stream else taken for number, taken in enumerate(found.cut))
        return stream, cut, misfits[row]

    def _misfit(self, woven: _Woven, cut: Cut) -> Misfit | None:
        """What a record that comes next has that the model does not have."""
        found = [
            woven.encoded.misfits.get(int(mine[at])) for mine, at in zip(woven.rows, cut, strict=True) if at < len(mine)
        ]
        return next((one for one in found if one is not None), None)

    def _properties(self, woven: _Woven, found: Woven) -> dict[str, Any]:
        surely: list[str] = []
        perhaps: list[str] = []
        for name, (certain, possible) in zip(self.compiled.asked, found.violated, strict=True):
            cut = certain or possible
            if cut is not None and name in self.told:
                place = self._place(woven, first_left(woven.streams, cut), cut)
                (surely if certain is not None else perhaps).append(f"{name}@{place.get('seq', 'end')}")
        return {"violated": tuple(surely), "perhaps": tuple(perhaps)}
