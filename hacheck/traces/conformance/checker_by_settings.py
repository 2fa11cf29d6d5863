"""Checks traces each under the settings that its own records give: how many replicas it has, who wrote what down.

What a trace says is looked for in all of its records where nodes logged apart, and in the first `HELD_MAX` of them
where they are in one order: a trace that is checked as it comes cannot be begun again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.compile.kept_models import kept_instance
from hacheck.model.language import Specification
from hacheck.model.language.assumed_conditions import AssumedConditions
from hacheck.model.language.log_settings import FromRecord
from hacheck.model.observing.line_writers import logged, without_logs_of
from hacheck.model.observing.step_monitors import with_step_monitors
from hacheck.traces.conformance.derived_settings import HELD_MAX, Chosen, Contradiction, DerivedSettings
from hacheck.traces.conformance.open_trace import OpenBySettings
from hacheck.traces.conformance.partial_order import PartiallyOrdered
from hacheck.traces.conformance.timed_total_order import TimedTotallyOrdered
from hacheck.traces.conformance.total_order import TotallyOrdered
from hacheck.traces.conformance.trace_checker import TraceChecker, verdicts_of
from hacheck.traces.conformance.verdicts import SCHEMA, Verdict, from_batch, to_batch
from hacheck.traces.records import TRACE_ID, Order

ROWS_MAX = 65_536
"""So many records of traces under the same settings are checked at once."""


class CheckerBySettings(Struct, eq=False):
    """Checks traces by the system that their own settings make of a spec.

    - `base`: checks those that give none; what else it says holds of all;
    - `specification`, `check`, `given`: what systems are made of: the settings of the command line;
    - `derived`: where settings come from, those of the command line not among them;
    - `every_step`, `hidden`: as in `logged`; `unlogged`: nodes, by kind and number, whose lines are not there.
    """

    base: TraceChecker
    specification: Specification
    check_name: str
    given: Mapping[str, str]
    derived: tuple[FromRecord, ...]
    every_step: bool
    hidden: frozenset[str]
    unlogged: frozenset[tuple[str, int]] = frozenset()
    _variants: dict[Chosen, TraceChecker | str] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        """What is pickled: not what was compiled, which belongs to a process."""
        kept = (name for name in self.__struct_fields__ if not name.startswith("_"))
        return CheckerBySettings, tuple(getattr(self, name) for name in kept)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return self.base.columns

    @property
    def order(self) -> Order:
        """What the traces' numbers say about different nodes."""
        return self.base.order

    def variant(self, chosen: Chosen) -> TraceChecker | str:
        """The checker of traces with these settings; or what is wrong with them."""
        if not chosen:
            return self.base
        found = self._variants.get(chosen)
        if found is None:
            found = self._variants[chosen] = self._made(chosen)
        return found

    def _made(self, chosen: Chosen) -> TraceChecker | str:
        instance = kept_instance(self.specification, {**dict(chosen), **self.given}, self.check_name, logs=True)
        if instance.system is None:
            said = ", ".join(f"{name} = {value}" for name, value in chosen)
            return f"the trace gives {said}: {instance.diagnostics[0].message}"
        bare = without_logs_of(logged(instance.system, self.every_step, self.hidden), self.unlogged)
        system = with_step_monitors(bare, self.base.checked)
        assumed = AssumedConditions(self.specification, {**dict(chosen), **self.given}, self.check_name, logs=True)
        return replace(self.base, system=system, assumed=assumed, _diagnosers=[], _trace_followers=[])

    def wrong(self, said: DerivedSettings) -> Contradiction | None:
        """Why a trace that says this cannot be checked."""
        if said.wrong is not None:
            return said.wrong
        variant = self.variant(said.chosen)
        return Contradiction(variant, {}) if isinstance(variant, str) else None

    def check(self, batches: Iterable[Any], report: Callable[[], bool] = lambda: True) -> Iterator[Any]:
        """The verdicts on whole traces that come one after another, each sorted by `seq`; see `TraceChecker.check`."""
        yield from verdicts_of(_Run(self, report), batches)

    def resume(self, state: bytes | None) -> OpenBySettings:
        """A trace whose records are to come: a new one, or one that goes on where its `state` was taken."""
        return OpenBySettings(self, state)


class _Trace(Struct):
    """The trace whose end has not come. `held`: what was held back of it; `seen`: how many of its records were there;
    `dropped`: why it is not checked; `checked`: whether it is clear under which settings."""

    trace_id: str
    said: DerivedSettings
    held: list[Any] = field(default_factory=list)
    seen: int = 0
    dropped: Contradiction | None = None
    checked: bool = False


class _Run:
    """Checks traces that come one after another. Those of the same settings that follow one another go together."""

    def __init__(self, checker: CheckerBySettings, report: Callable[[], bool]) -> None:
        self.checker, self.report = checker, report
        self.trace_followers: dict[Chosen, TotallyOrdered | TimedTotallyOrdered | PartiallyOrdered] = {}
        self.open: _Trace | None = None
        self.ready: list[Any] = []
        self.under: Chosen = ()
        self.spoiled: dict[str, Contradiction] = {}
        self.stopped = False

    def feed(self, batch: Any) -> list[Any]:
        """The verdicts that more records allow."""
        found: list[Any] = []
        ids = batch.column(TRACE_ID).to_pylist()
        starts = [row for row in range(len(ids)) if not row or ids[row] != ids[row - 1]]
        for start, end in zip(starts, [*starts[1:], len(ids)], strict=True):
            if self.open is None or ids[start] != self.open.trace_id:
                found += self._closed()
                self.open = _Trace(ids[start], DerivedSettings(self.checker.derived))
            found += self._more(self.open, batch.slice(start, end - start))
            if self.stopped:
                return []
        return found

    def finish(self) -> list[Any]:
        """The verdicts on all that is left: no more records come."""
        found = [*self._closed(), *self._checked()]
        for chosen, trace_follower in self.trace_followers.items():
            found += self._with_settings(chosen, trace_follower.finish())
            self.stopped = self.stopped or trace_follower.stopped
        return found

    def _more(self, trace: _Trace, piece: Any) -> list[Any]:
        trace.said.read(piece)
        trace.seen += piece.num_rows
        if trace.dropped is not None:
            return []
        if trace.checked:
            self.ready.append(piece)
            return self._checked()
        trace.held.append(piece)
        if self.checker.order == Order.TOTAL and trace.seen >= HELD_MAX:
            return [*self._decided(trace), *self._checked()]
        return []

    def _closed(self) -> list[Any]:
        """The trace has come to its end."""
        trace, self.open = self.open, None
        if trace is None:
            return []
        found = [] if trace.checked else self._decided(trace)
        if trace.dropped is not None:
            found.append(to_batch([trace.dropped.on(trace.trace_id, trace.seen)]))
        elif trace.said.wrong is not None:
            self.spoiled[trace.trace_id] = trace.said.wrong
        if sum(piece.num_rows for piece in self.ready) >= ROWS_MAX:
            found += self._checked()
        return found

    def _decided(self, trace: _Trace) -> list[Any]:
        """Says under which settings a trace is checked, and makes ready what was held back of it."""
        held, trace.held = trace.held, []
        trace.dropped = self.checker.wrong(trace.said)
        trace.checked = trace.said.fixed = True
        if trace.dropped is not None:
            return []
        found = [] if trace.said.chosen == self.under else self._checked()
        self.under = trace.said.chosen
        self.ready += held
        return found

    def _checked(self) -> list[Any]:
        """Has checked what is ready."""
        if not self.ready:
            return []
        ready, self.ready = pa.Table.from_batches(self.ready).combine_chunks().to_batches(), []
        trace_follower = self.trace_followers.get(self.under)
        if trace_follower is None:
            checker = self.checker.variant(self.under)
            assert isinstance(checker, TraceChecker), "what is ready has a checker"
            trace_follower = self.trace_followers[self.under] = checker.trace_follower(self.report)
        found = [verdicts for batch in ready for verdicts in trace_follower.feed(batch)]
        self.stopped = trace_follower.stopped
        return self._with_settings(self.under, found)

    def _with_settings(self, chosen: Chosen, batches: list[Any]) -> list[Any]:
        """The verdicts with the settings they were found under; those of traces that said something too late, anew."""
        words = [f"{name}={value}" for name, value in chosen]
        place = SCHEMA.get_field_index("settings")
        made = []
        for batch in batches:
            column = pa.array([words] * batch.num_rows, SCHEMA.field(place).type)
            given = batch.set_column(place, SCHEMA.field(place), column)
            if self.spoiled:
                given = to_batch([self._spoiled(one) for one in from_batch(given)])
            made.append(given)
        return made

    def _spoiled(self, verdict: Verdict) -> Verdict:
        wrong = self.spoiled.pop(verdict.trace_id, None)
        return verdict if wrong is None else wrong.on(verdict.trace_id, verdict.records)
