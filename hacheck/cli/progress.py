"""Shows how far work is while it runs, a line for each piece of work.

On a terminal the lines are kept up to date; elsewhere a plain line is written every few seconds. Both go to standard
error, so that the answers can be piped.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

from rich.console import Console, Group
from rich.text import Text

from hacheck.checker.engine import Progress
from hacheck.cli.console import error_console, seconds, size, visible
from hacheck.wording import plural

if TYPE_CHECKING:
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.status import Status
    from rich.table import Table

PLAIN_SECONDS = 5.0
"""How often a line is written where there is no terminal."""

LIVE_SECONDS = 0.2
"""How often a line of words changes on a terminal."""

FIRST_LIVE_SECONDS, FIRST_PLAIN_SECONDS = 1.0, 2 * PLAIN_SECONDS
"""After how long work that reports nothing itself is mentioned."""

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
    """Shows how far pieces of work are, each of which has a title."""

    def update(self, title: str, progress: Progress) -> None:
        """Shows the progress, or not: it may be called often. A new title is something begun."""
        ...

    def end(self, title: str) -> None:
        """This is done."""
        ...

    def hide(self) -> None:
        """Makes way for something else to be printed; the next `update` ends that."""
        ...


class Silent:
    """Shows nothing."""

    def update(self, title: str, progress: Progress) -> None:
        """Does nothing."""

    def end(self, title: str) -> None:
        """Does nothing."""

    def hide(self) -> None:
        """Does nothing."""


class PlainLines:
    """A line of text every few seconds for each piece of work that takes that long."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._running: dict[str, tuple[Meter, float]] = {}

    def update(self, title: str, progress: Progress) -> None:
        """Writes a line when the last one of this title is old enough."""
        meter, due = self._running.setdefault(title, (Meter(), PLAIN_SECONDS))
        rate = meter.rate(progress)
        if progress.wall_seconds < due:
            return
        self._running[title] = meter, progress.wall_seconds + PLAIN_SECONDS
        exploring = progress.phase == EXPLORING
        parts = (
            violations(progress),
            "" if exploring else progress.phase,
            plural(progress.states, "state") if progress.states else "",
            plural(progress.transitions, "step") if exploring else "",
            f"depth {progress.depth}" if progress.depth else "",
            f"{progress.frontier:,} waiting" if exploring else "",
            f"{rate:,.0f} states/s" if exploring else "",
            size(progress.memory_bytes) if progress.memory_bytes else "",
            seconds(progress.wall_seconds),
        )
        self._console.print(f"{title}: {', '.join(filter(None, parts))}", soft_wrap=True, markup=False)

    def end(self, title: str) -> None:
        """This is done."""
        self._running.pop(title, None)

    def hide(self) -> None:
        """Does nothing: lines stand for themselves."""


class LiveLines:
    """A line for each piece of work, in the order in which they began, at the bottom of a terminal."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._running: dict[str, tuple[Meter, Spinner]] = {}
        self._rows: dict[str, Table] = {}

    def update(self, title: str, progress: Progress) -> None:
        """Shows the newest numbers; the terminal is written to at most ten times a second."""
        self._rows[title] = self._row(title, progress)
        self._show()

    def end(self, title: str) -> None:
        """Removes the line."""
        self._running.pop(title, None)
        self._rows.pop(title, None)
        self._show()

    def hide(self) -> None:
        """Removes all lines for now."""
        self._live.stop()

    def _show(self) -> None:
        self._live.update(Group(*self._rows.values()))
        self._live.start()  # nothing, if it runs

    def _row(self, title: str, progress: Progress) -> Table:
        from rich.spinner import Spinner
        from rich.table import Table

        if title not in self._running:
            self._running[title] = Meter(), Spinner("dots", style="node")
        meter, spinner = self._running[title]
        exploring, rate = progress.phase == EXPLORING, meter.rate(progress)
        parts = (
            violations(progress),
            "" if exploring else progress.phase,
            f"{progress.states:,} states" if progress.states else "",
            f"depth {progress.depth}" if progress.depth else "",
            f"{progress.frontier:,} waiting" if exploring else "",
            f"{thousands(rate)}/s" if exploring else "",
            size(progress.memory_bytes) if progress.memory_bytes else "",
            seconds(progress.wall_seconds),
        )
        line = Text(no_wrap=True, overflow="ellipsis").append(title, style="head")
        for part in filter(None, parts):
            line.append("  ").append(part)
        row = Table.grid(padding=(0, 1, 0, 0))
        row.add_row(spinner, line)
        return row


def violations(progress: Progress) -> str:
    """What is violated for sure while the search goes on: `one_leader violated (8 steps)`, and how many more."""
    if not progress.violated:
        return ""
    name, steps = progress.violated[0]
    more = len(progress.violated) - 1
    return f"{name} violated ({plural(steps, 'step')})" + (f" and {more} more" if more else "")


def thousands(rate: float) -> str:
    """A rate in few characters: `950`, `12 k`, `3.4 M`."""
    if rate < 1000:
        return f"{rate:.0f}"
    return f"{rate / 1000:.0f} k" if rate < 1_000_000 else f"{rate / 1_000_000:.1f} M"


def is_live(console: Console) -> bool:
    """Whether lines can be kept up to date there."""
    return console.is_terminal and not console.is_dumb_terminal


@contextmanager
def progress_of_several(console: Console, *, quiet: bool) -> Iterator[Display]:
    """The display that suits the console: live lines, plain lines, or nothing."""
    if quiet:
        yield Silent()
    elif not is_live(console):
        yield PlainLines(console)
    else:
        from rich.live import Live

        with Live(console=console, transient=True, refresh_per_second=10, redirect_stdout=False) as live:
            yield LiveLines(live)
    sys.stderr.flush()


@contextmanager
def progress_display(console: Console, title: str, *, quiet: bool) -> Iterator[OneLine]:
    """The display of one piece of work."""
    with progress_of_several(console, quiet=quiet) as display:
        one = OneLine(display, title)
        if isinstance(display, LiveLines):
            one.update(Progress(0, 0, 0, 0, 0.0, 0, "preparing"))
        yield one


class OneLine:
    """The line of one piece of work in a display."""

    def __init__(self, display: Display, title: str) -> None:
        self.display, self.title = display, title

    def hide(self) -> None:
        """Makes way for something else to be printed."""
        self.display.hide()

    def update(self, progress: Progress) -> None:
        """Shows the progress, or not: it may be called often."""
        self.display.update(self.title, progress)


class ProgressLine:
    """A line of words, kept up to date on a terminal; elsewhere one is written every few seconds. `quiet`: none at
    all."""

    def __init__(self, *, quiet: bool, no_color: bool) -> None:
        self._console = error_console(no_color=no_color)
        self._quiet = quiet
        self._live = is_live(self._console)
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


_MENTIONED: ContextVar[bool] = ContextVar("hacheck.cli.progress.mentioned", default=False)
"""Whether what is being done is said already."""


@contextmanager
def working(doing: str, *, quiet: bool = False, no_color: bool = False) -> Iterator[None]:
    """Says what is being done in the block, which reports nothing itself and prints nothing, if it takes long. In such
    a block another one says nothing."""
    if quiet or _MENTIONED.get():
        yield
        return
    done = threading.Event()
    mention = threading.Thread(target=_mention, args=(doing, done, no_color), daemon=True)
    mention.start()
    token = _MENTIONED.set(True)
    try:
        yield
    finally:
        _MENTIONED.reset(token)
        done.set()
        mention.join()


def _mention(doing: str, done: threading.Event, no_color: bool) -> None:
    """Says it until it is done."""
    console = error_console(no_color=no_color)
    begun, live = time.monotonic(), is_live(console)
    if done.wait(FIRST_LIVE_SECONDS if live else FIRST_PLAIN_SECONDS):
        return

    def line() -> str:
        return visible(f"{doing}, {seconds(time.monotonic() - begun)}")

    if live:
        with console.status(line()) as status:
            while not done.wait(LIVE_SECONDS):
                status.update(line())
        return
    while True:
        console.print(line(), markup=False, soft_wrap=True)
        if done.wait(PLAIN_SECONDS):
            return
