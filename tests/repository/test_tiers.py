"""The tiers of tests keep themselves true, a slow test of a quick file fails by name, and no run is silent."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.heartbeat import Heartbeat
from tests.tiers import HEADER, TESTS, quick_files, quick_text

ROOT = TESTS.parent

CONFTEST = """
from tests import tiers

def pytest_configure(config):
    tiers.TEST_SECONDS_MAX = 0.3
    plugin = tiers.Tiers(only_quick=False, measured=None, leads=True)
    plugin.quick = frozenset({QUICK})
    config.pluginmanager.register(plugin)
"""
BUSY = """
import time

def test_that_works():
    begun = time.process_time()
    while time.process_time() < begun + 0.6:
        pass

def test_that_waits():
    time.sleep(0.6)
"""


def run(folder: Path, *options: str) -> str:
    """What pytest says of the tests in a folder."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(folder)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    return ended.stdout + ended.stderr


def test_every_quick_file_is_there() -> None:
    assert [name for name in quick_files() if not (TESTS / name).is_file()] == []


def test_quick_files_are_most_of_what_is_cheap() -> None:
    assert len(quick_files()) > 80


def test_the_list_has_the_files_whose_tests_are_cheap_together() -> None:
    measured = [("b.py", 0.2), ("a.py", 0.1), ("b.py", 0.4), ("a.py", 0.3)]
    assert quick_text(measured) == f"{HEADER}a.py\n"


@pytest.mark.parametrize("listed", [True, False])
def test_a_slow_test_fails_in_a_quick_file_and_nowhere_else(tmp_path: Path, listed: bool) -> None:
    file = tmp_path / "test_busy.py"
    file.write_text(BUSY, encoding="utf-8")
    quick = repr(file.as_posix()) if listed else ""
    (tmp_path / "conftest.py").write_text(CONFTEST.replace("QUICK", quick), encoding="utf-8")
    said = run(tmp_path)
    if not listed:
        assert "2 passed" in said
        return
    assert "1 failed, 1 passed" in said
    assert "s of CPU in a quick file (at most 0 s): make it faster, or take" in said
    assert "test_that_works" in said


def test_a_test_that_hangs_is_named(tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text("import time\ndef test_stuck(): time.sleep(60)\n", encoding="utf-8")
    said = run(tmp_path, "-n", "1", "--timeout", "1")
    assert "test_hanging.py::test_stuck" in said
    assert "1 failed" in said


def test_silence_is_broken_with_what_is_running(pytestconfig: pytest.Config) -> None:
    beat = Heartbeat(pytestconfig)
    assert beat.line(time.monotonic() + 20).startswith("… reading the tests, 2")
    beat.pytest_runtest_logstart("a.py::one")
    beat.pytest_runtest_logstart("a.py::two")
    beat.pytest_runtest_logfinish("a.py::two")
    assert beat.line(time.monotonic() + 30) == "… running a.py::one (30 s)"
    beat.pytest_runtest_logfinish("a.py::one")
    assert beat.line(time.monotonic()).startswith("… finishing")


def test_a_command_that_takes_long_is_watched_and_its_code_kept() -> None:
    ended = subprocess.run(
        [ROOT / ".ci" / "watched", "waiting", "sh", "-c", "echo said; exit 3"], capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (3, "said\n")
