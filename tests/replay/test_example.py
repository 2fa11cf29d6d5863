"""The example service: its counterexamples are confirmed on two real processes, and a mended service refutes one."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from hacheck.cli.guard import ExitCode
from tests.cli.command import Ended, hacheck

FOLDER = Path(__file__).parents[2] / "examples" / "replay"
PLUGIN_LINES_MAX = 150

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="who calls whom is read from /proc")


@pytest.fixture(autouse=True)
def in_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    monkeypatch.delenv("REGISTER_OPTIONS", raising=False)


def replayed(tmp_path: Path, *words: str) -> tuple[Ended, dict[str, Any]]:
    """What the command returns, prints, and writes as JSON."""
    keep, target = tmp_path / "kept", tmp_path / "result.json"
    ended = hacheck(
        "replay", "register.ha", *words, "--on", "plugin:Register", "--keep", str(keep), "--json", str(target)
    )
    return ended, json.loads(target.read_text(encoding="utf-8"))


def test_plugin_is_as_short_as_promised() -> None:
    assert len((FOLDER / "plugin.py").read_text(encoding="utf-8").splitlines()) <= PLUGIN_LINES_MAX


@linux
@pytest.mark.parametrize(("check", "claim"), [("default", "acknowledged_survives"), ("cut", "one_leader")])
def test_counterexample_is_confirmed(check: str, claim: str, tmp_path: Path) -> None:
    ended, result = replayed(tmp_path, "--check", check, "--property", claim)
    assert (ended.code, result["outcome"]) == (ExitCode.AS_EXPECTED, "confirmed")
    (run,) = result["runs"]
    assert run["steps_compared"] == run["steps_of_run"] > 1
    assert all(step["observed"]["Server.leads"] for step in run["steps"])
    assert f"{claim} is violated on the product, too" in " ".join(ended.out.split())
    recorded = (tmp_path / "kept" / "run-1" / "messages.txt").read_text(encoding="utf-8")
    assert "==== confirmed" in recorded


@linux
def test_mended_service_refutes_the_step_at_which_it_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGISTER_OPTIONS", "--copies-first")
    ended, result = replayed(tmp_path, "--check", "default", "--property", "acknowledged_survives")
    assert (ended.code, result["outcome"]) == (ExitCode.NOT_AS_EXPECTED, "refuted")
    (run,) = result["runs"]
    assert (run["at_step"], run["step"]) == (1, "write(1)")
    assert run["reason"] == "acknowledged is 0, in the model 1"
    assert run["evidence"] == ["log 1: stored 1"]


@linux
def test_random_runs_come_out_on_the_service(tmp_path: Path) -> None:
    ended, result = replayed(tmp_path, "--check", "default", "--set", "crashes=2", "--random", "2", "--seed", "1")
    assert ended.code == ExitCode.AS_EXPECTED
    assert result["counts"]["confirmed"] == len(result["runs"]) == 2
    assert sum(run["steps_of_run"] for run in result["runs"]) > 15


@linux
def test_saved_run_is_carried_out_like_one_that_is_found(tmp_path: Path) -> None:
    saved = tmp_path / "found.json"
    hacheck("verify", "register.ha", "--check", "default", "--json", str(saved), "-q")
    ended = hacheck("replay", str(saved), "--property", "on_both", "--on", "plugin:Register", "-q")
    assert ended.code == ExitCode.AS_EXPECTED
    assert "on_both is reached on the product, too" in " ".join(ended.out.split())


@linux
def test_no_process_is_left(tmp_path: Path) -> None:
    replayed(tmp_path, "--check", "default", "--property", "on_both")
    lines = [Path(f"/proc/{name}/cmdline") for name in os.listdir("/proc") if name.isdigit()]
    mine = str(tmp_path / "kept")
    left = []
    for line in lines:
        try:
            if os.readlink(line.parent / "cwd").startswith(mine):
                left.append(line.read_bytes())
        except OSError:
            continue
    assert left == []
