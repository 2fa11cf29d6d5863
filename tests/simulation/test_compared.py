"""`hacheck simulate-impl --record` says how to compare what it recorded: commands to copy, which conform."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from hacheck.cli.guard import ExitCode
from hacheck.testing.reference_protocols import FOLLOWED
from tests.cli.command import Ended, hacheck
from tests.nightly import by_night

QUICK = ("fiorano-shared", "artemis-shared-store", "icestorm-clients")


def commands(ended: Ended) -> list[list[str]]:
    """The commands that are told, as words behind `hacheck`."""
    lines = [line.strip() for line in (ended.out + ended.err).splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("hacheck ")]


@pytest.mark.parametrize("name", by_night(FOLLOWED, lambda name: name in QUICK))
def test_what_is_recorded_as_told_conforms_as_told(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    few = ("--seeds", "3", "--seconds", "20", "--jobs", "1")
    if FOLLOWED[name].code == name:
        one = ("--seeds", "1", "--seconds", "1", "--record", "others")
        (conform, *again) = commands(hacheck("simulate-impl", name, *one))
        assert conform[:3] == ["conform", FOLLOWED[name].spec, "others"]
        record = [word if word != "others" else "runs" for word in again[0]]
    else:
        refused = hacheck("simulate-impl", name)
        assert refused.code == ExitCode.BAD_INPUT
        assert f"{name} is not run by itself" in refused.err
        record = shlex.split(refused.err.partition("hacheck ")[2].partition(" says how")[0])
    recorded = hacheck(*record, *few)
    (conform,) = commands(recorded)
    assert conform[:3] == ["conform", FOLLOWED[name].spec, "runs"]
    ended = hacheck(*conform)
    assert ended.code == ExitCode.AS_EXPECTED, ended.out
    assert "3 traces" in ended.out


@pytest.mark.parametrize(("faults", "asked"), [("disk", True), ("crashes", False)])
def test_faults_without_a_line_of_their_own_are_told_to_the_spec(faults: str, asked: bool, tmp_path: Path) -> None:
    few = ("--seeds", "1", "--seconds", "20", "--jobs", "1", "--faults", faults)
    (conform, *_) = commands(hacheck("simulate-impl", "icestorm", *few, "--record", str(tmp_path / "runs")))
    assert ("disk_errors=on" in conform) is asked
    assert hacheck(*conform).code == ExitCode.AS_EXPECTED


def test_nothing_is_said_of_code_that_follows_no_spec(tmp_path: Path) -> None:
    words = ("tests.simulation.toys:COUNTERS", "--seeds", "1", "--seconds", "5", "--jobs", "1")
    assert commands(hacheck("simulate-impl", *words, "--record", str(tmp_path))) == []
    assert commands(hacheck("simulate-impl", "fiorano-shared", *words[1:])) == []
