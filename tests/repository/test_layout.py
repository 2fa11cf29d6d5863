"""The checkout has the shape its documents promise."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import pytest

LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("name", ["checker", "impl", "model", "traces"])
def test_top_level_name_links_into_the_package(root: Path, name: str) -> None:
    assert (root / name).is_symlink()
    assert os.readlink(root / name) == f"hacheck/{name}"
    assert (root / name / "__init__.py").is_file()


@pytest.mark.parametrize("name", ["spec", "tests", "hacheck"])
def test_folder_at_the_top_is_a_real_one(root: Path, name: str) -> None:
    assert (root / name).is_dir()
    assert not (root / name).is_symlink()


@pytest.mark.parametrize(
    "name",
    [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "Makefile",
        "README.md",
        "SECURITY.md",
        "pyproject.toml",
    ],
)
def test_document_at_the_top_has_a_text(root: Path, name: str) -> None:
    assert (root / name).read_text(encoding="utf-8").strip()


def test_spec_folder_holds_specs_and_nothing_else(owned: tuple[Path, ...], root: Path) -> None:
    inside = [path for path in owned if path.is_relative_to(root / "spec")]
    assert inside
    assert [path.name for path in inside if path.suffix != ".ha"] == []


def test_shared_check_is_make_test_and_nothing_else(root: Path) -> None:
    script = root / ".ci" / "run"
    assert os.access(script, os.X_OK)
    lines = script.read_text(encoding="utf-8").splitlines()
    commands = [line for line in lines if line.strip() and not line.startswith("#")]
    assert commands == ["set -eu", 'cd "$(dirname "$0")/.."', "exec make test"]


def test_image_is_made_of_what_there_is_and_runs_without_root(root: Path) -> None:
    lines = (root / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [
        name for line in lines if line.startswith("COPY ") and "--from" not in line for name in line.split()[1:-1]
    ]
    assert {"hacheck", "spec", "pyproject.toml"} <= set(copied)
    assert [name for name in copied if not (root / name).exists()] == []
    allowed = (root / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert [name for name in copied if f"!{name}" not in allowed] == []
    assert lines.index("USER hacheck") > max(number for number, line in enumerate(lines) if line.startswith("RUN "))


def test_decision_records_are_numbered_once_each(root: Path) -> None:
    names = sorted(path.name for path in (root / "docs" / "decisions").iterdir())
    assert names
    assert [name for name in names if not re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", name)] == []
    numbers = [name[:4] for name in names]
    assert numbers == sorted(set(numbers))


def test_links_between_documents_lead_somewhere(owned: tuple[Path, ...], root: Path) -> None:
    dead = [
        f"{document.relative_to(root)}: {target}"
        for document in owned
        if document.suffix == ".md"
        for target in LINK.findall(document.read_text(encoding="utf-8"))
        if not re.match(r"[a-z]+:|#", target) and not (document.parent / target.partition("#")[0]).exists()
    ]
    assert dead == []


def test_every_package_says_what_is_in_it(root: Path) -> None:
    folders = {path.parent for path in (root / "hacheck").rglob("*.py")}
    assert len(folders) > 30
    assert [str(folder.relative_to(root)) for folder in folders if not (folder / "__init__.py").is_file()] == []
    texts = [ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) for folder in folders]
    assert all(texts)


def test_the_architecture_is_two_pages_and_names_what_there_is(root: Path) -> None:
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    named = set(re.findall(r"hacheck\.([a-z_]+)", text))
    assert [name for name in named if not list((root / "hacheck").glob(f"{name}*"))] == []
    packages = {path.name for path in (root / "hacheck").iterdir() if (path / "__init__.py").is_file()}
    assert packages - named - {"scaffold"} == set()
