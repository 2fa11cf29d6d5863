"""Says on the terminal of pytest how far a test is that takes long."""

from __future__ import annotations

import time
from contextlib import nullcontext

import pytest

FIRST_SECONDS, EVERY_SECONDS = 2.0, 5.0


class RunReports:
    """Hears of each run of an adapter that begins in one test, and mentions one of them every few seconds, where
    somebody waits at a terminal."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._begun = time.monotonic()
        self._due = self._begun + FIRST_SECONDS
        self._runs = 0

    def __call__(self, adapter: str) -> None:
        """A run begins."""
        self._runs += 1
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + EVERY_SECONDS
        terminal = self._config.pluginmanager.getplugin("terminalreporter")
        if terminal is None or not terminal.isatty():  # a worker of several, or a file
            return
        capture = self._config.pluginmanager.getplugin("capturemanager")
        with nullcontext() if capture is None else capture.global_and_fixture_disabled():
            terminal.ensure_newline()
            terminal.write_line(f"  {adapter}: run {self._runs:,}, {now - self._begun:.0f} s")
