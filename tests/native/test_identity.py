"""What machine code depends on: another source, another llvmlite, another CPU make another identity."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from llvmlite.binding import FeatureMap

import hacheck
from hacheck.compile.machine import build_identity as module
from hacheck.compile.machine.build_identity import UnknownIdentityError, identity

SOURCES = (
    "__init__.py",
    "model/ir.py",
    "compile/lowering/text.py",
    "checker/explicit/native/words.py",
    "traces/conformance/trace_compiler.py",
    "traces/simulation/walk_kernel.py",
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Sources as of a hacheck of its own, all changed long ago."""
    for name in SOURCES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n")
        os.utime(path, (1000, 1000))
    monkeypatch.setattr(hacheck, "__file__", str(tmp_path / "__init__.py"))
    yield tmp_path
    module._engine.cache_clear()


def whole() -> str:
    """The identity as a process that begins now would find it."""
    module._engine.cache_clear()
    return identity.__wrapped__()


def change(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1000, 1000))


@pytest.mark.parametrize(
    ("name", "text", "matters"),
    [
        ("compile/lowering/text.py", "# changed\n", True),
        ("checker/explicit/native/words.py", "", True),
        ("model/new.py", "", True),
        ("traces/conformance/trace_compiler.py", "# changed\n", True),
        ("traces/simulation/walk_kernel.py", "# changed\n", True),
        ("traces/records.py", "# not in the code\n", False),
        ("checker/explicit/native/__pycache__/words.py", "# no source\n", False),
        ("cli/main.py", "# not in the code\n", False),
        ("model/language/parse.py", "# not in the code\n", False),
        ("model/grammar.lark", "# not in the code\n", False),
    ],
)
def test_sources_that_have_a_say_are_part_of_it(package: Path, name: str, text: str, matters: bool) -> None:
    before = whole()
    assert whole() == before
    change(package / name, text)
    assert (whole() != before) == matters


def test_text_moved_between_sources_is_another_source(package: Path) -> None:
    change(package / "model/a.py", "ab")
    change(package / "model/b.py", "c")
    before = whole()
    change(package / "model/a.py", "a")
    change(package / "model/b.py", "bc")
    assert whole() != before


def test_sources_changed_while_they_run_have_no_identity(package: Path) -> None:
    os.utime(package / "model/ir.py", (time.time() + 1,) * 2)
    with pytest.raises(UnknownIdentityError, match="changed after this process began"):
        whole()


def test_sources_that_cannot_be_read_have_no_identity(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hacheck, "__file__", str(package / "archive.zip" / "__init__.py"))
    with pytest.raises(UnknownIdentityError, match="cannot be read"):
        whole()


def test_process_knows_when_it_began() -> None:
    started = module._started()
    assert started <= time.time()
    assert abs(started - module._started()) < 0.1
    if sys.platform == "linux":
        assert started <= module._LOADED + 0.1


@pytest.mark.parametrize("part", ["get_host_cpu_name", "get_host_cpu_features"])
def test_another_cpu_is_part_of_it(part: str, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = whole()
    assert whole() == before
    other = FeatureMap({"a-new-one": True}) if part == "get_host_cpu_features" else "another"
    monkeypatch.setattr(f"llvmlite.binding.{part}", lambda: other)
    assert whole() != before


def test_another_llvmlite_is_part_of_it(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "binding" / "libllvmlite.so"
    library.parent.mkdir()
    library.write_bytes(b"1234")
    os.utime(library, (1000, 1000))
    installed, names = ModuleType("llvmlite"), ModuleType("llvmlite.utils")
    installed.__file__ = str(tmp_path / "__init__.py")
    installed.__version__ = "1.0"  # type: ignore[attr-defined]
    names.get_library_name = lambda: "libllvmlite.so"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "llvmlite", installed)
    monkeypatch.setitem(sys.modules, "llvmlite.utils", names)
    found = [whole()]
    installed.__version__ = "1.1"  # type: ignore[attr-defined]
    found.append(whole())
    os.utime(library, (2000, 2000))
    found.append(whole())
    library.write_bytes(b"12345")
    os.utime(library, (2000, 2000))
    found.append(whole())
    assert len(set(found)) == 4
    library.unlink()
    with pytest.raises(UnknownIdentityError, match="llvmlite is not there"):
        whole()
