"""Hands the options of a run of pytest to each of its tests. Needs pytest."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from msgspec.structs import replace

from hacheck.testing.run_options import OPTIONS, Options
from hacheck.testing.run_reports import RunReports


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
