"""Hands the options of a run of pytest to each of its tests. Needs pytest."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from hacheck.testing.run_options import OPTIONS, Options


class Given:
    """The options of one run of pytest."""

    def __init__(self, seed: int | None, runs: Path | None, coverage: Path | None) -> None:
        self._options = Options(seed, runs, coverage)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, Any, Any]:
        """Around a test."""
        token = OPTIONS.set(self._options)
        try:
            return (yield)
        finally:
            OPTIONS.reset(token)
