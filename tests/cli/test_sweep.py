"""`hacheck sweep`: the same verdicts as `verify` one by one, kept, gone on from, drawn; and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from hacheck.api.specification import loads
from hacheck.api.verification import verify
from hacheck.checker.engine import Limits, Progress
from hacheck.checker.sweep.sweep_plan import Axis, Task, smaller_tasks, tasks_of
from hacheck.checker.sweep.sweep_task import Found, TaskResult
from hacheck.cli.progress import Silent
from hacheck.cli.sweeping.sweep import axes_of
from hacheck.cli.sweeping.task_queue import HowToRun, TaskQueue
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.process_pool import Died, Done, Event, Failed
from tests.cli.command import Ended, hacheck

SPEC = """system Store "servers with copies of a number; one without a disk forgets it in a crash"
param servers = 2 in 2..3
param crashes = 1 in 0..3
switch disks = off
node Server[servers] { durable (if disks) stored: bool = false }
shared acknowledged: bool = false
action put(s: Server) when not s.stored do s.stored := true
environment action acknowledge() when (every o: Server satisfies o.stored) and not acknowledged do acknowledged := true
faults { crash Server up to crashes }
invariant kept: acknowledged implies some s: Server where s.stored
reachable done: acknowledged
check default
check disks "nothing is forgotten" with disks = on
"""
VARIED = ("--vary", "crashes=0..3", "--vary", "servers=2,3")


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A spec in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "store.ha").write_text(SPEC, encoding="utf-8")
    return "store.ha"


def swept(*words: str) -> tuple[Ended, Any]:
    """How a sweep ended, and its document."""
    Path("found.json").unlink(missing_ok=True)
    ended = hacheck("sweep", "store.ha", *words, "--jobs", "1", "--json", "found.json")
    return ended, json.loads(Path("found.json").read_text(encoding="utf-8"))


def verdicts(document: Any) -> dict[tuple[str, str, str, str], tuple[str, int | None, str | None]]:
    """Verdict, length and origin of each property, by check, crashes, servers and name."""
    return {
        (task["check"], task["settings"]["crashes"], task["settings"]["servers"], one["name"]): (
            one["verdict"],
            one["steps"],
            one["follows_from"],
        )
        for task in document["tasks"]
        for one in task["properties"]
    }


def test_every_task_says_what_verify_says(spec: str) -> None:
    ended, document = swept(*VARIED, "--out", "all", "--explore-all")
    found = verdicts(document)
    assert ended.code == 0
    assert len(document["tasks"]) == 16
    loaded = loads(SPEC)
    for (check, crashes, servers, name), (verdict, steps, follows_from) in found.items():
        settings = {"crashes": int(crashes), "servers": int(servers)}
        alone = verify(loaded, check=check, settings=settings, threads=1).verdict(name, check)
        run = alone.counterexample or alone.witness
        assert (alone.verdict, None if run is None else len(run.steps)) == (verdict, steps)
        assert follows_from is None


def test_what_follows_from_fewer_faults_is_the_same_verdict_with_a_length_that_is_not_too_small(spec: str) -> None:
    exact = verdicts(swept(*VARIED, "--out", "all", "--explore-all")[1])
    _, document = swept(*VARIED, "--out", "some")
    found = verdicts(document)
    assert {key: value[0] for key, value in found.items()} == {key: value[0] for key, value in exact.items()}
    following = {key: value for key, value in found.items() if value[2] is not None}
    assert following["default", "3", "2", "kept"] == (
        "violated",
        exact["default", "2", "2", "kept"][1],
        "crashes = 2, servers = 2",
    )
    assert following["disks", "2", "3", "done"][2] == "crashes = 1, servers = 3"
    assert all(value[1] >= (exact[key][1] or 0) for key, value in following.items() if value[1] is not None)
    assert not any(crashes in "01" for _, crashes, _, _ in following)  # without crashes the spec is another one
    shown = {
        task["settings"]["crashes"] for task in document["tasks"] if task["check"] == "default" and not task["states"]
    }
    assert shown == {"3"}  # nothing was left to explore


def test_the_picture_shows_where_a_property_holds_and_by_which_length(spec: str) -> None:
    ended = hacheck("sweep", spec, *VARIED, "--out", "made", "--jobs", "1", TERM="xterm", PYTHONIOENCODING="utf-8")
    lines = [line.split() for line in ended.out.splitlines()]
    at = lines.index(["check", "default:", "kept", "across:", "servers"])
    assert lines[at + 1 : at + 6] == [
        ["crashes", "2", "3"],
        ["0", "✔", "✔"],
        ["1", "✔", "✔"],
        ["2", "✘", "5", "✔"],
        ["3", "✘", "≤5", "✘", "7"],
    ]
    assert "check disks, in every task: kept, done hold" in ended.out
    assert "hacheck verify store.ha --check default --set crashes=2 --set servers=2 --property kept --runs" in ended.out
    picture = Path("made/sweep.svg").read_text(encoding="utf-8")
    assert "✘ ≤5" in picture
    page = Path("made/sweep.html").read_text(encoding="utf-8")
    assert page.count("<tr><td>default</td>") == 16
    assert "<script" not in page


def test_the_table_has_a_row_for_each_property_of_each_task(spec: str) -> None:
    swept(*VARIED, "--vary", "disks=on,off", "--check", "default", "--out", "made")
    table = pq.read_table("made/sweep.parquet")
    assert table.column_names[:6] == ["task", "check", "crashes", "servers", "disks", "property"]
    rows = table.to_pylist()
    assert len(rows) == 32
    broken = {(row["crashes"], row["servers"], row["disks"]) for row in rows if row["verdict"] == "violated"}
    assert broken == {(2, 2, "off"), (3, 2, "off"), (3, 3, "off")}
    assert {row["reason"] for row in rows} == {None}


def test_it_goes_on_where_it_was_and_takes_more_values(spec: str) -> None:
    swept("--vary", "crashes=0,1", "--vary", "servers=2,3", "--out", "made")
    begun = Path("made/tasks.jsonl").read_text(encoding="utf-8").splitlines()
    Path("made/tasks.jsonl").write_text("\n".join([*begun[:-1], begun[-1][:40]]), encoding="utf-8")  # cut off
    ended, document = swept(*VARIED, "--out", "made")
    assert "16 of 16 tasks done (7 by an earlier run)" in ended.out
    assert verdicts(document) == verdicts(swept(*VARIED, "--out", "other")[1])
    assert "16 of 16 tasks done (16 by an earlier run)" in swept(*VARIED, "--out", "made")[0].out


def test_another_text_of_the_spec_counts_nothing_of_what_is_kept(spec: str) -> None:
    swept(*VARIED, "--out", "made")
    Path(spec).write_text(SPEC.replace("check disks", "# a comment\ncheck disks"), encoding="utf-8")
    assert "(16 by an earlier run)" in swept(*VARIED, "--out", "made")[0].out
    Path(spec).write_text(SPEC.replace("some s: Server where", "every s: Server satisfies"), encoding="utf-8")
    ended, _ = swept(*VARIED, "--out", "made")
    assert "16 of 16 tasks done: " in ended.out
    Path(spec).write_text(SPEC.replace("system Store", "system Shop"), encoding="utf-8")
    ended = hacheck("sweep", spec, *VARIED, "--out", "made")
    assert (ended.code, ended.err.splitlines()[0]) == (2, "error: made holds a sweep of Store")


def test_a_task_without_a_verdict_is_named_and_tried_again_with_another_limit(spec: str) -> None:
    ended, document = swept("--vary", "crashes=2", "--check", "disks", "--states", "5", "--out", "made")
    assert ended.code == 3
    assert document["exit_code"] == 3
    assert "no verdict: disks with crashes = 2, kept: 5 states reached" in ended.out
    assert pq.read_table("made/sweep.parquet").to_pylist()[0]["reason"] == "5 states reached"
    again = swept("--vary", "crashes=2", "--check", "disks", "--states", "5", "--out", "made")[0]
    assert "(1 by an earlier run)" in again.out
    assert swept("--vary", "crashes=2", "--check", "disks", "--out", "made")[0].code == 0


def test_a_combination_that_the_spec_refuses_is_a_row_with_the_reason(spec: str) -> None:
    Path(spec).write_text(SPEC + "type Half = 0..servers - crashes - 1\nshared half: Half = 0\n", encoding="utf-8")
    ended, document = swept("--vary", "crashes=1,3", "--check", "default", "--out", "made")
    assert ended.code == 3
    assert [bool(task["error"]) for task in document["tasks"]] == [False, True]
    assert document["tasks"][1]["error"].startswith("not possible: ")


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        ((), "which settings are to be varied?", "for example --vary servers="),
        (("--vary", "crashs=1"), "unknown setting `crashs`", "did you mean crashes?"),
        (("--vary", "crashes=1,x"), "--vary crashes=x: `crashes` is a whole number, not 'x'", ""),
        (("--vary", "crashes=2..4"), "--vary crashes=4: `crashes` must be in 0..3, not 4", ""),
        (("--vary", "crashes=1,,2"), "--vary crashes=1,,2: expected NAME=VALUE,VALUE", "for example --vary"),
        (("--vary", "crashes"), "--vary crashes: expected NAME=VALUE,VALUE", "for example --vary"),
        (("--vary", "crashes=1", "--vary", "crashes=2"), "`crashes` is varied already", "all of its values"),
        (("--vary", "crashes=1", "--set", "crashes=2"), "`crashes` is varied, and set as well", "leave one"),
        (("--vary", "crashes=1", "--set", "disks=perhaps"), "--set disks=perhaps: `disks` is on or off", ""),
        (("--vary", "crashes=1", "--check", "nix"), "unknown check `nix`", "there are: default, disks"),
        (("--vary", "crashes=1", "--property", "nix"), "unknown property `nix`", "there are: kept, done"),
        (("--vary", "crashes=1", "--engine", "native"), "unknown engine `native`", "there are: local, spark"),
        (("--vary", "crashes=1", "--master", "yarn"), "--master needs Spark", "add --engine spark"),
        (("--vary", "crashes=1", "--conf", "a=b"), "--conf needs Spark", "add --engine spark"),
    ],
)
def test_what_cannot_be_swept_is_refused_before_anything_is_written(
    spec: str, words: tuple[str, ...], message: str, hint: str
) -> None:
    ended = hacheck("sweep", spec, *words, "--out", "made", columns=200)
    assert ended.code == 2
    assert message in ended.err
    assert hint in ended.err
    assert not Path("made").exists()


def test_a_place_for_the_results_is_needed(spec: str) -> None:
    ended = hacheck("sweep", spec, "--vary", "crashes=1")
    assert (ended.code, ended.err.splitlines()[0]) == (2, "error: where are the results to be kept?")


def test_values_are_lists_and_ranges_each_once() -> None:
    found = axes_of(("crashes=0..2,2,1", "servers=3"), loads(SPEC).specification)
    assert found == (Axis("crashes", ("0", "1", "2")), Axis("servers", ("3",)))


def test_a_task_waits_for_those_with_fewer_faults_and_otherwise_the_same_settings() -> None:
    tasks = tasks_of(["a", "b"], [Axis("crashes", ("0", "1")), Axis("cuts", ("1", "0")), Axis("n", ("1", "2"))], (), ())
    waits = smaller_tasks(tasks, ["crashes", "cuts"])
    named = {tasks[number].title: {tasks[other].title for other in found} for number, found in enumerate(waits)}
    assert named["b with crashes = 1, cuts = 0, n = 2"] == {"b with crashes = 0, cuts = 0, n = 2"}
    assert len(named["a with crashes = 1, cuts = 1, n = 1"]) == 3
    assert named["a with crashes = 0, cuts = 0, n = 1"] == set()


# ---- who runs them ----

HOLDS = Found("kept", "invariant", "holds", "every reachable state")
OPEN = Found("kept", "invariant", "unknown", "the memory limit of 1 MiB was reached")
DECIDED, SHORT = TaskResult((HOLDS,)), TaskResult((OPEN,), stopped="the memory limit of 1 MiB was reached")
KILLED = Died("SIGKILL", -9)


class Scripted:
    """Workers of which each task ends as it is written down; `begun`: what was begun, with threads and shares."""

    def __init__(self, endings: dict[int, list[Event]]) -> None:
        self.endings = endings
        self.begun: list[tuple[int, int, int]] = []
        self.running: list[int] = []
        self.size = 2
        self.stopped = False

    @property
    def busy(self) -> int:
        return len(self.running)

    def begin(self, key: int, task: Any) -> None:
        assert self.busy < self.size
        self.begun.append((key, task.args[3], task.args[5]))
        self.running.append(key)

    def wait(self, seconds: float) -> list[tuple[int, Event]]:
        if not self.running:
            return []
        key = self.running.pop(0)
        return [(key, self.endings[key].pop(0))]

    def ask_to_stop(self) -> None:
        self.stopped = True


def queue(
    workers: Scripted, count: int, keep: Callable[[int, TaskResult], None] = lambda number, result: None, **more: Any
) -> TaskQueue:
    """Tasks that wait for nothing."""
    tasks = [Task("default", (("n", str(number)),)) for number in range(count)]
    how = HowToRun(2, Limits(), 2, infers=True, can_run_alone=more.pop("alone", True))
    interruption = more.pop("interruption", Interruption())
    return TaskQueue(b"", tasks, [()] * count, how, workers, Silent(), interruption, keep)


def test_a_task_that_was_killed_is_run_again_alone_when_the_others_are_done() -> None:
    workers = Scripted({0: [KILLED, Done(DECIDED)], 1: [Done(DECIDED)], 2: [Done(DECIDED)]})
    kept: list[int] = []
    found = queue(workers, 3, lambda number, result: kept.append(number)).run({})
    assert found == {0: DECIDED, 1: DECIDED, 2: DECIDED}
    assert workers.begun == [(0, 2, 2), (1, 2, 2), (2, 2, 2), (0, 4, 1)]
    assert kept == [1, 2, 0]


@pytest.mark.parametrize("ending", [KILLED, Failed("MemoryError", "", None, "")])
def test_a_task_that_is_killed_again_has_no_verdict_and_the_others_have(ending: Event) -> None:
    workers = Scripted({0: [ending, ending], 1: [Done(DECIDED)]})
    found = queue(workers, 2).run({})
    assert found[1] == DECIDED
    assert not found[0].is_decided
    assert found[0].error.startswith("its process ")


def test_a_task_whose_share_of_the_memory_does_not_suffice_gets_all_of_it() -> None:
    workers = Scripted({0: [Done(SHORT), Done(DECIDED)], 1: [Done(SHORT), Done(SHORT)]})
    assert queue(workers, 2).run({}) == {0: DECIDED, 1: SHORT}
    assert workers.begun[2:] == [(0, 4, 1), (1, 4, 1)]
    assert queue(Scripted({0: [Done(SHORT)]}), 1, alone=False).run({}) == {0: SHORT}


def test_what_is_done_already_is_not_begun() -> None:
    workers = Scripted({1: [Done(DECIDED)]})
    assert queue(workers, 2).run({0: SHORT}) == {0: SHORT, 1: DECIDED}


def test_ctrl_c_begins_nothing_more_and_keeps_no_half_result() -> None:
    interruption = Interruption()
    half = TaskResult((OPEN,), stopped="interrupted")
    workers = Scripted({0: [Done(DECIDED)], 1: [Done(half)], 2: []})

    def keep(number: int, result: TaskResult) -> None:
        interruption.requested = True

    assert queue(workers, 3, keep, interruption=interruption).run({}) == {0: DECIDED}
    assert workers.stopped
    assert [key for key, *_ in workers.begun] == [0, 1]


def test_ctrl_c_ends_it_with_what_was_found_and_the_next_run_goes_on(tmp_path: Path) -> None:
    slow = (
        'system Slow "x"\nparam kinds = 1 in 1..9\nparam limit = 3 in 1..60\nnode A[6] ranked { n: 0..60 = 0 }\n'
        "shared kind: 1..9 = 1\naction go(a: A) when a.n < limit do a.n := a.n + 1\n"
        "invariant fine: every a: A satisfies a.n <= limit and kind <= kinds\ncheck default\n"
    )
    (tmp_path / "slow.ha").write_text(slow, encoding="utf-8")
    command = [sys.executable, "-m", "hacheck", "sweep", "slow.ha", "--vary", "limit=2,60", "--vary", "kinds=1,2"]
    command += ["--out", "made", "--jobs", "1", "--quiet"]
    path = os.pathsep.join(filter(None, (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    kept = tmp_path / "made" / "tasks.jsonl"
    while not kept.exists() or kept.read_text(encoding="utf-8").count("\n") < 2:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate()
    assert process.returncode == 3
    assert "2 of 4 tasks done" in out
    assert "the same command again does the tasks that are left" in out
    assert pq.read_table(tmp_path / "made" / "sweep.parquet").num_rows == 4
    ended = subprocess.run([*command, "--states", "1k"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ended.returncode == 3
    assert "4 of 4 tasks done (2 by an earlier run)" in ended.stdout


def test_progress_of_a_task_is_shown_under_its_title() -> None:
    shown: list[tuple[str, str]] = []

    class Display(Silent):
        def update(self, title: str, progress: Progress) -> None:
            shown.append((title, progress.phase))

    tasks = [Task("default", (("n", "1"),))]
    how = HowToRun(1, Limits(), 1, infers=True, can_run_alone=True)
    made = TaskQueue(
        b"", tasks, [()], how, Scripted({0: [Done(DECIDED)]}), Display(), Interruption(), lambda number, result: None
    )
    made.run({})
    assert ("default with n = 1", "preparing") in shown
    assert ("sweep", "0 of 1 tasks") in shown
