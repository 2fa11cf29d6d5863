"""Counterexamples that the real IceStorm confirms, and one that it refutes; their recordings conform to the spec."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hacheck.cli.guard import ExitCode
from hacheck.replay.icestorm.plugin import IceStorm
from tests.cli.command import hacheck

pytestmark = [
    pytest.mark.skipif("HACHECK_INTEROP" not in os.environ, reason="starts real clusters: set HACHECK_INTEROP=1"),
    pytest.mark.skipif(IceStorm().missing() is not None, reason=str(IceStorm().missing())),
]


@pytest.mark.parametrize(
    ("check", "claim"), [("lost_by_overlap", "acknowledged_survives"), ("wedged", "reorganization_ends")]
)
def test_run_is_confirmed_and_its_recording_conforms(check: str, claim: str, tmp_path: Path) -> None:
    keep = tmp_path / "kept"
    words = ("icestorm", "--check", check, "--property", claim, "--on", "icestorm")
    ended = hacheck("replay", *words, "--repeat", "3", "--keep", str(keep), "-q")
    assert ended.code == ExitCode.AS_EXPECTED, ended.out
    logs = keep / "run-1" / "logs"
    compared = hacheck("conform", "icestorm", str(logs), "--adapter", "icestorm", "--check", "as_released")
    assert compared.code == ExitCode.AS_EXPECTED, compared.out


def test_run_of_the_manual_is_refuted_where_a_replica_has_restarted(tmp_path: Path) -> None:
    words = ("icestorm", "--check", "default", "--property", "acknowledged_survives", "--on", "icestorm")
    ended = hacheck("replay", *words, "--keep", str(tmp_path / "kept"), "-q")
    assert ended.code == ExitCode.NOT_AS_EXPECTED
    assert "ObjectNotExistException" in ended.out
