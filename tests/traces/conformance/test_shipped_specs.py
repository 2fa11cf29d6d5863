"""Runs of the shipped specs conform, by a line for each step and by the lines of the spec; what is wrong is found."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from functools import cache

import pytest

from hacheck import shipped
from hacheck.model import ir
from hacheck.model.observing.line_writers import has_lines, logged
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.records import Order
from tests.nightly import by_night, first_of
from tests.properties.scale import searching
from tests.traces.conformance.arrow_records import cut_up, table, verdicts
from tests.traces.conformance.oracle import LogRecord, Oracle
from tests.traces.conformance.worlds import changed, timed, wandered
from tests.traces.simulation.specs import EVERYTHING, PLAIN, system_of

STEPS, TRACES, SKEW = 25, 3, 50
QUICK = ("fiorano_shared", "artemis_shared_store")
"""Specs whose code is compiled in little time."""


WITH_LINES = ("icestorm",)
"""Specs that say which lines there are."""


@cache
def shipped_system(name: str, every_step: bool) -> ir.System:
    """A shipped spec under its default check, with a line for each step, or with its own lines."""
    from hacheck.cli.sources import load_specification

    made = load_specification(name, no_color=True).instantiate({}, None, logs=True).system
    assert made is not None
    assert every_step or has_lines(made)
    return logged(made, every_step)


def cases() -> list[tuple[str, bool, Order]]:
    """What is compared: everything when somebody searches, else what takes little time."""
    names = shipped.names() if searching() else QUICK
    own = [(name, False, order) for name in WITH_LINES for order in Order if searching() or order is Order.PER_NODE]
    return [*((name, True, order) for name in names for order in Order), *own]


@pytest.mark.parametrize(("name", "every_step", "order"), by_night(cases(), lambda case: case[0] != "icestorm"))
def test_runs_of_shipped_specs_conform(name: str, every_step: bool, order: Order) -> None:
    system = shipped_system(name, every_step)
    chance, oracle = random.Random(7), Oracle(system)
    traces: dict[str, Sequence[LogRecord]] = {}
    for number in range(TRACES):
        steps = wandered(oracle, chance, STEPS).steps
        traces[f"trace-{number}"] = (
            [one for step in steps for one in step] if order is Order.TOTAL else timed(steps, chance, SKEW)
        )
    assert all(traces.values())
    checker = TraceChecker(system, order, SKEW, explained_max=0)
    found = verdicts(checker, cut_up(table(system, traces), 17))
    assert {verdict.kind for verdict in found.values()} == {"conforms"}, found


# ---- detection ----


def spec(name: str) -> ir.System:
    """A system by its name."""
    texts = {"everything": EVERYTHING, "plain": PLAIN}
    if name in texts:
        return system_of(texts[name])
    return shipped_system(name, True)


@pytest.mark.parametrize("name", first_of(["plain", "everything", "fiorano_shared"]))
def test_every_change_that_makes_no_legal_run_is_found_and_none_else(name: str) -> None:
    system = spec(name)
    chance, oracle = random.Random(11), Oracle(system, width_max=20_000)
    count = (1_000 if searching() else 120) // (1 if name == "plain" else 6)
    traces: dict[str, Sequence[LogRecord]] = {}
    legal: dict[str, str] = {}
    for number in range(count):
        records: Sequence[LogRecord] = wandered(oracle, chance, 8).records
        if number % 4:
            records = changed(records, ("value", "lost", "swapped")[number % 4 - 1], chance, system)
        if records:
            traces[f"trace-{number:04d}"] = records
            decided = oracle.in_order(records)
            legal[f"trace-{number:04d}"] = (
                "conforms" if decided.explained else "unknown" if decided.stopped else "deviates"
            )
    found = verdicts(TraceChecker(system, Order.TOTAL, explained_max=0), cut_up(table(system, traces), 64))
    wrong = {key: (legal[key], found[key].kind, found[key].reason) for key in traces if legal[key] != found[key].kind}
    assert not {key: one for key, one in wrong.items() if not (one[1] == "unknown" and "does not have" in one[2])}
    kinds = Counter(legal.values())
    assert kinds["conforms"] > count / 8, kinds
    assert kinds["deviates"] > 2, kinds
