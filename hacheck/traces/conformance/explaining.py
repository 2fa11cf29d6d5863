"""Why a trace leaves the model: what the model would have allowed, and the cheapest change after which it goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hacheck.checker.explicit.native.codegen.words import from_words
from hacheck.model.data import dataclass, replace
from hacheck.model.execution import Line
from hacheck.model.ir import System
from hacheck.model.observing.records import FIRST_EVENT
from hacheck.model.run_json import run_to_json
from hacheck.model.semantics import Interpreter
from hacheck.model.show import show
from hacheck.traces.conformance.kernels import control as k
from hacheck.traces.conformance.lasting import Rule
from hacheck.traces.conformance.program import Bits, Compiled
from hacheck.traces.conformance.retelling import Retelling
from hacheck.traces.conformance.verdicts import RepairKind
from hacheck.traces.conformance.weaving import Cut, Streams, Weaver, Woven

STATES_ASKED = 40
"""So many of the states that explain a log up to a place are asked what they could have written next."""

LINES_SHOWN = 8
HORIZON = 60
"""So many records further a repair is tried."""

EXPANDED_MAX = 2_000_000
"""So many states are looked at for repairs of one trace, wherever it is judged and however busy the machine is."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """`stream` and `record`: the first record that no run explains, the earliest of those next in each stream;
    `expected`: lines that some run would have written; `repair`, `text`, `records`: see `Verdict`."""

    stream: int
    record: int
    expected: tuple[str, ...]
    repair: RepairKind = ""
    text: str = ""
    records: int = 0
    run: str = ""


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains traces of one system. `system`: whose steps write lines; `complete`: whether traces begin in one of the
    states that they are followed from, so that none deviates which begins in another. `rules`: of properties that may
    not be broken for long."""

    system: System
    weaver: Weaver
    complete: bool = True
    rules: tuple[Rule, ...] = ()

    @property
    def compiled(self) -> Compiled:
        """What follows logs of it."""
        return self.weaver.compiled

    def numbered_rules(self) -> dict[int, Rule]:
        """The rules, by the number of the property that each is about."""
        return {self.compiled.asked.index(one.name): one for one in self.rules}

    def explain(self, streams: Streams, repairs: bool = True) -> Explanation | None:
        """Why no run explains a trace; `None` where one does, or it cannot be told."""
        keeping = replace(self.weaver, keeps=True)
        woven = keeping.weave(streams)
        if woven is None or woven.status != k.DEAD:
            return None
        states = keeping.kept[woven.cut]
        stream = first_left(streams, woven.cut)
        if stream is None:
            return None
        run = Retelling(self.system, keeping, streams).run_to(woven.cut)
        told = "" if run is None else json.dumps(run_to_json(self.system, run), ensure_ascii=False)
        expected = self.lines(states, self.record(streams, stream, woven.cut[stream]))
        found = Explanation(stream, woven.cut[stream], expected, run=told)
        return self.repaired(found, streams, woven, states) if repairs else found

    # ---- what would have been possible ----

    def record(self, streams: Streams, stream: int, at: int) -> tuple[str, str]:
        """The event of a record, and who wrote it, in words."""
        shape, record = self.compiled.shape, self.compiled.record
        words = streams.words[stream][at]
        number = 0 if record.event is None else _get(words, record.event)
        event = shape.events[number - FIRST_EVENT].name if FIRST_EVENT <= number < shape.end else ""
        place = stream if not shape.merged or record.writer is None else _get(words, record.writer) - 1
        return event, written_by(shape.writers[place] if place >= 0 else None)

    def lines(self, states: Any, record: tuple[str, str]) -> tuple[str, ...]:
        """The lines that steps from these states write first, as text, each once: first those most like a record."""
        interpreter = Interpreter(self.system)
        told: dict[str, tuple[bool, bool, str]] = {}
        for row in states[:STATES_ASKED].tolist():
            for _, lines in interpreter.steps_with_lines(self.compiled.state(from_words(row))):
                if lines:
                    text = line_text(lines[0])
                    mine = written_by(lines[0].node) == record[1]
                    told[text] = (not (mine and lines[0].event == record[0]), not mine, text)
        texts = sorted(told, key=lambda text: told[text])
        more = (f"and {len(texts) - LINES_SHOWN} more",) if len(texts) > LINES_SHOWN else ()
        return (*texts[:LINES_SHOWN], *more)

    # ---- what would mend it ----

    def repaired(self, found: Explanation, streams: Streams, woven: Woven, states: Any) -> Explanation:
        """With the change that lets the trace go on furthest; among those the first that is tried."""
        rest = _from(streams, woven.cut)
        trier = replace(self.weaver, starts=states)
        memory = self.weaver.memory
        until = memory.expanded + EXPANDED_MAX
        total = sum(rest.lengths)
        best = found
        for kind, text, changed in self.changes(rest, found.stream):
            result = trier.weave(changed, lambda: memory.expanded < until)
            if result is None:
                break
            explained = sum(result.cut) - (sum(changed.lengths) - total)
            if explained > best.records:
                best = replace(found, repair=kind, text=text, records=explained)
                if result.status == k.FOLLOWED:
                    break
        return best

    def changes(self, rest: Streams, stream: int) -> Iterator[tuple[RepairKind, str, Streams]]:
        """Every way to mend the next record of a stream, the cheapest first."""
        record = self.compiled.record
        assert record.event is not None, "records have events"
        words = rest.words[stream]
        number = _get(words[0], record.event)
        if number >= FIRST_EVENT:
            event = self.compiled.shape.events[number - FIRST_EVENT]
            for field in event.fields:
                blank = words.copy()
                for place in (record.given[field.column], record.content[field.column]):
                    _clear(blank[0], place)
                if (blank != words).any():
                    yield "wrong field", f"`{field.name}` of `{event.name}`", _with(rest, stream, blank)
        yield "extra line", "without this line", _with(rest, stream, words[1:], 0)
        for other in (stream, *(one for one in range(len(rest.words)) if one != stream)):
            for code, event in enumerate(self.compiled.shape.events, start=FIRST_EVENT):
                added = np.zeros((1, record.words), np.uint64)
                added[0, record.event.word] |= np.uint64(code << record.event.shift)
                who = "" if self.compiled.shape.merged else written_by(self.compiled.shape.writers[other])
                text = f"`{event.name}`{' by ' * bool(who)}{who} before it"
                yield "missing line", text, _with(rest, other, np.concatenate([added, rest.words[other]]), 2)


def written_by(writer: tuple[str, int] | None) -> str:
    """Who writes a line, in words; nothing where it is nobody's."""
    return "" if writer is None else f"{writer[0]} {writer[1]}"


def line_text(line: Line) -> str:
    """A line in words: `Replica 2: accept(by: Replica 1)`."""
    fields = ", ".join(f"{name}: {show(kind, value)}" for name, kind, value in line.fields)
    who = f"{written_by(line.node)}: " if line.node is not None else ""
    return f"{who}{line.event}({fields})" if fields else f"{who}{line.event}"


def first_left(streams: Streams, cut: Cut) -> int | None:
    """The stream whose next record is the earliest."""
    left = [(stream, at) for stream, (at, length) in enumerate(zip(cut, streams.lengths, strict=True)) if at < length]
    if not left:
        return None
    if streams.times is None:
        return left[0][0]
    times = streams.times
    return min(left, key=lambda one: times[one[0]][one[1]])[0]


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


def _with(streams: Streams, stream: int, words: Any, first: int = 1) -> Streams:
    """With other records in a stream: `first` is 0 where its first record is gone, 2 where one more is before it."""
    changed = [words if place == stream else held for place, held in enumerate(streams.words)]
    times = streams.times
    if times is not None and first != 1:
        own = times[stream]
        moved = own[1:] if first == 0 else np.concatenate([own[:1] if len(own) else _soonest(times), own])
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
