"""`hacheck init` writes a project of which everything passes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import hacheck
from tests.nightly import nightly


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new project."""
    folder = tmp_path_factory.mktemp("new") / "my-pair"
    ended = hacheck("init", str(folder), "--title", "Two brokers and a disk.")
    assert ended.code == 0, ended.err
    return folder


def test_spec_of_a_new_project_comes_out_as_it_says(project: Path) -> None:
    spec = project / "my_pair.ha"
    assert 'system MyPair "Two brokers and a disk."' in spec.read_text()
    assert hacheck("verify", str(spec)).code == 0
    assert hacheck("fmt", "--check", str(spec)).code == 0


def test_logs_of_a_new_project_conform_and_every_line_is_understood(project: Path) -> None:
    adapter = str(project / "my_pair.toml")
    command = ("conform", str(project / "my_pair.ha"), str(project / "logs"), "--adapter", adapter)
    ended = hacheck(*command, "--property", "one_active")
    assert ended.code == 0, ended.err
    assert "1 conform" in ended.out
    assert "unknown" not in hacheck("traces", "validate", str(project / "logs"), "--adapter", adapter).out


@nightly
def test_tests_of_a_new_project_pass(project: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    ended = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    assert "3 passed" in ended.stdout


def test_nothing_is_overwritten_and_bad_names_are_refused(project: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    ended = hacheck("init", str(project))
    assert ended.code == 2
    assert "is there already" in ended.err
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before
    for words in (
        (str(tmp_path / "9lives"),),
        (str(tmp_path / "x"), "--name", "a b"),
        (str(tmp_path / "y"), "--title", '"'),
    ):
        assert hacheck("init", *words).code == 2
    assert list(tmp_path.iterdir()) == []
