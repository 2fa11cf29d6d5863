"""What is not installed: a command names the extra that brings it, and the core does without."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from hacheck.extras import EXTRAS, missing_extra

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ("numpy", "pyarrow", "duckdb", "pyspark", "pandas", "z3", "yaml")
HIDDEN = f"import sys; sys.modules.update(dict.fromkeys({LIBRARIES}));"


def without_extras(code: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A program in whose process none of the libraries can be imported, as where no extra is installed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", HIDDEN + code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return without_extras("from hacheck.cli.main import main; main()", *arguments, folder=folder)


@pytest.mark.parametrize(
    "arguments",
    [
        ("conform", "icestorm", "night.jsonl"),
        ("monitor", "icestorm", "night.jsonl"),
        ("traces", "stats", "night.jsonl"),
        ("simulate", "icestorm", "--traces", "10", "--out", "runs"),
        ("check-impl", "icestorm"),
        ("sweep", "icestorm", "--vary", "crashes=0,1", "--out", "swept"),
    ],
    ids=" ".join,
)
def test_a_command_without_its_extra_names_it(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "night.jsonl").write_text('{"hacheck.traces": 1, "order": "total", "fields": {}}\n', encoding="utf-8")
    ended = run(tmp_path, *arguments)
    assert ended.returncode == 2, ended.stderr
    assert "pip install 'hacheck[logs]'" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("prove", str(ROOT / "examples" / "proofs" / "lock_servers.ha")),
        ("why", str(ROOT / "examples" / "proofs" / "lock_servers.ha")),
        ("timing", str(ROOT / "examples" / "timing" / "lease.ha"), "--vary", "margin"),
        ("verify", str(ROOT / "bench" / "quorum_election.ha"), "--engine", "bmc"),
        ("verify", str(ROOT / "bench" / "quorum_election.ha"), "--engine", "induction"),
    ],
    ids=" ".join,
)
def test_a_proof_without_its_extra_names_it(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ended = run(tmp_path, *arguments)
    assert ended.returncode == 2, ended.stderr
    assert "pip install 'hacheck[prove]'" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("named", ["tests/data/audit/patroni_asynchronous", "compose.yml"])
def test_an_audit_of_yaml_without_its_extra_names_it(tmp_path: Path, named: str) -> None:
    (tmp_path / "compose.yml").write_text("services: {}\n", encoding="utf-8")
    ended = run(tmp_path, "audit", str(ROOT / named) if "/" in named else named)
    assert ended.returncode == 2, ended.stderr
    assert "pip install 'hacheck[audit]'" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", str(ROOT / "tests" / "data" / "audit" / "artemis_lock_manager")),
        ("list",),
        ("verify", str(ROOT / "bench" / "quorum_election.ha"), "--quiet"),
        ("simulate", "icestorm", "--steps", "3"),
        ("simulate-impl", "icestorm", "--seeds", "1"),
        ("diagram", "icestorm", "--static"),
        ("conform", "--help"),
        ("doc", str(ROOT / "bench" / "quorum_election.ha"), "--out", "page.md"),
        ("init", "mine", "--yes"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_the_core_needs_no_extra(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ended = run(tmp_path, *arguments)
    assert ended.returncode == 0, ended.stderr


def test_the_test_kit_names_its_extra(tmp_path: Path) -> None:
    ended = without_extras("from hacheck.testing import state_machine", folder=tmp_path)
    assert "hacheck.testing needs numpy, which is not installed: pip install 'hacheck[logs]'" in ended.stderr


def test_each_library_of_an_extra_is_declared_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    for library, extra in EXTRAS.items():
        assert any(library in one for one in extras[extra]), library
        assert not any(library in one for one in project["dependencies"]), library
    (everything,) = extras["all"]
    named = everything.removeprefix("hacheck[").removesuffix("]").split(",")
    assert sorted([*named, "all", "connect", "docs"]) == sorted(extras)


def test_an_import_that_no_extra_mends_is_a_bug() -> None:
    assert missing_extra(ImportError("no such name", name="hacheck.cli")) is None
    assert missing_extra(ImportError("no name at all")) is None
    assert missing_extra(ModuleNotFoundError(name="pyarrow.compute")) == ("pyarrow", "pip install 'hacheck[logs]'")
