"""Shows how far several explorations are that run at once: a line for each of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.console import Console, Group

from hacheck.checker.engine import Progress
from hacheck.cli.progress import LiveLine, PlainLines

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table


class SeveralDisplay(Protocol):
    """A display of several jobs at once: what is being done, each under its title, and how far it is."""

    def update(self, title: str, progress: Progress) -> None:
        """Shows the progress, or not: it may be called often. A new title is something begun."""
        ...

    def end(self, title: str) -> None:
        """This is done."""
        ...

    def hide(self) -> None:
        """Makes way for something else to be printed; the next `update` ends that."""
        ...


class SeveralSilent:
    """Shows nothing."""

    def update(self, title: str, progress: Progress) -> None:
        """Does nothing."""

    def end(self, title: str) -> None:
        """Does nothing."""

    def hide(self) -> None:
        """Does nothing."""


class SeveralPlainLines:
    """A line of text every few seconds for whatever takes that long."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._running: dict[str, PlainLines] = {}

    def update(self, title: str, progress: Progress) -> None:
        """Writes a line when the last one of this title is old enough."""
        self._running.setdefault(title, PlainLines(self._console, title)).update(progress)

    def end(self, title: str) -> None:
        """This is done."""
        self._running.pop(title, None)

    def hide(self) -> None:
        """Does nothing: lines stand for themselves."""


class SeveralLiveLines:
    """A line for each that runs, in the order in which they began, kept up to date at the bottom of a terminal."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._lines: dict[str, LiveLine] = {}
        self._rows: dict[str, Table] = {}

    def update(self, title: str, progress: Progress) -> None:
        """Shows the newest numbers; the terminal is written to at most ten times a second."""
        line = self._lines.setdefault(title, LiveLine(self._live, title))
        self._rows[title] = line.line(progress)
        self._show()

    def end(self, title: str) -> None:
        """Removes the line."""
        self._lines.pop(title, None)
        self._rows.pop(title, None)
        self._show()

    def hide(self) -> None:
        """Removes all lines for now."""
        self._live.stop()

    def _show(self) -> None:
        self._live.update(Group(*self._rows.values()))
        self._live.start()  # nothing, if it runs


@contextmanager
def progress_of_several(console: Console, *, quiet: bool) -> Iterator[SeveralDisplay]:
    """The display that suits the console: live lines, plain lines, or nothing."""
    if quiet:
        yield SeveralSilent()
    elif not console.is_terminal or console.is_dumb_terminal:
        yield SeveralPlainLines(console)
    else:
        from rich.live import Live

        with Live(console=console, transient=True, refresh_per_second=10, redirect_stdout=False) as live:
            yield SeveralLiveLines(live)
    sys.stderr.flush()
