"""Views of code: what the simulator and schedules did is drawn as runs of models are, and nothing of it is lost."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from hacheck.checker.pictures.glyphs import ASCII, UNICODE
from hacheck.checker.pictures.picture_lines import picture_lines
from hacheck.checker.pictures.routine_steps import routine_steps
from hacheck.checker.run_view.view_reader import ViewReader
from hacheck.documents.view import view_of
from hacheck.impl.simulator.faults import Fault, between
from hacheck.impl.simulator.history import Came, Given, History, Sent, Strike, Went
from hacheck.impl.simulator.running import Plan, run
from hacheck.impl.stepper import FAULTS as FAULT_STEPS
from hacheck.impl.stepper import Cluster
from hacheck.impl.system import Member
from hacheck.testing.code_runs import code_view as module
from hacheck.testing.code_runs.code_view import CodeRun, code_view
from hacheck.testing.code_runs.watched_schedule import schedule_entries
from tests.simulation.toys import COUNTERS, LOCK

SECOND = 1_000_000

FAULTS = (
    Fault("cut", 1 * SECOND, SECOND, links=between(("replica-0",), ("client-0",))),
    Fault("pause", 3 * SECOND, SECOND, members=("replica-1",)),
    Fault("crash", 5 * SECOND, SECOND, members=("replica-0",), target="one"),
    Fault("duplicate", 7 * SECOND, SECOND, links=(("replica-1", "client-0"),), amount=500),
    Fault("lock-lost", 8 * SECOND, hosts=(LOCK,)),
)


def members_of(plan: Plan) -> tuple[Member, ...]:
    return COUNTERS.members(plan.replicas, plan.clients, COUNTERS.options(plan.settings))


@pytest.fixture(scope="module")
def simulated() -> tuple[Plan, History]:
    history = History(standing=True)
    plan = Plan(seed=3, faults=FAULTS, replicas=2, clients=1, fault_us=9 * SECOND)
    run(COUNTERS, plan, history)
    return plan, history


@pytest.fixture(scope="module")
def view(simulated: tuple[Plan, History]) -> Any:
    plan, history = simulated
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "STEPS_MAX", 100_000)
        return json.loads(
            json.dumps(code_view(CodeRun(members_of(plan), history.entries, broken=("nothing is kept.",))))
        )


def effects(view: Any, *kinds: str) -> list[tuple[int, Any]]:
    return [
        (number, effect)
        for number, step in enumerate(view["steps"], start=1)
        for effect in step["effects"]
        if effect["t"] in kinds
    ]


def test_a_view_of_code_is_a_view(view: Any) -> None:
    assert json.loads(msgspec.json.encode(view_of(view))) == view


def test_every_message_is_an_effect(simulated: tuple[Plan, History], view: Any) -> None:
    entries = simulated[1].entries
    assert len(effects(view, "send")) == sum(isinstance(one, Sent) for one in entries)
    assert len(effects(view, "take")) == sum(
        isinstance(one, Given) and type(one.what).__name__ == "Received" for one in entries
    )
    for number, taken in effects(view, "take"):
        if "sent" in taken:
            key = (taken["name"], taken["from"], taken["to"])
            sends = [one for one in view["steps"][taken["sent"] - 1]["effects"] if one["t"] == "send"]
            assert any((one["name"], one["from"], one["to"]) == key and one["until"] == number for one in sends)


def test_a_message_that_never_arrives_is_lost_and_no_other(view: Any) -> None:
    lost = effects(view, "lost")
    assert lost, "what was on its way to the process that ended"
    ends = [send.get("until") for _, send in effects(view, "send")]
    assert sum(end is None for end in ends) <= 4, "what was sent just before the end"


def test_starts_ends_and_faults_are_steps(simulated: tuple[Plan, History], view: Any) -> None:
    entries = simulated[1].entries
    ended = sum(isinstance(one, Went) for one in entries)
    assert len(effects(view, "crash", "halt")) == ended
    assert len(effects(view, "restart")) == sum(isinstance(one, Came) and one.incarnation > 0 for one in entries)
    assert [effect["node"] for _, effect in effects(view, "pause", "resume")] == ["replica-1"] * 2
    assert [(effect["a"], effect["b"]) for _, effect in effects(view, "cut", "heal")] == [("client-0", "replica-0")] * 2
    assert sum(step["kind"] == "fault" for step in view["steps"]) == sum(
        isinstance(one, Strike) and one.begins for one in entries
    )


def test_a_holder_that_lost_its_lock_is_wrong_about_it(view: Any) -> None:
    reader = ViewReader(view)
    (lost,) = [
        (number, one) for number, one in effects(view, "lock") if one["after"] == "none" and reader.is_fault(number)
    ]
    number, effect = lost
    (belief,) = [one for one in view["beliefs"] if one["wrong"] == number]
    assert (belief["holder"], belief["about"]) == (effect["before"], LOCK)
    assert f"{LOCK} is lost, {effect['before']} is not notified" in " ".join(one["text"] for one in view["story"])


def test_who_serves_is_its_mode(view: Any) -> None:
    reader = ViewReader(view)
    modes = {reader.mode(state, "replica-0") for state in range(reader.last + 1)}
    assert modes == {"serving", "other"}
    assert reader.mode(0, "replica-0") == "other"
    assert not reader.is_up(0, "replica-0")


def test_answers_to_clients_are_promises(simulated: tuple[Plan, History], view: Any) -> None:
    told = sum(type(one).__name__ == "Recorded" and one.record.event == "told" for one in simulated[1].entries)  # type: ignore[union-attr]
    assert told
    assert len(effects(view, "acknowledged")) == told
    assert {effect["what"] for _, effect in effects(view, "acknowledged")} == {"answered"}


@pytest.mark.parametrize("width", [80, 200])
def test_the_picture_folds_routine_and_fits(view: Any, width: int) -> None:
    reader = ViewReader(view)
    routine = routine_steps(reader)
    assert len(routine) > reader.last / 2
    assert not any(reader.steps[step - 1]["kind"] in ("fault", "repair") for step in routine)
    assert not any(change.mode or change.role == "lock" for step in routine for change in reader.changes(step))
    for glyphs in (ASCII, UNICODE):
        lines = [line.plain for line in picture_lines(reader, width, glyphs)]
        assert max(map(len, lines)) <= width
        assert len(lines) < reader.last
    assert not any("nothing is kept" in line for line in lines), "the report says it below the picture"


def test_of_a_long_run_the_end_is_shown(simulated: tuple[Plan, History], monkeypatch: pytest.MonkeyPatch) -> None:
    plan, history = simulated
    monkeypatch.setattr(module, "STEPS_MAX", 100_000)
    whole = code_view(CodeRun(members_of(plan), history.entries))
    monkeypatch.setattr(module, "STEPS_MAX", 100)
    made = json.loads(json.dumps(code_view(CodeRun(members_of(plan), history.entries))))
    view_of(made)
    assert len(made["steps"]) == 100
    left_out = len(whole["steps"]) - 100
    assert made["story"][0]["text"] == f"The first {left_out:,} inputs of the run are left out."
    end, other_end = ViewReader(whole), ViewReader(made)
    slots = [(slot["owner"], slot["name"]) for slot in made["slots"]]
    assert [end.value(end.last, *slot) for slot in slots] == [other_end.value(100, *slot) for slot in slots]
    for number, taken in effects(made, "take"):
        assert 1 <= taken.get("sent", number) <= number


def test_a_schedule_is_done_again_with_all_that_happens(view: Any) -> None:
    members = COUNTERS.members(2, 1, COUNTERS.options({}))
    cluster = Cluster(COUNTERS, members, COUNTERS.options({}), lambda member, record: None)
    choices = []
    for number in range(60):
        kind = {20: "crash", 30: "lose", 40: "cut"}.get(number)
        offered = cluster.choices({"crash": 1, "lock": 1, "cut": 1})
        choice = next((one for one in offered if one[0] == kind), offered[0])
        cluster.do(choice)
        choices.append(choice)
    entries, failed = schedule_entries(COUNTERS, members, COUNTERS.options({}), choices)
    assert not failed
    made = json.loads(json.dumps(code_view(CodeRun(members, entries))))
    view_of(made)
    delivered = sum(choice[0] == "deliver" for choice in choices)
    assert 0 < len(effects(made, "take")) <= delivered
    assert len(effects(made, "crash")) == 1
    faults = sum(choice[0] in FAULT_STEPS for choice in choices)
    assert sum(step["kind"] == "fault" for step in made["steps"]) == faults >= 2
    assert any(effect["after"] == "none" for _, effect in effects(made, "lock"))
    reader = ViewReader(made)
    for name, process in cluster.processes.items():
        assert reader.is_up(reader.last, name) == (process.node is not None)
