"""What a run of tests sets for all of them, as `pytest --hacheck-seed 7` does."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path

from msgspec import Struct


class Options(Struct, frozen=True):
    """`seed`: what chance begins with, anew in each test if there is none; `runs`: where runs that fail are kept,
    beside the adapter's own file if nowhere else; `coverage`: into which folder the coverage of tests that pass is
    written, if into any; `begun`: hears of each run of an adapter that begins, by the adapter's name."""

    seed: int | None = None
    runs: Path | None = None
    coverage: Path | None = None
    begun: Callable[[str], None] = lambda _: None


OPTIONS: ContextVar[Options] = ContextVar("hacheck.testing.run_options")
"""Those of the test that runs now."""


def current() -> Options:
    """The options of the test that runs now."""
    return OPTIONS.get(Options())
