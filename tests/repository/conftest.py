"""What the tests of the repository look at: its root, and the files that belong to it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MADE_HERE = {".git", ".venv", "dist", "__pycache__"}
"""Folders that hold no file of the repository; those of caches are named `.*_cache`."""


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def owned() -> tuple[Path, ...]:
    """Every file of the repository: what git tracks, or, in a copy without git, what no tool has made."""
    found = _tracked() or _walked()
    assert found, "a repository without files: every test that looks at them would pass"
    return tuple(path for path in found if path.is_file() and not path.is_symlink())


@pytest.fixture(scope="session")
def modules(root: Path) -> tuple[Path, ...]:
    """Every Python file of the package, its tests and its measurements."""
    folders = [root / name for name in ("hacheck", "tests", "bench")]
    found = tuple(path for folder in folders for path in sorted(folder.rglob("*.py")))
    assert len(found) > 10, "the walk has lost the code"
    return found


def _tracked() -> list[Path]:
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):  # no git here, or none that trusts this folder
        return []
    return [ROOT / name for name in listed.split("\0") if name]


def _walked() -> list[Path]:
    found: list[Path] = []
    for folder, below, names in os.walk(ROOT):
        below[:] = [name for name in below if name not in MADE_HERE and not name.endswith("_cache")]
        found += [Path(folder, name) for name in names]
    return found
