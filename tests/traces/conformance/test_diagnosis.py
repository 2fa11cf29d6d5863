"""What is said of a trace that deviates: the lines that were possible, and a change that really mends it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from hacheck.model import ir
from hacheck.model.execution import Line
from hacheck.model.observing.line_writers import lines_of
from hacheck.traces.conformance.diagnosis import LINES_SHOWN, line_text
from hacheck.traces.conformance.expected_events import STATES_EXPANDED
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict
from hacheck.traces.records import Order
from tests.properties.scale import seeds
from tests.traces.conformance.arrow_records import table, verdicts
from tests.traces.conformance.oracle import ANYBODY, Decided, LogRecord, Oracle, TooMany, WrittenLine
from tests.traces.conformance.records import agreed
from tests.traces.conformance.test_random_systems import logged_system, traces_in_order
from tests.traces.conformance.worlds import damaged, timed, walked


def text_of(said: WrittenLine) -> str:
    """A line in words."""
    return line_text(Line(said.event, said.node, tuple(field[:3] for field in said.fields)))


def mended(records: Sequence[LogRecord], verdict: Verdict) -> tuple[LogRecord, ...]:
    """The records after the change that a verdict names."""
    assert verdict.seq is not None
    place = verdict.seq - 1
    one = records[place]
    match verdict.repair:
        case "wrong field":
            name = verdict.repair_text.split("`")[1]
            assert verdict.repair_text == f"`{name}` of `{one.event}`"
            left = {key: value for key, value in one.fields.items() if key != name}
            return (*records[:place], replace(one, fields=left), *records[place + 1 :])
        case "extra line":
            return (*records[:place], *records[place + 1 :])
        case "missing line":
            event = verdict.repair_text.split("`")[1]
            return (*records[:place], LogRecord(event, ANYBODY), *records[place:])
        case _:
            raise AssertionError(verdict.repair)


def check(system: ir.System, records: Sequence[LogRecord], decided: Decided, verdict: Verdict) -> str:
    """Checks what is said of a trace in order; returns which repair was found."""
    assert verdict.kind == "deviates"
    oracle = Oracle(system)
    prefixes = (length for length in range(len(records), -1, -1) if oracle.in_order(records[:length]).explained)
    assert verdict.seq == next(prefixes) + 1, "the first record without which the trace would have conformed"
    assert verdict.seq == decided.left + 1
    expected = {text_of(said) for said in decided.expected}
    shown = {text for text in verdict.expected if not text.startswith("and ")}
    assert shown <= expected
    if decided.width <= STATES_EXPANDED:
        assert len(shown) == min(len(expected), LINES_SHOWN)
        more = len(expected) - LINES_SHOWN
        assert (f"and {more} more" in verdict.expected) == (more > 0)
    check_reason(system, records, decided, verdict)
    if not verdict.repair:
        assert verdict.repair_records == 0
        return ""
    changed = mended(records, verdict)
    now = oracle.in_order(changed)
    added = max(len(changed) - len(records), 0)
    assert now.furthest - added - decided.furthest >= verdict.repair_records
    assert verdict.repair_records > 0 or (changed and now.explained), "a line is too much that was the last one"
    return verdict.repair


def check_reason(system: ir.System, records: Sequence[LogRecord], decided: Decided, verdict: Verdict) -> None:
    """Where nothing but fields of the line are said to differ, a line of the same event and node was possible."""
    assert bool(verdict.failing) == bool(verdict.transition)
    assert verdict.seq is not None
    record = records[verdict.seq - 1]
    if verdict.transition:
        action = next(one for one in system.actions if verdict.transition.startswith(one.name))
        assert any(line.event == record.event for line in lines_of(action))
    if verdict.failing and all(" would be " in one for one in verdict.failing) and not verdict.reason.endswith("have"):
        assert any(said.event == record.event and record.node in (said.node, ANYBODY) for said in decided.expected)


@seeds(60_000, 24, together=24)
def test_expected_lines_are_possible_and_repairs_mend(seeds: range) -> None:
    kinds = set()
    for seed in seeds:
        system = logged_system(seed)
        if system is None:
            continue
        traces, decided = traces_in_order(system, seed)
        if not any(not one.explained and not one.stopped for one in decided.values()):
            continue
        several = {**traces, "trace-z": next(iter(traces.values()))}
        found = verdicts(TraceChecker(system, Order.TOTAL), [table(system, several)])
        for name, one in decided.items():
            if found[name].kind == "deviates" and not found[name].reason.endswith("does not have"):
                kinds.add(check(system, traces[name], one, found[name]))
    assert len(kinds) > 1, "some were mended"


def further(decided: Decided, record: LogRecord) -> Iterator[WrittenLine]:
    """The lines of steps that write this record, too, whatever its names stand for."""
    for way in decided.whole:
        mine = next((place for place, line in enumerate(way) if line.node == record.node), None)
        if mine is not None and agreed(way[mine], record, frozenset()) is not None:
            yield from (*way[:mine], *way[mine + 1 :])


@seeds(61_000, 12, together=12)
def test_nodes_apart_stop_where_no_order_goes_on(seeds: range) -> None:
    compared = 0
    for seed in seeds:
        system = logged_system(seed)
        if system is None:
            continue
        chance, oracle = random.Random(seed), Oracle(system)
        traces = {}
        for number in range(4):
            steps = walked(oracle, chance, 5).steps
            records = damaged(damaged(timed(steps, chance, 2), chance, system), chance, system)
            if records:
                traces[f"trace-{number}"] = records
        found = verdicts(TraceChecker(system, Order.PER_NODE, 2), [table(system, traces)]) if traces else {}
        for name, verdict in found.items():
            if verdict.kind != "deviates" or verdict.reason.endswith("does not have"):
                continue
            try:
                decided = oracle.apart(traces[name], 2)
            except TooMany:
                continue
            expected = {text_of(said) for said in decided.expected}
            shown = {text for text in verdict.expected if not text.startswith("and ")}
            record = next(one for seq, one in enumerate(traces[name], start=1) if seq == verdict.seq)
            expected |= {f"{text_of(said)}, with this line" for said in further(decided, record)}
            assert shown <= expected
            compared += 1
    assert compared > 0
