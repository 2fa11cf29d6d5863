"""Jobs in processes of their own: what they return, tell and raise comes back, and whoever dies is missed."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from hacheck.checker.engine import Progress, Report
from hacheck.cli.guard import BadInput
from hacheck.cli.jobs import job_pool
from hacheck.supervise.process_pool import Caller, Died, Done, Event, Failed, Message, ProcessPool
from hacheck.supervise.recursion_limit import pickled

PATIENCE_SECONDS = 60.0
NESTED = 3_000


def double(number: int, report: Report) -> tuple[int, int]:
    """Twice the number, and who found out."""
    return 2 * number, os.getpid()


def until_stopped(report: Report) -> str:
    """Goes on until told not to."""
    count = 0
    while report(Progress(count, 0, 0, 0, 0.0, 0)):
        count += 1
        time.sleep(0.01)
    return "stopped"


def refuse(report: Report) -> None:
    """Raises what a user can cause."""
    raise BadInput("no\nsuch thing", "another thing")


def divide(report: Report) -> float:
    """Raises what nobody should see."""
    return 1 / len(())


def give_what_cannot_be_sent(report: Report) -> Callable[[], None]:
    """Returns a function that has no name elsewhere."""
    return lambda: None


def end(code: int, report: Report) -> None:
    """Ends the process."""
    os._exit(code)


def nested(depth: int) -> list[object]:
    """Lists within lists."""
    made: list[object] = []
    for _ in range(depth):
        made = [made]
    return made


def depth_of(deep: list[object]) -> int:
    """How deep lists are nested."""
    depth = 0
    while deep:
        assert isinstance(deep[0], list)
        deep = deep[0]
        depth += 1
    return depth


def same(value: object, report: Report) -> object:
    """The same."""
    return value


def folder(report: Report) -> str:
    """Where the process works."""
    return str(Path.cwd())


def ended(processes: ProcessPool[str]) -> tuple[str, Event]:
    """How the only job under way ends."""
    assert processes.busy == 1
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        for key, event in processes.wait(1.0):
            if not isinstance(event, Message):
                return key, event
    raise AssertionError("no job has ended")


def done(processes: ProcessPool[str]) -> dict[str, tuple[int, int]]:
    """What the jobs returned that are done by now, of several at once."""
    results: dict[str, tuple[int, int]] = {}
    for key, event in processes.wait(PATIENCE_SECONDS):
        assert isinstance(event, Done), event
        results[key] = event.result
    assert results, "no job has ended"
    return results


def told(processes: ProcessPool[str]) -> Message:
    """The next word of how far a job is."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        for _, event in processes.wait(1.0):
            assert isinstance(event, Message), event
            return event
    raise AssertionError("no job has told anything")


def pid_of(processes: ProcessPool[str]) -> int:
    """The process that does the next job."""
    processes.begin("who", partial(double, 0))
    event = ended(processes)[1]
    assert isinstance(event, Done)
    pid = event.result[1]
    assert isinstance(pid, int)
    return pid


def is_alive(pid: int) -> bool:
    """Whether there is such a process that still runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def test_jobs_run_side_by_side_and_each_process_does_several() -> None:
    with job_pool(2) as processes:
        found: dict[str, tuple[int, int]] = {}
        for number in range(6):
            while processes.busy == 2:
                found.update(done(processes))
            processes.begin(str(number), partial(double, number))
        while processes.busy:
            found.update(done(processes))
    assert {key: twice for key, (twice, _) in found.items()} == {str(number): 2 * number for number in range(6)}
    assert len({pid for _, pid in found.values()}) == 2
    assert os.getpid() not in {pid for _, pid in found.values()}


def test_a_job_tells_how_far_it_is_and_stops_when_asked() -> None:
    with job_pool(1) as processes:
        processes.begin("endless", until_stopped)
        first, second = told(processes), told(processes)
        assert second.content.states > first.content.states
        processes.ask_to_stop()
        assert ended(processes) == ("endless", Done("stopped"))
        assert pid_of(processes)  # and it goes on with another


@pytest.mark.parametrize(
    ("job", "kind", "message", "hint"),
    [
        (refuse, "BadInput", "no such thing", "another thing"),
        (divide, "ZeroDivisionError", "division by zero", None),
        (give_what_cannot_be_sent, "AttributeError", "lambda", None),
    ],
)
def test_what_a_job_raises_comes_back_in_words(
    job: Callable[[Report], object], kind: str, message: str, hint: str | None
) -> None:
    with job_pool(1) as processes:
        processes.begin("bad", job)
        key, event = ended(processes)
        assert key == "bad"
        assert isinstance(event, Failed)
        assert (event.kind in (kind, "PicklingError"), message in event.message, event.hint) == (True, True, hint)
        assert "Traceback" in event.trace


def test_what_is_nested_deeply_comes_through() -> None:
    with job_pool(1) as processes:
        processes.begin("deep", partial(same, nested(NESTED)))
        event = ended(processes)[1]
        assert isinstance(event, Done)
        assert depth_of(event.result) == NESTED


def test_what_the_pickler_in_c_cannot_nest_is_pickled_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Python 3.12, whose pickler in C has a bound that no setting raises."""

    def bounded(value: object) -> bytes:
        raise RecursionError(f"maximum recursion depth exceeded while pickling {type(value)}")

    monkeypatch.setattr(pickle, "dumps", bounded)
    assert depth_of(pickle.loads(pickled(nested(NESTED)))) == NESTED


def test_processes_work_in_the_folder_of_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with job_pool(1) as processes:
        processes.begin("where", folder)
        assert ended(processes) == ("where", Done(str(tmp_path)))


def test_a_process_that_is_killed_is_missed_and_the_others_go_on() -> None:
    with job_pool(2) as processes:
        pid = pid_of(processes)
        processes.begin("endless", until_stopped)
        told(processes)
        os.kill(pid, signal.SIGKILL)
        key, event = ended(processes)
        assert key == "endless"
        assert isinstance(event, Died)
        assert event.from_outside
        assert event.how == "was ended by SIGKILL"
        assert processes.busy == 0
        assert pid_of(processes) != pid


def test_a_process_that_ends_by_itself_is_missed() -> None:
    with job_pool(1) as processes:
        processes.begin("rash", partial(end, 7))
        event = ended(processes)[1]
        assert isinstance(event, Died)
        assert not event.from_outside
        assert event.how == "ended with exit code 7"


def test_a_process_killed_while_it_has_no_job_is_replaced() -> None:
    with job_pool(1) as processes:
        pid = pid_of(processes)
        os.kill(pid, signal.SIGKILL)
        while is_alive(pid):
            time.sleep(0.01)
        assert pid_of(processes) != pid


def test_closing_ends_processes_whatever_they_do() -> None:
    with job_pool(1) as processes:
        pid = pid_of(processes)
        processes.begin("endless", until_stopped)
        told(processes)
    assert not is_alive(pid)


def test_processes_do_not_hear_control_c() -> None:
    with job_pool(1) as processes:
        pid = pid_of(processes)
        os.kill(pid, signal.SIGINT)
        assert pid_of(processes) == pid


def test_a_process_ends_when_its_caller_is_gone() -> None:
    code = (
        "from functools import partial\n"
        "from hacheck.cli.jobs import job_pool\n"
        "from tests.supervise.test_process_pool import pid_of, told, until_stopped\n"
        "processes = job_pool(1)\n"
        "print(pid_of(processes), flush=True)\n"
        "processes.begin('endless', until_stopped)\n"
        "while True: told(processes)\n"
    )
    root = Path(__file__).parent.parent.parent
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=root) as caller:
        assert caller.stdout is not None
        pid = int(caller.stdout.readline())
        time.sleep(0.2)
        assert is_alive(pid)
        caller.kill()
    until = time.monotonic() + PATIENCE_SECONDS
    while is_alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_alive(pid)


def count(_: object, caller: Caller) -> tuple[int, int]:
    """How many tasks this process has done, and which process it is."""
    COUNTED.append(0)
    return len(COUNTED), os.getpid()


COUNTED: list[int] = []


def test_a_process_that_died_with_what_its_tasks_left_is_missed_by_the_next_one() -> None:
    with ProcessPool[str](count, 1, stateful=True) as processes:
        processes.begin("first", None)
        event = ended(processes)[1]
        assert isinstance(event, Done)
        assert event.result[0] == 1
        os.kill(event.result[1], signal.SIGKILL)
        while is_alive(event.result[1]):
            time.sleep(0.01)
        processes.begin("second", None)
        assert ended(processes) == ("second", Died("SIGKILL", -9))
