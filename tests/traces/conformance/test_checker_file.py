"""A trace checker in a file judges as the one that was written; any other file is refused, and nothing in it is run."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from hacheck.model.language import load
from hacheck.model.observing.line_writers import logged
from hacheck.spark import submit
from hacheck.traces.conformance import checker_file
from hacheck.traces.conformance.broken_durations import Rule
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import from_batch
from hacheck.traces.dataset import open_traces
from hacheck.traces.findings import Findings, TracesError
from hacheck.traces.records import Order
from tests.traces.sample_files import jsonl, record

SPEC = """system Ticking "x"
node A { ticks: 0..9 = 0 }
action tick(a: A) when a.ticks < 9 do a.ticks := a.ticks + 1
action reset(a: A) when a.ticks == 9 do a.ticks := 0
invariant few: A.ticks < 5
"""


def checker() -> TraceChecker:
    specification = load(SPEC, "ticking.ha").specification
    assert specification is not None
    system = specification.instantiate({}, None, logs=True).system
    assert system is not None
    return TraceChecker(logged(system, True), Order.TOTAL, checked=("few",), capacity=100, called={"a": "A-1"})


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    checker_file.write(checker(), tmp_path / "judge")
    return tmp_path / "judge"


def test_checker_that_was_read_judges_as_the_one_that_was_written(kept: Path, tmp_path: Path) -> None:
    lines = [record("good", seq, "tick") for seq in (1, 2, 3)]
    lines += [record("wrong", 1, "tick"), record("wrong", 2, "reset")]
    place = jsonl(tmp_path / "t.jsonl", {"hacheck.traces": 1, "order": "total"}, *lines)
    batches = list(open_traces(place, Findings()).batches(Findings()))
    found, wanted = (
        [one for batch in judge.check(batches) for one in from_batch(batch)]
        for judge in (checker_file.read(kept), checker())
    )
    assert found == wanted
    assert {one.trace_id: one.kind for one in found} == {"good": "conforms", "wrong": "deviates"}


def test_all_that_a_checker_is_made_of_comes_back(tmp_path: Path) -> None:
    made = checker()
    whole = TraceChecker(made.system, Order.PER_NODE, 7, (), 9, 3, 5, (Rule("few", 10**9),), {"b": "A"})
    checker_file.write(whole, tmp_path / "judge")
    found = checker_file.read(tmp_path / "judge")
    for name in ("system", "order", "skew_ns", "checked", "capacity", "any_start", "explained_max", "rules", "called"):
        assert getattr(found, name) == getattr(whole, name), name


@pytest.mark.parametrize(
    "change",
    [
        {"hacheck.checker": 2},
        {"system": "(system"},
        {"system": "1"},
        {"system": None},
        {"order": "best"},
        {"capacity": 0},
        {"skew_ns": -1},
        {"asked": ["nothing"]},
        {"rules": {"nothing": 1}},
        {"more": 1},
    ],
)
def test_another_content_is_refused(kept: Path, change: dict[str, Any]) -> None:
    kept.write_text(json.dumps(json.loads(kept.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(TracesError, match=r"judge: (no trace checker of version 1|damaged)"):
        checker_file.read(kept)


@pytest.mark.parametrize("at", [0, 1, 40, 200, -1])
def test_half_a_file_is_refused(kept: Path, at: int) -> None:
    kept.write_bytes(kept.read_bytes().rstrip()[:at])
    with pytest.raises(TracesError, match="no trace checker"):
        checker_file.read(kept)


def test_submitted_job_refuses_a_pickle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "judge").write_bytes(pickle.dumps(checker()))
    assert submit.main([str(tmp_path), "--checker", str(tmp_path / "judge")]) == submit.FAILED
    assert "no trace checker of version 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--spec", "nonesuch"], "nonesuch"),
        (["--check", "nonesuch"], "unknown check `nonesuch`"),
        (["--set", "replicas"], "--set replicas: expected NAME=VALUE"),
        (["--set", "replicas=5"], "unknown setting `replicas`"),
        (["--property", "one_leader"], "unknown invariant `one_leader`"),
        (["--node", "a=B-1"], "unknown node `B-1`"),
    ],
)
def test_submitted_job_refuses_what_the_spec_does_not_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    jsonl(tmp_path / "traces.jsonl", record("t", 1))
    (tmp_path / "ticking.ha").write_text(SPEC, encoding="utf-8")
    spec = [] if "--spec" in words else ["--spec", str(tmp_path / "ticking.ha")]
    assert submit.main([str(tmp_path), *spec, *words]) == submit.FAILED
    assert message in capsys.readouterr().err
