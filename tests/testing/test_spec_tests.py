"""A spec is one test function in a test module of one's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SPEC = """system Pair
node Server[2] symmetric { active: bool = false }
action go(s: Server) when not s.active do s.active := true
invariant one: at most one s: Server where s.active
check default expect one violated
check wrong expect all hold
"""
MODULE = """from pathlib import Path

from hacheck.testing import spec_test

test_pair = spec_test(Path(__file__).with_name("pair.ha"))
"""


def outcome(folder: Path, *options: str) -> str:
    """What pytest prints of the module in a folder of its own."""
    (folder / "test_pair.py").write_text(MODULE)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "test_pair.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def test_each_check_is_a_case_and_one_that_comes_out_otherwise_fails_with_its_run(tmp_path: Path) -> None:
    (tmp_path / "pair.ha").write_text(SPEC)
    shown = outcome(tmp_path)
    assert "1 failed, 1 passed" in shown
    assert "check wrong: one is violated in 2 steps" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("text", ["system Pair\nnode S { n: 0..1 = 2 }\n", None])
def test_spec_that_is_wrong_or_missing_is_an_error_of_the_collection(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "pair.ha").write_text(text)
    shown = outcome(tmp_path)
    assert "BadModel" in shown
    assert "pair.ha" in shown
