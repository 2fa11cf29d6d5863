"""Recordings of a real IceStorm 3.7.8 cluster, compared with the released code's protocol and with the manual's."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path

import pytest

from hacheck.model.observing.line_writers import logged
from hacheck.traces.adapters.adapter_files import load
from hacheck.traces.adapters.logs import open_logs
from hacheck.traces.conformance.trace_checker import TraceChecker
from hacheck.traces.conformance.verdicts import Verdict, from_batch
from hacheck.traces.findings import Findings
from hacheck.traces.record_checks import checked_batches
from tests.cli.command import hacheck
from tests.nightly import first_of, nightly
from tests.seeds.driving import specification

RECORDINGS = Path(__file__).parents[2] / "data" / "icestorm"
SKEW_NS = 10_000_000


@cache
def verdicts(check: str) -> dict[str, Verdict]:
    """The verdicts on all recordings under the settings of a check, by trace."""
    instance = specification("icestorm").instantiate({"timeline": "on"}, check, logs=True)
    assert instance.system is not None, instance.diagnostics
    dataset, findings = open_logs(RECORDINGS, load("icestorm"), None), Findings()
    checker = TraceChecker(logged(instance.system), dataset.schema.order, skew_ns=SKEW_NS)
    batches = checker.check(checked_batches(dataset, findings))
    found = {one.trace_id: one for batch in batches for one in from_batch(batch)}
    assert not findings.total
    return found


def test_the_released_code_wrote_every_recording() -> None:
    found = verdicts("as_released")
    assert {"a-cold-start-3", "c-kill-coordinator", "e-lose-majority"} <= set(found)
    assert {name: one.kind for name, one in found.items() if one.kind != "conforms"} == {}


@pytest.mark.parametrize("name", first_of(["c-kill-coordinator", "a-cold-start-3"]))
def test_the_manuals_protocol_could_have_written_those_without_its_faults(name: str) -> None:
    assert verdicts("default")[name].kind == "conforms"


def test_a_generation_that_does_not_increase_is_none_of_the_manuals_protocol() -> None:
    found = verdicts("default")["e-lose-majority"]
    assert (found.kind, found.event, found.line) == ("deviates", "commenced", 72)
    assert (found.repair, found.repair_text) == ("wrong field", "`generation` of `commenced`")
    assert found.expected[0].endswith("generation: 2)")
    assert found.run


def test_a_coordinator_that_serves_without_a_majority_is_told_with_its_time(tmp_path: Path) -> None:
    """Both that a README of the recordings names: what lasted too long, and the generation that does not increase."""
    place = tmp_path / "found.json"
    ended = hacheck("conform", "icestorm", str(RECORDINGS), "--adapter", "icestorm", "--json", str(place), columns=200)
    assert ended.code == 1
    content = json.loads(place.read_text(encoding="utf-8"))
    found = {one["trace_id"]: one for one in content["verdicts"]}
    assert {name: one["kind"] for name, one in found.items()} == {
        "a-cold-start-3": "conforms",
        "c-kill-coordinator": "conforms",
        "e-lose-majority": "deviates",
    }
    assert all(one["settings"] == ["replicas=3", "timeline=on"] for one in found.values())
    assert found["a-cold-start-3"]["late"] == found["c-kill-coordinator"]["late"] == []
    lost = found["e-lose-majority"]
    (late,) = lost["late"]
    assert (late["invariant"], late["sure"], late["nanoseconds"]) == ("a_majority_serves", True, 15_999_000_000)
    assert (late["start"]["event"], late["start"]["file"], late["start"]["line"]) == (
        "killed",
        "e-lose-majority/timeline.txt",
        5,
    )
    assert (late["end"]["event"], late["end"]["file"], late["end"]["line"]) == (
        "state_change",
        "e-lose-majority/replica-3.log",
        46,
    )
    assert (lost["event"], lost["line"]) == ("commenced", 72)
    assert not content["not_compared"]


def test_changed_line_is_named_where_a_step_writes_lines_at_several_replicas(tmp_path: Path) -> None:
    """Replica 1 wrote what it should, and earlier by its clock than replica 2 the line that was changed."""
    changes = {
        "other_state": (44, lambda line: [line.replace("normal to election", "normal to inactive")]),
        "twice": (22, lambda line: [line, line]),
    }
    for name, (number, change) in changes.items():
        shutil.copytree(RECORDINGS / "c-kill-coordinator", tmp_path / "logs" / name)
        log = tmp_path / "logs" / name / "replica-2.log"
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        changed = change(lines[number - 1])
        assert changed != [lines[number - 1]]
        lines[number - 1 : number] = changed
        log.write_text("".join(lines), encoding="utf-8")
    place = tmp_path / "found.json"
    common = ("conform", "icestorm", str(tmp_path / "logs"), "--adapter", "icestorm", "--check", "as_released")
    assert hacheck(*common, "--json", str(place)).code == 1
    found = {one["trace_id"]: one for one in json.loads(place.read_text(encoding="utf-8"))["verdicts"]}
    assert {(one["file"], one["repair"]) for one in found.values()} == {
        ("other_state/replica-2.log", found["other_state"]["repair"]),
        ("twice/replica-2.log", "extra line"),
    }
    assert found["other_state"]["line"] == 44
    assert found["twice"]["line"] in (22, 23)


@nightly
def test_without_what_was_done_to_processes_nobody_knows_who_is_left(tmp_path: Path) -> None:
    shutil.copytree(RECORDINGS / "e-lose-majority", tmp_path / "e")
    (tmp_path / "e" / "timeline.txt").unlink()
    place = tmp_path / "found.json"
    hacheck("conform", "icestorm", str(tmp_path / "e"), "--adapter", "icestorm", "--json", str(place))
    (found,) = json.loads(place.read_text(encoding="utf-8"))["verdicts"]
    assert (found["late"], found["settings"], found["line"]) == ([], ["replicas=3"], 72)


@nightly
def test_a_replica_that_was_killed_without_its_record_deviates(tmp_path: Path) -> None:
    shutil.copytree(RECORDINGS / "c-kill-coordinator", tmp_path / "c")
    timeline = tmp_path / "c" / "timeline.txt"
    lines = timeline.read_text(encoding="utf-8").splitlines(keepends=True)
    timeline.write_text("".join(line for line in lines if "kill -9" not in line), encoding="utf-8")
    place = tmp_path / "found.json"
    common = ("conform", "icestorm", str(tmp_path / "c"), "--adapter", "icestorm", "--check", "as_released")
    assert hacheck(*common, "--json", str(place)).code == 1
    (found,) = json.loads(place.read_text(encoding="utf-8"))["verdicts"]
    assert (found["kind"], found["node"], found["event"]) == ("deviates", "3", "started")
    assert (found["repair"], found["repair_text"]) == ("missing line", "`killed` by  before it") or found["repair"]
