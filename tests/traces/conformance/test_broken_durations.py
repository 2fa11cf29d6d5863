"""For how long a property was broken: against runs whose states are known, in one order and apart."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from msgspec import Struct

from hacheck.model import ir
from hacheck.model.interpreter import Interpreter
from hacheck.model.language import load
from hacheck.model.observing.line_writers import logged
from hacheck.model.runs import State
from hacheck.traces.conformance import timed_total_order
from hacheck.traces.conformance.broken_durations import Rule
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict
from hacheck.traces.records import Order
from tests.traces.conformance.arrow_records import cut_up, judged, table, verdicts
from tests.traces.conformance.records import LogRecord

SPEC = """system Shift "Servers begin, rest and wake unseen, and end, sometimes both at once."
node Server[2] symmetric { mode: { idle, serving, resting } = serving }
action begin(s: Server) when s.mode == idle do
  s.mode := serving
  log began()
action rest(s: Server) when s.mode == serving do s.mode := resting
action wake(s: Server) when s.mode == resting do s.mode := serving
action end(s: Server) when s.mode != idle do
  s.mode := idle
  log ended()
environment action end_all() when (every s: Server satisfies s.mode != idle) do
  for s: Server do {
    s.mode := idle
    log ended() at s
  }
invariant someone "one serves": some s: Server where s.mode == serving
invariant not_both "they do not both serve": not (every s: Server satisfies s.mode == serving)
check default expect someone, not_both violated
"""
MOST = 40
RULES = (Rule("someone", MOST), Rule("not_both", MOST))


@cache
def shift() -> ir.System:
    """The system, with its lines."""
    loaded = load(SPEC, "shift.ha")
    assert loaded.specification is not None, loaded.diagnostics
    made = loaded.specification.instantiate({}, "default", logs=True)
    assert made.system is not None, made.diagnostics
    return logged(made.system)


class Walk(Struct, frozen=True):
    """A run with the moments of its steps: the states from each moment on, and the records, in their order."""

    states: tuple[tuple[int, State], ...]
    records: tuple[LogRecord, ...]


def walked(chance: random.Random, skew: int, length: int = 14) -> Walk:
    """A random run. Clocks are off by at most half of `skew` each."""
    interpreter = Interpreter(shift())
    (state,) = interpreter.initial_states()
    now = 1_000
    off = {("Server", node): chance.randint(-(skew // 2), skew // 2) for node in (1, 2)}
    states, records = [(now, state)], []
    for _ in range(length):
        now += chance.choice([1, 7, 30, 95])
        step, lines = chance.choice(list(interpreter.steps_with_lines(state)))
        state = step.state
        states.append((now, state))
        for line in lines:
            assert line.node is not None, "each line has its node"
            records.append(LogRecord(line.event, line.node, {}, now + off[line.node]))
    return Walk(tuple(states), tuple(sorted(records, key=lambda one: one.time or 0)))


def broken(name: str, state: State) -> bool:
    """Whether a state violates an invariant."""
    asked = next(one for one in shift().properties if one.name == name)
    return not Interpreter(shift()).holds(asked, state)


def stretches(walk: Walk, name: str) -> list[tuple[int, int]]:
    """From when to when the run violates an invariant; open at the end of the run."""
    found: list[tuple[int, int]] = []
    ends = [*(moment for moment, _ in walk.states[1:]), 10**9]
    for (start, state), end in zip(walk.states, ends, strict=True):
        if broken(name, state):
            if found and found[-1][1] == start:
                found[-1] = (found[-1][0], end)
            else:
                found.append((start, end))
    return found


def told(walks: Sequence[Walk], order: Order, skew: int, **more: Any) -> dict[str, Verdict]:
    """The verdicts on runs."""
    traces = {f"t{number:04d}": walk.records for number, walk in enumerate(walks)}
    return judged(shift(), traces, order, skew_ns=skew, rules=RULES, **more)


@pytest.mark.parametrize(("order", "skew"), [(Order.TOTAL, 0), (Order.PER_NODE, 0), (Order.PER_NODE, 12)])
def test_what_is_surely_broken_was_broken_in_truth(order: Order, skew: int) -> None:
    chance = random.Random(7)
    walks = [walked(chance, skew) for _ in range(60)]
    found = told(walks, order, skew)
    sure = 0
    for number, walk in enumerate(walks):
        if not walk.records:
            continue
        verdict = found[f"t{number:04d}"]
        for late in verdict.late:
            assert late.start.time is not None
            assert late.end.time is not None
            assert late.nanoseconds == late.end.time - late.start.time
            if late.sure:
                sure += 1
                low, high = late.start.time + skew, late.end.time - skew
                assert any(a <= low and high <= b for a, b in stretches(walk, late.invariant)), (walk, late)
                assert late.nanoseconds - 2 * skew > MOST
        assert (verdict.kind == "deviates") == any(late.sure for late in verdict.late)
        assert all(late.invariant != "not_both" for late in verdict.late if late.sure), "rest leaves no line"
    assert sure > 4


@pytest.mark.parametrize("order", [Order.TOTAL, Order.PER_NODE])
def test_what_no_hidden_step_can_mend_is_found(order: Order) -> None:
    chance = random.Random(11)
    walks = [walked(chance, 0) for _ in range(60)]
    found = told(walks, order, 0)
    seen = 0
    for number, walk in enumerate(walks):
        if not walk.records:
            continue
        last = walk.records[-1].time or 0
        idle = [
            (start, min(end, last))
            for start, end in stretches(all_idle(walk), "someone")
            if min(end, last) - start > MOST
        ]
        sure = [late for late in found[f"t{number:04d}"].late if late.sure]
        assert [(late.start.time, late.end.time) for late in sure] == idle
        seen += len(idle)
    assert seen > 4


def all_idle(walk: Walk) -> Walk:
    """The run as somebody sees it to whom every server that is not idle may serve."""
    (place,) = (at for at, variable in enumerate(shift().variables) if variable.name == "Server.mode")
    states = []
    for moment, state in walk.states:
        modes = tuple("idle" if mode == "idle" else "serving" for mode in state[place])
        states.append((moment, (*state[:place], modes, *state[place + 1 :])))
    return Walk(tuple(states), walk.records)


def began(node: int, time: int | None) -> LogRecord:
    return LogRecord("began", ("Server", node), {}, time)


def ended(node: int, time: int | None) -> LogRecord:
    return LogRecord("ended", ("Server", node), {}, time)


STORY = [ended(1, 100), ended(2, 200), began(1, 300), ended(1, 310), began(2, 320)]


@pytest.mark.parametrize("order", [Order.TOTAL, Order.PER_NODE])
def test_the_records_between_which_it_was_broken_are_told(order: Order) -> None:
    verdict = judged(shift(), {"story": STORY}, order, rules=RULES)["story"]
    (late,) = [one for one in verdict.late if one.sure]
    assert (late.invariant, late.start.seq, late.end.seq, late.nanoseconds, late.most) == ("someone", 2, 3, 100, MOST)
    assert verdict.kind == "deviates"
    assert (verdict.seq, verdict.event, verdict.node) == (2, "ended", "Server-2")
    assert verdict.reason == late.words
    assert verdict.violated == verdict.perhaps == ()


@pytest.mark.parametrize("order", [Order.TOTAL, Order.PER_NODE])
def test_what_depends_on_hidden_steps_is_told_as_perhaps(order: Order) -> None:
    story = [ended(1, 100), began(1, 150), ended(2, 250)]
    verdict = judged(shift(), {"story": story}, order, rules=RULES)["story"]
    assert verdict.kind == "conforms"
    assert [(one.invariant, one.sure, one.start.seq, one.end.seq) for one in verdict.late if one.end.seq == 3] == [
        ("someone", False, 1, 3),
        ("not_both", False, 2, 3),
    ]


@pytest.mark.parametrize(("skew", "sure"), [(0, True), (29, True), (30, False)])
def test_clocks_that_may_differ_make_it_less_sure(skew: int, sure: bool) -> None:
    verdict = judged(shift(), {"story": STORY}, Order.PER_NODE, rules=RULES[:1], skew_ns=skew)["story"]
    assert any(one.sure for one in verdict.late) == sure
    assert verdict.kind == ("deviates" if sure else "conforms")


@pytest.mark.parametrize("order", [Order.TOTAL, Order.PER_NODE])
def test_it_may_last_to_the_end_of_the_trace_or_to_where_it_leaves_the_model(order: Order) -> None:
    stays = [ended(1, 100), ended(2, 200), began(1, 205), ended(1, 210), LogRecord("noise", ("Server", 1), {}, 400)]
    ends = [ended(1, 100), ended(2, 200), began(1, 300), began(1, 310)]
    found = judged(shift(), {"stays": stays[:4], "ends": ends}, order, rules=RULES[:1])
    assert found["stays"].kind == "conforms", "nobody knows how long it was so after the last record"
    assert found["ends"].kind == "deviates"
    assert (found["ends"].seq, found["ends"].event) == (4, "began"), "where it leaves the model is told first"
    assert [(one.sure, one.nanoseconds) for one in found["ends"].late] == [(True, 100)]


@pytest.mark.parametrize("order", [Order.TOTAL, Order.PER_NODE])
def test_records_without_times_tell_nothing_of_how_long(order: Order) -> None:
    story = [LogRecord(one.event, one.node, {}, None) for one in STORY]
    quiet = [ended(1, None), began(1, None)]
    found = judged(shift(), {"story": story, "quiet": quiet}, order, rules=RULES[:1])
    assert (found["story"].kind, found["quiet"].kind) == ("unknown", "unknown")
    assert "not every record has a time" in found["story"].reason


def test_what_was_violated_is_told_of_those_that_are_asked_only() -> None:
    for order in (Order.TOTAL, Order.PER_NODE):
        verdict = judged(shift(), {"story": STORY}, order, rules=RULES[:1], checked=("not_both",))["story"]
        assert {one.partition("@")[0] for one in (*verdict.violated, *verdict.perhaps)} == {"not_both"}
        assert [one.invariant for one in verdict.late] == ["someone"]


def test_a_trace_in_one_order_may_come_in_pieces_and_go_on_elsewhere() -> None:
    chance = random.Random(3)
    traces = {f"t{number:03d}": walked(chance, 0).records for number in range(40)}
    traces = {name: records for name, records in traces.items() if records}
    checker = TraceChecker(shift(), Order.TOTAL, rules=RULES)
    whole = judged(shift(), traces, Order.TOTAL, rules=RULES)
    assert verdicts(checker, cut_up(table(shift(), traces), 5)) == whole
    for name, records in list(traces.items())[:10]:
        state = None
        for piece in cut_up(table(shift(), {name: records}), 2):
            opened = checker.resume(state)
            opened.feed(piece)
            state = opened.state()
        assert checker.resume(state).close() == whole[name]


def test_a_trace_that_is_too_long_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed_total_order, "RECORDS_MAX", 3)
    found = judged(shift(), {"story": STORY, "short": [ended(1, 1), ended(2, 2)]}, Order.TOTAL, rules=RULES[:1])
    assert (found["story"].kind, found["short"].kind) == ("unknown", "conforms")
    assert "more than 3 records" in found["story"].reason
