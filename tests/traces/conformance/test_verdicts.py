"""Verdicts on traces that are cut off, lack lines, are out of the model's bounds, are of strangers, have messages."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from hacheck.model import ir
from hacheck.model.language import load
from hacheck.model.observing.line_writers import logged
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict
from hacheck.traces.records import Order
from tests.traces.conformance.arrow_records import schema_of, table, verdicts
from tests.traces.conformance.oracle import LogRecord
from tests.traces.conformance.test_random_systems import logged_system, traces_in_order

PAIRS = """
system Pairs "Each step says three things, at two nodes."
node Server[2] symmetric { count: 0..9 = 0 }
environment action go(s: Server) when s.count < 9 do
  s.count := s.count + 1
  log begun(count: s.count) at s
  log asked() at other(s)
  log done(count: s.count) at s
"""
ONE, TWO = ("Server", 1), ("Server", 2)


@pytest.fixture(scope="module")
def pairs() -> ir.System:
    loaded = load(PAIRS, "pairs.ha")
    assert loaded.specification is not None, loaded.diagnostics
    made = loaded.specification.instantiate({}, None, logs=True)
    assert made.system is not None, made.diagnostics
    return logged(made.system)


def step(node: tuple[str, int], count: int, time: int | None = None) -> list[LogRecord]:
    """The records of a step, whose lines are a second apart."""
    other = TWO if node == ONE else ONE
    times = [None if time is None else time + later for later in range(3)]
    return [
        LogRecord("begun", node, {"count": count}, times[0]),
        LogRecord("asked", other, {}, times[1]),
        LogRecord("done", node, {"count": count}, times[2]),
    ]


def verdict(system: ir.System, records: Sequence[LogRecord], order: Order, skew: int = 0, **more: Any) -> Verdict:
    """The verdict on one trace."""
    return verdicts(TraceChecker(system, order, skew, **more), [table(system, {"t": records})])["t"]


WHOLE = [*step(ONE, 1, 10), *step(TWO, 1, 20), *step(ONE, 2, 30)]


@pytest.mark.parametrize("length", range(1, 10))
@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("order", list(Order))
def test_log_may_end_anywhere(pairs: ir.System, order: Order, timed: bool, length: int) -> None:
    records = [LogRecord(one.event, one.node, one.fields, one.time if timed else None) for one in WHOLE[:length]]
    assert verdict(pairs, records, order).kind == "conforms"


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("lost", range(8))
def test_lost_line_is_found_where_it_is_missed(pairs: ir.System, order: Order, lost: int) -> None:
    records = [*WHOLE[:lost], *WHOLE[lost + 1 :]]
    # Behind the last line of a node that wrote nothing more, nobody knows: but here the other one goes on.
    found = verdict(pairs, records, order)
    assert found.kind == ("conforms" if order is Order.PER_NODE and lost == 7 else "deviates")
    if order is Order.TOTAL:
        assert found.seq == lost + 1, "the record that came instead"


def test_wrong_line_in_the_middle_of_a_step_is_where_the_trace_stops(pairs: ir.System) -> None:
    records = [*WHOLE[:5], LogRecord("done", TWO, {"count": 7}), *WHOLE[6:]]
    found = verdict(pairs, records, Order.TOTAL)
    assert (found.kind, found.seq, found.event) == ("deviates", 6, "done")
    assert found.expected == ("Server 2: done(count: 1)",), "how the step goes on"
    assert (found.repair, found.repair_text) == ("wrong field", "`count` of `done`"), "of this line"
    assert found.repair_records == 4


def test_where_nodes_log_apart_the_other_lines_of_a_step_are_listed(pairs: ir.System) -> None:
    records = [*WHOLE[:4], LogRecord("begun", ONE, {"count": 7}, WHOLE[4].time), *WHOLE[5:]]
    found = verdict(pairs, records, Order.PER_NODE)
    assert (found.kind, found.seq, found.event) == ("deviates", 4, "begun"), "a step is there as a whole, or not at all"
    assert "Server 1: asked, with this line" in found.expected
    assert not found.repair, "no change of one record explains more, so the earliest one is reported"


def test_where_nodes_log_apart_a_wrong_last_line_of_a_step_is_reported_itself(pairs: ir.System) -> None:
    """The step is refused as a whole, and its first line is as it should be: only a change of the last one explains
    the step."""
    records = [*WHOLE[:5], LogRecord("done", TWO, {"count": 7}, WHOLE[5].time), *WHOLE[6:]]
    found = verdict(pairs, records, Order.PER_NODE)
    assert (found.kind, found.seq, found.event) == ("deviates", 6, "done")
    assert (found.repair, found.repair_text) == ("wrong field", "`count` of `done`")
    assert found.repair_records == 6, "all that the log has left"
    assert found.expected == (), "the lines that could go with the first one are not about this record"


def test_where_nodes_log_apart_lines_that_go_with_another_record_are_not_listed(pairs: ir.System) -> None:
    records = [*WHOLE[:7], LogRecord("begun", TWO, {"count": 7}, WHOLE[7].time), *WHOLE[8:]]
    found = verdict(pairs, records, Order.PER_NODE)
    assert (found.kind, found.seq) == ("deviates", 8)
    assert [line for line in found.expected if "with this line" in line] == []


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("place", [0, 2, 3, 5])
def test_value_beyond_the_model_s_bounds_decides_nothing(pairs: ir.System, order: Order, place: int) -> None:
    records = list(WHOLE)
    records[place] = LogRecord(records[place].event, records[place].node, {"count": 12}, records[place].time)
    found = verdict(pairs, records, order)
    assert (found.kind, found.seq) == ("unknown", place + 1)
    assert "12, which the model does not have" in found.reason


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("place", [0, 1, 2, 4])
def test_node_that_the_model_does_not_have_decides_nothing(pairs: ir.System, order: Order, place: int) -> None:
    records = list(WHOLE)
    records[place] = LogRecord(records[place].event, ("Server", 3), records[place].fields, records[place].time)
    found = verdict(pairs, records, order)
    assert found.kind == "unknown"
    assert found.reason == "the model has no node `Server-3`; it has Server-1, Server-2"


def test_other_events_are_counted_and_not_compared(pairs: ir.System) -> None:
    records = [*WHOLE[:4], LogRecord("tea_made", ONE, {}, 21), *WHOLE[4:]]
    for order in Order:
        found = verdict(pairs, records, order)
        assert (found.kind, found.records, found.compared) == ("conforms", 10, 9)


def test_trace_of_other_events_only_is_undecided(pairs: ir.System) -> None:
    for order in Order:
        found = verdict(pairs, [LogRecord("tea_made", ONE, {}, 1)], order)
        assert (found.kind, found.records, found.compared) == ("unknown", 1, 0)
        assert found.reason.startswith("nothing was compared: no step of the model writes any of the trace's events")


@pytest.mark.parametrize("order", list(Order))
def test_empty_batches_are_passed_over(pairs: ir.System, order: Order) -> None:
    batch = table(pairs, {"t": WHOLE})
    empty = batch.slice(0, 0)
    checker = TraceChecker(pairs, order)
    assert verdicts(checker, []) == {}
    assert verdicts(checker, [empty, empty]) == {}
    found = verdicts(checker, [empty, batch.slice(0, 4), empty, batch.slice(4), empty])
    assert [one.kind for one in found.values()] == ["conforms"]


@pytest.mark.parametrize("order", list(Order))
def test_records_without_a_column_of_fields_show_nothing(pairs: ir.System, order: Order) -> None:
    batch = table(pairs, {"t": WHOLE}).drop_columns(["fields"])
    assert batch.schema.equals(schema_of({}))
    assert [one.kind for one in verdicts(TraceChecker(pairs, order), [batch]).values()] == ["conforms"]


def test_batches_whose_words_are_coded_in_different_ways_are_put_together(pairs: ir.System) -> None:
    batch = table(pairs, {"a": WHOLE, "b": WHOLE[:5]})
    for place, name in enumerate(batch.schema.names):
        if name in ("trace_id", "node", "event"):
            batch = batch.set_column(place, name, batch.column(place).dictionary_encode())
    pieces = [pa.RecordBatch.from_pylist(batch.slice(at, 2).to_pylist(), batch.schema) for at in range(0, 14, 2)]
    for order in Order:
        found = verdicts(TraceChecker(pairs, order), pieces)
        assert {name: (one.kind, one.records) for name, one in found.items()} == {
            "a": ("conforms", 9),
            "b": ("conforms", 5),
        }


# ---- messages ----


def messages(system: ir.System, sent: Sequence[int], received: int, clock: Sequence[int]) -> str:
    """The verdict on three steps of two nodes by the clocks of which all orders are open, but for a message."""
    records = [*step(ONE, 1), *step(TWO, 1), *step(ONE, 2)]
    made = [
        LogRecord(
            one.event,
            one.node,
            one.fields,
            clock[place],
            "m" if place in sent else None,
            ("m",) if place == received else (),
        )
        for place, one in enumerate(records)
    ]
    return verdict(system, made, Order.PER_NODE, skew=1000).kind


def test_nothing_is_received_before_it_is_sent(pairs: ir.System) -> None:
    clock = range(9)
    assert messages(pairs, [0], 3, clock) == "conforms"
    assert messages(pairs, [3], 0, clock) == "deviates", "the lines of one node are in order, and so both of a step"
    assert messages(pairs, [0, 6], 3, clock) == "conforms", "sent twice, received after the first time"
    assert messages(pairs, [6], 3, clock) == "deviates"
    assert messages(pairs, [0], 1, clock) == "conforms", "within a step"
    assert messages(pairs, [], 3, clock) == "conforms", "who sent it is not known"


def test_clocks_order_what_is_further_apart_than_they_may_differ(pairs: ir.System) -> None:
    late = [*step(TWO, 1, 20), *step(ONE, 1, 10)]
    shuffled = sorted(late, key=lambda one: one.time or 0)
    for skew in (0, 5, 100):
        assert verdict(pairs, shuffled, Order.PER_NODE, skew).kind == "conforms"
    backwards = [*step(ONE, 2, 10), *step(ONE, 1, 30)]
    assert verdict(pairs, backwards, Order.PER_NODE, 1000).kind == "deviates"


# ---- one trace after another ----


@pytest.mark.parametrize("order", list(Order))
def test_verdict_is_the_same_whatever_came_before(order: Order) -> None:
    compared = 0
    for seed in (142, 152, 114):
        system = logged_system(seed)
        if system is None:
            continue
        traces, _ = traces_in_order(system, seed)
        several = {f"{name}-{turn}": records for turn in range(3) for name, records in traces.items()}
        names = list(several)
        random.Random(seed).shuffle(names)
        found = verdicts(TraceChecker(system, order, explained_max=0), [table(system, {n: several[n] for n in names})])
        for name in traces:
            kinds = {found[f"{name}-{turn}"].kind for turn in range(3)}
            alone = verdict(system, traces[name], order, explained_max=0)
            assert kinds == {alone.kind}, (seed, name)
            compared += alone.kind == "unknown"
    assert compared > 1, "some met an error of the spec"
