"""Counterexamples that the real Artemis confirms, one for each plug-in; and where Java is missing, that is said."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hacheck.cli.guard import ExitCode
from hacheck.replay.artemis.jars import missing
from tests.cli.command import hacheck

RUNS = [
    ("artemis-replication", "artemis_replication", "outage_in_failback", "p3_no_incomplete_copy_serves"),
    ("artemis-replication", "artemis_replication", "hardened_two_backups", "p1_one_serving"),
    ("artemis-scale-down", "artemis_scale_down", "crash_with_another_target", "one_place"),
    ("artemis-shared-store", "artemis_shared_store", "failing_back_for_ever", "p10_someone_serves"),
]


@pytest.mark.skipif("HACHECK_INTEROP" not in os.environ, reason="starts real brokers: set HACHECK_INTEROP=1")
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.parametrize(("product", "spec", "check", "claim"), RUNS)
def test_run_is_confirmed(product: str, spec: str, check: str, claim: str, tmp_path: Path) -> None:
    words = (spec, "--check", check, "--property", claim, "--on", product)
    ended = hacheck("replay", *words, "--repeat", "3", "--keep", str(tmp_path / "kept"), "-q")
    assert ended.code == ExitCode.AS_EXPECTED, ended.out


@pytest.mark.parametrize("product", ["artemis-replication", "artemis-shared-store", "artemis-scale-down"])
def test_missing_java_is_named_with_its_package(product: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    spec = product.replace("-", "_")
    ended = hacheck("replay", spec, "--check", "default", "--property", "nothing", "--on", product)
    assert ended.code == ExitCode.BAD_INPUT
    assert f"{product} cannot be started here: java is not installed" in " ".join(ended.err.split())
    assert "default-jdk-headless" in ended.err
