"""Recordings of a real cluster into which a loss of data was forged: each is refused, at a line that shows it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hacheck.traces.adapters.adapter_files import load
from hacheck.traces.adapters.logs import open_logs
from hacheck.traces.data.contradictions import CHANGES, GONE, GROUP, KEPT, LINES, READS, Contradiction
from hacheck.traces.data.data_comparison import compared_data
from hacheck.traces.findings import Findings

DATA = Path(__file__).parents[2] / "data" / "icestorm"
RECORDINGS = Path(__file__).parents[2] / "interop" / "recordings"
KILLED = DATA / "c-kill-coordinator"
B_PUSHED = " topic: DemoIceStorm/topic.B subscribers: "
SKEW_NS = 10_000_000


def contradictions(place: Path) -> list[Contradiction]:
    """What the data of a recording contradict."""
    adapter, findings = load("icestorm"), Findings()
    assert adapter.data is not None
    found = compared_data(open_logs(place, adapter), adapter.data, SKEW_NS, findings)
    assert not findings.total
    return [one for held in found.values() for one in held]


def changed(folder: Path, file: str, old: str, new: str) -> None:
    """Replaces the first occurrence of a text in one file of a recording."""
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def copied(recording: Path, folder: Path, *, clients: bool) -> Path:
    """A copy of a recording to be changed, with or without what clients recorded."""
    made = folder / recording.name
    shutil.copytree(recording, made)
    if not clients:
        (made / "client.jsonl").unlink()
    return made


@pytest.mark.parametrize("recording", [*DATA.glob("*-*"), *RECORDINGS.glob("*-*")], ids=lambda path: path.name)
def test_no_recording_of_a_real_cluster_contradicts_itself(recording: Path) -> None:
    assert contradictions(recording) == []


def pushed_without(folder: Path) -> None:
    """A topic is missing from the database that the coordinator pushed."""
    for slave in (1, 2):
        changed(folder, f"replica-{slave}.log", B_PUSHED, "")


def taken_without(folder: Path) -> None:
    """A topic is missing from it at one slave."""
    changed(folder, "replica-1.log", B_PUSHED, "")


def made_under_another_name(folder: Path) -> None:
    """A slave made another topic than its coordinator."""
    changed(folder, "replica-1.log", 'creating new topic "B"', 'creating new topic "X"')


def made_twice(folder: Path) -> None:
    """A coordinator makes a topic that it has."""
    changed(folder, "replica-3.log", 'creating new topic "C"', 'creating new topic "A"')


def another_disk(folder: Path) -> None:
    """A replica comes back with a disk that holds another topic."""
    changed(folder, "replica-3.log", 'loading topic "A"', 'loading topic "Z"')


def an_empty_disk(folder: Path) -> None:
    """A replica comes back with an empty disk."""
    path = folder / "replica-3.log"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "loading topic" not in line), encoding="utf-8")


FORGED: list[tuple[Callable[[Path], None], str, str]] = [
    (pushed_without, GROUP, "replica-1.log:33"),
    (taken_without, GROUP, "replica-1.log:33"),
    (made_under_another_name, LINES, "replica-1.log:32"),
    (made_twice, LINES, "replica-3.log:52"),
    (another_disk, LINES, "replica-3.log:26"),
    (an_empty_disk, LINES, "replica-3.log:26"),
]


@pytest.mark.parametrize("clients", [True, False], ids=["clients", "logs alone"])
@pytest.mark.parametrize(("forge", "name", "where"), FORGED, ids=lambda held: getattr(held, "__name__", None))
def test_forged_loss_is_refused(
    tmp_path: Path, forge: Callable[[Path], None], name: str, where: str, clients: bool
) -> None:
    folder = copied(KILLED, tmp_path, clients=clients)
    forge(folder)
    found = contradictions(folder)
    assert where in [f"{one.start.file}:{one.start.line}" for one in found if one.name == name]
    assert LINES in {one.name for one in found}


def test_disk_that_got_a_topic_after_its_process_had_ended_is_refused(tmp_path: Path) -> None:
    """B was asked for 13 ms after replica 3 had been killed, which only the time line shows."""
    folder = copied(KILLED, tmp_path, clients=True)
    loaded = next(
        line
        for line in (folder / "replica-3.log").read_text(encoding="utf-8").splitlines(keepends=True)
        if "loading topic" in line
    )
    changed(folder, "replica-3.log", loaded, loaded + loaded.replace('"A"', '"B"').replace("topic.A", "topic.B"))
    wrong = next(one for one in contradictions(folder) if one.start.event == "started")
    assert "topic `B` too many" in wrong.text


def test_read_that_lacks_what_its_replica_had_is_refused(tmp_path: Path) -> None:
    folder = copied(KILLED, tmp_path, clients=True)
    changed(folder, "client.jsonl", '"result": ["A", "B"]', '"result": ["A"]')
    (wrong,) = contradictions(folder)
    assert (wrong.name, wrong.start.file, wrong.start.line) == (READS, "client.jsonl", 4)


def test_acknowledged_topic_that_no_later_group_has_is_lost(tmp_path: Path) -> None:
    """A client was answered `ok` for a topic that nobody ever has."""
    folder = copied(KILLED, tmp_path, clients=True)
    line = '{"op_id": 90, "replica": 1, "op": "create", "arg": "lost", "t_call": 9.1, "t_return": 9.2, "outcome": "ok"}'
    with (folder / "client.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    (wrong,) = contradictions(folder)
    assert wrong.name == KEPT
    assert (wrong.start.event, wrong.start.file) == ("commenced", "replica-2.log")
    assert wrong.since is not None
    assert (wrong.since.file, wrong.since.line) == ("client.jsonl", 10)


@pytest.mark.parametrize("outcome", ["InvocationTimeoutException", "UnknownException"])
def test_topic_whose_outcome_its_client_does_not_know_may_be_gone(tmp_path: Path, outcome: str) -> None:
    folder = copied(KILLED, tmp_path, clients=True)
    call = {"op": "create", "arg": "lost", "replica": 1, "t_call": 9.1, "t_return": 9.2, "outcome": outcome}
    with (folder / "client.jsonl").open("a", encoding="utf-8") as file:
        file.write(str(call).replace("'", '"') + "\n")
    assert contradictions(folder) == []


def test_topic_that_a_client_removed_and_a_later_group_has_came_back(tmp_path: Path) -> None:
    folder = copied(KILLED, tmp_path, clients=True)
    line = '{"op_id": 90, "replica": 1, "op": "destroy", "arg": "A", "t_call": 9.1, "t_return": 9.2, "outcome": "ok"}'
    with (folder / "client.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    assert {one.name for one in contradictions(folder)} == {GONE}


def test_member_that_makes_a_change_without_the_one_before_it_is_refused(tmp_path: Path) -> None:
    """The line of one change is taken out at one of five replicas; the next changes of its group show it."""
    folder = copied(RECORDINGS / "changes-in-parallel", tmp_path, clients=False)
    path = folder / "replica-1.log"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    gone = next(line for line in lines if 'creating new topic "u1"' in line)
    path.write_text("".join(line for line in lines if line is not gone), encoding="utf-8")
    found = contradictions(folder)
    wrong = next(one for one in found if one.name == CHANGES)
    assert wrong.node == "1"
    assert "`u1`" in wrong.text


def test_acknowledged_topic_that_no_node_made_is_lost(tmp_path: Path) -> None:
    """No group begins after it, so no later group shows the loss."""
    made = copied(DATA / "a-cold-start-3", tmp_path, clients=True)
    changed(made, "client.jsonl", '"arg": "A"', '"arg": "NEVER"')
    (found,) = [one for one in contradictions(made) if one.name == KEPT]
    assert found.text == "topic `NEVER` was acknowledged, and no node made it"
    assert found.start.file.endswith("client.jsonl")
