"""Following logs by the automaton that is made on the way says in everything what following them without it says."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hacheck.model import ir
from hacheck.model.language import load
from hacheck.model.observing.line_writers import lines_of, logged
from hacheck.traces.conformance import follower
from hacheck.traces.conformance.automaton import BYTES, NARROW, Figures
from hacheck.traces.conformance.canonical_names import CanonicalNames
from hacheck.traces.conformance.follower import Follower, Memory
from hacheck.traces.conformance.kernels import automaton_fields
from hacheck.traces.conformance.kernels import control as k
from hacheck.traces.conformance.open_trace_state import to_bytes
from hacheck.traces.conformance.timed_total_order import TimedTotallyOrdered
from hacheck.traces.conformance.total_order import TotallyOrdered
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.records import Order
from tests.nightly import by_night
from tests.properties.scale import seeds
from tests.traces.conformance.arrow_records import cut_up, table
from tests.traces.conformance.oracle import LogRecord, Oracle
from tests.traces.conformance.test_canonical_names import GROUPS
from tests.traces.conformance.test_random_systems import logged_system, traces_in_order
from tests.traces.conformance.test_shipped_specs import cases, shipped_system
from tests.traces.conformance.worlds import changed, wandered
from tests.traces.simulation.specs import EVERYTHING, PLAIN, system_of

SPEC = Path(__file__).parents[3] / "bench" / "quorum_election.ha"

SMALL = 20_000
"""Bytes in which little is known at once, so that it is forgotten often."""


class Watching(Follower):
    """Follows, and keeps what became of each part."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory.compiled, memory)
        self.rows: list[list[int]] = []

    def follow(self, *arguments: Any) -> Any:
        """As `Follower`."""
        found = super().follow(*arguments)
        self.rows += found.tolist()
        return found


def judge(checker: TraceChecker, known_bytes: int, narrow: int = 0) -> TotallyOrdered:
    """A judge with so much memory for the automaton; the code is compiled once for each checker. `narrow`: sets of so
    few candidates have no moves."""
    made = checker.trace_follower()
    made = made.inner if isinstance(made, TimedTotallyOrdered) else made  # which looks back where something is broken
    assert isinstance(made, TotallyOrdered)
    made.memory = Memory(made.compiled, made.memory.capacity, known_bytes)
    made.follower = Watching(made.memory)
    if made.memory.automaton is None:
        made.canonical_names = CanonicalNames(())
    else:
        made.memory.automaton.control[automaton_fields.NARROW] = narrow
    return made


def verdicts_of(made: TotallyOrdered, batches: Sequence[Any], kept: bool = False) -> list[Verdict]:
    """The verdicts, in their order by trace. `kept`: between two batches the state goes to bytes and back."""
    found: list[Verdict] = []
    for batch in batches:
        for one in made.feed(batch):
            found += from_batch(one)
        if kept:
            held = to_bytes(made.kept(made.snapshot(), False))
            made.restore(made.nothing())
            made.memory.hold(made.memory.starts)
            made.restore(made.from_kept(held)[0])
    for one in made.finish():
        found += from_batch(one)
    return sorted(found, key=lambda verdict: verdict.trace_id)


def rows_of(made: TotallyOrdered) -> list[list[int]]:
    """What became of each part. How many bounds were met before there was no room is nobody's business."""
    assert isinstance(made.follower, Watching)
    rows = made.follower.rows
    return [
        [*row[: k.LIMITED], 0 if row[k.STATUS] == k.FULL else row[k.LIMITED], *row[k.RESULT_WORDS :]] for row in rows
    ]


def agree(checker: TraceChecker, batches: Sequence[Any], kept: bool = False) -> Figures:
    """Compares both ways, the automaton with little memory and with much. Returns what the latter was good for."""
    without = judge(checker, 0)
    wanted = verdicts_of(without, batches, kept)
    assert without.memory.automaton is None
    figures = None
    for size, narrow in ((SMALL, 0), (BYTES, NARROW), (BYTES, 0)):
        made = judge(checker, size, narrow)
        assert verdicts_of(made, batches, kept) == wanted
        assert rows_of(made) == rows_of(without)
        assert made.memory.expanded == without.memory.expanded
        assert made.memory.automaton is not None
        figures = made.memory.automaton.figures()
    assert figures is not None
    return figures


def asked_of(system: ir.System) -> tuple[str, ...]:
    """The invariants of a system."""
    return tuple(one.name for one in system.properties if one.kind == "invariant")


# ---- random systems ----


@pytest.mark.parametrize("capacity", [1, 5, 2**14])
@seeds(40_000, 6, together=6)
def test_logs_of_random_systems_whole_and_damaged(seeds: range, capacity: int) -> None:
    for seed in seeds:
        system = logged_system(seed)
        if system is None:
            continue
        traces, _ = traces_in_order(system, seed)
        if traces:
            chance = random.Random(seed)
            checker = TraceChecker(system, Order.TOTAL, checked=asked_of(system), capacity=capacity, explained_max=0)
            batches = cut_up(table(system, traces), chance.choice((1, 2, 3, 5, 100)))
            agree(checker, batches, kept=chance.random() < 0.5)


def test_random_systems_have_what_there_is_to_go_wrong() -> None:
    several = silent = asked = 0
    for seed in range(40_000, 40_024):
        system = logged_system(seed)
        if system is not None:
            several += any(len(list(lines_of(action))) > 1 for action in system.actions)
            silent += any(not list(lines_of(action)) for action in system.actions)
            asked += bool(asked_of(system))
    assert min(several, silent, asked) > 3, (several, silent, asked)


# ---- protocols ----


def election(hidden: Sequence[str], **settings: str) -> ir.System:
    """QuorumElection, a line for each step but some."""
    loaded = load(SPEC.read_text(encoding="utf-8"), SPEC.name)
    assert loaded.specification is not None, loaded.diagnostics
    made = loaded.specification.instantiate(settings, None, logs=True)
    assert made.system is not None, made.diagnostics
    return logged(made.system, True, hidden)


def runs(system: ir.System, seed: int, count: int, length: int) -> dict[str, Sequence[LogRecord]]:
    """Runs as traces, every fourth changed."""
    chance, oracle = random.Random(seed), Oracle(system)
    traces: dict[str, Sequence[LogRecord]] = {}
    for number in range(count):
        records: Sequence[LogRecord] = wandered(oracle, chance, length).records
        if number % 4 == 0:
            records = changed(records, ("value", "lost", "swapped")[number // 4 % 3], chance, system)
        if records:
            traces[f"trace-{number:03d}"] = records
    return traces


@pytest.mark.parametrize("hidden", [(), ("lose reply",), ("lose request", "lose reply"), ("crash Replica",)])
def test_runs_of_an_election_whole_and_damaged(hidden: Sequence[str]) -> None:
    system = election(hidden, terms="1", votes_lost="on")
    checker = TraceChecker(system, Order.TOTAL, checked=asked_of(system), explained_max=0)
    batches = cut_up(table(system, runs(system, 3, 60, 25)), 97)
    figures = agree(checker, batches)
    followed = figures.recalled + figures.worked_out
    assert (followed > figures.apart) == bool(hidden), "without hidden steps a lone state is followed by itself"
    if hidden:
        assert figures.recalled > figures.worked_out / 10, figures


@pytest.mark.parametrize("spec", [EVERYTHING, PLAIN])
def test_runs_of_specs_that_show_one_of_everything(spec: str) -> None:
    system = system_of(spec)
    checker = TraceChecker(system, Order.TOTAL, checked=asked_of(system), explained_max=0)
    figures = agree(checker, cut_up(table(system, runs(system, 5, 30, 20)), 41), kept=True)
    assert figures.worked_out + figures.apart > 100


@pytest.mark.parametrize(
    "name", by_night(sorted({f"{name} {every}" for name, every, order in cases()}), lambda name: "icestorm" not in name)
)
def test_runs_of_shipped_specs(name: str) -> None:
    word, every = name.split()
    system = shipped_system(word, every == "True")
    checker = TraceChecker(system, Order.TOTAL, checked=asked_of(system), explained_max=0)
    agree(checker, cut_up(table(system, runs(system, 9, 12, 30)), 50))


def test_steps_that_leave_no_line_are_followed_from_many_starts() -> None:
    system = election(("lose request", "lose reply"), terms="1")
    checker = TraceChecker(system, Order.TOTAL, any_start=500, explained_max=0)
    traces = {name: records[len(records) // 2 :] for name, records in runs(system, 4, 12, 20).items()}
    agree(checker, cut_up(table(system, traces), 10))


# ---- what is kept, and what is forgotten ----


def test_what_was_worked_out_for_one_trace_is_known_for_the_next() -> None:
    system = election(("lose request", "lose reply"), terms="1")
    records = runs(system, 6, 4, 25)["trace-001"]
    made = judge(TraceChecker(system, Order.TOTAL, explained_max=0), BYTES)
    automaton = made.memory.automaton
    assert automaton is not None
    verdicts_of(made, [table(system, {"a": records})])
    first = automaton.figures()
    assert (first.recalled + first.worked_out, first.moves) == (len(records), first.worked_out)
    verdicts_of(made, [table(system, {"b": records})])
    second = automaton.figures()
    assert (second.worked_out, second.recalled) == (first.worked_out, first.recalled + len(records))
    automaton.forget()
    verdicts_of(made, [table(system, {"c": records})])
    third = automaton.figures()
    assert (third.worked_out, third.states, third.nodes) == (2 * first.worked_out, first.states, first.nodes)
    assert third.forgotten == 1


def test_the_same_story_of_other_names_is_known() -> None:
    loaded = load(GROUPS, "groups.ha")
    assert loaded.specification is not None, loaded.diagnostics
    found = loaded.specification.instantiate({}, None, logs=True)
    assert found.system is not None, found.diagnostics
    system = logged(found.system, hidden=("looked",))

    def story(*groups: str) -> list[LogRecord]:
        one, two = ("Server", 1), ("Server", 2)
        return [
            record
            for group in groups
            for record in (
                LogRecord("founded", one, {"group": group}),
                LogRecord("joined", two, {"group": group}),
                LogRecord("left", one, {"group": group}),
                LogRecord("left", two, {"group": group}),
            )
        ]

    traces = {"a": story("x", "y", "z"), "b": story("u", "v", "w"), "c": story("z", "u", "x")}
    made = judge(TraceChecker(system, Order.TOTAL, explained_max=0), BYTES)
    assert {verdict.kind for verdict in verdicts_of(made, cut_up(table(system, traces), 7))} == {"conforms"}
    assert made.memory.automaton is not None
    figures = made.memory.automaton.figures()
    assert (figures.worked_out, figures.recalled) == (12, 24)


def test_little_memory_is_used_again_and_again() -> None:
    system = election(("lose request", "lose reply"), terms="1")
    made = judge(TraceChecker(system, Order.TOTAL, explained_max=0), SMALL)
    kinds = {verdict.kind for verdict in verdicts_of(made, [table(system, runs(system, 8, 40, 25))])}
    assert made.memory.automaton is not None
    figures = made.memory.automaton.figures()
    assert figures.forgotten > 5, figures
    assert figures.apart > 0, figures
    assert kinds == {"conforms", "deviates"}


def test_epochs_that_come_to_their_end_are_begun_anew() -> None:
    system = election(("lose request", "lose reply"), terms="1")
    checker = TraceChecker(system, Order.TOTAL, explained_max=0)
    batches = [table(system, runs(system, 12, 10, 25))]
    wanted = verdicts_of(judge(checker, 0), batches)
    made = judge(checker, BYTES)
    assert made.memory.automaton is not None
    made.memory.automaton.control[automaton_fields.EPOCH] = automaton_fields.EPOCH_LAST - 20
    assert verdicts_of(made, batches) == wanted
    assert made.memory.automaton.figures().forgotten == 1


@pytest.mark.parametrize("hidden", [(), ("lose request", "lose reply")])
def test_whoever_asks_is_asked_often_enough(hidden: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    system = election(hidden, terms="1")
    checker = TraceChecker(system, Order.TOTAL, checked=asked_of(system), explained_max=0)
    batches = cut_up(table(system, runs(system, 13, 12, 25)), 100)
    wanted = verdicts_of(judge(checker, 0), batches)
    monkeypatch.setattr(follower, "_EXPANDED_PER_CALL", 7)
    for size in (0, SMALL, BYTES):
        made = judge(checker, size)
        times = 0

        def count() -> bool:
            nonlocal times
            times += 1
            return True

        made.report = count
        assert verdicts_of(made, batches) == wanted
        widest = max(verdict.width for verdict in wanted)
        assert times >= made.memory.expanded / (7 + widest), "nobody waits longer than for one set more"
