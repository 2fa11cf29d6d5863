"""Shows how far an exploration is while it runs.

On a terminal one line is kept up to date; elsewhere a plain line is written every few seconds. Both go to
standard error, so that the answers can be piped.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.text import Text

from hacheck.checker.engine import Progress
from hacheck.cli.console import plural, seconds, size

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

PLAIN_SECONDS = 5.0
"""How often a line is written where there is no terminal."""

EXPLORING = Progress(0, 0, 0, 0, 0.0, 0).phase
"""The phase that goes without saying."""

RATE_SECONDS = 1.0
"""Over how long a time the rate of exploration is measured."""


class Meter:
    """The rate of an exploration over the last second or so."""

    def __init__(self) -> None:
        self._mark: tuple[float, int] = (0.0, 0)
        self._rate = 0.0

    def rate(self, progress: Progress) -> float:
        """New states per second."""
        elapsed = progress.wall_seconds - self._mark[0]
        if elapsed >= RATE_SECONDS:
            self._rate = (progress.states - self._mark[1]) / elapsed
            self._mark = (progress.wall_seconds, progress.states)
        elif self._mark == (0.0, 0) and progress.wall_seconds > 0:
            return progress.states / progress.wall_seconds
        return self._rate


class Display(Protocol):
    """Shows how far an exploration is."""

    def update(self, progress: Progress) -> None:
        """Shows the progress, or not: it may be called often."""
        ...


class Silent:
    """Shows nothing."""

    def update(self, progress: Progress) -> None:
        """Does nothing."""


class PlainLines:
    """A line of text every few seconds."""

    def __init__(self, console: Console, title: str) -> None:
        self._console = console
        self._title = title
        self._meter = Meter()
        self._next = PLAIN_SECONDS

    def update(self, progress: Progress) -> None:
        """Writes a line when the last one is old enough."""
        rate = self._meter.rate(progress)
        if progress.wall_seconds < self._next:
            return
        self._next = progress.wall_seconds + PLAIN_SECONDS
        exploring = progress.phase == EXPLORING
        parts = (
            "" if exploring else progress.phase,
            plural(progress.states, "state") if progress.states else "",
            plural(progress.transitions, "step") if exploring else "",
            f"depth {progress.depth}" if progress.depth else "",
            f"{progress.frontier:,} waiting" if exploring else "",
            f"{rate:,.0f} states/s" if exploring else "",
            size(progress.memory_bytes) if progress.memory_bytes else "",
            seconds(progress.wall_seconds),
        )
        self._console.print(
            f"{self._title}: {', '.join(filter(None, parts))}",
            soft_wrap=True,
            markup=False,
        )


class LiveLine:
    """One line, kept up to date."""

    def __init__(self, live: Live, title: str) -> None:
        from rich.spinner import Spinner

        self._live = live
        self._title = title
        self._meter = Meter()
        self._spinner = Spinner("dots", style="node")

    def update(self, progress: Progress) -> None:
        """Shows the newest numbers; the terminal is written to at most ten times a second."""
        self._live.update(self.line(progress))

    def line(self, progress: Progress) -> Table:
        """The line with these numbers."""
        exploring = progress.phase == EXPLORING
        rate = self._meter.rate(progress)
        parts = (
            "" if exploring else progress.phase,
            f"{progress.states:,} states" if progress.states else "",
            f"depth {progress.depth}" if progress.depth else "",
            f"{progress.frontier:,} waiting" if exploring else "",
            f"{thousands(rate)}/s" if exploring else "",
            size(progress.memory_bytes) if progress.memory_bytes else "",
            seconds(progress.wall_seconds),
        )
        line = Text(no_wrap=True, overflow="ellipsis").append(self._title, style="head")
        for part in filter(None, parts):
            line.append("  ").append(part)
        from rich.table import Table

        row = Table.grid(padding=(0, 1, 0, 0))
        row.add_row(self._spinner, line)
        return row


def thousands(rate: float) -> str:
    """A rate in few characters: `950`, `12 k`, `3.4 M`."""
    if rate < 1000:
        return f"{rate:.0f}"
    return f"{rate / 1000:.0f} k" if rate < 1_000_000 else f"{rate / 1_000_000:.1f} M"


@contextmanager
def progress_display(console: Console, title: str, *, quiet: bool) -> Iterator[Display]:
    """The display that suits the console: a live line, plain lines, or nothing."""
    if quiet:
        yield Silent()
    elif not console.is_terminal or console.is_dumb_terminal:
        yield PlainLines(console, title)
    else:
        from rich.live import Live

        with Live(console=console, transient=True, refresh_per_second=10, redirect_stdout=False) as live:
            display = LiveLine(live, title)
            display.update(Progress(0, 0, 0, 0, 0.0, 0, "preparing"))
            yield display
    sys.stderr.flush()
