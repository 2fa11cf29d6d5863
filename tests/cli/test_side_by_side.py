"""Checks side by side: the same answers however many run at once, an end within a second, nobody left behind."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hacheck import shipped
from hacheck.checker.engine import Limits, Progress
from hacheck.checker.verify import Question, questions_of
from hacheck.cli.checking import explored_checks, side_by_side
from hacheck.cli.checking.request import Request
from hacheck.cli.checking.side_by_side import (
    SideBySide,
    SpecResult,
    jobs_default,
    shared_limits,
    shared_threads,
)
from hacheck.cli.engines import Exploring
from hacheck.cli.guard import BadInput, ExitCode, Reported
from hacheck.cli.progress import Silent
from hacheck.cli.selection import Selection
from hacheck.cli.sources import load_specification
from hacheck.supervise.interruption import Interruption
from hacheck.supervise.process_pool import JobFailed
from hacheck.supervise.resources import memory_default
from tests.cli.command import hacheck
from tests.cli.test_verify_all import FALSE, FINE, ship, untimed

SPECS = Path(__file__).parent.parent / "golden" / "specs"
PATIENCE_SECONDS = 60.0
SLOW = (
    'system Slow "x"\nnode A[6] ranked { n: 0..60 = 0 }\n'
    "action go(a: A) when a.n < 60 do a.n := a.n + 1\ninvariant fine: every a: A satisfies a.n <= 60\n"
    "check first expect all hold\ncheck second expect all hold\ncheck third expect all hold\n"
)
COUNTS = (
    'system Counts "x"\nparam limit = 2 in 1..5\nnode A[2] { n: 0..5 = 0 }\n'
    "action go(a: A) when a.n < limit do a.n := a.n + 1\n"
    "invariant fine: every a: A satisfies a.n <= limit\ninvariant small: every a: A satisfies a.n < 2\n"
    "check first expect all hold\ncheck second with limit = 3 expect small violated\n"
    "check third with limit = 1 expect all hold\ncheck fourth with limit = 4 expect all hold\n"
)
COMMAND = (
    "import sys; from pathlib import Path; from hacheck import shipped; from hacheck.cli.main import main\n"
    "folder = Path(sys.argv.pop())\nshipped.directory = lambda: folder\nmain()"
)


class Told(Silent):
    """Remembers what was begun and what has ended."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.running: set[str] = set()
        self.most = 0

    def update(self, title: str, progress: Progress) -> None:
        """Something goes on, or begins."""
        if title not in self.running:
            self.begun.append(title)
        self.running.add(title)
        self.most = max(self.most, len(self.running))

    def end(self, title: str) -> None:
        """Something has ended."""
        self.running.remove(title)


def found(folder: Path, jobs: int, display: Told, request: Request | None = None) -> list[SpecResult]:
    """What becomes of the specs in a folder."""
    paths = sorted(folder.glob("*.ha"))
    return list(SideBySide(request or Request(""), paths, jobs, display, Interruption()).results())


def test_answers_do_not_depend_on_how_many_run_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ship(tmp_path, broken="system X {", fine=FINE, wrong=FALSE)
    for spec in SPECS.glob("*.ha"):
        (tmp_path / spec.name).write_text(spec.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(shipped, "directory", lambda: tmp_path)
    numbers = ("1", "2", "5")
    ended = [hacheck("verify", "--all", "--json", str(tmp_path / jobs), "--jobs", jobs) for jobs in numbers]
    assert {one.code for one in ended} == {ExitCode.BAD_INPUT}
    contents = [json.loads((tmp_path / jobs).read_text(encoding="utf-8")) for jobs in numbers]
    assert all(content["not_run"] == [] for content in contents)
    told = [[(spec["spec"], spec["exit_code"], untimed(spec)) for spec in content["specs"]] for content in contents]
    assert len(told[0]) > 3
    assert told[0] == told[1] == told[2]
    tables = [re.sub(r" +[0-9.]+ s\b", "", one.out) for one in ended]
    assert "broken" in tables[0]
    assert tables[0] == tables[1] == tables[2]


def test_checks_of_one_spec_and_of_several_run_at_once_in_their_order(tmp_path: Path) -> None:
    ship(tmp_path, a=FALSE, b=FINE, c=FALSE)
    alone, together = Told(), Told()
    results = found(tmp_path, 1, alone), found(tmp_path, 3, together)
    assert (alone.most, together.most) == (1, 3)
    checks = [title for title in alone.begun if "check" in title]
    assert checks == [
        "a: check default (1 of 2)",
        "a: check loose (2 of 2)",
        "b: check default (1 of 1)",
        "c: check default (1 of 2)",
        "c: check loose (2 of 2)",
    ]
    assert sorted(together.begun) == sorted(alone.begun)
    for one in results:
        assert [spec.name for spec in one] == ["a", "b", "c"]
        assert [[result.check.name for result in spec.results] for spec in one] == [
            ["default", "loose"],
            ["default"],
            ["default", "loose"],
        ]


def test_every_engine_runs_checks_side_by_side(tmp_path: Path) -> None:
    ship(tmp_path, a=FALSE)
    for engine in ("native", "python"):
        (result,) = found(tmp_path, 2, Told(), Request("", exploring=Exploring(engine=engine)))
        assert [one.outcome for one in result.results] == ["unexpected", "expected"]
        assert {one.answer.engine for one in result.results} == {engine}
    (result,) = found(tmp_path, 2, Told(), Request("", exploring=Exploring(engine="simulation"), states_max=100))
    assert len(result.results) == 2


def test_the_cores_are_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "usable_cores", lambda: 8)
    assert [shared_threads(Exploring(), jobs).threads for jobs in (1, 3, 8, 20)] == [8, 2, 1, 1]
    assert shared_threads(Exploring(threads=5), 8).threads == 5
    assert shared_threads(Exploring(engine="python"), 8).threads is None


def test_the_memory_is_shared_out() -> None:
    assert shared_limits(Limits(memory_bytes_max=None), 1) == Limits(memory_bytes_max=None)
    default = memory_default()
    assert default is not None
    assert shared_limits(Limits(7, 8.0, default, 9), 4) == Limits(7, 8.0, default // 4, 9)
    assert shared_limits(Limits(memory_bytes_max=1_000), 4) == Limits(memory_bytes_max=1_000)


@pytest.mark.parametrize(("cores", "memory", "jobs"), [(4, None, 4), (4, 2**40, 4), (4, 2**30, 2), (4, 2**20, 1)])
def test_as_many_run_as_there_are_cores_and_memory_for(
    monkeypatch: pytest.MonkeyPatch, cores: int, memory: int | None, jobs: int
) -> None:
    monkeypatch.setattr(side_by_side, "usable_cores", lambda: cores)
    monkeypatch.setattr(side_by_side, "memory_default", lambda: memory)
    assert jobs_default() == jobs


def test_a_check_that_its_share_of_the_memory_does_not_suffice_for_is_run_again_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ship(tmp_path, a=FALSE, b=FINE)
    monkeypatch.setattr(side_by_side, "memory_default", lambda: 2**20)  # of which no share holds even Python
    display = Told()
    results = found(tmp_path, 2, display, Request("", memory_max=2**32))
    assert [result.outcome for spec in results for result in spec.results] == ["unexpected", "expected", "expected"]
    found_all = [one.answer.coverage for spec in results for one in spec.results]
    assert all(one.complete or one.ended_early for one in found_all)
    assert sorted(display.begun) == sorted(
        ["a", "b"] + 2 * ["a: check default (1 of 2)", "a: check loose (2 of 2)", "b: check default (1 of 1)"]
    )
    # What does not suffice for it alone either is told, and not tried a third time.
    display = Told()
    results = found(tmp_path, 2, display, Request("", memory_max=2**21))
    assert {result.answer.coverage.stopped for spec in results for result in spec.results} == {"2 MiB of memory used"}
    assert len(display.begun) == 2 + 6


def test_an_error_in_a_check_names_the_check(tmp_path: Path) -> None:
    ship(tmp_path, one=FINE)
    with pytest.raises(BadInput, match="nonesuch"):
        found(tmp_path, 2, Told(), Request("", exploring=Exploring(engine="nonesuch")))
    impossible = Request("", states_max="many")  # type: ignore[arg-type]  # stands for a mistake of ours
    with pytest.raises(JobFailed, match=r"one: check default \(1 of 1\): TypeError") as caught:
        found(tmp_path, 2, Told(), impossible)
    assert any("Traceback" in note for note in caught.value.__notes__)


def test_jobs_that_cannot_be_are_refused(tmp_path: Path) -> None:
    ended = hacheck("verify", "icestorm", "--jobs", "2", "--checkpoint", str(tmp_path / "kept"))
    assert ended.code == ExitCode.BAD_INPUT
    assert "one check after the other" in ended.err
    assert hacheck("verify", "--all", "--jobs", "0").code == ExitCode.BAD_INPUT


@pytest.mark.parametrize("options", [(), ("--set", "limit=3", "--details"), ("--property", "small")])
def test_the_checks_of_one_spec_answer_the_same_side_by_side(tmp_path: Path, options: tuple[str, ...]) -> None:
    spec = tmp_path / "counts.ha"
    spec.write_text(COUNTS, encoding="utf-8")
    ended = {}
    for jobs in ("1", "3"):
        kept = tmp_path / jobs
        ended[jobs] = hacheck("verify", str(spec), "--jobs", jobs, "--json", str(kept), *options), kept
    alone, together = ended["1"], ended["3"]
    assert alone[0].code == together[0].code == ExitCode.NOT_AS_EXPECTED
    contents = [untimed(json.loads(kept.read_text(encoding="utf-8"))) for _, kept in ended.values()]
    assert contents[0] == contents[1]
    assert len(json.loads(alone[1].read_text(encoding="utf-8"))["checks"]) == 4
    words = [re.sub(r" +[0-9.]+ s\b|/[13]\b", "", one.out) for one, _ in ended.values()]
    assert words[0] == words[1]


def test_processes_are_begun_where_the_first_checks_took_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tmp_path / "counts.ha"
    spec.write_text(COUNTS, encoding="utf-8")
    begun: list[int] = []
    several = explored_checks.explored_side_by_side

    def noted(request: Request, selection: Selection, questions: Sequence[Question], *rest: Any) -> Iterator[Any]:
        begun.append(len(questions))
        return several(request, selection, questions, *rest)

    monkeypatch.setattr(explored_checks, "explored_side_by_side", noted)
    monkeypatch.setattr(side_by_side, "usable_cores", lambda: 2)
    assert hacheck("verify", str(spec)).code == ExitCode.NOT_AS_EXPECTED
    assert begun == []
    monkeypatch.setattr(explored_checks, "ALONE_SECONDS", 0.0)
    assert hacheck("verify", str(spec)).code == ExitCode.NOT_AS_EXPECTED
    assert begun == [4]


def test_a_spec_that_is_wrong_under_the_settings_of_a_check_ends_them_all(tmp_path: Path) -> None:
    spec = tmp_path / "wrong.ha"
    spec.write_text(COUNTS, encoding="utf-8")
    specification = load_specification(str(spec))
    request = Request(str(spec), settings={"limit": "7"})  # beyond the bound of the setting
    chosen = questions_of(specification)
    several = SideBySide.of_one(request, specification, chosen, 2, Told(), Interruption(), lambda one, progress: None)
    with pytest.raises(Reported):
        list(several.checks())


# ---- the whole command, in a process and on a terminal of its own ----


@dataclass
class Terminal:
    """A command that runs on a terminal of its own, and what it has written to it."""

    process: subprocess.Popen[bytes]
    screen: int
    text: str = ""

    def read_until(self, wanted: str) -> None:
        """Reads until this was written."""
        until = time.monotonic() + PATIENCE_SECONDS
        while wanted not in self.text:
            assert time.monotonic() < until, f"{wanted!r} is not in {self.text!r}"
            assert self._read(), f"{wanted!r} is not in {self.text!r}"

    def ended(self) -> int:
        """Reads to the end; how the command ended."""
        while self._read():
            pass
        return self.process.wait(PATIENCE_SECONDS)

    def _read(self) -> bool:
        try:
            content = os.read(self.screen, 65536)
        except OSError:  # nobody has the terminal any more
            return False
        self.text += content.decode(errors="replace")
        return bool(content)

    def others(self) -> dict[int, str]:
        """The other processes of the session, and what they run."""
        found = {}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit() and int(folder.name) != self.process.pid:
                try:
                    fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                    words = (folder / "cmdline").read_bytes().decode().replace("\0", " ")
                except OSError:
                    continue
                if int(fields[3]) == self.process.pid and fields[0] != "Z":
                    found[int(folder.name)] = words
        return found

    def nobody_is_left(self) -> bool:
        """Whether all other processes of the session end."""
        until = time.monotonic() + PATIENCE_SECONDS
        while self.others() and time.monotonic() < until:
            time.sleep(0.02)
        return not self.others()


@contextmanager
def terminal(*words: str) -> Iterator[Terminal]:
    """The command on a terminal of which it is the foreground: what is typed there reaches all its processes."""
    screen, other_end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"}
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words],
        stdin=other_end,
        stdout=other_end,
        stderr=other_end,
        env=environment,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(other_end)
    try:
        yield Terminal(process, screen)
    finally:
        process.kill()
        process.wait()
        os.close(screen)


def test_control_c_on_a_terminal_ends_all_within_a_second_and_tells_what_was_found(tmp_path: Path) -> None:
    ship(tmp_path, a_fine=FINE, b_slow=SLOW, c_later=FINE)
    with terminal("verify", "--all", "--jobs", "2", "--memory", "1GiB", str(tmp_path)) as running:
        running.read_until("b_slow: check first (1 of 3)")
        running.read_until("b_slow: check second (2 of 3)")
        running.read_until("waiting")
        begin = time.monotonic()
        os.write(running.screen, b"\x03")
        code = running.ended()
        seconds = time.monotonic() - begin
        assert running.nobody_is_left()
    assert code == ExitCode.UNDECIDED
    assert seconds < 3.0  # 0.3 s on a machine with nothing else to do
    assert "Traceback" not in running.text
    last = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", running.text).splitlines()
    assert any("a_fine" in line and "as expected" in line for line in last)
    assert any("b_slow" in line and "2 undecided, 1 not run" in line for line in last)
    # Whichever spec is read first begins: where that of the slow one is read late, the last has been run by then.
    was_run = any("c_later" in line and "as expected" in line for line in last[:-1])
    assert last[-1].endswith("not run: 1 check" if was_run else "not run: 1 check, c_later")


def test_control_c_as_soon_as_anything_runs_leaves_nobody_behind(tmp_path: Path) -> None:
    ship(tmp_path, b_slow=SLOW)
    with terminal("verify", "--all", "--jobs", "2", str(tmp_path)) as running:
        until = time.monotonic() + PATIENCE_SECONDS
        while not running.others() and time.monotonic() < until:  # while they start
            time.sleep(0.005)
        os.write(running.screen, b"\x03")
        assert running.ended() == ExitCode.UNDECIDED
        assert running.nobody_is_left()
    assert "Traceback" not in running.text


def test_a_process_that_is_killed_ends_the_command_with_the_name_of_its_check(tmp_path: Path) -> None:
    ship(tmp_path, b_slow=SLOW)
    with terminal("verify", "--all", "--jobs", "2", "--memory", "1GiB", str(tmp_path)) as running:
        running.read_until("b_slow: check second (2 of 3)")
        running.read_until("waiting")
        workers = [pid for pid, words in running.others().items() if "spawn_main" in words]
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        assert running.ended() == ExitCode.UNDECIDED
        assert running.nobody_is_left()
    said = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", running.text)
    assert re.search(r"error: b_slow: check (first|second) \(. of 3\): its process was ended by SIGKILL", said)
    assert "Traceback" not in said


def test_rows_and_lines_of_progress_share_a_terminal(tmp_path: Path) -> None:
    ship(tmp_path, a_fine=FINE, b_wrong=FALSE)
    with terminal("verify", "--all", "--jobs", "2", str(tmp_path)) as running:
        assert running.ended() == ExitCode.NOT_AS_EXPECTED
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", running.text)
    assert re.search(r"[\r\n]\S  a_fine +1 .* as expected\r\n", plain)
    assert re.search(r"[\r\n]\S  b_wrong +2 .* 1 not as expected\r\n", plain)
