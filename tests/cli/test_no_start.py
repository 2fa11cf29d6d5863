"""A spec that cannot begin, as an initial value is an error of it: each command says so, and none breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.cli.guard import ExitCode
from tests.cli.command import hacheck

SPEC = """system X "x"
param lease = 2
node A[2] { value: 0..2 = 0  state at : { on, off } = on }
initially do
  for a: A do a.value := 9
action go(a: A, to: { left, right }, far: 0..3, as_is: bool?) when a.value == 0 do
  a.at := off
invariant one: some a: A where a.value == 0
deadlock_free goes_on
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("x.ha").write_text(SPEC, encoding="utf-8")
    Path("in").mkdir()
    record = '{"trace_id": "t", "node": "A-1", "seq": 1, "event": "go"}\n'
    Path("t.jsonl").write_text('{"hacheck.traces": 1, "order": "total"}\n' + record, encoding="utf-8")
    Path("in/t.jsonl").write_text(record, encoding="utf-8")
    return "x.ha"


@pytest.mark.parametrize("engine", ["native", "python", "simulation", "bmc", "induction"])
def test_verify_says_that_the_spec_has_an_error(spec: str, engine: str) -> None:
    ended = hacheck("verify", spec, "--engine", engine, *(["--depth", "3"] if engine in ("bmc", "induction") else []))
    assert ended.code in (ExitCode.NOT_AS_EXPECTED, ExitCode.BAD_INPUT, ExitCode.UNDECIDED), ended
    assert "internal error" not in ended.err
    assert "would be 9, outside 0..2" in ended.out + ended.err


@pytest.mark.parametrize(
    "words",
    [
        *("diagram", "doc", "doc --static", "inspect --native", "inspect --python", "inspect --smt", "simulate"),
        *("prove --time 5", "simulate --traces 2 --out out --jobs 1", "conform t.jsonl --steps"),
        "monitor in --results out --once --steps",
    ],
)
def test_other_commands_refuse_it(spec: str, words: str) -> None:
    command, *more = words.split()
    ended = hacheck(command, spec, *more)
    assert ended.code == ExitCode.BAD_INPUT, ended
    assert "cannot begin: at the start: A 1.value would be 9, outside 0..2" in ended.err.replace("\n", " ")


def test_page_shows_types_of_parameters_as_they_are_written(spec: str) -> None:
    Path("x.ha").write_text(SPEC.replace("value := 9", "value := 1"), encoding="utf-8")
    assert "go(a: A, to: {left, right}, far: 0..3, as_is: bool?)" in hacheck("doc", spec, "--static").out
