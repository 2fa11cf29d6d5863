"""How many questions the cases of a test decided within their limits, and how many were left open, and why.

A case says `record_property(COUNTED, word)` for each question. At the end of a run the words are counted for each test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

COUNTED = "counted"

Count = Callable[[str, object], None]
"""The fixture `record_property`."""


def report_counts(reporter: pytest.TerminalReporter, folder: str) -> None:
    """A line for each test of a folder that counts: the name of the test, and how often each word was said."""
    counts: dict[str, Counter[str]] = {}
    for report in (*reporter.getreports("passed"), *reporter.getreports("failed")):
        words = [str(value) for name, value in report.user_properties if name == COUNTED]
        if words and report.nodeid.startswith(folder):
            counts.setdefault(report.nodeid.partition("[")[0], Counter()).update(words)
    for test, count in counts.items():
        said = ", ".join(f"{number} {word}" for word, number in sorted(count.items()))
        reporter.write_line(f"{test}: {said}")
