"""What Z3 decided is told at the end."""

from __future__ import annotations

import pytest

from tests.symbolic.counting import report_counts


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    report_counts(terminalreporter, "tests/symbolic")
