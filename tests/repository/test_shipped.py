"""A shipped spec is found by its name from anywhere, and who errs is told what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck import shipped


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder away from the checkout."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_spec_of_the_checkout_is_shipped(root: Path) -> None:
    assert shipped.directory() == root / "spec"
    assert set(shipped.names()) == {path.stem for path in (root / "spec").glob("*.ha")}
    assert "icestorm" in shipped.names()


@pytest.mark.parametrize("called", ["icestorm", "icestorm.ha"])
def test_shipped_spec_is_found_by_name_from_anywhere(elsewhere: Path, root: Path, called: str) -> None:
    assert shipped.find(called) == root / "spec" / "icestorm.ha"
    assert shipped.read(called) == (root / "spec" / "icestorm.ha").read_text(encoding="utf-8")


def test_example_is_found_by_name_from_anywhere(elsewhere: Path, root: Path) -> None:
    assert shipped.find("vrrp") == root / "examples" / "vrrp" / "vrrp.ha"
    assert {path.stem for path in shipped.examples()} >= {"vrrp", "raft", "patroni", "kafka_isr", "lease"}


def test_every_example_that_is_a_protocol_is_in_the_index(root: Path) -> None:
    index = (root / "examples" / "README.md").read_text(encoding="utf-8")
    assert [path.stem for path in shipped.examples() if f"({path.stem}/{path.stem}.ha)" not in index] == []


def test_file_of_the_user_comes_before_a_shipped_spec(elsewhere: Path) -> None:
    (elsewhere / "icestorm.ha").write_text("system Mine")
    assert shipped.read("icestorm.ha") == "system Mine"
    assert shipped.read(str(elsewhere / "icestorm.ha")) == "system Mine"


def test_folder_of_that_name_does_not_hide_a_shipped_spec(elsewhere: Path, root: Path) -> None:
    (elsewhere / "icestorm").mkdir()
    assert shipped.find("icestorm") == root / "spec" / "icestorm.ha"


MEANT = "did you mean the shipped spec `icestorm`"


@pytest.mark.parametrize(
    ("asked", "message", "hint"),
    [
        ("icestrom", "`icestrom` is neither a file nor a shipped spec", MEANT),
        ("spec/icestorm.ha", "there is no file `spec/icestorm.ha`", MEANT),
        ("zzz", "`zzz` is neither a file nor a shipped spec", "shipped specs: "),
        (".", "`.` is a folder, not a spec", "shipped specs: "),
    ],
)
def test_unknown_spec_is_answered_with_what_there_is(elsewhere: Path, asked: str, message: str, hint: str) -> None:
    with pytest.raises(shipped.UnknownSpec) as caught:
        shipped.find(asked)
    assert caught.value.message == message
    assert caught.value.hint.startswith(hint)
