"""Lines are followed one by one as the judge of whole traces judges them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from hacheck import shipped
from hacheck.model.ir import System
from hacheck.model.language import load
from hacheck.model.observing.line_writers import logged
from hacheck.testing.line_encoding import Event, UnfitEvent
from hacheck.testing.state_tracker import Broken, Track, Tracker
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict
from hacheck.traces.records import Order
from hacheck.traces.simulation.plan import Plan
from hacheck.traces.simulation.trace_maker import Maker
from tests.nightly import by_night
from tests.properties.scale import seeds
from tests.testing.following import events_of, followed
from tests.testing.specs import COUNTER, system_of
from tests.traces.conformance.arrow_records import table, verdicts
from tests.traces.conformance.test_random_systems import logged_system, traces_in_order
from tests.traces.simulation.specs import EVERYTHING, PLAIN
from tests.traces.simulation.specs import system_of as system_with_lines

KINDS = {"deviates": "deviates", "bound": "unknown", "unmatchable": "unknown", "full": "unknown"}
"""What the judge says of a trace that the tracker does not follow, by why not."""


def disagreements(tracker: Tracker, batch: Any, judged: Mapping[str, Verdict]) -> Iterable[str]:
    """Traces of which the tracker and the judge say different things."""
    for name, events in events_of(batch).items():
        count, found = followed(tracker, events)
        mine = "conforms" if isinstance(found, Track) else KINDS[found.kind]
        place = None if isinstance(found, Track) else count + 1
        verdict = judged[name]
        if (mine, place) != (verdict.kind, None if verdict.kind == "conforms" else verdict.seq):
            yield f"{name}: {mine} at {place}, and {verdict.kind} at {verdict.seq} ({verdict.reason})"


@seeds(0, 40, together=4)
def test_random_systems_are_followed_as_the_judge_judges(seeds: range) -> None:
    kinds = set()
    for seed in seeds:
        system = logged_system(seed)
        traces = {} if system is None else traces_in_order(system, seed)[0]
        if system is None or not traces:
            continue
        batch = table(system, traces)
        judged = verdicts(TraceChecker(system, Order.TOTAL, explained_max=0), [batch])
        assert list(disagreements(Tracker(system), batch, judged)) == [], f"seed {seed}"
        kinds |= {verdict.kind for verdict in judged.values()}
    assert "conforms" in kinds
    assert "deviates" in kinds or seeds.start, "of the stretch that is tried in every run some do not"


def shipped_system(name: str) -> System:
    """The system of a shipped spec that logs are compared with."""
    place = shipped.find(name)
    loaded = load(place.read_text(), str(place), lambda path: Path(path).read_text())
    assert loaded.specification is not None
    made = loaded.specification.instantiate({}, "default", logs=True)
    assert made.system is not None
    return logged(made.system)


SYSTEMS = by_night(
    [("everything", 12, 20), ("plain", 12, 20), ("icestorm", 6, 60), ("fiorano_shared", 6, 60), ("qpid_ha", 4, 40)],
    lambda case: case[0] in ("everything", "plain"),
)


@pytest.mark.parametrize(("name", "traces", "steps"), SYSTEMS)
def test_simulated_traces_are_followed_as_the_judge_judges(name: str, traces: int, steps: int) -> None:
    own = {"everything": EVERYTHING, "plain": PLAIN}
    system = system_with_lines(own[name]) if name in own else shipped_system(name)
    kinds = []
    for mutate in (0.0, 1.0):
        made = Maker(Plan(system, name, traces, steps, seed=5, mutate=mutate)).make(0, traces)
        batch = made.records.combine_chunks().to_batches()[0]
        judged = verdicts(TraceChecker(system, Order.TOTAL, explained_max=0), [batch])
        assert list(disagreements(Tracker(system), batch, judged)) == []
        kinds.append([verdict.kind for verdict in judged.values()])
    assert set(kinds[0]) == {"conforms"}
    assert "deviates" in kinds[1]


# ---- what a track knows ----


@pytest.fixture(scope="module")
def counter() -> Tracker:
    """Of a system in which one counts, and says every second number twice."""
    return Tracker(system_of(COUNTER), invariants=("small",))


def line(name: str, **fields: object) -> Event:
    """A line of the counting node."""
    return Event("Server-1", name, fields)


def after(tracker: Tracker, *events: Event) -> Track:
    """A log that is followed to its end."""
    count, found = followed(tracker, events)
    assert isinstance(found, Track), f"{found.reason}, at {events[count].text}"
    return found


def test_a_run_that_owes_a_line_is_alive(counter: Tracker) -> None:
    track = after(counter, line("counted", n=1), line("counted", n=2))
    assert track.owing
    assert track.alive
    assert counter.violated(track) == ()
    assert not after(counter, line("counted", n=1), line("counted", n=2), line("even", n=2)).owing


def test_logs_that_go_on_alike_have_equal_tracks(counter: Tracker) -> None:
    passed_over = Event("Server-1", "started", {})
    assert after(counter, line("counted", n=1)) == after(counter, passed_over, line("counted", n=1))
    assert counter.lines.unknown == {"started": 1}


def test_a_line_that_no_run_writes_is_told_with_what_could_have_been(counter: Tracker) -> None:
    events = [line("counted", n=1), line("counted", n=3)]
    count, found = followed(counter, events)
    assert (count, found) == (1, Broken("deviates", "no run of the model writes this line here", events[1]))
    explained = counter.explain(events)
    assert explained is not None
    assert explained.expected[0] == "Server 1: counted(n: 2)"
    assert explained.repair == "wrong field"
    assert counter.explain(events[:1]) is None
    assert counter.explain([]) is None


def test_beyond_a_bound_nothing_is_said_to_be_wrong(counter: Tracker) -> None:
    events = [line("counted", n=1), line("counted", n=2), line("even", n=2), line("counted", n=3)]
    _, found = followed(counter, [*events, line("counted", n=4), line("even", n=4), line("counted", n=5)])
    assert isinstance(found, Broken)
    assert found.kind == "bound"
    _, found = followed(counter, [*events, line("counted", n=9)])
    assert isinstance(found, Broken)
    assert found.kind == "bound"


def test_a_bound_that_was_met_on_the_way_is_remembered() -> None:
    tracker = Tracker(system_of(BRANCHING))
    track = after(tracker, Event("-", "begun", {}))
    assert track.limited
    found = tracker.after(track, Event("-", "ended", {"n": 2}))
    assert isinstance(found, Broken)
    assert found.kind == "bound", "with a larger bound the other branch might have gone on"


BRANCHING = """
system Branching "It counts in secret, or not."
shared n: counter up to 1 = 0
shared over: bool = false
environment action begin_quietly() when not over do
  over := true
  log begun()
environment action begin_counting() when not over do
  over := true
  n := n + 1
  n := n + 1
  log begun()
environment action end() when over do log ended(n: n)
invariant fine: n <= 1
"""


def test_a_node_that_the_model_does_not_have_is_no_deviation(counter: Tracker) -> None:
    found = counter.after(counter.start, Event("Server-7", "counted", {"n": 1}))
    assert isinstance(found, Broken)
    assert found.kind == "unmatchable"
    assert "Server-7" in found.reason


def test_other_names_of_nodes_are_told() -> None:
    tracker = Tracker(system_of(COUNTER), called={"primary": "Server-1"})
    assert isinstance(tracker.after(tracker.start, Event("primary", "counted", {"n": 1})), Track)


def test_too_many_states_are_no_deviation() -> None:
    tracker = Tracker(system_of(COUNTER), capacity=1)
    track = tracker.start
    for event in (line("counted", n=1), line("counted", n=2)):
        found = tracker.after(track, event)
        if isinstance(found, Broken):
            break
        track = found
    assert isinstance(found, Broken)
    assert found.kind == "full"
    assert found.reason.startswith("more than 1 states of the model explain it up to here")


AGEING = """system Ageing "x"
node S[2] symmetric { age: 0..9 = 0  n: 0..3 = 0 }
environment action pass_time(s: S) when s.age < 9 do s.age := s.age + 1
action count(s: S) when s.n < 3 do
  s.n := s.n + 1
  log counted(n: s.n) at s
invariant fine: true
"""


def test_too_many_states_are_said_with_what_they_differ_in() -> None:
    tracker = Tracker(system_of(AGEING), capacity=50)
    found = tracker.after(tracker.start, Event("S-1", "counted", {"n": 1}))
    assert isinstance(found, Broken)
    assert "and differ in what no line decides: S.age: " in found.reason
    assert found.reason.endswith("values (an age that stops at its limit for a clock), keeps them few")


def test_an_invariant_is_violated_where_every_explanation_violates_it(counter: Tracker) -> None:
    events = [line("counted", n=1), line("counted", n=2), line("even", n=2), line("counted", n=3)]
    assert counter.violated(after(counter, *events[:3])) == ()
    assert counter.violated(after(counter, *events)) == ("small",)
    assert Tracker(counter.system).violated(after(counter, *events)) == (), "nothing was asked"


@pytest.mark.parametrize("value", [{"a": 1}, [1, "a"], object(), [1.5]], ids=["object", "mixed", "other", "fractions"])
def test_a_value_that_no_line_shows_is_refused(counter: Tracker, value: object) -> None:
    with pytest.raises(UnfitEvent, match=r"`n` of `counted` is .* a line shows numbers, words, truth values, and"):
        counter.after(counter.start, line("counted", n=value))


def test_truth_is_not_one(counter: Tracker) -> None:
    assert isinstance(counter.after(counter.start, line("counted", n=1)), Track)
    assert isinstance(counter.after(counter.start, line("counted", n=True)), Broken)


def test_an_event_is_told_in_words() -> None:
    assert line("counted", n=1, by=None, to=["a"]).text == "Server-1: counted(n: 1, by: none, to: a)"
    assert Event("-", "begun", {}).text == "begun"
    assert json.dumps(line("x").fields) == "{}"
