"""Which properties a trace broke, when, for how long and by whom: what the whole log adds to a verdict."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from hacheck.compile import from_words
from hacheck.model.breaking_nodes import breaking_nodes
from hacheck.model.observing.step_monitors import is_monitor
from hacheck.traces.conformance.broken_durations import Breach, Breaches, Record
from hacheck.traces.conformance.deciding_steps import DecidingSteps, StepTaken, step_words
from hacheck.traces.conformance.diagnosis import Diagnoser
from hacheck.traces.conformance.expected_events import first_left
from hacheck.traces.conformance.hindsight import Hindsight, looked_back
from hacheck.traces.conformance.interleavings import Cut, Streams
from hacheck.traces.conformance.node_lives import NodeLives, lives_of, log_ends
from hacheck.traces.conformance.record_encoding import Encoder
from hacheck.traces.conformance.verdict_reasons import place_of
from hacheck.traces.conformance.verdicts import Broken, Late, Place, Verdict
from hacheck.traces.records import NODE, TIME


class TimedStreams(Struct, frozen=True):
    """A trace to look back on.

    - `batch`: its records; `rows`: by stream, which record of the batch each is; `in_order`: whether the batch is in
      the order in which they happened;
    - `times`: by stream those of its records, in nanoseconds, which do not fall; `None` where their order is not known;
    - `skew_ns`: how far these may be wrong; `end_ns`: the time of the last record of any kind; `None` where records
      have no times, and `times` are their places.
    """

    batch: Any
    streams: Streams
    rows: Sequence[Any]
    times: Sequence[Any] | None
    skew_ns: int
    end_ns: int | None
    in_order: bool

    def place(self, record: Record) -> Place:
        """A record as a verdict has it."""
        stream, at = record
        return self._place(int(self.rows[stream][at]))

    def last_of(self, node: str, until: Record) -> Place | None:
        """The last record that a node wrote up to another record, that one included."""
        stream, at = until
        row = int(self.rows[stream][at])
        nodes = self.batch.column(NODE)
        mine = np.flatnonzero(np.array(nodes.to_pylist(), object) == node)
        if self.in_order or self.end_ns is None:
            before = mine[mine <= row]
            return self._place(int(before[-1])) if len(before) else None
        times = self.batch.column(TIME).to_numpy(zero_copy_only=False)
        before = mine[times[mine] <= times[row]]
        return self._place(int(before[np.argmax(times[before])])) if len(before) else None

    def _place(self, row: int) -> Place:
        return Place(**place_of(self.batch, row), time=self.batch.column(TIME)[row].as_py())


class BrokenProperties(Struct, frozen=True):
    """Adds to a verdict which properties its trace broke. `shown`: those of which it is said; the others are looked up
    the rules of time only."""

    diagnoser: Diagnoser
    shown: Collection[str]

    @property
    def names(self) -> tuple[str, ...]:
        """All checked properties, by number."""
        return self.diagnoser.compiled.checked

    def looked_back(
        self, verdict: Verdict, trace: TimedStreams, numbers: Sequence[int], report: Callable[[], bool]
    ) -> Verdict | None:
        """The verdict with what the whole log says of some properties; `None` if `report` says not to go on."""
        breaches, lives = None, None
        if trace.times is not None:
            known = (self.diagnoser.system, self.diagnoser.compiled, trace.batch)
            lives = lives_of(*known, trace.rows, trace.times, trace.skew_ns)
            breaches = Breaches(numbers, trace.times, trace.skew_ns, _end_ns(trace, lives))
        found = looked_back(self.diagnoser.search, trace.streams, numbers, breaches, report, lives)
        if found is None:
            return None
        result, hindsight = found
        if hindsight is None:
            return verdict
        certain = not result.limited and self.diagnoser.complete
        stretches = () if breaches is None else breaches.found(result, certain)
        verdict = self._with_certainty(verdict, trace, hindsight, certain)
        if hindsight.lives is not None:
            excluded = tuple(
                f"{self.names[number]}: {presumption(nodes, hindsight.lives, trace)}"
                for number, nodes in hindsight.presumed.items()
                if nodes and certain
            )
            verdict = replace(verdict, excluded=excluded)
        broken = [self._broken(trace, one) for one in stretches if self.names[one.number] in self.shown]
        if certain:
            self._explain(verdict, trace, hindsight, broken)
        verdict = replace(verdict, broken=tuple(broken))
        return self._with_late(verdict, trace, stretches)

    def _explain(self, verdict: Verdict, trace: TimedStreams, found: Hindsight, broken: list[Broken]) -> None:
        """Adds to the first stretch of each property that is possibly broken on what that depends."""
        possible = {one.partition("@")[0] for one in verdict.perhaps}
        for number, certainty in found.certainty.items():
            name = self.names[number]
            place = next((at for at, one in enumerate(broken) if one.invariant == name and not one.sure), None)
            if certainty != "possible" or name not in possible or place is None:
                continue
            deciding = DecidingSteps(found, number).first()
            hidden = None if deciding is None else deciding.hidden
            if deciding is None or hidden is None:
                continue
            step, _ = hidden
            last = self._shown_by(trace, deciding.sparing[-1]) or self._shown_by(trace, deciding.breaking[-1])
            before = "" if last is None else f" before {last.words}"
            broken[place] = replace(
                broken[place],
                decides=f"whether `{step_words(found, step)}` happens{before}",
                breaking=self._run_words(trace, found, deciding.breaking),
                sparing=self._run_words(trace, found, deciding.sparing),
            )

    def _run_words(self, trace: TimedStreams, found: Hindsight, steps: Sequence[StepTaken]) -> str:
        """Steps in words: each by the line that shows it, or by its action."""
        shown = [(step, self._shown_by(trace, step)) for step in steps]
        return ", ".join(f"{step_words(found, step)} (no line)" if at is None else at.words for step, at in shown)

    def _shown_by(self, trace: TimedStreams, step: StepTaken) -> Place | None:
        """The first record that a step takes."""
        for stream, (before, after) in enumerate(zip(step.before, step.after, strict=True)):
            if before < after:
                return trace.place((stream, before))
        return None

    def _with_certainty(self, verdict: Verdict, trace: TimedStreams, found: Hindsight, certain: bool) -> Verdict:
        violated: list[str] = []
        possible: list[str] = []
        for number, certainty in found.certainty.items():
            name = self.names[number]
            is_excluded = certainty == "excluded" and (certain or not found.presumed.get(number))
            if is_excluded or name not in self.shown:
                continue
            surely = certainty == "violated" and certain
            marks = found.marks[number]
            cuts = [cut for cut, mark in marks.items() if mark.every and surely]
            cuts = cuts or [cut for cut, mark in marks.items() if mark.some]
            cut = min(cuts, key=lambda one: (sum(one), one))
            stream = first_left(trace.streams, cut)
            seq = "end" if stream is None else trace.place((stream, cut[stream])).seq
            (violated if surely else possible).append(f"{name}@{seq}")
        return replace(verdict, violated=tuple(violated), perhaps=tuple(possible))

    def _broken(self, trace: TimedStreams, one: Breach) -> Broken:
        start, end = trace.place(one.start), trace.place(one.end)
        prop = next(held for held in self.diagnoser.system.properties if held.name == self.names[one.number])
        if is_monitor(prop.goal):  # a step broke it, and no later one mends that
            return Broken(prop.name, one.sure, None, start, start, False)
        logged = self._logged(trace)
        nodes = tuple(logged.get(node, f"{node[0]}-{node[1]}") for node in self._nodes_of(one))
        since = tuple(trace.last_of(node, one.start) for node in nodes)
        return Broken(self.names[one.number], one.sure, one.nanoseconds, start, end, one.is_open, nodes, since)

    def _nodes_of(self, one: Breach) -> tuple[tuple[str, int], ...]:
        """The nodes that break a property at the beginning of a stretch."""
        if one.state is None:
            return ()
        prop = next(held for held in self.diagnoser.system.properties if held.name == self.names[one.number])
        state = self.diagnoser.compiled.state(from_words(one.state.tolist()))
        return breaking_nodes(self.diagnoser.system, prop, state)

    def _logged(self, trace: TimedStreams) -> dict[tuple[str, int], str]:
        """What the log calls each node of the model."""
        encoder, writers = Encoder(self.diagnoser.compiled), self.diagnoser.compiled.shape.writers
        found: dict[tuple[str, int], str] = {}
        for name in dict.fromkeys(trace.batch.column(NODE).to_pylist()):
            place = encoder.writer(name)
            writer = writers[place] if 0 <= place < len(writers) else None
            if writer is not None:
                found.setdefault(writer, name)
        return found

    def _with_late(self, verdict: Verdict, trace: TimedStreams, stretches: Sequence[Breach]) -> Verdict:
        """The verdict with what lasted longer than its rule allows. One that surely did is the reason instead of what
        could not be decided later; where the trace left the model besides, that is the reason."""
        late: list[Late] = []
        for number, rule in self.diagnoser.numbered_rules().items():
            mine = [one for one in stretches if one.number == number and one.nanoseconds is not None]
            most = rule.nanoseconds
            sure = [one for one in mine if one.sure and (one.nanoseconds or 0) - 2 * trace.skew_ns > most]
            chosen = sure or [one for one in mine if not one.sure and (one.nanoseconds or 0) > most]
            late += [
                Late(rule.name, one.sure, one.nanoseconds or 0, most, trace.place(one.start), trace.place(one.end))
                for one in chosen
            ]
        first = next((one for one in late if one.sure), None)
        verdict = replace(verdict, late=tuple(late))
        if first is None or verdict.kind == "deviates":
            return verdict
        place = {name: getattr(first.start, name) for name in ("seq", "node", "event", "file", "line")}
        return replace(verdict, kind="deviates", reason=first.words, **place)


def _end_ns(trace: TimedStreams, lives: NodeLives) -> int | None:
    """Until when what is so at the last record was so for sure; `None` where records have no times."""
    if trace.end_ns is None:
        return None
    lived, ends = lives.end_ns(), log_ends(trace.batch)
    return lived if lived is not None or ends is None else int(ends.max())


def presumption(nodes: Mapping[str, Cut], lives: NodeLives, trace: TimedStreams) -> str:
    """Which nodes are taken to have ended soon after their last lines, in words."""
    parts = []
    for life in lives.nodes:
        if life.name in nodes:
            last, following = life.last_line(nodes[life.name])[0], life.following(nodes[life.name])
            when = "" if last is None or trace.end_ns is None else f" at {_clock_time(last)}"
            place = "" if following is None else f" before {trace.place(following).words}"
            parts.append(f"{life.name} ended soon after its last line{place}{when}")
    return f"if {' and '.join(parts)}"


def _clock_time(nanoseconds: int) -> str:
    moment = datetime.fromtimestamp(nanoseconds // 10**9, UTC)
    return f"{moment:%H:%M:%S}.{nanoseconds // 10**6 % 1000:03d} UTC"
