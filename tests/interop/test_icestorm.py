"""Stories, changed logs and processes are what they claim; and, where asked for, a fresh cluster of real replicas."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hacheck.replay.icestorm.cluster import Cluster, Timers, missing
from hacheck.replay.processes import ProcessGroup, free_base, is_free
from tests.interop.damage import KINDS, STATE, damaged
from tests.interop.icestorm import main, seeds
from tests.interop.icestorm_schedule import FAULTS, schedule
from tests.interop.log_verdicts import conform
from tests.nightly import nightly
from tests.traces.adapters.logs import read_logs

RECORDINGS = Path(__file__).parents[1] / "data" / "icestorm"
TAUGHT = Path(__file__).parent / "recordings"
AS_RELEASED = ("--adapter", "icestorm", "--check", "as_released")
SLEEPS = (sys.executable, "-c", "import time; time.sleep(60)")


def test_seed_tells_the_story() -> None:
    assert schedule(7, 3) == schedule(7, 3)
    stories = [schedule(seed, replicas) for seed in range(1, 41) for replicas in (3, 5)]
    assert len({(story.timers, story.steps, story.order) for story in stories}) == len(stories)
    assert {step.what for story in stories for step in story.steps} == {*FAULTS, "burst"}
    assert any(step.number >= 250 for story in stories for step in story.steps)
    assert any(step.back >= 18 for story in stories for step in story.steps if step.what.startswith("pause"))
    assert {story.messages for story in stories} == {False, True}
    assert all(sorted(story.order) == list(range(1, story.replicas + 1)) for story in stories)


def test_seeds_are_read() -> None:
    assert (list(seeds("2-4")), list(seeds("7")), list(seeds("none"))) == ([2, 3, 4], [7], [])


@pytest.mark.parametrize("kind", KINDS)
def test_changed_log_differs_in_what_was_changed_alone(kind: str, tmp_path: Path) -> None:
    source = RECORDINGS / "c-kill-coordinator"
    change = damaged(source, tmp_path / "changed", kind)
    assert change is not None
    for log in source.glob("replica-*.log"):
        before, after = log.read_text().splitlines(), (tmp_path / "changed" / log.name).read_text().splitlines()
        if log.stem != change.replica:
            assert before == after
            continue
        if kind == "removed":
            gone = next(place for place, line in enumerate(before) if [line] != after[place : place + 1])
            assert STATE.search(before[gone])
            assert before[:gone] + before[gone + 1 :] == after
            assert STATE.search(after[change.line - 1])
            continue
        changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
        assert len(changed) == (2 if kind == "swapped" else 1)
        assert sorted(STATE.findall("".join(before))) == sorted(STATE.findall("".join(after)))
        assert [line[:24] for line in before] == [line[:24] for line in after]


def test_log_without_such_a_line_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "replica-1.log").write_text("nothing\n")
    assert all(damaged(tmp_path / "logs", tmp_path / kind, kind) is None for kind in KINDS)


@pytest.mark.parametrize(
    ("recording", "file", "lines"),
    [("two-failed-updates", "replica-2.log", (48, 54)), ("ended-while-requests-wait", "replica-1.log", (75, 80))],
)
def test_recording_shows_what_it_is_kept_for(recording: str, file: str, lines: tuple[int, ...]) -> None:
    folder = TAUGHT / recording
    text = (folder / file).read_text().splitlines()
    assert all("dispatch exception" in text[line - 1] and "::Ice::UnknownException" in text[line - 1] for line in lines)
    rows, tally, findings = read_logs(folder, "icestorm")
    assert findings.total == 0
    assert tally.lines == tally.accounted
    assert {row["line"] for row in rows if row["file"] == file} >= set(lines)


def test_slaves_make_changes_in_another_order_than_their_stamps() -> None:
    rows, _, findings = read_logs(TAUGHT / "changes-in-parallel", "icestorm")
    assert findings.total == 0
    made = [row for row in rows if row["file"] == "replica-1.log" and row["line"] in (49, 50, 51)]
    assert [row["event"] for row in made] == ["topic_destroyed"] * 3
    assert [row["fields"]["iteration"] for row in made] == [3, 2, 4]


def test_no_process_is_left_behind(tmp_path: Path) -> None:
    group = ProcessGroup()
    for member in (1, 2, 3):
        group.start(member, SLEEPS, tmp_path, tmp_path / "log", {})
    group.pause(2)
    processes = list(group.running.values())
    assert all(process.poll() is None for process in processes)
    with pytest.raises(ZeroDivisionError), group:
        raise ZeroDivisionError
    assert [process.poll() for process in processes] == [-9, -9, -9]
    assert not group.running


def test_paused_process_is_stopped(tmp_path: Path) -> None:
    with ProcessGroup() as processes:
        processes.start(1, SLEEPS, tmp_path, tmp_path / "log", {})
        processes.pause(1)
        assert processes.alive(1)
        assert processes.stop(1)
        assert not processes.alive(1)


def test_ports_are_given_once() -> None:
    taken: set[int] = set()
    with ThreadPoolExecutor(8) as pool:
        bases = list(pool.map(lambda _: free_base(5, taken), range(40)))
    assert len({port for base in bases for port in range(base, base + 5)}) == len(taken) == 200


def test_port_that_somebody_listens_at_is_not_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not is_free(server.getsockname()[1])


def test_replicas_are_configured_for_one_another(tmp_path: Path) -> None:
    with ProcessGroup() as processes:
        cluster = Cluster(tmp_path / "cluster", 3, Timers(2, 3, 4, 2000), True, processes)
        cluster.configure()
        text = (cluster.working / "icestorm-2.cfg").read_text()
        assert f"IceStorm.Nodes.3=DemoIceStorm/node3:tcp -h 127.0.0.1 -p {cluster.base + 23} -t 2000\n" in text
        assert "IceStorm.Election.MasterTimeout=3\n" in text
        assert "Ice.Trace.Protocol=1\n" in text
        assert cluster.coordinator() is None
        assert cluster.ask(1, "create", "A") == "ConnectionRefusedError"
        cluster.tidy()
        assert sorted(path.name for path in cluster.folder.iterdir()) == ["client.jsonl", "timeline.txt"]


def test_without_icestorm_it_is_skipped_loudly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("skipped: icebox is not installed")


@pytest.mark.skipif(missing() is not None, reason=missing() or "")
@pytest.mark.skipif("HACHECK_INTEROP" not in os.environ, reason="starts real clusters: set HACHECK_INTEROP=1")
def test_fresh_cluster_conforms_and_changed_logs_do_not(tmp_path: Path) -> None:
    began = time.monotonic()
    assert main(["--of-three", "2", "--of-five", "none", "--keep", str(tmp_path / "logs")]) == 0
    assert time.monotonic() - began < 600


@nightly
def test_changed_log_is_found_by_the_command(tmp_path: Path) -> None:
    assert damaged(RECORDINGS / "a-cold-start-3", tmp_path / "changed", "generation") is not None
    found = conform("icestorm", tmp_path / "changed", AS_RELEASED, 300.0)
    assert (found.kind, found.place) == ("deviates", "replica-3.log:23"), found.said


@pytest.mark.parametrize(
    "recording",
    [
        pytest.param("two-failed-updates", marks=nightly),
        pytest.param("merge-waits-for-two-changes", marks=nightly),
        pytest.param("ended-while-requests-wait", marks=nightly),
        pytest.param("killed-while-writing", marks=nightly),
        pytest.param("changes-in-parallel", marks=nightly),
    ],
)
def test_recording_that_taught_something_conforms(recording: str) -> None:
    found = conform("icestorm", TAUGHT / recording, AS_RELEASED, 900.0)
    assert found.kind == "conforms", f"{found.place}: {found.said}"


@nightly
def test_stamp_that_no_change_under_way_explains_is_found(tmp_path: Path) -> None:
    logs = tmp_path / "changed"
    shutil.copytree(TAUGHT / "merge-waits-for-two-changes", logs)
    text = (logs / "replica-1.log").read_text()
    assert text.count("llu: 2/6\n") == 1
    (logs / "replica-1.log").write_text(text.replace("llu: 2/6\n", "llu: 2/9\n"))
    found = conform("icestorm", logs, AS_RELEASED, 300.0)
    assert (found.kind, found.place) == ("deviates", "replica-1.log:44"), found.said


def test_verdict_that_takes_too_long_is_late() -> None:
    found = conform("icestorm", RECORDINGS / "a-cold-start-3", ["--adapter", "icestorm"], 0.2)
    assert found.kind == "late"
