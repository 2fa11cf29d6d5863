"""A system in any language: a process that is asked and answers, or does something else."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hacheck.testing import Disagreement, Event, ProcessAdapter, ProcessFailure, do, replay
from hacheck.testing.hypothesis_machine import run_state_machine
from hacheck.testing.process_adapter import _TALKS
from hacheck.testing.run_options import OPTIONS, Options
from tests.testing.services import FEW
from tests.testing.specs import COUNTER

EXAMPLES = Path(__file__).parents[2] / "examples"

COUNTING = """
    import json, os, sys, time
    number, events = 0, []
    def answer(done=True, **more):
        global events
        print(json.dumps({"done": done, "events": events, **more}), flush=True)
        events = []
    def show(event, node="Server-1"):
        events.append({"node": node, "event": event, "fields": {"n": number}})
    for line in sys.stdin:
        request = json.loads(line)
        what = request.get("do")
        print("asked", line.strip(), file=sys.stderr, flush=True)
        if "hacheck" in request:
            print('{"hacheck": 1}', flush=True)
            with open("pids", "a") as pids:
                print(os.getpid(), file=pids)
            continue
        # HERE
        if what == "start":
            number = 0
        elif what == "count" and number == 2:
            answer(False)
            continue
        elif what == "count":
            number += 1
            show("counted")
            if number == 2:
                show("even")
        answer()
"""
"""A server that counts to two, in Python."""

Make = Callable[..., type[ProcessAdapter]]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes adapters of a server with a few lines changed."""
    token = OPTIONS.set(Options(runs=tmp_path / "runs"))
    made: list[type[ProcessAdapter]] = []
    (tmp_path / "counter.ha").write_text(COUNTER)

    def making(here: str = "", **more: Any) -> type[ProcessAdapter]:
        code = textwrap.dedent(COUNTING).replace("    # HERE\n", textwrap.indent(textwrap.dedent(here), "    "))
        (tmp_path / "server.py").write_text(code)
        (tmp_path / "pids").unlink(missing_ok=True)
        body = {
            "__module__": "nowhere", "spec": tmp_path / "counter.ha", "waits": (0.01,), "drives": ("count",),
            "command": [sys.executable, str(tmp_path / "server.py")], "environment": {"PYTHONUNBUFFERED": "1"},
        }  # fmt: skip
        made.append(type("Server", (ProcessAdapter,), {**body, **more}))
        return made[-1]

    before = Path.cwd()
    os.chdir(tmp_path)
    yield making
    os.chdir(before)
    OPTIONS.reset(token)
    for one in made:
        one.finish()
    assert not set(_TALKS) & set(made)


def pids() -> list[int]:
    """The processes that were started."""
    return [int(line) for line in Path("pids").read_text().split()]


def is_there(pid: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def failure(made: type[ProcessAdapter], *steps: Any) -> str:
    """How a process fails that should count once; it is gone then."""
    started = time.monotonic()
    with pytest.raises(ProcessFailure) as found:
        replay(made, [do("count", s="Server-1"), *steps])
    assert time.monotonic() - started < 8
    if Path("pids").exists():
        assert not any(map(is_there, pids()))
    return str(found.value)


# ---- what works ----


def test_one_process_serves_all_runs(make: Make) -> None:
    run_state_machine(make(), FEW)
    (pid,) = pids()
    assert not is_there(pid), "it is ended with the test"


def test_a_process_that_can_do_one_run_is_started_anew(make: Make) -> None:
    made = make(once=True)
    replay(made, [do("count", s="Server-1")])
    adapter = made()
    for _ in range(2):
        adapter.start()
        adapter.stop()
    assert len(set(pids())) == 3


def test_a_process_that_ends_after_a_run_is_started_anew(make: Make) -> None:
    adapter = make("if what == 'stop':\n    answer()\n    sys.exit(0)\n")()
    for _ in range(2):
        adapter.start()
        adapter.stop()
        while is_there(pids()[-1]) and _TALKS[type(adapter)].alive:
            time.sleep(0.01)
    assert len(pids()) == 2


def test_what_a_process_shows_is_compared(make: Make) -> None:
    made = make("if what == 'count' and number == 1:\n    show('counted')\n")
    with pytest.raises(Disagreement) as found:
        run_state_machine(made, FEW)
    assert [step.method for step in found.value.steps] == ["count", "count"]
    assert not is_there(pids()[-1])


def test_requests_are_as_they_are_described(make: Make) -> None:
    made = make("open('asked', 'a').write(line)\n")
    replay(made, [do("wait", seconds=0.5), do("count", s="Server-1")])
    asked = [json.loads(line) for line in Path("asked").read_text().splitlines()]
    assert asked == [
        {"do": "start"},
        {"do": "wait", "seconds": 0.5},
        {"do": "count", "arguments": {"s": "Server-1"}},
        {"do": "stop"},
    ]


def test_what_may_be_left_out_may_be_left_out(make: Make) -> None:
    made = make(
        "if what == 'start':\n    print('{\"done\": true}', flush=True)\n    continue\n"
        "if what == 'wait':\n    events.append({'event': 'waited'})\n"
    )
    adapter = made()
    adapter.start()
    assert list(adapter.events()) == []
    adapter.wait(0.0)
    assert list(adapter.events()) == [Event("-", "waited", {})]
    adapter.stop()


def test_what_a_process_started_is_ended_too(make: Make) -> None:
    adapter = make(
        "if what == 'start':\n    import subprocess\n"
        "    child = subprocess.Popen(['sleep', '60'])\n"
        "    print(child.pid, file=open('child', 'w'), flush=True)\n"
    )()
    adapter.start()
    child = int(Path("child").read_text())
    assert is_there(child)
    adapter.finish()
    until = time.monotonic() + 5
    while time.monotonic() < until and is_there(child) and "Z" not in state_of(child):
        time.sleep(0.01)
    assert not is_there(child) or "Z" in state_of(child)


def state_of(pid: int) -> str:
    """What the system says of a process: `Z` of one that has ended and was not yet looked at."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_waiting_may_take_as_long_as_is_waited(make: Make) -> None:
    made = make("if what == 'wait':\n    time.sleep(0.4)\n", answer_seconds=0.3)
    replay(made, [do("wait", seconds=0.4)])
    assert "no answer after 0.3 s" in failure(made, do("wait", seconds=0.0))


# ---- what goes wrong ----


def test_a_process_that_hangs_is_told(make: Make) -> None:
    text = failure(make("if what == 'count':\n    time.sleep(60)\n", answer_seconds=0.3))
    first, asked, *said = text.splitlines()
    assert first.endswith("server.py: no answer after 0.3 s")
    assert asked == 'request: {"do": "count", "arguments": {"s": "Server-1"}}'
    assert said[0] == "its standard error:"
    assert said[-1] == '  asked {"do": "count", "arguments": {"s": "Server-1"}}'


def test_an_answer_that_comes_late_is_no_answer(make: Make) -> None:
    assert "no answer after 0.2 s" in failure(make("if what == 'count':\n    time.sleep(0.5)\n", answer_seconds=0.2))


def test_a_process_that_ends_is_told_with_its_exit_code_and_its_last_words(make: Make) -> None:
    words = "for n in range(50): print('word', n, file=sys.stderr)"
    text = failure(make(f"if what == 'count':\n    {words}\n    sys.exit(3)\n"))
    assert "server.py: it ended with exit code 3\n" in text
    assert text.endswith("  word 48\n  word 49")
    assert text.count("word") == 20


def test_a_process_that_is_killed_is_told_with_the_signal(make: Make) -> None:
    assert "it was ended by SIGKILL" in failure(make("if what == 'count':\n    os.kill(os.getpid(), 9)\n"))


def test_an_exception_of_the_process_is_shown(make: Make) -> None:
    text = failure(make("if what == 'count':\n    raise ValueError('no lease')\n"))
    assert "it ended with exit code 1" in text
    assert text.endswith("ValueError: no lease")


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("hello", "its answer is not JSON: hello"),
        ("", "its answer is not JSON: "),
        ("[1]", "its answer has no `done` that is true or false"),
        ('{"done": 1}', "its answer has no `done` that is true or false"),
        ('{"done": true, "event": []}', "its answer has event; an answer has `done` and `events`"),
        ('{"done": true, "events": {}}', "`events` of its answer is not a list"),
        ('{"done": true, "events": [7]}', "an event is an object, not 7"),
        ('{"done": true, "events": [{"event": "x", "name": "y"}]}', "an event has name; it has `node`, `event`"),
        ('{"done": true, "events": [{"node": "a"}]}', "an event has no name under `event`"),
        ('{"done": true, "events": [{"event": "x", "node": 1}]}', "`node` of `x` is not a name"),
        ('{"done": true, "events": [{"event": "x", "fields": []}]}', "`fields` of `x` is not an object"),
        ("x" * 500, f"its answer is not JSON: {'x' * 200}…"),
    ],
)
def test_an_answer_that_is_none_is_told(make: Make, said: str, text: str) -> None:
    made = make(f"if what == 'count':\n    print({said!r}, flush=True)\n    continue\n")
    assert f"server.py: {text}" in failure(made)


def test_an_endless_answer_is_told(make: Make) -> None:
    made = make("if what == 'count':\n    print('x' * (1 << 21), flush=True)\n    continue\n")
    assert "an answer of more than 1,048,576 bytes" in failure(made)


def test_two_answers_are_one_too_many(make: Make) -> None:
    twice = "if what == 'count':\n    os.write(1, b'{\"done\": true}\\n' * 2)\n    number += 1\n    show('counted')\n"
    assert "an answer too many: {" in failure(make(twice), do("wait", seconds=0.01))


def test_a_process_that_closes_its_output_is_told(make: Make) -> None:
    made = make("if what == 'count':\n    os.close(1)\n    time.sleep(60)\n")
    assert "it closed its standard output, and runs on" in failure(made)


def test_a_process_that_reads_no_more_is_told(make: Make) -> None:
    made = make("if what == 'count':\n    answer()\n    os.close(0)\n    time.sleep(60)\n", answer_seconds=0.3)
    assert "no answer after" in failure(made, do("wait", seconds=0.0))


def test_a_process_that_cannot_be_started_is_told(make: Make) -> None:
    text = failure(make(command=["no-such-program", "a b"]))
    assert text.startswith("no-such-program 'a b': cannot be started in ")
    assert text.endswith(": No such file or directory")
    assert "Server.command is the program and its arguments: a list of words" in failure(make(command="server"))
    assert "Server.command is the program and its arguments" in failure(make(command=()))


def test_a_process_that_speaks_otherwise_is_told(make: Make) -> None:
    text = failure(make(command=[sys.executable, "-c", "print('{\"hacheck\": 2}'); input()"]))
    assert 'it does not answer with {"hacheck": 1}' in text
    assert "its answer is not JSON: Welcome!" in failure(make(command=["echo", "Welcome!"]))
    assert "it ended with exit code 0" in failure(make(command=["true"]))


def test_only_an_action_may_be_refused(make: Make) -> None:
    made = make("if what == 'wait':\n    answer(False)\n    continue\n")
    text = failure(made, do("wait", seconds=0.0))
    assert "it says that this was not done, which it may say of actions only" in text


def test_a_process_that_fails_in_one_run_is_started_anew_for_the_next(make: Make) -> None:
    adapter = make("if what == 'count' and not os.path.exists('failed'):\n    open('failed', 'w')\n    sys.exit(1)\n")()
    adapter.start()
    with pytest.raises(ProcessFailure):
        adapter.act("count", {"s": "Server-1"})
    adapter.stop()
    adapter.start()
    assert adapter.act("count", {"s": "Server-1"}) is True
    adapter.stop()


# ---- the example ----


@pytest.mark.parametrize("careless", [False, True])
def test_the_example_in_another_language_does_what_it_should(tmp_path: Path, careless: bool) -> None:
    words = ["careless"] if careless else []
    body = {
        "__module__": "nowhere",
        "spec": EXAMPLES / "lease" / "lease.ha",
        "command": ["perl", str(EXAMPLES / "any_language" / "server.pl"), *words],
        "drives": ("pause", "resume"),
        "waits": (0.5, 3.0, 12.0),
    }
    made = type("Server", (ProcessAdapter,), body)
    steps = [do("wait", seconds=12.0), do("wait", seconds=0.5), do("pause", n="Worker-2"), do("wait", seconds=12.0)]
    steps += [do("resume", n="Worker-2"), do("wait", seconds=0.5)]
    if not careless:
        replay(made, steps)
        return
    with pytest.raises(Disagreement) as found:
        replay(made, steps)
    assert found.value.broken is not None
    assert found.value.broken.event == Event("Store-1", "written", {"number": 2})
