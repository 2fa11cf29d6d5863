"""`hacheck simulate-impl`: what it takes, what it says, what it leaves behind, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

from hacheck.impl.simulator.running import Plan
from hacheck.impl.simulator.saved_run import SavedRun, to_json
from hacheck.traces.dataset import open_traces
from hacheck.traces.findings import Findings
from hacheck.traces.record_checks import checked_batches
from tests.cli.command import Ended, hacheck

TOY = "tests.simulation.toys:COUNTERS"
ROOT = Path(__file__).parents[2]


def sim(*arguments: str) -> Ended:
    return hacheck("simulate-impl", TOY, "--seconds", "5", "--jobs", "1", *arguments, columns=120)


def test_runs_that_keep_every_promise_are_counted_and_so_are_their_faults() -> None:
    ended = sim("--seeds", "3", "--faults", "crashes")
    assert ended.code == 0
    assert "3 of 3 runs kept every promise; faults: crashes" in ended.out
    assert "faults with an effect" in ended.out
    assert "    crash  " in ended.out


def test_broken_promise_is_told_small_and_can_be_had_again(tmp_path: Path) -> None:
    ended = sim("--seeds", "4", "--faults", "chaos", "--set", "eager=yes", "--out", str(tmp_path))
    assert ended.code == 1
    assert "broken: nothing is lost" in ended.out
    assert "reduced in" in ended.out
    (file,) = tmp_path.iterdir()
    assert f"again: hacheck simulate-impl {TOY} --replay {file}" in ended.out
    again = hacheck("simulate-impl", TOY, "--replay", str(file), columns=120)
    assert again.code == 1
    story = [line for line in ended.out.splitlines() if re.match(r" *\d+.   .* s ", line)]
    assert story
    assert all(line in again.out.splitlines() for line in story), "the same run, told in the same way"


def test_broken_run_is_drawn_and_written_for_other_tools(tmp_path: Path) -> None:
    sim("--seeds", "4", "--faults", "chaos", "--set", "eager=yes", "--out", str(tmp_path / "runs"))
    (file,) = (tmp_path / "runs").iterdir()
    drawn = hacheck("show", str(file), columns=120)
    assert drawn.code == 0
    assert "nothing is lost" in drawn.out
    view = json.loads(hacheck("show", str(file), "--format", "json").out)
    assert next(one["text"] for one in view["story"] if one["rule"] == "broken promise") in " ".join(drawn.out.split())
    assert hacheck("show", str(file), "--format", "svg").out.startswith("<svg")
    page = tmp_path / "run.html"
    assert hacheck("show", str(file), "--report", str(page)).code == 0
    assert "nothing is lost" in page.read_text("utf-8")
    assert "ITF has states of a model" in hacheck("show", str(file), "--format", "itf").err


def test_protocol_that_raises_is_our_bug_with_its_place() -> None:
    ended = sim("--seeds", "1", "--set", "raises=3", "--as-it-is")
    assert ended.code == 4
    assert "defect: ValueError at toys.py:" in ended.out
    assert "ValueError: so many" in ended.out


def test_json_has_everything_that_is_shown() -> None:
    ended = sim("--seeds", "3", "--set", "eager=yes", "--faults", "power", "--json", "-", "--seed", "7")
    content = json.loads(ended.out)
    assert content["exit_code"] == ended.code
    assert content["runs"]["done"] == 3
    assert content["seed"] == 7
    assert content["faults_happened"]
    assert sum(map(len, content["failures"].values())) == 3 - content["runs"]["kept"]
    for told in content["told"]:
        assert told["broken"]
        assert told["story"]
        assert told["plan"]["seed"] == told["seed"]


def test_what_is_found_does_not_depend_on_how_many_processes_run() -> None:
    def found(jobs: str) -> object:
        arguments = ("--seeds", "20", "--seconds", "2", "--faults", "chaos", "--json", "-", "--as-it-is")
        content = json.loads(hacheck("simulate-impl", TOY, *arguments, "--set", "eager=yes", "--jobs", jobs).out)
        return {name: value for name, value in content.items() if name != "wall_seconds"}

    assert found("1") == found("2")


def test_stretched_faults_are_fewer() -> None:
    def faults(*given: str) -> int:
        arguments = ("--seconds", "200", "--faults", "crashes", "--seeds", "1", "--json", "-")
        content = json.loads(sim(*arguments, *given).out)
        assert content["stretch"] == (int(given[1]) if given else 1)
        return sum(content["faults_happened"].values()) + content["faults_without_effect"]

    assert 1 <= faults("--stretch", "10") < faults() / 2


def test_command_that_shows_a_stretched_run_again_stretches_it() -> None:
    arguments = ("--seeds", "4", "--faults", "chaos", "--set", "eager=yes", "--seconds", "30", "--stretch", "3")
    ended = sim(*arguments, "--as-it-is")
    assert ended.code == 1
    assert "--seconds 30 --stretch 3" in ended.out


def test_first_ends_with_the_first_broken_run() -> None:
    ended = sim("--seeds", "100", "--faults", "chaos", "--set", "eager=yes", "--first", "--as-it-is", "--json", "-")
    assert ended.code == 1
    assert json.loads(ended.out)["runs"]["done"] < 100


def test_records_of_runs_are_traces(tmp_path: Path) -> None:
    assert sim("--seeds", "2", "--record", str(tmp_path)).code == 0
    findings = Findings()
    traces = open_traces(tmp_path, findings)
    rows = pa.Table.from_batches(list(checked_batches(traces, findings))).to_pylist()
    assert findings.total == 0
    assert {row["event"] for row in rows} == {"serving", "told"}
    assert len({row["trace_id"] for row in rows}) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["icestrom"], "did you mean `icestorm`"),
        (["nothing.at:all"], "nothing.at:all"),
        (["os:sep"], "no system"),
        ([TOY, "--faults", "choas"], "did you mean `chaos`"),
        ([TOY, "--faults", "crash/coordnator"], "did you mean `coordinator`"),
        ([TOY, "--faults", "crash/minority", "--replicas", "2"], "too few members"),
        ([TOY, "--set", "eagre=yes"], "no setting `eagre`"),
        ([TOY, "--seeds", "0"], "not a whole number above zero"),
        ([TOY, "--seeds", "3", "--replay", "x.json"], "goes without --seeds"),
        ([TOY, "--replay", "nowhere.json"], "cannot be read"),
        (["icestorm", "--replicas", "2"], "3 replicas"),
    ],
)
def test_bad_input_is_named(arguments: list[str], said: str) -> None:
    ended = hacheck("simulate-impl", *arguments)
    assert ended.code == 2
    assert said in " ".join(ended.err.split())
    assert ended.out == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"{}", "no run of version 1"),
        (to_json(SavedRun("icestorm", Plan())), "is a run of icestorm"),
        (to_json(SavedRun(TOY, Plan(settings={"x": "1"}))), "no setting `x`"),
        (
            b'{"hacheck.sim": 1, "system": "' + TOY.encode() + b'", "plan": {"faults": '
            b'[{"kind": "crash", "at_us": 1, "members": ["nobody"]}]}}',
            "which is not there",
        ),
    ],
)
def test_file_that_cannot_be_run_again_is_bad_input(text: bytes, said: str, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(text)
    ended = hacheck("simulate-impl", TOY, "--replay", str(file))
    assert ended.code == 2
    assert said in " ".join(ended.err.split())


def test_control_c_ends_it_with_what_was_done() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "hacheck", "simulate-impl", TOY, "--seeds", "1M", "--seconds", "1", "--jobs", "2"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(8)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, err
    assert "interrupted after" in out


def test_help_has_examples_and_exit_codes() -> None:
    shown = hacheck("simulate-impl", "--help", columns=120).out
    assert "  hacheck simulate-impl icestorm" in shown.split("Examples")[1]
    assert "4 a bug in hacheck: a protocol raised" in shown
