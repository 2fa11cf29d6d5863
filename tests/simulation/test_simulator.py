"""One seed is one run; a protocol that breaks what it promised is found out, and its run made small and told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from hacheck.impl.node import Fired
from hacheck.impl.simulator.faults import Fault
from hacheck.impl.simulator.history import Given, History
from hacheck.impl.simulator.run_reduction import among, failure, reduced
from hacheck.impl.simulator.run_story import LAST, LINES_MAX, story
from hacheck.impl.simulator.running import Outcome, Plan, run
from hacheck.impl.simulator.saved_run import SavedRun, from_json, to_json
from hacheck.impl.simulator.world import Surroundings
from hacheck.impl.system import Refused
from tests.simulation.toys import COUNTERS

US = 1_000_000
ROOT = Path(__file__).parents[2]


def test_run_without_faults_keeps_every_promise() -> None:
    outcome = run(COUNTERS, Plan(seed=1, fault_us=5 * US))
    assert outcome.kept
    assert outcome.faults == ()
    assert outcome.end_us == 20 * US
    assert outcome.delivered > 1000


@pytest.mark.parametrize("profile", ["crashes", "chaos", "everything"])
def test_run_and_its_faults_spelled_out_are_the_same_run(profile: str) -> None:
    for seed in range(4):
        drawn, spelled_out = History(), History()
        outcome = run(COUNTERS, Plan(seed=seed, faults=profile, fault_us=10 * US), drawn)
        again = run(COUNTERS, outcome.again(), spelled_out)
        assert drawn.digest() == spelled_out.digest()
        assert msgspec.structs.replace(again, plan=outcome.plan) == outcome


def test_seeds_are_different_runs() -> None:
    def digest(seed: int) -> str:
        history = History()
        run(COUNTERS, Plan(seed=seed, fault_us=US), history)
        return history.digest()

    assert len({digest(seed) for seed in range(4)}) == 4


def test_run_does_not_depend_on_how_python_orders_sets() -> None:
    program = """if True:
        from hacheck.impl.simulator.history import History
        from hacheck.impl.simulator.running import Plan, run
        from tests.simulation.toys import COUNTERS
        history = History()
        run(COUNTERS, Plan(seed=5, faults="everything", fault_us=20_000_000), history)
        print(history.digest())"""
    found = set()
    for seed in ("0", "1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        found.add(done.stdout)
    assert len(found) == 1


def broken_run() -> Outcome:
    for seed in range(20):
        outcome = run(COUNTERS, Plan(seed=seed, faults="chaos", settings={"eager": "yes"}, fault_us=20 * US))
        if failure(outcome) == "broken: nothing is lost":
            return outcome
    pytest.fail("never found out")


def test_acknowledgement_before_the_write_is_safe_is_found_out_made_small_and_told() -> None:
    outcome = broken_run()
    small = reduced(COUNTERS, outcome)
    assert failure(small.outcome) == failure(outcome)
    assert len(small.outcome.faults) <= 1
    assert small.outcome.plan.fault_us < outcome.plan.fault_us
    assert run(COUNTERS, small.outcome.again()) == msgspec.structs.replace(small.outcome, plan=small.outcome.again())
    history = History()
    run(COUNTERS, small.outcome.again(), history)
    told = story(history.entries, small.outcome.broken[0].at_us)
    assert len(told) <= LINES_MAX + 30
    assert told[-1].text.startswith("told number=")
    assert [line.at_us for line in told] == sorted(line.at_us for line in told)


@pytest.mark.parametrize(("number", "told"), [(1, "1 other input"), (2, "2 other inputs")])
def test_what_a_story_leaves_out_is_counted(number: int, told: str) -> None:
    fired = [Given(at_us, "a", Fired("beat")) for at_us in range(LAST + number)]
    assert [line.text for line in story(fired, LAST + number) if line.mark == "gap"] == [told]


def test_fault_of_a_smaller_cluster_hits_nothing_that_it_has_not() -> None:
    there = frozenset(("server-1", "store-1"))
    one = Fault("disk-full", US, US, hosts=("store-1",), target="storage")
    assert among(one, there) == one
    assert among(msgspec.structs.replace(one, hosts=("store-2",)), there) is None
    stale = Fault("lock-stale", US, US, ("server-1", "server-2"), hosts=("store-1",))
    assert among(stale, there) == msgspec.structs.replace(stale, members=("server-1",))
    assert among(msgspec.structs.replace(stale, members=("server-2",)), there) is None


def test_reduction_ends_when_it_is_told_to() -> None:
    assert reduced(COUNTERS, broken_run(), go_on=lambda attempts: attempts < 3).attempts <= 3


def test_reduction_leaves_out_members_that_are_not_needed() -> None:
    plan = Plan(seed=1, settings={"raises": "3"}, replicas=5, clients=4, fault_us=5 * US)
    small = reduced(COUNTERS, run(COUNTERS, plan)).outcome
    assert (small.plan.replicas, small.plan.clients) == (1, 1)


def test_handler_that_raises_is_a_defect_with_its_place() -> None:
    outcome = run(COUNTERS, Plan(seed=1, settings={"raises": "3"}, fault_us=5 * US))
    assert outcome.defect is not None
    assert outcome.defect.what == "ValueError: so many"
    assert outcome.defect.place.startswith("ValueError at toys.py:")
    assert "Add(number=3)" in outcome.defect.given
    assert "in add" in outcome.defect.trace
    assert not outcome.kept


def test_run_with_too_many_events_is_given_up() -> None:
    outcome = run(COUNTERS, Plan(seed=1, fault_us=US, around=Surroundings(events_max=500)))
    assert outcome.exhausted
    assert outcome.events == 500
    assert not outcome.kept


def test_story_tells_what_never_arrives() -> None:
    history = History()
    run(
        COUNTERS,
        Plan(seed=1, faults=(Fault("crash", 400_000, US, ("replica-0", "replica-1", "replica-2")),), fault_us=2 * US),
        history,
    )
    told = story(history.entries, 600_000)
    assert any(line.mark == "lost" and line.text.endswith("never arrives") for line in told)
    assert [line.text for line in told if line.mark == "fault"] == ["crash replica-0, replica-1, replica-2 for 1.000 s"]
    assert [line.text for line in told if line.mark == "end"] == ["ends: crash"] * 3


# ---- as files ----


def test_run_is_read_back_as_it_was_written() -> None:
    plan = run(COUNTERS, Plan(seed=2, faults="everything", settings={"eager": "yes"}, fault_us=5 * US)).again()
    saved = SavedRun("counters", plan, "nothing is lost")
    assert from_json(to_json(saved)) == saved


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'"hacheck.sim": 1', b'"hacheck.sim": 2', "no run of version 1"),
        (b'"kind": "crash"', b'"kind": "crush"', "no fault is called `crush`"),
        (b'"at_us": 5', b'"at_us": -5', "times begin with 0"),
        (b'"seed"', b'"sead"', "no run of version 1"),
    ],
)
def test_file_that_is_no_run_is_refused(old: bytes, new: bytes, said: str) -> None:
    text = to_json(SavedRun("counters", Plan(seed=1, faults=(Fault("crash", 5, 7, ("replica-0",)),))))
    assert old in text
    with pytest.raises(Refused, match=said):
        from_json(text.replace(old, new))
