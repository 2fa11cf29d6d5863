"""Checks traces: Arrow batches of records in, sorted by trace and number, batches of verdicts out.

This is all that drivers know of: on one machine, on Spark, on a stream. A checker can be pickled; what it needs is
compiled where it is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from hacheck.model.ir import System
from hacheck.model.language.assumed_conditions import AssumedConditions
from hacheck.model.observing.record_conditions import observed
from hacheck.traces.conformance.broken_durations import Rule
from hacheck.traces.conformance.diagnosis import Diagnoser
from hacheck.traces.conformance.follower import CAPACITY, Memory
from hacheck.traces.conformance.interleavings import InterleavingSearch
from hacheck.traces.conformance.open_trace import OpenPartiallyOrdered, OpenTotallyOrdered
from hacheck.traces.conformance.partial_order import PartiallyOrdered
from hacheck.traces.conformance.possible_starts import reachable
from hacheck.traces.conformance.timed_total_order import TimedTotallyOrdered
from hacheck.traces.conformance.total_order import TotallyOrdered
from hacheck.traces.conformance.trace_compiler import compiled
from hacheck.traces.records import CAUSES, EVENT, FIELDS, FILE, LINE, MESSAGE, NODE, SEQ, TIME, TRACE_ID, Order


class TraceChecker(Struct, eq=False):
    """Checks traces by a system whose steps write lines.

    - `order`: what the traces' numbers say about different nodes; `skew_ns`: how far two nodes' clocks may differ;
    - `checked`: invariants to look at on the way; `capacity`: the most states that may explain a log at once;
    - `rules`: invariants that no trace may show broken for longer than each says, by its clocks;
    - `called`: the model's name of a node, as `Server-1`, where records call it otherwise;
    - `any_start`: a trace may begin in the middle: in any of the first so many states that the system reaches;
    - `explained_max`: of so many deviating traces it is said what would have been possible, and what would mend them.
    - `quick`: there is little to check, so that compiling counts more than what is compiled;
    - `assumed`: which conditions of guards an assumption adds, where the spec is at hand.
    """

    system: System
    order: Order
    skew_ns: int = 0
    checked: tuple[str, ...] = ()
    capacity: int = CAPACITY
    any_start: int = 0
    explained_max: int = 20
    rules: tuple[Rule, ...] = ()
    called: Mapping[str, str] = field(default_factory=dict)
    assumed: AssumedConditions | None = None
    quick: bool = False
    _diagnosers: list[Diagnoser] = field(default_factory=list)
    _trace_followers: list[TotallyOrdered | TimedTotallyOrdered | PartiallyOrdered] = field(default_factory=list)

    def __reduce__(self) -> tuple[Any, ...]:
        """What is pickled: not what was compiled, which belongs to a process."""
        return TraceChecker, tuple(getattr(self, name) for name in self.__struct_fields__ if not name.startswith("_"))

    @property
    def base(self) -> TraceChecker:
        """Itself: what checks traces whose records give no settings, as of a checker that looks for some."""
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        ordered = (TRACE_ID, NODE, SEQ, EVENT, FIELDS, FILE, LINE)
        if self.order == Order.PER_NODE:
            return (*ordered, TIME, MESSAGE, CAUSES)
        return (*ordered, TIME) if self.rules or self.checked else ordered

    def check(self, batches: Iterable[Any], report: Callable[[], bool] = lambda: True) -> Iterator[Any]:
        """The verdicts on whole traces that come one after another, each sorted by `seq`. `report` is called some times
        a second whether to go on; if not, no verdicts come any more."""
        yield from verdicts_of(self.trace_follower(report), batches)

    def resume(self, state: bytes | None) -> OpenTotallyOrdered | OpenPartiallyOrdered:
        """A trace whose records are to come: a new one, or one that goes on where its `state` was taken. It is used
        until the next one is wanted."""
        if not self._trace_followers:
            self._trace_followers.append(self.trace_follower())
        trace_follower = self._trace_followers[0]
        return (
            OpenPartiallyOrdered(trace_follower, state)
            if isinstance(trace_follower, PartiallyOrdered)
            else OpenTotallyOrdered(trace_follower, state)
        )

    def trace_follower(
        self, report: Callable[[], bool] = lambda: True
    ) -> TotallyOrdered | TimedTotallyOrdered | PartiallyOrdered:
        """What checks traces as their records come. Errors: `EvaluationError`, `ObservingError`, `CompilerError`."""
        if not self._diagnosers:
            self._diagnosers.append(self._diagnoser())
        if self.order == Order.TOTAL:
            trace_follower = TotallyOrdered(self._diagnosers[0], self.explained_max, report)
            if not (self.rules or self.checked):
                return trace_follower
            return TimedTotallyOrdered(trace_follower, self._diagnosers[0], self.skew_ns, self.checked)
        return PartiallyOrdered(self._diagnosers[0], self.skew_ns, self.explained_max, report, self.checked)

    def _diagnoser(self) -> Diagnoser:
        shape = observed(self.system, merged=self.order == Order.TOTAL)
        names = {*self.checked, *(rule.name for rule in self.rules)}
        checked = [one for one in self.system.properties if one.name in names]
        starts, complete = reachable(self.system, self.any_start) if self.any_start else (None, True)
        made = replace(compiled(shape, starts=starts, checked=checked, quick=self.quick), called=self.called)
        memory = Memory(made, max(self.capacity, len(starts or ())))
        return Diagnoser(self.system, InterleavingSearch(made, memory), complete, self.rules, assumed=self.assumed)


class Follower(Protocol):
    """What follows whole traces. `stopped`: no verdict comes any more."""

    @property
    def stopped(self) -> bool: ...

    def feed(self, batch: Any) -> Iterable[Any]: ...

    def finish(self) -> Iterable[Any]: ...


def verdicts_of(follower: Follower, batches: Iterable[Any]) -> Iterator[Any]:
    """The verdicts on the traces of all batches, until there are no more or the follower is stopped."""
    for batch in batches:
        yield from follower.feed(batch)
        if follower.stopped:
            return
    last = follower.finish()
    if not follower.stopped:
        yield from last
