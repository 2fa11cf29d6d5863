"""A long test of an adapter says in which run it is: sooner at a terminal than in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.testing import hypothesis_machine, pytest_options

pytest_plugins = ["pytester"]
LOADED = hypothesis_machine
"""Loaded here: NumPy cannot be loaded again by each run of pytest in this process."""

TEST = """
from hacheck.testing import Adapter, state_machine

class Counting(Adapter):
    spec = "counter.ha"
    def start(self): pass
    waits = ()
    def count(self, n): return False
    def events(self): return []

TestCounting = state_machine(Counting)
"""
SPEC = """system Counter "x"
node N { n: 0..3 = 0 }
action count(n: N) when n.n < 3 do n.n := n.n + 1
"""


class Screen:
    """Makes the output of pytest a terminal, or none."""

    def __init__(self, terminal: bool) -> None:
        self.terminal = terminal

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Once it is known where the output goes."""
        session.config.pluginmanager.getplugin("terminalreporter").isatty = lambda: self.terminal


@pytest.mark.parametrize("early", ["terminal", "file"])
@pytest.mark.parametrize("terminal", [True, False])
def test_runs_are_mentioned_as_often_as_suits_where_they_go(
    terminal: bool, early: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytest_options, "TERMINAL_SECONDS", (0.0, 0.0) if early == "terminal" else (1e9, 1e9))
    monkeypatch.setattr(pytest_options, "FILE_SECONDS", (0.0, 0.0) if early == "file" else (1e9, 1e9))
    Path("counter.ha").write_text(SPEC, encoding="utf-8")
    pytester.makepyfile(TEST)
    ended = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-q", plugins=[Screen(terminal)])
    ended.assert_outcomes(passed=1, warnings=ended.parseoutcomes().get("warnings", 0))
    said = ended.stdout.str()
    assert ("  Counting: run 1, " in said) == (terminal == (early == "terminal"))
