"""Progress is shown as suits the console, and the first Ctrl-C is a request."""

from __future__ import annotations

import os
import signal
import threading
from io import StringIO

import pytest
from msgspec.structs import replace
from rich.console import Console

from hacheck.checker.engine import Progress
from hacheck.cli import progress
from hacheck.cli.console import THEME
from hacheck.cli.progress import LiveLines, Meter, PlainLines, Silent, progress_display, working
from hacheck.supervise.interruption import Interruption


def at(seconds: float, states: int = 1000) -> Progress:
    """How far an exploration is after some time."""
    return Progress(states, 3 * states, 7, 42, seconds, 300 << 20)


def console(*, terminal: bool = False, width: int = 80) -> Console:
    """A console that keeps what it is told."""
    return Console(file=StringIO(), width=width, force_terminal=terminal, theme=THEME)


def text(console: Console) -> str:
    """What a console was told."""
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_without_a_terminal_a_line_is_written_every_few_seconds() -> None:
    out = console()
    with progress_display(out, "check default", quiet=False) as display:
        assert isinstance(display.display, PlainLines)
        for tenth in range(120):
            display.update(at(tenth / 10, 1000 * tenth))
    lines = text(out).splitlines()
    assert len(lines) == 2
    assert lines[0] == (
        "check default: 50,000 states, 150,000 steps, depth 7, 42 waiting, 10,000 states/s, 300 MiB, 5.00 s"
    )


def test_what_else_is_done_is_told_by_its_name() -> None:
    plain, live = console(), console(terminal=True)
    for out in (plain, live):
        with progress_display(out, "check default", quiet=False) as display:
            display.update(replace(at(7.0, 0), phase="compiling", transitions=0, depth=0, frontier=0))
            display.update(replace(at(14.0), phase="checking liveness", frontier=0))
            if isinstance(display.display, LiveLines):
                display.display._live.refresh()
    first, second = text(plain).splitlines()
    assert first == "check default: compiling, 300 MiB, 7.00 s"
    assert second == "check default: checking liveness, 1,000 states, depth 7, 300 MiB, 14.0 s"
    assert "checking liveness" in text(live)
    assert "waiting" not in text(live)


def test_quietly_nothing_is_shown() -> None:
    out = console(terminal=True)
    with progress_display(out, "check default", quiet=True) as display:
        assert isinstance(display.display, Silent)
        display.update(at(100))
    assert text(out) == ""


@pytest.mark.parametrize("width", [40, 80, 200])
def test_on_a_terminal_one_line_is_kept_up_to_date_and_removed_in_the_end(width: int) -> None:
    out = console(terminal=True, width=width)
    with progress_display(out, "check default", quiet=False) as display:
        assert isinstance(display.display, LiveLines)
        display.update(at(2.0, 123_456))
    shown = text(out)
    assert "preparing" in shown or "123,456 states" in shown
    assert shown.rstrip().endswith("\x1b[2K") or "\x1b[2K" in shown


def test_a_dumb_terminal_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with progress_display(console(terminal=True), "check default", quiet=False) as display:
        assert isinstance(display.display, PlainLines)


def test_the_rate_is_that_of_the_last_second() -> None:
    meter = Meter()
    assert meter.rate(at(0.5, 500)) == 1000
    assert meter.rate(at(1.0, 1000)) == 1000
    assert meter.rate(at(1.5, 9000)) == 1000
    assert meter.rate(at(2.0, 6000)) == 5000


def test_the_first_ctrl_c_asks_and_the_second_ends() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interruption().watching() as interruption:
        assert not interruption.requested
        os.kill(os.getpid(), signal.SIGINT)
        assert interruption.requested
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("terminal", [False, True])
def test_work_that_reports_nothing_is_mentioned(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    out = console(terminal=terminal)
    said = threading.Event()
    write = out.file.write
    monkeypatch.setattr(out.file, "write", lambda words: (write(words), said.set())[0])
    monkeypatch.setattr(progress, "error_console", lambda no_color: out)
    for name in ("FIRST_LIVE_SECONDS", "FIRST_PLAIN_SECONDS"):
        monkeypatch.setattr(progress, name, 0.0)
    with working("reading pair.ha"), working("reading a library"):
        assert said.wait(60), "nothing is said"
    assert "reading pair.ha, 0.0" in text(out)
    assert "a library" not in text(out)


def test_short_or_quiet_work_is_not_mentioned(monkeypatch: pytest.MonkeyPatch) -> None:
    out = console(terminal=True)
    monkeypatch.setattr(progress, "error_console", lambda no_color: out)
    with working("reading pair.ha"):
        pass
    monkeypatch.setattr(progress, "FIRST_LIVE_SECONDS", 0.0)
    with working("reading pair.ha", quiet=True):
        pass
    assert text(out) == ""
