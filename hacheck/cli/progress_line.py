"""One line on standard error about how far some work is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hacheck.cli.console import error_console, seconds, visible
from hacheck.cli.progress import PLAIN_SECONDS

if TYPE_CHECKING:
    from rich.status import Status

LIVE_SECONDS = 0.2
"""How often the line changes on a terminal."""


class ProgressLine:
    """Keeps one line up to date on a terminal; elsewhere writes one every few seconds. `quiet`: none at all."""

    def __init__(self, *, quiet: bool, no_color: bool) -> None:
        self._console = error_console(no_color=no_color)
        self._quiet = quiet
        self._live = self._console.is_terminal and not self._console.is_dumb_terminal
        self._every = LIVE_SECONDS if self._live else PLAIN_SECONDS
        self._begun = time.monotonic()
        self._due = self._begun + self._every
        self._status: Status | None = None

    @property
    def passed(self) -> float:
        """Seconds since it was made; above zero."""
        return max(time.monotonic() - self._begun, 1e-6)

    @contextmanager
    def shown(self, first: str) -> Iterator[None]:
        """Shows it as long as the block runs. `first`: what it says until there is something."""
        if self._quiet or not self._live:
            yield
            return
        with self._console.status(first) as self._status:
            yield

    def update(self, text: Callable[[], str]) -> None:
        """Shows this and the time, or not: it may be called often."""
        now = time.monotonic()
        if self._quiet or now < self._due:
            return
        self._due = now + self._every
        line = visible(f"{text()}, {seconds(now - self._begun)}")
        if self._status is not None:
            self._status.update(line)
        else:
            self._console.print(line, markup=False, soft_wrap=True)
