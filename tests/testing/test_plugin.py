"""The plug-in of pytest, as whoever types `pytest` sees it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hacheck.testing import check_results, pytest_collection
from tests.nightly import nightly
from tests.testing.specs import COUNTER

assert pytest_collection.explored is check_results.explored, "loaded here, once for all runs in this process"  # type: ignore[attr-defined]

pytest_plugins = ["pytester"]

WRONG = COUNTER.replace("expect small violated", "expect all hold").replace(
    "expect all hold\ncheck lower with most = 2 expect all hold",
    'expect all hold\ncheck lower "it counts less" with most = 2 expect small violated\n'
    'reachable ten "it counts to ten": some s: Server where s.n > most',
)
NOTHING = """
system Nothing "It asks nothing."
node Server { n: 0..3 = 0 }
action go(s: Server) do s.n := if s.n == 3 then 0 else s.n + 1
"""
FAULT = """
system Fault "It runs into an error."
node Server { n: 0..3 = 0 }
action go(s: Server) do s.n := s.n + 1
invariant fine: true
"""
MACHINE = """
from hypothesis import settings
from hacheck.testing import SETTINGS, state_machine
from tests.testing.services import Counting

class Large(Counting):
    invariants = ("small",)

TestLarge = state_machine(Large, settings(SETTINGS, max_examples=20, derandomize=False))
"""


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """What `pytest` returns and prints, in this process: starting one takes longer than all that is tested here."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8")  # pictures as a terminal shows them
    monkeypatch.delenv("CI", raising=False)  # there, pytest's own summary repeats each failure in whole lines
    monkeypatch.delenv("BUILD_NUMBER", raising=False)

    def running(*arguments: str) -> tuple[int, str]:
        result = pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)
        return int(result.ret), "\n".join([*result.outlines, *result.errlines])

    return running


def run_apart(folder: Path, *arguments: str) -> tuple[int, str]:
    """What `pytest` returns and prints in a process of its own."""
    root = Path(__file__).parents[2]
    plain = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONPATH": str(root), "PYTHONIOENCODING": "utf-8"}
    plain = {name: value for name, value in plain.items() if not name.startswith(("PYTEST_", "CI", "BUILD_NUMBER"))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    ended = subprocess.run(command, cwd=folder, env=plain, capture_output=True, encoding="utf-8", check=False)
    return ended.returncode, ended.stdout + ended.stderr


def outcomes(text: str) -> dict[str, str]:
    """What became of each test, as `pytest -v` tells it."""
    return dict(re.findall(r"^(\S+::\S+) (PASSED|FAILED|ERROR)", text, re.MULTILINE))


def test_each_property_of_each_check_is_a_test(run: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "counter.ha").write_text(COUNTER + "check slow by request\n")
    (pytester.path / "nothing.ha").write_text(NOTHING)
    (pytester.path / "part.ha").write_text('library Part "It is no spec."\nshared n: 0..1 = 0\n')
    code, text = run("--hacheck", "-v")
    assert outcomes(text) == {
        "counter.ha::default::small": "PASSED",
        "counter.ha::lower::small": "PASSED",
        "nothing.ha::default::no_error": "PASSED",
    }, text
    assert code == 0
    code, text = run("--hacheck-wide", "-v", "counter.ha")
    assert outcomes(text)["counter.ha::slow::small"] == "FAILED"
    code, text = run("--hacheck", "-v", "counter.ha::lower")
    assert outcomes(text) == {"counter.ha::lower::small": "PASSED"}


def test_lemmas_are_tests_but_where_a_check_expects_a_violation(run: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "lemma.ha").write_text(
        COUNTER.replace("invariant small", "lemma low: Server.n >= 0\ninvariant small")
    )
    code, text = run("--hacheck", "-v")
    assert outcomes(text) == {
        "lemma.ha::default::small": "PASSED",
        "lemma.ha::lower::low": "PASSED",
        "lemma.ha::lower::small": "PASSED",
    }, text
    assert code == 0


def test_what_comes_out_otherwise_is_told(run: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "wrong.ha").write_text(WRONG)
    (pytester.path / "fault.ha").write_text(FAULT)
    code, text = run("--hacheck", "-v")
    assert code == 1
    assert set(outcomes(text).values()) == {"FAILED"}
    assert VIOLATED in text
    assert "check lower: small holds, but a violation is expected\nwrong.ha:11\nevery reachable state within" in text
    assert "check default: ten is never reached\nit counts to ten\nwrong.ha:14\nevery reachable state within" in text
    assert "check default: the spec has an error after 3 steps\ngo cannot be completed: Server 1.n would be 4" in text
    assert "Traceback" not in text
    assert "hacheck/testing" not in text
    assert max(map(len, text.partition("FAILURES")[2].splitlines())) <= 80


VIOLATED = """
check default: small is violated in 3 steps
wrong.ha:11

        Server 1
  0         │
  1         ◆       count: n = 1
  2         ◆       count: n = 2
  3»        ◆       count: n = 3
            !       here it breaks
│ up   » changes what is broken

!!! small BREAKS HERE !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!
  Server 1: n is 3, not at most 2

Nothing failed: this run has no fault at all. Step 3, count at Server 1,
breaks “small”.

To see it again, and as JSON or a diagram:
    hacheck verify wrong.ha --check default --property small --runs
"""


def test_a_spec_with_mistakes_is_an_error_of_collection(run: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "bad.ha").write_text(COUNTER.replace("s.n + 1", "s.m + 1").replace("not seen", "not sean"))
    (pytester.path / "broken.ha").write_text(COUNTER + "invariant i: every\n")
    (pytester.path / "bytes.ha").write_bytes(b"\xff\xfe")
    code, text = run("--hacheck")
    assert code == 2
    assert "\nbad.ha:6: HA103: Server has no field `m`" in text
    assert "\nbad.ha:9: HA103: " in text
    assert f"\nbroken.ha:{COUNTER.count(chr(10)) + 1}: HA005: " in text
    assert "bytes.ha: cannot be read" in text
    assert "Traceback" not in text


def test_one_exploration_serves_all_properties_of_a_check(
    run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = "".join(f"invariant again{number}: true\n" for number in range(5))
    (pytester.path / "counter.ha").write_text(COUNTER + more)
    before, done = pytest_collection.explored, []  # type: ignore[attr-defined]

    def counted(*given: Any) -> Any:
        done.append(given)
        return before(*given)

    monkeypatch.setattr(pytest_collection, "explored", counted)
    code, text = run("--hacheck", "-v")
    assert (code, len(done), len(outcomes(text))) == (0, 2, 12), text


def test_without_the_option_nothing_is_different(tmp_path: Path) -> None:
    (tmp_path / "bad.ha").write_text("this is no spec")
    (tmp_path / "test_it.py").write_text(
        "import sys\n"
        "def test_it():\n"
        "    assert 'hacheck.testing.plugin' in sys.modules\n"
        "    assert not {'hypothesis', 'numpy', 'hacheck.model'} & set(sys.modules)\n"
    )
    code, text = run_apart(tmp_path)
    assert code == 0, text
    assert "1 passed" in text


def test_options_of_state_machines_reach_them(run: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "test_large.py").write_text(MACHINE)
    (pytester.path / "counter.ha").write_text(COUNTER)
    code, text = run("--hacheck-seed", "12", "--hacheck-runs", "kept/here")
    assert code == 1
    assert "Large violates `small` of Counter" in text
    assert "Found with pytest --hacheck-seed 12" in text
    assert (pytester.path / "kept" / "here" / "test_large.Large.json").is_file()
    assert "hacheck/testing/" not in text, "where in hacheck it was noticed helps nobody"


def test_what_is_wrong_with_an_adapter_is_told_and_not_where_it_was_noticed(
    run: Run, pytester: pytest.Pytester
) -> None:
    (pytester.path / "test_large.py").write_text(MACHINE.replace('("small",)', '("tiny",)'))
    (pytester.path / "counter.ha").write_text(COUNTER)
    code, text = run()
    assert code == 1
    assert "BadModel: " in text
    assert "counter.ha has no invariant `tiny`; it has small" in text
    assert "hacheck/testing/" not in text


@nightly
def test_checks_are_shared_out_among_workers(tmp_path: Path) -> None:
    (tmp_path / "counter.ha").write_text(COUNTER)
    (tmp_path / "wrong.ha").write_text(WRONG)
    code, text = run_apart(tmp_path, "--hacheck", "-n", "2", "--dist", "loadscope")
    assert code == 1
    assert "4 failed, 2 passed" in text
    assert VIOLATED in text


@pytest.mark.parametrize("option", ["--hacheck", "--hacheck-wide", "--hacheck-seed", "--hacheck-runs"])
def test_every_option_is_in_the_help_and_in_the_document(option: str) -> None:
    from hacheck.testing import plugin

    assert f'"{option}"' in Path(plugin.__file__).read_text()
    document = Path(__file__).parents[2] / "docs" / "testing.md"
    assert f"`{option}" in document.read_text()
