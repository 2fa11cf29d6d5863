"""Hands the options of a run of pytest to each of its tests, and says how far a long test is.

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

TERMINAL_SECONDS = (2.0, 5.0)
FILE_SECONDS = (20.0, 30.0)
"""After how long a run is mentioned for the first time, and how often from then on."""


class RunReports:
    """Hears of each run of an adapter that begins in one test, and mentions one of them now and then: every few seconds
    where somebody waits at a terminal, more rarely elsewhere, and not at all in a worker of several."""

    def __init__(self, config: pytest.Config) -> None:
        self._terminal = config.pluginmanager.getplugin("terminalreporter")
        self._capture = config.pluginmanager.getplugin("capturemanager")
        first, self._every = TERMINAL_SECONDS if self._terminal and self._terminal.isatty() else FILE_SECONDS
        self._begun = time.monotonic()
        self._due = self._begun + first
        self._runs = 0

    def __call__(self, adapter: str) -> None:
        """A run begins."""
        self._runs += 1
        now = time.monotonic()
        if now < self._due or self._terminal is None:
            return
        self._due = now + self._every
        with nullcontext() if self._capture is None else self._capture.global_and_fixture_disabled():
            self._terminal.ensure_newline()
            self._terminal.write_line(f"  {adapter}: run {self._runs:,}, {now - self._begun:.0f} s")


class Given:
    """The options of one run of pytest."""

    def __init__(self, options: Options) -> None:
        self._options = options

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, Any, Any]:
        """Around a test and its fixtures, which may set options of their own."""
        token = OPTIONS.set(self._options)
        try:
            return (yield)
        finally:
            OPTIONS.reset(token)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Around a test alone: how long it takes does not count its fixtures."""
        token = OPTIONS.set(replace(OPTIONS.get(), begun=RunReports(item.config)))
        try:
            return (yield)
        finally:
            OPTIONS.reset(token)
