"""Checks traces whose records are ordered for each node only. Whole traces are held in memory, and written in words
together: for a short one, that takes longer than the search does."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from hacheck.traces.conformance.broken_properties import BrokenProperties, TimedStreams
from hacheck.traces.conformance.canonical_names import CanonicalNames, name_places
from hacheck.traces.conformance.deep_search import found_deeply
from hacheck.traces.conformance.diagnosis import Diagnoser
from hacheck.traces.conformance.expected_events import first_left
from hacheck.traces.conformance.interleavings import Cut, SearchResult, Streams
from hacheck.traces.conformance.kernels import control as k
from hacheck.traces.conformance.record_encoding import Encoded, Encoder, Unmatchable
from hacheck.traces.conformance.verdict_reasons import (
    followed_to_its_end,
    outcome,
    place_of,
    with_diagnosis,
    with_unknown_duration,
)
from hacheck.traces.conformance.verdicts import Verdict, to_batch
from hacheck.traces.records import CAUSES, MESSAGE, TIME, TRACE_ID


class _Split(Struct, frozen=True):
    """A trace, split into one stream for each writer. `rows`: for each stream, the places of its records among the
    encoded ones."""

    batch: Any
    encoded: Encoded
    streams: Streams
    rows: tuple[Any, ...]


def _joined(batches: list[Any]) -> Any:
    """Several batches as one."""
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0] if len(batches) > 1 else batches[0]


class PartiallyOrdered:
    """Checks traces one after another, as their records come. `stopped`: whether `report` said to stop."""

    def __init__(
        self,
        diagnoser: Diagnoser,
        skew_ns: int,
        explained_max: int,
        report: Callable[[], bool],
        shown: Collection[str] | None = None,
    ) -> None:
        """`shown`: the properties whose violations are in the verdicts (default: all checked properties)."""
        self.diagnoser, self.skew_ns, self.left, self.report = diagnoser, skew_ns, explained_max, report
        self.shown = diagnoser.compiled.checked if shown is None else shown
        self.compiled = diagnoser.compiled
        self.broken = BrokenProperties(diagnoser, frozenset(self.shown))
        self.canonical_names = CanonicalNames(name_places(self.compiled))
        self.pieces: list[Any] = []
        self.open: str | None = None
        self.stopped = False

    def feed(self, batch: Any) -> list[Any]:
        """Takes more records. Returns, as batches, the verdicts on traces that have ended."""
        ids = batch.column(TRACE_ID).to_pylist()
        closed: list[tuple[str, Any]] = []
        start = 0
        for row in range(1, len(ids) + 1):
            if row < len(ids) and ids[row] == ids[start]:
                continue
            if self.open is not None and ids[start] != self.open:
                closed += self._closed()
            self.open = ids[start]
            self.pieces.append(batch.slice(start, row - start))
            start = row
        return self._verdicts(closed)

    def finish(self) -> list[Any]:
        """Returns the verdict on the last trace: no more records come."""
        return self._verdicts(self._closed())

    def _closed(self) -> list[tuple[str, Any]]:
        """The trace whose end has come, if there is one, in one batch."""
        trace_id, pieces = self.open, self.pieces
        self.pieces, self.open = [], None
        return [] if trace_id is None else [(trace_id, _joined(pieces))]

    def _verdicts(self, closed: list[tuple[str, Any]]) -> list[Any]:
        """The verdicts on whole traces, as batches."""
        found = []
        for (trace_id, batch), encoded in zip(closed, self._encoded([batch for _, batch in closed]), strict=True):
            verdict = self._checked(trace_id, batch, encoded)
            if verdict is None:
                return []
            found.append(verdict)
        return [to_batch(found)] if found else []

    def _encoded(self, batches: list[Any]) -> list[Encoded]:
        """The records of traces, names numbered in each by where they first appear."""
        if not batches:
            return []
        ends = np.cumsum([batch.num_rows for batch in batches])
        whole = Encoder(self.compiled).encode(_joined(batches))
        traces = np.searchsorted(ends, whole.rows, side="right")
        words = self.canonical_names.renamed(whole.words, traces, goes_on=False, open_end=False)
        places = [0, *np.searchsorted(whole.rows, ends).tolist()]
        unmatchables: list[dict[int, Unmatchable]] = [{} for _ in batches]
        for row, one in whole.unmatchables.items():
            trace = int(traces[row])
            unmatchables[trace][row - places[trace]] = replace(one, row=row - places[trace])
        found = []
        for first, last, batch, end, own in zip(places, places[1:], batches, ends, unmatchables, strict=False):
            rows = whole.rows[first:last] - (end - batch.num_rows)
            found.append(Encoded(rows, words[first:last], whole.writers[first:last], own))
        return found

    def _checked(self, trace_id: str, batch: Any, encoded: Encoded) -> Verdict | None:
        counts: dict[str, Any] = {"records": batch.num_rows, "compared": len(encoded.rows)}
        stray = next((found for found in encoded.unmatchables.values() if found.why == "node"), None)
        if stray is not None:
            place = place_of(batch, int(encoded.rows[stray.row]))
            return Verdict(trace_id, "unknown", reason=stray.text, **counts, **place)
        split = self._split(batch, encoded)
        found = self._searched(split.streams)
        if found is None:
            self.stopped = True
            return None
        verdict = self._verdict(trace_id, split, found, counts)
        broken = [number for number, cuts in enumerate(found.violated) if cuts != (None, None)]
        if not broken:
            return verdict
        rows = [encoded.rows[mine] for mine in split.rows]
        times, end = split.streams.times, None
        if times is not None:
            end = int(batch.column(TIME).to_numpy(zero_copy_only=False).max())
        trace = TimedStreams(batch, split.streams, rows, times, self.skew_ns, end, in_order=False)
        looked_back = self.broken.looked_back(verdict, trace, broken, self.report)
        if looked_back is None:
            self.stopped = True
            return None
        if trace.times is None and any(number in self.diagnoser.numbered_rules() for number in broken):
            return with_unknown_duration(looked_back, "not every record has a time")
        return looked_back

    def _searched(self, streams: Streams) -> SearchResult | None:
        """What became of a trace. Where too many states explain it, and nothing else is to be said of it, one run that
        explains it all is enough. `None` if `report` said to stop."""
        found = self.diagnoser.search.run(streams, self.report)
        if found is None or found.status != k.FULL or found.over_budget or self.compiled.checked:
            return found
        one = found_deeply(self.diagnoser.search, streams, self.report)
        if one is None:
            return None
        return replace(found, status=k.FOLLOWED) if one else found

    def _verdict(self, trace_id: str, split: _Split, found: SearchResult, counts: dict[str, Any]) -> Verdict:
        """The verdict on a trace from what the search found."""
        properties = self._properties(split, found)
        if found.status == k.FOLLOWED:
            return followed_to_its_end(self.diagnoser, trace_id, counts, found.width, properties)
        stream, cut = first_left(split.streams, found.cut), found.cut
        unmatchable = self._unmatchable(split, found.cut)
        beyond = self._beyond(split, found)
        if beyond is not None:
            stream, cut, unmatchable = beyond
        place = self._place(split, stream, cut)
        kind, reason = outcome(
            self.diagnoser, found.status, found.limited, unmatchable, lambda: found.bounds, self.diagnoser.search.memory
        )
        if found.over_budget:
            reason = f"the search was stopped after {found.expanded:,} states of the model"
        verdict = Verdict(trace_id, kind, reason=reason, width=found.width, **counts, **place, **properties)
        if kind != "deviates" or self.left <= 0:
            return verdict
        self.left -= 1
        diagnosis = self.diagnoser.diagnose(split.streams)
        if diagnosis is not None:
            row = split.encoded.rows[split.rows[diagnosis.stream][diagnosis.record]]
            verdict = replace(verdict, **place_of(split.batch, int(row)))
        return with_diagnosis(verdict, diagnosis)

    def _split(self, batch: Any, encoded: Encoded) -> _Split:
        """Splits a trace into one stream for each writer."""
        rows = tuple(np.flatnonzero(encoded.writers == writer) for writer in range(self.compiled.shape.streams))
        words = [encoded.words[mine] for mine in rows]
        column = batch.column(TIME)
        times = None
        if column.null_count == 0:
            every = column.to_numpy(zero_copy_only=False)[encoded.rows]
            # A clock that steps back within one log says nothing of the order in it.
            times = [np.maximum.accumulate(every[mine]) if len(mine) else every[mine] for mine in rows]
        return _Split(batch, encoded, Streams(words, times, self._causes(batch, encoded, rows), self.skew_ns), rows)

    def _causes(
        self, batch: Any, encoded: Encoded, rows: tuple[Any, ...]
    ) -> list[dict[int, tuple[tuple[int, int], ...]]]:
        """For each stream and record, the records that it comes after: those that sent the messages it names."""
        after: list[dict[int, tuple[tuple[int, int], ...]]] = [{} for _ in rows]
        if batch.column(CAUSES).null_count == batch.num_rows:
            return after
        sent: dict[str, dict[int, int]] = {}
        for stream, mine in enumerate(rows):
            messages = batch.column(MESSAGE).take(pa.array(encoded.rows[mine])).to_pylist()
            for at, message in enumerate(messages):
                if message is not None:  # sent more than once, it may have been the first
                    sent.setdefault(message, {}).setdefault(stream, at + 1)
        # With several senders it is not known which one the message came from.
        only = {message: next(iter(by.items())) for message, by in sent.items() if len(by) == 1}
        for stream, mine in enumerate(rows):
            for at, named in enumerate(batch.column(CAUSES).take(pa.array(encoded.rows[mine])).to_pylist()):
                needed = tuple(only[one] for one in named or () if one in only and only[one][0] != stream)
                if needed:
                    after[stream][at] = needed
        return after

    # ---- where it stopped ----

    def _place(self, split: _Split, stream: int | None, cut: Cut) -> dict[str, Any]:
        if stream is None:
            return {}
        return place_of(split.batch, int(split.encoded.rows[split.rows[stream][cut[stream]]]))

    def _beyond(self, split: _Split, found: SearchResult) -> tuple[int, Cut, Unmatchable] | None:
        """A record that no step explains because a value in it is beyond the model's bounds: with any other record in
        its place, more of the trace is explained. Returns its stream, the cut before it, and what is beyond."""
        streams, unmatchables = split.streams, split.encoded.unmatchables
        places = [
            (int(row), stream, at)
            for stream, rows in enumerate(split.rows)
            for at, row in enumerate(rows)
            if int(row) in unmatchables and unmatchables[int(row)].why == "bound" and at >= found.cut[stream]
        ]
        if found.status != k.DEAD or not places:
            return None
        event = self.compiled.record.event
        assert event is not None, "records have events"
        words = [held.copy() for held in streams.words]
        for _, stream, at in places:
            words[stream][at] = 0
            words[stream][at, event.word] = np.uint64(self.compiled.shape.end << event.shift)
        again = self.diagnoser.search.run(Streams(words, streams.times, streams.after, streams.skew_ns), self.report)
        if again is None or sum(again.cut) <= sum(found.cut):
            return None
        row, stream, at = min(places)
        cut = tuple(at if number == stream else taken for number, taken in enumerate(found.cut))
        return stream, cut, unmatchables[row]

    def _unmatchable(self, split: _Split, cut: Cut) -> Unmatchable | None:
        """What the model does not have of a record that comes next at a cut, if there is such a record."""
        found = [
            split.encoded.unmatchables.get(int(mine[at]))
            for mine, at in zip(split.rows, cut, strict=True)
            if at < len(mine)
        ]
        return next((one for one in found if one is not None), None)

    def _properties(self, split: _Split, found: SearchResult) -> dict[str, Any]:
        surely: list[str] = []
        perhaps: list[str] = []
        for name, (certain, possible) in zip(self.compiled.checked, found.violated, strict=True):
            cut = certain or possible
            if cut is not None and name in self.shown:
                place = self._place(split, first_left(split.streams, cut), cut)
                (surely if certain is not None else perhaps).append(f"{name}@{place.get('seq', 'end')}")
        return {"violated": tuple(surely), "perhaps": tuple(perhaps)}
