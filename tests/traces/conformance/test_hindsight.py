"""A property is violated where every run that explains the whole log violates it, excluded where none does."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

import pytest

from hacheck.model import ir
from hacheck.model.evaluation import EvaluationError
from hacheck.model.runs import State
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.records import Order
from tests.properties.scale import seeds
from tests.traces.conformance.arrow_records import cut_up, table
from tests.traces.conformance.oracle import Oracle, TooMany
from tests.traces.conformance.records import LINES_MAX, LogRecord, Logs, Names, agreeing
from tests.traces.conformance.test_automaton import asked_of
from tests.traces.conformance.test_random_systems import logged_system, traces_apart, traces_in_order

Point = tuple[object, State, Names]
"""Where a run is: how far in the log, in which state, with which names."""


class Explanations:
    """Every run that explains a log, as a graph of points, by trying everything."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.after: dict[Point, set[Point]] = defaultdict(set)
        self.starts: set[Point] = set()
        self.end: object = None

    def in_order(self, records: Sequence[LogRecord]) -> None:
        """Of a log in the order in which it was written."""
        self.end = len(records)
        self.starts = {(0, state, names) for state, names in self.oracle._starts()}
        waiting = list(self.starts)
        known = set(waiting)
        while waiting:
            point = waiting.pop()
            position, state, names = point
            assert isinstance(position, int)
            if position == self.end:
                continue
            for way in self.oracle.ways(state):
                taken, after = agreeing(way.told, records[position:], names)
                if taken is None or way.after is None or taken > LINES_MAX:
                    continue
                self._step(point, (min(position + taken, len(records)), way.after, after), known, waiting)

    def apart(self, records: Sequence[LogRecord], skew: int) -> None:
        """Of nodes that logged apart."""
        logs = Logs.of(records, skew)
        start = (0,) * len(logs.streams)
        self.end = logs.end
        self.starts = {(start, state, names) for state, names in self.oracle._starts()}
        waiting = list(self.starts)
        known = set(waiting)
        while waiting:
            point = waiting.pop()
            cut, state, names = point
            assert isinstance(cut, tuple)
            if cut == self.end:
                continue
            for way in self.oracle.ways(state):
                met = logs.agreeing(way.told, cut, names)
                if met is None or way.after is None:
                    continue
                to, after, most, missing = met
                if missing and (to == cut or (to != logs.end and not logs.ends(cut))):
                    continue
                if most > LINES_MAX or (to != cut and not logs.may_follow(cut, to)) or (to == cut and most):
                    continue
                self._step(point, (to, way.after, after), known, waiting)

    def _step(self, point: Point, to: Point, known: set[Point], waiting: list[Point]) -> None:
        self.after[point].add(to)
        if to not in known:
            known.add(to)
            waiting.append(to)
            if len(known) > 3_000:
                raise TooMany

    def says(self, asked: ir.Property) -> str:
        """Whether these runs violate an invariant: by walking forward with what was met so far."""
        violates = {point: not self.oracle.interpreter.holds(asked, point[1]) for point in self._points()}
        waiting = [(point, violates[point]) for point in self.starts]
        known = set(waiting)
        met: set[bool] = set()
        while waiting:
            point, so_far = waiting.pop()
            if point[0] == self.end:
                met.add(so_far)
                continue
            for to in self.after[point]:
                one = (to, so_far or violates[to])
                if one not in known:
                    known.add(one)
                    waiting.append(one)
        return {(True,): "violated", (False,): "excluded"}.get(tuple(met), "possible")

    def _points(self) -> set[Point]:
        return {*self.starts, *(to for points in list(self.after.values()) for to in points)}


def compare(system: ir.System, verdict: Verdict, runs: Explanations) -> int:
    """Compares what the checker says of a conforming trace. Returns how many properties were not simply excluded."""
    said = {name.partition("@")[0]: "violated" for name in verdict.violated}
    said |= {name.partition("@")[0]: "possible" for name in verdict.perhaps}
    broken = 0
    for asked in system.properties:
        if asked.kind != "invariant":
            continue
        try:
            truth = runs.says(asked)
        except EvaluationError:
            continue
        assert said.get(asked.name, "excluded") == truth, asked.name
        broken += truth != "excluded"
    return broken


@pytest.mark.parametrize("order", [Order.TOTAL, Order.PER_NODE])
@seeds(70_000, 12, together=12)
def test_hindsight_says_what_all_explanations_together_say(seeds: range, order: Order) -> None:
    compared = broken = 0
    for seed in seeds:
        system = logged_system(seed)
        if system is None:
            continue
        skew = 0
        if order == Order.TOTAL:
            traces, decided = traces_in_order(system, seed)
        else:
            skew, traces, decided = traces_apart(system, seed)
        if not traces:
            continue
        checker = TraceChecker(system, order, checked=asked_of(system), skew_ns=skew, explained_max=0)
        batches = cut_up(table(system, traces), random.Random(seed).choice((1, 3, 100)))
        found = {one.trace_id: one for batch in checker.check(batches) for one in from_batch(batch)}
        for name, records in traces.items():
            known = decided.get(name)
            if known is None or known.stopped or known.perhaps or not known.explained:
                continue
            runs = Explanations(Oracle(system))
            try:
                if order == Order.TOTAL:
                    runs.in_order(records)
                else:
                    runs.apart(records, skew)
            except TooMany:
                continue
            if found[name].kind == "conforms":
                broken += compare(system, found[name], runs)
                compared += 1
    assert compared
