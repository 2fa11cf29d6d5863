"""Judges traces whose records are in the order in which they happened, in bounded memory however long they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from hacheck.model.data import dataclass, replace
from hacheck.traces.conformance import kernels as k
from hacheck.traces.conformance.encoding import Encoded, Encoder
from hacheck.traces.conformance.explaining import Explainer
from hacheck.traces.conformance.following import Followed, Follower, Memory
from hacheck.traces.conformance.judging import explained, outcome, place_of
from hacheck.traces.conformance.verdicts import Verdict
from hacheck.traces.conformance.weaving import Streams
from hacheck.traces.records import TRACE_ID

_EXPLAINED_RECORDS_MAX = 20_000


@dataclass(slots=True)
class _Open:
    """The trace whose end has not come: how many of its records were seen, and how many of them compared and followed;
    `verdict`: where it is certain already."""

    trace_id: str
    records: int = 0
    compared: int = 0
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class _Part:
    """Records of one trace in a batch: rows `start` to `end`, of which `first` to `last` are compared now (places among
    the encoded ones)."""

    start: int
    end: int
    first: int
    last: int
    closes: bool


class InOrder:
    """Judges traces one after another, as their records come. `stopped`: whether `report` said not to go on."""

    def __init__(self, explainer: Explainer, explained_max: int, report: Callable[[], bool]) -> None:
        self.explainer, self.left, self.report = explainer, explained_max, report
        self.compiled = explainer.compiled
        self.memory = Memory(self.compiled, explainer.weaver.memory.capacity)  # explaining happens in between
        self.follower = Follower(self.compiled, self.memory)
        self.encoder = Encoder(self.compiled)
        self.open: _Open | None = None
        self.carried: Any = None
        self.stopped = False

    def feed(self, batch: Any) -> list[Verdict]:
        """The verdicts that more records allow: those on traces that came to their ends before."""
        if batch.num_rows == 0:
            return []
        whole = batch if self.carried is None else _joined(self.carried, batch)
        self.carried = None
        return self._judged(whole, last=False)

    def finish(self) -> list[Verdict]:
        """The verdict on the last trace: no more records come."""
        if self.carried is None:
            return []
        whole, self.carried = self.carried, None
        return self._judged(whole, last=True)

    def _judged(self, batch: Any, last: bool) -> list[Verdict]:
        encoded = self.encoder.encode(batch)
        parts = self._parts(batch, encoded, last)
        words, rows = self._arranged(encoded, parts)
        found = self.follower.follow(words, rows, self.report)
        if found is None:
            self.stopped = True
            return []
        verdicts = []
        for part, followed in zip(parts, found, strict=True):
            made = self._verdict(batch, encoded, part, followed)
            if made is not None:
                verdicts.append(made)
        if self.open is None or not self.open.compared:
            self.encoder.names.clear()
        return verdicts

    def _parts(self, batch: Any, encoded: Encoded, last: bool) -> list[_Part]:
        ids = batch.column(TRACE_ID)
        codes = ids.dictionary_encode() if not pa.types.is_dictionary(ids.type) else ids
        indices = codes.indices.to_numpy(zero_copy_only=False)
        starts = np.concatenate([[0], np.flatnonzero(np.diff(indices)) + 1])
        ends = np.concatenate([starts[1:], [len(indices)]])
        firsts = np.searchsorted(encoded.rows, starts)
        lasts = np.searchsorted(encoded.rows, ends)
        columns = (held.tolist() for held in (starts, ends, firsts, lasts))
        parts = [_Part(start, end, first, final, True) for start, end, first, final in zip(*columns, strict=True)]
        if last:
            return parts
        # The end of the last trace may be still to come, and a step looks some records ahead.
        open_part = parts[-1]
        kept = max(open_part.first, open_part.last - self.compiled.shape.places)
        row = int(encoded.rows[kept]) if kept < open_part.last else open_part.end - 1
        self.carried = batch.slice(row)
        parts[-1] = _Part(open_part.start, row, open_part.first, kept, False)
        return parts

    def _arranged(self, encoded: Encoded, parts: list[_Part]) -> tuple[Any, Any]:
        """The words of all records, behind each trace some that stand for its end, and the parts in these terms."""
        shape, record = self.compiled.shape, self.compiled.record
        assert record.event is not None, "records have events"
        gap = 2 * shape.places
        count = len(encoded.rows)
        closing = np.array([part.closes for part in parts])
        gaps = np.concatenate([[0], np.cumsum(closing * gap)])
        owner = np.searchsorted([part.last for part in parts if part.closes], np.arange(count), side="right")
        words = np.zeros((count + int(gaps[-1]) + gap, record.words), np.uint64)
        words[:, record.event.word] = np.uint64(shape.end << record.event.shift)
        words[np.arange(count) + owner * gap] = encoded.words
        rows = np.zeros((len(parts), k.TRACE_WORDS), np.uint64)
        for number, part in enumerate(parts):
            goes_on = number == 0 and self.open is not None and self.open.compared > 0
            length = 0 if self._is_decided(number) else part.last - part.first
            rows[number] = (part.first + int(gaps[number]), length, int(goes_on), int(part.closes))
        return words, rows

    def _is_decided(self, number: int) -> bool:
        return number == 0 and self.open is not None and self.open.verdict is not None

    def _verdict(self, batch: Any, encoded: Encoded, part: _Part, followed: Followed) -> Verdict | None:
        """What a part adds: the verdict on its trace, if that comes to its end."""
        trace_id = batch.column(TRACE_ID)[part.start].as_py()
        state = self.open if self.open is not None and self.open.trace_id == trace_id else _Open(trace_id)
        self.open = None
        before = state.compared
        state.records += part.end - part.start
        state.compared += part.last - part.first
        if state.verdict is None and followed.status != k.FOLLOWED:
            state.verdict = self._stopped(batch, encoded, part, followed, state, before)
        if not part.closes:
            self.open = state
            return None
        if state.verdict is not None:
            return _counted(state.verdict, state)
        return self._conforming(state, followed)

    def _stopped(
        self, batch: Any, encoded: Encoded, part: _Part, followed: Followed, state: _Open, before: int
    ) -> Verdict:
        place = min(part.first + followed.place - before, part.last - 1)
        row = int(encoded.rows[place])
        kind, reason = outcome(followed.status, followed.limited, encoded.misfits.get(place), self.memory.capacity)
        verdict = Verdict(
            state.trace_id,
            kind,
            0,
            0,
            reason,
            width=followed.width,
            **place_of(batch, row),
            **self._properties(followed),
        )
        length = part.last - part.first
        if kind != "deviates" or before or self.left <= 0 or length > _EXPLAINED_RECORDS_MAX:
            return verdict
        self.left -= 1
        streams = Streams([encoded.words[part.first : part.last]], None, [{}], 0)
        return explained(verdict, self.explainer.explain(streams))

    def _conforming(self, state: _Open, followed: Followed) -> Verdict:
        return Verdict(
            state.trace_id,
            "conforms",
            state.records,
            state.compared,
            width=followed.width,
            **self._properties(followed),
        )

    def _properties(self, followed: Followed) -> dict[str, Any]:
        surely, perhaps = [], []
        for name, (certain, possible) in zip(self.compiled.asked, followed.violated, strict=True):
            if certain is not None:
                surely.append(f"{name}@{certain + 1}")
            elif possible is not None:
                perhaps.append(f"{name}@{possible + 1}")
        return {"violated": tuple(surely), "perhaps": tuple(perhaps)}


def _counted(verdict: Verdict, state: _Open) -> Verdict:
    return replace(verdict, records=state.records, compared=state.compared)


def _joined(first: Any, second: Any) -> Any:
    table = pa.Table.from_batches([first, second.cast(first.schema)]).combine_chunks()
    return table.to_batches()[0]
