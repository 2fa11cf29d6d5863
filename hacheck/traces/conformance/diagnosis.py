"""Why a trace leaves the model: what the model would have allowed, and the cheapest change after which it goes on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from hacheck.model.execution import Line
from hacheck.model.ir import System
from hacheck.model.language.assumed_conditions import AssumedConditions
from hacheck.model.observing.record_layout import FIRST_EVENT
from hacheck.model.render import show
from hacheck.model.run_json import run_to_json
from hacheck.traces.conformance.broken_durations import Rule
from hacheck.traces.conformance.expected_events import Departure, ExpectedEvents, first_left
from hacheck.traces.conformance.impossible_lines import ImpossibleLine, impossible_line
from hacheck.traces.conformance.interleavings import Cut, InterleavingSearch, Streams
from hacheck.traces.conformance.kernels import control as k
from hacheck.traces.conformance.shortest_run import ShortestRuns
from hacheck.traces.conformance.trace_program import Bits, Compiled
from hacheck.traces.conformance.verdicts import RepairKind

LINES_SHOWN = 8
HORIZON = 60
"""So many records further a repair is tried."""

AHEAD = 3
"""So many of the next records of each stream may be to blame."""

EXPANDED_MAX = 2_000_000
"""So many states are looked at for repairs of one trace, wherever it is checked and however busy the machine is."""


class Diagnosis(Struct, frozen=True):
    """`stream` and `record`: the first record that no run explains, the earliest of those next in each stream, or one
    near it of which a change explains more; where records are in one order, it may be a later line of a step whose
    first lines are there;
    `expected`: lines that some run would have written there; `sooner`: where a step was `begun`, what could have been
    written instead of all of it; `repair`, `text`, `records`: see `Verdict`; `impossible`: which conditions fail of the
    transition that would have written it, and `assumption`: the one that alone forbids it, or nothing."""

    stream: int
    record: int
    expected: tuple[str, ...]
    begun: bool = False
    sooner: tuple[str, ...] = ()
    repair: RepairKind = ""
    text: str = ""
    records: int = 0
    run: str = ""
    impossible: ImpossibleLine | None = None
    assumption: str = ""


class Diagnoser(Struct, frozen=True):
    """Explains traces of one system. `system`: whose steps write lines; `complete`: whether traces begin in one of the
    states that they are followed from, so that none deviates which begins in another. `rules`: of properties that may
    not be broken for long. `hidden_prefix`: lines whose events begin so are not listed as possible. `assumed`: which
    conditions an assumption adds."""

    system: System
    search: InterleavingSearch
    complete: bool = True
    rules: tuple[Rule, ...] = ()
    hidden_prefix: str | None = None
    assumed: AssumedConditions | None = None

    @property
    def compiled(self) -> Compiled:
        """What follows logs of it."""
        return self.search.compiled

    def numbered_rules(self) -> dict[int, Rule]:
        """The rules, by the number of the property that each is about."""
        return {self.compiled.checked.index(one.name): one for one in self.rules}

    def diagnose(self, streams: Streams, *, at_start: bool = False) -> Diagnosis | None:
        """Why no run explains a trace; `None` where one does, or it is unknown. `at_start`: of a step that was
        begun its first line is mended, and not the one that is not there."""
        keeping = replace(self.search, keeps=True)
        result = keeping.run(streams)
        if result is None or result.status != k.DEAD:
            return None
        if first_left(streams, result.cut) is None:
            return None
        shortest_runs = ShortestRuns(self.system, keeping, streams)
        run = shortest_runs.run_to(result.cut)
        run_text = "" if run is None else json.dumps(run_to_json(self.system, run), ensure_ascii=False)
        found, latest = self.expected(ExpectedEvents(shortest_runs), result.cut)
        place = 0 if at_start else found.record - latest.cut[found.stream]
        states = keeping.kept[latest.cut]
        found = self.repaired(replace(found, run=run_text), streams, latest.cut, states, place)
        if not (at_start or self.compiled.shape.merged):
            left = found.stream, found.record
            found = self.blamed(found, streams, latest.cut, keeping.kept)
            if (found.stream, found.record) != left:  # what would be possible there is not known
                return found
        return self.with_conditions(found, streams, latest, states)

    def with_conditions(self, found: Diagnosis, streams: Streams, latest: Departure, states: Any) -> Diagnosis:
        """With the conditions that fail in the nearest state. `latest`, `states`: where the trace leaves the model."""
        begun = latest.begun
        reason = impossible_line(self.system, self.compiled, states, streams, latest.cut, found.stream, begun)
        if reason is None:
            return found
        assumption = None
        if self.assumed is not None and len(reason.conditions) == 1 and not reason.differences:
            assumption = self.assumed.of(reason.action, reason.conditions[0].text)
        return replace(found, impossible=reason, assumption=assumption or "")

    def bounds(self, streams: Streams) -> tuple[str, ...]:
        """The bounds of the model that are met where a trace is followed, as far as that goes in a while."""
        memory = self.search.memory
        before, until = memory.met(), memory.expanded + EXPANDED_MAX
        self.search.run(streams, lambda: memory.expanded < until)
        return memory.met_since(before)

    # ---- what would have been possible ----

    def next_lines(self, streams: Streams) -> tuple[str, ...]:
        """The lines that some run would have written where a trace leaves the model, in words; none where one explains
        it all, or it is unknown."""
        keeping = replace(self.search, keeps=True)
        result = keeping.run(streams)
        if result is None or result.status != k.DEAD or first_left(streams, result.cut) is None:
            return ()
        return self.expected(ExpectedEvents(ShortestRuns(self.system, keeping, streams)), result.cut)[0].expected

    def record(self, streams: Streams, stream: int, at: int) -> tuple[str, str]:
        """The event of a record, and who wrote it, in words."""
        shape, record = self.compiled.shape, self.compiled.record
        words = streams.words[stream][at]
        number = 0 if record.event is None else _get(words, record.event)
        event = shape.events[number - FIRST_EVENT].name if FIRST_EVENT <= number < shape.end else ""
        place = stream if not shape.merged or record.writer is None else _get(words, record.writer) - 1
        return event, written_by(shape.writers[place] if place >= 0 else None)

    def expected(self, possible: ExpectedEvents, furthest: Cut) -> tuple[Diagnosis, Departure]:
        """What would have been possible where the trace leaves the model, and where the last step before that begins.
        Where nodes logged apart, the trace stops before a step that is not all there; the rest is listed with it."""
        streams, merged = possible.streams, self.compiled.shape.merged
        places = possible.left(furthest)
        latest = places[0]
        at = latest.reached if merged else latest.cut
        stream = first_left(streams, at)
        assert stream is not None, "a trace that leaves the model has a record there"
        record, begun = self.record(streams, stream, at[stream]), any(latest.begun)
        lines = [line for place in places for line in possible.lines(place)]
        expected = self.texts(lines, record, ", with this line" * (begun and not merged))
        start = replace(latest, begun=(0,) * len(at))
        sooner = self.texts(possible.lines(start), record) if begun else ()
        return Diagnosis(stream, at[stream], expected, begun, sooner), latest

    def texts(self, lines: Iterable[Line], record: tuple[str, str], more: str = "") -> tuple[str, ...]:
        """Lines as text, each once, and `more` behind each: first those most like a record."""
        ranked: dict[str, tuple[bool, bool, str]] = {}
        for line in lines:
            if self.hidden_prefix is not None and line.event.startswith(self.hidden_prefix):
                continue
            text = line_text(line) + more
            mine = written_by(line.node) == record[1]
            ranked[text] = (not (mine and line.event == record[0]), not mine, text)
        texts = sorted(ranked, key=lambda text: ranked[text])
        rest = (f"and {len(texts) - LINES_SHOWN} more",) if len(texts) > LINES_SHOWN else ()
        return (*texts[:LINES_SHOWN], *rest)

    # ---- what would mend it ----

    def repaired(self, found: Diagnosis, streams: Streams, cut: Cut, states: Any, at: int) -> Diagnosis:
        """With the change that lets the trace go on furthest; among those the first that is tried. A line that is left
        out is not explained: where it was the last one, no more are. `cut`, `states`: where the step begins in which
        the trace stops; `at`: which of the records from there on is mended."""
        rest = _from(streams, cut)
        trier = replace(self.search, starts=states)
        memory = self.search.memory
        until = memory.expanded + EXPANDED_MAX
        total = sum(rest.lengths)
        best = found
        for kind, text, changed in self.changes(rest, found.stream, at):
            result = trier.run(changed, lambda: memory.expanded < until)
            if result is None:
                break
            with_diagnosis = sum(result.cut) - max(sum(changed.lengths) - total, 0) - at
            whole = result.status == k.FOLLOWED and sum(cut) + sum(changed.lengths) > 0
            if with_diagnosis > best.records or whole:
                best = replace(found, repair=kind, text=text, records=with_diagnosis)
                if whole:
                    break
        return best

    def blamed(self, found: Diagnosis, streams: Streams, cut: Cut, kept: Mapping[Cut, Any]) -> Diagnosis:
        """With another record near the place where the trace stops, if mending that one explains more: a step that
        writes lines at several nodes is refused as a whole, and its earliest line may be an innocent node's. `cut`:
        the last one with states, `kept` by cut."""
        record = self.compiled.record.event
        ahead = [words[at] for words, at in zip(streams.words, cut, strict=True) if at < len(words)]
        if record is None or any(_get(words, record) < FIRST_EVENT for words in ahead):
            return found  # a line that no step can write is to blame for itself
        memory, best = self.search.memory, found
        until = memory.expanded + EXPANDED_MAX
        for before, stream, at in _near(streams, cut, kept):
            if (stream, before[stream] + at) == (found.stream, found.record):
                continue
            rest, trier = _from(streams, before), replace(self.search, starts=kept[before])
            for kind, text, changed in self.changes(rest, stream, at):
                if kind == "missing line" or (kind == "extra line" and at):
                    break
                result = trier.run(changed, lambda: memory.expanded < until)
                if result is None:
                    return best
                records = sum(before) + sum(result.cut) - sum(cut)
                if records > best.records:
                    moved = replace(found, stream=stream, record=before[stream] + at)
                    if moved.record != cut[stream]:
                        moved = replace(moved, expected=(), sooner=())
                    elif found.begun:  # "with this line" was said of the other record
                        moved = replace(moved, expected=found.sooner, sooner=())
                    best = replace(moved, repair=kind, text=text, records=records)
        return best

    def changes(self, rest: Streams, stream: int, at: int) -> Iterator[tuple[RepairKind, str, Streams]]:
        """Every way to mend a record of a stream, the cheapest first. `at`: which one; 0 where nodes logged apart."""
        record = self.compiled.record
        assert record.event is not None, "records have events"
        words = rest.words[stream]
        number = _get(words[at], record.event)
        if number >= FIRST_EVENT:
            event = self.compiled.shape.events[number - FIRST_EVENT]
            for field in event.fields:
                blank = words.copy()
                for place in (record.given[field.column], record.content[field.column]):
                    _clear(blank[at], place)
                if (blank != words).any():
                    yield "wrong field", f"`{field.name}` of `{event.name}`", _with(rest, stream, blank)
        yield "extra line", "without this line", _with(rest, stream, np.delete(words, at, axis=0), 0)
        for other in (stream, *(one for one in range(len(rest.words)) if one != stream)):
            for code, event in enumerate(self.compiled.shape.events, start=FIRST_EVENT):
                if not event.written:
                    continue
                added = np.zeros((1, record.words), np.uint64)
                added[0, record.event.word] |= np.uint64(code << record.event.shift)
                who = "" if self.compiled.shape.merged else written_by(self.compiled.shape.writers[other])
                text = f"`{event.name}`{' by ' * bool(who)}{who} before it"
                inserted = np.insert(rest.words[other], at, added, axis=0)
                yield "missing line", text, _with(rest, other, inserted, 2)
                if _is_later(rest, other):  # it may have been written long before the next line of its log
                    yield "missing line", text, _with(rest, other, inserted, 2, soon=True)


def _near(streams: Streams, cut: Cut, kept: Mapping[Cut, Any]) -> Iterator[tuple[Cut, int, int]]:
    """The records near a cut: the cut from which each is mended, its stream, and how many records there come before it.
    First the next ones, then those behind them, then the last ones before the cut."""
    for at in range(AHEAD):
        for stream, (taken, length) in enumerate(zip(cut, streams.lengths, strict=True)):
            if taken + at < length:
                yield cut, stream, at
    for stream, taken in enumerate(cut):
        before = tuple(one - (place == stream) for place, one in enumerate(cut))
        if taken and before in kept:
            yield before, stream, 0


def written_by(writer: tuple[str, int] | None) -> str:
    """Who writes a line, in words; nothing where it is nobody's."""
    return "" if writer is None else f"{writer[0]} {writer[1]}"


def line_text(line: Line) -> str:
    """A line in words: `Replica 2: accept(by: Replica 1)`."""
    fields = ", ".join(f"{name}: {show(kind, value)}" for name, kind, value in line.fields)
    who = f"{written_by(line.node)}: " if line.node is not None else ""
    return f"{who}{line.event}({fields})" if fields else f"{who}{line.event}"


def _from(streams: Streams, cut: Cut) -> Streams:
    """The records that come next, a few of each stream; what they come after is left out where it is before."""
    words = [words[at : at + HORIZON] for words, at in zip(streams.words, cut, strict=True)]
    times = None
    if streams.times is not None:
        times = [times[at : at + HORIZON] for times, at in zip(streams.times, cut, strict=True)]
    after = []
    for stream, at in enumerate(cut):
        mine = {}
        for record, needed in streams.after[stream].items():
            if at <= record < at + HORIZON:
                mine[record - at] = tuple((other, least - cut[other]) for other, least in needed if least > cut[other])
        after.append(mine)
    return Streams(words, times, after, streams.skew_ns)


def _is_later(streams: Streams, stream: int) -> bool:
    """Whether the next record of a stream is later, beyond the skew, than that of another one."""
    times = streams.times
    if times is None or not len(times[stream]):
        return False
    return bool(times[stream][0] > _soonest(times)[0] + streams.skew_ns)


def _with(streams: Streams, stream: int, words: Any, first: int = 1, *, soon: bool = False) -> Streams:
    """With other records in a stream: `first` is 0 where its first record is gone, 2 where one more is before it, at
    the time of the stream's next record; `soon`: of the next one of any stream."""
    changed = [words if place == stream else held for place, held in enumerate(streams.words)]
    times = streams.times
    if times is not None and first != 1:
        own = times[stream]
        moved = own[1:] if first == 0 else np.concatenate([own[:1] if len(own) and not soon else _soonest(times), own])
        times = [moved if place == stream else held for place, held in enumerate(times)]
    after: Sequence[dict[int, tuple[tuple[int, int], ...]]] = streams.after
    if first != 1:
        after = [{} for _ in streams.words]
    return Streams(changed, times, after, streams.skew_ns)


def _soonest(times: Sequence[Any]) -> Any:
    return np.array([min((held[0] for held in times if len(held)), default=0)], np.int64)


def _get(words: Any, place: Bits) -> int:
    return int(words[place.word]) >> place.shift & (1 << place.width) - 1


def _clear(words: Any, place: Bits | None) -> None:
    if place is not None:
        words[place.word] &= np.uint64(~(((1 << place.width) - 1) << place.shift) & (1 << 64) - 1)
