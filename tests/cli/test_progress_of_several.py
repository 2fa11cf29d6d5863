"""Several explorations at once have a line each, on a terminal and elsewhere."""

from __future__ import annotations

import pytest

from hacheck.cli.progress import (
    LiveLines,
    PlainLines,
    Silent,
    progress_of_several,
)
from tests.cli.test_progress import at, console, text


def test_without_a_terminal_whatever_takes_long_has_lines_of_its_own() -> None:
    out = console()
    with progress_of_several(out, quiet=False) as display:
        assert isinstance(display, PlainLines)
        for second in range(8):
            display.update("a: check one (1 of 2)", at(second))
            display.update("a: check two (2 of 2)", at(second / 2))
        display.end("a: check one (1 of 2)")
        display.hide()
        display.update("a: check two (2 of 2)", at(6.0))
        display.end("a: check two (2 of 2)")
        display.update("a: check two (2 of 2)", at(1.0))  # begun again
    assert [line.partition(", ")[0] for line in text(out).splitlines()] == [
        "a: check one (1 of 2): 1,000 states",
        "a: check two (2 of 2): 1,000 states",
    ]


def test_on_a_terminal_lines_stand_below_each_other_and_make_way() -> None:
    out = console(terminal=True, width=120)
    with progress_of_several(out, quiet=False) as display:
        assert isinstance(display, LiveLines)
        display.update("first", at(1.0, 111))
        display.update("second", at(1.0, 222))
        display._live.refresh()
        both = text(out)
        display.hide()
        hidden = len(text(out))
        display.end("first")
        display.update("second", at(2.0, 333))
        display._live.refresh()
        later = text(out)[hidden:]
    assert both.index("111 states") < both.index("222 states")
    assert "second" in later
    assert "first" not in later


@pytest.mark.parametrize("terminal", [False, True])
def test_quietly_nothing_is_shown(terminal: bool) -> None:
    out = console(terminal=terminal)
    with progress_of_several(out, quiet=True) as display:
        assert isinstance(display, Silent)
        display.update("first", at(100))
        display.hide()
        display.end("first")
    assert text(out) == ""
