"""Every schedule of a small cluster: what is found, that it happens again, and what is said of what was explored."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from hacheck.impl import stepper as cluster_module
from hacheck.impl.node import Effect, Input, Node, Record, Setup, Started, Write
from hacheck.impl.stepper import Cluster
from hacheck.impl.system import Member
from hacheck.model.language import load
from hacheck.model.observing.line_writers import logged
from hacheck.testing.schedules import schedule_search
from hacheck.testing.schedules.cluster_fingerprint import fingerprint, frozen
from hacheck.testing.schedules.schedule_coverage import model_coverage
from hacheck.testing.schedules.schedule_search import Explored, Exploring, Found, Limits, Setting
from hacheck.testing.state_tracker import Tracker
from tests.testing.schedules.voting import SPEC, VOTING, Voting
from tests.testing.specs import system_of

PATIENT = Limits(deviations=2, steps=60, seconds=600.0)


@cache
def tracker() -> Tracker:
    specification = load(SPEC, "votes.ha").specification
    assert specification is not None
    system = specification.instantiate({}, "default", logs=True).system
    assert system is not None
    return Tracker(logged(system), ("one_winner",))


def explored(options: Mapping[str, str], faults: Mapping[str, int], limits: Limits = PATIENT) -> Explored:
    setting = Setting(VOTING, 3, 0, VOTING.options(options), faults)
    return Exploring(setting, tracker(), limits).run()


def again(found: Found, options: Mapping[str, str]) -> list[tuple[str, str]]:
    """Who wrote which record when a schedule is run once more."""
    shown: list[tuple[str, str]] = []
    given = VOTING.options(options)

    def told(member: str, record: Record) -> None:
        shown.append((member, record.event))

    cluster = Cluster(VOTING, VOTING.members(3, 0, given), given, told)
    for step in found.steps:
        assert step.choice in cluster.choices({"crash": 1, "cut": 1})
        cluster.do(step.choice)
    return shown


@pytest.mark.parametrize("faults", [{}, {"crash": 1}, {"cut": 1}])
def test_right_code_does_what_the_model_does(faults: Mapping[str, int]) -> None:
    found = explored({}, faults)
    assert found.found == []
    assert found.complete == PATIENT.deviations
    assert (found.at_bound, found.undecided) == (0, 0)
    assert set(found.shown) == {"stands", "votes_for", "wins"}
    assert found.schedules > 20


def test_a_long_schedule_ends_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = explored({}, {}, Limits(deviations=0, steps=60))
    assert (whole.schedules, whole.complete) == (1, 0)
    clock = count()  # a second each time that it is read, which is before each step
    monkeypatch.setattr(schedule_search, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    found = explored({}, {}, Limits(deviations=0, steps=60, seconds=whole.steps / 2))
    assert found.schedules == 1
    assert 0 < found.steps <= whole.steps / 2
    assert found.complete == -1


@pytest.mark.parametrize(
    ("options", "faults", "event"),
    [
        ({"twice": "true"}, {}, "votes_for"),
        ({"forgets": "true"}, {"crash": 1}, "stands"),
        ({"hasty": "true"}, {"crash": 1}, "stands"),
        ({"wins_with": "1"}, {}, "wins"),
    ],
)
def test_wrong_code_is_found_and_does_it_again(options: dict[str, str], faults: dict[str, int], event: str) -> None:
    (found,) = explored(options, faults).found
    shown = [(one.node, one.name) for step in found.steps for one in step.shown]
    assert again(found, options) == shown
    assert found.broken is not None
    assert (found.broken.kind, found.broken.event.name) == ("deviates", event)


def test_code_that_raises_is_found() -> None:
    (found,) = explored({"raises": "true"}, {}).found
    assert "who, me?" in found.failed


class Hurried:
    """Enters and leaves in one step of its code."""

    def handle(self, given: Input, now_us: int) -> list[Effect]:
        """What is to be done."""
        return [Record("entered", {}), Record("left", {})] if isinstance(given, Started) else []


class Hurrying(Voting):
    """Workers that enter and leave at once."""

    def members(self, replicas: int, clients: int, options: object) -> tuple[Member, ...]:
        """The workers."""
        return tuple(Member(f"worker-{number}", "worker") for number in range(1, replicas + 1))

    def start(self, member: Member, members: tuple[Member, ...], setup: Setup) -> Node:
        """A worker."""
        return Hurried()


def test_invariant_that_is_violated_and_mended_in_one_step_of_the_code_is_found() -> None:
    text = (Path(__file__).parents[1] / "mutex.ha").read_text()
    system = system_of(f"{text}\ninvariant none_inside: no w: Worker where w.inside", "default")
    setting = Setting(Hurrying(), 2, 0, VOTING.options({}), {})
    (found,) = Exploring(setting, Tracker(system, ("none_inside",)), PATIENT).run().found
    assert found.violated == ("none_inside",)
    assert [one.name for step in found.steps for one in step.shown] == ["entered", "left"]


def test_mistake_that_needs_a_fault_is_not_found_without() -> None:
    assert explored({"hasty": "true"}, {}).found == []


def test_schedules_with_fewer_deviations_come_first() -> None:
    levels = [explored({}, {}, Limits(deviations=number, steps=60, seconds=600.0)) for number in range(3)]
    assert [one.complete for one in levels] == [0, 1, 2]
    assert levels[0].schedules == 1
    assert levels[0].states < levels[1].states < levels[2].states


@pytest.mark.parametrize(
    ("limits", "complete"),
    [(Limits(2, 60, schedules=5, seconds=600.0), 0), (Limits(2, 60, seconds=0.0), -1)],
)
def test_limits_are_kept_and_told(limits: Limits, complete: int) -> None:
    found = explored({}, {}, limits)
    assert found.complete == complete
    assert found.schedules <= limits.schedules


def test_interrupted_exploration_has_what_it_found_by_then() -> None:
    setting = Setting(VOTING, 3, 0, VOTING.options({}), {"crash": 1})
    asked = []

    def report(far: Explored) -> bool:
        asked.append(far.schedules)
        return False

    found = Exploring(setting, tracker(), Limits(9, 60, seconds=600.0), report).run()
    assert len(asked) == 1
    assert found.complete < 9


# ---- what a cluster is like ----


def cluster_after(*choices: tuple[str, ...]) -> Cluster:
    given = VOTING.options({})
    made = Cluster(VOTING, VOTING.members(3, 0, given), given, lambda member, record: None)
    for choice in choices:
        assert choice in made.choices({"crash": 1})
        made.do(choice)
    return made


def test_clusters_that_came_the_same_way_in_another_order_are_alike() -> None:
    one, two, three = ("start", "voter-1"), ("start", "voter-2"), ("start", "voter-3")
    assert fingerprint(cluster_after(one, two, three)) == fingerprint(cluster_after(three, one, two))
    assert fingerprint(cluster_after(one, two)) != fingerprint(cluster_after(one, three))


def test_crash_loses_or_keeps_what_was_being_written() -> None:
    start, stand = ("start", "voter-1"), ("timer", "voter-1")
    lost = cluster_after(start, stand, ("crash", "voter-1"))
    kept = cluster_after(start, stand, ("crash-written", "voter-1"))
    assert lost.processes["voter-1"].durable == {}
    assert kept.processes["voter-1"].durable == {"voted": b"voter-1"}
    assert fingerprint(lost) != fingerprint(kept)


def test_power_failure_loses_what_was_not_synced() -> None:
    made = cluster_after(("start", "voter-1"), ("timer", "voter-1"), ("disk", "voter-1"))
    process = made.processes["voter-1"]
    for token, sync in ((1, True), (2, False), (3, False)):
        process.writes.append(Write(token, (("voted", str(token).encode()), (f"key-{token}", b"")), sync))
        made.do(("disk", "voter-1"))
    assert process.durable["voted"] == b"3"
    assert ("power", "voter-1") in made.choices({"power": 1})
    assert made.about(("power", "voter-1")) == "its machine fails; what was not synced is lost"
    before = fingerprint(made)
    made.do(("power", "voter-1"))
    assert process.durable == {"voted": b"1", "key-1": b""}
    assert fingerprint(made) != before
    made.do(("start", "voter-1"))
    made.do(("power", "voter-1"))
    assert process.durable == {"voted": b"1", "key-1": b""}  # a synced write stays


def test_machine_that_failed_is_silent_until_it_is_there_again() -> None:
    made = cluster_after(*(("start", f"voter-{number}") for number in (1, 2)), ("timer", "voter-1"))
    made.do(("disk", "voter-1"))  # which asks the others
    made.do(("power", "voter-2"))
    made.do(("deliver", "voter-1", "voter-2"))
    assert ("deliver", "voter-2", "voter-1") not in made.choices({})
    made.do(("start", "voter-2"))
    assert made.about(("deliver", "voter-2", "voter-1")) == "voter-2 is unreachable"


def test_lost_lock_is_free_and_nobody_is_told() -> None:
    made = cluster_after(("start", "voter-1"))
    made.hosts["gate"] = host = cluster_module._Host(holder=("voter-1", 0))
    assert ("lose", "gate", "voter-1") in made.choices({"lock": 1})
    assert ("lose", "gate", "voter-1") not in made.choices({"crash": 1})
    made.do(("lose", "gate", "voter-1"))
    assert host.holder is None


@pytest.mark.parametrize(("options", "synced"), [({}, True), ({"unsynced": "true"}, False)])
def test_missing_sync_is_found_by_a_power_failure(options: dict[str, str], synced: bool) -> None:
    assert not explored(options, {"crash": 1}).found
    assert bool(explored(options, {"power": 1}).found) is not synced


# ---- what the code never does ----


def test_actions_that_nothing_leads_to_are_named() -> None:
    more = "environment action retire(v: Voter) when v.won do log retires() at v\n"
    specification = load(SPEC.replace("faults {", f"{more}faults {{"), "votes.ha").specification
    assert specification is not None
    system = specification.instantiate({}, "default", logs=True).system
    assert system is not None
    follows = Tracker(logged(system))
    setting = Setting(VOTING, 3, 0, VOTING.options({}), {"crash": 1})
    Exploring(setting, follows, Limits(1, 60, seconds=600.0)).run()
    found = model_coverage(follows)
    assert found.never == ["retire"]
    assert found.lacks == {"retire": ()}, "it was possible, but for its line"
    assert (found.possible["stand"], found.instances["stand"]) == (3, 3)
    assert 0 < found.states < found.transitions


def test_too_many_states_to_name_actions_are_not_looked_at() -> None:
    follows = Tracker(tracker().system, ("one_winner",))
    Exploring(Setting(VOTING, 3, 0, VOTING.options({}), {}), follows, Limits(0, 60, seconds=600.0)).run()
    assert model_coverage(follows, 0.0).never is None


def test_message_to_nobody_makes_its_sender_hear_of_it() -> None:
    stand = (("start", "voter-1"), ("timer", "voter-1"), ("disk", "voter-1"))
    made = cluster_after(*stand, ("deliver", "voter-1", "voter-2"))
    assert ("deliver", "voter-1", "voter-2") not in made.choices({})
    assert ("start", "voter-2") in made.choices({})


class Thing:
    """Something that holds others."""

    def __init__(self, *held: object) -> None:
        self.held = held


def test_values_are_alike_by_what_they_hold() -> None:
    assert frozen(Thing([1, {2}], {"a": b"b"})) == frozen(Thing([1, {2}], {"a": b"b"}))
    assert frozen(Thing([1])) != frozen(Thing([2]))
    assert frozen(Thing([1])) != frozen(Thing((1,)))
    shared: list[int] = []
    assert frozen(Thing(shared, shared)) != frozen(Thing([], []))  # a change of the one is one of the other
    circle = Thing()
    circle.held = (circle,)
    assert frozen(circle) == frozen(circle)


def test_functions_are_alike_by_what_they_remember() -> None:
    def made(number: int) -> Thing:
        return Thing(lambda: number)

    assert frozen(made(1)) == frozen(made(1))
    assert frozen(made(1)) != frozen(made(2))
