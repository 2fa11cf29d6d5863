"""Checks traces whose records are in the order in which they happened, in bounded memory however long they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.model.observing.record_layout import FIRST_NAME, NAME_MAX
from hacheck.traces.conformance.automaton import BYTES as KNOWN_BYTES
from hacheck.traces.conformance.canonical_names import CanonicalNames, name_places
from hacheck.traces.conformance.diagnosis import Diagnoser
from hacheck.traces.conformance.follower import Followed, Follower, Memory
from hacheck.traces.conformance.interleavings import Streams
from hacheck.traces.conformance.kernels import control as k
from hacheck.traces.conformance.open_trace_state import (
    RECORDS_MAX,
    FollowedState,
    damaged,
    from_bytes,
    is_count,
    is_numbers,
    is_storable,
    one_trace,
)
from hacheck.traces.conformance.open_trace_state import Followed as KeptFollowed
from hacheck.traces.conformance.open_trace_state import Memory as KeptMemory
from hacheck.traces.conformance.open_trace_state import Open as KeptOpen
from hacheck.traces.conformance.record_encoding import Encoded, Encoder
from hacheck.traces.conformance.verdict_reasons import followed_to_its_end, outcome, place_of, with_diagnosis
from hacheck.traces.conformance.verdicts import Verdict, conforming_batch, to_batch
from hacheck.traces.records import SEQ, TRACE_ID

_EXPLAINED_RECORDS_MAX = 20_000
_NAMES_MAX = 100_000  # names that are remembered beyond the trace that has them, where it is open


class _Open(Struct):
    """The trace whose end has not come: how many of its records were seen, and how many of them compared and followed;
    `verdict`: where it is certain already; `words`: those compared, as long as there are not too many to explain;
    `surely`, `perhaps`: the properties violated, and the `seq` of the record before which they were."""

    trace_id: str
    records: int = 0
    compared: int = 0
    verdict: Verdict | None = None
    words: list[Any] = field(default_factory=list)
    surely: dict[str, int] = field(default_factory=dict)
    perhaps: dict[str, int] = field(default_factory=dict)


class _Part(Struct, frozen=True):
    """Records of one trace in a batch: rows `start` to `end`, of which `first` to `last` are compared now (places among
    the encoded ones)."""

    start: int
    end: int
    first: int
    last: int
    closes: bool


class _Parts(Struct, frozen=True):
    """The same of several traces, one after another, as columns."""

    starts: Any
    ends: Any
    firsts: Any
    lasts: Any
    closes: Any

    def one(self, number: int) -> _Part:
        """One of them."""
        held = (self.starts, self.ends, self.firsts, self.lasts)
        start, end, first, last = (int(column[number]) for column in held)
        return _Part(start, end, first, last, bool(self.closes[number]))

    def some(self, chosen: Any) -> _Parts:
        """Some of them."""
        return _Parts(*(column[chosen] for column in (self.starts, self.ends, self.firsts, self.lasts, self.closes)))


class TotallyOrdered:
    """Checks traces one after another, as their records come. `stopped`: whether `report` said not to go on."""

    def __init__(self, diagnoser: Diagnoser, explained_max: int, report: Callable[[], bool]) -> None:
        self.diagnoser, self.left, self.report = diagnoser, explained_max, report
        self.bounds_left = explained_max
        self.compiled = diagnoser.compiled
        # Explaining happens in between, so it has a memory of its own.
        self.memory = Memory(self.compiled, diagnoser.search.memory.capacity, KNOWN_BYTES)
        self.follower = Follower(self.compiled, self.memory)
        self.encoder = Encoder(self.compiled)
        automaton = self.memory.automaton
        names = automaton is not None and not automaton.one_first
        self.canonical_names = CanonicalNames(name_places(self.compiled) if names else ())
        self.open: _Open | None = None
        self.carried: Any = None
        self.stopped = False

    def feed(self, batch: Any) -> list[Any]:
        """The verdicts that more records allow, as batches: those on traces that came to their ends before."""
        if batch.num_rows == 0:
            return []
        if self.carried is not None and self.carried.schema.names != batch.schema.names:
            raise damaged("has other columns than its further records")
        if self.carried is None:
            return self._checked(batch, last=False)
        carried, self.carried = self.carried, None
        more = _beginning(batch, carried.column(TRACE_ID)[0].as_py())
        first = carried if more == 0 else _joined(carried, batch.slice(0, more))
        if more == batch.num_rows:
            return self._checked(first, last=False)
        verdicts = self._checked(first, last=True)  # the next trace has begun
        return verdicts if self.stopped else verdicts + self._checked(batch.slice(more), last=False)

    def finish(self) -> list[Any]:
        """The verdict on the last trace: no more records come."""
        if self.carried is None:
            return []
        whole, self.carried = self.carried, None
        return self._checked(whole, last=True)

    # ---- to go on with a trace later ----

    def certain(self) -> Verdict | None:
        """The verdict on the trace whose end has not come, where it is certain already."""
        if self.open is None or self.open.verdict is None:
            return None
        return _counted(self.open.verdict, self.open)

    def snapshot(self) -> dict[str, Any]:
        """What is known of the trace whose end has not come."""
        return {
            "open": self.open,
            "carried": self.carried,
            "names": (dict(self.encoder.names), self.encoder.numbered),
            "renamed": (dict(self.canonical_names.known), self.canonical_names.numbered),
            "memory": self.memory.snapshot(),
        }

    def nothing(self) -> dict[str, Any]:
        """What is known before the first record."""
        return {"open": None, "carried": None, "names": ({}, 0), "renamed": ({}, 0), "memory": None}

    def restore(self, held: dict[str, Any] | None) -> None:
        """Goes on where `snapshot` was taken, or begins anew."""
        held = held or self.nothing()
        self.open, self.carried = held["open"], held["carried"]
        names, self.encoder.numbered = held["names"]
        self.encoder.names = dict(names)
        renamed, self.canonical_names.numbered = held["renamed"]
        self.canonical_names.known = dict(renamed)
        if held["memory"] is not None:
            self.memory.restore(held["memory"])

    def records(self, held: dict[str, Any] | None) -> list[Any] | None:
        """The records of a snapshot, as batches; `None` where it was taken before the first one."""
        return None if held is None or held["carried"] is None else [held["carried"]]

    def kept(self, held: dict[str, Any] | None, reported: bool) -> FollowedState:
        """What a snapshot says, in the form in which it is kept."""
        return FollowedState(self.kept_of(held), reported)

    def kept_of(self, held: dict[str, Any] | None) -> KeptFollowed:
        """The same without what was reported."""
        held = held or self.nothing()
        one, memory = held["open"], held["memory"]
        return KeptFollowed(
            open=None if one is None else KeptOpen(*(getattr(one, name) for name in _Open.__struct_fields__)),
            carried=held["carried"],
            names=held["names"],
            renamed=held["renamed"],
            memory=None if memory is None else KeptMemory(**memory),
        )

    def from_kept(self, state: bytes) -> tuple[dict[str, Any], bool]:
        """The snapshot that was kept, and whether the verdict was reported. Errors: `TracesError`."""
        found = from_bytes(state, FollowedState)
        return self.held_of(found.held), found.reported

    def held_of(self, kept: KeptFollowed) -> dict[str, Any]:
        """The snapshot that was kept. Errors: `TracesError` where it does not fit the system."""
        one = kept.open
        if one is not None:
            width = self.compiled.record.words
            fits = all(is_numbers(words, width) for words in one.words)
            if not fits or not (is_count(one.records, RECORDS_MAX) and is_count(one.compared, one.records)):
                raise damaged("is not of records of this spec")
            if one.verdict is not None and not is_storable(one.verdict):
                raise damaged("has a verdict with a number that is too large")
        if one_trace([] if kept.carried is None else [kept.carried]) != (None if one is None else one.trace_id):
            raise damaged("has no records where some are expected")
        for numbers, count in (kept.names, kept.renamed):
            if not is_count(count, NAME_MAX) or not all(is_count(one, count + FIRST_NAME) for one in numbers.values()):
                raise damaged("has names without a number")
        return {
            "open": None if one is None else _Open(*(getattr(one, name) for name in _Open.__struct_fields__)),
            "carried": kept.carried,
            "names": kept.names,
            "renamed": kept.renamed,
            "memory": None if kept.memory is None else self.memory.held_of(kept.memory),
        }

    def _checked(self, batch: Any, last: bool) -> list[Any]:
        encoded = self.encoder.encode(batch)
        parts = self._parts(batch, encoded, last)
        words, rows = self._arranged(encoded, parts)
        found = self.follower.follow(words, rows, self.report)
        if found is None:
            self.stopped = True
            return []
        # Nearly all traces have the same form: no object is made for them.
        plain = (found[:, k.STATUS] == k.FOLLOWED) & parts.closes
        plain &= parts.lasts > parts.firsts  # otherwise nothing is known of it
        plain[0] &= self.open is None
        if self.compiled.checked:
            plain &= (found[:, k.RESULT_WORDS :] == np.uint64(k.NOWHERE)).all(axis=1)
        verdicts = []
        for number in np.flatnonzero(~plain).tolist():
            verdict = self._verdict(batch, encoded, parts.one(number), self.follower.followed(found[number]))
            if verdict is not None:
                verdicts.append(verdict)
        if self.open is None or not self.open.compared:
            self.encoder.forget()
        elif len(self.encoder.names) > _NAMES_MAX and self.open.compared <= _EXPLAINED_RECORDS_MAX:
            self.encoder.forget_but(np.concatenate(self.open.words))
            self.canonical_names.forget_but(self.encoder.names)
        made = [self._conforming_batch(batch, parts.some(plain), found[plain])] if plain.any() else []
        return [*made, _as_batch(verdicts)] if verdicts else made

    def _parts(self, batch: Any, encoded: Encoded, last: bool) -> _Parts:
        ids = batch.column(TRACE_ID)
        starts = np.concatenate([[0], _changes(ids) + 1])
        ends = np.concatenate([starts[1:], [len(ids)]])
        firsts, lasts = np.searchsorted(encoded.rows, starts), np.searchsorted(encoded.rows, ends)
        parts = _Parts(starts, ends, firsts, lasts, np.ones(len(starts), bool))
        if not last:
            # The end of the last trace may be still to come, and a step looks some records ahead.
            kept = max(int(firsts[-1]), int(lasts[-1]) - self.compiled.shape.places)
            row = int(encoded.rows[kept]) if kept < lasts[-1] else int(ends[-1]) - 1
            self.carried = batch.slice(row)
            ends[-1], lasts[-1], parts.closes[-1] = row, kept, False
        return parts

    def _arranged(self, encoded: Encoded, parts: _Parts) -> tuple[Any, Any]:
        """The words of all records, behind each trace some that stand for its end, and the parts in these terms."""
        shape, record = self.compiled.shape, self.compiled.record
        assert record.event is not None, "records have events"
        gap = 2 * shape.places
        count = len(encoded.rows)
        gaps = np.concatenate([[0], np.cumsum(parts.closes * gap)])
        # Those behind the last part, which are here already though their turn has not come, are of its trace, too.
        sizes = np.diff(np.concatenate([[0], parts.lasts, [count]]))
        shifts = np.repeat(gaps, sizes)
        words = np.zeros((count + int(gaps[-1]) + gap, record.words), np.uint64)
        words[:, record.event.word] = np.uint64(shape.end << record.event.shift)
        goes_on = self.open is not None and self.open.compared > 0
        last = len(parts.starts) - 1
        traces = np.repeat(np.concatenate([np.arange(last + 1), [last]]), sizes)
        renamed = self.canonical_names.renamed(encoded.words, traces, goes_on, not parts.closes[-1])
        words[np.arange(count) + shifts] = renamed
        rows = np.zeros((len(parts.starts), k.TRACE_WORDS), np.uint64)
        rows[:, k.FIRST] = parts.firsts + gaps[:-1]
        rows[:, k.LENGTH] = parts.lasts - parts.firsts
        rows[:, k.CLOSES] = parts.closes
        if self.open is not None:
            rows[0, k.GOES_ON] = goes_on
            if self.open.verdict is not None:
                rows[0, k.LENGTH] = 0
        return words, rows

    def _conforming_batch(self, batch: Any, parts: _Parts, found: Any) -> Any:
        """The verdicts on traces that conform, of which nothing else is to be said."""
        ids = batch.column(TRACE_ID).take(pa.array(parts.starts)).cast(pa.string())
        counts = parts.ends - parts.starts, parts.lasts - parts.firsts, found[:, k.WIDTH].astype(np.int64)
        return conforming_batch(ids, *map(pa.array, counts))

    def _verdict(self, batch: Any, encoded: Encoded, part: _Part, followed: Followed) -> Verdict | None:
        """What a part adds: the verdict on its trace, if that comes to its end."""
        trace_id = batch.column(TRACE_ID)[part.start].as_py()
        state = self.open if self.open is not None and self.open.trace_id == trace_id else _Open(trace_id)
        self.open = None
        before = state.compared
        state.records += part.end - part.start
        state.compared += part.last - part.first
        if state.compared <= _EXPLAINED_RECORDS_MAX:
            state.words.append(encoded.words[part.first : part.last])
        self._note(state, followed, batch, encoded, part, before)
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
        # Records that are here already, though their turn has not come, belong to the trace, too.
        rest = encoded.words[part.last :] if not part.closes else encoded.words[:0]
        words = np.concatenate([*state.words, rest])
        stopped = self._first_unexplained(state, followed, words)
        place = min(part.first + stopped - before, (part.last if part.closes else len(encoded.rows)) - 1)
        row = int(encoded.rows[place])
        unmatchable = encoded.unmatchables.get(place)
        kind, reason = outcome(
            self.diagnoser, followed.status, followed.limited, unmatchable, lambda: self._bounds(words), self.memory
        )
        verdict = Verdict(
            state.trace_id,
            kind,
            0,
            0,
            reason,
            width=followed.width,
            **place_of(batch, row),
            **_properties(state),
        )
        if kind != "deviates" or self.left <= 0 or state.compared > _EXPLAINED_RECORDS_MAX:
            return verdict
        self.left -= 1
        streams = Streams([words], None, [{}], 0)
        return with_diagnosis(verdict, self.diagnoser.diagnose(streams))

    def _bounds(self, words: Any) -> tuple[str, ...]:
        """The bounds that a trace meets, if it is one of the first that do: the trace is followed again for it."""
        if self.bounds_left <= 0 or len(words) > _EXPLAINED_RECORDS_MAX:
            return ()
        self.bounds_left -= 1
        return self.diagnoser.bounds(Streams([words], None, [{}], 0))

    def _first_unexplained(self, state: _Open, followed: Followed, words: Any) -> int:
        """The first record without which the trace would have conformed: a step may write several lines, of which the
        first is explained."""
        place, ahead = followed.place, self.compiled.shape.places
        if followed.status != k.DEAD or ahead == 1 or state.compared > _EXPLAINED_RECORDS_MAX:
            return place
        while place + 1 < len(words) and place < followed.place + ahead:
            start = Streams([words[: place + 1]], None, [{}], 0)
            result = self.diagnoser.search.run(start)
            if result is None or result.status != k.FOLLOWED:
                break
            place += 1
        return place

    def _conforming(self, state: _Open, followed: Followed) -> Verdict:
        counts = {"records": state.records, "compared": state.compared}
        return followed_to_its_end(self.diagnoser, state.trace_id, counts, followed.width, _properties(state))

    def _note(self, state: _Open, followed: Followed, batch: Any, encoded: Encoded, part: _Part, before: int) -> None:
        """Notes which properties were violated in a part, and where."""
        for name, places in zip(self.compiled.checked, followed.violated, strict=True):
            for place, known in zip(places, (state.surely, state.perhaps), strict=True):
                if place is not None and name not in known:
                    at = max(min(part.first + place - before, part.last - 1), 0)
                    known[name] = batch.column(SEQ)[int(encoded.rows[at])].as_py()


def _properties(state: _Open) -> dict[str, Any]:
    surely = tuple(f"{name}@{seq}" for name, seq in state.surely.items())
    perhaps = tuple(f"{name}@{seq}" for name, seq in state.perhaps.items() if name not in state.surely)
    return {"violated": surely, "perhaps": perhaps}


def _counted(verdict: Verdict, state: _Open) -> Verdict:
    return replace(verdict, records=state.records, compared=state.compared)


def _as_batch(verdicts: list[Verdict]) -> Any:
    """Verdicts as a batch; at once where there is one that only says that its trace conforms: every batch of records
    ends one such trace."""
    one = verdicts[0]
    if len(verdicts) > 1 or one != Verdict(one.trace_id, "conforms", one.records, one.compared, width=one.width):
        return to_batch(verdicts)
    counts = (pa.array([number], pa.int64()) for number in (one.records, one.compared, one.width))
    return conforming_batch(pa.array([one.trace_id], pa.string()), *counts)


def _changes(ids: Any) -> Any:
    """After which rows another trace comes."""
    if pa.types.is_dictionary(ids.type):
        return np.flatnonzero(np.diff(ids.indices.to_numpy(zero_copy_only=False)))
    different = pc.not_equal(ids.slice(1), ids.slice(0, max(len(ids) - 1, 0)))
    return np.flatnonzero(different.to_numpy(zero_copy_only=False))


def _beginning(batch: Any, trace_id: str) -> int:
    """How many rows at the beginning of a batch are of this trace."""
    ids = batch.column(TRACE_ID)
    if ids[0].as_py() != trace_id:
        return 0
    changes = _changes(ids)
    return int(changes[0]) + 1 if len(changes) else len(ids)


def _joined(first: Any, second: Any) -> Any:
    table = pa.Table.from_batches([first, second.cast(first.schema)]).combine_chunks()
    return table.to_batches()[0]
