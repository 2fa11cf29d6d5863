"""`docs/testing.md` is as it says: its files are put into a folder and used."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from hacheck.testing import SETTINGS, Adapter, Disagreement, ProcessAdapter
from hacheck.testing.adapter import OWN
from hacheck.testing.check_results import explored, is_library, questions
from hacheck.testing.hypothesis_machine import run_state_machine
from hacheck.testing.run_options import OPTIONS, Options
from hacheck.testing.tested_model import specification_of
from hacheck.traces.conformance.follower import CAPACITY

DOCUMENT = Path(__file__).parents[2] / "docs" / "testing.md"
FENCE = re.compile(r"^```(\w+)(?: (\w+)=(\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = FENCE.findall(DOCUMENT.read_text(encoding="utf-8"))
FILES = {name: body for _, what, name, body in BLOCKS if what == "file"}
MODULES = ("locks", "test_locks", "test_longer")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The files of the document."""
    for name, body in FILES.items():
        (tmp_path / name).write_text(body, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for name in MODULES:
        monkeypatch.setitem(sys.modules, name, ModuleType(name))  # so that it is forgotten afterwards
        del sys.modules[name]
    token = OPTIONS.set(Options(runs=tmp_path / "runs"))
    yield tmp_path
    OPTIONS.reset(token)


def mend(folder: Path) -> None:
    """Does what the document says."""
    ((name, line),) = [(name, body) for _, what, name, body in BLOCKS if what == "mends"]
    old = "        self.holder, self.until = None, 0.0\n"
    text = (folder / name).read_text()
    assert text.count(old) == 1
    (folder / name).write_text(text.replace(old, line))


def test_the_document_has_what_is_tested() -> None:
    assert set(FILES) == {"locks.ha", "locks.py", "test_locks.py", "failure", "test_longer.py"}


def test_the_spec_is_one_and_its_check_comes_out(folder: Path) -> None:
    place = folder / "locks.ha"
    assert not is_library(place)
    specification = specification_of(place)
    (question,) = questions(specification, wide=True)
    system = specification.instantiate(check="default").system
    assert system is not None
    assert explored(system, question).outcome == "expected"


def test_the_run_that_is_told_is_that_of_the_code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")  # the document shows pictures as a terminal does
    lines = FILES["failure"].split("To see it again:\n\n")[1].splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(line[4:] for line in lines), names)  # what a reader does with it
    with pytest.raises(Disagreement) as found:
        names["test_lock_service_again"]()
    assert f"{found.value}\n" == FILES["failure"]
    mend(folder)
    for name in MODULES:
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    exec("\n".join(line[4:] for line in lines), names)
    names["test_lock_service_again"]()


def test_the_test_finds_that_run(folder: Path) -> None:
    module = importlib.import_module("test_locks")
    with pytest.raises(Disagreement) as found:
        module.TestLocks().runTest()
    assert [step.method for step in found.value.steps] == ["acquire", "crash", "restart", "acquire"]


def test_the_mended_code_passes(folder: Path) -> None:
    mend(folder)
    module = importlib.import_module("test_locks")
    run_state_machine(module.LockService, settings(SETTINGS, max_examples=25))
    longer: Any = importlib.import_module("test_longer").TestLocksForLonger
    assert (longer.settings.max_examples, longer.settings.stateful_step_count) == (300, 20)
    assert (SETTINGS.max_examples, SETTINGS.stateful_step_count) == (100, 40), "as the document says"


def test_everything_that_an_adapter_may_say_is_described() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`[^|]+`) \|", text, re.MULTILINE)
    names = {re.match(r"\w+|--[\w-]+", word)[0]: word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}  # type: ignore[index]
    assert set(OWN) <= set(names)
    own = {name for name in vars(ProcessAdapter) if not name.startswith("_")} - OWN
    assert own <= set(names)
    for name in OWN:
        word, kept = names[name], getattr(Adapter, name)
        if "(" in word:
            assert word == f"{name}({', '.join(one for one in signature(kept).parameters if one != 'self')})"
    assert f"| {CAPACITY:,} |" in text
    assert f"| `{Adapter.waits}` |" in text
    assert f"| {ProcessAdapter.answer_seconds:g} |" in text


def test_requests_and_answers_are_json() -> None:
    lines = [line for kind, _, _, body in BLOCKS if kind == "json" for line in body.splitlines()]
    assert len(lines) == 6
    assert all(isinstance(json.loads(line), dict) for line in lines)
