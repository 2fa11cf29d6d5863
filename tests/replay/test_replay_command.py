"""`hacheck replay`: what it refuses, and how it says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.cli.guard import ExitCode
from hacheck.replay.icestorm.plugin import IceStorm
from tests.cli.command import hacheck

SPEC = Path(__file__).parents[2] / "examples" / "replay" / "register.ha"


def test_missing_product_is_named_with_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    ended = hacheck("replay", "icestorm", "--check", "as_released", "--property", "served", "--on", "icestorm")
    assert ended.code == ExitCode.BAD_INPUT
    assert "icestorm cannot be started here" in ended.err
    assert "zeroc-icebox" in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("icestorm", "--property", "served"), "--on is missing"),
        (("--on", "icestorm"), "the run is missing"),
        (("icestorm", "--on", "icestrom"), "did you mean icestorm?"),
        (("icestorm", "--on", "nowhere:Product"), "nowhere cannot be imported"),
        (("icestorm", "--on", "icestorm", "--random", "2", "--repeat", "2"), "--repeat is for one run"),
    ],
)
def test_what_is_wrong_is_said(words: tuple[str, ...], said: str) -> None:
    ended = hacheck("replay", *words)
    assert ended.code == ExitCode.BAD_INPUT
    assert said in ended.err


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> str:
    """A small spec, and a product that takes its runs."""
    monkeypatch.setattr(IceStorm, "missing", lambda self: None)
    monkeypatch.setattr(IceStorm, "specs", ("register",))
    return str(SPEC)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--check", "default"), "--property is missing"),
        (("--check", "copies_first", "--property", "acknowledged_survives"), "no run shows acknowledged_survives"),
        (("--property", "nothing"), "nothing"),
    ],
)
def test_run_that_there_is_not_is_refused(register: str, words: tuple[str, ...], said: str) -> None:
    ended = hacheck("replay", register, *words, "--on", "icestorm")
    assert ended.code == ExitCode.BAD_INPUT
    assert said in ended.err.replace("\n", " ")


def test_product_takes_runs_of_its_specs_only(register: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IceStorm, "specs", ("icestorm",))
    ended = hacheck("replay", register, "--property", "on_both", "--on", "icestorm")
    assert ended.code == ExitCode.BAD_INPUT
    assert "runs of register cannot be carried out on icestorm" in ended.err.replace("\n", " ")


def test_recordings_are_written_into_an_empty_folder_only(register: str, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("kept")
    ended = hacheck("replay", register, "--property", "on_both", "--on", "icestorm", "--keep", str(tmp_path))
    assert ended.code == ExitCode.BAD_INPUT
    assert "is not empty" in ended.err
    assert (tmp_path / "old").read_text() == "kept"


def test_products_are_listed() -> None:
    ended = hacheck("replay", "--list")
    assert ended.code == ExitCode.AS_EXPECTED
    assert "icestorm" in ended.out
