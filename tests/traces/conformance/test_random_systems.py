"""Verdicts on logs of random systems, whole and damaged, are those of an oracle that tries everything."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hacheck.model import ir
from hacheck.model.evaluation import EvaluationError
from hacheck.model.types import Range, Set
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict
from hacheck.traces.records import Order
from tests.properties.scale import examples, seeds
from tests.strategies import seeded_system
from tests.strategies.choosing import Seeded
from tests.traces.conformance.arrow_records import cut_up, table, verdicts
from tests.traces.conformance.oracle import Decided, LogRecord, Oracle, TooMany
from tests.traces.conformance.worlds import (
    canonical,
    connected,
    damaged,
    shown_types,
    timed,
    walked,
    with_lines,
)

TRACES = 5


def logged_system(seed: int) -> ir.System | None:
    """A random system whose steps write lines, if it can begin."""
    base = seeded_system(seed)
    system = (canonical if seed % 3 == 0 else with_lines)(base, Seeded(seed))
    try:
        return system if Oracle(system).interpreter.initial_states() else None
    except EvaluationError:
        return None


def out_of_bounds(system: ir.System, records: Sequence[LogRecord]) -> bool:
    """Whether a record shows a number that is in no line's range."""
    shown = shown_types(system)
    for one in records:
        for name, value in one.fields.items():
            kinds, _ = shown.get((one.event, name), ((), False))
            ranges = [getattr(kind, "element", kind) for kind in kinds]
            numbers = value if isinstance(value, frozenset) else {value}
            if ranges and all(isinstance(kind, Range) for kind in ranges):
                low, high = min(kind.low for kind in ranges), max(kind.high for kind in ranges)
                if any(isinstance(number, int) and not low <= number <= high for number in numbers):
                    return True
    return False


def agrees(system: ir.System, records: Sequence[LogRecord], decided: Decided, verdict: Verdict | None) -> str | None:
    """What is wrong with a verdict, if anything is."""
    wanted = "conforms" if decided.explained else "unknown" if decided.stopped else "deviates"
    if verdict is None:
        return f"no verdict, {wanted} expected"
    if verdict.records != len(records):
        return f"{verdict.records} records"
    if verdict.kind == wanted:
        return None
    if verdict.kind == "unknown" and not decided.explained:
        if "does not have" in verdict.reason and out_of_bounds(system, records):
            return None
        if verdict.reason.startswith(("a bound of the model", "bounds of the model")) and decided.perhaps:
            return None
    return f"{verdict.kind} ({verdict.reason}) at {verdict.seq}, {wanted} expected"


def compare(
    system: ir.System,
    traces: Mapping[str, Sequence[LogRecord]],
    decided: Mapping[str, Decided],
    checker: TraceChecker,
    size: int,
) -> None:
    """Compares the verdicts on traces that come in batches of so many records."""
    found = verdicts(checker, cut_up(table(system, traces), size)) if traces else {}
    assert set(found) == set(traces)
    wrong = {
        name: (problem, traces[name])
        for name, one in decided.items()
        if (problem := agrees(system, traces[name], one, found[name])) is not None
    }
    assert not wrong, wrong


def traces_in_order(system: ir.System, seed: int) -> tuple[dict[str, tuple[LogRecord, ...]], dict[str, Decided]]:
    """Logs in order and what the oracle says of them, where it can."""
    chance, oracle = random.Random(seed), Oracle(system)
    traces = {}
    decided = {}
    for number in range(TRACES):
        records = walked(oracle, chance, chance.choice((1, 2, 4, 8, 12))).records
        records = damaged(records, chance, system) if number else records
        if records:
            traces[f"trace-{number}"] = records
            try:
                decided[f"trace-{number}"] = oracle.in_order(records)
            except TooMany:
                pass
    return traces, decided


def traces_apart(system: ir.System, seed: int) -> tuple[int, dict[str, tuple[LogRecord, ...]], dict[str, Decided]]:
    """Logs of nodes apart, how far their clocks may differ, and what the oracle says of them, where it can."""
    chance, oracle = random.Random(seed), Oracle(system)
    skew = chance.choice((0, 1, 2, 20, 1000))
    traces = {}
    decided = {}
    for number in range(TRACES):
        steps = walked(oracle, chance, chance.choice((1, 2, 4, 7))).steps
        steps = connected(steps, chance) if chance.random() < 0.4 else steps
        records = timed(steps, chance, skew) if chance.random() < 0.7 else tuple(one for step in steps for one in step)
        records = damaged(records, chance, system) if number else records
        if records:
            traces[f"trace-{number}"] = records
            try:
                decided[f"trace-{number}"] = oracle.apart(records, skew)
            except TooMany:
                pass
    return skew, traces, decided


@seeds(0, 16, together=4)
def test_verdicts_on_logs_in_order_are_those_of_the_oracle(seeds: range) -> None:
    for seed in seeds:
        system = logged_system(seed)
        if system is not None:
            traces, decided = traces_in_order(system, seed)
            checker = TraceChecker(system, Order.TOTAL, explained_max=0)
            compare(system, traces, decided, checker, random.Random(seed).choice((1, 2, 3, 5, 100)))


@seeds(0, 16, together=4)
def test_verdicts_on_nodes_that_logged_apart_are_those_of_the_oracle(seeds: range) -> None:
    for seed in seeds:
        system = logged_system(seed)
        if system is not None:
            skew, traces, decided = traces_apart(system, seed)
            checker = TraceChecker(system, Order.PER_NODE, skew, explained_max=0)
            compare(system, traces, decided, checker, random.Random(seed).choice((1, 2, 3, 5, 100)))


@given(st.integers(10**6, 10**9), st.integers(1, 12))
@examples(4)
def test_how_records_are_cut_into_batches_changes_nothing(seed: int, size: int) -> None:
    system = logged_system(seed)
    if system is None:
        return
    traces, decided = traces_in_order(system, seed)
    compare(system, traces, decided, TraceChecker(system, Order.TOTAL, explained_max=0), size)


@pytest.mark.parametrize("order", list(Order))
def test_more_states_than_there_is_room_for_are_never_a_verdict(order: Order) -> None:
    widths = 0
    for seed in range(500, 506):
        system = logged_system(seed)
        if system is None:
            continue
        if order is Order.TOTAL:
            skew, (traces, decided) = 0, traces_in_order(system, seed)
        else:
            skew, traces, decided = traces_apart(system, seed)
        if not traces:
            continue
        full = verdicts(TraceChecker(system, order, skew, explained_max=0), [table(system, traces)])
        for room in (1, 3):
            narrow = TraceChecker(system, order, skew, capacity=room, explained_max=0)
            found = verdicts(narrow, [table(system, traces)])
            for name in decided:
                if full[name].width > room:
                    widths += 1
                    assert found[name].kind == "unknown", (seed, room, name)
                else:
                    assert found[name].kind in (full[name].kind, "unknown")
    assert widths > 8, "there were traces that need more room"


def test_sets_are_shown_by_random_systems() -> None:
    kinds = [
        kind
        for seed in range(60)
        if (system := logged_system(seed)) is not None
        for kinds, _ in shown_types(system).values()
        for kind in kinds
    ]
    assert any(isinstance(kind, Set) for kind in kinds), "else the tests above say less than they seem to"
