"""Why a trace leaves the model: what the model would have allowed, and the cheapest change after which it goes on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hacheck.checker.explicit.native.codegen.words import from_words
from hacheck.model.data import dataclass, replace
from hacheck.model.execution import Line
from hacheck.model.ir import System
from hacheck.model.observing.records import FIRST_EVENT
from hacheck.model.semantics import Interpreter
from hacheck.model.show import show
from hacheck.traces.conformance import kernels as k
from hacheck.traces.conformance.program import Bits, Compiled
from hacheck.traces.conformance.verdicts import RepairKind
from hacheck.traces.conformance.weaving import Cut, Streams, Weaver, Woven

STATES_ASKED = 40
"""So many of the states that explain a log up to a place are asked what they could have written next."""

LINES_SHOWN = 8
HORIZON = 60
"""So many records further a repair is tried."""

SECONDS_MAX = 10.0
"""So long repairs are looked for."""


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


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains traces of one system. `system`: whose steps write lines."""

    system: System
    weaver: Weaver

    @property
    def compiled(self) -> Compiled:
        """What follows logs of it."""
        return self.weaver.compiled

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
        expected = tuple(self.lines(states))
        found = Explanation(stream, woven.cut[stream], expected)
        return self.repaired(found, streams, woven, states) if repairs else found

    # ---- what would have been possible ----

    def lines(self, states: Any) -> Iterator[str]:
        """The lines that steps from these states write first, as text, each once."""
        interpreter = Interpreter(self.system)
        told: dict[str, None] = {}
        for row in states[:STATES_ASKED].tolist():
            state = self.compiled.state(from_words(row))
            for _, lines in interpreter.steps_with_lines(state):
                if lines:
                    told[line_text(lines[0])] = None
        yield from sorted(told)[:LINES_SHOWN]
        if len(told) > LINES_SHOWN:
            yield f"and {len(told) - LINES_SHOWN} more"

    # ---- what would mend it ----

    def repaired(self, found: Explanation, streams: Streams, woven: Woven, states: Any) -> Explanation:
        """With the change that lets the trace go on furthest; among those the first that is tried."""
        rest = _from(streams, woven.cut)
        trier = replace(self.weaver, starts=states)
        until = time.monotonic() + SECONDS_MAX
        total = sum(rest.lengths)
        best = found
        for kind, text, changed in self.changes(rest, found.stream):
            result = trier.weave(changed, lambda: time.monotonic() < until)
            if result is None:
                break
            explained = sum(result.cut) - (sum(changed.lengths) - total)
            if explained > best.records:
                best = Explanation(found.stream, found.record, found.expected, kind, text, explained)
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
                text = f"`{event.name}`{self.written_by(other)} before it"
                yield "missing line", text, _with(rest, other, np.concatenate([added, rest.words[other]]), 2)

    def written_by(self, stream: int) -> str:
        """Whose stream it is, where there are several."""
        writer = None if self.compiled.shape.merged else self.compiled.shape.writers[stream]
        return "" if writer is None else f" by {writer[0]} {writer[1]}"


def line_text(line: Line) -> str:
    """A line in words: `Replica 2: accept(by: Replica 1)`."""
    fields = ", ".join(f"{name}: {show(kind, value)}" for name, kind, value in line.fields)
    who = "" if line.node is None else f"{line.node[0]} {line.node[1]}: "
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
