"""What people install is whole: the wheel, built from the sdist, works away from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.nightly import nightly

QUICK_CHECK = "smoke"
"""The quickest check of the shipped spec `icestorm`."""

IMPORT_ALL = """
import importlib, pkgutil, hacheck
names = [module.name for module in pkgutil.walk_packages(hacheck.__path__, "hacheck.")]
for name in names:
    importlib.import_module(name)
print("hacheck", *names)
"""


@nightly
def test_wheel_built_from_the_sdist_works_in_a_clean_environment(root: Path, tmp_path: Path) -> None:
    # One test, not one for each claim: parallel workers would build and install again for each.
    wheel = build_from_sdist(root, tmp_path)
    assert missing_from(wheel, root) == []
    python = install(wheel, tmp_path / "environment")
    hacheck = python.with_name("hacheck")
    listed = run(tmp_path, hacheck, "list")
    assert [path.stem for path in (root / "spec").glob("*.ha") if path.stem not in listed] == []
    # `run` insists on the exit code 0: every property came out as the spec expects.
    assert QUICK_CHECK in run(tmp_path, hacheck, "verify", "icestorm", "--check", QUICK_CHECK)
    run(tmp_path, python, "-m", "pip", "install", "--quiet", f"{wheel}[logs]")
    assert set(run(tmp_path, python, "-c", IMPORT_ALL).split()) == modules_below(root / "hacheck")


def build_from_sdist(root: Path, folder: Path) -> Path:
    """The wheel that `build` makes of the sdist it has made of the checkout."""
    run(folder, Path(sys.executable), "-m", "build", "--outdir", str(folder / "dist"), str(root))
    (wheel,) = (folder / "dist").glob("hacheck-*.whl")
    return wheel


def install(wheel: Path, environment: Path) -> Path:
    """The Python of a new environment that holds the wheel, the dependencies of its core, and pytest."""
    run(environment.parent, Path(sys.executable), "-m", "venv", str(environment))
    python = environment / "bin" / "python"
    # pytest is for the modules of the plug-in, which nobody else loads.
    run(environment.parent, python, "-m", "pip", "install", "--quiet", str(wheel), "pytest")
    return python


def missing_from(wheel: Path, root: Path) -> list[str]:
    """Files of the package, shipped specs, examples and documents that the wheel does not have."""
    files = [path for path in (root / "hacheck").rglob("*") if path.is_file()]
    expected = {str(path.relative_to(root)) for path in files if "__pycache__" not in path.parts}
    for folder in ("spec", "examples"):
        expected |= {f"hacheck/{path.relative_to(root)}" for path in (root / folder).rglob("*.ha")}
    expected |= {f"hacheck/{path.relative_to(root)}" for path in (root / "docs").rglob("*.md")}
    with zipfile.ZipFile(wheel) as archive:
        return sorted(expected - set(archive.namelist()))


def modules_below(package: Path) -> set[str]:
    """The dotted names of all modules of the package in the checkout."""
    paths = [path.relative_to(package.parent).with_suffix("") for path in package.rglob("*.py")]
    return {".".join(path.parent.parts if path.name == "__init__" else path.parts) for path in paths}


def run(folder: Path, program: Path, *arguments: str) -> str:
    """What a program prints when started in `folder`, away from the checkout; it must succeed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [program, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{program.name} {' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
    return done.stdout
