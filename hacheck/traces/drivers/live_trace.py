"""A trace of logs that are still written: what explains it so far, how far that is from breaking a property, and what
there is to say of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from hacheck.model.render_value import show
from hacheck.traces.conformance.checker_by_settings import CheckerBySettings
from hacheck.traces.conformance.derived_settings import Chosen, DerivedSettings
from hacheck.traces.conformance.fault_graph import Distance, FaultGraph
from hacheck.traces.conformance.hindsight import looked_back
from hacheck.traces.conformance.interleavings import Streams
from hacheck.traces.conformance.live_search import Explanation, LiveSearch
from hacheck.traces.conformance.record_encoding import Encoder
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Place, Verdict, from_batch
from hacheck.traces.dataset import ROW, SOURCE, located_schema
from hacheck.traces.drivers.columns import pruned
from hacheck.traces.records import EVENT, FILE, LINE, NODE, SEQ, TIME, TRACE_ID, TraceSchema

Report = Callable[[], bool]


SLICE_SECONDS = 0.08
"""So long the steps of the model are explored at a time; records that come meanwhile do not wait longer."""

MARGIN_NS = 1_000_000_000
"""So long after the last record a log counts as quiet, beside the skew."""


class PropertyDistance(Struct, frozen=True):
    """How far a trace is from breaking a property, and by which faults in words; see `Distance`. `fewest` and `most`
    differ where runs that explain the log differ in hidden faults that have happened already."""

    fewest: int | None
    most: int | None
    exact: bool
    broken: bool
    faults: tuple[str, ...]

    @property
    def words(self) -> str:
        """As a short sentence without its full stop."""
        if self.broken:
            return "broken, in some run that explains the log"
        if self.fewest is None:
            return "no faults break it" if self.exact else "not known: too many states"
        if self.fewest == self.most == 0:
            return "no fault is needed to break it"
        most = "no number of faults" if self.most is None else _faults(self.most)
        between = _faults(self.fewest) if self.fewest == self.most else f"between {_faults(self.fewest)} and {most}"
        named = f": {', then '.join(self.faults)}" if self.faults else ""
        return f"{'' if self.exact else 'at most '}{between} away{named}"


def _faults(number: int) -> str:
    return "no fault" if number == 0 else "one fault" if number == 1 else f"{number} faults"


class Now(Struct, frozen=True):
    """What is known of a trace. `states`: how many explain it; `explained`: whether any does; `distances`: by
    property."""

    records: int
    states: int
    explained: bool
    full: bool
    distances: Mapping[str, PropertyDistance]


class LiveTrace:
    """One trace. `rows`: its records, as they came; `now`: what is known of it."""

    def __init__(self, trace_id: str, checker: TraceChecker | CheckerBySettings, schema: TraceSchema) -> None:
        self.trace_id, self._checker, self._schema = trace_id, checker, schema
        self.rows: list[dict[str, Any]] = []
        self._said = DerivedSettings(checker.derived if isinstance(checker, CheckerBySettings) else ())
        self._under: Chosen | None = None
        self._search: LiveSearch | None = None
        self._graph: FaultGraph | None = None
        self.now = Now(0, 0, True, False, {})
        self.explanation: Explanation | None = None
        self._watermark: int | None = None

    def add(self, rows: Sequence[dict[str, Any]]) -> None:
        """Takes records, those of each node in their order."""
        self.rows += rows
        batch = self._batch(rows, len(self.rows) - len(rows))
        self._said.read(batch)
        if self._said.chosen != self._under:
            self._under = self._said.chosen
            self._begin()
            batch = self._batch(self.rows, 0)
        if self._search is not None:
            self._search.add(batch)

    def update(self, watermark_ns: int | None, report: Report = lambda: True) -> bool:
        """Looks what explains the records, and how far that is from breaking properties. `watermark_ns`: no record
        older than this comes any more. False if `report` says not to go on."""
        search = self._search
        if search is None or search.strange:
            return True
        if watermark_ns is not None:
            search.advance(watermark_ns, report)
        found = search.explained(report)
        if found is None:
            return False
        self.explanation = found
        distances = dict(self.now.distances)
        if found.states and self._graph is not None:
            distances = self._distances(found, report)
        self.now = Now(len(self.rows), len(found.states), bool(found.states), found.full, distances)
        return True

    @property
    def is_open(self) -> bool:
        """Whether looking longer may still find how far a property is from being broken."""
        graph = self._graph
        return graph is not None and not graph.is_limited and any(not one.exact for one in self.now.distances.values())

    def refine(self, report: Report = lambda: True) -> None:
        """Looks a little longer how far the properties are from being broken."""
        if self.explanation is not None and self.explanation.states:
            self.now = replace(self.now, distances=self._distances(self.explanation, report))

    def _distances(self, found: Explanation, report: Report) -> dict[str, PropertyDistance]:
        assert self._graph is not None, "only called where there is a graph"
        deadline = time.monotonic() + SLICE_SECONDS
        places = self._graph.places(found.states)
        if places is None:
            return dict.fromkeys(self._graph.checked, PropertyDistance(None, None, False, False, ()))
        distances = {}
        for name in self._graph.checked:
            one = self._graph.distance(name, places, lambda: report() and time.monotonic() < deadline)
            distances[name] = self._in_words(one if found.every else replace(one, exact=False))
        return distances

    @property
    def marked(self) -> tuple[str, ...]:
        """The properties that `Explanation.violated` is about."""
        found = self._variant()
        return () if found is None else found.trace_follower().diagnoser.compiled.checked

    def waits_for(self, watermark_ns: int) -> bool:
        """Whether records are there that the watermark has passed since `update` was called last."""
        newest = max((row[TIME] for row in self.rows[-100:]), default=0)
        before, self._watermark = self._watermark, watermark_ns
        return before is not None and before <= newest + MARGIN_NS < watermark_ns

    @property
    def is_impossible(self) -> bool:
        """Whether no run explains the records, and no record that is to come can change that."""
        return self.explanation is not None and self.explanation.certain

    def verdict(self) -> Verdict:
        """What `conform` says of the records so far."""
        columns = pruned(self._schema, self._checker.columns).for_checker
        batch = self._batch(self._in_order(), 0).select(list(columns))
        (found,) = (one for some in self._checker.check(iter([batch])) for one in from_batch(some))
        return found

    def inevitable_at(self, name: str, report: Report = lambda: True) -> Place | None:
        """The record after which a violated property could not be saved any more: the first from which on, up to the
        violation, all states on runs that explain the whole log have this in common, that every run from there breaks
        the property, if nothing further fails or is repaired. `None` where that cannot be said."""
        found = self._variant()
        if found is None or self._graph is None:
            return None
        follower = found.trace_follower()
        compiled, number = follower.diagnoser.compiled, follower.diagnoser.compiled.checked.index(name)
        rows, streams = self._streams_of(found)
        result = looked_back(follower.diagnoser.search, streams, [number], None, report)
        if result is None or result[1] is None:
            return None
        alive: dict[int, list[Any]] = {}
        broken: set[int] = set()
        for cut, mask in result[1].alive.items():
            alive.setdefault(sum(cut), []).append(result[1].search.kept[cut][mask])
            if (mark := result[1].marks[number].get(cut)) is not None and mark.some:
                broken.add(sum(cut))
        counts = sorted(count for count, states in alive.items() if sum(map(len, states)))
        first = None
        for at in range(next((at for at, count in enumerate(counts) if count in broken), -1), -1, -1):
            states = np.concatenate(alive[counts[at]])
            places = self._graph.places(compiled.state(int.from_bytes(row.tobytes(), "little")) for row in states)
            if places is None or not self._graph.is_inevitable(name, places, report):
                break
            first = counts[at]
        return None if not first else self._place(rows[first - 1])

    # ---- what it is made of ----

    def _variant(self) -> TraceChecker | None:
        if isinstance(self._checker, TraceChecker):
            return self._checker
        found = self._checker.variant(self._under or ())
        return None if isinstance(found, str) else found

    def _begin(self) -> None:
        """Begins anew, under other settings."""
        found = self._variant()
        self._search = self._graph = None
        if found is None:
            return
        follower = found.trace_follower()
        self._search = LiveSearch(follower.diagnoser.search, found.skew_ns)
        names = tuple(one for one in found.checked if self._is_invariant(found, one))
        if names:
            self._graph = FaultGraph(found.system, names)

    @staticmethod
    def _is_invariant(checker: TraceChecker, name: str) -> bool:
        return any(one.name == name and one.kind == "invariant" for one in checker.system.properties)

    def _streams_of(self, checker: TraceChecker) -> tuple[list[dict[str, Any]], Streams]:
        """The records that the model knows, in the order of time, and as a search takes them."""
        compiled = checker.trace_follower().diagnoser.compiled
        rows = self._in_order()
        encoded = Encoder(compiled).encode(self._batch(rows, 0))
        known = [rows[number] for number in encoded.rows.tolist()]
        times = np.array([row[TIME] for row in known], np.int64)
        if compiled.shape.merged:
            return known, Streams([encoded.words], None, [{}], 0)
        mine = [np.flatnonzero(encoded.writers == stream) for stream in range(compiled.shape.streams)]
        words = [encoded.words[some] for some in mine]
        own = [np.maximum.accumulate(times[some]) if len(some) else times[some] for some in mine]
        return known, Streams(words, own, [{} for _ in mine], checker.skew_ns)

    def _batch(self, rows: Sequence[dict[str, Any]], before: int) -> Any:
        numbered = [
            row | {TRACE_ID: self.trace_id, SEQ: number, SOURCE: 0, ROW: row[LINE]}
            for number, row in enumerate(rows, before + 1)
        ]
        return pa.RecordBatch.from_pylist(numbered, located_schema(self._schema))

    def _in_order(self) -> list[dict[str, Any]]:
        """The records in the order of time, those of each node in their order."""
        latest: dict[str, int] = {}
        keyed = []
        for row in self.rows:
            latest[row[FILE]] = max(latest.get(row[FILE], 0), row[TIME] or 0)
            keyed.append((latest[row[FILE]], row))
        return [row for _, row in sorted(keyed, key=lambda pair: pair[0])]

    def _place(self, row: dict[str, Any]) -> Place:
        seq = 1 + next(number for number, one in enumerate(self._in_order()) if one is row)
        return Place(seq, row[NODE], row[EVENT], row[TIME], row[FILE], row[LINE])

    def _in_words(self, distance: Distance) -> PropertyDistance:
        assert self._graph is not None, "a distance comes from a graph"
        found = self._variant()
        assert found is not None, "a graph has a system"
        faults = []
        for number, arguments in distance.faults:
            action = found.system.actions[number]
            kinds = (kind for _, kind in action.parameters)
            named = ", ".join(show(kind, value) for kind, value in zip(kinds, arguments, strict=True))
            faults.append(f"{action.name} ({named})" if named else action.name)
        return PropertyDistance(distance.fewest, distance.most, distance.exact, distance.broken, tuple(faults))
