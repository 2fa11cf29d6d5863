"""Runs of the shipped spec of IceStorm come out on the reference implementation as processes, and what it records of
them conforms. Real timers race now and then: a run counts if it comes out in one of a few attempts."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.replay.model_run import ModelRun
from hacheck.replay.outcomes import ReplayResult
from hacheck.replay.reference.replica_processes import ReferenceProcesses
from hacheck.replay.replayer import carry_out
from tests.cli.command import hacheck
from tests.nightly import nightly
from tests.replay.test_reference import runs

ATTEMPTS = 3
CHECKS = (
    *("as_released", "stamp_wiped", "rejection_taken_for_success", "no_full_start"),
    *("lost_by_overlap", "idle_coordinator"),
)


def carried_out(run: ModelRun, folder: Path) -> ReplayResult:
    """The first attempt that is confirmed, or the last."""
    for attempt in range(ATTEMPTS):
        result = carry_out(run, ReferenceProcesses(), folder / f"attempt-{attempt}", lambda result: None)
        if result.outcome == "confirmed":
            break
    return result


def test_run_comes_out_step_by_step_and_its_recording_conforms(tmp_path: Path) -> None:
    run = runs("as_released")["served"]
    result = carried_out(run, tmp_path)
    assert result.outcome == "confirmed", (result.step, result.reason)
    assert [one.number for one in result.steps] == list(range(len(run.steps) + 1))
    assert result.steps[-1].observed["acknowledged"] == [1]
    record = Path(result.recording) / "logs" / "cluster.jsonl"
    settings = ("--check", "as_released", "--set", "max_after_push=on")
    assert hacheck("conform", "icestorm", str(record), *settings).code == 0


def test_no_process_is_left(tmp_path: Path) -> None:
    result = carried_out(runs("as_released")["stamps_never_fall"], tmp_path)
    folder = Path(result.recording) / "cluster"
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not any(str(folder).encode() in line for line in lines)


@nightly
@pytest.mark.parametrize("check", CHECKS)
def test_every_run_comes_out(check: str, tmp_path: Path) -> None:
    results = {name: carried_out(run, tmp_path / name) for name, run in runs(check).items()}
    elsewhere = {name: (one.step, one.reason) for name, one in results.items() if one.outcome != "confirmed"}
    assert not elsewhere
