"""A long test of an adapter says at a terminal in which run it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from hacheck.testing import pytest_options

pytest_plugins = ["pytester"]

TEST = """
from hacheck.testing import Adapter, state_machine

class Counting(Adapter):
    spec = "counter.ha"
    def start(self): pass
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


@pytest.mark.parametrize("terminal", [True, False])
def test_runs_are_mentioned_at_a_terminal_only(
    terminal: bool, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytest_options, "FIRST_SECONDS", 0.0)
    Path("counter.ha").write_text(SPEC, encoding="utf-8")
    pytester.makepyfile(TEST)
    said = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-q", plugins=[Screen(terminal)]).stdout.str()
    assert ("  Counting: run 1, " in said) == terminal
