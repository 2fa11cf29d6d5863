"""What was proved, and what not, is told at the end."""

from __future__ import annotations

import pytest

from tests.symbolic.counting import encode


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    encode(terminalreporter, "tests/parametric")
