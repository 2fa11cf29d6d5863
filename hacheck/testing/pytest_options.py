"""Hands the options of a run of pytest to each of its tests, and says on the terminal how far a long test is.

Needs pytest, which the plug-in itself does not load.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import nullcontext
from typing import Any

import pytest
from msgspec.structs import replace

from hacheck.testing.run_options import OPTIONS, Options

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


class Given:
    """The options of one run of pytest."""

    def __init__(self, options: Options) -> None:
        self._options = options

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Around a test."""
        token = OPTIONS.set(replace(self._options, begun=RunReports(item.config)))
        try:
            return (yield)
        finally:
            OPTIONS.reset(token)
