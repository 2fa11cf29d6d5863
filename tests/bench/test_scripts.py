"""Every script of the folder starts, and the tables have the rows they promise."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from spin import missing

from tests.nightly import nightly

BENCH = Path(__file__).resolve().parents[2] / "bench"
SCRIPTS = sorted(path.name for path in BENCH.glob("*.py") if "argparse.ArgumentParser(" in path.read_text("utf-8"))


def run(script: str, *arguments: str) -> str:
    """What a script prints."""
    command = [sys.executable, str(BENCH / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS)
def test_script_tells_what_it_measures(script: str) -> None:
    text = run(script, "--help")
    assert f"bench/{script}" in text


def test_readme_names_every_script() -> None:
    told = (BENCH / "README.md").read_text(encoding="utf-8")
    assert [script for script in SCRIPTS if f"bench/{script}" not in told] == []


@nightly
def test_peers_stand_in_one_table() -> None:
    text = run("native.py", "--engine", "portable", "--runs", "1", "2", "2", "1")
    rows = re.findall(r"^  (hacheck|Spin).*? 372 +1,210 ", text, re.MULTILINE)
    assert rows == (["hacheck"] if missing() else ["hacheck", "Spin", "Spin", "Spin"])


def test_threads_are_compared_on_one_graph() -> None:
    assert re.search(r"^2 2 1 +372 ", run("threads.py", "--runs", "1", "2", "2", "1"), re.MULTILINE)
